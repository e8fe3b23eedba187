#!/usr/bin/env python3
"""Write start.xyz, fcc copper of 32 atoms, wide.xyz, 8 % longer, and frames.xyz: ten crystals, displaced and strained.

Standard library. Their labels, initial.xyz, are made by
    dpmd label frames.xyz --with lammps --template eam.lammps --output labels
"""
import random

A0, REPEAT = 3.615, 2  # lattice constant (angstrom), cells along each edge
BASIS = [(0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0)]
rng = random.Random(1)


def write(file, edges, atoms):
    lattice = " ".join(str(edges[k] if k == l else 0.0) for k in range(3) for l in range(3))
    print(len(atoms), f'Lattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3', sep="\n", file=file)
    for x in atoms:
        print("Cu", *(f"{component:.8f}" for component in x), file=file)


def crystal(strain, spread):
    edges = [REPEAT * A0 * (1 + rng.uniform(-strain, strain)) for _ in range(3)]
    sites = [(i, j, k) for i in range(REPEAT) for j in range(REPEAT) for k in range(REPEAT)]
    return edges, [[edges[c] * (cell[c] + at[c]) / REPEAT + rng.gauss(0, spread) for c in range(3)]
                   for cell in sites for at in BASIS]


for name, scale in (("start.xyz", 1), ("wide.xyz", 1.08)):
    with open(name, "w") as start:
        edges, atoms = crystal(0, 0)
        write(start, [scale * edge for edge in edges], [[scale * component for component in x] for x in atoms])
with open("frames.xyz", "w") as frames:
    for _ in range(10):
        write(frames, *crystal(0.03, 0.08))
