#!/usr/bin/env python3
"""Each limit of `meshfreeflow simulate` from both sides: guards.py FILE

A run under a limit that nothing keeps ends at some step with the number that was measured. A run to that step goes through with a limit
just beside the number, and ends likewise with one just on the other side of it.
"""
import re
import subprocess
import sys

NEVER = {"layer_cells": 0, "kolmogorov_lengths": 1e9, "spectrum_tail": 1e9, "overshoot": 1e9, "budget": 1e9, "divergence": 1e9}
# key: a limit that nothing keeps, the measured number in the message, its unit, further settings
GUARDS = {"layer_cells": (1e3, r"holds (\S+) cells", 1, []), "kolmogorov_lengths": (1e-9, r"is (\S+) Kolmogorov lengths", 1, []),
          "spectrum_tail": (1e-15, r"holds (\S+) % of the variance", 1e-2, []), "budget": (1e-12, r"budget by (\S+) % of", 1e-2, []),
          "overshoot": (1e-9, r"-0.5 ... 0.5, by (\S+), which", 1, ["rayleigh=1e7"]),
          "divergence": (1e-30, r"divergence of a cell is (\S+) \(", 0.05, [])}  # times time.most_dt


def simulate(limits, settings):
    words = ["meshfreeflow", "simulate", sys.argv[1], "--quiet", "--threads", "1", "--output", "guarded", "--overwrite"]
    for setting in ["seeds=[1]", "time.end=40", "limits.judged_from=0", "time.most_dt=0.05", "output.frame_interval=null", *settings,
                    *(f"limits.{key}={value}" for key, value in {**NEVER, **limits}.items())]:
        words += ["--set", setting]
    run = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    return run.returncode, run.stderr


for key, (strict, pattern, unit, settings) in GUARDS.items():
    code, said = simulate({key: strict}, settings)
    found, step = re.search(pattern, said), re.search(r"step (\d+),", said)
    if code != 3 or not found or not step or f"limits.{key}" not in said:
        sys.exit(f"{key}: exit code {code}: {said}")
    value, to_step = float(found[1]) * unit, [*settings, f"time.steps={step[1]}"]
    near = 0.02 if key != "layer_cells" else 0.05  # it is told with two digits
    keeps, breaks = (value * (1 - near), value * (1 + near)) if key == "layer_cells" else (value * (1 + near), value * (1 - near))
    for limit, expected in ((keeps, 0), (breaks, 3)):
        code, said = simulate({key: limit}, to_step)
        print(f"{key}: {value:.3g} measured, limit {limit:.4g}: exit code {code}")
        if code != expected:
            sys.exit(said)
