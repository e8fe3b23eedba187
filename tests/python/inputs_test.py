#!/usr/bin/env python3
"""Inputs made in Python are the programs' inputs: keys, checks, YAML; editors are told the same keys."""
import inspect
import math
import subprocess
import sys
import unittest
from pathlib import Path

from support import BUILD, COPPER, SOURCE, InFolder, needs_networks, needs_program

import numpy as np

import quintet
from quintet import inputs

BEAM = dict(constants={"k": 0.5}, basis={"order": 1}, grid={"lower": ["-pi/k"], "upper": ["pi/k"], "cells": np.array([8, 8])},
            species=[{"name": "electrons", "velocity": {"lower": [-6], "upper": (6,)},
                      "initial": [{"maxwellian": {"density": "1 + 0.01*cos(k*x)", "thermal_speed": 1}}]}],
            field={"model": "poisson"}, time={"end": 0.5})


class Yaml(unittest.TestCase):
    def test_scalars_keep_their_type(self):
        for value, text in ((1e-5, "1.0e-05"), (2.5, "2.5"), (3, "3"), (True, "true"), (None, "null"), ("0.5 fs", "0.5 fs"), ("yes", '"yes"'),
                            ("7", '"7"'), ("a: b", '"a: b"'), ("-pi/k", '"-pi/k"'), ("file.xyz", "file.xyz"), (np.float64(0.5), "0.5"),
                            (Path("a/b.dp"), "a/b.dp"), ("", '""'), ("x\ny", '"x\\ny"')):
            self.assertEqual(inputs._scalar(inputs._native(value)), text)
        for value in (math.nan, math.inf, object()):
            with self.assertRaises(quintet.InputError):
                inputs._scalar(value)

    def test_sections_and_lists(self):
        text = quintet.inputs.Input("a", "b", {"x": {"w": [], "z": {}}, "l": [{"p": 1, "q": [1, 2]}, {"p": 2}], "m": [[1, 0], [0, 1]]}).yaml()
        self.assertEqual(text, "# a b\nx:\n  w: []\n  z: {}\nl:\n  - p: 1\n    q: [1, 2]\n  - p: 2\nm: [[1, 0], [0, 1]]\n")


