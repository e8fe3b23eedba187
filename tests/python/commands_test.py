#!/usr/bin/env python3
"""Programs are started, watched and stopped from Python; their errors are exceptions in their words."""
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import warnings
from pathlib import Path
from unittest import mock

from support import SOURCE, InFolder, copper, needs, needs_program, two_stream

import quintet
from quintet import _programs

LONG = {"time.steps": 10_000_000, "thermo_interval": 10_000, "trajectory": None, "checkpoint_interval": 1_000_000}
INPUT = SOURCE / "inputs/vlasov/two_stream.yaml"


class Words(unittest.TestCase):
    def test_settings_are_as_on_the_command_line(self):
        import numpy as np

        self.assertEqual(_programs.setting("time.dt", "0.5 fs"), "time.dt=0.5 fs")
        self.assertEqual(_programs.setting("grid.cells", (8, 16)), "grid.cells=[8, 16]")
        self.assertEqual(_programs.setting("grid.cells", np.array([8, 16])), "grid.cells=[8, 16]")
        self.assertEqual(_programs.setting("theory", None), "theory=null")
        self.assertEqual(_programs.setting("keep_positive", True), "keep_positive=true")
        with self.assertRaisesRegex(quintet.InputError, "is no number, text, list or dict"):
            _programs.setting("a", object())

    def test_messages_are_without_what_mpirun_adds(self):
        text = ("error: K is not symmetric\n  at row 3\nwarning: slow\n--------------------\nMPI_ABORT was invoked on rank 0\n")
        self.assertEqual(_programs.message_of(text), "K is not symmetric\n  at row 3")

    def test_each_code_has_its_exception(self):
        for code, kind in ((1, quintet.UsageError), (2, quintet.InputError), (3, quintet.NumericalError), (4, quintet.ResourceError),
                           (75, quintet.StoppedEarly), (70, quintet.InternalError), (-9, quintet.InternalError)):
            self.assertIs(type(quintet.errors.error_of(code, "x")), kind)
        self.assertEqual(str(quintet.errors.error_of(-9, "")), "ended by signal 9")
        self.assertTrue(issubclass(quintet.InputError, ValueError))

    def test_a_program_that_is_not_there(self):
        before = os.environ["QUINTET_BIN"]
        os.environ["QUINTET_BIN"] = "/nowhere"
        try:
            with self.assertRaisesRegex(quintet.ProgramNotFound, "'vlasov' is not in /nowhere; build it"):
                _programs.program("vlasov")
        finally:
            os.environ["QUINTET_BIN"] = before


class Stubborn(unittest.TestCase):
    def test_a_program_that_does_not_stop_is_killed(self):
        code = ("import signal, time\nfor one in (signal.SIGUSR1, signal.SIGTERM): signal.signal(one, signal.SIG_IGN)\n"
                "print('begun', flush=True)\nwhile True: print('x' * 1000, flush=True); time.sleep(0.001)")

        def interrupt(line):
            if line == "begun":
                raise KeyboardInterrupt

        with mock.patch.object(_programs, "_GRACE", 0.5), mock.patch.object(_programs, "_PATIENCE", 0.5):
            before = time.time()
            with self.assertRaises(KeyboardInterrupt):
                _programs.watched([sys.executable, "-c", code], interrupt)
        self.assertLess(time.time() - before, 20)
        self.assertEqual(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(), [])


