#!/usr/bin/env python3
"""Each limit of `vlasov run` from both sides: guards.py FOLDER

A run under a limit that nothing keeps ends at some step with the number that was measured. A run to that step goes through with a limit just
beside the number, and ends likewise with one just on the other side of it.
"""
import re
import subprocess
import sys

NEVER = {"edge_share": 1e9, "f_squared_growth": 1e9, "negative_f": 1e9, "gauss_error": 1e9, "negative_share": 1e9, "shrunk_dt": 0}
FORCE = ["species.0.acceleration=[1]", "time.end=20"]
BLOCK = 'species.0.initial=[{function: "abs(vx) < 1.1 ? 0.5*(1 + 0.9*cos(k*x)) : 0", nodes: 24}]'
# key: a limit that some step breaks, the measured number in the message (as a function of what is found), further settings
GUARDS = {
    "edge_share": (0.005, r": (\S+) % of the mean density", lambda found: 1e-2 * float(found[1]), FORCE),
    "f_squared_growth": (0.005, r"has grown by (\S+) % of its first", lambda found: 1e-2 * float(found[1]), FORCE),
    "negative_f": (1e-3, r"its mean is -(\S+), the greatest (\S+) \(", lambda found: float(found[1]) / float(found[2]),
                   ["constants.alpha=0.9", "flux=central", "time.end=50"]),
    "gauss_error": (0.02, r"alone would make is (\S+) % of", lambda found: 1e-2 * float(found[1]),
                    ["field.model=maxwell", "grid.cells=[12, 16]", "field.current=[0.1*sin(k*x), 0, 0]"]),
    "shrunk_dt": (0.5, r"first one, (\S+), for 1 step; it is (\S+) now", lambda found: float(found[2]) / float(found[1]),
                  ["limits.shrunk_steps=1", "field.external.electric=[exp(20*t)*(1 + 0.5*sin(k*x)), 0, 0]"])}


def vlasov(limits, settings):
    words = ["vlasov", "run", f"{sys.argv[1]}/wave.yaml", "--quiet", "--threads", "1", "--output", "guarded", "--overwrite"]
    for setting in ["output.distribution=false", *settings, *(f"limits.{key}={value:.12g}" for key, value in {**NEVER, **limits}.items())]:
        words += ["--set", setting]
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return run.returncode, run.stdout


def both_sides(key, strict, pattern, measured, settings):
    code, said = vlasov({key: strict}, settings)
    last = said[said.find("error: "):]  # warnings before it have numbers, too
    found, step = re.search(pattern, last), re.search(r"step (\d+),", last)
    if code != 3 or not found or not step or f"limits.{key}" not in said:
        sys.exit(f"{key}: exit code {code}: {said}")
    value, falls = measured(found), key == "shrunk_dt"
    near = -0.01 if falls else 0.01  # it is told with three digits
    to_step = [*settings, f"time.steps={int(step[1]) + (1 if falls else 0)}"]
    for limit, expected in ((value * (1 + near), 0), (value * (1 - near), 3)):
        code, said = vlasov({key: limit}, to_step)
        print(f"{key}: {value:.3g} measured, limit {limit:.4g}: exit code {code}")
        if code != expected:
            sys.exit(said)


for key, guard in GUARDS.items():
    both_sides(key, *guard)

# A share of negative f is only told.
for limit, told in ((0.0169, False), (0.0167, True)):
    code, said = vlasov({"negative_share": limit}, [BLOCK, "time.steps=0"])
    if code != 0 or ("limits.negative_share" in said) != told:
        sys.exit(f"negative_share {limit}: exit code {code}: {said}")
print("negative_share: told at 0.0167, not at 0.0169")
