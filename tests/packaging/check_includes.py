#!/usr/bin/env python3
"""Includes go one way, and third parties stay at home.

apps -> surrogates -> physics -> io; inside io: log <- files, parallel; files <- config <- formula, hdf5, runtime. A third
party's header is included in its home folder alone. Usage: check_includes.py SOURCE_DIR, or check_includes.py --self-test
"""
import os
import re
import sys

LAYERS = ("io", "physics", "surrogates", "apps")
INSIDE_IO = {
    "log": {"log"},
    "files": {"files", "log"},
    "parallel": {"parallel", "log"},
    "config": {"config", "files", "log"},
    "formula": {"formula", "config", "log"},
    "hdf5": {"hdf5", "files", "config", "parallel", "log"},
    "netcdf": {"netcdf", "hdf5", "config", "parallel", "log"},
    "runtime": {"runtime", "parallel", "log"},
}
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
    ("CLI11", re.compile(r"^CLI/"), ("apps/application/",)),
)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def problem_of(path, included):
    """What is wrong with `path` including `included`, or None."""
    layer, top = path.split("/")[0], included.split("/")[0]
    if top in LAYERS and LAYERS.index(top) > LAYERS.index(layer):
        return f"{layer} may not include {top}"
    if layer == "io" and top == "io":
        folder, other = path.split("/")[1], included.split("/")[1]
        if folder not in INSIDE_IO:
            return f"io/{folder} is not in the list of what may include what (tests/packaging/check_includes.py)"
        if other not in INSIDE_IO[folder]:
            return f"io/{folder} may not include io/{other}"
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


def sources(source_dir):
    for layer in LAYERS:
        for directory, _, names in os.walk(os.path.join(source_dir, layer)):
            for name in names:
                if name.endswith((".hpp", ".cpp", ".h", ".hpp.in")):
                    yield os.path.relpath(os.path.join(directory, name), source_dir).replace(os.sep, "/")


def self_test():
    forbidden = (
        ("io/log/a.cpp", "physics/particles/atoms/atoms.hpp"), ("physics/kernels/a.cpp", "surrogates/bridge/tensor.hpp"),
        ("surrogates/bridge/a.cpp", "apps/application/cli/application.hpp"), ("io/log/a.cpp", "io/config/tree.hpp"),
        ("io/config/a.cpp", "io/hdf5/file.hpp"), ("io/new/a.cpp", "io/log/log.hpp"),
        ("physics/kernels/a.cpp", "ATen/core/Tensor.h"), ("apps/dpmd/a.cpp", "torch/torch.h"),
        ("apps/dpmd/a.cpp", "petscsys.h"), ("io/config/a.cpp", "hdf5.h"), ("apps/dpmd/a.cpp", "H5Fpublic.h"),
        ("io/hdf5/a.cpp", "yaml-cpp/yaml.h"), ("physics/solvers/a.cpp", "mpi.h"), ("io/hdf5/a.cpp", "spdlog/spdlog.h"),
        ("io/config/a.cpp", "CLI/CLI.hpp"), ("physics/kinetics/a.cpp", "muParser.h"),
    )
    allowed = (
        ("apps/dpmd/a.cpp", "surrogates/potential/model/batch.hpp"), ("io/hdf5/a.cpp", "io/config/tree.hpp"),
        ("surrogates/bridge/a.cpp", "torch/version.h"), ("io/hdf5/a.cpp", "hdf5.h"), ("io/parallel/a.cpp", "mpi.h"),
        ("physics/solvers/a.cpp", "petscsys.h"), ("physics/kernels/a.cpp", "Kokkos_Core.hpp"),
    )
    assert all(list(check(path, f'#include "{included}"')) for path, included in forbidden)
    assert not any(list(check(path, f"#include <{included}>")) for path, included in allowed)
    assert list(check("io/log/a.hpp", "int x;")) and not list(check("io/log/a.hpp", "#pragma once\n"))


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    problems, n_files = [], 0
    for path in sources(sys.argv[1]):
        n_files += 1
        with open(os.path.join(sys.argv[1], path), encoding="utf-8") as stream:
            problems += check(path, stream.read())
    print("\n".join(sorted(problems)))
    print(f"{n_files} files, {len(problems)} problems")
    return 1 if problems or n_files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
