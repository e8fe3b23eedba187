#!/usr/bin/env python3
"""pip installs the package from the checkout, with the library of this build, into an empty environment."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import BUILD, COPPER, SOURCE

CODE = """
import os, sys, quintet
assert quintet.__file__.startswith(sys.prefix), quintet.__file__
assert quintet._library.folders()[0].joinpath("libquintet_c.so.1").exists()
assert quintet._library.folders()[0].joinpath("libquintet_density.so.1").exists() == os.path.exists(sys.argv[2] + "/lib/libquintet_density.so.1")
assert str(quintet._programs.build_folders()[0]) == sys.argv[2], quintet._programs.build_folders()
result = quintet.Potential(sys.argv[1])([[0, 0, 0], [2.5, 0, 0]])
assert abs(result.forces[0, 0] + result.forces[1, 0]) < 1e-12 < abs(result.forces[0, 0])
assert quintet.Potential(sys.argv[1])._library._name.startswith(sys.prefix)
assert os.path.exists(os.path.join(os.path.dirname(quintet.__file__), "py.typed"))
try:
    quintet.open("/")
except quintet.InputError as error:
    print(error)
"""


def run(*words, **more):
    return subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


@unittest.skipIf(not (BUILD / "lib/libquintet_c.so.1").exists(), "libquintet_c is not built")
class Install(unittest.TestCase):
    def test_an_empty_environment_evaluates_a_potential(self):
        folder = Path(tempfile.mkdtemp(prefix="quintet_install_"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("QUINTET_", "PYTHON"))}
        if run(sys.executable, "-m", "venv", folder / "venv").returncode:
            self.skipTest(f"{sys.executable} makes no environments")
        python = folder / "venv/bin/python"
        found = run(python, "-m", "pip", "download", "--no-deps", "--dest", folder, "scikit-build-core")
        if found.returncode:
            self.skipTest("pip finds no scikit-build-core: no network?")
        # pip 23.0, which Debian 12 has, knows -C by its long name alone.
        done = run(python, "-m", "pip", "install", f"--config-settings=build-dir={folder}/build",
                   f"--config-settings=cmake.define.QUINTET_PYTHON_BUILD={BUILD}", SOURCE, env=clean)
        self.assertEqual(done.returncode, 0, done.stdout)
        used = run(python, "-c", CODE, COPPER / "copper.dp", BUILD, env=clean, cwd=folder)
        self.assertEqual(used.returncode, 0, used.stdout)
        self.assertIn("holds no run", used.stdout)


if __name__ == "__main__":
    unittest.main()
