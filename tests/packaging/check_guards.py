#!/usr/bin/env python3
"""docs/guards.md is true: its keys and defaults are those of the reference, its tests of both sides exist, and no key of a section `limits`
is missing: check_guards.py SOURCE | --self-test"""
import pathlib
import re
import sys
import tempfile


def defaults_of(page):
    """{(command, key path): default} of a page of docs/configuration."""
    found, command, path = {}, "", ""
    for line in page.splitlines():
        if line.startswith("# "):
            command, path = line.split()[-1], ""
        elif line.startswith("## "):
            path = line[3:].strip().strip("`").replace(".0, .1, ...", "") + "."
        elif row := re.match(r"\| `(\w+)` \| [^|]* \| [^|]* \| ([^|]*) \|", line):
            found[command, path + row[1]] = row[2].strip().strip("`")
    return found


# Limits that no run can break: when others begin to count.
NO_GUARDS = {("simulate", "limits.judged_from"), ("run", "limits.shrunk_steps")}


def missing_tests(source, side):
    """Words on what is wrong with a cell of tests: `FILE`: case; case."""
    place = re.match(r"`([^`]*)`: (.*)", side)
    if not place or not (source / place[1]).is_file():
        return ["names no file of tests, as `tests/...`: case; case"]
    text = (source / place[1]).read_text()
    return [f"{place[1]} has no case '{case}'" for case in place[2].split("; ") if f"case: {case}\n" not in text and f", {case})" not in text]


def problems_of(source):
    problems, application, reference, sides, told = [], "", {}, ["", ""], set()
    lines = (source / "docs/guards.md").read_text().splitlines()
    for number, line in enumerate([*lines, "## "], 1):
        def wrong(text):
            problems.append(f"docs/guards.md:{number}: {text}")

        if line.startswith("## "):
            for command, key in sorted(reference.keys() - told - NO_GUARDS):
                if key.startswith("limits."):
                    wrong(f"{application} {command} has a key {key} that no row names")
            application, told = line[3:].strip(), set()
            page = source / f"docs/configuration/{application}.md"
            reference = defaults_of(page.read_text()) if application else {}
        row = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| `") else []
        if not row:
            continue
        name = re.fullmatch(r"`(\w+): ([\w.]+)`", row[0])
        if len(row) != 6 or not name:
            wrong("expected six columns, the first `COMMAND: key`, the last two tests of both sides")
            continue
        told.add(name.groups())
        if name.groups() not in reference:
            wrong(f"{application} {name[1]} has no key {name[2]}")
            continue
        limit = re.match(r"`([^`]*)`", row[1])
        if limit and limit[1] != reference[name.groups()]:
            wrong(f"the default of {name[2]} is {reference[name.groups()]}, not {limit[1]}")
        for i, side in enumerate(row[4:]):
            if side == "the same test" and i == 1:
                side = sides[0]
            sides[i] = sides[i] if side == "the same" else side
            for problem in missing_tests(source, sides[i]):
                wrong(f"{('inside', 'outside')[i]}: {problem}")
    return problems


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "docs/configuration").mkdir(parents=True)
        (source / "docs/configuration/app.md").write_text("# app run\n\n## `limits`\n\n| `most` | number |  | `3` | above 0 | free | x |\n")
        (source / "tests.txt").write_text("case: inside\ncase: outside\n")
        both = "`tests.txt`: inside | `tests.txt`: outside"
        for row, expected in ((f"`run: limits.most` | `3` | a | b | {both}", 0), (f"`run: limits.most` | `4` | a | b | {both}", 1),
                              ("`run: limits.most` | 3 | a | b | `tests.txt`: inside | the same test", 0),
                              (f"`run: limits.least` | `3` | a | b | {both}", 2), ("`run: limits.most` | 3 | a | b | `tests.txt`: inside", 2),
                              ("`run: limits.most` | 3 | a | b | `tests.txt`: inside | ", 1),
                              ("`run: limits.most` | 3 | a | b | `tests.txt`: inside; between | `tests.txt`: outside", 1),
                              ("`run: limits.most` | 3 | a | b | `none.txt`: inside | `tests.txt`: outside", 1)):
            (source / "docs/guards.md").write_text(f"## app\n\n| {row} |\n")
            assert len(problems_of(source)) == expected, (row, problems_of(source))
        (source / "docs/guards.md").write_text("## app\n\nNothing of its limits.\n")
        assert len(problems_of(source)) == 1, problems_of(source)
    print("finds what is untrue")


if sys.argv[1] == "--self-test":
    self_test()
else:
    wrong_rows = problems_of(pathlib.Path(sys.argv[1]))
    print("\n".join([*wrong_rows, f"{len(wrong_rows)} problems"]))
    sys.exit(1 if wrong_rows else 0)
