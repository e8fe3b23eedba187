#!/usr/bin/env python3
"""Make data/train_400k and data/valid_400k from molecular dynamics of 32 water molecules with CP2K (GFN1-xTB).

Usage: make_data.py CP2K_FOLDER: where `cp2k.psmp -i cp2k_md.inp` was run (about an hour of one core), or an .npz with
its frames (step, coord, energy, force, virial, box). Frames are taken 12 fs apart after 80 fs. They are from one run
and so correlated: the last fifth in time is held out. Units: Angstrom, eV; virial = -dE/d(strain) in eV.
"""
import sys
from pathlib import Path

import numpy as np

import systems

START, EVERY, HELD_OUT = 80, 12, 0.2  # fs, fs, part


def frames_of(source):
    """Return coord, force (nf,96,3), energy (nf), virial, box (nf,3,3) and step (nf) of a run's folder or an .npz."""
    if source.is_dir():
        return systems.read_run(source)
    data = dict(np.load(source))
    return {key: data[key] for key in ("step", "coord", "energy", "force", "virial")} | {
        "box": np.broadcast_to(data["box"], (len(data["step"]), 3, 3))}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    frames = frames_of(Path(sys.argv[1]))
    step = frames.pop("step")
    taken = np.flatnonzero((step >= START) & ((step - START) % EVERY == 0))
    first = round(len(taken) * (1 - HELD_OUT))
    systems.save("train_400k", {key: value[taken[:first]] for key, value in frames.items()})
    systems.save("valid_400k", {key: value[taken[first:]] for key, value in frames.items()})


if __name__ == "__main__":
    main()
