"""Claims about what programs have written: numbers beside references, and beside each other."""
import json
import os
import re
import sys

from runs import COPPER, fail, numbers, thermo


def is_cubic(output, length, tolerance):
    """The last cell of a run has rows of one length at right angles, to a relative tolerance; its enthalpy has fallen."""
    table = thermo(f"{output}/run.h5")
    rows = [[table[f"cell_{row}{axis}"][-1] for axis in "xyz"] for row in "abc"]
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            product = sum(x * y for x, y in zip(a, b)) / float(length) ** 2
            if not abs(product - (i == j)) <= 2 * float(tolerance):
                fail(f"{output}: rows {i} and {j} have the product {product}")
    if not table["potential"][-1] < table["potential"][0]:
        fail(f"{output}: the energy has not fallen")


def same_energy(*names):
    """All energies in all NAME.json are the same number."""
    energies = {(name, i): result["energy_ev"] for name in names
                for i, result in enumerate(json.load(open(f"{name}.json")))}
    if max(energies.values()) - min(energies.values()) > 1e-12 * abs(max(energies.values())):
        fail(f"energies differ: {energies}")


def atom_virials(one, other):
    """Virials of atoms sum to the virial, and are the same in ONE.json and OTHER.json."""
    for a, b in zip(json.load(open(f"{one}.json")), json.load(open(f"{other}.json"))):
        w = a["atom_virials_ev"]
        scale = max(map(abs, w))
        if len(w) != 9 * a["atoms"] or any(abs(sum(w[k::9]) - a["virial_ev"][k]) > 1e-11 * scale for k in range(9)):
            fail(f"{a['file']}: virials of atoms do not sum to the virial")
        if max(abs(x - y) for x, y in zip(w, b["atom_virials_ev"])) > 1e-11 * scale:
            fail(f"{a['file']}: {one} and {other} differ")


def peer(evaluation, tolerance="1e-10"):
    """EVALUATION.json equals peer_reference.json; energies, forces, virials, atomic energies."""
    cases = {case["name"]: case for case in json.load(open(f"{COPPER}/peer_reference.json"))["cases"]}
    results = json.load(open(evaluation))
    for result in results:
        case = cases[re.sub(r"(_npy|\.\w+)$", "", os.path.basename(result["file"]))]
        for ours, theirs in (("energy_ev", "energy"), ("virial_ev", "virial"), ("forces_ev_per_angstrom", "force"),
                             ("atom_energies_ev", "atom_energy")):
            a, b = ([x] if isinstance(x, float) else x for x in (result[ours], case[theirs]))
            scale = max(abs(y) for y in b)
            worst = max(abs(x - y) for x, y in zip(a, b)) / scale
            if len(a) != len(b) or not worst <= float(tolerance):
                fail(f"{result['file']}: {ours} is off by {worst:.1e}")
    print(f"{len(results)} configurations agree")


def experts(mixed, *names):
    """Each frame of MIXED.json is its expert's alone (NAME.json), to the last bit."""
    for frame, name in zip(json.load(open(mixed)), names, strict=True):
        alone = json.load(open(f"{name}.json"))[0]
        if not frame["expert"] or any(frame[key] != alone[key] for key in alone if key not in ("file", "frame")):
            sys.exit(f"frame {frame['frame']} of {frame['expert']} is not as in {name}.json")


def summarised(path, key, least, most):
    """A number of summary.json lies between two others."""
    value = json.load(open(f"{path}/summary.json"))[key]
    if not float(least) <= value <= float(most):
        fail(f"{path}: {key} is {value}, expected {least} to {most}")


def held(trajectory, poscar):
    """The atoms that a POSCAR holds have not moved from the first to the last frame of an extended XYZ trajectory, and others have."""
    lines = open(poscar).read().splitlines()
    flags = [line.split()[3:6] for line in lines if line.split()[3:6] and set(line.split()[3:6]) <= {"T", "F"}]
    frames = open(trajectory).read().splitlines()
    n = len(flags)
    first, last = ([line.split()[1:4] for line in part] for part in (frames[2:n + 2], frames[-n:]))
    moved = [a != b for a, b in zip(first, last, strict=True)]
    if any(m and f == ["F"] * 3 for m, f in zip(moved, flags)) or not any(moved):
        fail(f"{sum(moved)} atoms moved, some of them held")


def starts_at(output, least, most):
    """The first temperature of a run lies between two others."""
    first = numbers(f"{output}/run.h5", "/thermo/temperature")[0]
    if not float(least) <= first <= float(most):
        fail(f"{output}: begins at {first} K, expected {least} to {most}")


def times(one, other, factor):
    """The potential energies of two runs, a factor apart."""
    a, b = (numbers(f"{path}/run.h5", "/thermo/potential")[0] for path in (one, other))
    if abs(b - float(factor) * a) > 1e-12 * abs(b):
        fail(f"energies of {one} and {other} are {a} and {b} eV; expected {factor} times")


def parse_json(path):
    json.load(open(path))
