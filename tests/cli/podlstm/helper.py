#!/usr/bin/env python3
"""Helpers of forecast.txt: numbers in summary.json and values in netCDF files.

Usage: helper.py has RUN KEY... | lacks RUN KEY... | same RUN RUN KEY... | close RUN RUN TOLERANCE KEY... | whole RUN
                 | own_r2 RUN MODES [RECORD]: R2 of Nino 3.4 and of its mean, from the fields themselves
                 | below RUN KEY VALUE | says RUN KEY TEXT | equal RUN KEY KEY
                 | axis RUN NAME FIRST LAST N: of modes.h5 | fewer_windows RUN RUN: the second trains on fewer
                 | joint_fields RUN MODES: fields of forecast.nc are background and modes of each variable
                 | leads RUN RUN N: the second has the first N steps
                 | same_model RUN RUN | same_state RUN RUN STEP: checkpoints but for times
                 | poison PATH TARGET DATASET VALUE: a copy with its first number replaced, sealed again
                 | warmer PATH POINTS: a file of make_records.py oisst, 0.5 degC warmer
                 | cloud PATH TARGET POINTS TIMES: one of era5 without some of its values
                 | planned PLAN ROW RUN EPOCHS: bytes sent and held are those of a plan's row
                 | plan_of_graph PLAN RUN...: memory of its first rows is that of these runs, all but the last row fit the graph
                 | plan_of_origins WHOLE NEEDED
                 | killed RANKS[,RANKS] WHOLE OUTPUT KEY=VALUE...
"""
import contextlib
import json
import math
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
    dump = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-d", name, path], capture_output=True, text=True).stdout
    begin = dump.find("DATA {") + 6
    return [float(word) for word in dump[begin:dump.find("}", begin)].replace(",", " ").split()]


