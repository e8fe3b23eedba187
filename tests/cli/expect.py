#!/usr/bin/env python3
"""Run the cases of a plain text file against executables; see README.md for the format. Standard library only."""
import argparse
import os
import resource
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

ENTRIES = {"case", "needs", "before", "run", "ranks", "signal", "exit", "says", "silent", "exists", "absent", "check"}
# for one command; helpers find it in $PATIENCE_S
PATIENCE_S = 120 * float(os.environ.get("QUINTET_TEST_PATIENCE", 1))


def read_cases(path):
    """The cases of a file, and the program that forks runs, "" if none does."""
    cases, warm = [], ""
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        key, separator, value = line.partition(": ")
        if key == "warm" and not cases:
            warm = value
            continue
        if not separator or key not in ENTRIES or (key != "case" and not cases):
            sys.exit(f"{path}:{number}: expected 'ENTRY: VALUE' with one of {', '.join(sorted(ENTRIES))}")
        if key == "case":
            cases.append({"name": value, "checks": []})
        elif key in ("needs", "before", "run", "ranks", "signal"):
            cases[-1][key] = value
        else:
            cases[-1]["checks"].append((key, value))
    return cases, warm


def missing(case):
    """Of the programs and files that a case needs, those that are not here."""
    return [name for name in case.get("needs", "").split() if not (shutil.which(name) or os.path.exists(name))]


def command_of(case, settings):
    words = [os.path.expandvars(word) for word in shlex.split(case["run"])]
    if "ranks" in case:
        words = settings.mpiexec + ["-n", case["ranks"]] + words
    return words


def send_when_there(process, name, path):
    """Send a signal half a second after a file has appeared."""
    deadline = time.time() + PATIENCE_S
    while not os.path.exists(path) and process.poll() is None and time.time() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(getattr(signal, "SIG" + name))


class WarmProgram:
    """A program that is loaded once and forks a process for each run (apps/application/cli/warm.hpp)."""

    def __init__(self, name):
        self.socket, other = socket.socketpair()
        self.process = subprocess.Popen([name, "warm"], stdin=other)
        other.close()
        self.takes_runs = self.news() is not None

    def news(self):
        """(process, what is new of it); nothing if the program has ended."""
        bytes_read = self.socket.recv(16, socket.MSG_WAITALL)
        return struct.unpack("qq", bytes_read) if len(bytes_read) == 16 else None

    def run(self, words):
        """Exit code and output, which such a run writes to log.txt."""
        text = "".join(word + "\0" for word in [os.getcwd(), *words]).encode()
        self.socket.sendall(struct.pack("QQ", len(text), 0) + text)
        process, _ = self.news()
        self.socket.settimeout(PATIENCE_S)
        try:
            _, status = self.news()
        except socket.timeout:
            os.kill(process, signal.SIGKILL)
            self.socket.settimeout(None)
            _, status = self.news()
        with open("log.txt", errors="replace") as log:
            output = log.read()
        os.remove("log.txt")
        return os.waitstatus_to_exitcode(status), output

    def end(self):
        self.socket.close()
        self.process.wait()


def run(case, settings, warm):
    if "before" in case and (code := subprocess.call(case["before"], shell=True)) != 0:
        return code, f"failed: {case['before']}"
    if warm and command_of(case, settings)[0] == warm.process.args[0] and "signal" not in case:
        return warm.run(command_of(case, settings))
    output = tempfile.TemporaryFile("w+", errors="replace")
    process = subprocess.Popen(command_of(case, settings), stdout=output, stderr=subprocess.STDOUT)
    try:
        if "signal" in case:
            send_when_there(process, *case["signal"].split())
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    output.seek(0)
    return process.returncode, output.read()


def cpu_seconds():
    """Of all processes that have been started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def problem(key, value, code, output):
    value = os.path.expandvars(value)
    if key == "exit":
        return f"exit code {code}, expected {value}" if code != int(value) else ""
    if key == "says":
        return f"does not say: {value}" if value not in output else ""
    if key == "silent":
        return f"says: {value}" if value in output else ""
    if key == "exists":
        return f"{value} is not there" if not os.path.exists(value) else ""
    if key == "absent":
        return f"{value} is there" if os.path.exists(value) else ""
    return f"check failed: {value}" if subprocess.call(value, shell=True) else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", help="file with the cases")
    parser.add_argument("--bin", action="append", default=[], help="folder with executables (repeatable)")
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpirun", "--oversubscribe"])
    settings = parser.parse_args()
    # This python3 itself, not a script that looks for one at every start.
    os.environ["PATH"] = os.pathsep.join([*map(os.path.abspath, settings.bin), os.path.dirname(sys.executable), os.environ["PATH"]])
    os.environ["PATIENCE_S"] = str(PATIENCE_S)
    os.environ["HERE"] = os.path.dirname(os.path.abspath(settings.cases))
    cases, warm_name = read_cases(settings.cases)
    failed, skipped = 0, 0
    with tempfile.TemporaryDirectory(prefix="quintet_cli_") as scratch:
        os.chdir(scratch)
        warm = WarmProgram(warm_name) if warm_name else None
        if warm and not warm.takes_runs:  # as a sanitizer's threads would have it
            print(f"{warm_name} forks no runs here: each starts by itself", flush=True)
            warm.end()
            warm = None
        for case in cases:
            if missing(case):
                skipped += 1
                print(f"skipped  {case['name']}: no {', '.join(missing(case))} here", flush=True)
                continue
            start, cpu_start = time.monotonic(), cpu_seconds()
            code, output = run(case, settings, warm)
            problems = [text for key, value in case["checks"] if (text := problem(key, value, code, output))]
            print("FAILED" if problems else "passed", f"{time.monotonic() - start:6.1f} s, CPU {cpu_seconds() - cpu_start:5.2f} s ",
                  case["name"], flush=True)
            if problems:
                failed += 1
                print("\n".join(f"    {text}" for text in problems), f"    $ {case['run']}\n{output}", sep="\n", flush=True)
        if warm:
            warm.end()
        os.chdir("/")
    print(f"{len(cases) - failed - skipped} of {len(cases)} cases passed, {skipped} skipped, CPU {cpu_seconds():.1f} s")
    return 1 if failed or not cases else 0


sys.exit(main())
