#!/usr/bin/env python3
"""Write peer_reference.json: what DeePMD-kit gives for copper.dp on three small configurations, to 17 digits.

Keys as in DeePMD-kit's units: coord Angstrom [3N], box Angstrom [9] (rows a b c) or null = not periodic, energy eV,
force eV/Angstrom [3N], virial eV [9] (-dE/d(strain)), atom_energy eV [N]. The native file gives no forces in DeePMD-kit,
so the values are those of the converted TensorFlow model; its energies are compared with those of the native file.
"""
import json
import os
import tempfile
from pathlib import Path

import numpy as np

import eam

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from deepmd.entrypoints.convert_backend import convert_backend  # noqa: E402
from deepmd.infer import DeepPot  # noqa: E402

HERE = Path(__file__).resolve().parent


def cluster13():
    """Return an atom and its 12 nearest neighbours (13,3) in fcc, in Angstrom."""
    corners = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if abs(i) + abs(j) + abs(k) == 2]
    return np.array([(0, 0, 0)] + corners) * 3.6 / 2


def configurations():
    """Return (name, coord (N,3), box (3,3) or None) of the three cases; displacements of 0.1 Angstrom."""
    rng = np.random.default_rng(29)
    coord, box = eam.lattice("fcc", 3.64, (2, 2, 2))
    sheared = eam.strained(coord, box, np.array([[.02, .08, -.05], [0, -.03, .06], [0, 0, .04]]))
    noise = lambda x: x + rng.normal(0, 0.1, x.shape)  # noqa: E731
    return [("fcc32_displaced", noise(coord), box), ("fcc32_sheared_displaced", noise(sheared[0]), sheared[1]),
            ("cluster13_not_periodic", noise(cluster13()), None)]


def main():
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        convert_backend(INPUT=str(HERE / "copper.dp"), OUTPUT=f"{folder}/copper.pb")
        model, native = DeepPot(f"{folder}/copper.pb"), DeepPot(str(HERE / "copper.dp"))
        for name, coord, box in configurations():
            frame = coord.reshape(1, -1), None if box is None else box.reshape(1, 9), [0] * len(coord)
            e, force, virial, atom_energy, _ = (np.asarray(x, float) for x in model.eval(*frame, atomic=True))
            print(f"{name}: {e.item():.12f} eV, native file {native.eval(*frame)[0].item() - e.item():+.1e} eV")
            cases.append({"name": name, "type": frame[2], "coord": coord.ravel().tolist(),
                          "box": None if box is None else box.ravel().tolist(), "energy": e.item(),
                          "force": force.ravel().tolist(), "virial": virial.ravel().tolist(),
                          "atom_energy": atom_energy.ravel().tolist()})
    text = json.dumps({"model": "copper.dp", "generator": "deepmd-kit 3.2.0, TensorFlow, float64", "cases": cases})
    (HERE / "peer_reference.json").write_text(text.replace(', "', ',\n "').replace(', {"', ',\n{"') + "\n")


if __name__ == "__main__":
    main()
