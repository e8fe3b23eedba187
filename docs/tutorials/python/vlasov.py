# %% [markdown]
# # Python tutorial: kinetics, and a wave that dies without collisions
#
# Kinetics follows the distribution function f(x, v, t): how many electrons are at x with velocity v. Fluid equations
# keep only its mean velocity and temperature, and lose Landau damping with the rest. Here you run a Langmuir wave, look
# at its field and at f, change its wavelength, and compare with Landau's theory. Lengths are in Debye lengths, times in
# inverse plasma frequencies.
#
# ## Run
#
# `quintet.run` starts the program `vlasov`, and returns the run when it is done. Any key of the input can be set.

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

landau = quintet.run("inputs/vlasov/landau.yaml", output="runs/landau", progress=False, threads=1,
                     **{"time.end": 20, "output.frame_interval": 1})
landau.status

# %% [markdown]
# ## Open
#
# A run that is there is opened by its directory. Its tables are pandas data frames, its fields are xarray data sets.

# %%
landau = quintet.open("runs/landau")
print("tables:", landau.tables)
E = landau.fields.e_x
print("E has the axes", E.dims, "and", E.sizes["time"], "times")

# %% [markdown]
# ## Look
#
# The energy of the field falls by many orders of magnitude. It swings because the wave is a standing one.

# %%
history = landau.table("history")
ax = plt.figure().add_subplot()
ax.semilogy(history.time, history.electric_energy)
ax.set(xlabel="time", ylabel="energy of the field", title="Landau damping")
plt.show()

# %% [markdown]
# Where has the energy gone? To the electrons. Their f is a function that you may call: it is evaluated from the
# polynomials of each cell, at any points. Half the difference between a crest and a trough is the wave's part of f. It
# does not die: it becomes ever finer stripes in velocity, whose integral, the density, vanishes.

# %%
v = np.linspace(-4, 4, 400)
ax = plt.figure().add_subplot()
for frame in (5, 20):
    f = landau.distribution("electrons", frame=frame)
    ax.plot(v, (f(x=0.0, vx=v) - f(x=2 * np.pi, vx=v)) / 2, label=f"t = {f.time:.0f}")
ax.set(xlabel="v", ylabel="wave in f", title="What the wave leaves in f")
ax.legend()
plt.show()

# %% [markdown]
# Moments are integrals over v, and exact for the polynomials. The integral of v^2 f is the pressure. At the start it is
# that of a density 1 + 1e-4 cos(k x), with k = 0.5.

# %%
x = np.array([0.0, 1.0, 2.0])
pressure = landau.distribution("electrons", frame=0).moment(x=x, powers={"vx": 2})
print("pressure - 1:", pressure - 1)
print("expected:    ", 1e-4 * np.cos(0.5 * x))

# %% [markdown]
# ## Change
#
# A longer wave is faster than more electrons, so fewer of them take energy from it. A sweep runs both waves.

# %%
sweep = quintet.sweep("inputs/vlasov/landau.yaml", {"constants.k": [0.4, 0.5]}, output="runs/waves", progress=False,
                      threads=1, **{"time.end": 20, "grid.cells": [16, 32], "output.frame_interval": 5})

# %% [markdown]
# ## Compare
#
# The program has solved Landau's dispersion relation beside each run. Rates and frequencies agree to four digits.

# %%
for k, run in zip((0.4, 0.5), sweep):
    found = run.summary
    print(f"k = {k}: rate {found.growth_rate:.4f}, theory {found.growth_rate_theory:.4f}; "
          f"frequency {found.frequency:.4f}, theory {found.frequency_theory:.4f}")

# %% [markdown]
# ## Break it on purpose
#
# A mistake is an exception with the program's words, and nothing is computed.

# %%
try:
    quintet.run("inputs/vlasov/landau.yaml", output="runs/broken", progress=False, **{"grid.cell": [16, 16]})
except quintet.InputError as error:
    print(error)

# %% [markdown]
# ## Restart, on two ranks
#
# The first run goes on from its last checkpoint. Two ranks of MPI now share its grid.

# %%
landau = quintet.run("inputs/vlasov/landau.yaml", output="runs/landau", restart="auto", ranks=2, progress=False, threads=1,
                     **{"time.end": 22, "output.frame_interval": 1})
print(f"to time {landau.table('history').time.iloc[-1]:.1f}; rate {landau.summary.growth_rate:.4f}")

# %% [markdown]
# ## Plan and submit
#
# How long would the whole case take, and on how many ranks? `quintet.plan` times some steps here. `quintet.submit` makes
# the job of a cluster. With `dry_run` it queues nothing.

# %%
plan = quintet.plan("inputs/vlasov/landau.yaml", [1, 2])
print(plan.rows.ranks.unique().tolist(), "ranks were planned")
job = quintet.submit("inputs/vlasov/landau.yaml", "abci3", "01:00:00", output="runs/queued",
                     flags=["--account", "GROUP"], dry_run=True)
print("\n".join(line for line in job.text.splitlines() if line.startswith("#PBS -l")))

# %% [markdown]
# ## Next
#
# Try `quintet.run("inputs/vlasov/two_stream.yaml")`, whose f rolls up. The same tutorial by the terminal is
# [vlasov](../vlasov.md), and what the package offers is in [Python](../../python.md).
