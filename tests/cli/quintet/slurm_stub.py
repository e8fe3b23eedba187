#!/usr/bin/env python3
"""A stub of Slurm's sbatch, squeue and scancel, called by these names: no Slurm, only what `quintet campaign` says to one.

Jobs are files in $SLURM_STUB. A job's script runs at once, or once those it depends on have ended; array tasks run one after another,
each when those of its number that it depends on have.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HOME = pathlib.Path(os.environ["SLURM_STUB"])


def read(job):
    return json.loads((HOME / f"{job}.json").read_text())


def state_of(job):
    return read(job)["state"]


def write(job, state, codes=()):
    partial = HOME / f"{job}.{os.getpid()}"
    partial.write_text(json.dumps({"state": state, "codes": list(codes)}))
    partial.rename(HOME / f"{job}.json")


def dependencies(words):
    """Of "afterany:1:2,aftercorr:3" and "aftercorr:3?aftercorr:4": jobs to end, and jobs one of whose tasks must end well."""
    text = next((word.removeprefix("--dependency=") for word in words if word.startswith("--dependency=")), "")
    after, tasks = [], []
    for part in filter(None, re.split("[,?]", text)):
        kind, *jobs = part.split(":")
        {"afterany": after, "aftercorr": tasks}[kind].extend(jobs)
    assert "?" not in text or not after
    for job in after + tasks:
        state_of(job)
    return after, tasks


def may_begin(task, others):
    """Wait for the tasks of this number; False where none of them has ended well."""
    while True:
        codes = [read(other)["codes"] for other in others]
        ended = [each[task] for each in codes if len(each) > task]
        if not others or 0 in ended:
            return True
        if len(ended) == len(others):
            return False
        time.sleep(0.05)


def sbatch(words):
    after, tasks = dependencies(words)
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
        codes = []
        for task in range(int(array.group(1)) + 1) if array else [None]:
            environment = dict(os.environ) if task is None else {**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}
            codes.append(subprocess.call(["bash", words[-1]], env=environment) if may_begin(task, tasks) else -1)
            write(job, "RUNNING", codes)
        write(job, "COMPLETED", codes)
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
