#!/usr/bin/env python3
"""Helpers of search.txt.

Usage: search_helper.py above RUN KEY VALUE: of summary.json
       search_helper.py count RUN STATE N: trials of a search in this state
       search_helper.py wait_for RUN N: until N trials of a running search have ended
       search_helper.py kept STORE STORE: trials that had ended in the first are the same in the second
"""
import csv
import os
import subprocess
import sys
import time

from helper import summary


def above(run, key, value):
    print(summary(run)[key])
    return summary(run)[key] > float(value)


def count(run, state, n):
    with open(os.path.join(run, "trials.csv"), encoding="utf-8") as stream:
        states = [row["state"] for row in csv.DictReader(stream)]
    print({name: states.count(name) for name in set(states)})
    return states.count(state) == int(n)


def column(store, name):
    """Numbers of a dataset, by h5dump: the store may be under way."""
    unlocked = dict(os.environ, HDF5_USE_FILE_LOCKING="FALSE")
    dump = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-d", name, store], capture_output=True, text=True, env=unlocked)
    begin = dump.stdout.find("DATA {")
    return dump.stdout[begin + 6:dump.stdout.find("}", begin)].replace(",", " ").split() if begin >= 0 else []


def wait_for(run, n):
    end = time.time() + float(os.environ.get("PATIENCE_S", 120)) / 2
    while time.time() < end and column(os.path.join(run, "trials.h5"), "state").count("2") < int(n):
        time.sleep(0.05)
    return True


def kept(store, later):
    states, after = column(store, "state"), column(later, "state")
    ended = [i for i, state in enumerate(states) if state in ("2", "3", "4")]
    print(len(ended), "had ended")

    def rows(path, name):
        values = column(path, name)
        width = len(values) // len(column(path, "state"))
        return [values[i * width:(i + 1) * width] for i in ended]

    return len(ended) >= 6 and all(rows(store, name) == rows(later, name) for name in ("state", "genes", "numbers", "curve"))


if __name__ == "__main__":
    sys.exit(0 if globals()[sys.argv[1]](*sys.argv[2:]) else 1)
