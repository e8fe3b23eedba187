#!/usr/bin/env python3
"""Make data/train_spread and data/valid_spread: frames at other densities, bond lengths and forces than the run has.

Usage: make_spread.py FOLDER. Frames of data/train_400k get a cell edge of -3, 0 or +3 % (molecules moved as a whole)
and atoms displaced at random, in some frames more (O 0.06, H 0.09 Angstrom) than in others: bonds as in water of 400 to
2000 K, so that a model is stable there. CP2K labels each in a folder of its own (label.inp, which `dpmd label` takes
too); a complete one is not repeated. The frames held out start from data/valid_400k. About 1.5 CPU seconds a frame.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import systems

HERE = Path(__file__).resolve().parent
EDGE = 9.865                    # Angstrom: 1.00 g/cm^3
FACTORS = (0.97, 1.03, 1.00)    # on the edge
COUNTS = {"train": 20, "valid": 5}  # frames of each edge
rng = np.random.default_rng(32)

def changed(coord, factor):
    """Return a frame (96,3) with molecules moved to another density and atoms displaced, by less in some frames."""
    size = rng.random() * np.tile([0.06, 0.09, 0.09], 32)[:, None] / 3**0.5
    return coord + np.repeat(coord[::3], 3, 0) * (factor - 1) + size * rng.normal(0, 1, coord.shape)


def label(folder, edge, coord):
    """Return a frame (96,3) with CP2K's energy, forces and virial."""
    cell = "\n".join(f"{name} " + " ".join(map(repr, row)) for name, row in zip("ABC", (edge * np.eye(3)).tolist()))
    atoms = "\n".join(f"{s} {x:.8f} {y:.8f} {z:.8f}" for s, (x, y, z) in zip("OHH" * 32, coord))
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        text = (HERE / "label.inp").read_text().replace("{{cell}}", cell).replace("{{coordinates}}", atoms)
        (folder / "cp2k.inp").write_text(text)
        with open(folder / "out.txt", "w") as out:
            subprocess.run(["cp2k.psmp", "-i", "cp2k.inp"], cwd=folder, stdout=out, stderr=out, check=True,
                           env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
        (folder / "done").touch()
    return {"coord": coord, "box": edge * np.eye(3)} | systems.read_output(folder / "out.txt", edge**3)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    parts = {part: [] for part in COUNTS}
    for factor in FACTORS:
        edge = round(EDGE * factor, 5)
        for part, count in COUNTS.items():
            coord = np.load(systems.DATA / f"{part}_400k" / "set.000" / "coord.npy").reshape(-1, 96, 3).astype(float)
            for k in rng.choice(len(coord), count, replace=False):
                folder = Path(sys.argv[1]).resolve() / f"{part}_{edge}_{k}"
                parts[part].append(label(folder, edge, changed(coord[k], factor)))
    for part, made in parts.items():
        systems.save(f"{part}_spread", {key: np.array([frame[key] for frame in made]) for key in made[0]})


if __name__ == "__main__":
    main()
