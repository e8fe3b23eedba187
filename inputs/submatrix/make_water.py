#!/usr/bin/env python3
"""Make water_k.h5, water_s.h5 and water_references.yaml: K and S of liquid water, and exact answers for boxes of it.

CP2K evaluates water.inp (water.xyz repeated 2 x 2 x 2). Each element goes to the lattice shift of its nearest image, the
eight cells are averaged and M(0,s) is made equal to M(0,-s)^T. Values are rounded to 2^-43 (1.1e-13), so that they
compress; what is left below 1e-12 is dropped. The answers belong to these stored blocks: E = Tr(DK) = sum of the
occupied eigenvalues, from complex 192 x 192 problems K(k) c = e S(k) c on the k-points of each box.

    apt-get install cp2k libopenblas0-openmp; pip install numpy h5py
    inputs/submatrix/make_water.py [folder with CP2K's files, made if absent]
"""
import glob
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"
import h5py
import numpy as np

HERE = Path(__file__).resolve().parent
EDGE = 9.865              # of the cubic cell, angstrom
N, MOLECULES = 192, 32    # orbitals and molecules of a cell
ORBITALS = (4, 1, 1)      # of O, H, H
PAIRS = 4                 # occupied orbitals a molecule
MU = 0.07                 # hartree, in the gap
BOXES = [(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (4, 2, 2), (4, 4, 4)]
CELLS = [(x, y, z) for z in range(2) for y in range(2) for x in range(2)]  # CP2K's order: x fastest


def run_cp2k(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("water.inp", "water.xyz"):
        (folder / name).write_text((HERE / name).read_text())
    openblas = glob.glob("/usr/lib/*/openblas-openmp")  # else CP2K takes the system's libblas.so.3
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(openblas), OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run(["cp2k.psmp", "-i", "water.inp", "-o", "water.out"], cwd=folder, env=environment, check=True)


def read_csr(path):
    """Read CP2K's binary triplets, one Fortran record an element, into a dense matrix [8 N, 8 N]."""
    record = np.dtype([("head", "<i4"), ("row", "<i4"), ("column", "<i4"), ("value", "<f8"), ("tail", "<i4")])
    data = np.fromfile(path, record)
    assert (data["head"] == 16).all() and (data["tail"] == 16).all(), path
    matrix = np.zeros((8 * N, 8 * N))
    matrix[data["row"] - 1, data["column"] - 1] = data["value"]
    return matrix


def real_space(matrix, centre):
    """Return {shift: M(0, shift) [N, N]} of a 2 x 2 x 2 box; `centre` [N, 3]: place of each orbital's atom."""
    apart = np.rint((centre[None] - centre[:, None]) / EDGE * 1e9) / 1e9  # of column and row, in cells
    i, j = np.indices((N, N))
    result = {}
    for (a, row_cell), (b, column_cell) in itertools.product(enumerate(CELLS), repeat=2):
        shift = np.subtract(column_cell, row_cell)
        nearest = (shift - 2 * np.rint((apart + shift) / 2)).astype(int)
        block = matrix[a * N:(a + 1) * N, b * N:(b + 1) * N] / 8
        for s in np.unique(nearest.reshape(-1, 3), axis=0):
            here = (nearest == s).all(axis=2)
            result.setdefault(tuple(map(int, s)), np.zeros((N, N)))[i[here], j[here]] += block[here]
    zero = np.zeros((N, N))
    symmetric = {s: (m + result.get(tuple(-x for x in s), zero).T) / 2 for s, m in result.items()}
    rounded = {s: np.rint(m * 2.0**43) / 2.0**43 for s, m in symmetric.items()}
    kept = {s: np.where(np.abs(m) < 1e-12, 0, m) for s, m in rounded.items()}
    return {s: m for s, m in sorted(kept.items()) if m.any()}


def write(path, blocks, units, description):
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file.attrs.update(schema="quintet.matrix", schema_version=1, program="make_water.py", version="")
        group = file.create_group("real_space")
        group.attrs["n_rows"] = N
        places = [np.nonzero(m) for m in blocks.values()]
        begin = np.cumsum([0] + [len(i) for i, _ in places])
        lists = {"shift": (np.array(list(blocks), np.int32), "1", ["shift", "xyz"], "Cells from row to column"),
                 "begin": (begin.astype(np.int64), "1", ["shift"], "First element of each shift, then their number"),
                 "row": (np.concatenate([i for i, _ in places]).astype(np.int32), "1", ["element"], "Orbital of cell 0"),
                 "column": (np.concatenate([j for _, j in places]).astype(np.int32), "1", ["element"],
                            "Orbital of cell s"),
                 "value": (np.concatenate([m[p] for m, p in zip(blocks.values(), places)]), units, ["element"],
                           description)}
        for name, (values, unit, axes, text) in lists.items():
            data = group.create_dataset(name, data=values, compression="gzip", compression_opts=9, shuffle=True)
            data.attrs.update(units=unit, axes=axes, description=text)
    print(f"{path.name}: {len(blocks)} shifts, {begin[-1]} elements, {path.stat().st_size} bytes")


def at(blocks, k):
    """Return M(k) = sum of M(0,s) exp(2 pi i k.s)."""
    return sum(m * np.exp(2j * np.pi * np.dot(k, s)) for s, m in blocks.items())


def levels(K, S, k):
    """Return the eigenvalues of K(k) c = e S(k) c and those of S(k)."""
    overlap, vectors = np.linalg.eigh(at(S, k))
    half = vectors / np.sqrt(overlap)
    return np.linalg.eigvalsh(half.conj().T @ at(K, k) @ half), overlap


def references(K, S):
    known = {}
    for box in BOXES:
        points = [tuple(i / n for i, n in zip(c, box)) for c in np.ndindex(*box)]
        for k in points:
            opposite = tuple(-x % 1 for x in k)  # has the same eigenvalues
            if k not in known:
                known[k] = known[opposite] = levels(K, S, k)
        energies = np.sort(np.concatenate([known[k][0] for k in points]))
        overlaps = np.concatenate([known[k][1] for k in points])
        pairs = PAIRS * MOLECULES * len(points)
        yield (f"- {{repeat: [{', '.join(map(str, box))}], n_molecules: {MOLECULES * len(points)}, n_rows: {energies.size}, "
               f"n_pairs: {pairs}, energy: {energies[:pairs].sum():.9f}, n_below_mu: {(energies < MU).sum()},\n"
               f"   homo: {energies[pairs - 1]:.9f}, lumo: {energies[pairs]:.9f}, lowest: {energies[0]:.9f}, "
               f"highest: {energies[-1]:.9f}, s_min: {overlaps.min():.9f}, s_max: {overlaps.max():.9f}}}")


def check(matrix, blocks, name):
    """Fold to 2 x 2 x 2 again and compare with CP2K's own matrix."""
    folded = np.zeros_like(matrix)
    for (a, cell), (s, m) in itertools.product(enumerate(CELLS), blocks.items()):
        b = CELLS.index(tuple((np.add(cell, s) % 2).tolist()))
        folded[a * N:(a + 1) * N, b * N:(b + 1) * N] += m
    print(f"{name}: largest difference to CP2K's own 2 x 2 x 2 box {np.abs(folded - matrix).max():.1e}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        files = [folder / f"water-{name}_SPIN_1-1_0.csr" for name in ("KS", "S")]
        if not all(file.is_file() for file in files):
            run_cp2k(folder)
        atoms = np.array([line.split()[1:4] for line in open(HERE / "water.xyz").read().splitlines()[2:]], float)
        centre = np.repeat(atoms, ORBITALS * MOLECULES, axis=0)
        K, S = (read_csr(file) for file in files)
    blocks = [real_space(matrix, centre) for matrix in (K, S)]
    for matrix, m, name in zip((K, S), blocks, "KS"):
        check(matrix, m, name)
    write(HERE / "water_k.h5", blocks[0], "hartree", "Kohn-Sham matrix K(0,s)")
    write(HERE / "water_s.h5", blocks[1], "1", "Overlap matrix S(0,s)")
    (HERE / "water_references.yaml").write_text(
        "# Exact answers for boxes of water_k.h5 and water_s.h5 (make_water.py). Hartree; one spin: E = Tr(DK), pairs of\n"
        "# electrons; lowest, highest: spectrum of S^-1/2 K S^-1/2; s_min, s_max: of S; mu = 0.07 lies in the gap.\n"
        "boxes:\n" + "\n".join(references(*blocks)) + "\n")


if __name__ == "__main__":
    main()
