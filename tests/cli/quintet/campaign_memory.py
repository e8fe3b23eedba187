#!/usr/bin/env python3
"""Items that the kernel kills for memory, in a control group of 120 MB: campaign_memory.py

Two that say 30 MB and take 80 do not run side by side; one that says nothing runs alone in the end; one that takes more than there is
fails and says so; a task of a job array leaves it to the next job, which asks for more. Where no group can be made it says so, and has
looked at nothing.
"""
import glob
import os
import pathlib
import shutil
import subprocess
import sys

MEMORY = 120_000_000
TAKE = "import time; x = bytearray({mb} * 1000000); x[::4096] = b'x' * len(x[::4096]); time.sleep({s}); open('x', 'w').write('x')"
CAMPAIGN = """slots: {cpu: 2}
memory: 120 MB
stages:
  - {name: a, sweep: {i: [1, 2]}, memory: 30 MB, walltime: 60 s, command: [PYTHON, -c, "TAKE", "{i}"], outputs: [x]}
"""
QUIET = """slots: {cpu: 2}
stages:
  - {name: a, sweep: {i: [1, 2]}, walltime: 60 s, command: [PYTHON, -c, "TAKE", "{i}"], outputs: [x]}
"""


def group():
    """A folder of a control group of this much memory, and its file of processes; None where there can be none."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = pathlib.Path(root, f"quintet_test_{os.getpid()}")
        try:
            path.mkdir()
            (path / limit).write_text(str(MEMORY))
            for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
                if (path / swap).exists():
                    (path / swap).write_text(str(MEMORY if "limit" in swap else 0))
            return path
        except OSError:
            if path.exists():
                path.rmdir()
    return None


def campaign(path, text, mb, seconds, name, *words, code=0):
    take = TAKE.replace("{mb}", str(mb)).replace("{s}", str(seconds))
    pathlib.Path(f"{name}.yaml").write_text(text.replace("PYTHON", sys.executable).replace("TAKE", take))
    done = subprocess.run(["quintet", "campaign", f"{name}.yaml", "--output", name, *words], capture_output=True, text=True, check=False,
                          preexec_fn=lambda: (path / "cgroup.procs").write_text(str(os.getpid())))
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    return said


def main():
    path = group()
    if path is None:
        print("not tried, no control group can be made here: more was asked for")
        return
    try:
        said = campaign(path, CAMPAIGN, 80, 1, "said")
        assert "killed for memory; it is tried again with 0.06 GB" in said, said
        assert len(glob.glob("said/store/*/x")) == 2, said
        said = campaign(path, QUIET, 80, 1, "quiet")
        assert "killed for memory; it is tried again alone" in said and len(glob.glob("quiet/store/*/x")) == 2, said
        said = campaign(path, CAMPAIGN, 300, 0, "most", code=3)
        assert "it was killed for memory, of which it had all there is here" in said, said
        key = os.listdir("most/failed")[0]
        shutil.rmtree(f"most/failed/{key}")
        os.remove("most/memory.txt")
        said = campaign(path, CAMPAIGN, 300, 0, "most", "--items", key, code=3)
        assert "killed for memory: queued again it asks for 0.06 GB" in said, said
        assert "60000000 a i=" in pathlib.Path("most/memory.txt").read_text()
    finally:
        path.rmdir()
    print("more was asked for")


if __name__ == "__main__":
    main()
