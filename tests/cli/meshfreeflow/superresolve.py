#!/usr/bin/env python3
"""Helpers of superresolve.txt: what is in the files of `meshfreeflow superresolve`, by h5dump.

Usage: superresolve.py holds RUN FIELD... | shape RUN T Z X | agree RUN RUN TOLERANCE | points RUN LIST.csv |
points_agree RUN RUN TOLERANCE | times FACTOR RUN RUN FIELD...
"""
import array
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile


def dataset(path, name):
    """Values, flat, and shape."""
    header = subprocess.run(["h5dump", "-H", "-d", name, path], check=True, capture_output=True, text=True).stdout
    shape = [int(n) for n in re.search(r"SIMPLE \{ \( ([\d, ]+) \)", header).group(1).split(",")]
    values = array.array("f" if "F32" in header else "d")
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", name, "-b", "LE", "-o", raw.name, path], check=True, capture_output=True)
        values.frombytes(open(raw.name, "rb").read())
    return values, shape


def fields(run):
    path = os.path.join(run, "fields.h5")
    header = subprocess.run(["h5dump", "-n", path], check=True, capture_output=True, text=True).stdout
    return {name: dataset(path, f"/t0_fields/{name}") for name in re.findall(r"/t0_fields/(\w+)", header)}


def axes(run):
    return [dataset(os.path.join(run, "fields.h5"), f"/dimensions/{name}")[0] for name in ("time", "z", "x")]


def holds(run, *names):
    found = fields(run)
    return all(name in found and all(map(math.isfinite, found[name][0])) and max(found[name][0]) > min(found[name][0])
               for name in names)


def shape(run, *sizes):
    sizes = [int(size) for size in sizes]
    return all(found == [1] + sizes for _, found in fields(run).values()) and [len(a) for a in axes(run)] == sizes


def agree(run, other, tolerance):
    ours, theirs = fields(run), fields(other)
    worst = max(max(abs(a - b) for a, b in zip(ours[name][0], theirs[name][0])) / statistics.pstdev(ours[name][0])
                for name in ours)
    print(worst)
    return ours.keys() == theirs.keys() and worst < float(tolerance)


def times(factor, run, other, *names):
    """Fields of the other run are so many times those of the first."""
    ours, theirs = fields(run), fields(other)
    return all(abs(float(factor) * a - b) <= 1e-4 * max(map(abs, theirs[name][0]))
               for name in names for a, b in zip(ours[name][0], theirs[name][0]))


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
    with open(os.path.join(other, "points.csv"), encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    worst = 0
    for row, (i, j, k) in zip(rows, reversed(places())):
        for name, (values, (_, _, n_z, n_x)) in found.items():
            worst = max(worst, abs(float(row[name]) - values[(i * n_z + j) * n_x + k]) / statistics.pstdev(values))
    print(worst)
    return len(rows) == len(places()) and worst < float(tolerance)


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
