# %% [markdown]
# # Python tutorial: convection, and a network that sees between the points
#
# A layer of fluid that is heated from below turns over: warm plumes rise from a thin layer at the bottom plate, cold ones
# sink. What is measured of such a flow, or can be afforded, are values on few points at few times. Super-resolution asks
# for what lies between. A network learns it from flows that were resolved, and from the equations of the fluid. It is
# then a function of time and place, and has no mesh. Lengths are in heights of the layer, velocities in free-fall
# velocities. The buoyancy b is 1/2 at the warm plate and -1/2 at the cold one.
#
# ## Run
#
# Three flows at a Rayleigh number of 2e4 that differ in the noise they begin with. Each solves the Boussinesq equations.
# The run warns that the layer at a plate is only five cells thick, which will do here.

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

settings = {"grid.cells": [64, 32], "grid.z.spacing": "uniform", "rayleigh": 2e4, "seeds": [1, 2, 3], "time.end": 30}
flows = quintet.run("inputs/meshfreeflow/quick_flows.yaml", output="runs/flows", progress=False, threads=1, **settings)
flows.status

# %% [markdown]
# ## Open
#
# The Nusselt number is the heat that the flow carries, in units of what conduction alone would carry.

# %%
flows = quintet.open("runs/flows")
fine = flows.fields
print(dict(fine.sizes), "at Ra =", fine.attrs["Ra"])
print(f"Nusselt number {flows.summary.nusselt_mean:.1f}")

# %% [markdown]
# ## Look
#
# Of the last flow we keep every fourth time, and means over 4 x 4 cells. That is what the network will see. Grids know
# where their walls are: the coarse one gets these attributes, too.

# %%
truth = fine.isel(sample=2, time=slice(0, 80)).load()
coarse = truth.isel(time=slice(None, None, 4)).coarsen(z=4, x=4).mean(keep_attrs=True)
for name in ("z", "x"):
    coarse[name].attrs.update(truth[name].attrs)
figure, axes = plt.subplots(2, 1, figsize=(6, 4))
for ax, field, title in zip(axes, (truth, coarse), ("Buoyancy of the flow", "What is left of it")):
    field.b.sel(time=20, method="nearest").plot(ax=ax, cmap="RdBu_r", vmin=-0.5, vmax=0.5, cbar_kwargs={"label": ""})
    ax.set(title=title, aspect="equal", xlabel="x", ylabel="z")
plt.show()

# %% [markdown]
# ## Train
#
# The network learns from the first flow, and is watched on the second. It has not met the third.
# Beside the values, its loss counts how far it is from the equations.

# %%
train = quintet.run("inputs/meshfreeflow/quick_train.yaml", output="runs/train", progress=False, threads=1,
                    **{"data.files": ["runs/flows/fields.h5"], "data.crop": [32, 32, 64], "data.split": {"validation": 0.34, "test": 0.33},
                       "steps": 400, "learning_rate.interval": 240})
print(train.status)

# %% [markdown]
# ## Compare
#
# How far are the refined fields from the flow, in units of its standard deviation? Beside the network stands linear
# interpolation, from which its training began. Walls, where interpolation is worst, and the seam of the period are left out.

# %%
sharp = quintet.superresolve("runs/train", coarse, factor=[4, 4, 4], threads=1)
at = {name: sharp[name] for name in ("time", "z", "x")}
known, linear = (field.interp(at, kwargs={"fill_value": "extrapolate"}) for field in (truth, coarse))
inside = {"z": slice(3, -3), "x": slice(3, -3)}
for name, meaning in (("b", "buoyancy"), ("u", "velocity along x"), ("w", "velocity upwards")):
    errors = [float(abs(guess[name] - known[name]).isel(inside).mean() / known[name].std()) for guess in (linear, sharp)]
    print(f"{meaning:17} linear {errors[0]:.2f}, network less than three quarters of it: {errors[1] < 0.75 * errors[0]}")

# %% [markdown]
# The network has no mesh, so it can be asked at single points. Through the layer of the warm plate, from the wall to a
# quarter of the height, coarse values are just two.

# %%
z = np.linspace(-0.5, -0.25, 26)
column = quintet.superresolve("runs/train", coarse, points={"time": np.full(26, 20.0), "z": z, "x": np.full(26, 1.0)}, threads=1)
there = {"x": 1.0, "time": 20}
ax = plt.figure().add_subplot()
ax.plot(truth.b.interp(there), truth.z, "k.", label="flow")
ax.plot(coarse.b.interp(there), coarse.z, "s", label="coarse values")
ax.plot(column.b, z, label="network")
ax.set(xlabel="buoyancy", ylabel="height", xlim=(-0.3, 0.5), ylim=(-0.5, -0.25), title="Through the layer of the warm plate")
ax.legend()
plt.show()

# %% [markdown]
# ## Change, and break it on purpose
#
# A flow with more heat has thinner layers, which this network has never seen. It says so, and does not guess.

# %%
try:
    quintet.superresolve("runs/train", coarse.assign_attrs(Ra=1e5), factor=[4, 4, 4], threads=1)
except quintet.InputError as error:
    print(str(error).partition("model.h5: ")[2])

# %% [markdown]
# ## Restart, on two ranks
#
# The flows go on from their last checkpoint. Two ranks of MPI now share them.

# %%
flows = quintet.run("inputs/meshfreeflow/quick_flows.yaml", output="runs/flows", restart="auto", ranks=2, progress=False, threads=1,
                    **{**settings, "time.end": 31})
print(f"to time {flows.table('history').time.iloc[-1]:.1f}")

# %% [markdown]
# ## Plan and submit
#
# How long would a finer grid take? `quintet.plan` times some steps here. `quintet.submit` makes the job of a
# cluster. With `dry_run` it queues nothing.

# %%
fine = {"grid.cells": [1024, 256]}
plan = quintet.plan("inputs/meshfreeflow/quick_flows.yaml", [1, 2], **fine)
print(plan.rows.ranks.unique().tolist(), "ranks were planned")
job = quintet.submit("inputs/meshfreeflow/quick_flows.yaml", "abci3", "00:30:00", output="runs/queued",
                     flags=["--account", "GROUP"], dry_run=True, **fine)
print("\n".join(line for line in job.text.splitlines() if line.startswith("#PBS -l")))

# %% [markdown]
# ## Next
#
# Each field has a residual of its equation beside it, such as `sharp.residual_continuity`: it tells where to doubt.
# Train on flows at several Rayleigh numbers, or on your own by `quintet.data.write_fields`: see
# [Python](../../python.md). How a flow begins to move is the tutorial by the terminal, [meshfreeflow](../meshfreeflow.md).
