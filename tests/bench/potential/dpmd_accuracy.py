#!/usr/bin/env python3
"""Accuracy of a Deep Potential after the same CPU time of training: ours beside DeePMD-kit's PyTorch back end, one thread each.

Water of inputs/dpmd/water (GFN1-xTB; training and held-out frames). One input of DeePMD-kit for both, which ours translates:
embedding 25-50-100, axis 16, fitting 240 x 3, rcut 6 angstrom, double precision, a frame per step, rate from 1e-3 to 1e-7.
se_e3 has 4-8-16 and 4.5 angstrom.
A few steps are timed first. Each side then trains as many steps as fit into its seconds, its rate decaying over these.
`dpmd test` judges both models on the held-out frames.

    dpmd_accuracy                      se_e2_a and dpa1 (strip, no attention), 300 CPU s each
    dpmd_accuracy --seconds 60 --descriptors se_e3
    dpmd_accuracy --peer DIR           DeePMD-kit's virtual environment (or $QUINTET_DEEPMD); `no`: ours alone

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

SOURCE, HERE, BIN = Path("@PROJECT_SOURCE_DIR@"), Path(__file__).absolute().parent, Path("@PROJECT_BINARY_DIR@/bin")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "DP_INTRA_OP_PARALLELISM_THREADS": "1",
              "DP_INTER_OP_PARALLELISM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "OMPI_ALLOW_RUN_AS_ROOT": "1",
              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
COMMON = {"rcut": 6.0, "rcut_smth": 0.5, "neuron": [25, 50, 100], "axis_neuron": 16, "precision": "float64", "seed": 1}
DESCRIPTORS = {
    "se_e2_a": {"type": "se_e2_a", "sel": [46, 92], "type_one_side": True, "resnet_dt": False, **COMMON},
    "dpa1": {"type": "dpa1", "sel": 120, "attn_layer": 0, "tebd_dim": 8, "tebd_input_mode": "strip", "smooth_type_embedding": True,
             "type_one_side": False, "set_davg_zero": True, **COMMON},
    # The cost grows as the square of the number of neighbours: a shorter cutoff and smaller networks.
    "se_e3": {"type": "se_e3", "rcut": 4.5, "rcut_smth": 0.5, "sel": [20, 40], "neuron": [4, 8, 16], "resnet_dt": False,
              "precision": "float64", "seed": 1}}
DATA = SOURCE / "inputs/dpmd/water/data"
HELD = [DATA / "valid_400k", DATA / "valid_spread"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=300, help="CPU seconds of training for each side [300]")
    p.add_argument("--descriptors", nargs="+", choices=list(DESCRIPTORS), default=["se_e2_a", "dpa1"])
    p.add_argument("--peer", default=os.environ.get("QUINTET_DEEPMD", str(SOURCE / ".peers" / "deepmd")), metavar="DIR")
    p.add_argument("--work", type=Path, default=HERE / "dpmd_accuracy_work", help="made here")
    a = p.parse_args()
    if a.peer != "no" and not (Path(a.peer) / "bin" / "python").exists():
        p.error(f"no DeePMD-kit in {a.peer}: name its virtual environment with --peer, or train ours alone with --peer no")
    a.work = a.work.absolute()
    return a


def run(command, folder):
    """Output and CPU seconds of a command; its errors end the bench."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **ONE_THREAD))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed (exit {done.returncode}):\n{done.stdout[-3000:]}")
    return done.stdout, sum(getattr(after, key) - getattr(before, key) for key in ("ru_utime", "ru_stime"))


def write_input(folder, descriptor, steps):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "input.json").write_text(json.dumps({
        "model": {"type_map": ["O", "H"], "descriptor": DESCRIPTORS[descriptor],
                  "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": True, "precision": "float64", "seed": 1}},
        "learning_rate": {"type": "exp", "start_lr": 1e-3, "stop_lr": 1e-7, "decay_steps": max(steps // 100, 1)},
        "loss": {"type": "ener", "start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1,
                 "start_pref_v": 0, "limit_pref_v": 0},
        "training": {"training_data": {"systems": [str(DATA / "train_400k"), str(DATA / "train_spread")], "batch_size": 1},
                     "seed": 1, "numb_steps": steps, "disp_freq": max(steps // 10, 1), "save_freq": steps}}, indent=1))


def train_ours(a, folder):
    """The model, and the CPU seconds of the whole command."""
    run([BIN / "dpmd", "train", "--from-deepmd", "input.json", "--output", "case.yaml"], folder)
    _, seconds = run([BIN / "dpmd", "train", "case.yaml", "--threads", "1", "--output", "run"], folder)
    return next((folder / "run").glob("*.dp")), seconds


def train_peer(a, folder):
    _, seconds = run([Path(a.peer) / "bin" / "python", HERE / "deepmd_train_peer.py", "model", "input.json", "model.pth"], folder)
    return folder / "model.pth", seconds


def errors(model, folder):
    """Root mean square errors on the held-out frames: meV per atom, meV/angstrom."""
    run([BIN / "dpmd", "test", "--model", model, *HELD, "--output", "test"], folder)
    found = json.loads((folder / "test.json").read_text())["all"]
    return {"energy": 1e3 * found["energy_per_atom_ev"]["rmse"], "force": 1e3 * found["force_ev_per_angstrom"]["rmse"]}


def side(a, who, train, descriptor):
    """Train for the seconds asked for: the steps are those of two short runs, so that what comes before them is not counted."""
    folder, short = a.work / f"{descriptor}_{who}", (20, 120)
    times = []
    for steps in short:
        write_input(folder, descriptor, steps)
        times.append(train(a, folder)[1])
    each = (times[1] - times[0]) / (short[1] - short[0])
    steps = max(int(a.seconds / each), 1)
    write_input(folder, descriptor, steps)
    model, seconds = train(a, folder)
    return {"who": who, "descriptor": descriptor, "steps": steps, "ms_per_step": 1e3 * each, "cpu_s": seconds,
            "load_average": os.getloadavg()[0], **errors(model, folder)}


def main():
    a = arguments()
    rows = []
    line = "{:>8} {:>8} {:>8} {:>8} {:>9} {:>14} {:>14}"
    print(line.format("model", "who", "CPU s", "steps", "ms a step", "E, meV/atom", "F, meV/A"))
    for descriptor in a.descriptors:
        for who, train in (("ours", train_ours), ("peer", train_peer)):
            if who == "peer" and a.peer == "no":
                continue
            row = side(a, who, train, descriptor)
            rows.append(row)
            print(line.format(descriptor, who, f"{row['cpu_s']:.0f}", row["steps"], f"{row['ms_per_step']:.1f}",
                              f"{row['energy']:.3f}", f"{row['force']:.2f}"), flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
