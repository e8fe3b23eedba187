"""A script as a user writes it, which `mypy --strict` must accept (types_test.py); it is not run."""
from pathlib import Path

import numpy as np

import quintet
import quintet.ase

run: quintet.Run = quintet.run("nvt.yaml", output=Path("runs/nvt"), ranks=2, restart="auto", progress=print, set={"time.steps": 500})
warm: float = float(run.summary.temperature_mean_k)
tables: list[str] = run.tables
mean = run.table("thermo").temperature.mean()
for atoms in run.trajectory[::2]:
    print(len(atoms), run.status, mean)
run.fields.to_netcdf("fields.nc")
last = run.trajectory[-1]
f = run.distribution("electrons", frame=-1)
values: np.ndarray = f(x=0.3, vx=np.linspace(-6, 6, 20)) + f.moment(x=0.0, powers={"vx": 2})

potential = quintet.Potential(["a.dp", Path("b.dp")], precision="mixed")
energy, forces, virial = potential(np.zeros((2, 3)), None, ["Cu", "Cu"])
norm: float = float(np.linalg.norm(forces))
shares: np.ndarray = potential(np.zeros((2, 3)), types=[0, 0], atomic=True).energies
worst: float = potential.deviation(last).force_max
last.calc = quintet.ase.Calculator("a.dp", types={"Cu": "copper"})

solver = quintet.DensitySolver(electrons=64, temperature=1e-3)
gap: float = solver(np.eye(2), None).gap
fine = quintet.superresolve(run, run.fields, factor=[4, 8, 8], residuals=False)
sea = quintet.forecast("runs/train", "runs/fit", start=["2012-05-03", np.datetime64("2012-06-07")], lead=4)
sweep = quintet.sweep("landau.yaml", {"constants.k": [0.4, 0.5]}, on_error="keep")
rows = sweep.table().shape[0] + len(sweep.points)
job: str = quintet.submit("weibel.yaml", "abci3", "04:00:00", nodes=4).status()

landau = quintet.inputs.vlasov(grid={"lower": ["-pi"], "upper": ["pi"], "cells": [32, 32]}, time={"end": 20}, field={"model": "poisson"},
                                species=[{"name": "electrons", "velocity": {"lower": [-6], "upper": [6]},
                                          "initial": [{"maxwellian": {"density": 1, "thermal_speed": [1]}}]}])
file: Path = landau.write("landau.yaml", check="build")
first, held = quintet.data.write_frames("copper.xyz", [last], split=0.2)
quintet.data.write_fields("flow.h5", fine, periodic=["x"], bounds={"x": (0, 4)}, parameters={"Ra": 1e6})
try:
    quintet.plan(file, [1, 2])
except quintet.InputError as error:
    print(error.code + 1, first, held)
