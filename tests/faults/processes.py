"""Programs of the suite as processes: started on ranks, watched, killed, waited for."""
import contextlib
import glob
import os
import signal
import subprocess
import time

PATIENCE = float(os.environ.get("QUINTET_TEST_PATIENCE", 1))
HUNG = "hung"  # the code of a process that did not end in time


def children_of(parents):
    """Living processes whose parent is one of these."""
    children = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                number, rest = stream.read().rsplit(")", 1)
        except OSError:  # it has ended
            continue
        state, parent = rest.split()[:2]
        if int(parent) in parents and state != "Z":
            children.append(int(number.split()[0]))
    return children


def kill_all(processes, number=signal.SIGKILL):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Run:
    """A command on some ranks, whose output goes to a file."""

    def __init__(self, words, ranks, said, scratch, prepare=None, grace_s=None):
        self.ranks, self.said_path = ranks, said
        launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
        os.makedirs(scratch, exist_ok=True)
        # What killed ranks leave (session folders, shared memory) goes with the trial.
        environment = {**os.environ, "TMPDIR": scratch, "OMPI_MCA_btl_vader_backing_directory": scratch}
        if grace_s:  # between the SIGTERM that mpirun is sent and its SIGKILL to the ranks; it then waits that long at every end but 0
            environment["OMPI_MCA_odls_base_sigkill_timeout"] = str(grace_s)
        self.started = time.monotonic()
        with open(said, "ab") as stream:
            self.process = subprocess.Popen(launcher + words, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                                            start_new_session=True, env=environment, preexec_fn=prepare)
        self.pid = self.process.pid
        self.family = {self.pid}  # as far as it has been looked at

    def is_running(self):
        return self.process.poll() is None

    def workers(self):
        """The ranks; on one rank the program itself."""
        return [self.pid] if self.ranks == 1 else sorted(children_of({self.pid}))

    def everyone(self):
        """All processes that began with this one and still live, children of children too."""
        found, new = {self.pid}, {self.pid}
        while new:
            new = set(children_of(new)) - found
            found |= new
        return found

    def send(self, number, to):
        """A signal `to` the launcher, to all ranks (as a scheduler does), or to one of them."""
        self.family |= self.everyone()
        with contextlib.suppress(ProcessLookupError):
            kill_all([self.pid] if to == "launcher" else self.workers() if to == "ranks" else [to], number)

    def kill(self, one=None):
        """SIGKILL to one rank, or to everyone at once, as a node that goes down does."""
        if one is not None:
            self.family |= self.everyone()
            return kill_all([one])
        self.family |= self.everyone()
        kill_all(self.family, signal.SIGSTOP)  # so that none sees another die
        kill_all(self.family)
        return None

    def finish(self, limit_s):
        """Exit code; minus the signal that ended it; HUNG if it had to be ended, with the stacks in its output."""
        limit_s *= PATIENCE
        try:
            code = self.process.wait(max(0.1, limit_s - (time.monotonic() - self.started)))
            return code if self.others_end(20 * PATIENCE) else HUNG
        except subprocess.TimeoutExpired:
            self.write_stacks()
            kill_all(self.everyone())
            self.process.wait()
            return HUNG

    def others_end(self, limit_s):
        """Wait for ranks that outlive their launcher: they may still be writing."""
        deadline = time.monotonic() + limit_s
        while any(map(is_alive, self.family - {self.pid})) and time.monotonic() < deadline:
            time.sleep(0.002)
        return not any(map(is_alive, self.family - {self.pid}))

    def write_stacks(self):
        with open(self.said_path, "ab") as stream:
            for process in self.workers():
                stream.write(f"\n---- stack of hung process {process}\n".encode())
                stream.flush()
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    subprocess.run(["gdb", "-p", str(process), "-batch", "-nx", "-ex", "bt 25"], stdout=stream, stderr=subprocess.DEVNULL,
                                   timeout=30, check=False)

    def said(self):
        with open(self.said_path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
