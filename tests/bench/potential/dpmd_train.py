#!/usr/bin/env python3
"""Training a Deep Potential: ours beside DeePMD-kit's TensorFlow and PyTorch backends, seconds a step.

Water, 192 atoms, energy and force loss, batch 1; embedding 25-50-100, axis 16, fitting 240 x 3 with time steps, 6 angstrom;
double and single precision, one thread. Every step is timed by itself, the least and the median are shown; CPU time of the
slowest rank and wall time. The peer makes its neighbour lists anew each step, ours are made once and kept (the time of
making one is printed). On 2 ranks ours share the atoms of the one frame, or take one frame each (then a batch is 2).

    dpmd_train                         30 steps each, 1 and 2 ranks
    dpmd_train --quick                 under a minute: few steps, 1 rank, TensorFlow in both precisions
    dpmd_train --peer DIR              DeePMD-kit's virtual environment (or $QUINTET_DEEPMD); `no`: ours alone
    dpmd_train --data SYSTEM           another DeePMD system of O and H, npy

The data: GFN1-xTB frames of tests/data, doubled along x, atoms moved by 0.01 angstrom to make 16 frames; times do not
depend on the labels. Prints a table, then one JSON list: `peer` is the faster of the backends that were run.
"""
import argparse
import ast
import json
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

SOURCE, HERE = Path("@PROJECT_SOURCE_DIR@"), Path(__file__).absolute().parent
MPIEXEC = "@MPIEXEC_EXECUTABLE@"
INSTALL = ("python3 -m venv {0} && {0}/bin/pip install 'deepmd-kit[cpu,lmp]==3.2.0'\n"
           "  and for its PyTorch backend: {0}/bin/pip install torch==2.13.0 e3nn")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
              "TF_INTRA_OP_PARALLELISM_THREADS": "1", "TF_INTER_OP_PARALLELISM_THREADS": "1",
              "DP_INTRA_OP_PARALLELISM_THREADS": "1", "DP_INTER_OP_PARALLELISM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "",
              "TF_CPP_MIN_LOG_LEVEL": "3", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PRECISIONS = {"double": "float64", "single": "float32"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="under a minute")
    p.add_argument("--peer", default=os.environ.get("QUINTET_DEEPMD", str(SOURCE / ".peers" / "deepmd")), metavar="DIR")
    p.add_argument("--backends", nargs="+", choices=["tensorflow", "pytorch"], help="[both; quick: tensorflow]")
    p.add_argument("--data", type=Path, help="a DeePMD system of O and H")
    p.add_argument("--ranks", type=int, nargs="+", metavar="N", help="[1 2; quick: 1]")
    p.add_argument("--steps", type=int, help="timed steps a case [30; quick: 10]")
    p.add_argument("--work", type=Path, default=HERE / "dpmd_train_work", help="data made here")
    a = p.parse_args()
    a.backends = a.backends or (["tensorflow"] if a.quick else ["tensorflow", "pytorch"])
    a.ranks = a.ranks or ([1] if a.quick else [1, 2])
    a.steps = a.steps or (10 if a.quick else 30)
    a.work = a.work.absolute()
    a.work.mkdir(parents=True, exist_ok=True)
    if a.peer == "no":
        a.backends = []
    elif not (Path(a.peer) / "bin" / "dp").exists():
        p.error(f"no DeePMD-kit in {a.peer}: name its virtual environment with --peer, or make it with\n  "
                + INSTALL.format(a.peer) + "\n  or time ours alone with --peer no")
    return a


def call(command, optional=False, **extra):
    """The last JSON object that a command prints; stops with its errors if it fails, or says so and returns None."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **ONE_THREAD, **extra))
    rows = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return json.loads(rows[-1]) if rows else None
    if optional:
        print(f"{command[2]} does not run: {(done.stderr.strip().splitlines() or ['?'])[-1]}", flush=True)
        return None
    sys.exit(f"{' '.join(map(str, command))}\nfailed (exit {done.returncode}):\n{done.stdout[-1000:]}{done.stderr[-3000:]}")


# ---- the water ------------------------------------------------------------------------------------------------------

def read_npy(path):
    """Values of a little-endian float .npy file, rows of the first axis."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    code = {"<f4": "f", "<f8": "d"}[header["descr"]]
    values = struct.unpack(f"<{(len(data) - start) // struct.calcsize(code)}{code}", data[start:])
    width = len(values) // header["shape"][0]
    return [list(values[i:i + width]) for i in range(0, len(values), width)]


