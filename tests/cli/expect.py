#!/usr/bin/env python3
"""Run the cases of a plain text file against executables; see README.md for the format. Standard library only."""
import argparse
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENTRIES = {"case", "needs", "run", "ranks", "signal", "exit", "says", "silent", "exists", "absent", "check"}
# for one command; helpers find it in $PATIENCE_S
PATIENCE_S = 120 * float(os.environ.get("QUINTET_TEST_PATIENCE", 1))


def read_cases(path):
    cases = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        key, separator, value = line.partition(": ")
        if not separator or key not in ENTRIES or (key != "case" and not cases):
            sys.exit(f"{path}:{number}: expected 'ENTRY: VALUE' with one of {', '.join(sorted(ENTRIES))}")
        if key == "case":
            cases.append({"name": value, "checks": []})
        elif key in ("needs", "run", "ranks", "signal"):
            cases[-1][key] = value
        else:
            cases[-1]["checks"].append((key, value))
    return cases


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


def run(case, settings):
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
    cases = read_cases(settings.cases)
    failed, skipped = 0, 0
    with tempfile.TemporaryDirectory(prefix="quintet_cli_") as scratch:
        os.chdir(scratch)
        for case in cases:
            if missing(case):
                skipped += 1
                print(f"skipped  {case['name']}: no {', '.join(missing(case))} here", flush=True)
                continue
            start, cpu_start = time.monotonic(), cpu_seconds()
            code, output = run(case, settings)
            problems = [text for key, value in case["checks"] if (text := problem(key, value, code, output))]
            print("FAILED" if problems else "passed", f"{time.monotonic() - start:6.1f} s, CPU {cpu_seconds() - cpu_start:5.2f} s ",
                  case["name"], flush=True)
            if problems:
                failed += 1
                print("\n".join(f"    {text}" for text in problems), f"    $ {case['run']}\n{output}", sep="\n", flush=True)
        os.chdir("/")
    print(f"{len(cases) - failed - skipped} of {len(cases)} cases passed, {skipped} skipped, CPU {cpu_seconds():.1f} s")
    return 1 if failed or not cases else 0


sys.exit(main())
