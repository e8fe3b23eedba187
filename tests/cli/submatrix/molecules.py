#!/usr/bin/env python3
"""Systems whose gaps are small or whose spins differ: K and S in MatrixMarket format (hartree) and a YAML file of each, into
the working folder; standard library only.

flake       C96, a hexagon with zigzag edges, one p_z orbital an atom, hopping and overlap between neighbours
polyene     an open chain of 600 sites, bonds short and long in turn, overlap as the hopping
fragments   five closed-shell molecules and one of open shell in a row: K of spin up and of spin down
"""
from math import cos, hypot, sin, sqrt

EV = 1 / 27.211386245988


def write(name, n, elements):
    """Write a symmetric matrix {(i, j): value}, i >= j."""
    with open(name, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(elements)}\n")
        file.writelines(f"{i + 1} {j + 1} {v:.17g}\n" for (i, j), v in sorted(elements.items()))


def case(name, blocks, electrons, rest=""):
    with open(f"{name}.yaml", "w") as file:
        file.write(f"matrices: {{kohn_sham: {name}_k.mtx, overlap: {name}_s.mtx, units: hartree{rest}}}\n"
                   f"blocks: {blocks}\nensemble: {electrons}\nmethod: {{thresholds: [1e-5], least_gap: 0.1 eV}}\n")


def bonded(name, n, bonds):
    """Write K and S of bonds (i, j, hopping, overlap), levels 0."""
    k = {(max(i, j), min(i, j)): t for i, j, t, _ in bonds}
    s = {(max(i, j), min(i, j)): o for i, j, _, o in bonds}
    write(f"{name}_k.mtx", n, {**k, **{(i, i): 0.0 for i in range(n)}})
    write(f"{name}_s.mtx", n, {**s, **{(i, i): 1.0 for i in range(n)}})


def flake(size=4):
    """Hexagons less than `size` steps from the centre: 6 size^2 atoms."""
    centres = [(q, r) for q in range(-size, size + 1) for r in range(-size, size + 1) if max(abs(q), abs(r), abs(q + r)) < size]
    atoms = set()
    for q, r in centres:  # bond length 1, hexagons' corners
        x, y = sqrt(3) * (q + 0.5 * r), 1.5 * r
        for dx, dy in ((0, 1), (0, -1), (sqrt(0.75), 0.5), (sqrt(0.75), -0.5), (-sqrt(0.75), 0.5), (-sqrt(0.75), -0.5)):
            atoms.add((round(x + dx, 6), round(y + dy, 6)))
    atoms = sorted(atoms)
    near = [(i, j) for i in range(len(atoms)) for j in range(i)
            if hypot(atoms[i][0] - atoms[j][0], atoms[i][1] - atoms[j][1]) < 1.1]
    bonded("flake", len(atoms), [(i, j, -2.7 * EV, 0.08) for i, j in near])
    case("flake", "{rows_per_block: 8}", f"{{electrons: {len(atoms)}}}")


def polyene(n=600):
    bonds = [((i + 1), i, (-2.9 if i % 2 == 0 else -2.3) * EV, 0.09 if i % 2 == 0 else 0.07) for i in range(n - 1)]
    bonded("polyene", n, bonds)
    case("polyene", "{size: 10}", f"{{electrons: {n}}}")


def turned(levels):
    """Return a symmetric matrix of these levels, all elements mixed."""
    n = len(levels)
    m = [[levels[i] if i == j else 0.0 for j in range(n)] for i in range(n)]
    for p in range(n):
        for q in range(p):
            c, s = cos(1 + p + 2 * q), sin(1 + p + 2 * q)
            for row in m:
                row[p], row[q] = c * row[p] + s * row[q], c * row[q] - s * row[p]
            m[p], m[q] = [c * a + s * b for a, b in zip(m[p], m[q])], [c * b - s * a for a, b in zip(m[p], m[q])]
    return m


def fragments(n_fragments=6, size=6):
    closed = [-0.9, -0.6, -0.5, -0.4, 0.15, 0.3]
    of_open = {"": [-1.2, -0.8, -0.6, -0.2, -0.19, 0.2], "_down": [-1.1, -0.7, -0.5, -0.27, -0.26, 0.3]}
    n = n_fragments * size
    def matrix(diagonal, coupling):
        elements = {}
        for i in range(n):
            for j in range(i + 1):
                a, b = i // size, j // size
                if a - b <= 2:
                    elements[i, j] = diagonal(a)[i % size][j % size] if a == b else coupling * 0.2 ** (a - b) * sin(3 * i + 7 * j)
        return elements
    for spin, levels in of_open.items():
        write(f"fragments_k{spin}.mtx", n, matrix(lambda a: turned(levels if a == 2 else closed), 0.05))
    write("fragments_s.mtx", n, matrix(lambda a: [[float(i == j) for j in range(size)] for i in range(size)], 0.05))
    case("fragments", f"{{size: {size}}}", "{electrons: 48, unpaired: 2}", ", kohn_sham_down: fragments_k_down.mtx")


flake()
polyene()
fragments()