def write_npy(path, rows):
    shape = (len(rows), len(rows[0]))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    values = [value for row in rows for value in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack(f"<{len(values)}d", *values))


def made_system(folder, n_frames=16):
    """The frames of tests/data twice side by side, each repeated with its atoms moved a little."""
    source, rng = SOURCE / "tests/data/deep_potential/training/water", random.Random(3)
    keys = ("coord", "box", "energy", "force")
    coord, box, energy, force = (read_npy(source / "set.000" / f"{key}.npy") for key in keys)
    rows = {key: [] for key in keys}
    for i in range(n_frames):
        at = i % len(coord)
        doubled = coord[at] + [x + box[at][k % 3] for k, x in enumerate(coord[at])]
        rows["coord"].append([x + rng.gauss(0, 0.01) for x in doubled])
        rows["box"].append([2 * x for x in box[at][:3]] + box[at][3:])
        rows["energy"].append([2 * energy[at][0]])
        rows["force"].append(force[at] * 2)
    (folder / "set.000").mkdir(parents=True, exist_ok=True)
    for key, values in rows.items():
        write_npy(folder / "set.000" / f"{key}.npy", values)
    (folder / "type.raw").write_text((source / "type.raw").read_text() * 2)
    (folder / "type_map.raw").write_text("O\nH\n")
    return folder


def peer_input(path, system, precision):
    """DeePMD-kit's input of the same training: defaults but for the sizes."""
    path.write_text(json.dumps({
        "model": {
            "type_map": ["O", "H"],
            "descriptor": {"type": "se_e2_a", "rcut": 6.0, "rcut_smth": 0.5, "sel": [46, 92], "neuron": [25, 50, 100],
                           "axis_neuron": 16, "type_one_side": True, "resnet_dt": False, "precision": precision, "seed": 1},
            "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": True, "precision": precision, "seed": 1}},
        "learning_rate": {"type": "exp", "start_lr": 1e-3, "stop_lr": 3.51e-8, "decay_steps": 5000},
        "loss": {"type": "ener", "start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1,
                 "start_pref_v": 0, "limit_pref_v": 0},
        "training": {"training_data": {"systems": [str(system)], "batch_size": 1}, "seed": 1, "numb_steps": 100}}))
    return path


# ---- both sides -----------------------------------------------------------------------------------------------------

