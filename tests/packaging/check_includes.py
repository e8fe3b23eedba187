#!/usr/bin/env python3
"""Includes go one way, rooms stay small, and third parties stay at home.

Floors: apps and bridges -> surrogates -> physics -> io. The rooms of a floor, and those inside a room, are ordered too (ROOMS). A third
party's header is included in its home folder alone. Usage: check_includes.py SOURCE_DIR, or check_includes.py --self-test
"""
import collections
import os
import re
import sys

MOST_FILES = 25  # of a room: more, and a newcomer no longer reads its list; *_fwd.hpp, where nothing is to be read, do not count
# Folder: its rooms in steps, lowest first. A room may include those of lower steps, neither its neighbours on the same step
# nor what lies above; files of the folder itself may include all of them.
ROOMS = {
    "": ("io", "physics", "surrogates", "apps bridges"),
    "io": ("log", "files syntax tiers", "config", "parallel", "device formula machine runtime", "hdf5", "netcdf", "fields"),
    "io/hdf5": ("openpmd",),
    "physics": ("kernels", "codes sparse tasks transforms", "particles kinetics electronic convection spectral ocean", "solvers"),
    "physics/particles": ("atoms", "device", "domain formats forces", "files", "dynamics", "interactions observables"),
    "physics/kinetics": ("basis", "space theory", "fields initial moments", "advection collisions files", "device"),
    "physics/kinetics/device": ("sweeps",),
    "physics/ocean": ("coordinates", "sources svd", "gaps"),
    "physics/electronic": ("functions", "matrix", "device", "files global submatrix", "density"),
    "surrogates": ("bridge", "networks", "training", "resident", "search planning environments experts", "reinforcement", "potential flow sequence"),
    "surrogates/potential": ("model", "evaluation", "device", "exported", "training"),
    "surrogates/sequence": ("network windows", "reference training", "graph skill", "forecast", "hindcast"),
    "surrogates/flow": ("equations data", "decoder encoder", "model evaluation", "training prediction"),
    "apps": ("application", "campaign", "dpmd meshfreeflow podlstm quintet submatrix vlasov"),
    "apps/application": ("citations report", "life", "loop table training", "spectra", "cli"),
    "apps/campaign": ("workers",),
    "apps/dpmd": ("setup", "ipi", "deviation label test", "learn run train", "convert evaluate"),
    "apps/meshfreeflow": ("setup", "control flow simulate train superresolve", "evaluate"),
    "apps/podlstm": ("setup", "evaluate", "append fit forecast quantise search train", "hindcast"),
    "apps/quintet": ("owner", "lammps machine bench registry verify", "plan", "submit", "campaign"),
    "apps/submatrix": ("input inspect report", "evaluate", "compare plan"),
    "apps/vlasov": ("input", "setup", "state", "report"),
    "bridges": ("c", "density deepmd lammps"),
}
FLOORS = tuple(room for step in ROOMS[""] for room in step.split())
# Third party: how its headers are named, and where they may be included.
HOMES = (
    ("LibTorch", re.compile(r"^(torch|ATen|c10|caffe2)/"), ("surrogates/",)),
    ("PETSc or SLEPc", re.compile(r"^(petsc|slepc)"), ("physics/solvers/",)),
    ("HDF5", re.compile(r"^(hdf5(_hl)?|H5[A-Z]\w*)\.h$"), ("io/hdf5/",)),
    ("netCDF", re.compile(r"^netcdf"), ("io/netcdf/",)),
    ("yaml-cpp", re.compile(r"^yaml-cpp/"), ("io/config/",)),
    ("muParser", re.compile(r"^muParser"), ("io/formula/",)),
    ("MPI", re.compile(r"^mpi"), ("io/parallel/",)),
    ("spdlog", re.compile(r"^spdlog/"), ("io/log/",)),
    ("zlib", re.compile(r"^zlib\.h$"), ("io/files/",)),
    ("CLI11", re.compile(r"^CLI/"), ("apps/application/",)),
)
PACKS = "physics/kernels/pack.hpp"  # vectors of g++, which the GPU's compiler does not take
ENGINE, WITH_TORCH = re.compile(r"^(io|physics|surrogates)/.*_device\.cpp$"), re.compile(r"^(torch|ATen|c10|surrogates/bridge)/")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def step_of(folder, room):
    """The step of a room among its neighbours; files of the folder itself (room "") stand above all."""
    steps = ROOMS[folder]
    return next((k for k, step in enumerate(steps) if room in step.split()), None if room else len(steps))


