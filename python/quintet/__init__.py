"""Quintet in Python: runs, inputs, potentials and training data.

    import quintet
    run = quintet.run("nvt.yaml", **{"time.steps": 500})
    run.table("thermo").temperature.mean()
    quintet.open("runs/two_stream").fields.e_x
    energy, forces, virial = quintet.Potential("model.dp")(positions, cell, ["Cu"] * 4)

Programs and libquintet_c do the work; without them results are read all the same.
"""
from . import data, errors, inputs
from ._density import DensitySolver, density
from .commands import plan, run, submit, sweep
from .errors import (InputError, InternalError, NumericalError, ProgramNotFound, QuintetError, ResourceError, StoppedEarly,
                     UsageError)
from .potential import Potential
from .runs import Run, open
from .surrogates import forecast, superresolve
from .trajectory import Trajectory

__version__ = "0.1.0"
__all__ = ["DensitySolver", "InputError", "InternalError", "NumericalError", "Potential", "ProgramNotFound", "QuintetError", "ResourceError", "Run",
           "StoppedEarly", "Trajectory", "UsageError", "data", "density", "errors", "forecast", "inputs", "open", "plan", "run", "submit",
           "superresolve", "sweep"]
