#!/usr/bin/env python3
"""ASE's own tests, which its wheel brings, on our calculator: it stands in place of EMT, and each symbol is the model's copper.

Those are run that ask what a calculator is to do. Those that compare with EMT's own numbers are not.
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import COPPER, SOURCE, InFolder, needs

import quintet
from quintet import _library

PLUGIN = """
import sys
import ase.calculators.emt
from ase.data import chemical_symbols
import quintet.ase

class InPlaceOfEmt(quintet.ase.Calculator):
    def __init__(self, **more):
        super().__init__({model!r}, types=dict.fromkeys(chemical_symbols, "Cu"), **more)
        made.append(self)

made = []
ase.calculators.emt.EMT = InPlaceOfEmt

def pytest_sessionfinish():
    print(f"\\n{{len(made)}} calculators of ours")
"""
TESTS = ("calculator/test_fd.py", "calculator/test_traj.py", "emt/test_emt_stress.py", "filter/test_cellfilter.py", "filter/test_strain.py",
         "md/test_irun_force_call_order.py", "neb/test_shared_calculator_neb.py", "standardization/test_properties.py",
         "test_loggingcalc.py", "test_mixingcalc.py", "test_potential_energies.py", "test_singlepointcalc.py")


def why_not():
    try:
        _library.library()
    except quintet.ProgramNotFound as error:
        return str(error)
    return ""


@unittest.skipIf(why_not(), why_not())
@needs("ase.test", "pytest")
class OwnTests(InFolder):
    def test_they_pass(self):
        import ase.test

        Path("in_place_of_emt.py").write_text(PLUGIN.format(model=str(COPPER / "copper.dp")))
        folder = Path(ase.test.__file__).parent
        tests = [folder / one for one in TESTS if (folder / one).exists()]  # other versions have others
        if len(tests) < len(TESTS) / 2:
            self.skipTest(f"ase of {sys.executable} has only {len(tests)} of these tests")
        words = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "in_place_of_emt", "-p", "no:cacheprovider", "--tb=short", *tests]
        done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PYTHONPATH": f"{self.folder}:{SOURCE / 'python'}"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreater(int(re.search(r"(\d+) calculators of ours", done.stdout)[1]), len(tests))


if __name__ == "__main__":
    unittest.main()
