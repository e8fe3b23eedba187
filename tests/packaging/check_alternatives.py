#!/usr/bin/env python3
"""An alternative is a row of one table (CONTRIBUTING.md), and intrinsics of processors stand in physics/kernels alone.

Finds pairs of an enum's value and its name in the input, {"bgk", Operator::bgk} or {Operator::bgk, "bgk"}: the same pair in a
second table is one that somebody forgets. Usage: check_alternatives.py SOURCE_DIR, or check_alternatives.py --self-test
"""
import collections
import os
import re
import sys

FOLDERS = ("io", "physics", "surrogates", "apps", "bridges")
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/', re.DOTALL)
PAIRS = (re.compile(r'\{\s*(?:\w+::)*?(?P<enum>\w+)::(?P<value>\w+),\s*"(?P<name>[^"]+)"'),
         re.compile(r'\{\s*"(?P<name>[^"]+)",\s*(?:\w+::)*?(?P<enum>\w+)::(?P<value>\w+)\s*[,}]'))
INTRINSICS = re.compile(r"\bimmintrin\.h|\barm_neon\.h|\b_mm(?:256|512)?_\w+\(|\b__m(?:128|256|512)\w*\b")
# Enums of one name in two programs that mean different things: their places.
DIFFERENT = {"Precision": ("apps/dpmd/", "surrogates/sequence/")}
KERNELS = "physics/kernels/"


def pairs_of(text):
    for pattern in PAIRS:
        for found in pattern.finditer(NO_CODE.sub(" ", text)):
            yield found["enum"], found["value"], found["name"]


def place(enum, path):
    return next((root for root in DIFFERENT.get(enum, ()) if path.startswith(root)), "")


def problems(files):
    tables = collections.defaultdict(list)
    for path, text in files:
        for enum, value, name in pairs_of(text):
            tables[place(enum, path), enum, value, name].append(path)
        found = INTRINSICS.search(NO_CODE.sub(" ", text))
        if found and not path.startswith(KERNELS):
            yield f"{path}: {found[0]} outside of {KERNELS}"
    for (_, enum, value, name), paths in sorted(tables.items()):
        if len(paths) > 1:
            yield f"{enum}::{value} is \"{name}\" in {' and in '.join(paths)}; take it from one table (io/config/table.hpp)"


def sources(source_dir):
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(source_dir, folder)):
            for name in names:
                if name.endswith((".hpp", ".cpp", ".h")):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8") as stream:
                        yield os.path.relpath(path, source_dir), stream.read()


def self_test():
    def of(*texts, root="io"):
        return list(problems((f"{root}/{i}.cpp", text) for i, text in enumerate(texts)))

    row, choice = '{Flux::central, "central", doc}', 'choice({{"central", kinetics::Flux::central}})'
    assert not of(row) and not of(row, '{Flux::upwind, "upwind"}') and not of(row, '{Other::central, "central"}')
    assert len(of(row, choice)) == 1 and "0.cpp and in io/1.cpp" in of(row, choice)[0] and len(of(row + row)) == 1
    assert not of(row, "// " + choice) and not of(row, '{Flux::central, "CENTRAL"}'), "words of another program"
    assert of("#include <immintrin.h>") and of("__m512 x = _mm512_setzero_ps();")
    assert not of("__m512 x;", root="physics/kernels") and not of("// _mm512_fmadd_ps\nint _mm_count;")


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    files = list(sources(sys.argv[1]))
    found = list(problems(files))
    print("\n".join(found))
    print(f"{len(files)} files, {len(found)} problems")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
