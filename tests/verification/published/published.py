#!/usr/bin/env python3
"""Published and exact numbers beside ours: runs the commands of docs/verification.md, compares, and makes that page.

Usage: published.py BUILD SOURCE             run and compare; fails where a row no longer holds or the page shows another number
       published.py BUILD SOURCE --write     the same, and write the page
       published.py --self-test
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import cases
import theory

TITLES = {"dpmd": "Molecular dynamics and Deep Potentials", "vlasov": "Plasmas", "submatrix": "Density matrices",
          "meshfreeflow": "Convection and flows", "podlstm": "Sea-surface temperature",
          "quintet": "Plans and graphs of tasks"}
INTRODUCTION = """# Verification: published and exact numbers beside ours

| you want to | read |
|---|---|
| see the numbers of a program | {contents} |
| run one yourself | the command above its table, in the folder of Quintet |
| run all of them | `ctest --test-dir build -R verification_published` |
| see what else is tested | `tests/README.md`: orders of convergence, conservation, symmetries, peers |

A test runs these commands, compares, and makes this page (`tests/verification/published`). It fails where a difference
exceeds what is allowed. "Exact" numbers come from formulas in `theory.py` there, which share no code with the programs.
The difference is relative, except where the other number is 0. Numbers are of {date}, on x86-64.

