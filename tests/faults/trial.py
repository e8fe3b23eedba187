"""One trial: a fault strikes a run; then it is restarted to its end and compared with a run that was left alone."""
import contextlib
import functools
import os
import random
import re
import shutil
import subprocess
import threading
import time
import traceback

import compare
import inputs
import moments
from processes import HUNG, Run
from programs import BY_NAME

# Outcomes, the best first. The first three are what is promised.
SAME, TOLD, REFUSED, LEFT, UNEXPECTED, LOST, SILENT, HANGS, CRASHED, SKIPPED = (
    "same", "told", "refused", "left over", "unexpected", "LOST", "SILENT", "HUNG", "CRASHED", "skipped")
OUTCOMES = (SAME, TOLD, REFUSED, LEFT, UNEXPECTED, LOST, SILENT, HANGS, CRASHED)
BAD = (UNEXPECTED, LOST, SILENT, HANGS, CRASHED)
EARLY, DONE, USAGE, INPUT, NUMERICAL, RESOURCE, BUG = 75, 0, 1, 2, 3, 4, 70
# How a restart says that something is lost; other warnings say nothing of that.
LOSS = re.compile(r"\bwarning\b.*(cannot be continued|begins? here|put aside|is not there any more|\blost\b|damaged)", re.IGNORECASE)


class Found(Exception):
    """The trial's outcome is known before its end."""

    def __init__(self, outcome, text):
        super().__init__(text)
        self.outcome, self.text = outcome, text


