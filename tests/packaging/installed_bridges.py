#!/usr/bin/env python3
"""Programs in C and Fortran build and run against what is installed of the bridges, and find what the library's tests find.

Installs the component bridges into SCRATCH; compiles bridges/c/examples through pkg-config and through CMake, and a Fortran program
of CP2K's three calls against the stand-in for libdeepmd_c.so; a self-consistent field in Fortran, which converges to the energy of
its own dense solver. Programs and libraries of an earlier version meet those of this one. Looks that neither MPI nor HDF5 is linked (MPI to libquintet_density alone), and that nothing but quintet_*
and DP_* is seen from outside.
Usage: installed_bridges.py SOURCE BUILD SCRATCH CMAKE CC. Exit code 77: nothing to compile with.
"""
import cmath
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(QuintetC REQUIRED)
add_executable(energy_cmake {example})
target_link_libraries(energy_cmake Quintet::c)
add_executable(density_cmake {density})
target_link_libraries(density_cmake Quintet::density)
"""


def run(*command, expected=0, **variables):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **variables))
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}\nexit {done.returncode}, expected {expected}:\n{done.stdout}")
    return done.stdout


def check_symbols(library, names, foreign=("libmpi", "libhdf5")):
    linked = run("readelf", "-d", library)
    for word in foreign:
        if word in linked:
            sys.exit(f"{library} is linked to {word}: a host's own may be another one\n{linked}")
    seen = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    others = [name for name in seen if not re.match(names, name)]
    if others:
        sys.exit(f"{library} shows {sorted(others)[:5]} to its host")


# A program that needs the newest interface, and one that knows the first alone, as it was when version 1 was the only one.
NEWEST_HOST = """#include <stdio.h>
#include <quintet.h>
int main(int argc, char** argv) {
  const char* mismatch = quintet_api_mismatch(QUINTET_API_VERSION);
  quintet_potential* potential = quintet_potential_open_on(1, (const char* const*)&argv[argc - 1], NULL, "cpu");
  printf("%s%s", mismatch, quintet_potential_device(potential));
  quintet_potential_close(potential);
  return 0;
}
"""
FIRST_HOST = """#include <stdio.h>
struct quintet_potential;
int quintet_api_version(void);
struct quintet_potential* quintet_potential_open(int n_files, const char* const* files, const char* precision);
const char* quintet_potential_error(const struct quintet_potential* potential);
int quintet_potential_types(const struct quintet_potential* potential);
void quintet_potential_close(struct quintet_potential* potential);
int main(int argc, char** argv) {
  struct quintet_potential* potential = quintet_potential_open(1, (const char* const*)&argv[argc - 1], "double");
  printf("%s%d types", quintet_potential_error(potential), quintet_potential_types(potential));
  quintet_potential_close(potential);
  return quintet_api_version() < 1;
}
"""
FIRST_LIBRARY = """int quintet_api_version(void) { return 1; }
void* quintet_potential_open(int n, const char* const* files, const char* precision) {
  return n > 0 && files && precision ? (void*)files : (void*)0;
}
const char* quintet_potential_error(const void* potential) { return potential ? "" : "none"; }
int quintet_potential_types(const void* potential) { return potential ? 7 : 0; }
void quintet_potential_close(void* potential) { (void)potential; }
"""


def versions_meet(source, moved, scratch, cc, model):
    """Hosts and libraries of other versions: functions stay what they were, and what is too old is told by name."""
    old = scratch / "version_1"
    old.mkdir()
    for name, text in (("newest.c", NEWEST_HOST), ("first.c", FIRST_HOST), ("library.c", FIRST_LIBRARY)):
        (old / name).write_text(text)
    # The names of version 1, as symbols.map of that time had them.
    (old / "symbols.map").write_text("QUINTET_1 { global: quintet_*; local: *; };\n")
    run(cc, "-shared", "-fPIC", old / "library.c", f"-Wl,--version-script={old / 'symbols.map'},-soname,libquintet_c.so.1",
        "-o", old / "libquintet_c.so.1")
    for name in ("newest", "first"):
        run(cc, "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{moved / 'include'}", old / f"{name}.c", f"-L{moved / 'lib'}",
            "-lquintet_c", "-o", old / name)
    here, there = {"LD_LIBRARY_PATH": str(moved / "lib")}, {"LD_LIBRARY_PATH": str(old)}
    printed = [run(old / "newest", model, **here), run(old / "first", model, **here), run(old / "first", model, **there)]
    if printed != ["cpu", "2 types", "7 types"]:
        sys.exit(f"hosts of the newest and the first version printed {printed}")
    done = subprocess.run([old / "newest", model], env=dict(os.environ, **there), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0 or "version `QUINTET_2' not found" not in done.stdout:
        sys.exit(f"a host of the newest version with a library of the first: exit {done.returncode}\n{done.stdout}")
    declared = re.search(r"QUINTET_API_VERSION (\d+)", (source / "bridges/c/quintet.h").read_text())[1]
    symbols = dict(line.split()[-1].split("@@") for line in run("nm", "-D", "--defined-only", moved / "lib/libquintet_c.so").splitlines()
                   if "@@" in line)
    in_header = set(re.findall(r"\b(quintet_\w+)\(", (source / "bridges/c/quintet.h").read_text()))
    if in_header != {name for name in symbols if name.startswith("quintet_")}:
        sys.exit(f"quintet.h and libquintet_c differ in {in_header.symmetric_difference(symbols)}")
    first = {"quintet_api_version", "quintet_version"} | {f"quintet_potential_{name}" for name in (
        "open close error warning models cutoff types type_name compute set_neighbours check_neighbours compute_neighbours "
        "deviation").split()}
    moved_on = [name for name in first if symbols[name] != "QUINTET_1"]
    if moved_on or max(symbols.values()) != f"QUINTET_{declared}":
        sys.exit(f"{moved_on} are no longer of version 1, or none is of version {declared}: {symbols}")


def density_matrices(examples, moved, scratch, cc, path):
    """Build and run the programs of libquintet_density; return what the one in C prints."""
    flags = run("pkg-config", "--cflags", "--libs", "quintet_density", **path).split()
    run(cc, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", examples / "density.c", *flags, "-o", scratch / "density")
    printed = run(scratch / "density")
    found = re.match(r"energy (-\d+\.\d+) hartree, gap (\d\.\d+), error (\S+)\n$", printed)
    if not found or abs(float(found[1]) - chain_energy(300)) > 3 * float(found[3]) + 1e-8:
        sys.exit(f"density printed: {printed}; the chain has {chain_energy(300):.9f}")
    refusal = run(scratch / "density", "nan", expected=1)
    if "ham: element (2, 2), counted from 1, is nan" not in refusal:
        sys.exit(f"density of no number printed: {refusal}")
    fortran = shutil.which("gfortran")
    if fortran:
        run(fortran, "-O2", "-std=f2008", "-Wall", "-J", scratch, moved / "include/quintet_density.f90", examples / "scf_fortran.f90",
            *run("pkg-config", "--libs", "quintet_density", **path).split(), "-o", scratch / "scf_fortran")
        text = run(scratch / "scf_fortran")
        energies = [float(word) for word in re.findall(r"(-\d+\.\d+) hartree in \d+ steps", text)]
        if len(energies) != 2 or abs(energies[0] - energies[1]) > 1e-6 or "S^-1/2 kept: 1." not in text:
            sys.exit(f"scf_fortran printed: {text}")
        print(text, end="")
    return printed


def chain_energy(cells):
    """Band energy of examples/density.c: twice the lower root of det(K(k) - e S(k)) = 0 at each k."""
    total = 0
    for m in range(cells):
        phase = cmath.exp(2j * cmath.pi * m / cells)
        t, s = -0.3 - 0.12 * phase, 0.12 + 0.05 * phase
        # K = [0, t; t*, 0], S = [1, s; s*, 1]: e^2 = |e s - t|^2
        a, b, c = 1 - abs(s) ** 2, 2 * (s.conjugate() * t).real, -abs(t) ** 2
        total += 2 * (-b - (b * b - 4 * a * c) ** 0.5) / (2 * a)
    return total


def main():
    source, build, scratch, cmake, cc = map(Path, sys.argv[1:])
    if not shutil.which("pkg-config"):
        print("skipped: no pkg-config")
        sys.exit(77)
    shutil.rmtree(scratch, ignore_errors=True)
    prefix, examples, model = scratch / "prefix", source / "bridges/c/examples", source / "tests/data/deep_potential/oneside.dp"
    run(cmake, "--install", build, "--prefix", prefix, "--component", "bridges")
    moved = scratch / "moved"  # nothing may point to where it was installed, or built
    prefix.rename(moved)
    check_symbols(moved / "lib/libquintet_c.so", r"quintet_|QUINTET_\d$")
    check_symbols(moved / "lib/deepmd/libdeepmd_c.so", "DP_")
    check_symbols(moved / "lib/libquintet_density.so", r"quintet_density_|QUINTET_DENSITY_1$", ("libhdf5",))
    path = {"PKG_CONFIG_PATH": str(moved / "lib/pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "quintet_c", **path).split()
    run(cc, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", examples / "energy.c", *flags, "-o", scratch / "energy")
    printed = run(scratch / "energy", model)
    if not re.match(r"energy -?\d+\.\d{12} eV, force on O", printed):
        sys.exit(f"energy printed: {printed}")
    refusal = run(scratch / "energy", "nowhere.dp", expected=1)
    if "nowhere.dp: no such file" not in refusal:
        sys.exit(f"energy of no model printed: {refusal}")
    versions_meet(source, moved, scratch, cc, model)
    density = density_matrices(source / "bridges/density/examples", moved, scratch, cc, path)
    convert = build / "bin/dpmd"
    if convert.exists():  # text needs no reader of HDF5: the way out where that cannot be loaded
        run(convert, "convert", model, scratch / "model.yaml")
        if run(scratch / "energy", scratch / "model.yaml") != printed:
            sys.exit("the model as text gives another energy")
    (scratch / "user").mkdir()
    (scratch / "user/CMakeLists.txt").write_text(CMAKE_PROJECT.format(example=examples / "energy.c",
                                                                              density=source / "bridges/density/examples/density.c"))
    run(cmake, "-S", scratch / "user", "-B", scratch / "user/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={moved}", f"-DCMAKE_C_COMPILER={cc}")
    run(cmake, "--build", scratch / "user/build")
    if run(scratch / "user/build/energy_cmake", model) != printed:
        sys.exit("the program built by CMake prints something else")
    if run(scratch / "user/build/density_cmake") != density:
        sys.exit("the program of density matrices built by CMake prints something else")
    fortran = shutil.which("gfortran")
    if fortran:
        libraries = run("pkg-config", "--libs", "quintet_c", **path).split()
        run(fortran, "-std=f2008", "-Wall", "-J", scratch, moved / "include/quintet.f90", examples / "energy_fortran.f90",
            *libraries, "-o", scratch / "energy_fortran")
        stand_in = moved / "lib/deepmd"
        run(fortran, "-std=f2008", "-Wall", source / "tests/packaging/cp2k_calls.f90", f"-L{stand_in}", "-ldeepmd_c",
            f"-Wl,-rpath,{stand_in}", "-o", scratch / "cp2k_calls")
        if "ERROR: Quintet: nowhere.dp" not in run(scratch / "cp2k_calls", "nowhere.dp"):
            sys.exit("cp2k_calls of no model: nothing says why its numbers are none")
        for program in ("energy_fortran", "cp2k_calls"):
            text = run(scratch / program, model)
            found = [[float(word) for line in lines.splitlines() if line.startswith("energy ")
                      for word in re.findall(r"-?\d*\.\d+", line)] for lines in (printed, text)]
            if len(found[0]) != 4 or found[0] != found[1]:
                sys.exit(f"C found {found[0]}, {program} {found[1]}")
            if program == "energy_fortran":
                single = re.search(r"computed by cpu\n(?s:.*)in single precision forces differ by +(\S+) eV", text)
                if not single or not 0 < float(single[1]) < 1e-5:
                    sys.exit(f"{program} printed: {text}")
    print(printed + ("" if fortran else "not tried: Fortran (no gfortran)\n"), end="")
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
