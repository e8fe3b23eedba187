# %% [markdown]
# # Python tutorial: a density matrix without diagonalisation
#
# Kohn-Sham theory needs the density matrix D of a sparse matrix K, and of an overlap S where orbitals overlap.
# Diagonalisation costs n^3. In an insulator an orbital feels only its surroundings, so D is short-ranged too. The
# submatrix method uses this: it cuts a small dense matrix out of K around each block of orbitals, and keeps the block's
# columns of its result. Here you evaluate a ring of atoms with a known answer, look at D, change the blocks, and compare.
#
# ## Run
#
# A ring of 600 sites whose bonds alternate: an insulator with a gap of 1 eV.

# %%
import matplotlib.pyplot as plt
import numpy as np

import quintet

ring = quintet.run("inputs/submatrix/chain_gap.yaml", output="runs/ring", progress=False, threads=1)
ring.status

# %% [markdown]
# ## Open

# %%
ring = quintet.open("runs/ring")
found = ring.summary
print(f"2 Tr(DK) = {found.band_energy_hartree:.8f} hartree, gap {found.gap_ev:.2f} eV, {found.submatrix_rows_mean:.0f} rows a submatrix")

# %% [markdown]
# ## Look
#
# What a file does, arrays do as well. The same ring as a scipy matrix goes through `quintet.density`, in hartree.

# %%
import scipy.sparse

n, eV = 600, 1 / 27.211386245988
bonds = np.where(np.arange(n) % 2 == 0, -1.5, -1.0) * eV
hopping = scipy.sparse.coo_array((bonds, (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
K = (hopping + hopping.T).tocsc()
density = quintet.density(K, electrons=n, blocks=[60] * 10)
print(f"Tr(DK) = {density.energy:.8f} hartree for all {n} electrons, as the program's 2 Tr(DK)")

# %% [markdown]
# The decay of D is what makes it work. Here is the exact one, of all 600 orbitals, from the middle of the ring.

# %%
levels, orbitals = np.linalg.eigh(K.toarray())
exact = orbitals[:, : n // 2] @ orbitals[:, : n // 2].T
ax = plt.figure().add_subplot()
ax.semilogy(np.arange(101), np.maximum(abs(exact[300, 300:401]), 1e-17), ".")
ax.set(xlabel="distance (sites)", ylabel="|D|", title="The density matrix of an insulator decays")
plt.show()

# %% [markdown]
# ## Change
#
# Smaller blocks make smaller submatrices, which see less of their surroundings.

# %%
sizes = [20, 30, 40, 60]
sweep = [quintet.run("inputs/submatrix/chain_gap.yaml", output=f"runs/ring_{size}", progress=False, threads=1,
                     **{"blocks": {"size": size}}) for size in sizes]

# %% [markdown]
# ## Compare
#
# The answer is known: the band energy is -501.577866460858 eV. The error falls as fast as D does.

# %%
for size, run in zip(sizes, sweep):
    error = abs(run.summary.energy_error_hartree) * 27.211386 * 1e3 / 600
    print(f"blocks of {size}: {run.summary.submatrix_rows_mean:.0f} rows,", f"error {error:.1e} meV an atom" if error > 1e-8 else "error below 1e-8 meV an atom")

# %% [markdown]
# ## Break it on purpose
#
# A mistake is an exception with the program's words, and nothing is computed.

# %%
try:
    quintet.run("inputs/submatrix/chain_gap.yaml", output="runs/broken", progress=False, **{"blocks": {"size": 70}})
except quintet.InputError as error:
    print(str(error).partition("blocks.size: ")[2])

# %% [markdown]
# ## Restart, on two ranks
#
# Each threshold is a step of a run. The first run goes on with a second one, on two ranks of MPI.

# %%
ring = quintet.run("inputs/submatrix/chain_gap.yaml", output="runs/ring", restart="auto", ranks=2, progress=False, threads=1,
                   **{"method.thresholds": [1e-6, 1e-8]})
print("thresholds:", *ring.table("thresholds").threshold)

# %% [markdown]
# ## Plan and submit
#
# How long would 256 molecules of water take on more ranks? `quintet.plan` times some submatrices here. `quintet.submit`
# makes the job of a cluster. With `dry_run` it queues nothing.

# %%
plan = quintet.plan("inputs/submatrix/water.yaml", [1, 2])
print(plan.rows.ranks.unique().tolist(), "ranks were planned")
job = quintet.submit("inputs/submatrix/water.yaml", "abci3", "00:30:00", output="runs/queued",
                     flags=["--account", "GROUP"], dry_run=True)
print("\n".join(line for line in job.text.splitlines() if line.startswith("#PBS -l")))

# %% [markdown]
# ## Next
#
# `quintet.DensitySolver` keeps S^-1/2 in the loop of a self-consistent field: see [Python](../../python.md). The same
# tutorial by the terminal is [submatrix](../submatrix.md).
