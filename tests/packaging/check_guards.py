#!/usr/bin/env python3
"""docs/guards.md is true: its keys and defaults are those of the reference, its tests exist: check_guards.py SOURCE | --self-test"""
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


def problems_of(source):
    problems, application, tests = [], "", ""
    for number, line in enumerate((source / "docs/guards.md").read_text().splitlines(), 1):
        if line.startswith("## "):
            application = line[3:].strip()
            reference = defaults_of((source / f"docs/configuration/{application}.md").read_text())
        row = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| `") else []
        if not row:
            continue

        def wrong(text):
            problems.append(f"docs/guards.md:{number}: {text}")

        name = re.fullmatch(r"`(\w+): ([\w.]+)`", row[0])
        if len(row) != 5 or not name:
            wrong("expected five columns, the first `COMMAND: key`")
            continue
        if name.groups() not in reference:
            wrong(f"{application} {name[1]} has no key {name[2]}")
            continue
        limit = re.match(r"`([^`]*)`", row[1])
        if limit and limit[1] != reference[name.groups()]:
            wrong(f"the default of {name[2]} is {reference[name.groups()]}, not {limit[1]}")
        tests = tests if row[4] == "the same" else row[4]
        place = re.match(r"`([^`]*)`: (.*)", tests)
        if not place or not (source / place[1]).is_file():
            wrong("names no file of tests, as `tests/...`: case; case")
            continue
        text = (source / place[1]).read_text()
        for case in place[2].split("; "):
            if f"case: {case}\n" not in text and f", {case})" not in text:
                wrong(f"{place[1]} has no case '{case}'")
    return problems


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "docs/configuration").mkdir(parents=True)
        (source / "docs/configuration/app.md").write_text("# app run\n\n## `limits`\n\n| `most` | number |  | `3` | above 0 | free | x |\n")
        (source / "tests.txt").write_text("case: inside\n")
        for row, expected in (("`run: limits.most` | `3` | a | b | `tests.txt`: inside", 0), ("`run: limits.most` | `4` | a | b | `tests.txt`: inside", 1),
                              ("`run: limits.least` | `3` | a | b | `tests.txt`: inside", 1), ("`run: limits.most` | 3 | a | b | `tests.txt`: inside; outside", 1),
                              ("`run: limits.most` | 3 | a | b | `none.txt`: inside", 1)):
            (source / "docs/guards.md").write_text(f"## app\n\n| {row} |\n")
            assert len(problems_of(source)) == expected, (row, problems_of(source))
    print("finds what is untrue")


if sys.argv[1] == "--self-test":
    self_test()
else:
    wrong_rows = problems_of(pathlib.Path(sys.argv[1]))
    print("\n".join([*wrong_rows, f"{len(wrong_rows)} problems"]))
    sys.exit(1 if wrong_rows else 0)
