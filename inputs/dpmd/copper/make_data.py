#!/usr/bin/env python3
"""Make the copper data set in data/: LAMMPS, Mishin's EAM (see eam.py), every frame from a short run of its own.

Each line of `plan` is one kind of cell: strained, heated, molten, with a vacancy or a surface. A frame is the end of an
independent Langevin run (0.4 ps heated, 2 ps molten after 2 ps at 4000 K), so no two are correlated. The last frames
of each kind are held out as the validation part.
"""
import shutil
from pathlib import Path

import numpy as np

import eam

DATA = Path(__file__).resolve().parent / "data"
A0 = 3.615       # lattice constant, Angstrom
HELD_OUT = 0.15  # of each kind
rng = np.random.default_rng(20010614)


def at_volume(ratio, spread=0.03, shear=0.05):
    """Return a random upper-triangular strain (3,3) whose determinant gives the volume ratio."""
    strain = np.diag(rng.uniform(-spread, spread, 3)) + np.triu(rng.uniform(-shear, shear, (3, 3)), 1)
    deform = np.eye(3) + strain
    return deform * (ratio / np.linalg.det(deform)) ** (1 / 3) - np.eye(3)


def vacancy(cell):
    return cell[0][1:], cell[1]


def slab(cell):
    """Add a vacuum of 6 to 10 Angstrom along z: two (001) surfaces."""
    return cell[0], cell[1] + np.diag([0, 0, rng.uniform(6, 10)])


def langevin(temperature, steps):
    return (f"fix bath all langevin {temperature} {temperature} 0.1 {rng.integers(1, 10**6)}\nfix move all nve\n"
            f"run {steps}\n")


def frame(cell, temperature, melt=False):
    """Return one labelled frame of a cell near a temperature (K); below 1 K atoms are displaced, not moved."""
    coord, box = cell
    if temperature < 1:
        return eam.run(coord + rng.normal(0, 0.02, coord.shape) * (rng.random() < 0.5), box)
    # The thermostat's friction and noise are in LAMMPS' force array: remove it and evaluate once more.
    bare = "unfix bath\nunfix move\nrun 0\n"
    start = f"velocity all create {2 * temperature} {rng.integers(1, 10**6)}\n"
    if melt:
        start += langevin(4000, 1000) + bare
    return eam.run(coord, box, start + langevin(temperature, 1000 if melt else 200) + bare + eam.FRAME)


def fcc(repeat=(2, 2, 2)):
    return eam.lattice("fcc", A0, repeat)


HOT = (300, 1200)
# name, frames, cell, range of volume ratios to fcc at A0, range of temperatures, molten, random strain or isotropic
plan = [
    ("solid32", 120, fcc, (0.88, 1.25), HOT, False, {}),
    ("solid32", 40, fcc, (0.88, 1.20), (0, 0), False, {}),
    ("solid32", 30, fcc, (0.86, 1.22), (0, 0), False, {"spread": 0, "shear": 0}),
    ("solid32", 20, fcc, (0.98, 1.06), (20, 300), False, {"spread": 0.01, "shear": 0.01}),
    ("solid32", 16, lambda: eam.lattice("hcp", A0, (2, 2, 2)), (0.90, 1.20), (0, 900), False, {}),
    ("solid32", 16, lambda: eam.lattice("bcc", A0 / 2 ** (1 / 3), (2, 2, 4)), (0.90, 1.20), (0, 0), False, {}),
    ("solid32", 20, lambda: slab(fcc()), (0.95, 1.08), HOT, False, {}),
    ("liquid32", 130, fcc, (0.98, 1.30), (1400, 2200), True, {}),
    ("liquid32", 20, fcc, (0.85, 0.98), (1800, 3000), True, {}),
    ("vacancy31", 24, lambda: vacancy(fcc()), (0.92, 1.15), HOT, False, {}),
    ("cell108", 14, lambda: fcc((3, 3, 3)), (0.94, 1.12), HOT, False, {"spread": 0.01, "shear": 0.02}),
    ("cell108", 24, lambda: fcc((3, 3, 3)), (1.05, 1.22), (1400, 2000), True, {"spread": 0.01, "shear": 0.02}),
]


def check_labels():
    """Stop unless the force is -dE/dx and the virial -dE/d(strain), by differences on a heated, sheared cell."""
    first = frame(eam.strained(*fcc(), at_volume(0.95)), 600)
    coord, box = first["coord"].reshape(-1, 3), first["box"].reshape(3, 3)
    d = rng.normal(0, 1e-4, coord.shape)
    up, down = (eam.run(coord + s * d, box)["energy"][0] for s in (1, -1))
    difference, label = -(up - down) / 2, (first["force"][0] * d.ravel()).sum()
    print(f"force * displacement: label {label:.4e} eV, finite difference {difference:.4e} eV")
    assert abs(difference - label) < 1e-7, "the force is not -dE/dx"
    for k, l in np.argwhere(np.tri(3).T):
        h = np.zeros((3, 3))
        h[k, l] = 1e-4
        up, down = (eam.run(*eam.strained(coord, box, s * h))["energy"][0] for s in (1, -1))
        difference, label = -(up - down) / 2e-4, first["virial"][0, 3 * k + l]
        print(f"virial {'xyz'[k]}{'xyz'[l]}: label {label:10.5f} eV, finite difference {difference:10.5f} eV")
        assert abs(difference - label) < 1e-3, "the virial is not -dE/d(strain)"


def save(name, frames):
    """Write frames as one DeePMD system. float32 moves atoms by 1e-7 Angstrom; only energies need float64."""
    folder = DATA / name / "set.000"
    folder.mkdir(parents=True)
    for key in frames[0]:
        array = np.concatenate([f[key] for f in frames])
        np.save(folder / f"{key}.npy", array if key == "energy" else array.astype(np.float32))
    n = frames[0]["coord"].shape[1] // 3
    (DATA / name / "type.raw").write_text("0\n" * n)
    (DATA / name / "type_map.raw").write_text("Cu\n")
    print(f"{name}: {len(frames)} frames of {n} atoms")


def main():
    check_labels()
    shutil.rmtree(DATA, ignore_errors=True)
    systems = {}
    for name, count, cell, volumes, temperatures, melt, strain in plan:
        # Evenly spaced volumes in random order: the range is covered, also by the few frames held out.
        for k, ratio in enumerate(rng.permutation(np.linspace(*volumes, count))):
            part = "valid" if k >= count * (1 - HELD_OUT) else "train"
            made = frame(eam.strained(*cell(), at_volume(ratio, **strain)), rng.uniform(*temperatures), melt)
            systems.setdefault(f"{part}_{name}", []).append(made)
    for name, frames in sorted(systems.items()):
        save(name, frames)


if __name__ == "__main__":
    main()
