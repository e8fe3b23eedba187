#!/usr/bin/env python3
"""Make a flow in three dimensions for volumes_train.yaml: fields (time, z, y, x) in a folder of zarr, as xarray writes them.

Usage: volumes.py OUT.zarr SEED [FRAMES [POINTS]]

An exact solution of the Navier-Stokes equations in a periodic box: waves of one length k that are each other's curl (Beltrami
flows, of which the ABC flow is one), carried along by a wind V,

    u = V + exp(-nu k^2 t) sum_k Re(c_k (a + i k/|k| x a) exp(i k (x - V t))),    p = -|u - V|^2/2,    k^2 = 5.

It needs no package.
"""
import array
import cmath
import json
import math
import os
import random
import sys

VISCOSITY, WIND, SPACING = 0.05, (1.0, 0.6, 0.3), 0.1
NAMES = ("ux", "uy", "uz", "p")


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def waves(seed):
    """Wave vectors (k_x >= 0) and the three complex amplitudes of each."""
    draw = random.Random(seed)
    found = []
    for k in [(x, y, z) for x in range(3) for y in range(-2, 3) for z in range(-2, 3)]:
        first = next((n for n in k if n), 0)
        if sum(n * n for n in k) != 5 or first < 0:
            continue
        unit = [n / math.sqrt(5) for n in k]
        a = cross(unit, [draw.gauss(0, 1) for _ in range(3)])
        size = math.sqrt(sum(n * n for n in a))
        a = [n / size for n in a]
        b = cross(unit, a)
        c = cmath.rect(draw.uniform(0.2, 0.6), draw.uniform(0, 2 * math.pi))
        found.append((k, [c * complex(a[i], b[i]) for i in range(3)]))
    return found


def frame(found, n, t):
    """The fields [z][y][x] at time t, one array each."""
    decay = math.exp(-VISCOSITY * 5 * t)
    turn = [cmath.exp(2j * math.pi * i / n) for i in range(n)]
    moved = [(k, [decay * c * cmath.exp(-1j * t * sum(k[i] * WIND[i] for i in range(3))) for c in h]) for k, h in found]
    fields = {name: array.array("f") for name in NAMES}
    for z in range(n):
        for y in range(n):
            rows = [[0j] * 3 for _ in range(3)]  # [component][k_x]
            for k, h in moved:
                phase = turn[(k[1] * y + k[2] * z) % n]
                for i in range(3):
                    rows[i][k[0]] += h[i] * phase
            for x in range(n):
                one, two = turn[x], turn[2 * x % n]
                u = [(row[0] + row[1] * one + row[2] * two).real for row in rows]
                for i in range(3):
                    fields[NAMES[i]].append(u[i] + WIND[i])
                fields["p"].append(-0.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]))
    return fields


def write(folder, name, shape, axes, chunks):
    """An array of a folder of zarr, version 2, from its chunks {number: values} along the first axis."""
    os.makedirs(f"{folder}/{name}")
    chunk = [1] + shape[1:] if len(shape) > 1 else shape
    code = "f" if len(shape) > 1 else "d"
    meta = {"zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": f"<{'f4' if code == 'f' else 'f8'}", "order": "C",
            "fill_value": None, "filters": None, "compressor": None}
    for file, content in ((".zarray", meta), (".zattrs", {"_ARRAY_DIMENSIONS": axes})):
        with open(f"{folder}/{name}/{file}", "w", encoding="utf-8") as stream:
            json.dump(content, stream)
    for number, values in chunks:
        values = array.array(code, values)
        if sys.byteorder == "big":
            values.byteswap()
        with open(f"{folder}/{name}/" + ".".join([str(number)] + ["0"] * (len(shape) - 1)), "wb") as stream:
            stream.write(values.tobytes())


def main():
    folder, seed = sys.argv[1], int(sys.argv[2])
    n_frames, n = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 16), (4, 24)))
    os.makedirs(folder)
    with open(f"{folder}/.zgroup", "w", encoding="utf-8") as stream:
        json.dump({"zarr_format": 2}, stream)
    write(folder, "time", [n_frames], ["time"], [(0, [SPACING * i for i in range(n_frames)])])
    for axis in "zyx":
        write(folder, axis, [n], [axis], [(0, [2 * math.pi * i / n for i in range(n)])])
    found = waves(seed)
    frames = [frame(found, n, SPACING * i) for i in range(n_frames)]
    for name in NAMES:
        write(folder, name, [n_frames, n, n, n], ["time", "z", "y", "x"],
              ((i, fields[name]) for i, fields in enumerate(frames)))


if __name__ == "__main__":
    main()
