#!/usr/bin/env python3
"""Every command of README.md is one that the programs take. Usage: pages.py BUILD SOURCE

Lines of its code blocks and of its table that begin with a program of the suite are run in an empty folder that sees
inputs/ and configs/, in their order. A command that would compute for minutes ends after its check (`--validate`,
`--dry-run`), all others run as they stand; `--restart auto` and `report` work on a run of ten steps made in between, super-resolution
of a flow as quickstart leaves it, and `dpmd serve` for a server that ends at once.
"""
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import threading

build, source = (os.path.abspath(path) for path in sys.argv[1:3])
PROGRAMS = ("dpmd", "meshfreeflow", "podlstm", "quintet", "submatrix", "vlasov")
# What a command needs in order to end within seconds.
SHORTENED = {("dpmd", "run"): ["--set", "time.steps=10"], ("quintet", "campaign"): ["--dry-run"]}


def commands():
    """The README's command lines, without what the shell makes of them."""
    text = open(os.path.join(source, "README.md")).read()
    for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
        yield from block.splitlines()
    yield from re.findall(r"^\| [^|]* \| `([^`]*)`", text, re.M)


def shortened(words):
    program = next(k for k, word in enumerate(words) if word in PROGRAMS)
    name = tuple(words[program:program + 2])
    if name in SHORTENED:
        return words + SHORTENED[name]
    checks_only = {"--validate", "--print-config", "--dry-run"} & set(words) or name[0] == "quintet" or name == ("dpmd", "serve")
    return words if checks_only else words + ["--validate"]


def dismiss(words):
    """Stand in for i-PI: wait for a driver at its socket, of a name that no other server has, and send it home. Gives the thread that does so."""
    name = words[words.index("--unix") + 1] = f"{words[words.index('--unix') + 1]}_{os.getpid()}"
    path = f"/tmp/ipi_{name}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    listener.settimeout(60)

    def serve():
        try:
            connection, _ = listener.accept()
            connection.sendall(b"EXIT".ljust(12))
            connection.close()
        except socket.timeout:
            pass  # the command has not come: it fails by itself
        finally:
            listener.close()
            os.unlink(path)
    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def main():
    environment = dict(os.environ, PATH=f"{build}/bin:{os.environ['PATH']}")
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("inputs", "configs"):
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
        if os.path.exists(f"{build}/bin/meshfreeflow"):
            subprocess.run(["meshfreeflow", "simulate", "inputs/meshfreeflow/convection_unseen.yaml", "--set", "time.end=4", "--quiet", "--set",
                            "output.from=1.9", "--set", "statistics.from=3", "--output", "runs/quickstart/convection_unseen"],
                           cwd=folder, env=environment, check=True)
        for line in commands():
            words = shlex.split(re.sub(r"\s>\s*\S+", "", line), comments=True)
            if not words or words[0] not in (*PROGRAMS, "mpirun") or not os.path.exists(f"{build}/bin/{words[0]}") and words[0] != "mpirun":
                continue
            if words[0] == "mpirun":
                words[1:1] = ["--oversubscribe"]
            words = shortened(words)
            server = dismiss(words) if words[:2] == ["dpmd", "serve"] else None
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            if server:
                server.join()
            ran += 1
            if done.returncode != 0:
                sys.exit(f"FAILED ({done.returncode}): {line}\nas {shlex.join(words)}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    if ran < 12:
        sys.exit(f"FAILED: only {ran} commands were found in README.md")
    print(f"{ran} commands of README.md run")


main()
