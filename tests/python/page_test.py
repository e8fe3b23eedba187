#!/usr/bin/env python3
"""The code of docs/python.md runs as it stands, from above to below, and gives what the page shows.

A line may show its value in a comment behind or below it, which begins with a digit, a quote, a parenthesis or the name of an
exception; a block may be followed by what its last line prints. Numbers agree to 2 %. What the page takes for granted is made here.
"""
import ast
import contextlib
import importlib.util
import io
import os
import re
import unittest
import warnings
from unittest import mock

from support import SOURCE, InFolder, flow_runs, needs, needs_program, sea_runs

import quintet

BLOCK = re.compile(r"^## (?P<section>[^\n]*)\n|^```python\n(?P<code>.*?)^```\n(?:\n```\n(?P<printed>.*?)^```\n)?", re.M | re.S)
SHOWN = re.compile(r"\s*# ((?:-?\d|'|\(|quintet\.errors\.).*)")


def trained_networks(space):
    space["coarse"] = flow_runs(quintet, "runs/flow_train").isel(sample=2)
    sea_runs(quintet)
    space["sea"] = quintet.forecast("runs/train", "runs/fit", threads=1)[["sst"]]
    space["sst"] = space["sea"].sst


def training_data(space):
    space["flow"] = space["coarse"]


# What a section finds there.
BEFORE = {"Trained networks": trained_networks, "Training data": training_data}


def statements(code):
    """Each statement of a block with the value that a comment shows of it, or None."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        behind = SHOWN.fullmatch(lines[node.end_lineno - 1][node.end_col_offset:])
        below = SHOWN.fullmatch(lines[node.end_lineno]) if node.end_lineno < len(lines) else None
        shown = behind or below
        yield node, shown and shown.group(1)


def printed_by(node, space):
    """Run a statement. Returns what it prints, and its value or its error as a session of Python shows them."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if not isinstance(node, ast.Expr):
            exec(compile(ast.Module([node], []), "page", "exec"), space)
            return out.getvalue()
        try:
            value = eval(compile(ast.Expression(node.value), "page", "eval"), space)
        except quintet.QuintetError as error:
            return f"quintet.errors.{type(error).__name__}: {error}"
    return out.getvalue() + repr(value)


@needs("ase", "xarray", "h5netcdf", "dask", "pandas", "scipy", "matplotlib")
@needs_program("dpmd", "vlasov", "meshfreeflow", "podlstm", "quintet")
class Page(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spec = importlib.util.spec_from_file_location("tutorials", SOURCE / "tests/cli/tutorials/tutorials.py")
        cls.tutorials = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.tutorials)

    def check(self, shown, printed, where):
        self.assertIsNone(self.tutorials.missing(shown.splitlines(), printed.splitlines()), f"{where}\nprinted was\n{printed}")

    def block(self, code, printed, space):
        last = ""
        for node, shown in statements(code):
            where = ast.unparse(node)
            last = printed_by(node, space)
            if shown:
                self.check(shown, last, where)
            elif isinstance(node, ast.Expr):
                self.assertFalse(last.startswith("quintet.errors."), f"{where}\n{last}")
        if printed:
            self.check(printed, last, code)

    def test_every_block_does_what_it_says(self):
        import matplotlib

        matplotlib.use("Agg")
        os.symlink(SOURCE / "inputs", "inputs")
        has_pyscf, space, n = importlib.util.find_spec("pyscf") is not None, {}, 0
        with warnings.catch_warnings(), mock.patch("webbrowser.open") as browser:
            warnings.simplefilter("ignore")  # of the networks, which are trained for a moment
            for found in BLOCK.finditer((SOURCE / "docs/python.md").read_text(encoding="utf-8")):
                if found["section"] in BEFORE:
                    BEFORE[found["section"]](space)
                if found["code"] and (has_pyscf or "pyscf" not in found["code"]):
                    self.block(found["code"], found["printed"], space)
                    n += 1
        self.assertGreater(n, 15)
        browser.assert_called_once()

    def test_what_is_shown_is_compared(self):
        """A wrong value, a missing error and a wrong print are found; what is no value is not compared."""
        refused = "quintet.open('nowhere')\n# quintet.errors.InputError: nowhere: there is no such directory of a run\n"
        for code, printed in (("1 + 1  # 2\n", None), ("1 + 1  # a sum\n", None), ("print(3)\n", "3\n"), (refused, None)):
            self.block(code, printed, {"quintet": quintet})
        for code, printed in (("1 + 1  # 2.1\n", None), ("'a'\n# 'b'\n", None), ("print(3)\n", "4\n"), (refused.replace("no such", "another"), None),
                              ("quintet.open('nowhere')\n", None)):
            with self.assertRaises(AssertionError):
                self.block(code, printed, {"quintet": quintet})


if __name__ == "__main__":
    unittest.main()
