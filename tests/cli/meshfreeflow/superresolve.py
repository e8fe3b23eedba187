#!/usr/bin/env python3
"""Helpers of superresolve.txt: what is in the files of `meshfreeflow superresolve`, by h5dump.

Usage: superresolve.py holds RUN FIELD... | shape RUN T Z [Y] X | agree RUN RUN TOLERANCE | points RUN LIST.csv |
points_agree RUN RUN TOLERANCE | times FACTOR RUN RUN FIELD...
"""
import array
import csv
import math
import os
import re
import subprocess
import sys


def datasets(run, group):
    """{name: (values, flat, and shape)} of a group of fields.h5, by one start of h5dump."""
    text = subprocess.run(["h5dump", "-y", "-w", "0", "-A", "0", "-m", "%.17g", "-g", group, os.path.join(run, "fields.h5")],
                          check=True, capture_output=True, text=True).stdout
    found = re.findall(r'DATASET "(\w+)" \{.*?SIMPLE \{ \( ([\d, ]+) \).*?DATA \{(.*?)\}', text, re.S)
    assert found and len(found) == text.count('DATASET "'), text[:1000]
    return {name: (array.array("d", map(float, data.split(","))), [int(n) for n in shape.split(",")]) for name, shape, data in found}


def fields(run):
    return datasets(run, "/t0_fields")


def axes(run, *names):
    found = datasets(run, "/dimensions")
    return [found[name][0] for name in ("time", *(names or "zx"))]


def spread(values):
    """Standard deviation."""
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def holds(run, *names):
    found = fields(run)
    return all(name in found and all(map(math.isfinite, found[name][0])) and max(found[name][0]) > min(found[name][0])
               for name in names)


def shape(run, *sizes):
    sizes = [int(size) for size in sizes]
    return all(found == [1] + sizes for _, found in fields(run).values()) and [len(a) for a in axes(run, *("zyx" if len(sizes) == 4 else "zx"))] == sizes


def agree(run, other, tolerance):
    ours, theirs = fields(run), fields(other)
    worst = max(max(abs(a - b) for a, b in zip(ours[name][0], theirs[name][0])) / spread(ours[name][0]) for name in ours)
    print(worst)
    return ours.keys() == theirs.keys() and worst < float(tolerance)


def times(factor, run, other, *names):
    """Fields of the other run are so many times those of the first."""
    ours, theirs = fields(run), fields(other)
    largest = {name: max(map(abs, theirs[name][0])) for name in names}
    return all(abs(float(factor) * a - b) <= 1e-4 * largest[name] for name in names for a, b in zip(ours[name][0], theirs[name][0]))


def places():
    return [(i, j, k) for i in range(0, 24, 5) for j in (0, 3, 15) for k in (0, 7, 31)]


def points(run, path):
    """Some points of the grid as a list, in another order of columns and of time."""
    t, z, x = axes(run)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("x, t, z\n")
        for i, j, k in reversed(places()):
            stream.write(f"{x[k]:.17g}, {t[i]:.17g}, {z[j]:.17g}\n")
    return True


def points_agree(run, other, tolerance):
    found = fields(run)
    spreads = {name: spread(values) for name, (values, _) in found.items()}
    with open(os.path.join(other, "points.csv"), encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    worst = 0
    for row, (i, j, k) in zip(rows, reversed(places())):
        for name, (values, (_, _, n_z, n_x)) in found.items():
            worst = max(worst, abs(float(row[name]) - values[(i * n_z + j) * n_x + k]) / spreads[name])
    print(worst)
    return len(rows) == len(places()) and worst < float(tolerance)


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
