#!/usr/bin/env python3
"""Deep Potential molecular dynamics: ours beside DeePMD-kit in LAMMPS (compressed model, double precision).

Both run NVE steps (0.1 fs, 330 K, skin 2 angstrom, neighbour list every 10 steps) of liquid water, replicated; energy,
forces and virial every step. One thread a rank; CPU time of the slowest rank, least of the repeats; the wall time too.

    dpmd_inference                     192, 1536 and 12288 atoms on 1 and 2 cores
    dpmd_inference --quick             192 and 1536 atoms on 1 core, few steps
    dpmd_inference --peer no           ours alone
    dpmd_inference --model M.dp --cell water.npz|water.lmp

Without --model and --cell both are made here: random weights of the usual water shape (25-50-100, axis 16, fitting 240 x 3,
6 angstrom) and 64 molecules at liquid density. The peer is installed from PyPI on the first call (2.2 GB).
Prints a table, then one JSON list.
"""
import argparse
import ast
import hashlib
import json
import math
import os
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

SOURCE, HERE = Path("@PROJECT_SOURCE_DIR@"), Path(__file__).absolute().parent
PRECISIONS = ("fp64", "mixed", "bf16")
ENERGY_DIFFERENCE = {"fp64": 1e-6, "mixed": 1e-4, "bf16": 1e-4}  # eV an atom
MPIEXEC = "@MPIEXEC_EXECUTABLE@"
PACKAGE = "deepmd-kit[cpu,lmp]==3.2.0"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TF_INTRA_OP_PARALLELISM_THREADS": "1",
              "TF_INTER_OP_PARALLELISM_THREADS": "1", "DP_INTRA_OP_PARALLELISM_THREADS": "1",
              "DP_INTER_OP_PARALLELISM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3",
              "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="under a minute")
    p.add_argument("--peer", choices=["yes", "no"], default="yes")
    p.add_argument("--model", type=Path, help="uncompressed .dp with types O and H")
    p.add_argument("--cell", type=Path, help="LAMMPS data file (style atomic, O and H) or .npz of DeePMD-kit frames")
    p.add_argument("--replicate", type=int, nargs="+", metavar="N", help="cells per direction [1 2 4; quick: 1 2]")
    p.add_argument("--ranks", type=int, nargs="+", metavar="N", help="[1 2; quick: 1]")
    p.add_argument("--steps", type=int, default=10, help="steps a repeat, a multiple of 10 [10]")
    p.add_argument("--repeats", type=int, help="the fastest counts [at 192 atoms 8, then 5, 3; quick: 2]")
    p.add_argument("--venv", type=Path, default=SOURCE / ".peers" / "deepmd", help="where the peer is or goes")
    p.add_argument("--work", type=Path, default=HERE / "dpmd_inference_work", help="models and cells made here")
    a = p.parse_args()
    a.replicate = a.replicate or ([1, 2] if a.quick else [1, 2, 4])
    a.ranks = a.ranks or ([1] if a.quick else [1, 2])
    if a.steps < 10 or a.steps % 10:
        p.error("--steps must be a multiple of 10: the neighbour list is rebuilt every 10 steps")
    a.venv, a.work = a.venv.absolute(), a.work.absolute()  # not resolve(): a virtual environment's python is a link
    a.work.mkdir(parents=True, exist_ok=True)
    return a


def call(command, folder=None, **extra):
    """Standard output of a command; stops with its errors if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **ONE_THREAD, **extra))
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nfailed (exit {done.returncode}):\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return done.stdout


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# ---- the water ------------------------------------------------------------------------------------------------------

def write_cell(path, types, atoms, lengths):
    lines = ["water", "", f"{len(atoms)} atoms", "2 atom types"]
    lines += [f"0 {length:.9f} {axis}lo {axis}hi" for axis, length in zip("xyz", lengths)]
    lines += ["", "Masses", "", "1 15.999", "2 1.008", "", "Atoms # atomic", ""]
    for i, (kind, x) in enumerate(zip(types, atoms)):
        lines.append(f"{i + 1} {kind + 1} " + " ".join(f"{c % length:.9f}" for c, length in zip(x, lengths)))
    path.write_text("\n".join(lines) + "\n")


def molecule(rng, centre):
    """O, H, H: bonds of 0.96 angstrom at 104.5 degrees, in a random orientation."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    w, x, y, z = (c / math.sqrt(sum(c * c for c in q)) for c in q)
    first = (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
    second = (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x))
    half = math.radians(104.5 / 2)
    arms = [[0.96 * (math.cos(half) * u + sign * math.sin(half) * v) for u, v in zip(first, second)] for sign in (1, -1)]
    return [centre] + [[c + d for c, d in zip(centre, arm)] for arm in arms]


def closest(molecule_a, molecule_b, length):
    def squared(a, b):
        return sum((d - length * round(d / length)) ** 2 for d in (u - v for u, v in zip(a, b)))
    return math.sqrt(min(squared(a, b) for a in molecule_a for b in molecule_b))


