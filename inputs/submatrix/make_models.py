#!/usr/bin/env python3
"""Make the tight-binding models with analytic answers: MatrixMarket files in eV, and the answers, printed for the YAML files.

chain_gap      a ring of pairs, hopping t1 in a pair and t2 between pairs: e(k) = +-|t1 + t2 exp(ik)|, gap 2 |t1 - t2|
chain_metal    a ring of equal sites with overlap s: e(k) = (a + 2 t cos k)/(1 + 2 s cos k), half full at 3000 K
boron_nitride  a honeycomb on a torus, +-m on its two kinds of sites, hopping t: e(k) = +-sqrt(m^2 + t^2 |f(k)|^2)

    inputs/submatrix/make_models.py            (Python 3 alone)
"""
import cmath
from math import cos, exp, fsum, pi, sqrt
from pathlib import Path

HERE = Path(__file__).resolve().parent
EV_PER_HARTREE, EV_PER_K = 27.211386245988, 8.617333262145e-5


def write(name, n, elements, comment):
    """Write the lower triangle of a symmetric matrix {(row, column): value}, 0-based."""
    lower = {(max(i, j), min(i, j)): v for (i, j), v in elements.items()}
    lines = [f"{i + 1} {j + 1} {v:.17g}" for (i, j), v in sorted(lower.items(), key=lambda e: (e[0][1], e[0][0]))]
    head = ["%%MatrixMarket matrix coordinate real symmetric", f"% {comment} (make_models.py)", f"{n} {n} {len(lines)}"]
    (HERE / name).write_text("\n".join(head + lines) + "\n")


def step(levels, name):
    """Print the answers of a half-filled system with a gap."""
    levels = sorted(levels)
    pairs = len(levels) // 2
    print(f"{name}: energy {fsum(levels[:pairs]):.12f} eV, homo {levels[pairs - 1]:.10f} eV, "
          f"lumo {levels[pairs]:.10f} eV, {2 * pairs} electrons")


def fermi(levels, pairs, kelvin, name):
    """Print Tr(DK) and mu of a system with so many pairs at a temperature."""
    kt = EV_PER_K * kelvin
    occupation = lambda e, mu: 1 / (1 + exp(min(700, max(-700, (e - mu) / kt))))
    low, high = min(levels) - 1, max(levels) + 1
    for _ in range(200):
        mu = (low + high) / 2
        low, high = (mu, high) if sum(occupation(e, mu) for e in levels) < pairs else (low, mu)
    print(f"{name}: energy {sum(e * occupation(e, mu) for e in levels):.13f} eV, mu {mu:.10f} eV "
          f"= {mu / EV_PER_HARTREE:.12f} hartree, {2 * pairs} electrons")


def chain_gap(n=600, t1=-1.5, t2=-1.0):
    write("chain_gap.mtx", n, {(i, (i + 1) % n): (t1, t2)[i % 2] for i in range(n)},
          f"Ring of {n} sites, hopping {t1} and {t2} eV in turn")
    bands = [abs(t1 + t2 * cmath.exp(4j * pi * k / n)) for k in range(n // 2)]
    step([s * e for e in bands for s in (-1, 1)], "chain_gap")


def chain_metal(n=600, a=-5.0, t=-2.5, s=0.1):
    neighbours = [(i, (i + 1) % n) for i in range(n)]
    sites = [(i, i) for i in range(n)]
    write("chain_metal_k.mtx", n, {**{p: a for p in sites}, **{p: t for p in neighbours}},
          f"Ring of {n} sites at {a} eV, hopping {t} eV")
    write("chain_metal_s.mtx", n, {**{p: 1.0 for p in sites}, **{p: s for p in neighbours}}, f"Its overlap, {s}")
    angles = [2 * pi * k / n for k in range(n)]
    fermi([(a + 2 * t * cos(k)) / (1 + 2 * s * cos(k)) for k in angles], n // 2, 3000, "chain_metal")


def boron_nitride(nx=12, ny=24, t=-2.3, m=2.2):
    site = lambda x, y, kind: 2 * (y % ny * nx + x % nx) + kind
    elements = {}
    for y in range(ny):
        for x in range(nx):
            elements[site(x, y, 0), site(x, y, 0)], elements[site(x, y, 1), site(x, y, 1)] = m, -m
            for dx, dy in ((0, 0), (1, 0), (0, 1)):
                elements[site(x, y, 0), site(x - dx, y - dy, 1)] = t
    write("boron_nitride.mtx", 2 * nx * ny, elements, f"Honeycomb of {nx} x {ny} cells, +-{m} eV, hopping {t} eV")
    phase = lambda k, n: cmath.exp(2j * pi * k / n)
    bands = [sqrt(m * m + t * t * abs(1 + phase(i, nx) + phase(j, ny)) ** 2) for i in range(nx) for j in range(ny)]
    step([s * e for e in bands for s in (-1, 1)], "boron_nitride")


chain_gap()
chain_metal()
boron_nitride()