def room_problem(path, included):
    """What the order of rooms says against `path` including `included`, or None."""
    folder, here, there = "", path.split("/"), included.split("/")
    if there[0] not in FLOORS:
        return None  # a third party's header
    while folder in ROOMS:
        room, other = here[0] if len(here) > 1 else "", there[0] if len(there) > 1 else ""
        where = os.path.join(folder, room)
        if step_of(folder, room) is None:
            return f"{where} is not in the list of rooms (ROOMS in tests/packaging/check_includes.py)"
        if room != other:
            below = step_of(folder, other)
            if below is not None and below < step_of(folder, room):
                return None
            return f"{where} may not include {os.path.join(folder, other)}"
        folder, here, there = where, here[1:], there[1:]
        if not room:
            return None
    return None


def problem_of(path, included):
    """What is wrong with `path` including `included`, or None."""
    problem = room_problem(path, included)
    if problem:
        return problem
    if ENGINE.match(path) and WITH_TORCH.match(included):
        return "the GPU's compiler takes *_device.cpp of these floors for engines (cmake/device), and has no LibTorch"
    for name, pattern, homes in HOMES:
        if pattern.match(included) and not path.startswith(homes):
            return f"{name} is used in {' and '.join(homes)} alone"
    return None


def check(path, text):
    lines = text.split("\n")
    if path.endswith(".hpp") and "#pragma once" not in lines:
        yield f"{path}:1: no '#pragma once'"
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        problem = problem_of(path, found.group(1)) if found else None
        if problem:
            yield f"{path}:{number}: includes {found.group(1)}: {problem}"


def way_to(target, path, texts, seen):
    """The files through which `path` includes `target`, or None."""
    if path == target:
        return [path]
    if path in seen or path not in texts:
        return None
    seen.add(path)
    included = (found.group(1) for found in map(INCLUDE.match, texts[path].split("\n")) if found)
    return next(([path, *way] for way in (way_to(target, one, texts, seen) for one in included) if way), None)


def engines_with_packs(texts):
    for path in texts:
        way = way_to(PACKS, path, texts, set()) if ENGINE.match(path) else None
        if way:
            yield f"{path}: the GPU's compiler would read {' -> '.join(way[1:])}"


def sources(source_dir):
    for layer in FLOORS:
        for directory, _, names in os.walk(os.path.join(source_dir, layer)):
            for name in names:
                if name.endswith((".hpp", ".cpp", ".h", ".hpp.in")):
                    yield os.path.relpath(os.path.join(directory, name), source_dir).replace(os.sep, "/")


def full_rooms(paths):
    for room, n in collections.Counter(os.path.dirname(path) for path in paths if not path.endswith("_fwd.hpp")).items():
        if n > MOST_FILES:
            yield f"{room}: {n} files; at most {MOST_FILES} belong in a room"