The test writes the files `*.xyz` of configurations from those of the source that is named. Commands that begin with
`test_` are in `build/tests`. What reads `../shared`, which is not part of Quintet, is left out without it.
"""


class Results:
    """What the commands of a case have left in their folder."""
    def __init__(self, folder):
        self.folder = folder

    def read(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as stream:
            return json.load(stream)

    def summary(self, run):
        return self.read(f"runs/{run}/summary.json")


def difference(ours, other):
    return ours - other if other == 0 else (ours - other)/abs(other)


def shown(row, ours):
    other = "0" if row.other == 0 else f"{row.other:.{row.digits}g}"
    return f"| {row.what} | {other} | {ours:.{row.digits}g} | {difference(ours, row.other):.1e} | {row.allowed:.0e} | {row.unit} | {row.source} |"


def section_of(page, title):
    """The part of the page below a heading of the third level."""
    return (page.split(f"\n### {title}\n", 1) + [""])[1].split("\n#", 1)[0]


def faults_of(row, ours, page):
    """Why a row fails: its difference, or a section of the page that shows something else."""
    if not abs(difference(ours, row.other)) <= row.allowed:  # a NaN fails, too
        yield f"{row.what}: {ours!r} differs by {difference(ours, row.other):.2e} from {row.other!r} ({row.source}), allowed {row.allowed:.0e}"
    found = re.search(rf"^\| {re.escape(row.what)} \| (\S+) \| (\S+) \|.*\| {re.escape(row.source)} \|$", page, re.M)
    if not found or abs(float(found.group(1)) - row.other) > 10.0**(1 - row.digits)*abs(row.other):
        yield f"{row.what}: docs/verification.md has no such row ({row.source})"
    elif abs(difference(float(found.group(2)), row.other)) > 1.05*row.allowed + 10.0**(1 - row.digits):
        yield f"{row.what}: docs/verification.md shows {found.group(2)}"


def run(case, build, folder):
    environment = dict(os.environ, PATH=f"{build}/bin:{build}/tests:{os.environ['PATH']}")
    for command in case.commands:
        done = subprocess.run(command.split() + ["--quiet"]*(" test " not in command and not command.startswith("test_")), cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"FAILED: exit code {done.returncode}: {command}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def prepare(scratch, source):
    """A folder of `scratch` in which commands find what they find in that of Quintet: inputs, and ../shared where it is."""
    folder = os.path.join(scratch, "quintet")
    os.mkdir(folder)
    os.symlink(os.path.join(source, "inputs"), os.path.join(folder, "inputs"))
    shared = os.path.join(source, "..", "shared")
    if os.path.isdir(shared):
        os.symlink(shared, os.path.join(scratch, "shared"))
    os.environ["QUINTET_SOURCE_DIR"] = source
    for name, kinds, configurations in cases.configurations(source):
        with open(os.path.join(folder, f"{name}.xyz"), "w", encoding="utf-8") as stream:
            stream.writelines(cases.xyz(case, kinds) for case in configurations)
    return folder


def self_test():
    omega = theory.electrostatic(0.5, [(1, 1, 0)], 1.4 - 0.1j)
    assert abs(omega - (1.415661888604536 - 0.153359466909605j)) < 1e-9, omega  # also that of the programs' own solver
    for zeta in (4.6 + 0.1j, 4.4 + 0.1j, -4.6 + 0.3j):  # Z' = -2 (1 + zeta Z) on both sides of the change of series
        slope = (theory.plasma_function(zeta + 1e-2) - theory.plasma_function(zeta - 1e-2))/2e-2
        assert abs(slope + 2*(1 + zeta*theory.plasma_function(zeta))) < 1e-4, zeta
    # Peers' and anchors' numbers: kinetics by 300 Hermite modes as an eigenvalue problem, convection by Chebyshev collocation.
    assert abs(theory.collisional(0.5, lambda n: 0.1*n*(n > 2), 1.4 - 0.1j) - (1.3887292085311624 - 0.10536897900080255j)) < 1e-9
    assert abs(theory.plates(3.141592653589793, 5000, 1, 0.25) - 0.26962947) < 1e-8
    assert abs(theory.plates(3.117, 2000, 0.71, 0.06) - 0.04989384) < 1e-8
    assert abs(theory.plates(3.11631, 1707.761776, 1, 0.001)) < 1e-8
    assert abs(theory.bernstein(0.01, 1, 1.4) - 2**0.5) < 1e-3  # the upper hybrid frequency of long waves
    row = cases.Row("rate", None, 2.0, 1e-3, 5, "1", "a paper")
    page = shown(row, 2.001) + "\n"
    assert not list(faults_of(row, 2.001, page)), list(faults_of(row, 2.001, page))
    assert len(list(faults_of(row, 2.0021, page))) == 1 and len(list(faults_of(row, float("nan"), page))) == 1
    assert len(list(faults_of(row, 2.001, page.replace("a paper", "a book")))) == 1
    assert len(list(faults_of(row, 2.001, page.replace("2.001", "2.01")))) == 1
    assert section_of("# T\n\n### A\n\na\n\n### B\nb\n## C\nc", "B") == "b" and section_of("", "B") == ""
    assert len(list(faults_of(row._replace(other=2.1), 2.1, page))) == 1


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    build, source = (os.path.abspath(path) for path in sys.argv[1:3])
    write = "--write" in sys.argv
    path = os.path.join(source, "docs", "verification.md")
    page = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    text, faults, rows, program = "", [], 0, ""
    with tempfile.TemporaryDirectory() as scratch:
        folder = prepare(scratch, source)
        for case in cases.all_cases(source):
            if case.program != program:
                program = case.program
                text += f"\n## {TITLES[program]}\n"
            if case.needs and not os.path.exists(os.path.join(source, "..", "shared", case.needs)):
                print(f"left out: {case.title}; ../shared/{case.needs} is not here")
                text += f"\n### {case.title}\n{section_of(page, case.title)}"
                continue
            run(case, build, folder)
            text += f"\n### {case.title}\n\n```\n" + "\n".join(case.commands) + "\n```\n\n"
            text += "| what | published or exact | ours | difference | allowed | unit | source |\n|---|---|---|---|---|---|---|\n"
            for row in case.rows:
                ours = row.ours(Results(folder))
                print(shown(row, ours))
                text += shown(row, ours) + "\n"
                faults += faults_of(row, ours, shown(row, ours) if write else section_of(page, case.title))
                rows += 1
    contents = ", ".join(f"[{title}](#{title.lower().replace(' ', '-')})" for title in TITLES.values())
    if write and not faults:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(INTRODUCTION.format(contents=contents, date=datetime.date.today()) + text)
    print("".join(f"FAILED: {fault}\n" for fault in faults) + f"{rows} rows, {len(faults)} problems")
    return 1 if faults else 0


sys.exit(main())
