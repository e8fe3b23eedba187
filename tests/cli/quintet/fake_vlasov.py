#!/usr/bin/env python3
"""An application that takes 10 us a step and 10 ns a cell of each of its RANKS, says so as --step-times and computes nothing.

It stands in for vlasov, so that a search for the size at which half of the efficiency is lost has one right answer. SPREAD: each
round has a tenth more of the 10 us. REFUSED: no case of so few cells. GARBAGE: says something else.
"""
import json
import os
import sys

words = sys.argv[1:]
rounds, seconds = words[words.index("--step-times") + 1].split(",")
ranks, refused = int(os.environ["RANKS"]), int(os.environ.get("REFUSED", "0"))
overheads = [1e-5 * (1 + 0.1 * round * int(os.environ.get("SPREAD", "0"))) for round in range(int(rounds))]
cells, sizes, end = [256, 256], [], "grid.cells: all are 1"
if "GARBAGE" in os.environ:
    sys.exit(print("Moin"))
while max(cells) > 1:
    n = cells[0] * cells[1]
    if n <= refused:
        end = f"grid.cells=[{cells[0]},{cells[1]}]: too few"
        break
    sizes.append({"size": list(cells), "work": n, "step_s": [overhead + 1e-8 * n / ranks for overhead in overheads]})
    cells[cells.index(max(cells))] //= 2
if not sizes:
    sys.exit("error: grid.cells: too few\nprterun is sorry")
print(json.dumps({"format": "quintet-size-times", "unit": "cells", "end": end, "ranks": ranks, "sizes": sizes}))
