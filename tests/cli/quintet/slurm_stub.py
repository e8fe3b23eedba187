#!/usr/bin/env python3
"""A stub of Slurm's sbatch, squeue and scancel, called by these names: no Slurm, only what `quintet campaign` says to one.

Jobs are files in $SLURM_STUB. A job's script runs at once, or once those it depends on have ended; array tasks run one after another.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HOME = pathlib.Path(os.environ["SLURM_STUB"])


def state_of(job):
    return json.loads((HOME / f"{job}.json").read_text())["state"]


def write(job, state):
    partial = HOME / f"{job}.{os.getpid()}"
    partial.write_text(json.dumps({"state": state}))
    partial.rename(HOME / f"{job}.json")


def sbatch(words):
    after = next((word.removeprefix("--dependency=afterany:").split(":") for word in words if word.startswith("--dependency=")), [])
    for job in after:
        state_of(job)
    text = pathlib.Path(words[-1]).read_text()
    array = re.search(r"^#SBATCH --array=0-(\d+)$", text, re.MULTILINE)
    job = str(len(list(HOME.glob("*.json"))) + 1)
    write(job, "PENDING")
    print(job, flush=True)
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        while any(state_of(other) != "COMPLETED" for other in after):
            time.sleep(0.05)
        write(job, "RUNNING")
        for task in range(int(array.group(1)) + 1) if array else [None]:
            environment = dict(os.environ) if task is None else {**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}
            subprocess.call(["bash", words[-1]], env=environment)
        write(job, "COMPLETED")
        os._exit(0)


def squeue(words):
    user = any(word.startswith("--user") for word in words)
    for path in sorted(HOME.glob("*.json")):
        state = json.loads(path.read_text())["state"]
        if not user or state != "COMPLETED":
            print(f"{path.stem}|{state}|cpu|1|N/A" if user else f"{path.stem}|{state}|None")


def scancel(words):
    sys.exit(f"the stub cancels nothing: {words}")


globals()[pathlib.Path(sys.argv[0]).name](sys.argv[1:])
