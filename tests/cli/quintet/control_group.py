#!/usr/bin/env python3
"""Runs in a control group of 5 % less memory than they need, and of 5 % more: control_group.py BUILD SOURCE.

The limit is that of a parent, as a scheduler sets it for a job; the run is in a group inside it that has none. What a run needs is what
it says: it is refused in a group that is far too small, before anything large is allocated. Exit code 77 (skipped) where no group can be
made: it takes root, and the memory controller.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

FIRST, SECOND = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
# Name, words, a limit that is far too small (MB), ranks.
CASES = (
    ("plasma", ["vlasov", "run", "inputs/vlasov/two_stream.yaml", "--set", "time.steps=8", "--set", "grid.cells=[384,384]"], 40, 1),
    ("atoms", ["dpmd", "run", "inputs/dpmd/copper/nvt.yaml", "--set", "time.steps=2"], 20, 1),
    ("plasma, 2 ranks", ["vlasov", "run", "inputs/vlasov/two_stream.yaml", "--set", "time.steps=8", "--set", "grid.cells=[384,384]"], 60, 2),
)
NEEDED = re.compile(r"([\d.e+]+) GB on each of (\d+) ranks? of the control group (\S+) of ([\d.e+]+) GB, which has ([\d.e+]+) GB free")


class Group:
    """A group with a limit, and one inside it without."""

    def __init__(self):
        is_first = os.path.exists(f"{FIRST}/memory.limit_in_bytes")
        self.limit_name = "memory.limit_in_bytes" if is_first else "memory.max"
        self.outer = f"{FIRST if is_first else SECOND}/quintet_test_{os.getpid()}"
        self.inner = f"{self.outer}/step"
        os.mkdir(self.outer)
        if not is_first:
            write(f"{self.outer}/cgroup.subtree_control", "+memory")
        os.mkdir(self.inner)
        write(f"{self.outer}/{self.limit_name}", "-1" if is_first else "max")

    def run(self, words, bytes_):
        write(f"{self.outer}/{self.limit_name}", str(int(bytes_)))
        done = subprocess.run(["sh", "-c", f'echo $$ > {self.inner}/cgroup.procs && exec "$@"', "sh", *words], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def remove(self):
        for folder in (self.inner, self.outer):
            for _ in range(100):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.02)


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def words_of(build, folder, words, ranks):
    words = [f"{build}/bin/{words[0]}", *words[1:], "--threads", "1", "--output", f"{folder}/run", "--overwrite", "--quiet"]
    if ranks == 1:
        return words
    return ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *words]


def need_of(group, name, words, limit, ranks):
    """The limit with which what is held and what is asked for just fits (bytes)."""
    code, said = group.run(words, limit)
    found = NEEDED.search(said)
    assert code == 4 and found, f"{name}: in a group of {limit / 1e6:.0f} MB: code {code}\n{said}"
    assert int(found[2]) == ranks and found[3] == group.outer, f"{name}: {found[0]}"
    more, free = float(found[1]) * 1e9, float(found[5]) * 1e9
    return limit - free + ranks * more


def main():
    build, source = (os.path.abspath(path) for path in sys.argv[1:3])
    os.chdir(source)
    try:
        group = Group()
    except OSError as error:
        print(f"skipped: no control group can be made here: {error}")
        return 77
    folder = tempfile.mkdtemp(dir=build)  # not on a disk in memory, which counts as held
    try:
        for name, words, limit, ranks in CASES:
            words = words_of(build, folder, words, ranks)
            need = need_of(group, name, words, limit * 1e6, ranks)
            code, said = group.run(words, 0.95 * need)
            assert code == 4 and NEEDED.search(said), f"{name}: 5 % below {need / 1e6:.1f} MB: code {code}\n{said}"
            assert not os.path.exists(f"{folder}/run/run.h5"), f"{name}: something was written"
            if ranks == 1:  # mpirun itself takes some, too
                code, said = group.run(words, 1.05 * need)
                assert code == 0, f"{name}: 5 % above {need / 1e6:.1f} MB: code {code}\n{said}"
                shutil.rmtree(f"{folder}/run")
            print(f"{name}: needs {need / 1e6:.1f} MB")
    finally:
        group.remove()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
