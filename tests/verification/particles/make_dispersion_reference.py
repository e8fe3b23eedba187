#!/usr/bin/env python3
"""Makes dispersion.ref.json: energies, forces and virials of D3 by the authors' program, of systems made up here.

Needs the Python packages dftd3 (1.7 made the file) and numpy. Usage: make_dispersion_reference.py [OUTPUT]
"""
import json
import os
import sys

import numpy as np
from dftd3.interface import DispersionModel, RationalDampingParam

BOHR, HARTREE = 0.529177210903, 27.211386245988  # angstrom, eV: CODATA 2018
NUMBERS = {"H": 1, "C": 6, "N": 7, "O": 8, "Na": 11, "Al": 13, "S": 16, "Cl": 17, "Cu": 29, "Zn": 30, "Au": 79}
MOLECULES = (
    [("O", (0, 0, 0)), ("H", (0.9572, 0, 0)), ("H", (-0.24, 0.9266, 0))],
    [("C", (0, 0, 0)), ("O", (1.16, 0, 0)), ("O", (-1.16, 0, 0))],
    [("N", (0, 0, 0)), ("H", (0.94, 0, 0.38)), ("H", (-0.47, 0.814, 0.38)), ("H", (-0.47, -0.814, 0.38))],
    [("C", (0, 0, 0)), ("S", (1.61, 0, 0)), ("N", (-0.75, 1.13, 0)), ("N", (-0.75, -1.13, 0)), ("H", (-0.27, 2.0, 0)),
     ("H", (-1.75, 1.1, 0)), ("H", (-0.27, -2.0, 0)), ("H", (-1.75, -1.1, 0))],
)


def turned(random):
    q, r = np.linalg.qr(random.normal(size=(3, 3)))
    return q * np.sign(np.diag(r))


def organic_crystal():
    """Molecules on a grid of a skew cell, each turned at random."""
    random = np.random.default_rng(7)
    box = np.array([[10.3, 0, 0], [2.9, 9.4, 0], [-1.7, 2.2, 9.9]])
    names, x = [], []
    for k in range(8):
        site = (np.array([k & 1, k >> 1 & 1, k >> 2]) / 2 + random.normal(scale=0.015, size=3)) @ box
        rotation = turned(random)
        for name, place in MOLECULES[k % 4]:
            names.append(name)
            x.append(site + rotation @ np.array(place))
    return names, np.array(x), box, [True] * 3


def alloy():
    """Shaken sites of a face-centred crystal, sheared, three metals."""
    random = np.random.default_rng(11)
    sites = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    cells = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(1)])
    box = np.array([[7.6, 0.3, -0.2], [-0.5, 7.7, 0.4], [0.6, -0.3, 3.9]])
    s = (sites[None] + cells[:, None]).reshape(-1, 3) / np.array([2, 2, 1])
    names = [("Cu", "Au", "Zn")[k % 3] for k in range(len(s))]
    return names, s @ box + random.normal(scale=0.12, size=s.shape), box, [True] * 3


def salt_slab():
    """A layer, open along z."""
    random = np.random.default_rng(5)
    box = np.array([[5.7, 0, 0], [1.1, 5.6, 0], [0, 0, 30.0]])
    s = np.array([[a / 2, b / 2, 0] for a in range(2) for b in range(2)])
    x = np.concatenate([s @ box + [0, 0, 10], s @ box + [0, 0, 12.8]])
    names = ["Na" if (k + k // 2 + k // 4) % 2 == 0 else "Cl" for k in range(8)]
    return names, x + random.normal(scale=0.1, size=x.shape), box, [True, True, False]


def molecule():
    """One of them in the open."""
    random = np.random.default_rng(3)
    names = [name for name, _ in MOLECULES[3]]
    x = np.array([place for _, place in MOLECULES[3]]) + random.normal(scale=0.03, size=(8, 3)) + 20
    return names, x, None, [False] * 3


# name, system, functional, s9, cutoffs of pairs, triples and numbers of neighbours (bohr), switch (bohr)
CASES = (
    ("organic crystal, pairs to 60 bohr", organic_crystal, "pbe", 0, 60, 40, 40, 0),
    ("organic crystal with triples", organic_crystal, "revpbe", 1, 30, 14, 20, 0),
    ("organic crystal, fading", organic_crystal, "r2scan", 1, 25, 13, 22, 4),
    ("alloy, pairs to 60 bohr", alloy, "pbe", 0, 60, 40, 40, 0),
    ("alloy with triples", alloy, "pbesol", 1, 28, 12, 25, 3),
    ("salt slab with triples", salt_slab, "b3lyp", 1, 50, 20, 40, 0),
    ("molecule with triples", molecule, "hf", 1, 60, 40, 40, 0),
)
DAMPINGS = {
    "pbe": (1, 0.7875, 0.4289, 4.4407), "revpbe": (1, 2.3550, 0.5238, 3.5016), "r2scan": (1, 0.78981345, 0.49484001, 5.73083694),
    "pbesol": (1, 2.9491, 0.4466, 6.1742), "b3lyp": (1, 1.9889, 0.3981, 4.4211), "hf": (1, 0.9171, 0.3385, 2.8830)}


def solved(name, system, functional, s9, pairs, triples, coordination, switch):
    names, x, box, periodic = system()
    x = np.round(x, 6)
    model = DispersionModel(np.array([NUMBERS[n] for n in names]), x / BOHR,
                            **({} if box is None else {"lattice": box / BOHR, "periodic": np.array(periodic)}))
    model.set_realspace_cutoff(disp2=float(pairs), disp3=float(triples), cn=float(coordination), width2=float(switch),
                               width3=float(switch))
    s6, s8, a1, a2 = DAMPINGS[functional]
    by_name = RationalDampingParam(method=functional, atm=bool(s9))
    by_hand = RationalDampingParam(s6=s6, s8=s8, s9=float(s9), a1=a1, a2=a2)
    energies = [model.get_dispersion(p, grad=False)["energy"] for p in (by_name, by_hand)]
    assert abs(energies[0] - energies[1]) < 1e-14, f"{functional}: the authors' parameters are others"
    result = model.get_dispersion(by_hand, grad=True)
    kinds = sorted(set(names))
    return {"name": name, "types": kinds, "type": [kinds.index(n) for n in names], "coord": x.ravel().tolist(),
            "box": None if box is None else box.ravel().tolist(), "periodic": periodic, "functional": functional, "s9": s9,
            "cutoff": pairs, "triple_cutoff": triples, "coordination_cutoff": coordination, "switch": switch,
            "energy": result["energy"] * HARTREE, "force": (-result["gradient"] * (HARTREE / BOHR)).ravel().tolist(),
            "virial": (-result["virial"] * HARTREE).ravel().tolist()}


def main():
    output = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "dispersion.ref.json")
    with open(output, "w") as file:
        json.dump({"cases": [solved(*case) for case in CASES]}, file, indent=0)
        file.write("\n")


main()
