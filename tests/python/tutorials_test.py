#!/usr/bin/env python3
"""Tutorials in Python run, and print what their pages show."""
import subprocess
import sys
import unittest

from support import SOURCE, needs, needs_networks, needs_program

FOLDER = SOURCE / "docs/tutorials/python"


@needs("matplotlib")
class Tutorials(unittest.TestCase):
    def check(self, name):
        done = subprocess.run([sys.executable, FOLDER / "render.py", name, "--check"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs("xarray", "pandas")
    @needs_program("vlasov")
    def test_vlasov(self):
        self.check("vlasov")

    @needs("ase", "pandas")
    @needs_program("dpmd")
    def test_dpmd(self):
        self.check("dpmd")

    @needs("scipy")
    @needs_program("submatrix")
    def test_submatrix(self):
        self.check("submatrix")

    @needs("xarray", "scipy")
    @needs_networks
    def test_meshfreeflow(self):
        self.check("meshfreeflow")

    @needs("xarray", "h5netcdf")
    @needs_program("podlstm")
    def test_podlstm(self):
        self.check("podlstm")


if __name__ == "__main__":
    unittest.main()