def shortened(row):
    """Least and median of a side's steps."""
    if row is None:
        return None
    for key in ("cpu", "wall"):
        steps = sorted(row.pop(key))
        row[key], row[key + "_median"] = steps[0], steps[len(steps) // 2]
    return row


def run_peer(a, backend, precision, system):
    given = peer_input(a.work / f"{precision}.json", system, PRECISIONS[precision])
    return shortened(call([Path(a.peer) / "bin" / "python", HERE / "deepmd_train_peer.py", backend, given, a.steps],
                          optional=backend == "pytorch", LD_LIBRARY_PATH=str(Path(a.peer) / "lib")))


def run_ours(a, precision, system, ranks, sharing):
    command = [HERE / "dpmd_train_driver", "--data", system, "--precision", precision, "--sharing", sharing,
               "--steps", a.steps]
    if ranks > 1:
        command = [MPIEXEC, "-n", ranks, "--oversubscribe"] + command
    return shortened(call(command))


COLUMNS = "{:>9} {:>6} {:>30} {:>9} {:>9} {:>9} {:>9} {:>8} {:>6}"
HEADER = COLUMNS.format("precision", "ranks", "who", "cpu ms", "median", "wall ms", "median", "MB", "load")


def show(precision, ranks, who, row):
    times = [f"{1e3 * row[key]:.1f}" for key in ("cpu", "cpu_median", "wall", "wall_median")]
    print(COLUMNS.format(precision, ranks, who, *times, f"{row['memory_mb']:.0f}", f"{os.getloadavg()[0]:.1f}"), flush=True)


def case_row(precision, ranks, sharing, ours, peers):
    """One object of the JSON list. The peer has one rank and batch 1: a batch of 2 is compared with two of its steps."""
    frames = ranks if sharing == "frames" else 1
    what = f"water, 192 atoms, batch {frames}, {precision}" + (f", {ranks} ranks share {sharing}" if ranks > 1 else "")
    row = {"bench": "dpmd_train", "case": what, "ours": ours["cpu"], "peer": None, "ratio": None,
           "unit": "s CPU a step (slowest rank)", "precision": precision, "ranks": ranks, "batch": frames,
           "ours_wall": ours["wall"], "ours_memory_mb": ours["memory_mb"], "ours_frame_seconds_once": ours["frame_seconds"],
           "load_average": os.getloadavg()[0], "core_gflops": ours["core_gflops"], "issue_slots_per_s": ours["issue_slots_per_s"]}
    if peers:
        fastest = min(peers, key=lambda name: peers[name]["cpu"])
        peer = peers[fastest]
        row.update(peer=frames * peer["cpu"], ratio=frames * peer["cpu"] / ours["cpu"], peer_wall=frames * peer["wall"],
                   wall_ratio=frames * peer["wall"] / ours["wall"], peer_ranks=1, peer_memory_mb=peer["memory_mb"],
                   memory_ratio=ours["memory_mb"] / peer["memory_mb"], peer_version=peer["version"],
                   peers={name: peers[name]["cpu"] for name in peers})
    return row


def measured(a, system):
    rows = []
    for precision in PRECISIONS:
        peers = {}
        for backend in a.backends:
            peer = run_peer(a, backend, precision, system)
            if peer:
                peers[backend] = peer
                show(precision, 1, backend, peer)
        for ranks in a.ranks:
            for sharing in ["frames", "atoms"] if ranks > 1 else ["frames"]:
                ours = run_ours(a, precision, system, ranks, sharing)
                show(precision, ranks, "ours" if ranks == 1 else f"ours, sharing {sharing}", ours)
                rows.append(case_row(precision, ranks, sharing, ours, peers))
    most = max((row["issue_slots_per_s"] for row in rows), default=1)
    for row in rows:  # of the most that were seen: few say that a neighbour took them
        row["issue_slots"] = row["issue_slots_per_s"] / most
    return rows


def remarks(rows):
    """Ratios, and how well two ranks are used: frames a second against one rank's, for each rank."""
    one = {row["precision"]: row for row in rows if row["ranks"] == 1}
    for row in rows:
        if row["ratio"]:
            print(f"{row['case']}: {row['ratio']:.2f} times the faster peer by CPU time, {row['wall_ratio']:.2f} by wall "
                  f"time, {row['memory_ratio']:.2f} of its memory; {100 * row['issue_slots']:.0f} % of the slots of issue")
        alone = one.get(row["precision"])
        if row["ranks"] > 1 and alone:
            for key, word in (("ours", "CPU"), ("ours_wall", "wall")):
                row[f"efficiency_{word.lower()}"] = alone[key] * row["batch"] / row["ranks"] / row[key]
            print(f"{row['case']}: efficiency {row['efficiency_wall']:.2f} by wall time, {row['efficiency_cpu']:.2f} by CPU "
                  "time")
    if rows:
        print(f"neighbours of a frame, made once: {1e3 * rows[0]['ours_frame_seconds_once']:.1f} ms")


def main():
    a = arguments()
    system = a.data.absolute() if a.data else made_system(a.work / "water192")
    print(f"ms a step, least and median of the steps; CPU time of the slowest rank; load average {os.getloadavg()[0]:.1f}")
    print(HEADER, flush=True)
    rows = measured(a, system)
    remarks(rows)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
