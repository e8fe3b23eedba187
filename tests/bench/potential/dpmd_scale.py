#!/usr/bin/env python3
"""Memory and start-up of large runs: copper at 300 K, replicated, on several ranks of one machine.

    dpmd_scale                    256 000 atoms on 1 and 2 ranks, 2 steps
    dpmd_scale --quick            32 000 atoms on 1 and 2 ranks
    dpmd_scale --cells 136 --ranks 2          10 061 824 atoms: 11 GB, minutes
    dpmd_scale --trajectory       with a trajectory (H5MD and extended XYZ), which is written in parts

Start-up is the phase `start` less the first evaluation of forces, which every step has, by the slowest rank's clock; what
every rank does for itself whatever the number of atoms (reading the model) stands beside it. Memory is the sum of the ranks'
peaks, the program itself included. CPU times are of all ranks, the whole run. Prints a table, then one JSON list.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path("@PROJECT_SOURCE_DIR@")
MPIEXEC = "@MPIEXEC_EXECUTABLE@"
DPMD = "@PROJECT_BINARY_DIR@/bin/dpmd"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
INPUT = """
system:
  file: {source}/inputs/dpmd/copper/fcc.xyz
  replicate: [{cells}, {cells}, {cells}]
potential:
  model: {source}/inputs/dpmd/copper/copper.dp
time:
  dt: 2 fs
  steps: {steps}
integrator:
  ensemble: nve
velocities:
  temperature: 600 K
thermo_interval: 1
checkpoint_interval: {steps}
"""
TRAJECTORY = """
trajectory:
  interval: {steps}
  format: both
  single_precision: true
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="under a minute")
    p.add_argument("--cells", type=int, help="cells of 4 atoms along each direction [40; quick: 20]")
    p.add_argument("--ranks", type=int, nargs="+", metavar="N", help="[1 2]")
    p.add_argument("--steps", type=int, default=2)
    p.add_argument("--trajectory", action="store_true")
    p.add_argument("--dpmd", default=DPMD, help="executable to measure")
    a = p.parse_args()
    a.cells = a.cells or (20 if a.quick else 40)
    a.ranks = a.ranks or [1, 2]
    return a


def measure(a, ranks, folder):
    text = INPUT.format(source=SOURCE, cells=a.cells, steps=a.steps)
    if a.trajectory:
        text += TRAJECTORY.format(steps=a.steps)
    (folder / "scale.yaml").write_text(text)
    output = folder / f"on_{ranks}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [MPIEXEC, "-n", str(ranks), "--oversubscribe", a.dpmd, "run", str(folder / "scale.yaml"), "--output", str(output),
               "--quiet"]
    run = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = json.loads((output / "summary.json").read_text())
    times, atoms = summary["timings_s"], summary["atoms"]
    model = times.get("start/model", 0)
    start = times["start"] - times["start/forces"] - model
    return {"atoms": atoms, "ranks": ranks, "start_us": 1e6 * start / atoms,
            "atoms_us": 1e6 * times.get("start/atoms", 0) / atoms,
            "neighbours_us": 1e6 * times["start/neighbours"] / atoms, "model_s": model,
            "first_forces_us": 1e6 * times["start/forces"] / atoms,
            "step_us": summary["wall_us_per_atom_step"],
            "bytes": 1e6 * summary["memory_peak_mb_per_rank"] * ranks / atoms,
            "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "energy": summary["potential_energy_ev"] / atoms}


def main():
    a = arguments()
    columns = {"atoms": "{:.0f}", "ranks": "{:.0f}", "start_us": "{:.2f}", "atoms_us": "{:.2f}", "neighbours_us": "{:.2f}",
               "first_forces_us": "{:.2f}", "step_us": "{:.2f}", "model_s": "{:.2f}", "bytes": "{:.0f}", "cpu_s": "{:.1f}",
               "energy": "{:.12f}"}
    print(" ".join(f"{name:>16}" for name in columns))
    results = []
    for ranks in a.ranks:
        folder = Path(tempfile.mkdtemp(prefix="dpmd_scale_"))
        try:
            found = measure(a, ranks, folder)
        finally:
            shutil.rmtree(folder)
        print(" ".join(f"{form.format(found[name]):>16}" for name, form in columns.items()), flush=True)
        case = f"copper, {found['atoms']} atoms, {ranks} ranks"
        results.append({"bench": "dpmd_scale", "case": case + ", start-up", "ours": round(found["start_us"], 3), "peer": None,
                        "ratio": None, "unit": "us/atom"})
        results.append({"bench": "dpmd_scale", "case": case + ", memory", "ours": round(found["bytes"]), "peer": None,
                        "ratio": None, "unit": "bytes/atom"})
    print(json.dumps(results))


if __name__ == "__main__":
    main()
