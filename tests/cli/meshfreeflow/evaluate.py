#!/usr/bin/env python3
"""Helpers of evaluate.txt: numbers of summary.json.

Usage: evaluate.py has RUN KEY... | lacks RUN KEY... | same RUN RUN KEY... | differs RUN RUN KEY... |
       equal VALUE TOLERANCE RUN KEY... | agree RUN RUN TOLERANCE | below RUN KEY BOUND | near RUN KEY KEY TOLERANCE |
       between RUN RUN KEY... | less RUN KEY KEY
"""
import json
import math
import os
import sys


def summary(run):
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
        return json.load(stream)


def has(run, *keys):
    values = summary(run)
    print([(key, values.get(key)) for key in keys])
    return all(isinstance(values.get(key), (int, float)) and math.isfinite(values[key]) for key in keys)


def lacks(run, *keys):
    return not any(key in summary(run) for key in keys)


def same(run, other, *keys):
    return all(summary(run)[key] == summary(other)[key] for key in keys)


def below(run, key, bound):
    print(summary(run)[key])
    return abs(summary(run)[key]) < float(bound)


def less(run, key, other):
    a, b = summary(run)[key], summary(run)[other]
    print(a, b)
    return a < b


def near(run, key, other, tolerance):
    a, b = summary(run)[key], summary(run)[other]
    print(a, b)
    return abs(a - b) < float(tolerance) * abs(a)


def between(run, other, *keys):
    """Walls that are read off the data are as good as the extrapolation: two per cent here."""
    print([(summary(run)[key], summary(other)[key]) for key in keys])
    return all(abs(summary(run)[key] - summary(other)[key]) < 0.02 * abs(summary(run)[key]) for key in keys)


def differs(run, other, *keys):
    return all(abs(summary(run)[key] - summary(other)[key]) > 1e-4 for key in keys)


def equal(value, tolerance, run, *keys):
    values = summary(run)
    print([(key, values[key]) for key in keys])
    return all(abs(values[key] - float(value)) < float(tolerance) for key in keys)


def agree(run, other, tolerance):
    """All that was measured, timings aside."""
    ours, theirs = summary(run), summary(other)
    keys = [key for key in ours if key.startswith(("truth_", "ours_", "trilinear_", "independent"))]
    worst = max(abs(ours[key] - theirs[key]) / max(abs(ours[key]), 1e-3) for key in keys)
    print(worst)
    return len(keys) > 40 and worst < float(tolerance)


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
