# %% [markdown]
# # Python tutorial: a Deep Potential of copper
#
# A Deep Potential is a neural network for the energy of an atom among its neighbours. It was trained on energies and
# forces of a more expensive method, and replaces it in molecular dynamics. The energy of a system is the sum over its
# atoms, and forces are minus its gradient. Here you move atoms with such a model, look at the crystal, heat it, and
# compare. Energies are in eV, lengths in angstrom.
#
# ## Run
#
# 108 atoms in a thermostat at 300 K, 200 steps of 2 fs. Half of the initial 600 K becomes potential energy.

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

settings = {"system.replicate": [3, 3, 3], "time.steps": 200, "trajectory.interval": 20,
            "observables": {"rdf": {"interval": 20}}}
cold = quintet.run("inputs/dpmd/copper/nvt.yaml", output="runs/cold", progress=False, threads=1, **settings)
cold.status

# %% [markdown]
# ## Open
#
# Tables are pandas data frames with units. The trajectory gives ase.Atoms, frame by frame.

# %%
cold = quintet.open("runs/cold")
thermo = cold.table("thermo")
print("temperature in", thermo.attrs["units"]["temperature"], "- pressure in", thermo.attrs["units"]["pressure"])
for atoms in cold.trajectory[::5]:
    print(f"step {atoms.info['step']}: {len(atoms)} atoms, {atoms.get_temperature():.0f} K")

# %% [markdown]
# ## Look
#
# The conserved energy stays level, while energy goes from motion to springs between atoms.

# %%
ax = plt.figure().add_subplot()
for name in ("kinetic", "potential", "conserved"):
    ax.plot(thermo.time, (thermo[name] - thermo[name].iloc[0]) / 108 * 1e3, label=name)
ax.set(xlabel="time (ps)", ylabel="change (meV/atom)", title="Where the energy goes")
ax.legend(loc="center right", bbox_to_anchor=(1, 0.65))
plt.show()

# %% [markdown]
# The same model can be called. How hard is it to push one atom? For small displacements the force is that of a spring.

# %%
import ase.build

potential = quintet.Potential("inputs/dpmd/copper/copper.dp")
crystal = ase.build.bulk("Cu", cubic=True, a=3.61) * (3, 3, 3)
for d in (0.05, 0.1, 0.2):
    pushed = crystal.copy()
    pushed.positions[0, 0] += d
    energy, forces, virial = potential(pushed)
    print(f"moved by {d:4.2f} A: energy {energy / len(pushed):.4f} eV/atom, force back {-forces[0, 0]:.3f} eV/A")

# %% [markdown]
# ## Change
#
# Hotter atoms swing further.

# %%
hot = quintet.run("inputs/dpmd/copper/nvt.yaml", output="runs/hot", progress=False, threads=1,
                  **settings, **{"integrator.temperature": "900 K", "velocities.temperature": "1800 K"})

# %% [markdown]
# ## Compare
#
# The radial distribution function g(r) has a peak for each shell of neighbours: 12 of them are nearest. Heat makes the
# peaks wider. Their places stay.

# %%
ax = plt.figure().add_subplot()
for run in (cold, hot):
    rdf = run.table("rdf")
    ax.plot(rdf.r, rdf.Cu_Cu, label=f"{run.name}")
    first = rdf[rdf.r < 3.2]
    print(f"{run.name}: {run.summary.temperature_mean_k:.0f} K, nearest neighbours at {(first.r * first.Cu_Cu).sum() / first.Cu_Cu.sum():.2f} A, "
          f"highest g {first.Cu_Cu.max():.1f}")
ax.set(xlabel="r (angstrom)", ylabel="g(r)", xlim=(2, 6), title="Shells of neighbours, cold and hot")
ax.legend()
plt.show()

# %% [markdown]
# ## Break it on purpose
#
# Quantities have units, so that no program has to guess. A mistake is an exception, and nothing is computed.

# %%
try:
    quintet.run("inputs/dpmd/copper/nvt.yaml", output="runs/broken", progress=False, **{"integrator.temperature": 300})
except quintet.InputError as error:
    print(error)

# %% [markdown]
# ## Restart, on two ranks
#
# The cold run goes on from its last checkpoint. Two ranks of MPI now share its atoms.

# %%
cold = quintet.run("inputs/dpmd/copper/nvt.yaml", output="runs/cold", restart="auto", ranks=2, progress=False, threads=1,
                   **{**settings, "time.steps": 240})
print(f"to {cold.table('thermo').time.iloc[-1]:.2f} ps, with {len(cold.trajectory)} frames")

# %% [markdown]
# ## Plan and submit
#
# How long would it take on more ranks? `quintet.plan` times some steps here. `quintet.submit` makes the job of a
# cluster. With `dry_run` it queues nothing.

# %%
plan = quintet.plan("inputs/dpmd/copper/nvt.yaml", [1, 2])
print(plan.rows.ranks.unique().tolist(), "ranks were planned")
job = quintet.submit("inputs/dpmd/copper/nvt.yaml", "abci3", "00:30:00", output="runs/queued",
                     flags=["--account", "GROUP"], dry_run=True)
print("\n".join(line for line in job.text.splitlines() if line.startswith("#PBS -l")))

# %% [markdown]
# ## Next
#
# `quintet.ase.Calculator` puts the model into ASE, and `quintet.data.write_frames` writes your own frames for
# `dpmd train`: see [Python](../../python.md). The same tutorial by the terminal is [dpmd](../dpmd.md).
