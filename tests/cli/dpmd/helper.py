#!/usr/bin/env python3
"""What the cases of this folder need besides dpmd: odd inputs, damage, comparisons.

helper.py NAME WORDS...: a function here or in pairs.py, results.py, runs.py, structures.py; it exits 0 or says what is wrong.
"""
import random
import subprocess
import sys

import pairs
import results
import runs
import structures
from runs import PATIENCE_S, fail


def damage(how, path):
    """truncate FILE | flip FILE (one bit in the middle) | zero FILE."""
    data = bytearray(open(path, "rb").read())
    if how == "truncate":
        del data[len(data) * 2 // 3:]
    elif how == "flip":
        data[len(data) // 2] ^= 0x10
    elif how == "zero":
        data.clear()
    open(path, "wb").write(data)


def swap(path, old, new, target):
    """Copy PATH to TARGET with OLD (same length) for NEW in its bytes."""
    data = open(path, "rb").read()
    if len(old) != len(new) or old.encode() not in data:
        fail(f"cannot put {new} for {old} in {path}")
    open(target, "wb").write(data.replace(old.encode(), new.encode()))


def fuzz(path, n, *words):
    """Run WORDS on copies of PATH (named 'fuzzed' there) with one bit flipped: exit 0 or 2, never another end."""
    whole = open(path, "rb").read()
    refused = 0
    chosen = random.Random(5)
    for i in range(int(n)):
        data = bytearray(whole)
        # Half of the flips in the first 4 kB: headers decide more than numbers.
        place = chosen.randrange(4096 if i % 2 else len(data))
        data[place] ^= 1 << chosen.randrange(8)
        open("fuzzed", "wb").write(data)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=PATIENCE_S)
        if done.returncode not in (0, 2):
            fail(f"bit of byte {place} of {path} flipped: exit code {done.returncode}\n{done.stdout}")
        refused += done.returncode == 2
    print(f"{refused} of {n} refused")


def main(name, *words):
    """The first of these files that has the function."""
    modules = (sys.modules[__name__], pairs, results, runs, structures)
    next(getattr(module, name) for module in modules if hasattr(module, name))(*words)


main(*sys.argv[1:])
