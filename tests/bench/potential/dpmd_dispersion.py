#!/usr/bin/env python3
"""Time of D3 dispersion: ours beside the authors' program s-dftd3 (PyPI: dftd3), one thread each, on the same cells of water.

Energy, forces and virial with the cutoffs of s-dftd3 (60, 40, 40 bohr), of PBE. Ours is the CPU time of
`dpmd run` per step with `potential.dispersion`, less that of the same run without; the peer's is that of a call. Both are the
least of the repeats, in turn. Energies are compared first.

    dpmd_dispersion --peer DIR --table dftd3_params.npz     a virtual environment with dftd3; the table: docs/dispersion.md
    dpmd_dispersion --peer DIR --table FILE --copies 1 2    the cell of inputs/dpmd/water repeated so many times along each axis

Prints a table, then one JSON list.
"""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

SOURCE, HERE, BIN = Path("@PROJECT_SOURCE_DIR@"), Path(__file__).absolute().parent, Path("@PROJECT_BINARY_DIR@/bin")
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
WATER = SOURCE / "inputs/dpmd/water"
EV_PER_HARTREE, BOHR = 27.211386245988, 0.529177210903
PEER = """
import json, sys, time
import numpy as np
from dftd3.interface import DispersionModel, RationalDampingParam
case = np.load(sys.argv[1])
model = DispersionModel(case["numbers"], case["positions"], lattice=case["cell"], periodic=np.ones(3, bool))
damping = RationalDampingParam(method="pbe", atm=sys.argv[2] == "1")
begin = time.process_time()
found = model.get_dispersion(damping, grad=True)
print(json.dumps({"energy": float(found["energy"]), "seconds": time.process_time() - begin}))
"""


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peer", required=True, metavar="DIR", help="virtual environment with dftd3")
    p.add_argument("--table", required=True, type=Path, help="references' C6, as potential.dispersion.table takes them")
    p.add_argument("--copies", type=int, nargs="+", default=[1, 2])
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--steps", type=int, default=40, help="steps of ours in a repeat [40]")
    p.add_argument("--triples", action="store_true", help="with triples, too: minutes")
    p.add_argument("--work", type=Path, default=HERE / "dpmd_dispersion_work", help="made here")
    a = p.parse_args()
    a.work, a.table = a.work.absolute(), a.table.absolute()
    return a


def run(command, folder):
    """Output and CPU seconds of a command; its errors end the bench."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed (exit {done.returncode}):\n{done.stdout[-3000:]}")
    return done.stdout, sum(getattr(after, key) - getattr(before, key) for key in ("ru_utime", "ru_stime"))


def repeated_water(copies, folder):
    """Write water.xyz and the peer's case.npz (bohr); returns the number of atoms."""
    lines = (WATER / "water32.xyz").read_text().splitlines()
    cell = np.array(lines[1].split('Lattice="')[1].split('"')[0].split(), float).reshape(3, 3)
    words = [line.split() for line in lines[2:]]
    names, places = [w[0] for w in words], np.array([w[1:4] for w in words], float)
    shifts = np.array(list(np.ndindex((copies,) * 3))) @ cell
    places = np.concatenate([places + shift for shift in shifts])
    names = names * len(shifts)
    lattice = " ".join(repr(float(x)) for x in (copies * cell).ravel())
    (folder / "water.xyz").write_text(f'{len(names)}\nLattice="{lattice}" Properties=species:S:1:pos:R:3\n' + "".join(
        f"{name} {x!r} {y!r} {z!r}\n" for name, (x, y, z) in zip(names, places.tolist())))
    np.savez(folder / "case.npz", numbers=np.array([{"O": 8, "H": 1}[n] for n in names]), positions=places / BOHR,
             cell=copies * cell / BOHR)
    return len(names)


def write_run(a, folder, triples, steps):
    """The input with dispersion, and without where `triples` is None."""
    dispersion = "" if triples is None else f"  dispersion: {{functional: pbe, s9: {int(triples)}, table: {a.table}}}\n"
    (folder / "run.yaml").write_text(
        f"system: {{file: water.xyz}}\npotential:\n  model: {WATER / 'water.dp'}\n{dispersion}"
        f"time: {{dt: 1e-4 fs, steps: {steps}}}\nintegrator: {{ensemble: nve}}\nthermo_interval: 1\n")


def run_ours(a, folder, triples, steps):
    """CPU seconds of the whole run, and its mean potential energy (eV). Atoms begin at rest and a step is too short to move them."""
    write_run(a, folder, triples, steps)
    shutil.rmtree(folder / "out", ignore_errors=True)
    _, seconds = run([BIN / "dpmd", "run", "run.yaml", "--threads", "1", "--output", "out"], folder)
    return seconds, json.loads((folder / "out" / "summary.json").read_text())["potential_energy_ev"]


def ours(a, folder, triples):
    """CPU seconds per step and energy (eV) of dispersion alone: with it, less without."""
    with_it, without = ([run_ours(a, folder, given, steps) for steps in (1, 1 + a.steps)] for given in (triples, None))
    seconds = [(two[1][0] - two[0][0]) / a.steps for two in (with_it, without)]
    return seconds[0] - seconds[1], with_it[0][1] - without[0][1]


def peer(a, folder, triples):
    found = json.loads(run([Path(a.peer) / "bin" / "python", "-c", PEER, "case.npz", int(triples)], folder)[0].splitlines()[-1])
    return found["seconds"], found["energy"] * EV_PER_HARTREE


def main():
    a = arguments()
    rows = []
    line = "{:>8} {:>8} {:>12} {:>12} {:>8} {:>22}"
    print(line.format("atoms", "triples", "ours, ms", "peer, ms", "ratio", "difference, eV/atom"))
    for copies in a.copies:
        folder = a.work / f"water_{copies}"
        folder.mkdir(parents=True, exist_ok=True)
        atoms = repeated_water(copies, folder)
        for triples in (False, True) if a.triples else (False,):
            tries = [(ours(a, folder, triples), peer(a, folder, triples)) for _ in range(a.repeats)]
            (mine, energy), (theirs, reference) = (min(t[i] for t in tries) for i in (0, 1))
            row = {"atoms": atoms, "triples": triples, "ours_s": mine, "peer_s": theirs, "ratio": theirs / mine,
                   "difference_ev_per_atom": (energy - reference) / atoms, "load_average": os.getloadavg()[0]}
            rows.append(row)
            print(line.format(atoms, "yes" if triples else "no", f"{1e3 * mine:.1f}", f"{1e3 * theirs:.1f}", f"{row['ratio']:.2f}",
                              f"{row['difference_ev_per_atom']:.1e}"), flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
