#!/usr/bin/env python3
"""Labels with known errors for `dpmd test`, and what it must then say. Standard library.

shift FILE.xyz: write shifted.xyz, FILE with energies 0.32 eV a frame higher, each force's x component 0.1 eV/angstrom
higher and y 0.2 lower, the virial's xx 3.2 eV higher. shifted NAME: NAME.json and NAME.*.out say so. averaged NAME: the
errors of all are averages of the systems'. forget MODEL OUT: a model (dpmd's text form is JSON) without the least
distance of its training data. reference REF.json OUT.xyz: the periodic cases of a reference with its labels.
"""
import json
import re
import sys


def shift(path):
    frames, lines = [], open(path).read().splitlines()
    while lines:
        n, head, atoms = int(lines[0]), lines[1], lines[2:2 + int(lines[0])]
        lines = lines[2 + n:]
        head = re.sub(r"energy=(\S+)", lambda m: f"energy={float(m[1]) + 0.32!r}", head)
        head = re.sub(r'virial="(\S+)', lambda m: f'virial="{float(m[1]) + 3.2!r}', head)
        head = re.sub(r'stress="[^"]*" ', "", head)  # which would contradict it
        names = re.search(r"Properties=(\S+)", head)[1].split(":")
        at = 0
        for name, width in zip(names[0::3], map(int, names[2::3])):
            if name.startswith("force"):
                break
            at += width
        rows = [atom.split() for atom in atoms]
        for row in rows:
            row[at] = repr(float(row[at]) + 0.1)
            row[at + 1] = repr(float(row[at + 1]) - 0.2)
        frames += [str(n), head] + [" ".join(row) for row in rows]
    open("shifted.xyz", "w").write("\n".join(frames) + "\n")


def near(found, expected, what):
    if not abs(found - expected) <= 1e-9:
        sys.exit(f"FAILED: {what} is {found}, expected {expected}")


def shifted(name):
    result = json.load(open(name + ".json"))
    everything = result["all"]
    force_rmse, force_mae = ((0.1**2 + 0.2**2) / 3)**0.5, 0.3 / 3
    for key, rmse, mae in (("energy_ev", 0.32, 0.32), ("energy_per_atom_ev", 0.01, 0.01),
                           ("force_ev_per_angstrom", force_rmse, force_mae), ("virial_ev", 3.2 / 3, 3.2 / 9),
                           ("virial_per_atom_ev", 0.1 / 3, 0.1 / 9)):
        near(everything[key]["rmse"], rmse, f"rmse of {key}")
        near(everything[key]["mae"], mae, f"mae of {key}")
    near(everything["force_by_type_ev_per_angstrom"]["Cu"]["rmse"], force_rmse, "rmse of the forces on Cu")
    for ending, columns, rows, difference in ((".e.out", 2, 2, -0.32), (".e_peratom.out", 2, 2, -0.01),
                                              (".f.out", 6, 64, -0.1), (".v.out", 18, 2, -3.2),
                                              (".v_peratom.out", 18, 2, -0.1)):
        table = [[float(x) for x in line.split()] for line in open(name + ending) if not line.startswith("#")]
        if len(table) != rows or {len(row) for row in table} != {columns}:
            sys.exit(f"FAILED: {name}{ending} has {len(table)} rows of {sorted({len(row) for row in table})}")
        for row in table:
            near(row[columns // 2] - row[0], difference, ending)


def averaged(name):
    result = json.load(open(name + ".json"))
    if len(result["systems"]) != 2:
        sys.exit(f"FAILED: {len(result['systems'])} systems")
    for key, numbers in result["all"].items():
        if not isinstance(numbers, dict) or "by_type" in key:
            continue
        parts = [system[key] for system in result["systems"]]
        n = sum(part["n"] for part in parts)
        near(numbers["n"], n, f"n of {key}")
        near(numbers["rmse"], (sum(part["n"] * part["rmse"]**2 for part in parts) / n)**0.5, f"rmse of {key}")
        near(numbers["mae"], sum(part["n"] * part["mae"] for part in parts) / n, f"mae of {key}")
        if numbers["rmse"] == parts[0]["rmse"]:
            sys.exit(f"FAILED: {key}: one system's error is that of all")


def reference(path, target):
    with open(target, "w") as file:
        for case in json.load(open(path))["cases"]:
            if case["box"] is None:
                continue
            lattice = " ".join(map(repr, case["box"]))
            print(len(case["type"]), f'Lattice="{lattice}" energy={case["energy"]!r} '
                  "Properties=species:S:1:pos:R:3:forces:R:3", sep="\n", file=file)
            for i, kind in enumerate(case["type"]):
                numbers = case["coord"][3 * i:3 * i + 3] + case["force"][3 * i:3 * i + 3]
                print("OH"[kind], *map(repr, numbers), file=file)


def forget(path, target):
    model = json.load(open(path))
    del model["@variables"]
    json.dump(model, open(target, "w"))


globals()[sys.argv[1]](*sys.argv[2:])
