#!/usr/bin/env python3
"""Helpers of forecast.txt: numbers in summary.json and values in netCDF files.

Usage: helper.py has RUN KEY... | same RUN RUN KEY... | below RUN KEY VALUE | says RUN KEY TEXT
"""
import json
import os
import sys


def summary(run):
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
        return json.load(stream)


def has(run, *keys):
    return all(isinstance(summary(run)[key], (int, float)) for key in keys)


def same(run, other, *keys):
    ours, theirs = summary(run), summary(other)
    print([(ours[key], theirs[key]) for key in keys])
    return all(ours[key] == theirs[key] for key in keys)


def below(run, key, value):
    print(summary(run)[key])
    return summary(run)[key] < float(value)


def says(run, key, text):
    print(summary(run)[key])
    return summary(run)[key] == text


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
