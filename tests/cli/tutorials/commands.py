#!/usr/bin/env python3
"""Command lines of README.md and docs are ones that the programs take, as they stand. Usage: commands.py BUILD SOURCE | --self-test

Each command line of a block or in back quotes: its program has the command, and the command has each flag. One with an input of inputs/
is checked whole (--validate); only files that an earlier command would write (runs/...), or that are downloaded, and LAMMPS may be missing.
What `console` blocks, docs/gallery and docs/verification.md show is run by other tests (tutorials.py, gallery.py, published.py).
"""
import functools
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAMS = "dpmd|vlasov|submatrix|meshfreeflow|podlstm|quintet"
COMMAND = re.compile(rf"(?:mpirun (?:-\S+ \S+ )*)?(?:build/bin/)?((?:{PROGRAMS})(?: .*)?)$")
LEFT_OUT = ("docs/verification.md", "docs/gallery/", "docs/configuration/", "docs/troubleshooting.md")  # the last: wrong ones on purpose
MAY_BE_MISSING = re.compile(r"file '(?:[^']*runs/|[^']*sst\.|[^']*\.nc|ocean/)[^']*' not found|modes\.h5|program 'lmp' is not found")
LEAST = 18  # commands checked whole


def command_lines(text):
    """Command lines of blocks without a language and of back quotes, without comments, joined where they go on."""
    for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            yield re.sub(r"\s+#\s.*$", "", line.strip())
    for line in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        yield re.sub(r"\s+", " ", line)


def parts(line):
    """Words of a command of ours, up to a redirection; None for other lines and those that a shell would go on with."""
    found = COMMAND.match(line)
    if not found or line.count("'") % 2:
        return None
    words = shlex.split(re.sub(r"\[(--[^\]]*)\]", r"\1", re.split(r"\s[>|&;]", found.group(1))[0]))
    return words if len(words) > 1 and re.fullmatch(r"[a-z][a-z_-]*", words[1]) else None


def flags(words):
    return [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]


def is_whole(words):
    """Whether an input of inputs/ follows the command, and no word stands for another."""
    return words[0] != "quintet" and len(words) > 2 and re.fullmatch(r"inputs/\S+\.yaml", words[2]) is not None and \
        not any(re.search(r"…|\$|\.\.\.", word) for word in words)


@functools.cache
def help_of(environment, *command):
    for n in range(len(command), 1, -1):  # quintet registry add, quintet registry
        done = subprocess.run([*command[:n], "--help"], env=dict(environment), capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout
    return None


def complaints(said):
    return [line for line in said.splitlines() if re.search(r"error:|\.yaml:\d+:\d+:", line)]


def faults(words, environment, folder):
    command = [word for word in words[:3] if re.fullmatch(r"[a-z][a-z_-]*", word)]
    text = help_of(tuple(sorted(environment.items())), *command)
    if text is None:
        yield f"'{words[0]} {words[1]}' is no command"
        return
    yield from (f"'{' '.join(command)}' has no flag {flag}" for flag in flags(words) if not re.search(rf"{re.escape(flag)}(?![\w-])", text))
    if not is_whole(words):
        return
    kept = [word for word in words if word != "--print-config"]
    if "--restart" in kept:
        del kept[kept.index("--restart"):kept.index("--restart") + 2]
    done = subprocess.run(kept + ["--validate"]*("--validate" not in kept), cwd=folder, env=environment, capture_output=True, text=True)
    wrong = [line for line in complaints(done.stderr + done.stdout) if not MAY_BE_MISSING.search(line)]
    if done.returncode not in (0, 2) or wrong:
        yield f"exit {done.returncode}: {' | '.join(wrong) or done.stderr[-300:]}"


def self_test():
    text = "a `vlasov run inputs/a.yaml --set x=[1,2]` b\n```\nmpirun -n 2 dpmd run CASE.yaml \\\n   --quiet   # why\nls\n```\n```console\n$ dpmd run no\n```\n"
    assert [parts(line) for line in command_lines(text)] == [["dpmd", "run", "CASE.yaml", "--quiet"], None, ["vlasov", "run", "inputs/a.yaml", "--set", "x=[1,2]"]]
    assert parts("quintet submit CASE.yaml [--chain 3] [--dry-run]") == ["quintet", "submit", "CASE.yaml", "--chain", "3", "--dry-run"]
    assert parts("dpmd reference > page.md") == ["dpmd", "reference"] and parts("vlasov case.yaml") is None and parts("dpmd") is None
    assert is_whole(["vlasov", "run", "inputs/a.yaml"]) and not is_whole(["vlasov", "run", "CASE.yaml"])
    assert not is_whole(["vlasov", "run", "inputs/a.yaml", "--set", "k=$k"])
    assert MAY_BE_MISSING.search("a.yaml:6:8: modes: file 'runs/fit/modes.h5' not found") and not MAY_BE_MISSING.search("file 'coper.dp' not found")


def main():
    build, source = (os.path.abspath(path) for path in sys.argv[1:3])
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}")
    failed, seen, whole = [], set(), 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(source, "inputs"), os.path.join(folder, "inputs"))
        os.symlink(os.path.join(source, "configs"), os.path.join(folder, "configs"))
        pages = ["README.md", "SUPPORT.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/**/*.md", root_dir=source, recursive=True))
        for page in pages:
            if page.startswith(LEFT_OUT):
                continue
            for line in command_lines(open(os.path.join(source, page), encoding="utf-8").read()):
                words = parts(line)
                if words is None or tuple(words) in seen:
                    continue
                seen.add(tuple(words))
                whole += is_whole(words)
                failed += [f"{page}: {line}: {fault}" for fault in faults(words, environment, folder)]
    if whole < LEAST:
        failed.append(f"only {whole} commands were checked whole")
    print("".join(f"FAILED: {fault}\n" for fault in failed) + f"{len(seen)} commands, {whole} of them whole, {len(failed)} problems")
    return 1 if failed else 0


sys.exit(self_test() if sys.argv[1] == "--self-test" else main())
