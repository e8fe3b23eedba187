#!/usr/bin/env python3
"""What the cases of elastic.txt need besides dpmd: crystals of copper, comparisons. Standard library only."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COPPER = os.path.join(HERE, "../../../inputs/dpmd/copper")
FCC = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]


def fail(text):
    sys.exit(f"FAILED: {text}")


def write(name, cell, sites, pbc="T T T", move=0.0):
    """Extended XYZ of copper at fractional sites; the first atom moved along x (angstrom)."""
    lines = [str(len(sites)), f'Lattice="{" ".join(str(x) for row in cell for x in row)}" Properties=species:S:1:pos:R:3 pbc="{pbc}"']
    for n, site in enumerate(sites):
        x = [sum(site[k] * cell[k][c] for k in range(3)) for c in range(3)]
        x[0] += move if n == 0 else 0
        lines.append("Cu " + " ".join(f"{c:.12f}" for c in x))
    with open(name, "w") as file:
        file.write("\n".join(lines) + "\n")


def cube(a):
    return [[a, 0, 0], [0, a, 0], [0, 0, a]]


def inputs():
    """Write the crystals that the cases name."""
    a = 3.6124
    write("primitive.xyz", [[0, a / 2, a / 2], [a / 2, 0, a / 2], [a / 2, a / 2, 0]], [(0, 0, 0)])
    b, c = a / 2**0.5, 2 * a / 3**0.5
    write("close_packed.xyz", [[b, 0, 0], [-b / 2, b * 3**0.5 / 2, 0], [0, 0, c]], [(1 / 3, 2 / 3, 0.25), (2 / 3, 1 / 3, 0.75)])
    write("wide.xyz", [[1.03 * a, 0.01 * a, 0], [0.01 * a, a, 0], [0, 0, 0.99 * a]], FCC)
    write("bent.xyz", cube(a), FCC, move=0.05)
    write("atom.xyz", cube(30), [(0, 0, 0)])
    write("pair.xyz", cube(30), [(0, 0, 0), (0.08, 0, 0)])
    write("cluster.xyz", cube(20), [(x / 6 + 0.4, y / 6 + 0.4, z / 6 + 0.4) for x, y, z in FCC], pbc="F F F")


def constants(folder):
    """The 21 constants and the summary of a run."""
    summary = json.load(open(f"{folder}/summary.json"))
    return {(i, j): summary[f"c{i}{j}_gpa"] for i in range(1, 7) for j in range(i, 7)}, summary


def cubic(folder):
    """Constants of a cubic crystal; its bulk modulus is that of the equation of state; energies agree."""
    c, summary = constants(folder)
    equal = [[(1, 1), (2, 2), (3, 3)], [(1, 2), (1, 3), (2, 3)], [(4, 4), (5, 5), (6, 6)]]
    named = {pair for group in equal for pair in group}
    for group in equal:
        if max(c[p] for p in group) - min(c[p] for p in group) > 1e-4 * c[1, 1]:
            fail(f"{[(p, c[p]) for p in group]}")
    others = max(abs(value) for pair, value in c.items() if pair not in named)
    if others > 1e-4 * c[1, 1] or summary["symmetry_along_axes"] != "cubic":
        fail(f"{c}")
    subprocess.run(["dpmd", "equation_of_state", f"{COPPER}/equation_of_state.yaml", "--set", "system.replicate=[2,2,2]", "--quiet",
                    "--output", "curve"], check=True)
    curve = json.load(open("curve/summary.json"))["bulk_modulus_gpa"]
    if abs(summary["bulk_modulus_gpa"] / curve - 1) > 2e-3 or not 0 < summary["least_eigenvalue_gpa"] < c[1, 1]:
        fail(f"{summary['bulk_modulus_gpa']} beside {curve}")
    if summary["energy_difference_gpa"] > 2e-3 * c[1, 1] or summary["stress_largest_gpa"] > 0.0101:
        fail(f"{summary}")


def same(a, b, tolerance):
    """Constants, or, of crystals that are turned, their averages, to a share of the largest."""
    (x, one), (y, other) = constants(a), constants(b)
    keys = ("bulk_modulus_gpa", "shear_modulus_gpa", "young_modulus_gpa", "least_eigenvalue_gpa")
    far = max(abs(one[key] - other[key]) for key in keys)
    if b != "primitive":
        far = max([far, *(abs(x[pair] - y[pair]) for pair in x)])
    if far > float(tolerance) * x[1, 1]:
        fail(f"{a} and {b} differ by {far} GPa")


def free(folder):
    """Constants of atoms that feel nothing, and neither averages nor a compliance."""
    c, summary = constants(folder)
    if max(abs(value) for value in c.values()) > 1e-6 or "bulk_modulus_gpa" in summary or "symmetry_along_axes" in summary:
        fail(f"{summary}")
    if subprocess.run(["h5dump", "-d", "/elastic_constants/compliance", f"{folder}/run.h5"], capture_output=True).returncode == 0:
        fail("a compliance of a singular matrix is written")


globals()[sys.argv[1]](*sys.argv[2:])
