#!/usr/bin/env python3
"""Tables of a run that is killed inside a checkpoint, then once more before the next, are those of the whole run.

killed_twice.py RANKS INTERVAL_KEY LAST=VALUE TABLE_OR_FILE[,...] PROGRAM WORDS... with the key of the steps between checkpoints
and a setting by which a run goes on for minutes. Three chains from one whole run: its newest checkpoint is lost (a kill between the flush of run.h5 and the
checkpoint's name), a restart is killed (-9) before its first checkpoint, a restart goes to the end; then the same after
`--restart FILE` of an older checkpoint; then without run.h5, which must go on and say so. Standard library and h5diff.
"""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import time

PATIENCE_S = float(os.environ.get("PATIENCE_S", "60"))


def fail(text):
    sys.exit(f"FAILED: {text}")


def command(ranks, words, output, *more):
    words = [*words, "--output", output, "--quiet", "--threads", "1", *more]
    return words if ranks == 1 else ["mpirun", "--oversubscribe", "-n", str(ranks), *words]


def run(ranks, words, output, *more):
    done = subprocess.run(command(ranks, words, output, *more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=PATIENCE_S)
    if done.returncode != 0:
        fail(f"{output} {' '.join(more)}: exit code {done.returncode}\n{done.stdout}")
    return json.load(open(f"{output}/summary.json"))


def stat_of(pid):
    """State and parent of a process; nothing of one that is gone."""
    try:
        state, parent = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[:2]
        return state, int(parent)
    except OSError:
        return None


def is_alive(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def descendants(pid):
    """mpirun gives its ranks groups of their own: they are found by their parents."""
    parents = {int(name): stat_of(name) for name in os.listdir("/proc") if name.isdigit()}
    found = [pid]
    for one in found:
        found += [child for child, stat in parents.items() if stat and stat[1] == one]
    return found[1:]


def kill_before_checkpoint(ranks, words, output, endless, *more):
    """Restart a run without an end or checkpoints, kill all its ranks once steps are under way."""
    progress = f"{output}/progress.json"
    if os.path.exists(progress):
        os.remove(progress)
    job = subprocess.Popen(command(ranks, words, output, *endless, *more), stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE_S
    while not os.path.exists(progress):
        if job.poll() is not None or time.monotonic() > end:
            fail(f"{output}: did not come to its first step ({job.poll()})")
        time.sleep(0.01)
    time.sleep(0.15)
    if job.poll() is not None:
        fail(f"{output}: ended before it could be killed: {job.returncode}")
    ranks = descendants(job.pid)
    for pid in [job.pid, *ranks]:
        with contextlib.suppress(ProcessLookupError):  # mpirun's end may have ended it
            os.kill(pid, 9)
    job.wait()
    while any(is_alive(pid) for pid in ranks):
        time.sleep(0.01)


def compare(whole, other, tables, summary):
    for table in tables:
        file, member = (table, "/") if table.endswith(".h5") else ("run.h5", f"/{table}")
        told = subprocess.run(["h5diff", "--exclude-attribute", "/date", "--exclude-attribute", "/run", f"{whole}/{file}",
                               f"{other}/{file}", member, member], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if told.returncode != 0:
            fail(f"{other}: {table} differs from the whole run's\n{told.stdout[:2000]}")
    if "lost" in summary:
        fail(f"{other}: lost {summary['lost']}")


def main(ranks, interval, last, tables, words):
    ranks, tables = int(ranks), tables.split(",")
    endless = ["--set", f"{interval}=1000000000", "--set", last, "--restart-with-changes"]
    for folder in ("whole", "twice", "older", "bare"):
        shutil.rmtree(folder, ignore_errors=True)
    run(ranks, words, "whole")
    newest = sorted(glob.glob("whole/checkpoints/step_*.h5"))
    if len(newest) < 2:
        fail("the whole run has fewer than two checkpoints")

    shutil.copytree("whole", "twice")
    os.remove(newest[-1].replace("whole", "twice", 1))
    kill_before_checkpoint(ranks, words, "twice", endless, "--restart", "auto")
    compare("whole", "twice", tables, run(ranks, words, "twice", "--restart", "auto"))

    shutil.copytree("whole", "older")
    kill_before_checkpoint(ranks, words, "older", endless, "--restart", newest[-2].replace("whole", "older", 1))
    compare("whole", "older", tables, run(ranks, words, "older", "--restart", "auto"))

    shutil.copytree("whole", "bare")
    os.remove("bare/run.h5")
    if sorted(run(ranks, words, "bare", "--restart", "auto").get("lost", [])) != sorted(t for t in tables if not t.endswith(".h5")):
        fail("a restart without run.h5 does not say which tables are lost")


main(*sys.argv[1:5], sys.argv[5:])
