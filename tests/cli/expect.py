#!/usr/bin/env python3
"""Run the cases of a plain text file against executables; see README.md for the format. Standard library only."""
import argparse
import contextlib
import fcntl
import os
import resource
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ENTRIES = {"case", "needs", "on", "before", "run", "ranks", "signal", "exit", "says", "silent", "exists", "absent", "check"}
# for one command; helpers find it in $PATIENCE_S
PATIENCE_S = 120 * float(os.environ.get("QUINTET_TEST_PATIENCE", 1))


# QUINTET_TEST_DEVICE, and what runs there say of it; cases find both in $DEVICE and $DEVICE_SAID
DEVICES = {"portable": "the device engines on the host's cores", "gpu": ", compute capability "}

BEGUN, REFUSED = -2, -3  # what is new of a run (warm.hpp)


def read_cases(path):
    """The cases of a file, the program that forks runs, "" if none does, and on how many cores they run, None for all."""
    cases, warm, cores = [], "", None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        key, separator, value = line.partition(": ")
        if key == "warm" and not cases:
            warm = value
            continue
        if key == "cores" and not cases:
            cores = int(value)
            continue
        if not separator or key not in ENTRIES or (key != "case" and not cases):
            sys.exit(f"{path}:{number}: expected 'ENTRY: VALUE' with one of {', '.join(sorted(ENTRIES))}")
        if key == "case":
            cases.append({"name": value, "checks": []})
        elif key in ("needs", "on", "before", "run", "ranks", "signal"):
            cases[-1][key] = value
        else:
            cases[-1]["checks"].append((key, value))
    return cases, warm, cores


def missing(case):
    """Of the programs, files and the device that a case needs, those that are not here."""
    if case.get("on", os.environ["DEVICE"]) != os.environ["DEVICE"]:
        return [f"device {case['on']}"]
    return [name for name in case.get("needs", "").split() if not (shutil.which(name) or os.path.exists(name))]


def command_of(case, settings, warm):
    words = [os.path.expandvars(word) for word in shlex.split(case["run"])]
    if warm and words[0] == warm.name:
        words[0] = warm.path
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


