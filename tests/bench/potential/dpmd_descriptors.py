#!/usr/bin/env python3
"""dpa1 without attention layers (strip, smooth gates): ours beside DeePMD-kit's PyTorch back end, one core, double precision.

Water (64 molecules) and an alloy of four elements (256 atoms), 25-50-100, axis 16, fitting 240 x 3, random weights. Ours is
NVE dynamics with everything in it, lists and integration too; the peer's is the evaluation of energy, forces and virial
alone. CPU time, least of the repeats, both one after the other in each round. The energies of the start must agree.
Ours is timed with polynomials (as it is by default), with the tables of `dpmd compress`, and with the networks; the
first two in mixed precision, too.

    dpmd_descriptors [--quick] [--alone] [--venv FOLDER]    the peer's virtual environment; installed there from PyPI if absent

Prints a table, then one JSON list.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE, HERE = Path("@PROJECT_SOURCE_DIR@"), Path(__file__).absolute().parent
PACKAGES = ["torch==2.13.0", "deepmd-kit==3.2.0"]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "",
              "DP_INTRA_OP_PARALLELISM_THREADS": "1", "DP_INTER_OP_PARALLELISM_THREADS": "1",
              "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def call(*words):
    """The last JSON object that a command prints; stops with its errors if it fails."""
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, env=dict(os.environ, **ONE_THREAD))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\nfailed (exit {done.returncode}):\n{done.stderr[-3000:]}")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else None


WAYS = {"polynomials": ("auto", "fp64"), "tables": ("file", "fp64"), "networks": ("off", "fp64"),
        "polynomials_mixed": ("auto", "mixed"), "tables_mixed": ("file", "mixed")}


def ours_in_turn(model, table, cell, rounds):
    """CPU microseconds an atom and step of each of our ways, the least of the rounds, and the energy of the start."""
    times, energy = {}, {}
    for _ in range(rounds):
        for way, (compress, precision) in WAYS.items():
            row = call(HERE / "dpmd_md_driver", "--model", table if compress == "file" else model, "--cell", cell, "--steps", 10,
                       "--repeats", 3, "--compress", compress, "--precision", precision)
            times[way] = min(row["cpu_us_per_atom_step"], times.get(way, 1e300))
            energy[way] = row["potential_energy_start_ev"]
    return times, energy


def measured(case, python, work, rounds, alone):
    """One case: both sides in turn, the least time of each."""
    model, table, cell = work / f"dpa1_{case}.dp", work / f"dpa1_{case}_tables.dp", work / f"dpa1_{case}.lmp"
    call(python, HERE / "descriptors_peer.py", "prepare", case, model, cell)
    call(HERE.parent.parent / "bin" / "dpmd", "compress", model, "--output", table, "--overwrite")
    times, energy = ours_in_turn(model, table, cell, rounds)
    if abs(energy["tables"] - energy["networks"]) > 1e-9 * abs(energy["networks"]):
        sys.exit(f"{case}: the energy of tables is {energy['tables']} eV, that of networks {energy['networks']}")
    ways = {f"ours_{way}": value for way, value in times.items()}
    if alone:
        return {"bench": "dpmd_descriptors", "case": f"dpa1 strip, {case}, 1 core", "unit": "CPU us an atom and step", **ways,
                "load": os.getloadavg()[0]}
    ours, peer = [], []
    for _ in range(rounds):
        ours.append(call(HERE / "dpmd_md_driver", "--model", model, "--cell", cell, "--steps", 20, "--repeats", 5))
        peer.append(call(python, HERE / "descriptors_peer.py", "run", model, cell, 5))
    difference = abs(ours[0]["potential_energy_start_ev"] - peer[0]["energy_ev"]) / peer[0]["atoms"]
    if difference > 1e-9:
        sys.exit(f"{case}: the energies differ by {difference:.1e} eV an atom")
    a, b = (min(row[key] for row in rows) for rows, key in ((ours, "cpu_us_per_atom_step"), (peer, "cpu_us_per_atom")))
    return {"bench": "dpmd_descriptors", "case": f"dpa1 strip, {case}, {peer[0]['atoms']} atoms, double, 1 core", "ours": a,
            "peer": b, "ratio": b / a, "unit": "CPU us an atom and step", "energy_difference_ev_per_atom": difference,
            "peer_version": peer[0]["version"], **ways, "load": os.getloadavg()[0]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="one round")
    p.add_argument("--alone", action="store_true", help="only our side: the peer makes the models")
    p.add_argument("--venv", type=Path, default=SOURCE / ".peers" / "deepmd-torch")
    a = p.parse_args()
    python = a.venv.absolute() / "bin" / "python"
    if not python.exists():
        print(f"installing {' '.join(PACKAGES)} into {a.venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", a.venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    work = HERE / "dpmd_descriptors_work"
    work.mkdir(exist_ok=True)
    rows = [measured(case, python, work, 1 if a.quick else 3, a.alone) for case in ("water", "alloy")]
    for row in rows:
        print(f"{row['case']}: " + ", ".join(f"{way} {row['ours_' + way]:.1f}" for way in WAYS) + f", load {row['load']:.1f}")
        if not a.alone:
            print(f"{row['case']}: ours {row['ours']:.1f}, DeePMD-kit {row['peer']:.1f} us an atom ({row['ratio']:.1f} x), load {row['load']:.1f}")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
