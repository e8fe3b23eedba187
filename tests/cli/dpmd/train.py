#!/usr/bin/env python3
"""What the cases of train.txt need besides dpmd: odd data, comparisons. Standard library only."""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOLID = os.path.join(HERE, "../../../inputs/dpmd/copper/data/train_solid32")


def fail(text):
    sys.exit(f"FAILED: {text}")


def write_npy(path, shape, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}d", *values))


def atoms(frame):
    """Eight atoms of a stretched cube, a little displaced; some forces."""
    sites = [(2.3 * (x + 0.01 * frame), 2.4 * y, 2.5 * z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    return [c for site in sites for c in site], [0.01 * ((7 * i + frame) % 5 - 2) for i in range(24)]


def system(name, frames=4, skip=(), types=(0,) * 8, names=("Cu",), scale=1.0, **replace):
    """A DeePMD folder; `replace` gives (shape, values) of a file in another form."""
    os.makedirs(f"{name}/set.000")
    with open(f"{name}/type.raw", "w") as file:
        file.write("\n".join(map(str, types)) + "\n")
    with open(f"{name}/type_map.raw", "w") as file:
        file.write("\n".join(names) + "\n")
    both = [atoms(f) for f in range(frames)]
    arrays = {
        "coord": ((frames, 24), [c for x, _ in both for c in x]),
        "force": ((frames, 24), [scale * c for _, f in both for c in f]),
        "box": ((frames, 9), [4.6, 0, 0, 0, 4.8, 0, 0, 0, 5.0] * frames),
        "energy": ((frames,), [-28.0 - 0.1 * f for f in range(frames)]),
    }
    arrays.update(replace)
    for file, (shape, values) in arrays.items():
        if file not in skip:
            write_npy(f"{name}/set.000/{file}.npy", shape, values)


def inputs():
    """Write the odd systems that the cases name."""
    nan = float("nan")
    system("good")
    system("wrong_shape", force=((4, 21), [0.0] * 84))
    system("nan_force", force=((4, 24), [0.0] * 30 + [nan] + [0.0] * 65))
    system("nan_energy", energy=((4,), [-28.0, nan, -28.0, -28.0]))
    system("no_energy", skip=("energy",))
    system("no_set")
    shutil.rmtree("no_set/set.000")
    system("gold", names=("Au",))
    system("type_out_of_range", types=(0,) * 7 + (3,))
    system("large_forces", scale=1e6)
    system("unlabelled", skip=("energy", "force"))
    system("short", energy=((3,), [-28.0] * 3))


def rows(path):
    """lcurve.csv as numbers."""
    lines = open(path).read().splitlines()
    return lines[0].split(","), [[float(word) for word in line.split(",")] for line in lines[1:]]


def curves_agree(a, b, tolerance):
    """Two learning curves to a relative tolerance."""
    (names, ours), (_, theirs) = rows(a), rows(b)
    if len(ours) != len(theirs) or len(ours) < 3:
        fail(f"{a} has {len(ours)} rows, {b} {len(theirs)}")
    for name, *columns in zip(names, zip(*ours), zip(*theirs)):
        for x, y in zip(*columns):
            if not abs(x - y) <= float(tolerance) * abs(y) and not (x != x and y != y):
                fail(f"{name}: {x} and {y}")


def learns(folder, least):
    """The loss on frames held out falls by this factor; all files agree on the number of rows."""
    names, values = rows(f"{folder}/lcurve.csv")
    loss = [row[names.index("loss_validation")] for row in values]
    if not loss[0] > float(least) * loss[-1]:
        fail(f"the loss falls from {loss[0]} to {loss[-1]} only")
    deepmd = [line.split() for line in open(f"{folder}/lcurve.out") if not line.startswith("#")]
    if [int(row[0]) for row in deepmd] != [int(row[0]) for row in values]:
        fail("lcurve.out and lcurve.csv have other steps")
    header = open(f"{folder}/lcurve.out").readline().split()[1:]
    if header != ["step", "rmse_val", "rmse_trn", "rmse_e_val", "rmse_e_trn", "rmse_f_val", "rmse_f_trn",
                  "rmse_v_val", "rmse_v_trn", "lr"]:
        fail(f"the columns of lcurve.out are {header}")
    summary = json.load(open(f"{folder}/summary.json"))
    for key in ("energy_rmse_mev_per_atom", "force_rmse_ev_per_angstrom", "virial_rmse_mev_per_atom",
                "training_force_rmse_ev_per_angstrom", "seconds_per_step", "frames_per_s", "atoms_per_s"):
        if not summary[key] > 0:
            fail(f"{key} = {summary[key]}")


def rates(path):
    """The learning rates are those of train_schedule.yaml: a line, then half a wave."""
    names, values = rows(path)
    last = int(values[-1][0])
    for row in values:
        t = row[0] - 1
        expected = 0.02 * (0.1 + 0.09 * t) if t < 10 else 1e-4 + (0.02 - 1e-4) * (1 + math.cos(math.pi * (t - 10) / (last - 10))) / 2
        if abs(row[names.index("learning_rate")] - expected) > 1e-8:
            fail(f"step {t}: the rate is {row[names.index('learning_rate')]}, not {expected}")


def ended_early(folder, interval, patience):
    """A run ended so many looks after its best step."""
    summary = json.load(open(f"{folder}/summary.json"))
    done, best = summary["training_steps"], summary["best_step"]
    if summary["ended_by_early_stopping"] != 1 or done - best != int(interval) * int(patience) or not 0 < best < done < 4000:
        fail(f"{summary}")


def other_model(a, b):
    """Two .dp files of which some arrays differ."""
    if subprocess.run(["h5diff", "-q", a, b]).returncode == 0:
        fail(f"{a} and {b} are the same")


def planned(plan, row, folder, steps):
    """A row of a plan has the bytes that a run sent in each step, and those that it holds."""
    row = next(r for r in json.load(open(plan))["rows"] if r["decomposition"] == row)
    run = json.load(open(f"{folder}/summary.json"))
    held = sum(run[key] for key in ("parameter_value_bytes", "gradient_array_bytes", "optimiser_state_bytes", "slice_workspace_bytes"))
    if not row["halo_bytes"] * int(steps) == run["training_bytes_sent"] > 0 or row["divided_bytes"] != held:
        fail(f"planned {row}; the run sent {run['training_bytes_sent']} and holds {held}")


def planned_tiers(plan, row, folder):
    """A row of a plan has the bytes of each tier and category that a run held at most."""
    row = next(r for r in json.load(open(plan))["rows"] if r["decomposition"] == row)
    run = json.load(open(f"{folder}/summary.json"))
    keys = [key for key in row if key.startswith(("host_bytes_", "file_bytes_"))]
    if any(row[key] != run.get(key, 0) for key in keys) or len(keys) != 6 or not row["file_bytes_optimiser"] > 0:
        fail(f"planned {row}; the run held {[(key, run.get(key, 0)) for key in keys]}")


def same_model(a, b):
    """Two .dp files with the same arrays to the bit (the date in their header differs)."""
    listing = subprocess.run(["h5dump", "-n", a], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"dataset\s+(/\S+)", listing)
    differing = [name for name in names if subprocess.run(["h5diff", "-q", a, b, name]).returncode != 0]
    if len(names) < 5 or differing:
        fail(f"{a} and {b}: of {len(names)} arrays {differing} differ")


globals()[sys.argv[1]](*sys.argv[2:])