def use_bare_python(folder):
    """Have cases find this python3 itself, not a script that looks for one, and without its packages: a third of the time of a start."""
    bin_folder = os.path.join(folder, "bin")
    os.mkdir(bin_folder)
    os.symlink(os.path.realpath(sys.executable), os.path.join(bin_folder, "python3"))
    with open(os.path.join(folder, "pyvenv.cfg"), "w", encoding="utf-8") as file:
        file.write(f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
    os.environ["PATH"] = bin_folder + os.pathsep + os.environ["PATH"]


def stay_on(n_cores):
    """Have all that is started from here run on so many cores, others for each file, and take as many threads of them."""
    here = sorted(os.sched_getaffinity(0))
    first = os.getpid() % len(here)
    os.sched_setaffinity(0, (here + here)[first:first + n_cores])


class WarmProgram:
    """A program that is loaded once and forks a process for each run (apps/application/cli/warm.hpp); a stand-in of its name
    (stand_in.c) has it do so, and is what a case starts."""

    def __init__(self, name, stand_in, folder):
        self.name, self.path = name, os.path.join(folder, name)
        os.symlink(stand_in, self.path)
        os.environ["STAND_INS"] = folder
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{self.path}.socket")
        self.listener.listen(64)
        self.socket, other = socket.socketpair()
        self.process = subprocess.Popen([name, "warm"], stdin=other)
        other.close()
        self.stand_ins = {}  # of the runs that have begun, by process
        self.takes_runs = self.news() is not None
        if self.takes_runs:
            threading.Thread(target=self.serve, daemon=True).start()

    def news(self):
        """(process, what is new of it); nothing if the program has ended."""
        bytes_read = self.socket.recv(16, socket.MSG_WAITALL)
        return struct.unpack("qq", bytes_read) if len(bytes_read) == 16 else None

    def begin(self, stand_in):
        """Have a stand-in's run forked, on the cores that the stand-in may use."""
        head = stand_in.recv(16, socket.MSG_WAITALL)
        if len(head) < 16:
            return stand_in.close()
        order = stand_in.recv(struct.unpack("QQ", head)[0], socket.MSG_WAITALL)
        pid, _, _ = struct.unpack("3i", stand_in.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        with contextlib.suppress(OSError):
            os.sched_setaffinity(self.process.pid, os.sched_getaffinity(pid))
        self.socket.sendall(head + order)
        while (news := self.news()) and news[1] not in (BEGUN, REFUSED):
            self.end_run(*news)
        if not news or news[1] == REFUSED:
            return stand_in.close()
        self.stand_ins[news[0]] = stand_in
        self.tell(stand_in, news)

    def end_run(self, process, status):
        if stand_in := self.stand_ins.pop(process, None):
            self.tell(stand_in, (process, status))
            stand_in.close()

    def tell(self, stand_in, news):
        with contextlib.suppress(OSError):  # it was killed
            stand_in.sendall(struct.pack("qq", *news))

    def serve(self):
        while True:
            watched = {stand_in: process for process, stand_in in self.stand_ins.items() if stand_in}
            ready, _, _ = select.select([self.listener, self.socket, *watched], [], [])
            for source in ready:
                if source is self.listener:
                    self.begin(self.listener.accept()[0])
                elif source is self.socket:
                    news = self.news()
                    if not news:  # it has ended, and what waits for it ends, too
                        for waiting in [self.listener, *filter(None, self.stand_ins.values())]:
                            waiting.close()
                        return
                    self.end_run(*news)
                elif source.fileno() >= 0:  # a stand-in says no more: it was killed, its run must go
                    self.stand_ins[watched[source]] = None
                    source.close()
                    with contextlib.suppress(OSError):
                        os.kill(watched[source], signal.SIGKILL)

    def cpu_seconds(self):
        """Of the program and of its runs that have ended."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # utime, stime, cutime, cstime

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.process.wait()


def run(case, settings, warm):
    if "before" in case and (code := subprocess.call(case["before"], shell=True)) != 0:
        return code, f"failed: {case['before']}"
    output = tempfile.TemporaryFile("w+", errors="replace")
    fcntl.fcntl(output, fcntl.F_SETFL, os.O_APPEND)  # all add to it, runs of stand-ins too, who open it anew
    process = subprocess.Popen(command_of(case, settings, warm), stdout=output, stderr=subprocess.STDOUT)
    try:
        if "signal" in case:
            send_when_there(process, *case["signal"].split())
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    output.seek(0)
    return process.returncode, output.read()


def cpu_seconds(warm):
    """Of all processes that have been started and have ended, those that a loaded program forked among them."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    forked = warm.cpu_seconds() if warm else 0.0
    return usage.ru_utime + usage.ru_stime + forked


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
    os.environ["PATH"] = os.pathsep.join([*map(os.path.abspath, settings.bin), os.environ["PATH"]])
    os.environ["PATIENCE_S"] = str(PATIENCE_S)
    device = os.environ["DEVICE"] = os.environ.get("QUINTET_TEST_DEVICE") or "portable"
    if device not in DEVICES:
        sys.exit(f"QUINTET_TEST_DEVICE is '{device}'; expected {' or '.join(DEVICES)}")
    os.environ["DEVICE_SAID"] = DEVICES[device]
    os.environ["HERE"] = os.path.dirname(os.path.abspath(settings.cases))
    cases, warm_name, n_cores = read_cases(settings.cases)
    if n_cores:
        stay_on(n_cores)
    failed, skipped = 0, 0
    with tempfile.TemporaryDirectory(prefix="quintet_cli_", ignore_cleanup_errors=True) as scratch, tempfile.TemporaryDirectory(prefix="quintet_stand_ins_") as stand_ins:
        os.chdir(scratch)
        use_bare_python(stand_ins)
        name, _, where = warm_name.partition(" ")
        stand_in = shutil.which("stand_in")
        if name and not stand_in:
            print("no stand_in here (target quintet_stand_in): each run starts by itself", flush=True)
        warm = WarmProgram(name, stand_in, stand_ins) if name and stand_in else None
        if warm and not warm.takes_runs:  # as a sanitizer's threads would have it
            print(f"{name} forks no runs here: each starts by itself", flush=True)
            warm.end()
            warm = None
        if warm and where == "everywhere":
            os.environ["PATH"] = stand_ins + os.pathsep + os.environ["PATH"]
        for case in cases:
            if missing(case):
                skipped += 1
                print(f"skipped  {case['name']}: no {', '.join(missing(case))} here", flush=True)
                continue
            start, cpu_start = time.monotonic(), cpu_seconds(warm)
            code, output = run(case, settings, warm)
            problems = [text for key, value in case["checks"] if (text := problem(key, value, code, output))]
            print("FAILED" if problems else "passed", f"{time.monotonic() - start:6.1f} s, CPU {cpu_seconds(warm) - cpu_start:5.2f} s ",
                  case["name"], flush=True)
            if problems:
                failed += 1
                print("\n".join(f"    {text}" for text in problems), f"    $ {case['run']}\n{output}", sep="\n", flush=True)
        if warm:
            warm.end()
        os.chdir("/")
    print(f"{len(cases) - failed - skipped} of {len(cases)} cases passed, {skipped} skipped, CPU {cpu_seconds(None):.1f} s")
    return 1 if failed or not cases else 0


sys.exit(main())
