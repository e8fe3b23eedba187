#!/usr/bin/env python3
"""What the cases of this folder need; standard library only.

helper.py write                       good and bad matrix files of a ring of 24 sites in pairs, into the working folder
helper.py value KEY FILE FILE TOL     summary.json's values agree within TOL
helper.py same KEY FILE KEY FILE TOL  the value of one key in one file is that of another key in another, within TOL
helper.py below KEY FILE TOL          the value's size is at most TOL
helper.py within KEY ERROR FILE FILE  the values agree within three times the first file's value of ERROR
helper.py swap IN OUT I J             a MatrixMarket file with functions I and J (from 1) in each other's place
helper.py lacks KEY FILE              there is no such value
helper.py near KEY FILE X TOL        the value is X within TOL
helper.py estimated LOG N [SUMMARY]   at N thresholds the estimated error of the energy is within a factor of three of the
                                      one printed, or of that to SUMMARY's energy
helper.py stop_and_go COMMAND...      run it, stop it after the first threshold, go on: as if it had not been stopped
helper.py stop_within COMMAND...      run it, stop it within its last threshold: it ends at once, and goes on likewise
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from math import sin

N = 24


def ring(diagonal, even, odd):
    """Return all elements of a ring of N sites, couplings a little uneven, 1-based and sorted."""
    elements = {(i, i): diagonal for i in range(N)}
    for i in range(N):
        j = (i + 1) % N
        elements[i, j] = elements[j, i] = (even, odd)[i % 2] * (1 + 0.1 * sin(i * i))
    return [(i + 1, j + 1, v) for (i, j), v in sorted(elements.items())]


def cp2k_text(path, elements):
    with open(path, "w") as file:
        file.writelines(f"{i:8d}{j:8d}{v:23.14E}\n" for i, j, v in elements)


def cp2k_binary(path, elements):
    with open(path, "wb") as file:
        file.write(b"".join(struct.pack("<iiidi", 16, i, j, v, 16) for i, j, v in elements))


def matrix_market(path, elements, n=N, kind="general"):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real {kind}\n{n} {n} {len(elements)}\n")
        file.writelines(f"{i} {j} {v:.17g}\n" for i, j, v in elements)


def dependent(elements, part):
    """The matrix where each second function of a pair became the first with a part of itself."""
    m = [[0.0] * N for _ in range(N)]
    for i, j, v in elements:
        m[i - 1][j - 1] = v
    def changed(rows):
        return [[v if i % 2 == 0 else rows[i - 1][j] + part * v for j, v in enumerate(row)] for i, row in enumerate(rows)]
    m = changed(list(map(list, zip(*changed(m)))))
    return [(i + 1, j + 1, 0.5 * (m[i][j] + m[j][i])) for i in range(N) for j in range(N)]


def couple(m, n, inside, between):
    """Add a ring of n cells of two sites to m: elements of a cell, and those from it to the next (0-based)."""
    for c in range(n):
        d = (c + 1) % n
        for (i, j), v in inside.items():
            m[2 * c + i, 2 * c + j] = m.get((2 * c + i, 2 * c + j), 0) + v
        for (i, j), v in between.items():
            for row, column in ((2 * c + i, 2 * d + j), (2 * d + j, 2 * c + i)):
                m[row, column] = m.get((row, column), 0) + v
    return [(i + 1, j + 1, v) for (i, j), v in sorted(m.items())]


def cell(diagonal, coupling):
    return {(0, 0): diagonal, (1, 1): diagonal, (0, 1): coupling, (1, 0): coupling}


def cells():
    """Lists of real-space blocks, and matrices of rings of such cells, which differ in order, norm and filling."""
    for name, inside, between in (("k", cell(-0.25, -0.28), -0.18), ("s", cell(1, 0.12), 0.06)):
        parts = {"zero": inside, "upper": {p: v for p, v in inside.items() if p != (1, 0)}, "plus": {(1, 0): between},
                 "minus": {(0, 1): between}, "none": {}}
        for part, elements in parts.items():
            with open(f"{name}_{part}.csr", "w") as file:
                file.writelines(f"{i + 1} {j + 1} {v:.14E}\n" for (i, j), v in sorted(elements.items()))
        lists = {"full": ("zero", "plus", "minus"), "half": ("zero", "plus"), "upper": ("upper", "plus", "minus"),
                 "alone": ("zero",), "far": ("zero", "plus", "minus", "none")}
        shifts = {"zero": "0 0 0", "upper": "0 0 0", "plus": "1 0 0", "minus": "-1 0 0", "none": "2 0 0"}
        for kind, which in lists.items():
            with open(f"{name}_{kind}.list", "w") as file:
                file.writelines(f"{shifts[part]} {name}_{part}.csr\n" for part in which)
    open("cells.yaml", "w").write("matrices: {kohn_sham: k_full.list, overlap: s_full.list, repeat: [6, 1, 1]}\n"
                                  "blocks: {size: 2}\nensemble: {electrons: 12}\nmethod: {thresholds: [1e-5]}\n")
    s = couple({}, 30, cell(1, 0.12), {(1, 0): 0.06})
    matrix_market("order_k.mtx", couple({}, 30, cell(-0.25, -0.28), {(1, 0): -0.18}), 60)
    matrix_market("order_s.mtx", s, 60)
    matrix_market("order_other.mtx", sorted((7 * (i - 1) % 60 + 1, 7 * (j - 1) % 60 + 1, v) for i, j, v in s), 60)
    matrix_market("empty_row.mtx", [e for e in s if 5 not in e[:2]], 60)
    matrix_market("twice_there.mtx", sorted(s + [(5, 13, 1.0), (13, 5, 1.0)]), 60)
    open("order.yaml", "w").write("matrices: {kohn_sham: order_k.mtx, overlap: order_s.mtx, units: hartree}\n"
                                  "blocks: {size: 2}\nensemble: {electrons: 60}\nmethod: {thresholds: [1e-5]}\n")
    matrix_market("full_k.mtx", couple({}, 12, cell(-0.9, -0.05), {(1, 0): -0.04}))
    matrix_market("full_s.mtx", couple({}, 12, cell(1, 0.1), {(1, 0): 0.05}))
    open("full.yaml", "w").write("matrices: {kohn_sham: full_k.mtx, overlap: full_s.mtx, units: hartree}\n"
                                 "blocks: {size: 2}\nensemble: {electrons: 48}\nmethod: {thresholds: [1e-5]}\n")
    text = open("order_s.mtx").read()
    open("no_end.mtx", "w").write(text[:-1])
    open("cut_end.mtx", "w").write(text[:-1] + ".0001")


def wide():
    """Levels from -500 to 200 hartree: 40 cells of a deep, a valence and a high function."""
    valence = {"k": couple({}, 20, cell(0, -0.3), {(1, 0): -0.2}), "s": couple({}, 20, cell(1, 0.15), {(1, 0): 0.075})}
    k = {(3 * i - 1, 3 * j - 1): v for i, j, v in valence["k"]}
    s = {(3 * i - 1, 3 * j - 1): v for i, j, v in valence["s"]}
    for i in range(1, 121, 3):
        k.update({(i, i): -500, (i + 2, i + 2): 200, (i, i + 1): -2, (i + 1, i): -2, (i + 1, i + 2): 1.5, (i + 2, i + 1): 1.5})
        s.update({(i, i): 1, (i + 2, i + 2): 1, (i, i + 1): 0.03, (i + 1, i): 0.03})
    for name, m in (("k", k), ("s", s)):
        matrix_market(f"wide_{name}.mtx", [(i, j, v) for (i, j), v in sorted(m.items())], 120)
    open("wide.yaml", "w").write("matrices: {kohn_sham: wide_k.mtx, overlap: wide_s.mtx, units: hartree}\n"
                                 "blocks: {size: 3}\nensemble: {electrons: 120}\nmethod: {thresholds: [1e-5]}\n")


def write():
    cells()
    wide()
    k, s = ring(-0.1, -0.3, -0.1), ring(1.0, 0.1, 0.1)
    cp2k_text("k.txt", k)
    cp2k_text("s.txt", s)
    cp2k_binary("k.csr", k)
    cp2k_binary("s.csr", s)
    matrix_market("k.mtx", k)
    matrix_market("s.mtx", s)
    matrix_market("k_other.mtx", ring(-0.12, -0.28, -0.1))
    matrix_market("s_other.mtx", ring(1.0, 0.1, 0.11))
    matrix_market("flat.mtx", [(i, j, -0.09 * v) for i, j, v in s])
    raw = open("k.csr", "rb").read()
    open("cut.csr", "wb").write(raw[:-7])
    open("cut.txt", "w").write(open("k.txt").read()[:-9])
    open("empty.csr", "wb").close()
    open("noise.bin", "wb").write(bytes((37 * i * i + 11) % 256 for i in range(1000)))
    matrix_market("small.mtx", [e for e in s if max(e[:2]) <= 20], 20)
    matrix_market("lopsided.mtx", [(i, j, v + (0.01 if (i, j) == (3, 4) else 0)) for i, j, v in k])
    matrix_market("upper.mtx", [e for e in k if e[0] <= e[1]])
    matrix_market("twice.mtx", k + [k[5]])
    matrix_market("outside.mtx", k + [(1, N + 1, 0.5)])
    matrix_market("nan.mtx", [(i, j, float("nan") if (i, j) == (3, 3) else v) for i, j, v in k])
    matrix_market("indefinite.mtx", ring(1.0, 0.7, 0.7))
    singular = [(i, j, v if i == j else 0.5 * (1 - 1e-10) * v / abs(v)) for i, j, v in s]
    matrix_market("singular.mtx", singular)
    for name, elements in (("k", k), ("s", s)):
        matrix_market(f"dependent_{name}.mtx", dependent(elements, 1e-3))
    matrix_market("ev.mtx", [(i, j, v - 20 * w) for (i, j, v), (_, _, w) in zip(k, s)])
    near = [(i, j, v if i == j else 0.5 * (1 - 1e-6) * v / abs(v)) for i, j, v in s]
    matrix_market("near_singular.mtx", near)
    ends = dict(((i, j), v) for i, j, v in k)
    matrix_market("all_coupled.mtx", [(i, j, ends.get((i, j), 1e-3)) for i in range(1, N + 1) for j in range(1, N + 1)])
    # levels 2 cos k, in pairs but for the first and the last: 8 of 24 cut into one
    even = [(i + 1, j + 1, 0.1) for i in range(N) for j in ((i - 1) % N, (i + 1) % N)]
    matrix_market("even.mtx", even)
    open("even.yaml", "w").write("matrices: {kohn_sham: even.mtx}\nblocks: {size: 12}\nensemble: {electrons: 16}\n"
                                 "method: {thresholds: [1e-9], least_gap: 0 eV}\n")
    # 20 coupled pairs of sites, all at energy 0, orthogonal; and pairs with a level at 0
    hops = [(i, i + 1, -1.0 if i % 2 else -0.2) for i in range(1, 40)]
    matrix_market("dimers.mtx", hops + [(j, i, v) for i, j, v in hops], 40)
    matrix_market("ones.mtx", [(i, i, 1.0) for i in range(1, 41)], 40)
    matrix_market("at_mu.mtx", [(i, j, 1.0) for i in range(1, 41) for j in range(1, 41) if (i - 1) // 2 == (j - 1) // 2], 40)
    open("dimers.yaml", "w").write("matrices: {kohn_sham: dimers.mtx, overlap: ones.mtx, units: hartree}\nblocks: {size: 1}\n"
                                   "ensemble: {mu: 0 hartree}\nmethod: {thresholds: [1e-6], dense: never}\n")
    pairs = [("Li", 0.0), ("H", 1.6)]
    atoms = [f"{element} {x + 5 * molecule} 0 0" for molecule in range(4) for element, x in pairs]
    open("pairs.xyz", "w").write("8\n\n" + "\n".join(atoms) + "\n")
    apart = [f"{element} {5 * molecule} 0 0" for element in ("Li", "H") for molecule in range(4)]
    open("apart.xyz", "w").write("8\n\n" + "\n".join(apart) + "\n")
    open("case.yaml", "w").write("matrices: {kohn_sham: k.mtx, overlap: s.mtx}\nblocks: {size: 4}\n"
                                 "ensemble: {mu: -0.09 hartree}\nmethod: {thresholds: [1e-6]}\n")


def value(key, first, second, tolerance):
    a, b = (json.load(open(path))[key] for path in (first, second))
    if not abs(a - b) <= float(tolerance):
        sys.exit(f"{key}: {a} and {b}")


def same(key, path, other_key, other_path, tolerance):
    a, b = json.load(open(path))[key], json.load(open(other_path))[other_key]
    if not abs(a - b) <= float(tolerance):
        sys.exit(f"{key}: {a}, {other_key}: {b}")


def below(key, path, tolerance):
    a = json.load(open(path))[key]
    sys.exit(0 if abs(a) <= float(tolerance) else f"{key}: {a}")


def near(key, path, exact, tolerance):
    a = json.load(open(path))[key]
    sys.exit(0 if abs(a - float(exact)) <= float(tolerance) else f"{key}: {a}")


def within(key, error, first, second):
    value(key, first, second, 3 * json.load(open(first))[error])


def estimated(log, n, summary=None):
    """Compare the estimates in a log with the errors of the energies before them."""
    text = open(log).read()
    if summary:
        exact = json.load(open(summary))["tr_dk_hartree"]
        errors = [float(energy) - exact for energy in re.findall(r": Tr\(DK\) = (\S+) hartree", text)]
    else:
        errors = [float(error) for error in re.findall(r": Tr\(DK\) = \S+ hartree, (\S+) hartree", text)]
    estimates = [float(estimate) for estimate in re.findall(r"estimated errors: (\S+) hartree", text)]
    pairs = list(zip(errors, estimates, strict=True))
    if len(pairs) != int(n) or not all(abs(error) / 3 <= estimate <= 3 * abs(error) for error, estimate in pairs):
        sys.exit(f"errors and estimates: {pairs}")


def swap(source, target, first, second):
    other = {first: second, second: first}
    with open(source) as file, open(target, "w") as out:
        n_header = 0
        for line in file:
            if line.startswith("%") or not n_header:
                n_header += not line.startswith("%")
                out.write(line)
                continue
            i, j, value = line.split()
            out.write(f"{other.get(i, i)} {other.get(j, j)} {value}\n")


def lacks(key, path):
    sys.exit(f"{key} is there" if key in json.load(open(path)) else 0)


def run(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def lines(path, word):
    return [line for line in open(path) if word in line] if os.path.exists(path) else []


def stop_and_go(*command):
    """Stop `command --output stopped` by SIGTERM after its first threshold, restart it, compare with a whole run."""
    whole = run([*command, "--output", "whole"]).wait()
    process = run([*command, "--output", "stopped"])
    while process.poll() is None and not lines("stopped/run.log", ": Tr(DK) ="):
        time.sleep(0.02)
    process.terminate()
    stopped = process.wait()
    again = run([*command, "--output", "stopped", "--restart", "auto"]).wait()
    if (whole, stopped, again) != (0, 75, 0):
        sys.exit(f"exit codes {whole}, {stopped}, {again}")
    if not lines("stopped/run.log", "Goes on after"):
        sys.exit("started again instead of going on")
    counts = [len(lines(f"{name}/run.log", ": Tr(DK) =")) for name in ("whole", "stopped")]
    if counts[0] != counts[1]:
        sys.exit(f"{counts[1]} thresholds were evaluated instead of {counts[0]}")
    for key in ("tr_dk_hartree", "electrons", "energy_estimated_error_of_first_threshold_hartree"):
        value(key, "whole/summary.json", "stopped/summary.json", 1e-11)


def stop_within(*command):
    """Stop `command --output within` by SIGTERM while its last threshold is worked at, restart it, compare."""
    for rest_s in (0.2, 0.05, 0.4, 0.1, 0.8):  # how long a step takes depends on the machine: a stop between two says nothing
        shutil.rmtree("within", ignore_errors=True)
        process = run([*command, "--output", "within"])
        while process.poll() is None and not lines("within/run.log", ": Tr(DK) ="):
            time.sleep(0.02)
        time.sleep(rest_s)
        process.terminate()
        stopped = process.wait()
        if stopped not in (0, 75):
            sys.exit(f"exit code {stopped}")
        if stopped == 75 and lines("within/run.log", "what was being computed is given up"):
            break
    else:
        sys.exit("was stopped within no step")
    codes = [run([*command, "--output", "within", "--restart", "auto"]).wait(), run([*command, "--output", "straight"]).wait()]
    if codes != [0, 0] or len(lines("within/run.log", ": Tr(DK) =")) != 2:
        sys.exit(f"exit codes {codes}")
    for key in ("tr_dk_hartree", "electrons", "mu_hartree", "idempotency_error"):
        value(key, "within/summary.json", "straight/summary.json", 0)


{"near": near, "swap": swap, "estimated": estimated, "lacks": lacks, "within": within, "stop_and_go": stop_and_go, "stop_within": stop_within, "write": write, "value": value, "same": same, "below": below}[sys.argv[1]](*sys.argv[2:])