class Lab:
    """The folder of a campaign: inputs, runs that were left alone, trials."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.lock, self.locks = threading.Lock(), {}

    @property
    def inputs(self):
        return os.path.join(self.folder, "inputs")

    @functools.cached_property
    def can_verify(self):
        return subprocess.run(["quintet", "verify", "--help"], capture_output=True, check=False).returncode == 0

    def doubt(self, folder):
        """What `quintet verify` finds wrong with results that are right; empty for nothing."""
        if not self.can_verify:
            return ""
        done = subprocess.run(["quintet", "verify", folder], capture_output=True, text=True, errors="replace", check=False)
        return (done.stdout + done.stderr)[-400:] if done.returncode else ""

    def prepare(self, program):
        with self.once("inputs"):
            inputs.make(self.inputs, program.needs)

    @contextlib.contextmanager
    def once(self, name):
        """One at a time for what is made once."""
        with self.lock:
            mine = self.locks.setdefault(name, threading.Lock())
        with mine:
            yield

    def reference(self, program, ranks):
        """Folder of the run that is left alone, and its wall time (s)."""
        base = os.path.join(self.folder, "alone", f"{program.name}_{ranks}")
        out, time_path = os.path.join(base, "out"), os.path.join(base, "wall_s")
        with self.once(base):
            if not os.path.exists(time_path):
                shutil.rmtree(base, ignore_errors=True)
                os.makedirs(base)
                self.prepare(program)
                run = self.start(program, ranks, out, base)
                code = run.finish(120)
                if code != 0:
                    raise RuntimeError(f"{program.name} left alone on {ranks} ranks ends with {code}: {run.said()[-600:]}")
                wall = time.monotonic() - run.started
                with open(time_path, "w", encoding="utf-8") as stream:
                    stream.write(repr(wall))
            with open(time_path, encoding="utf-8") as stream:
                return out, float(stream.read())

    def start(self, program, ranks, out, base, flags=(), prepare=None, grace_s=None):
        common = [] if program.name == "campaign" else ["--quiet", "--threads", "1"]
        words = [*program.words, *common, "--output", out, *flags]
        former = prepare

        def begin():
            os.chdir(self.inputs)
            if former:
                former()

        return Run(words, ranks, os.path.join(base, "said.txt"), os.path.join(base, "tmp"), begin, grace_s)


class Trial:
    def __init__(self, lab, program, fault, seed):
        self.lab, self.program, self.fault, self.seed = lab, BY_NAME[program], fault, seed
        self.rng = random.Random(f"{program} {fault} {seed}")
        self.base = os.path.join(lab.folder, "trials", f"{program}.{fault}.{seed}")
        self.out = os.path.join(self.base, "out")
        self.log, self.ranks_used = [], []
        self.loss_allowed = self.refusal_allowed = False

    @property
    def name(self):
        return f"{self.program.name}/{self.fault}/{self.seed}"

    def note(self, text):
        self.log.append(text)

    def draw_ranks(self, *choices):
        allowed = [n for n in choices or (1, 1, 2) if n in self.program.ranks]
        return self.rng.choice(allowed or [1])

    def wall_s(self, ranks):
        return self.lab.reference(self.program, ranks)[1]

    def limit_s(self, ranks):
        return 30 + 10 * self.wall_s(ranks)

    def start(self, ranks, *flags, prepare=None, grace_s=None):
        self.lab.reference(self.program, ranks)  # first: it takes its time
        self.ranks_used.append(ranks)
        if os.path.isdir(self.out) and "--restart" not in flags and self.program.name != "campaign":
            flags = ("--restart", "auto", *flags)
        if self.program.name == "campaign":
            flags = ()
        return self.lab.start(self.program, ranks, self.out, self.base, flags, prepare, grace_s)

    def end(self, run, *allowed):
        """Wait for a run, and say which codes it may end with; a hang or a crash ends the trial."""
        code = run.finish(self.limit_s(run.ranks))
        self.note(f"{run.ranks} ranks: {code}")
        if code == HUNG:
            raise Found(HANGS, f"did not end within {self.limit_s(run.ranks):.0f} s")
        if allowed and code not in allowed:
            crashed = code == BUG or (isinstance(code, int) and (code < 0 or code in (134, 135, 136, 139)))
            raise Found(CRASHED if crashed else UNEXPECTED, f"ends with {code}: {run.said()[-500:]}")
        return code

    def stopped(self, ranks=1):
        """Copy to `out` what a run killed in its middle has left, with two whole checkpoints or more. The run is made once."""
        folder = os.path.join(self.lab.folder, "stopped", f"{self.program.name}_{ranks}")
        with self.lab.once(folder):
            if not os.path.isdir(folder):
                self.make_stopped(folder, ranks)
        shutil.copytree(folder, self.out, symlinks=True)
        self.ranks_used.append(ranks)

    def make_stopped(self, folder, ranks):
        base = folder + ".making"
        for share in (0.3, 0.2, 0.1, 0.05, 0.02, 0, 0, 0, 0, 0):  # of its wall time, behind its second checkpoint
            shutil.rmtree(base, ignore_errors=True)
            os.makedirs(base)
            run = self.lab.start(self.program, ranks, base + "/out", base)
            store = base + "/out/checkpoints"
            wanted = 1 if self.program.own_store else 2
            moments.wait_for(run, self.limit_s(ranks), lambda: len([n for n in moments.listing(store) if n.endswith(".h5")]) >= wanted)
            moments.wait_for(run, share * self.wall_s(ranks), lambda: False)
            if run.is_running():
                run.kill()
            if run.finish(60) != 0 and len([n for n in moments.listing(store) if n.endswith(".h5")]) >= wanted:
                shutil.move(base + "/out", folder)
                return shutil.rmtree(base)
        raise Found(SKIPPED, "no run could be stopped in its middle")

    def checkpoints(self):
        folder = os.path.join(self.out, "checkpoints")
        with contextlib.suppress(OSError):
            return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".h5"))
        return []

    # ---- the end of every trial ------------------------------------------------------------------------------------

    def restart_to_the_end(self, ranks):
        for _ in range(40):
            begin = len(self.said())
            run = self.start(ranks)
            code = self.end(run)
            said = self.said()[begin:]
            if code != EARLY:
                return code, said
        raise Found(LOST, "forty restarts do not end it")

    def said(self):
        with contextlib.suppress(OSError):
            with open(os.path.join(self.base, "said.txt"), encoding="utf-8", errors="replace") as stream:
                return stream.read()
        return ""

    def warnings(self, said, reference):
        """What tells of a loss, and the run that was left alone does not say."""
        with open(os.path.join(os.path.dirname(reference), "said.txt"), encoding="utf-8", errors="replace") as stream:
            known = set(stream.read().splitlines())
        return [line for line in said.splitlines() if LOSS.search(line) and line not in known]

    def judge(self, code, said, ranks):
        reference, _ = self.lab.reference(self.program, ranks)
        words = " / ".join(said.strip().splitlines())[-600:]
        if code in (BUG, 134, 135, 136, 139) or code < 0:
            return CRASHED, f"restart ends with {code}: {words}"
        if code in (INPUT, RESOURCE) and self.refusal_allowed and words:
            return REFUSED, words
        if code != DONE:
            return LOST, f"restart ends with {code}: {words}"
        same_ranks = set(self.ranks_used) <= {ranks} and ranks in self.program.exact
        found = compare.compare(self.out, reference, self.program, same_ranks)
        told = self.warnings(self.said(), reference)
        if found and told:
            return TOLD, f"{told[0][:200]} | {'; '.join(found[:4])}"
        if found:
            return SILENT, "; ".join(found[:6])
        if left := compare.left_over(self.out):
            return LEFT, ", ".join(left[:4])
        if self.program.name != "campaign" and (doubt := self.lab.doubt(self.out)):
            return UNEXPECTED, f"quintet verify: {doubt}"
        return SAME, ""

    def run(self, strike):
        """Outcome and words."""
        shutil.rmtree(self.base, ignore_errors=True)
        os.makedirs(self.base)
        try:
            self.lab.prepare(self.program)
            ranks = strike(self)
            if ranks is None:  # the fault itself has brought the run to its end
                ranks = self.ranks_used[-1]
            code, said = self.restart_to_the_end(ranks)
            outcome, text = self.judge(code, said, ranks)
        except Found as found:
            outcome, text = found.outcome, found.text
        except Exception:  # pylint: disable=broad-except  # a fault of the driver must not end a campaign
            outcome, text = UNEXPECTED, "driver: " + traceback.format_exc()[-700:]
        if outcome in (SAME, REFUSED, SKIPPED) or outcome == TOLD and self.loss_allowed:
            shutil.rmtree(self.base, ignore_errors=True)
        return outcome, text
