#!/usr/bin/env python3
"""Run a command, send it SIGUSR1 when it handles that signal and has no directory yet, and end with its exit code.

It is stopped while it is looked at, and begun again where it was further on.
"""
import os
import shutil
import signal
import subprocess
import sys
import time


def status(process):
    """Lines of its status by their names; none where it has ended."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as stream:
            return dict(line.rstrip("\n").split(":\t", 1) for line in stream if ":\t" in line)
    except OSError:
        return {}


def handles(process, number):
    """Whether the process has a handler of this signal."""
    return int(status(process).get("SigCgt", "0"), 16) >> (number - 1) & 1


def hold(process):
    """Stop it. Whether it did, rather than end."""
    process.send_signal(signal.SIGSTOP)
    while (state := status(process).get("State", "Z")[0]) not in "TZX":
        time.sleep(0.001)
    return state == "T"


def begun_early(words, directory):
    """A command that handles the signal, stopped before it has a directory; None where it was not to be had."""
    for _ in range(30):
        process = subprocess.Popen(words)
        while process.poll() is None and not handles(process, signal.SIGUSR1):
            time.sleep(0.001)
        if hold(process) and not os.path.exists(directory):
            return process
        process.kill()
        process.wait()
        shutil.rmtree(directory, ignore_errors=True)
    return None


def main(words):
    process = begun_early(words, words[words.index("--output") + 1])
    if not process:
        sys.exit("it never handled the signal before it had a directory")
    process.send_signal(signal.SIGUSR1)
    process.send_signal(signal.SIGCONT)
    code = process.wait()
    print("sent before there was a run", flush=True)
    sys.exit(code if code >= 0 else 128 - code)


main(sys.argv[1:])
