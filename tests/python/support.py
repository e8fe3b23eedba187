"""What the tests of the Python package share: where source and build are, skips with their reason, small runs."""
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("QUINTET_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("QUINTET_BINARY_DIR", SOURCE / "build"))
COPPER = SOURCE / "inputs/dpmd/copper"
MODELS = SOURCE / "tests/data/deep_potential"
PATIENCE = float(os.environ.get("QUINTET_TEST_PATIENCE", "1"))

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


def has_networks():
    """Whether meshfreeflow was built with LibTorch: without, it has no command train."""
    program = Path(os.environ["QUINTET_BIN"]) / "meshfreeflow"
    return subprocess.run([program, "train", "--help"], capture_output=True, check=False).returncode == 0


def needs_networks(test):
    """Skip where meshfreeflow was not built, or has no networks."""
    missing = os.access(Path(os.environ["QUINTET_BIN"]) / "meshfreeflow", os.X_OK) and not has_networks()
    return needs_program("meshfreeflow")(unittest.skipIf(missing, "meshfreeflow was built without LibTorch")(test))


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


def flow_runs(quintet, trained):
    """Three flows of a second, and a network trained on them for a moment. Returns the flows, coarsened, with an axis `sample`.

    A build without LibTorch is told of like a package that is not here.
    """
    if not has_networks():
        raise ImportError("meshfreeflow was built without LibTorch", name="LibTorch")
    cases = SOURCE / "tests/cli/meshfreeflow"
    quintet.run(cases / "flow.yaml", output="flow", progress=False, threads=1)
    shutil.copy(cases / "train.yaml", "train_flow.yaml")
    quintet.run("train_flow.yaml", "meshfreeflow", "train", output=trained, progress=False, threads=1, steps=20)
    fine = quintet.open("flow").fields
    coarse = fine.isel(time=slice(None, 24, 2)).coarsen(z=4, x=4).mean(keep_attrs=True).load()
    for name in ("z", "x"):
        coarse[name].attrs.update(fine[name].attrs)
    return coarse


def sea_runs(quintet):
    """A made-up sea of nine years, three modes of it in runs/fit, and a network for them in runs/train, trained for a moment."""
    import warnings

    record = {"stochastic": {"climatology": "", "spacing": 15, "years": 9, "seed": 4}}
    whole = quintet.inputs.podlstm_fit(fields=record, pod={"modes": 3, "background": "climatology", "weights": "area"}, fit_until="1987-12-31")
    quintet.run(whole.write("fit.yaml"), progress=False, threads=1)
    quintet.inputs.podlstm_train(modes="runs/fit/modes.h5", window={"in": 6, "out": 5}, forecast={"members": 0},
                                 split={"train_until": "1986-12-31", "validation_until": "1988-12-31"}).write("train.yaml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        quintet.run("train.yaml", progress=False, threads=1)


MEMORY = """
import ctypes, os, sys, warnings
sys.path.insert(0, sys.argv[1])
import quintet
warnings.simplefilter("ignore")
argument, leak, n, kept = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), []
{setup}
def call():
{call}
def calls(n):
    for _ in range(n):
        call()
        if leak:
            kept.append(bytes(leak))
def pages():
    ctypes.CDLL(None).malloc_trim(0)
    return int(open("/proc/self/statm").read().split()[1])
calls(n // 10)
before = pages()
calls(n)
print((pages() - before) * os.sysconf("SC_PAGE_SIZE"))
"""


def grown_by(setup, call, argument="", n=10_000, leak=0):
    """Bytes by which a process has grown in n calls, after n / 10 others.

    What is in use once the C library has given back what is free. leak: so many bytes are kept at each call, to see that
    they are seen.
    """
    code = MEMORY.format(setup=setup, call="\n".join("    " + line for line in call.splitlines()))
    done = subprocess.run([sys.executable, "-c", code, SOURCE / "python", argument, str(leak), str(n)], text=True, capture_output=True,
                          env={**os.environ, "PYTHONMALLOC": "malloc"})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return int(done.stdout)