def made_cell(path):
    """64 molecules, 0.1 atoms per cubic angstrom, no contact under 1.5 angstrom."""
    rng, length, molecules = random.Random(7), (192 / 0.1) ** (1 / 3), []
    for site in range(64):
        centre = [(s + 0.5 + rng.uniform(-0.1, 0.1)) * length / 4 for s in (site // 16, site // 4 % 4, site % 4)]
        while True:
            new = molecule(rng, centre)
            if all(closest(new, other, length) > 1.5 for other in molecules):
                break
        molecules.append(new)
    atoms = [m[0] for m in molecules] + [h for m in molecules for h in m[1:]]
    write_cell(path, [0] * 64 + [1] * 128, atoms, [length] * 3)


def npy(data):
    """Values of a little-endian float or int .npy file."""
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    code = {"|i1": "b", "<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}[header["descr"]]
    return struct.unpack(f"<{(len(data) - start) // struct.calcsize(code)}{code}", data[start:])


def cell_of_frames(source, path):
    """The first frame of the first group in an archive with type, GROUP/coord and GROUP/box."""
    with zipfile.ZipFile(source) as archive:
        group = next(name for name in archive.namelist() if name.endswith("/coord.npy"))[:-len("coord.npy")]
        types = npy(archive.read("type.npy"))
        coord, box = npy(archive.read(group + "coord.npy")), npy(archive.read(group + "box.npy"))
    atoms = [coord[3 * i:3 * i + 3] for i in range(len(types))]
    write_cell(path, types, atoms, box[0:9:4])


def prepared_input(a):
    model, cell = a.model, a.work / "water.lmp"
    if not model:
        model = a.work / "water_shape.dp"
        if not model.exists():  # a file made again has another date: the peer's would be made again too
            call([HERE / "dpmd_md_driver", "--make-model", model])
    if not a.cell:
        made_cell(cell)
    elif a.cell.suffix == ".npz":
        cell_of_frames(a.cell, cell)
    else:
        cell.write_text(a.cell.read_text())
    return model.absolute(), cell


# ---- both sides -----------------------------------------------------------------------------------------------------

def peer_call(a, *words):
    return call(words, a.work, LD_LIBRARY_PATH=str(a.venv / "lib"))  # `dp compress` leaves files where it runs


def prepared_peer(a, model, cell):
    """The compressed model in the peer's format, made on the first call for this model and cell."""
    if not (a.venv / "bin" / "lmp").exists():
        print(f"installing {PACKAGE} into {a.venv}", file=sys.stderr)
        call([sys.executable, "-m", "venv", a.venv])
        call([a.venv / "bin" / "pip", "install", "-q", PACKAGE])
    stem = a.work / ("peer_" + hashlib.sha256(model.read_bytes() + cell.read_bytes()).hexdigest()[:12])
    compressed = stem.with_name(stem.name + "_compressed.pb")
    if not compressed.exists():
        peer_call(a, a.venv / "bin" / "python", HERE / "deepmd_peer.py", "prepare", model, cell, stem)
        peer_call(a, a.venv / "bin" / "dp", "--tf", "compress", "-i", stem.with_suffix(".pb"), "-o", compressed,
                  "-t", stem.with_suffix(".json"))
    return compressed


def run_peer(a, model, cell, n, ranks, repeats):
    command = [a.venv / "bin" / "python", HERE / "deepmd_peer.py", "run", model, cell, n, a.steps, repeats]
    if ranks > 1:
        command = [a.venv / "bin" / "mpirun", "-np", ranks] + command
    rows = objects(peer_call(a, *command))
    if len(rows) != ranks:
        sys.exit(f"the peer printed {len(rows)} results for {ranks} ranks")
    per_atom = 1e6 / a.steps / rows[0]["atoms"]
    least = {key: per_atom * min(map(max, zip(*(row[key] for row in rows)))) for key in ("cpu", "wall")}
    return {"cpu_us_per_atom_step": least["cpu"], "wall_us_per_atom_step": least["wall"], "version": rows[0]["version"],
            "memory_mb_all_ranks": sum(row["memory_mb"] for row in rows),
            "potential_energy_start_ev": rows[0]["potential_energy_start_ev"]}


def run_ours(a, model, cell, n, ranks, repeats, precision):
    command = [HERE / "dpmd_md_driver", "--model", model, "--cell", cell, "--replicate", n, "--steps", a.steps,
               "--repeats", repeats, "--precision", precision]
    if ranks > 1:
        command = [MPIEXEC, "-n", ranks, "--oversubscribe"] + command
    return objects(call(command))[0]


def repeats_of(a, n):
    return a.repeats or (2 if a.quick else {1: 8, 2: 5}.get(n, 3))


def measured(a, model, cell, compressed):
    """One object a case: ranks x atoms x our precision, the peer's beside it."""
    rows = []
    for ranks in a.ranks:
        for n in a.replicate:
            load = os.getloadavg()[0]
            peer = run_peer(a, compressed, cell, n, ranks, repeats_of(a, n)) if compressed else None
            for precision in PRECISIONS:
                ours = run_ours(a, model, cell, n, ranks, repeats_of(a, n) * (1 if a.quick else 2), precision)
                rows.append(dict(case_row(ours, peer, ranks, precision), load_average=load))
                most = max(row["issue_slots_per_s"] for row in rows)
                rows[-1]["issue_slots"] = rows[-1]["issue_slots_per_s"] / most  # of the most so far: few say that a neighbour took them
                print(table_row(rows[-1]), flush=True)
    return rows


def case_row(ours, peer, ranks, precision):
    atoms = ours["atoms"]
    row = {"bench": "dpmd_inference", "case": f"water, {atoms} atoms, {ranks} rank{'s' * (ranks > 1)}, {precision}",
           "ours": ours["cpu_us_per_atom_step"], "peer": None, "ratio": None, "unit": "us CPU per atom and step",
           "atoms": atoms, "ranks": ranks, "precision": precision, "ours_wall": ours["wall_us_per_atom_step"],
           "ours_memory_mb": ours["memory_mb_all_ranks"], "ours_start_energy_ev": ours["potential_energy_start_ev"],
           "ours_mean_us": {key: ours["mean_us_" + key] for key in ("neighbours", "forces", "communication")},
           "energy_drift_ev_per_atom": ours["energy_drift_ev_per_atom"], "core_gflops": ours["core_gflops"],
           "issue_slots_per_s": ours["issue_slots_per_s"]}
    if peer:
        row.update(peer=peer["cpu_us_per_atom_step"], ratio=peer["cpu_us_per_atom_step"] / ours["cpu_us_per_atom_step"],
                   peer_wall=peer["wall_us_per_atom_step"], peer_memory_mb=peer["memory_mb_all_ranks"],
                   wall_ratio=peer["wall_us_per_atom_step"] / ours["wall_us_per_atom_step"],
                   peer_version=peer["version"], peer_start_energy_ev=peer["potential_energy_start_ev"])
        # LAMMPS prints and sums in float64; our float32 networks may differ by their round-off, and bfloat16 by its own.
        if abs(row["ours_start_energy_ev"] - row["peer_start_energy_ev"]) > ENERGY_DIFFERENCE[precision] * atoms:
            sys.exit(f"{row['case']}: energies at the start differ: ours {row['ours_start_energy_ev']}, peer "
                     f"{row['peer_start_energy_ev']} eV")
    return row


COLUMNS = "{:>7} {:>5} {:>9} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>9} {:>9} {:>6} {:>6} {:>20}"
HEADER = COLUMNS.format("atoms", "ranks", "precision", "ours cpu", "peer cpu", "ratio", "ours wall", "peer wall", "ratio",
                        "ours MB", "peer MB", "load", "slots", "start energy (eV)")


def table_row(row):
    def show(key, digits=2):
        return "-" if row.get(key) is None else f"{row[key]:.{digits}f}"
    return COLUMNS.format(row["atoms"], row["ranks"], row["precision"], show("ours"), show("peer"), show("ratio"),
                          show("ours_wall"), show("peer_wall"), show("wall_ratio"), show("ours_memory_mb", 1),
                          show("peer_memory_mb", 0), show("load_average", 1), show("issue_slots"), show("ours_start_energy_ev", 6))


def remarks(a, rows, model, cell):
    """Lines below the table: memory an atom, speed-up on two ranks and of bf16, errors of mixed precision and of bf16."""
    single = {(row["atoms"], row["precision"]): row for row in rows if row["ranks"] == 1}
    for precision in PRECISIONS:
        sizes = sorted(atoms for atoms, p in single if p == precision)
        for small, large in zip(sizes, sizes[1:]):
            grown = single[large, precision]["ours_memory_mb"] - single[small, precision]["ours_memory_mb"]
            print(f"memory an atom, {precision}, {small} to {large} atoms: {1e3 * grown / (large - small):.1f} kB")
    for row in rows:
        one = single.get((row["atoms"], row["precision"]))
        if row["ranks"] > 1 and one:
            cpu, wall = one["ours"] / row["ours"], one["ours_wall"] / row["ours_wall"]
            print(f"{row['case']}: {wall:.2f} times one rank by wall time, {cpu:.2f} by CPU time of the slowest rank")
    for atoms, precision in single:
        if precision == "bf16":
            print(f"{atoms} atoms, 1 rank: bf16 is {single[atoms, 'mixed']['ours'] / single[atoms, 'bf16']['ours']:.2f} times as fast as mixed")
    error = objects(call([HERE / "dpmd_md_driver", "--model", model, "--cell", cell, "--compare", "yes"]))[0]
    print("errors against the networks in double:", ", ".join(f"{key} {value:.3g}" for key, value in error.items()))
    for row in rows:
        prefix = row["precision"] + "_"
        row.update({key: value for key, value in error.items()
                    if key == "force_rms_ev_per_angstrom" or key.startswith(prefix)} if row["precision"] != "fp64" else {})


def main():
    a = arguments()
    model, cell = prepared_input(a)
    compressed = prepared_peer(a, model, cell) if a.peer == "yes" else None
    print(f"us per atom and step; CPU time of the slowest rank and wall time, least of the repeats; load average {os.getloadavg()[0]:.1f}")
    print(HEADER, flush=True)
    rows = measured(a, model, cell, compressed)
    remarks(a, rows, model, cell)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
