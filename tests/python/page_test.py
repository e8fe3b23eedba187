#!/usr/bin/env python3
"""The code of docs/python.md runs as it stands, from above to below, and gives what the page shows.

A line may show its value in a comment behind or below it, which begins with a digit, a quote, a parenthesis, True or the name of
an exception; a block may be followed by what its last line prints. Numbers agree to 2 %. What the page takes for granted is made here.
Statements that need a package which is not here, and those that need their results, are left out and counted.
"""
import ast
import builtins
import contextlib
import importlib.util
import io
import os
import re
import unittest
import warnings
from unittest import mock

from support import SOURCE, InFolder, flow_runs, needs_program, sea_runs

import quintet

BLOCK = re.compile(r"^## (?P<section>[^\n]*)\n|^```python\n(?P<code>.*?)^```\n(?:\n```\n(?P<printed>.*?)^```\n)?", re.M | re.S)
SHOWN = re.compile(r"\s*# ((?:-?\d|'|\(|True$|quintet\.errors\.).*)")


def trained_networks(space):
    space["coarse"] = flow_runs(quintet, "runs/flow_train").isel(sample=2)
    sea_runs(quintet)
    space["sea"] = quintet.forecast("runs/train", "runs/fit", threads=1)[["sst"]]
    space["sst"] = space["sea"].sst


def training_data(space):
    if "coarse" in space:
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


def missing_package(error):
    """The package that an ImportError lacks, or None where it is here, so that the error is one."""
    while isinstance(error, ImportError):
        package = (error.name or "").split(".")[0]
        if package and importlib.util.find_spec(package) is None:
            return package
        error = error.__cause__
    return None


def names_of(node):
    """The names that a statement needs from before it, and those that it makes."""
    walked = list(ast.walk(node))
    names = [one for one in walked if isinstance(one, ast.Name)]
    made = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    made |= {(one.asname or one.name).split(".")[0] for one in walked if isinstance(one, ast.alias)}
    loops = [one.target for one in walked if isinstance(one, (ast.For, ast.comprehension))]
    own = {one.id for target in loops for one in ast.walk(target) if isinstance(one, ast.Name)}
    return {one.id for one in names if isinstance(one.ctx, ast.Load)} - own - set(dir(builtins)), made


class Page(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        spec = importlib.util.spec_from_file_location("tutorials", SOURCE / "tests/cli/tutorials/tutorials.py")
        cls.tutorials = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.tutorials)

    def setUp(self):
        self.absent, self.left_out, self.n_run = set(), [], 0

    def check(self, shown, printed, where):
        self.assertIsNone(self.tutorials.missing(shown.splitlines(), printed.splitlines()), f"{where}\nprinted was\n{printed}")

    def allowing_for_absent_packages(self, what, function, *arguments):
        """Return function(*arguments); None, and a note, where it needs a package that is not here."""
        try:
            result = function(*arguments)
        except ImportError as error:
            if (package := missing_package(error)) is None:
                raise
            self.absent.add(package)
            self.left_out.append(what)
            return None
        self.n_run += 1
        return result

    def statement(self, node, space):
        """Run a statement. Returns what it prints and shows, or None where it is left out; what it would make is then unknown."""
        needed, made = names_of(node)
        if self.absent and needed - set(space):
            self.left_out.append(ast.unparse(node))
            shown = None
        else:
            shown = self.allowing_for_absent_packages(ast.unparse(node), printed_by, node, space)
        if shown is None:
            for name in made:
                space.pop(name, None)
        return shown

    def block(self, code, printed, space):
        last = ""
        for node, shown in statements(code):
            where = ast.unparse(node)
            last = self.statement(node, space)
            if last is None:
                continue
            if shown:
                self.check(shown, last, where)
            elif isinstance(node, ast.Expr):
                self.assertFalse(last.startswith("quintet.errors."), f"{where}\n{last}")
        if printed and last is not None:
            self.check(printed, last, code)

    @needs_program("dpmd", "vlasov", "meshfreeflow", "podlstm", "quintet")
    def test_every_block_does_what_it_says(self):
        if importlib.util.find_spec("matplotlib") is not None:
            importlib.import_module("matplotlib").use("Agg")
        os.symlink(SOURCE / "inputs", "inputs")
        space = {}
        with warnings.catch_warnings(), mock.patch("webbrowser.open") as browser:
            warnings.simplefilter("ignore")  # of the networks, which are trained for a moment
            for found in BLOCK.finditer((SOURCE / "docs/python.md").read_text(encoding="utf-8")):
                if found["section"] in BEFORE:
                    self.allowing_for_absent_packages(found["section"], BEFORE[found["section"]], space)
                if found["code"]:
                    self.block(found["code"], found["printed"], space)
        browser.assert_called_once()
        print(f"docs/python.md: {self.n_run} statements run, {len(self.left_out)} left out for want of {', '.join(sorted(self.absent)) or 'nothing'}")
        self.assertGreater(self.n_run, 25)
        self.assertEqual(bool(self.left_out), bool(self.absent))

    def test_only_what_needs_an_absent_package_is_left_out(self):
        space = {"kept": 1}
        self.block("import nowhere_at_all\nkept = nowhere_at_all.value + 1\nfor i in kept:\n    print(i)\nkept  # 5\nother = 2\nother + 1  # 3\n", None, space)
        self.assertEqual((space["other"], "kept" in space, self.absent, len(self.left_out)), (2, False, {"nowhere_at_all"}, 4))
        with self.assertRaises(AssertionError):
            self.block("other + 1  # 4\n", None, space)
        for code, error in (("from os import nowhere\n", ImportError), ("unknown + 1\n", NameError)):
            self.setUp()
            with self.assertRaises(error):
                self.block(code, None, {})

    def test_what_is_shown_is_compared(self):
        """A wrong value, a missing error and a wrong print are found; what is no value is not compared."""
        refused = "quintet.open('nowhere')\n# quintet.errors.InputError: nowhere: there is no such directory of a run\n"
        for code, printed in (("1 + 1  # 2\n", None), ("1 + 1  # a sum\n", None), ("1 > 0  # True\n", None), ("print(3)\n", "3\n"), (refused, None)):
            self.block(code, printed, {"quintet": quintet})
        for code, printed in (("1 + 1  # 2.1\n", None), ("1 < 0  # True\n", None), ("'a'\n# 'b'\n", None), ("print(3)\n", "4\n"), (refused.replace("no such", "another"), None),
                              ("quintet.open('nowhere')\n", None)):
            with self.assertRaises(AssertionError):
                self.block(code, printed, {"quintet": quintet})


if __name__ == "__main__":
    unittest.main()
