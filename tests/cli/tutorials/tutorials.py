#!/usr/bin/env python3
"""What a page shows of a terminal is what its commands print. Usage: tutorials.py BUILD SOURCE PAGE [--keep FOLDER] | --folders SOURCE | --self-test

Blocks of PAGE marked `console` are run in their order, in an empty folder that sees inputs/ and configs/. A line that begins with `$ `
is a command; each line below it must be in its output, in this order. `…` stands for any text; times of the clock are not compared.
A number must agree to 2 %, or both be round-off (below 1e-6). A command may fail only where `$ echo $?` follows and shows its exit code.
--keep leaves the folder of the runs, for pictures. --folders looks for a folder of runs that two pages of a beginner write: the second
one's commands would be refused, since the folder already holds a run.
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
ROUND_OFF, AGREES = 1e-6, 0.02


def commands(text):
    """Each command of a page with the lines shown below it."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip():
                found[-1][1].append(line.strip())
    return found


def pattern_of(shown):
    """A pattern with a group for each number of a shown line."""
    pieces, at, numbers = [], 0, []
    for number in NUMBER.finditer(shown):
        pieces.append(words(shown[at:number.start()]))
        pieces.append("(" + NUMBER.pattern + ")")
        numbers.append(float(number.group()))
        at = number.end()
    return re.compile("".join(pieces) + words(shown[at:])), numbers


def words(text):
    """A pattern of text between numbers: any spaces for spaces, anything for an ellipsis."""
    return ".*".join(re.sub(r"(?:\\ |\s)+", r"\\s+", re.escape(part)) for part in text.split("…"))


def agree(shown, printed):
    return abs(shown - printed) <= AGREES * abs(shown) or max(abs(shown), abs(printed)) < ROUND_OFF


def matches(shown, line):
    pattern, numbers = pattern_of(shown)
    found = pattern.search(line)
    return bool(found) and all(agree(one, float(other)) for one, other in zip(numbers, found.groups()))


def missing(shown, printed):
    """The first shown line that is not in the printed ones, in order; None where all are."""
    rest = iter(printed)
    for line in shown:
        if not any(matches(line, other) for other in rest):
            return line
    return None


def run(page, build, folder):
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
    todo, status = commands(open(page).read()), 0
    for k, (command, shown) in enumerate(todo):
        if command == "echo $?":
            if shown != [str(status)]:
                return f"exit code {status}, the page shows {shown}: {todo[k - 1][0]}"
            continue
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, timeout=240, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        status = done.returncode
        if status != 0 and todo[k + 1:k + 2] != [("echo $?", [str(status)])]:
            return f"exit code {status}: {command}\n{done.stdout[-2000:]}"
        line = missing(shown, re.sub(r"^\[\d\d:\d\d:\d\d\] ", "", done.stdout, flags=re.M).splitlines())
        if line is not None:
            return f"$ {command}\ndoes not print, or not in this order:\n{line}\nbut\n{done.stdout[-4000:]}"
    if len(todo) < 3:
        return f"only {len(todo)} commands"
    print(f"{len(todo)} commands print what the page shows")
    return None


def shared_folders(pages):
    """Folders that commands of more than one page write: (folder, page, page). pages: name -> text."""
    named = [(page, re.sub(r"\$\w+", "*", folder)) for page, text in pages.items()
             for folder in sorted(set(re.findall(r"--output (runs/[^\s`;]+)", text)))]
    for k, (page, folder) in enumerate(named):
        for other, second in named[:k]:
            if page != other and (fnmatch.fnmatch(second, folder) or fnmatch.fnmatch(folder, second)):
                yield folder, other, page


def folders(source):
    places = ["README.md", "docs/getting_started.md", "docs/install.md", "docs/verification.md"]
    for room in ("docs/tutorials", "docs/gallery"):
        places += [f"{room}/{name}" for name in sorted(os.listdir(os.path.join(source, room))) if name.endswith(".md")]
    pages = {place: open(os.path.join(source, place), encoding="utf-8").read() for place in places}
    found = list(shared_folders({page: text for page, text in pages.items() if "--output runs/" in text}))
    for folder, first, second in found:
        print(f"{folder} is written by {first} and {second}: give one of them another name")
    return 1 if found else 0


def self_test():
    assert commands("```console\n$ ls\na  b\n\n$ echo $?\n0\n```\n```\n$ no\n```") == [("ls", ["a  b"]), ("echo $?", ["0"])]
    assert missing(["rate: -0.153 …, theory -0.1533"], ["x", "Growth rate: -0.1534 ± 0.1, theory -0.1534 (+0 %)"]) is None
    assert missing(["rate: -0.163 …, theory -0.1533"], ["Growth rate: -0.1534 ± 0.1, theory -0.1534 (+0 %)"]) is not None
    assert missing(["b", "a"], ["a", "b"]) == "a" and missing(["a", "b"], ["a", "c", "b"]) is None
    assert missing(["drift 1e-13"], ["drift -3e-12"]) is None and missing(["drift 1e-13"], ["drift 3e-2"]) is not None
    assert missing(["a  b"], ["a        b"]) is None and missing(["did you mean 'x'?"], ["did you mean 'y'?"]) is not None
    assert list(shared_folders({"a": "x --output runs/a", "b": "y --output runs/b"})) == []
    assert list(shared_folders({"a": "x --output runs/a", "b": "`y --output runs/a`"})) == [("runs/a", "a", "b")]
    assert list(shared_folders({"a": "x --output runs/k_0.3", "b": "y --output runs/k_$k --quiet"})) == [("runs/k_*", "a", "b")]


def main():
    if sys.argv[1] == "--folders":
        return folders(os.path.abspath(sys.argv[2]))
    if sys.argv[1] == "--self-test":
        return self_test()
    build, source, page = (os.path.abspath(path) for path in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else scratch
        os.makedirs(folder, exist_ok=True)
        for name in ("inputs", "configs"):
            if not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(source, name), os.path.join(folder, name))
        fault = run(page, build, folder)
    if fault:
        sys.exit(f"FAILED: {os.path.relpath(page, source)}: {fault}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
