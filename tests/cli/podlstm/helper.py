#!/usr/bin/env python3
"""Helpers of forecast.txt: numbers in summary.json and values in netCDF files.

Usage: helper.py has RUN KEY... | lacks RUN KEY... | same RUN RUN KEY... | close RUN RUN TOLERANCE KEY... | whole RUN
                 | below RUN KEY VALUE | says RUN KEY TEXT | equal RUN KEY KEY
                 | axis RUN NAME FIRST LAST N: of modes.h5 | fewer_windows RUN RUN: the second trains on fewer
                 | leads RUN RUN N: the second has the first N steps
                 | same_model RUN RUN | same_state RUN RUN STEP: checkpoints but for times
                 | poison PATH TARGET DATASET VALUE: a copy with its first number replaced, sealed again
                 | planned PLAN ROW RUN EPOCHS: bytes sent and held are those of a plan's row | killed RANKS[,RANKS] WHOLE OUTPUT KEY=VALUE...
"""
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def summary(run):
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
        return json.load(stream)


def has(run, *keys):
    return all(isinstance(summary(run)[key], (int, float)) for key in keys)


def lacks(run, *keys):
    return not any(key in summary(run) for key in keys)


def same(run, other, *keys):
    ours, theirs = summary(run), summary(other)
    print([(ours[key], theirs[key]) for key in keys])
    return all(ours[key] == theirs[key] for key in keys)


def close(run, other, tolerance, *keys):
    ours, theirs = summary(run), summary(other)
    print([(ours[key], theirs[key]) for key in keys])
    return all(abs(ours[key] - theirs[key]) <= float(tolerance) * abs(ours[key]) for key in keys)


def whole(run):
    """Errors of whole fields are those in the space of the modes and what the modes leave out, at right angles."""
    numbers = summary(run)
    print(numbers["rmse"], numbers["truncation_rmse"], numbers["field_rmse"])
    expected = (numbers["rmse"] ** 2 + numbers["truncation_rmse"] ** 2) ** 0.5
    return abs(numbers["field_rmse"] - expected) < 1e-9 * expected and numbers["truncation_rmse"] > 0


def below(run, key, value):
    print(summary(run)[key])
    return summary(run)[key] < float(value)


def says(run, key, text):
    print(summary(run)[key])
    return summary(run)[key] == text


def equal(run, key, other):
    print(summary(run)[key], summary(run)[other])
    return abs(summary(run)[key] - summary(run)[other]) <= 1e-12 * abs(summary(run)[key])


def axis(run, name, first, last, n):
    dump = subprocess.run(["h5dump", "-y", "-w", "0", "-d", name, os.path.join(run, "modes.h5")], capture_output=True, text=True).stdout
    begin = dump.find("DATA {") + 6
    values = [float(word) for word in dump[begin:dump.find("}", begin)].replace(",", " ").split()]
    print(values)
    return (values[0], values[-1], len(values)) == (float(first), float(last), int(n)) and values == sorted(values)


def numbers(path, name):
    dump = subprocess.run(["h5dump", "-y", "-w", "0", "-d", name, path], capture_output=True, text=True).stdout
    begin = dump.find("DATA {") + 6
    return [float(word) for word in dump[begin:dump.find("}", begin)].replace(",", " ").split()]


def leads(run, other, n):
    """The second forecast has the first n steps of the first: [mode, time]."""
    whole, part, n = numbers(f"{run}/forecast.nc", "a"), numbers(f"{other}/forecast.nc", "a"), int(n)
    n_modes = len(part) // n
    steps = len(whole) // n_modes
    print(n_modes, steps, n)
    first = [whole[mode * steps + step] for mode in range(n_modes) for step in range(n)]
    return len(part) == n_modes * n > 0 and part == first and summary(other)["leads"] == n


def fewer_windows(run, other):
    n, fewer = (int(summary(path)["what"]["training"].split()[0]) for path in (run, other))
    print(n, fewer)
    return 0 < fewer < n


def same_model(run, other):
    """Every number of two model.h5 the same to the bit."""
    names = ("parameters", "base_weights", "base_offset", "climatology", "input_scale", "output_scale")
    return all(subprocess.run(["h5diff", f"{run}/model.h5", f"{other}/model.h5", name, name]).returncode == 0
               for name in names)


def children(pid):
    return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8").read().split()]


def same_state(run, other, step):
    files = [os.path.join(one, "checkpoints", f"step_{int(step):012}.h5") for one in (run, other)]
    done = subprocess.run(["h5diff", "-v", *files, "/training", "/training"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    what, found = "", {}
    for line in done.stdout.splitlines():
        if line.startswith(("dataset:", "attribute:", "group")):
            what = line
        elif line.endswith("differences found"):
            found[what] = int(line.split()[0])
    differ = [one for one, n in found.items() if n > 0 and "/cpu_s>" not in one]
    print(len(found), differ)
    return not differ and sum("moment2>" in one for one in found) > 0


def planned(plan, row, run, epochs):
    with open(plan, encoding="utf-8") as stream:
        row = next(one for one in json.load(stream)["rows"] if one["decomposition"] == row)
    told = summary(run)
    held = {key: (row[key], told.get(key, 0)) for key in row if key.startswith(("host_bytes_", "file_bytes_"))}
    print(held, row["halo_bytes"], told["training_bytes_sent"])
    return (len(held) == 6 and all(ours == theirs for ours, theirs in held.values()) and held["file_bytes_optimiser"][0] > 0
            and row["halo_bytes"] * int(epochs) == told["training_bytes_sent"] > 0)


def killed(ranks, whole, output, *settings):
    """Train, kill -9 at random moments, go on, until it is done; the model is that of the run left alone."""
    words = ["podlstm", "train", f"{HERE}/train.yaml", "--output", output, "--restart", "auto", "--threads", "1"]
    for setting in settings:
        words += ["--set", setting]
    random.seed(ranks)
    kills = 0
    for attempt in range(40):
        number = ranks.split(",")[attempt % len(ranks.split(","))]
        launcher = ["mpirun", "--oversubscribe", "-n", number] if int(number) > 1 else []
        process = subprocess.Popen([*launcher, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            # Give it longer each time, so that a slow machine gets to an end, too.
            text, _ = process.communicate(timeout=random.uniform(0.5, 1.5) * (1 + kills))
        except subprocess.TimeoutExpired:
            for pid in children(process.pid) if launcher else [process.pid]:
                os.kill(pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        if process.returncode != 0:
            print(text)
            return False
        print(f"{kills} kills")
        return kills > 0 and same_model(whole, output)
    return False


def poison(path, target, dataset, value):
    """What a bit that flips in memory leaves: one number is another, and the file's checksum fits it."""
    sys.path.insert(0, os.path.join(HERE, "../../faults"))
    from xxh64 import xxh64
    layout = subprocess.run(["h5dump", "-H", "-p", "-d", dataset, path], capture_output=True, text=True, check=True).stdout
    offset = int(re.search(r"OFFSET (\d+)", layout).group(1))
    with open(path, "rb") as file:
        data = bytearray(file.read()[:-24])
    data[offset:offset + 8] = struct.pack("<d", float(value))
    checksum = xxh64(struct.pack("<Q", xxh64(bytes(data))))
    with open(target, "wb") as file:
        file.write(data + b"QT_SEAL1" + struct.pack("<QQ", len(data), checksum))
    return True


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
