#!/usr/bin/env python3
"""The types that the package declares: `mypy --strict` accepts a user's script and finds its mistakes, and the package itself."""
import subprocess
import sys
import unittest
from pathlib import Path

from support import SOURCE, InFolder, needs

# In place of what the script has: mistakes that must be found.
MISTAKES = {"run.sumary": "run.summary.temperature_mean_k", "split=\"a half\"": "split=0.2", "ranks=\"two\"": "ranks=2",
            "model=\"first\"": "atomic=True", "field={}": "field={\"model\": \"poisson\"}", "\"cels\"": "\"cells\""}


@needs("mypy", "xarray", "pandas", "ase")
class Types(InFolder):
    def check(self, *words):
        done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=self.folder, text=True, capture_output=True,
                              env={"MYPYPATH": str(SOURCE / "python"), "PATH": ""})
        return done.stdout + done.stderr

    def test_a_users_script(self):
        script = (SOURCE / "tests/python/typed_script.py").read_text()
        Path("right.py").write_text(script)
        for i, (mistake, right) in enumerate(MISTAKES.items()):
            self.assertIn(right, script)
            Path(f"wrong_{i}.py").write_text(script.replace(right, mistake))
        said = self.check("--strict", "--follow-imports=silent", "right.py", *(f"wrong_{i}.py" for i in range(len(MISTAKES))))
        self.assertNotIn("right.py", said)
        for i in range(len(MISTAKES)):
            self.assertIn(f"wrong_{i}.py", said)

    def test_the_package(self):
        self.assertIn("Success", self.check("--config-file", str(SOURCE / "pyproject.toml"), str(SOURCE / "python/quintet")))


if __name__ == "__main__":
    unittest.main()
