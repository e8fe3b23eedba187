#!/usr/bin/env python3
"""Each limit of `meshfreeflow flow` from both sides: periodic_guards.py FILE

A run under a limit that nothing keeps ends at some step with the number that was measured. A run to that step goes through with a limit
just beside the number, and ends likewise with one just on the other side of it.
"""
import re
import subprocess
import sys

MOST_DT = 2
# key: a limit that nothing keeps, what a run of no guard has, the measured number in the message, its unit, below which it ends
GUARDS = {"spectrum_tail": (1e-12, 1, r"hold (\S+) of a variable's variance, above", 1, 0.999),
          "shrunk_dt": (0.999, 0, r"admits is (\S+), below", MOST_DT, 1.001)}


def flow(limits, steps):
    words = ["meshfreeflow", "flow", sys.argv[1], "--quiet", "--threads", "1", "--output", "guarded", "--overwrite"]
    limits = {**{key: row[1] for key, row in GUARDS.items()}, **limits}
    for setting in [f"time.most_dt={MOST_DT}", "history_interval=1", f"time.steps={steps}", *(f"limits.{key}={value}" for key, value in limits.items())]:
        words += ["--set", setting]
    run = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    return run.returncode, run.stderr


for key, (strict, _, pattern, unit, fails) in GUARDS.items():
    code, said = flow({key: strict}, 10)
    found, step = re.search(pattern, said), re.search(r"step (\d+),", said)
    if code != 3 or not found or not step:
        sys.exit(f"{key}: exit {code}: {said}")
    number, steps = float(found[1]) / unit, int(step[1]) + (key == "shrunk_dt")
    for factor, expected in ((2 - fails, 0), (fails, 3)):
        code, said = flow({key: number * factor}, steps)
        if code != expected:
            sys.exit(f"{key}: {number} at step {steps}, limit {number * factor}: exit {code}, expected {expected}: {said}")
    print(f"{key}: {number:g} at step {steps}")