def own_r2(run, modes, record=None):
    """R2 of the box and of its mean, of fields rebuilt point by point: 1 - squares of errors/squares about the mean, the mean over leads."""
    lat, lon, mask = (numbers(modes, name) for name in ("lat", "lon", "mask"))
    sea = [(y, x) for i, y in enumerate(lat) for j, x in enumerate(lon) if mask[i * len(lon) + j] == 1]
    box = [k for k, (y, x) in enumerate(sea) if -5 <= y <= 5 and 190 <= x <= 240]
    weight = [math.cos(math.radians(sea[k][0])) for k in box]
    shapes, mean = numbers(modes, "modes"), numbers(modes, "mean")
    n_modes = len(shapes) // len(sea)
    came, ours, days = (numbers(f"{run}/run.h5", name) for name in ("forecasts/truth", "forecasts/ours", "time"))

    def of_modes(a, row):
        return [sum(a[row * n_modes + m] * shapes[m * len(sea) + k] for m in range(n_modes)) for k in box]

    if record:
        cycle, grid_lat, grid_lon = numbers(modes, "cycle"), numbers(record, "lat"), numbers(record, "lon")
        stored, times = numbers(record, "sst"), numbers(record, "time")
        scale = struct.unpack("f", struct.pack("f", 0.001))[0]  # as the file has it
        columns = [grid_lat.index(sea[k][0]) * len(grid_lon) + [x % 360 for x in grid_lon].index(sea[k][1]) for k in box]

    def fields(row):
        """Truth and forecast, both as departures from the modes' background."""
        if not record:
            return of_modes(came, row), of_modes(ours, row)
        first = times.index(days[row]) * len(grid_lat) * len(grid_lon)
        phase = 2 * math.pi * days[row] / 365.2425
        background = [mean[k] + sum(cycle[(2 * h + i) * len(sea) + k] * wave((h + 1) * phase)
                                    for h in range(len(cycle) // len(sea) // 2) for i, wave in ((0, math.cos), (1, math.sin)))
                      for k in box]
        return [scale * stored[first + c] + 10 - b for c, b in zip(columns, background)], of_modes(ours, row)

    key = "field_nino_3_4" if record else "nino_3_4"
    n_leads = sum(1 for name in summary(run) if re.fullmatch(key + "_rmse_lead_\\d+", name))
    pairs = [fields(row) for row in range(len(days))]
    found = []
    for is_mean in (False, True):
        total = 0.0
        for lead in range(n_leads):
            rows = range(lead, len(days), n_leads)
            truths, errors = [], []
            for row in rows:
                t, f = pairs[row]
                e = [b - a for a, b in zip(t, f)]
                if is_mean:
                    t, e = ([sum(w * v for w, v in zip(weight, values)) / sum(weight)] for values in (t, e))
                truths.append(t)
                errors.append(e)
            w = [1.0] if is_mean else weight
            middle = [sum(t[p] for t in truths) / len(truths) for p in range(len(w))]
            error = sum(w[p] * e[p] ** 2 for e in errors for p in range(len(w)))
            total += 1 - error / sum(w[p] * (t[p] - middle[p]) ** 2 for t in truths for p in range(len(w)))
        found.append(total / n_leads)
    told = [summary(run)[key + name] for name in ("_r2", "_mean_r2")]
    print(found, told)
    return all(abs(a - b) < 1e-8 for a, b in zip(found, told)) and abs(told[0] - summary(run)["r2"]) > 1e-3


def leads(run, other, n):
    """The second forecast has the first n steps of the first: [mode, time]."""
    whole, part, n = numbers(f"{run}/forecast.nc", "a"), numbers(f"{other}/forecast.nc", "a"), int(n)
    n_modes = len(part) // n
    steps = len(whole) // n_modes
    print(n_modes, steps, n)
    first = [whole[mode * steps + step] for mode in range(n_modes) for step in range(n)]
    return len(part) == n_modes * n > 0 and part == first and summary(other)["leads"] == n


def joint_fields(run, modes):
    """Each variable of forecast.nc, at its points of the sea, is background + sum_m a_m mode_m, point by point."""
    a, days = numbers(f"{run}/forecast.nc", "a"), numbers(f"{run}/forecast.nc", "time")
    n_modes = len(a) // len(days)
    for name, group in (("sst", ""), ("sea_level", "also/sea_level/")):
        mask, mean, shapes, cycle = (numbers(modes, group + what) for what in ("mask", "mean", "modes", "cycle"))
        stored, n = numbers(f"{run}/forecast.nc", name), len(mean)
        sea, worst, size = [i for i, m in enumerate(mask) if m == 1], 0.0, 0.0
        for t, day in enumerate(days):
            phase = 2 * math.pi * day / 365.2425
            season = [wave((h + 1) * phase) for h in range(len(cycle) // n // 2) for wave in (math.cos, math.sin)]
            for k, cell in enumerate(sea):
                value = mean[k] + sum(s * cycle[i * n + k] for i, s in enumerate(season))
                value += sum(a[m * len(days) + t] * shapes[m * n + k] for m in range(n_modes))
                worst, size = max(worst, abs(value - stored[t * len(mask) + cell])), max(size, abs(value))
        print(name, n, worst, size)
        if not (n == len(sea) > 100 and worst <= 1e-6 * size and size > 0):
            return False
    return True


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
    try:
        return [int(word) for word in open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8").read().split()]
    except OSError:  # it has just ended
        return []


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


def plan_of_graph(plan, *runs):
    with open(plan, encoding="utf-8") as stream:
        rows = json.load(stream)["rows"]
    memory = [(row["memory_bytes"] / 1e6, summary(run)["memory_peak_mb_per_rank"]) for row, run in zip(rows, runs)]
    print(memory, [row["impossible"] for row in rows])
    return (all(run <= planned <= 1.5 * run for planned, run in memory)
            and rows[0]["halo_bytes"] == 0 < rows[1]["halo_bytes"] < rows[2]["halo_bytes"] * rows[2]["ranks"]
            and ["share out" in row["impossible"] for row in rows] == [False] * (len(rows) - 1) + [True])


def plan_of_origins(whole, needed):
    """Ranks that look at what they need send less of the graph; both share out work, and sum gradients."""
    halos = []
    for plan in (whole, needed):
        with open(plan, encoding="utf-8") as stream:
            rows = json.load(stream)["rows"]
        print([(row["decomposition"], row["halo_bytes"], row["compute_s"], row["sums_s"]) for row in rows])
        halos.append([row["halo_bytes"] for row in rows])
        if not (rows[0]["compute_s"] > rows[1]["compute_s"] and rows[1]["sums_s"] > rows[0]["sums_s"] == 0):
            return False
    return halos[0][0] == halos[1][0] == 0 and all(0 < few < many for many, few in list(zip(*halos))[1:])


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
                with contextlib.suppress(ProcessLookupError):  # the end of another may have ended it
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


def warmer(path, points):
    """A final analysis instead of a preliminary one: a file of make_records.py oisst with every temperature 0.5 degC higher."""
    n = int(points)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    begin = len(data) - 2 * (2 * n + -2 * n % 4)  # sst, then ice
    values = struct.unpack_from(f">{n}h", data, begin)
    struct.pack_into(f">{n}h", data, begin, *(v if v == -999 else v + 50 for v in values))
    with open(path, "wb") as file:
        file.write(data)
    return True


def cloud(path, target, points, times):
    """A file of make_records.py era5 without values over every other point at every fifth time."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    n = int(points)
    begin = len(data) - 4 * n * int(times)
    for t in range(0, int(times), 5):
        for cell in range(0, n, 2):
            struct.pack_into(">f", data, begin + 4 * (t * n + cell), math.nan)
    with open(target, "wb") as file:
        file.write(data)
    return True


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
