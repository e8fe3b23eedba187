#!/usr/bin/env python3
"""The table by which a program knows inputs of others (apps/application/cli/input_kind.cpp) is what the programs say of themselves,
and each input of inputs/ is known for a command of its program. Usage: input_kinds.py SOURCE BIN [--write]: bring the table up to date.
"""
import json
import os
import re
import subprocess
import sys
import textwrap

SOURCE, BIN = sys.argv[1:3]
TABLE = os.path.join(SOURCE, "apps/application/cli/input_kind.cpp")
PROGRAMS = ("dpmd", "meshfreeflow", "podlstm", "submatrix", "vlasov")
NO_RUNS = {"inputs/submatrix/water_references.yaml"}  # data of another input


def table():
    text = open(TABLE, encoding="utf-8").read()
    text = text[text.index("input_kinds[] = {"):text.index("\n};", text.index("input_kinds[] = {"))]
    return {row[0]: set(" ".join(row[1:]).split()) for row in (re.findall(r'"([^"]*)"', part) for part in text.split("},")) if row}


def described():
    rows = {}
    for program in PROGRAMS:
        schemas = json.loads(subprocess.run([os.path.join(BIN, program), "schemas"], capture_output=True, text=True, check=True).stdout)
        rows.update({f"{program} {command}": list(schema["properties"]) for command, schema in schemas.items()})
    return rows


def write(rows):
    """The rows of commands that the programs describe anew; others stay."""
    text = open(TABLE, encoding="utf-8").read()
    for command, keys in rows.items():
        lines = textwrap.wrap(" ".join(keys), 78)
        row = f'    {{"{command}",\n' + "\n".join(f'     "{line}{" " if line is not lines[-1] else ""}"' for line in lines) + "},\n"
        old = re.search(r'    \{"%s",[^}]*\},\n' % re.escape(command), text)
        text = text.replace(old.group(0), row) if old else text.replace("input_kinds[] = {\n", "input_kinds[] = {\n" + row)
    open(TABLE, "w", encoding="utf-8").write(text)


def keys_of(path):
    return set(re.findall(r"^([A-Za-z_]\w*):", open(path, encoding="utf-8").read(), re.M))


def main():
    rows = described()
    if "--write" in sys.argv:
        return write(rows)
    known, rows = table(), {command: set(keys) for command, keys in rows.items()}
    problems = [f"{command}: the table lacks {sorted(keys - known.get(command, set()))}, and has {sorted(known.get(command, set()) - keys)} besides"
                for command, keys in rows.items() if known.get(command) != keys]
    problems += [f"{command}: no such command" for command in known if command not in rows and not command.startswith("quintet")]
    n_inputs = 0
    for folder, _, names in os.walk(os.path.join(SOURCE, "inputs")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), SOURCE)
            if not name.endswith(".yaml") or path in NO_RUNS or "/learn/" in path:
                continue
            keys, program = keys_of(os.path.join(SOURCE, path)), path.split("/")[1]
            share = {command: len(keys & its) / len(keys) for command, its in known.items()}
            best = [command for command in share if share[command] == max(share.values())]
            wanted = PROGRAMS if program == "campaigns" else (program,)
            n_inputs += 1
            if not any(command.split()[0] in (*wanted, "quintet" if program == "campaigns" else "") for command in best):
                problems.append(f"{path}: its keys {sorted(keys)} are taken for an input of {best}")
    if any("the table" in problem for problem in problems):
        problems.append(f"tests/cli/input_kinds.py {SOURCE} {BIN} --write brings the table up to date")
    print("\n".join(problems) or f"{len(rows)} commands and {n_inputs} inputs are known")
    return 1 if problems or n_inputs < 30 else 0


sys.exit(main())
