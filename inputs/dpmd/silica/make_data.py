#!/usr/bin/env python3
"""Make the silica data in data/: LAMMPS, a Vashishta potential (see vashishta.py), every frame from a run of its own.

Each line of `plan` is one kind of cell of 72 atoms: alpha-quartz and alpha-cristobalite strained and heated, melts, and
glasses quenched from the melt. A frame is the end of an independent Langevin run, so no two are correlated. The last
frames of each kind are held out as the validation part. About 3 minutes of one core.
"""
import shutil
from pathlib import Path

import numpy as np

import vashishta

DATA = Path(__file__).resolve().parent / "data"
HELD_OUT = 0.15  # of each kind
rng = np.random.default_rng(19970901)


def at_volume(ratio, spread, shear):
    """Return a random upper-triangular strain (3,3) whose determinant gives the volume ratio."""
    strain = np.diag(rng.uniform(-spread, spread, 3)) + np.triu(rng.uniform(-shear, shear, (3, 3)), 1)
    deform = np.eye(3) + strain
    return deform * (ratio / np.linalg.det(deform)) ** (1 / 3) - np.eye(3)


def langevin(start, stop, steps):
    return f"fix bath all langevin {start} {stop} 0.1 {rng.integers(1, 10**6)}\nfix move all nve\nrun {steps}\n"


def frame(cell, temperature, kind):
    """Return one labelled frame of a cell near a temperature (K); "static" atoms are displaced, not moved."""
    types, coord, box = cell
    if kind == "static":
        return vashishta.run((types, coord + rng.normal(0, 0.03, coord.shape) * (rng.random() < 0.5), box))
    # The thermostat's friction and noise are in LAMMPS' force array: remove it and evaluate once more.
    bare = "unfix bath\nunfix move\nrun 0\n"
    crystal, melt = kind == "crystal", 6000
    commands = f"velocity all create {2 * temperature if crystal else melt} {rng.integers(1, 10**6)}\n"
    if not crystal:
        commands += langevin(melt, melt, 4000) + bare
    if kind == "glass":
        commands += langevin(melt, temperature, 8000) + bare
    return vashishta.run(cell, commands + langevin(temperature, temperature, 400 if crystal else 2000) + bare
                         + vashishta.FRAME)


def quartz():
    return vashishta.repeated(vashishta.quartz(), (2, 2, 2))


def cristobalite():
    return vashishta.repeated(vashishta.cristobalite(), (2, 3, 1))


SHAPE = {"spread": 0.03, "shear": 0.04}
SMALL = {"spread": 0.01, "shear": 0.01}
# kind, frames, cell, range of volume ratios to the cell of vashishta.py, range of temperatures (K), strain
plan = [
    ("crystal", 60, quartz, (0.90, 1.12), (200, 1500), SHAPE),
    ("crystal", 60, cristobalite, (0.86, 1.08), (200, 1500), SHAPE),
    ("static", 20, quartz, (0.90, 1.15), (0, 0), SMALL),
    ("static", 20, cristobalite, (0.85, 1.12), (0, 0), SMALL),
    ("melt", 60, quartz, (0.95, 1.30), (2000, 4500), SHAPE),
    ("melt", 50, cristobalite, (0.85, 1.15), (2000, 4500), SHAPE),
    ("glass", 30, quartz, (0.98, 1.25), (300, 1800), SHAPE),
    ("glass", 20, cristobalite, (0.90, 1.08), (300, 1800), SHAPE),
]


def check_labels():
    """Stop unless the force is -dE/dx and the virial -dE/d(strain), by differences on a heated, sheared cell."""
    types, coord, box = vashishta.strained(quartz(), at_volume(0.95, **SHAPE))
    first = frame((types, coord, box), 600, "crystal")
    coord, box = first["coord"].reshape(-1, 3), first["box"].reshape(3, 3)
    d = rng.normal(0, 1e-4, coord.shape)
    up, down = (vashishta.run((types, coord + s * d, box))["energy"][0] for s in (1, -1))
    difference, label = -(up - down) / 2, (first["force"][0] * d.ravel()).sum()
    print(f"force * displacement: label {label:.4e} eV, finite difference {difference:.4e} eV")
    assert abs(difference - label) < 1e-6, "the force is not -dE/dx"
    for k, l in np.argwhere(np.tri(3).T):
        h = np.zeros((3, 3))
        h[k, l] = 1e-4
        up, down = (vashishta.run(vashishta.strained((types, coord, box), s * h))["energy"][0] for s in (1, -1))
        difference, label = -(up - down) / 2e-4, first["virial"][0, 3 * k + l]
        print(f"virial {'xyz'[k]}{'xyz'[l]}: label {label:10.5f} eV, finite difference {difference:10.5f} eV")
        assert abs(difference - label) < 1e-3, "the virial is not -dE/d(strain)"


def save(name, types, frames):
    """Write frames as one DeePMD system. float32 moves atoms by 1e-7 Angstrom; only energies need float64."""
    folder = DATA / name / "set.000"
    folder.mkdir(parents=True)
    for key in frames[0]:
        array = np.concatenate([f[key] for f in frames])
        np.save(folder / f"{key}.npy", array if key == "energy" else array.astype(np.float32))
    (DATA / name / "type.raw").write_text("".join(f"{t}\n" for t in types))
    (DATA / name / "type_map.raw").write_text("Si\nO\n")
    print(f"{name}: {len(frames)} frames of {len(types)} atoms")


def main():
    check_labels()
    shutil.rmtree(DATA, ignore_errors=True)
    systems, types = {}, {}
    for kind, count, cell, volumes, temperatures, strain in plan:
        # Evenly spaced volumes in random order: the range is covered, also by the few frames held out.
        for k, ratio in enumerate(rng.permutation(np.linspace(*volumes, count))):
            name = ("valid_" if k >= count * (1 - HELD_OUT) else "train_") + cell.__name__
            made = frame(vashishta.strained(cell(), at_volume(ratio, **strain)), rng.uniform(*temperatures), kind)
            systems.setdefault(name, []).append(made)
            types[name] = cell()[0]
    for name, frames in sorted(systems.items()):
        save(name, types[name], frames)


if __name__ == "__main__":
    main()