@needs_program("vlasov", "dpmd")
class Run(InFolder):
    def test_lines_arrive_and_the_run_is_opened(self):
        lines = []
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            done = quintet.run(INPUT, progress=lines.append, threads=1, **{"grid.cells": [8, 8], "time.end": 1, "theory": None})
        self.assertEqual(str(done.directory), "runs/two_stream")
        self.assertTrue(any("vlasov run" in line for line in lines), lines)
        self.assertTrue(any("negative part of f" in str(one.message) for one in told))

    def test_errors_keep_their_words(self):
        with self.assertRaisesRegex(quintet.InputError, r"^--set grid.cels: grid.cels: unknown key; did you mean 'cells'\?$"):
            quintet.run(INPUT, output="wrong", progress=False, **{"grid.cels": [8]})
        with self.assertRaisesRegex(quintet.InputError, "nowhere.yaml: there is no such file"):
            quintet.run("nowhere.yaml")

    def test_numbers_that_break_are_numerical_errors(self):
        with self.assertRaisesRegex(quintet.NumericalError, "step"):
            two_stream(quintet, "broken", **{"limits.gauss_error": 1e-9, "time.end": 100})
        self.assertEqual(quintet.open("broken").status, "numerical failure")

    def test_ranks_share_a_run_and_its_errors(self):
        done = two_stream(quintet, "ranks", ranks=2)
        self.assertEqual(done.provenance["ranks"], "2")
        with self.assertRaisesRegex(quintet.InputError, r"time.end: -1 is out of range; expected above 0$"):
            two_stream(quintet, "ranks_wrong", ranks=2, **{"time.end": -1})
        with self.assertRaisesRegex(quintet.InputError, "0 ranks: expected a whole number, at least 1"):
            two_stream(quintet, "none", ranks=0)

    def test_walltime_stops_and_restart_goes_on(self):
        done = copper(quintet, "parts", walltime="00:00:01", **LONG)  # less than it keeps for its checkpoint
        self.assertEqual((done.status, done.summary.last_step), ("stopped early", 0))
        done = copper(quintet, "parts", restart="auto", **{**LONG, "time.steps": 10})
        self.assertEqual((done.status, done.summary.last_step), ("done", 10))

    def test_ctrl_c_writes_a_checkpoint(self):
        code = textwrap.dedent(f"""
            import sys; sys.path[:0] = [{str(SOURCE / 'python')!r}, {str(SOURCE / 'tests/python')!r}]
            import quintet, support
            support.copper(quintet, "stopped", ranks=int(sys.argv[1]), **{LONG})""")
        for ranks in (1, 2):
            process = subprocess.Popen([sys.executable, "-c", code, str(ranks)], stderr=subprocess.PIPE, text=True)
            deadline = time.time() + 60
            while not Path("stopped/progress.json").exists() and time.time() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", errors)
            stopped = quintet.open("stopped")
            self.assertEqual(stopped.status, "stopped early", (ranks, stopped.log))
            self.assertTrue(stopped.checkpoints)
            shutil.rmtree("stopped")

    def test_stopped_from_outside_is_no_result(self):
        def stop():
            deadline = time.time() + 60
            while not Path("outside/progress.json").exists() and time.time() < deadline:
                time.sleep(0.05)
            child = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[0]
            os.kill(int(child), signal.SIGTERM)

        threading.Thread(target=stop, daemon=True).start()
        with self.assertRaisesRegex(quintet.StoppedEarly, 'go on with restart="auto"') as caught:
            copper(quintet, "outside", **LONG)
        self.assertEqual(caught.exception.run.status, "stopped early")
        self.assertEqual(copper(quintet, "outside", restart="auto", **{**LONG, "time.steps": caught.exception.run.summary.last_step + 5}).status, "done")

    @needs("pandas")
    def test_a_sweep_is_a_table(self):
        warnings.simplefilter("ignore")
        settings = {"grid.cells": [8, 8], "time.end": 0.5, "theory": None}
        done = quintet.sweep(INPUT, {"constants.vt": [0.4, 0.5], "time.cfl": [0.6, -1]}, output="sweep", progress=False, threads=1,
                             on_error="keep", **settings)
        table = done.table()
        self.assertEqual(list(table["constants.vt"]), [0.4, 0.4, 0.5, 0.5])
        self.assertEqual(sorted(done.errors), [1, 3])
        self.assertIn("time.cfl: -1 is out of range", table.error[1])
        self.assertTrue((table.energy_drift_relative if "energy_drift_relative" in table else table.steps)[[0, 2]].notna().all())
        with self.assertRaises(quintet.InputError):
            quintet.sweep(INPUT, {"time.cfl": [-1]}, output="sweep2", progress=False, **settings)
        self.assertEqual(len(done), 4)


@needs_program("vlasov", "quintet")
class Plans(InFolder):
    def test_a_plan_has_a_row_for_each_number_of_ranks(self):
        plan = quintet.plan(INPUT, [1, 4], **{"grid.cells": [8, 8]})
        self.assertEqual(sorted({row["ranks"] for row in plan.data["rows"]}), [1, 4])
        self.assertIn("4", repr(plan))
        with self.assertRaisesRegex(quintet.InputError, "There is no machine 'nowhere'"):
            quintet.plan(INPUT, 1, machine="nowhere")

    def test_submit_checks_before_it_queues(self):
        job = quintet.submit(INPUT, "abci3", "00:30:00", dry_run=True, flags=("--account", "g1", "--no-plan"))
        self.assertIn("#PBS", job.text)
        self.assertFalse(job.directory.exists())
        with self.assertRaisesRegex(quintet.InputError, "unknown key"):
            quintet.submit(INPUT, "abci3", "00:30:00", dry_run=True, flags=("--account", "g1"), **{"time.ends": 3})


if __name__ == "__main__":
    unittest.main()
