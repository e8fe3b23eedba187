#!/usr/bin/env python3
"""What the openPMD standard 1.1.0 requires of the files in a folder, by h5dump; standard library only.

openpmd.py check FOLDER STEP...   exactly these iterations, with all that the standard requires, and values that a plane wave has
"""
import os
import re
import subprocess
import sys

DIMENSIONS = {"E": (1, 1, -3, -1, 0, 0, 0), "phi": (2, 1, -3, -1, 0, 0, 0), "electrons_density": (-3, 0, 0, 0, 0, 0, 0),
              "electrons_velocity": (1, 0, -1, 0, 0, 0, 0), "electrons_temperature": (2, 1, -2, 0, 0, 0, 0),
              "electrons_directional_temperature": (2, 1, -2, 0, 0, 0, 0), "electrons_pressure": (-1, 1, -2, 0, 0, 0, 0),
              "electrons_heat_flux": (0, 1, -3, 0, 0, 0, 0)}
SCALARS = ("phi", "electrons_density", "electrons_temperature")


def attributes_of(path):
    """Objects by path: attributes by name, as (type, values)."""
    text = subprocess.run(["h5dump", "-A", "-m", "%.17g", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    found, stack, pending = {}, [], None
    for line in text.splitlines():
        line = line.strip()
        if match := re.match(r'(GROUP|DATASET|ATTRIBUTE) "(.*)" \{', line):
            stack.append((match[1], match[2]))
            if match[1] != "ATTRIBUTE":
                found[path_of(stack)] = {}
            else:
                pending = [None, ""]
        elif line.endswith("{"):
            stack.append(("", ""))
        if pending is not None and "DATATYPE" in line:
            pending[0] = line.split("DATATYPE")[1].split()[0]
        if pending is not None and (match := re.match(r"\(\d+\): (.*)", line)):
            pending[1] += match[1].rstrip()
        if line == "}":
            kind, name = stack.pop()
            if kind == "ATTRIBUTE":
                values = (re.findall(r'"(.*?)"', pending[1]) if pending[0] == "H5T_STRING"
                          else [float(word) for word in pending[1].split(",")])
                found[path_of(stack)][name] = (pending[0], [v.split("\\000")[0] if isinstance(v, str) else v for v in values])
                pending = None
    return found


def path_of(stack):
    return "/".join(name.strip("/") for kind, name in stack if kind in ("GROUP", "DATASET")) or "/"


def values_of(path, dataset):
    text = subprocess.run(["h5dump", "-d", dataset, "-m", "%.17g", "-y", "-w", "1", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    block = text.split("DATA {")[1].split("}")[0]
    return [float(word) for word in block.replace(",", " ").split()]


def require(objects, path, **wanted):
    for name, value in wanted.items():
        if name not in objects[path]:
            sys.exit(f"{path}: no attribute {name}; there are {sorted(objects[path])}")
        found = objects[path][name]
        if value is not None and found[1] != list(value):
            sys.exit(f"{path}: {name} is {found[1]}, expected {list(value)}")


def check(folder, *steps):
    files = sorted(os.listdir(folder))
    if files != sorted(f"data_{step}.h5" for step in steps):
        sys.exit(f"{files}, expected iterations {steps}")
    n_points, lower, length, time = 18, -6.283185307179586, 12.566370614359172, -1.0
    for step in steps:
        file = f"{folder}/data_{step}.h5"
        objects = attributes_of(file)
        require(objects, "/", openPMD=["1.1.0"], openPMDextension=[0], basePath=["/data/%T/"], meshesPath=["fields/"],
                iterationEncoding=["fileBased"], iterationFormat=["data_%T.h5"], software=["Quintet vlasov"], softwareVersion=None, date=None)
        if objects["/"]["openPMDextension"][0] != "H5T_STD_U32LE":
            sys.exit(f"openPMDextension is {objects['/']['openPMDextension'][0]}, the standard has uint32")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}", objects["/"]["date"][1][0]):
            sys.exit(f"date is {objects['/']['date'][1]}")
        base = next(path for path in objects if path.strip("/") == f"data/{step}")
        require(objects, base, time=None, dt=None, timeUnitSI=[1.0])
        if not time < (time := objects[base]["time"][1][0]):
            sys.exit(f"step {step} has time {time}")
        for mesh, dimension in DIMENSIONS.items():
            record = next((path for path in objects if path.endswith(f"data/{step}/fields/{mesh}")), None)
            if record is None:
                sys.exit(f"step {step} has no mesh {mesh}; there are {sorted(objects)}")
            require(objects, record, geometry=["cartesian"], dataOrder=["C"], axisLabels=["x"], gridGlobalOffset=[lower],
                    gridSpacing=[length / n_points], gridUnitSI=[1.0], unitDimension=dimension, timeOffset=[0.0])
            components = [record] if mesh in SCALARS else [path for path in objects if path.startswith(record + "/")]
            if not components:
                sys.exit(f"{mesh} has no components")
            for component in components:
                require(objects, component, unitSI=[1.0], position=[0.5])
                if len(values_of(file, "/" + component.strip("/"))) != n_points:
                    sys.exit(f"{component} has not {n_points} points")
    density = values_of(f"{folder}/data_{steps[0]}.h5", f"/data/{steps[0]}/fields/electrons_density")
    import math
    for i, found in enumerate(density):  # 1 + alpha cos(k x), at the points that the attributes name
        expected = 1 + 0.01 * math.cos(0.5 * (lower + (i + 0.5) * length / n_points))
        if abs(found - expected) > 2e-4:
            sys.exit(f"density at point {i} is {found}, expected {expected}")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
