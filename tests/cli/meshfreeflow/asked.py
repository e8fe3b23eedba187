#!/usr/bin/env python3
"""Archives of NumPy arrays for asked.txt, written without NumPy: a sample of fields.h5 as others keep their data, right or wrong.

Usage: asked.py FIELDS.h5 SAMPLE OUT.npz [CHANGE...], or OUT.zarr: a folder of zarr, version 2
CHANGE: scale:NAME:FACTOR  add:NAME:NUMBER  swap:NAME:NAME  (NAME: p b u w t x z; arithmetic in double)
        float32  big  fortran  note  late:NUMBER  steady:NUMBER  frames:NUMBER
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import zipfile
import zlib


def values(path, dataset):
    """Shape and numbers of a dataset, by h5dump."""
    head = subprocess.run(["h5dump", "-H", "-d", dataset, path], check=True, capture_output=True, text=True).stdout
    shape = [int(n) for n in re.search(r"DATASPACE\s+SIMPLE \{ \( ([^)]*) \)", head).group(1).split(",")]
    code = "d" if re.search(r"DATATYPE\s+H5T_IEEE_F64", head) else "f"
    subprocess.run(["h5dump", "-d", dataset, "-b", "LE", "-o", "asked.raw", path], check=True, stdout=subprocess.DEVNULL)
    with open("asked.raw", "rb") as stream:
        raw = stream.read()
    return shape, list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))


def npy(shape, numbers, descr, fortran=False):
    order = {"<": "<", ">": ">"}[descr[0]]
    if fortran:
        n_t, n_x, n_z = shape
        numbers = [numbers[(t * n_x + x) * n_z + z] for z in range(n_z) for x in range(n_x) for t in range(n_t)]
    shape_text = "(" + "".join(f"{n}, " for n in shape).rstrip() + ")" if len(shape) == 1 else str(tuple(shape))
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape_text}, }}"
    header += " " * ((64 - (len(header) + 11) % 64) % 64) + "\n"
    code = {"f4": "f", "f8": "d", "i2": "h"}[descr[1:]]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"{order}{len(numbers)}{code}", *numbers)


def zarr(folder, arrays):
    """Chunks of 7 frames, and all else of an array in them."""
    os.makedirs(folder)
    with open(f"{folder}/.zgroup", "w", encoding="utf-8") as stream:
        json.dump({"zarr_format": 2}, stream)
    for name, (shape, numbers, axes) in arrays.items():
        os.makedirs(f"{folder}/{name}")
        chunks = [7] + shape[1:] if len(shape) == 3 else shape
        meta = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<f8", "order": "C", "fill_value": None,
                "filters": None, "compressor": {"id": "zlib", "level": 1}}
        for file, content in ((".zarray", meta), (".zattrs", {"_ARRAY_DIMENSIONS": axes})):
            with open(f"{folder}/{name}/{file}", "w", encoding="utf-8") as stream:
                json.dump(content, stream)
        size = 7 * (len(numbers) // shape[0]) if len(shape) == 3 else len(numbers)
        for first in range(0, len(numbers), size):
            part = numbers[first:first + size]
            part += [0.0] * (size - len(part))
            with open(f"{folder}/{name}/" + ".".join([str(first // size)] + ["0"] * (len(shape) - 1)), "wb") as stream:
                stream.write(zlib.compress(struct.pack(f"<{size}d", *part)))


def main(path, sample, out, *changes):
    sample = int(sample)
    arrays = {}
    for axis, name in (("t", "time"), ("x", "x"), ("z", "z")):
        arrays[axis] = values(path, f"/dimensions/{name}")[1]
    n_t, n_x, n_z = (len(arrays[axis]) for axis in "txz")
    for name, dataset, component, n in (("p", "/t0_fields/pressure", 0, 1), ("b", "/t0_fields/buoyancy", 0, 1),
                                        ("w", "/t1_fields/velocity", 0, 2), ("u", "/t1_fields/velocity", 1, 2)):
        all_numbers = values(path, dataset)[1]
        frame = n_z * n_x * n
        first = sample * n_t * frame
        arrays[name] = [all_numbers[first + t * frame + (z * n_x + x) * n + component] for t in range(n_t) for x in range(n_x) for z in range(n_z)]
    descr, fortran, notes = "<f8", False, []
    for change in changes:
        kind, *rest = change.split(":")
        if kind == "scale":
            arrays[rest[0]] = [float(rest[1]) * v for v in arrays[rest[0]]]
        elif kind == "add":
            arrays[rest[0]] = [float(rest[1]) + v for v in arrays[rest[0]]]
        elif kind == "swap":
            arrays[rest[0]], arrays[rest[1]] = arrays[rest[1]], arrays[rest[0]]
        elif kind == "late":
            draw = random.Random(1)
            arrays["t"] = [t + float(rest[0]) * draw.random() ** 3 for t in arrays["t"]]
        elif kind == "steady":
            for name in "pbuw":
                first = arrays[name][-n_x * n_z:]
                arrays[name] = [v * (1 + float(rest[0]) * (t % 3)) for t in range(n_t) for v in first]
        elif kind == "frames":
            n_t = int(rest[0])
            arrays["t"] = arrays["t"][:n_t]
            for name in "pbuw":
                arrays[name] = arrays[name][:n_t * n_x * n_z]
        elif kind == "float32":
            descr = "<f4"
        elif kind == "big":
            descr = ">f8"
        elif kind == "fortran":
            fortran = True
        elif kind == "note":
            notes = ["note"]
    if out.endswith(".zarr"):
        return zarr(out, {**{name: ([n_t, n_x, n_z], arrays[name], list("txz")) for name in "pbuw"},
                          **{name: ([len(arrays[name])], arrays[name], [name]) for name in "txz"}, "Ra": ([], [1e4], []), "Pr": ([], [1.0], [])})
    with zipfile.ZipFile(out, "w") as archive:
        for name in ["note"] if notes else []:
            header = "{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(117) + "\n"
            archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"\x80\x04K\x01.")
            archive.writestr("levels.npy", npy([3], [1, 2, 3], "<i2"))
            archive.writestr("tags.npy", npy([2, 2, 2], [1] * 8, "<i2"))
        for name in "txz":
            archive.writestr(name + ".npy", npy([len(arrays[name])], arrays[name], "<f8"))
        for name in "pbuw":
            archive.writestr(name + ".npy", npy([n_t, n_x, n_z], arrays[name], descr, fortran))
        for name, value in (("Ra", 1e4), ("Pr", 1.0)):
            archive.writestr(name + ".npy", npy([1], [value], "<f8"))


if __name__ == "__main__":
    main(*sys.argv[1:])