@needs_program("vlasov", "dpmd")
class Inputs(InFolder):
    def test_what_is_written_runs(self):
        file = inputs.vlasov(**BEAM).write("beam.yaml")
        done = quintet.run(file, progress=False, threads=1)
        self.assertEqual((done.program, done.status), ("vlasov run", "done"))
        self.assertEqual([path.name for path in Path().glob(".*")], [])

    def test_wrong_values_are_refused_before_they_are_written(self):
        wrong = inputs.vlasov(**{**BEAM, "time": {"end": 1, "clf": 2}, "flux": "sideways"})
        with self.assertRaisesRegex(quintet.InputError, r"wrong.yaml:\d+:\d+: time.clf: unknown key; did you mean 'cfl'") as caught:
            wrong.write("wrong.yaml")
        self.assertIn("flux", str(caught.exception))  # all at once
        self.assertFalse(Path("wrong.yaml").exists())
        self.assertEqual(list(Path().glob(".*wrong*")), [])
        wrong.write("wrong.yaml", check=False)
        self.assertTrue(Path("wrong.yaml").exists())

    def test_formulas_are_evaluated_where_all_is_built(self):
        wrong = inputs.vlasov(**{**BEAM, "time": {"end": "1 - 4*k"}})  # -1
        with self.assertRaisesRegex(quintet.InputError, r"late.yaml:\d+:\d+: time.end: .* out of range; expected above 0"):
            wrong.write("late.yaml", check="build")
        self.assertFalse(Path("late.yaml").exists() or list(Path().glob(".*late*")))
        inputs.vlasov(**{**BEAM, "time": {"end": "4*k"}}).write("late.yaml", check="build")
        with self.assertRaisesRegex(quintet.InputError, "check is 'all'"):
            wrong.write("late.yaml", check="all")

    def test_wrong_names_are_refused_at_once(self):
        with self.assertRaisesRegex(quintet.InputError, "vlasov run has no key 'gird'; did you mean 'grid'"):
            inputs.vlasov(gird={})
        with self.assertRaisesRegex(quintet.InputError, "vlasov run needs grid, species, field"):
            inputs.vlasov(time={"end": 1})
        with self.assertRaisesRegex(AttributeError, "did you mean 'vlasov"):
            inputs.vlasow
        with self.assertRaisesRegex(quintet.InputError, r"an Input is in no file yet: run what its .write\(FILE\) returns"):
            quintet.run(inputs.vlasov(**BEAM))

    def test_signature_is_the_schema(self):
        signature = inspect.signature(inputs.vlasov)
        self.assertIs(signature.parameters["grid"].default, inspect.Parameter.empty)
        self.assertEqual(signature.parameters["checkpoint_keep"].default, inputs.schemas("vlasov")["run"]["properties"]["checkpoint_keep"]["default"])
        self.assertIn("grid: Configuration space", inputs.vlasov.__doc__)
        self.assertIn("dpmd_train", dir(inputs))
        for name in dir(inputs):  # also those with keys that are words of Python: podlstm forecast has `from`
            if name == "Input":
                continue
            maker = getattr(inputs, name)
            if maker.command in inputs.schemas(maker.app):
                self.assertTrue(inspect.signature(maker).parameters)
            else:
                with self.assertRaisesRegex(quintet.InputError, rf"this build has no '{maker.app} {maker.command}'; expected one with LibTorch"):
                    maker(steps=1)

    def test_owners_of_files_are_found(self):
        self.assertEqual(inputs.owner_of(COPPER / "nvt.yaml"), ("dpmd", "run"))
        self.assertEqual(inputs.owner_of(COPPER / "train.yaml"), ("dpmd", "train"))
        self.assertEqual(inputs.owner_of(COPPER / "equation_of_state.yaml"), ("dpmd", "equation_of_state"))
        self.assertEqual(inputs.owner_of(SOURCE / "inputs/vlasov/two_stream.yaml"), ("vlasov", "run"))
        Path("odd.yaml").write_text("colour: red\n")
        with self.assertRaisesRegex(quintet.InputError, r"odd.yaml fits no command \(its keys: colour\)"):
            inputs.owner_of(Path("odd.yaml"))
        for first, owner in (("# podlstm fit", ("podlstm", "fit")), ("# podlstm hindcast", ("podlstm", "hindcast"))):  # both have these keys
            Path("modes.yaml").write_text(f"{first}\nfields: {{stochastic: {{climatology: ''}}}}\npod: {{modes: 3}}\n")
            self.assertEqual((inputs.said_by(Path("modes.yaml")), inputs.owner_of(Path("modes.yaml"))), (owner, owner))
        for first in ("# vlasov run", "# podlstm fits", "# of mine", ""):  # keys that it has not, no command, a remark
            Path("modes.yaml").write_text(f"{first}\nfields: {{stochastic: {{climatology: ''}}}}\npod: {{modes: 3}}\n")
            with self.assertRaisesRegex(quintet.InputError, "may be a file of podlstm fit or podlstm hindcast: say which"):
                inputs.owner_of(Path("modes.yaml"))
        with self.assertRaisesRegex(quintet.InputError, "there is no application 'gromacs'"):
            inputs.owner_of(COPPER / "nvt.yaml", "gromacs")


@needs_program("dpmd", "podlstm", "submatrix", "vlasov")
@needs_networks  # else some commands are not there
class Stubs(unittest.TestCase):
    def test_editors_are_told_the_keys_that_there_are(self):
        printed = subprocess.run([sys.executable, SOURCE / "python/generate_stubs.py", BUILD / "bin"], text=True, capture_output=True, check=True).stdout
        self.assertEqual(printed, (SOURCE / "python/quintet/inputs.pyi").read_text(),
                         "run: python3 python/generate_stubs.py build/bin > python/quintet/inputs.pyi")
        compile(printed, "inputs.pyi", "exec")


if __name__ == "__main__":
    unittest.main()
