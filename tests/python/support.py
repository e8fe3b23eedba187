"""What the tests of the Python package share: where source and build are, skips with their reason, small runs."""
import importlib
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("QUINTET_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("QUINTET_BINARY_DIR", SOURCE / "build"))
COPPER = SOURCE / "inputs/dpmd/copper"
MODELS = SOURCE / "tests/data/deep_potential"

for module in ("numpy", "h5py"):
    try:
        importlib.import_module(module)
    except ImportError:
        print(f"skipped: {sys.executable} has no {module}")
        sys.exit(77)
sys.path.insert(0, str(SOURCE / "python"))
os.environ.setdefault("QUINTET_BIN", str(BUILD / "bin"))
os.environ.setdefault("QUINTET_LIBRARY", str(BUILD / "lib"))
os.environ.pop("LD_PRELOAD", None)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def needs(*modules):
    """Skip a test, or a class of tests, where a package is missing."""
    missing = []
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            missing.append(module)
    return unittest.skipIf(missing, f"{sys.executable} has no {', '.join(missing)}")


def needs_program(*names):
    """Skip where programs were not built."""
    missing = [name for name in names if not os.access(Path(os.environ["QUINTET_BIN"]) / name, os.X_OK)]
    return unittest.skipIf(missing, f"not built: {', '.join(missing)}")


class InFolder(unittest.TestCase):
    """Tests that share a folder, which is the current one."""

    @classmethod
    def setUpClass(cls):
        cls._before = os.getcwd()
        cls.folder = Path(tempfile.mkdtemp(prefix="quintet_python_"))
        os.chdir(cls.folder)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.addClassCleanup(os.chdir, cls._before)


TWO_STREAM = {"grid.cells": [8, 16], "time.end": 2, "output.frame_interval": 0.5, "theory": None}


def two_stream(quintet, output, **more):
    """A vlasov run of a second: 8 x 16 cells, five frames."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few cells hold a negative part of f
        return quintet.run(SOURCE / "inputs/vlasov/two_stream.yaml", output=output, progress=False, threads=1, **{**TWO_STREAM, **more})


def copper(quintet, output, **more):
    """A molecular dynamics run of a second: 32 atoms, 20 steps, three frames."""
    settings = {"system.replicate": [2, 2, 2], "time.steps": 20, "trajectory.interval": 10, "trajectory.single_precision": False,
                "trajectory.forces": True, "thermo_interval": 5, "observables": None}
    return quintet.run(COPPER / "nvt.yaml", output=output, **{"progress": False, "threads": 1, **settings, **more})
