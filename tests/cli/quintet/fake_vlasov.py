#!/usr/bin/env python3
"""An application that takes 10 us a step and 10 ns a cell of each of its RANKS, says so in summary.json and computes nothing.

It stands in for vlasov, so that a search for the size at which half of the efficiency is lost has one right answer.
"""
import json
import os
import sys

words = sys.argv[1:]
output = words[words.index("--output") + 1]
settings = dict(word.split("=", 1) for word in words if "=" in word)
cells = 1
for n in json.loads(settings["grid.cells"]):
    cells *= n
if cells <= int(os.environ.get("REFUSED", "0")):
    sys.exit("error: grid.cells: too few\nprterun is sorry")
steps = int(settings["time.steps"])
os.makedirs(output, exist_ok=True)
with open(os.path.join(output, "summary.json"), "w", encoding="utf-8") as stream:
    json.dump({"cells": cells, "steps": steps, "timings_s": {"steps": steps * (1e-5 + 1e-8 * cells / int(os.environ["RANKS"]))}}, stream)
