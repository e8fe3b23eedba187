#!/usr/bin/env python3
"""quintet verify on what runs leave: verify.py BUILD SOURCE. A bit that flips at any of many places of any file is named or refused; what a
checkpoint does not count is cut, with a copy, and a run goes on from there."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

SMALL = ["--set", "grid.cells=[16,16]", "--set", "time.steps=40", "--set", "checkpoint_interval=20", "--set", "theory=null", "--quiet",
         "--threads", "1"]


def run(words, expected=0):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == expected, f"{' '.join(words)}: code {done.returncode}, expected {expected}\n{said}"
    return said


def flip(path, at):
    with open(path, "r+b") as stream:
        stream.seek(at)
        byte = stream.read(1)[0]
        stream.seek(at)
        stream.write(bytes([byte ^ (1 << (at % 8))]))


def flips(verify, path, places=6, refuses=()):
    """Each of some bits of a file, one after the other; the seal itself, 24 bytes, is not of the data."""
    size = os.path.getsize(path) - 24
    for i in range(places):
        at = (2 * i + 1) * size // (2 * places)
        flip(path, at)
        said = run([*verify, path], 2)
        assert "damaged" in said and os.path.basename(path) in said, f"{path}: byte {at}\n{said}"
        if i % 3 == 0:
            for words in refuses:
                assert "corrupt" in run(words, 2), f"{path}: byte {at}: {' '.join(words)}"
        flip(path, at)
    run([*verify, path])


def main():
    build, source = (os.path.abspath(path) for path in sys.argv[1:3])
    os.chdir(tempfile.mkdtemp())
    bins = f"{build}/bin"
    verify = [f"{bins}/quintet", "verify"]
    vlasov = [f"{bins}/vlasov", "run", f"{source}/inputs/vlasov/two_stream.yaml", "--output", "a", *SMALL]
    run(vlasov)
    said = run([*verify, "a"])
    assert "whole       a/run.h5 (its checksum agrees)" in said and "step_000000000040.h5 (its checksum agrees)" in said, said
    flips(verify, "a/run.h5")
    flips(verify, "a/checkpoints/step_000000000040.h5")

    # The newest checkpoint is damaged: it is put aside, and the table cut to the one before.
    with open("a/checkpoints/step_000000000040.h5", "r+b") as stream:
        stream.truncate(1000)
    run([*verify, "a"], 2)
    shutil.copytree("a", "b")
    said = run([*verify, "a", "--repair"])
    assert "put aside   a/checkpoints/step_000000000040.h5 as a/checkpoints/step_000000000040.damaged.h5" in said, said
    assert "history has 3 rows now, of 5" in said and os.path.exists("a/run.h5.before_repair"), said
    run([*vlasov, "--restart", "auto"])
    assert "history 5" in run([*verify, "a"])

    # Another program writes into a file: HDF5 cuts the seal off, and the file is one without.
    run(["h5copy", "-i", "b/run.h5", "-o", "a/run.h5", "-s", "/history", "-d", "/copied"])
    said = run([*verify, "a"])
    assert "whole       a/run.h5:" in said and "agrees)" not in said.split("a/run.h5:")[1], said

    # A model: DeePMD-kit's format, with a seal after the data.
    run([f"{bins}/dpmd", "convert", f"{source}/inputs/dpmd/copper/copper.dp", "model.dp"])
    flips(verify, "model.dp", refuses=([f"{bins}/dpmd", "inspect", "model.dp"],))

    os.mkdir("empty")
    assert "no HDF5 file" in run([*verify, "empty"], 2)

    # A living owner: nothing is touched, and what it has open is not called damaged.
    slow = subprocess.Popen([*vlasov[:3], "--output", "c", "--set", "time.end=1e6", "--quiet", "--threads", "1"])
    try:
        while not os.path.exists("c/run.h5") and slow.poll() is None:
            time.sleep(0.05)
        assert "in use      c/run.h5" in run([*verify, "c"])
        assert "owns it; nothing was changed" in run([*verify, "c", "--repair"], 2)
    finally:
        slow.terminate()
        slow.wait()
    print("whole, damaged, put aside")
    return 0


if __name__ == "__main__":
    sys.exit(main())
