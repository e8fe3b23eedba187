#!/usr/bin/env python3
"""Commands of the gallery, and the changes that it proposes, are ones that the programs take. Usage: gallery.py BUILD SOURCE

Each case that needs no other run before is checked (--validate), and so is each change `--set KEY=VALUE` that stands under "try next".
"""
import os
import re
import subprocess
import sys
import tempfile

build, source = (os.path.abspath(path) for path in sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(source, "docs", "gallery"))
from cases import CASES

FOLLOW = ("quick_train", "quick_evaluate", "convection_superresolve", "convection_evaluate", "train", "evaluate", "forecast")  # these need what other cases leave
LEAST = 28  # commands


def main():
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}")
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(source, "inputs"), os.path.join(folder, "inputs"))
        for app, cases in CASES.items():
            for case in cases:
                if case.name in FOLLOW and app != "dpmd":
                    continue
                change = re.match(r"`(--set [^`]*)`", case.then)
                words = case.command + (" " + change.group(1) if change else "")
                done = subprocess.run(words.split() + ["--validate"], cwd=folder, env=environment, capture_output=True, text=True)
                ran += 1
                if done.returncode != 0:
                    sys.exit(f"FAILED ({done.returncode}): {words}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
    if ran < LEAST:
        sys.exit(f"FAILED: only {ran} commands")
    print(f"{ran} commands of the gallery are valid")


main()