def self_test():
    forbidden = (
        ("physics/kinetics/space/a.hpp", "physics/kinetics/moments/moments.hpp"),
        ("physics/kinetics/moments/a.hpp", "physics/kinetics/fields/maxwell.hpp"),
        ("physics/kinetics/basis/a.hpp", "physics/kinetics/system.hpp"),
        ("physics/particles/atoms/a.hpp", "physics/kinetics/basis/basis.hpp"),
        ("physics/particles/attic/a.hpp", "physics/particles/atoms/atoms.hpp"),
        ("surrogates/potential/model/a.hpp", "surrogates/potential/training/data.hpp"),
        ("apps/vlasov/input/a.cpp", "apps/vlasov/run.hpp"), ("apps/vlasov/a.cpp", "apps/dpmd/run/run.hpp"),
        ("apps/dpmd/a.cpp", "bridges/c/quintet.h"), ("bridges/c/a.cpp", "apps/application/cli/cli.hpp"), ("bridges/c/a.cpp", "mpi.h"),
        ("bridges/c/a.cpp", "bridges/deepmd/handles.hpp"),
        ("apps/application/life/a.cpp", "apps/application/cli/launch.hpp"),
        ("io/log/a.cpp", "physics/particles/atoms/atoms.hpp"), ("physics/kernels/a.cpp", "surrogates/bridge/tensor.hpp"),
        ("surrogates/bridge/a.cpp", "apps/application/cli/application.hpp"), ("io/log/a.cpp", "io/config/tree.hpp"),
        ("io/config/a.cpp", "io/hdf5/file.hpp"), ("io/new/a.cpp", "io/log/log.hpp"),
        ("surrogates/bridge/a_device.cpp", "c10/core/Device.h"), ("surrogates/flow/a_device.cpp", "surrogates/bridge/tensor.hpp"),
        ("physics/kernels/a.cpp", "ATen/core/Tensor.h"), ("apps/dpmd/a.cpp", "torch/torch.h"),
        ("apps/dpmd/a.cpp", "petscsys.h"), ("io/config/a.cpp", "hdf5.h"), ("apps/dpmd/a.cpp", "H5Fpublic.h"),
        ("io/hdf5/a.cpp", "yaml-cpp/yaml.h"), ("physics/solvers/a.cpp", "mpi.h"), ("io/hdf5/a.cpp", "spdlog/spdlog.h"),
        ("io/config/a.cpp", "CLI/CLI.hpp"), ("physics/kinetics/a.cpp", "muParser.h"),
        ("io/fields/a.cpp", "zlib.h"),
    )
    allowed = (
        ("physics/kinetics/system.cpp", "physics/kinetics/collisions/collisions.hpp"),
        ("apps/vlasov/main.cpp", "apps/vlasov/run.hpp"),
        ("physics/particles/dynamics/a.cpp", "physics/particles/atoms/atoms.hpp"), ("apps/dpmd/run/a.cpp", "fmt/core.h"),
        ("apps/dpmd/main.cpp", "apps/application/cli/application.hpp"), ("physics/kinetics/space/a.cpp", "cmath"),
        ("apps/dpmd/a.cpp", "surrogates/potential/model/batch.hpp"), ("io/hdf5/a.cpp", "io/config/tree.hpp"),
        ("surrogates/bridge/a.cpp", "torch/version.h"), ("io/hdf5/a.cpp", "hdf5.h"), ("io/parallel/a.cpp", "mpi.h"),
        ("physics/solvers/a.cpp", "petscsys.h"), ("physics/kernels/a.cpp", "Kokkos_Core.hpp"),
    )
    assert all(list(check(path, f'#include "{included}"')) for path, included in forbidden)
    assert not any(list(check(path, f"#include <{included}>")) for path, included in allowed)
    assert list(full_rooms([f"io/log/{n}.hpp" for n in range(MOST_FILES + 1)]))
    assert not list(full_rooms([f"io/log/{n}.hpp" for n in range(MOST_FILES)] + ["io/log/0_fwd.hpp"]))
    engine, cell = "physics/a/a_device.cpp", "physics/a/a_cell.hpp"
    assert list(engines_with_packs({engine: f'#include "{cell}"', cell: f'#include "{PACKS}"', PACKS: ""}))
    assert not list(engines_with_packs({engine: f'#include "{cell}"', cell: "", "physics/a/a.cpp": f'#include "{PACKS}"', PACKS: ""}))
    assert list(check("io/log/a.hpp", "int x;")) and not list(check("io/log/a.hpp", "#pragma once\n"))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    paths = list(sources(sys.argv[1]))
    texts = {}
    for path in paths:
        with open(os.path.join(sys.argv[1], path), encoding="utf-8") as stream:
            texts[path] = stream.read()
    problems = [*full_rooms(paths), *engines_with_packs(texts)]
    for path, text in texts.items():
        problems += check(path, text)
    print("\n".join(sorted(problems)))
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
