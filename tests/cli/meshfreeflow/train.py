#!/usr/bin/env python3
"""Helpers of train.txt and train_data.txt: learning curves of `meshfreeflow train`, and data that it should refuse.

Usage: train.py learns RUN SHARE | curves_agree RUN RUN TOLERANCE | spectra_count RUN RUN | starts_lower RUN RUN | planned PLAN STAGE RUN |
       between STAGE STAGE LOG |
       poison FILE FIELD OTHER
"""
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile


def curve(run):
    with open(os.path.join(run, "lcurve.csv"), encoding="utf-8") as stream:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]


def read(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def learns(run, share):
    """The last validation loss of values is below SHARE of the first one."""
    rows = curve(run)
    first, last = rows[0]["validation_values"], rows[-1]["validation_values"]
    print(first, last)
    return last < float(share) * first


def curves_agree(run, other, tolerance):
    """Losses are the same within what the order of sums in float32 makes of l1's signs."""
    ours, theirs = curve(run), curve(other)
    keys = ("training_total", "training_values", "training_residuals")
    worst = max(abs(a[key] - b[key]) / a[key] for a, b in zip(ours, theirs) for key in keys)
    print(worst)
    return len(ours) == len(theirs) > 0 and worst < float(tolerance)


def spectra_count(run, other):
    """Spectra have a loss, which is part of the total; in the other run, which is the same without their weight, they have none."""
    ours, theirs = curve(run), curve(other)
    part = [row["training_total"] - row["training_values"] for row in ours]
    print([row["training_spectra"] for row in ours], part)
    return all(row["training_spectra"] > 0 and of > 0.1 * row["training_spectra"] for row, of in zip(ours, part)) and all(
        row["training_spectra"] == 0 for row in theirs)


def starts_lower(run, other):
    """A training that starts from the end of another one begins below where that one began."""
    return curve(run)[0]["training_values"] < curve(other)[0]["training_values"]


def planned(plan, stage, run):
    """A row of a plan has the bytes that a run sent in each of its 8 steps, and those that it holds."""
    row = next(row for row in read(plan)["rows"] if row["decomposition"] == stage)
    summary = read(os.path.join(run, "summary.json"))
    held = sum(summary[key] for key in ("parameter_value_bytes", "gradient_array_bytes", "optimiser_state_bytes", "slice_workspace_bytes"))
    print(row, summary["training_bytes_sent"], held)
    return row["halo_bytes"] * 8 == summary["training_bytes_sent"] > 0 and row["divided_bytes"] == held


def between(one, other, log):
    """Prints the mean of what two stages take (MB), as a refusal in the log says."""
    with open(log, encoding="utf-8") as stream:
        takes = dict(re.findall(r"(data|stage \d) takes ([\d.]+) MB", stream.read()))
    print((float(takes[one]) + float(takes[other])) / 2)
    return takes[one] != takes[other]


def within(run, budget):
    """Some segments are recomputed, some are not; the peak is within the budget, and what was predicted or up to 15 % less."""
    summary = read(os.path.join(run, "summary.json"))
    predicted, peak = summary["activation_bytes_predicted"], summary["host_bytes_activations"]
    print(predicted, peak, summary["activation_segments_recomputed"])
    return 0 < summary["activation_segments_recomputed"] < 9 and 0.85 * predicted < peak <= predicted <= float(budget)


def swapped_within(run, budget):
    """All segments leave and come back; no more is in memory than the budget, and within 1 % no more than was predicted."""
    summary = read(os.path.join(run, "summary.json"))
    predicted, peak, moved = (summary[key] for key in ("activation_bytes_predicted", "host_bytes_activations", "activation_bytes_swapped"))
    print(predicted, peak, moved)
    return summary["activation_segments_swapped"] == 8 and 0 < peak <= min(float(budget), 1.01 * predicted) and moved > 0


def resident_within(run, least):
    """What the process held at most is what was predicted, 3 % more or 12 % less; tensors were `least` of it (MB)."""
    summary = read(os.path.join(run, "summary.json"))
    predicted, held, counted = summary["memory_peak_mb_predicted"], summary["memory_peak_mb_per_rank"], 1e-6 * summary["host_bytes_activations"]
    print(predicted, held, counted)
    return 0.88 * predicted < held < 1.03 * predicted and counted > float(least)


def poison(path, field, other):
    """A copy of the file in which the number in the middle of a field (of float32, stored as it is) is none."""
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["h5dump", "-d", f"/t0_fields/{field}", "-b", "LE", "-o", raw.name, path], check=True, capture_output=True)
        values = open(raw.name, "rb").read()
    middle = len(values) // 8 * 4
    with open(path, "rb") as stream:
        whole = bytearray(stream.read())
    place = whole.find(values[middle : middle + 64])
    whole[place : place + 4] = struct.pack("<f", float("nan"))
    with open(other, "wb") as stream:
        stream.write(whole[:-24])  # without the seal, which would not agree
    return place > 0


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
