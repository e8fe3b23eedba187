#!/usr/bin/env python3
"""Kills podlstm fit while it makes a cache, at growing moments, until one run ends; then compares its modes with those of the run before,
which had no cache. Usage: killed_cache.py INPUT (in the folder of oisst.txt)"""
import json
import os
import signal
import subprocess
import sys
import time

COMMAND = ["podlstm", "fit", sys.argv[1], "--set", "fields.files=[oisst/oisst-avhrr-v02r01.*.nc]", "--set", "fields.coarsen=2", "--set", "pod.modes=5",
           "--set", "fields.cache=killed.h5", "--threads", "1", "--output", "killed", "--overwrite"]  # a late kill leaves a run

# Processes that are killed themselves: a run outlives its stand-in (../stand_in.c) by an instant.
ITSELF = dict(os.environ, PATH=os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if folder != os.environ.get("STAND_INS")))


def checksum(run):
    with open(os.path.join(run, "summary.json"), encoding="utf-8") as stream:
        return json.load(stream)["modes_checksum"]


def main():
    kills, wait = 0, 0.05
    while True:
        run = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ITSELF)
        deadline = time.monotonic() + wait
        while run.poll() is None and (time.monotonic() < deadline or not os.path.exists("killed.h5")):
            time.sleep(0.005)
        if run.poll() is not None:
            break
        run.send_signal(signal.SIGKILL)
        run.wait()
        kills, wait = kills + 1, 1.5 * wait
    text = run.stdout.read()
    print(f"{kills} kills; then exit {run.returncode}\n{text}")
    return run.returncode == 0 and kills > 0 and checksum("killed") == checksum("fit")


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
