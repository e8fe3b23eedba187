#!/usr/bin/env python3
"""Write rdf_xtb_400k.csv: g(r) between oxygen atoms in the CP2K run at 400 K (data/*_400k), its last 1.5 ps.

The run began from a lattice: its first half is still on the way to equilibrium, with a lower first peak.
"""
from pathlib import Path

import numpy as np

import systems

WIDTH, R_MAX = 0.1, 4.9  # Angstrom


def main():
    parts = [systems.DATA / name / "set.000" for name in ("train_400k", "valid_400k")]
    oxygen = np.concatenate([np.load(part / "coord.npy") for part in parts]).reshape(-1, 32, 9)[:, :, :3]
    oxygen = oxygen[len(oxygen) // 2:]
    edge = float(np.load(parts[0] / "box.npy")[0, 0])
    d = oxygen[:, :, None] - oxygen[:, None]
    r = np.linalg.norm(d - edge * np.round(d / edge), axis=-1)[:, ~np.eye(32, dtype=bool)]
    counts, edges = np.histogram(r, np.arange(0, R_MAX + WIDTH / 2, WIDTH))
    shell = 4 / 3 * np.pi * np.diff(edges**3)
    # Pairs of 32 atoms in a volume: g = counts / (frames * 32 * 31 / V * shell).
    g = counts * edge**3 / (len(r) * 32 * 31 * shell)
    np.savetxt(Path(__file__).parent / "rdf_xtb_400k.csv", np.stack([edges[:-1] + WIDTH / 2, g], 1),
               fmt=["%.3f", "%.4f"], delimiter=",", header="r_angstrom,O_O", comments="")


if __name__ == "__main__":
    main()
