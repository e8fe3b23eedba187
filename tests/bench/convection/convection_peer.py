#!/usr/bin/env python3
"""Rayleigh-Benard convection by us and by Dedalus 3 in one run: time a step, and what accuracy costs.

    build/tests/bench/convection_peer [--quick] [--repeats 3] [--python PYTHON]

PYTHON is a Python that has Dedalus (pip install dedalus; it needs FFTW with MPI, MPI and their headers); without one our
side runs alone and no ratio is printed. One core a side, CPU seconds of the steps alone, minimum of repeats, the sides in
turn. Dedalus: Fourier x Chebyshev, dealiased by 3/2, RK222, steps of one length (so that it factorises once, which
flatters it: ours differ from step to step). Three comparisons:

  step      us a cell and step, Ra = 1e6, Pr = 1, length 4
  roll      steady roll at Ra = 1e4, Pr = 0.71, to time 60: error of Nu against the converged 2.65250; the least CPU
            seconds of all grids and steps tried that reach 0.2 %
  growth    rate at which velocities grow in the conducting layer, Ra = 1e4, Pr = 1, wavenumber pi, between times 6 and 12: error
            against the linear theory's 0.38533544; the least CPU seconds that reach 0.5 %
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

BUILD = "@PROJECT_BINARY_DIR@"
NUSSELT, GROWTH = 2.65250, 0.38533544


def peer_side(arguments):
    """In a process of Dedalus' Python: one case, a JSON line."""
    import logging
    logging.disable(logging.INFO)
    import dedalus.public as d3
    import numpy as np

    case, nx, nz, time_step = arguments.case, *arguments.cells, arguments.dt
    rayleigh, prandtl, length = {"step": (1e6, 1, 4), "roll": (1e4, 0.71, 2.015788), "growth": (1e4, 1, 2)}[case]
    coordinates = d3.CartesianCoordinates("x", "z")
    distributor = d3.Distributor(coordinates, dtype=np.float64)
    along = d3.RealFourier(coordinates["x"], size=nx, bounds=(0, length), dealias=3 / 2)
    upwards = d3.ChebyshevT(coordinates["z"], size=nz, bounds=(-0.5, 0.5), dealias=3 / 2)
    p = distributor.Field(name="p", bases=(along, upwards))
    b = distributor.Field(name="b", bases=(along, upwards))
    v = distributor.VectorField(coordinates, name="v", bases=(along, upwards))
    gauge = distributor.Field(name="gauge")
    b_low, b_high = (distributor.Field(name=name, bases=along) for name in ("b_low", "b_high"))
    v_low, v_high = (distributor.VectorField(coordinates, name=name, bases=along) for name in ("v_low", "v_high"))
    ex, ez = coordinates.unit_vector_fields(distributor)
    lift = lambda tau: d3.Lift(tau, upwards.derivative_basis(1), -1)
    grad_b = d3.grad(b) + ez * lift(b_low)
    grad_v = d3.grad(v) + ez * lift(v_low)
    conduction, viscosity = (rayleigh * prandtl)**-0.5, (rayleigh / prandtl)**-0.5
    problem = d3.IVP([p, b, v, gauge, b_low, b_high, v_low, v_high], namespace=locals())
    problem.add_equation("trace(grad_v) + gauge = 0")
    problem.add_equation("dt(b) - conduction*div(grad_b) + lift(b_high) = -v@grad(b)")
    problem.add_equation("dt(v) - viscosity*div(grad_v) + grad(p) - b*ez + lift(v_high) = -v@grad(v)")
    for equation in ("b(z=-0.5) = 0.5", "b(z=0.5) = -0.5", "v(z=-0.5) = 0", "v(z=0.5) = 0", "integ(p) = 0"):
        problem.add_equation(equation)
    solver = problem.build_solver(d3.RK222)

    x, z = distributor.local_grids(along, upwards)
    amplitude = 1e-6 if case == "growth" else 0.1
    b["g"] = -z + amplitude * np.cos(2 * np.pi * x / length) * np.cos(np.pi * z)
    mean = lambda f: float(d3.Integrate(f, coordinates).evaluate()["g"].ravel()[0]) / length
    seconds = time.process_time
    best, result = math.inf, None
    if case == "step":
        for _ in range(3):  # factorise, plan transforms
            solver.step(time_step)
        n_steps = max(20, 60000 // (nx * nz))
        for _ in range(arguments.repeats):
            start = seconds()
            for _ in range(n_steps):
                solver.step(time_step)
            best = min(best, (seconds() - start) / n_steps / (nx * nz) * 1e6)
    else:
        start = seconds()
        marks = []
        for mark in ((60,) if case == "roll" else (6, 12)):
            while solver.sim_time < mark - 1e-9:
                solver.step(time_step)
            marks.append((solver.sim_time, mean(v @ v)))
        best = seconds() - start
        if case == "roll":
            result = 1 + mean((v @ ez) * b) / conduction
        else:
            result = 0.5 * math.log(marks[1][1] / marks[0][1]) / (marks[1][0] - marks[0][0])
    print(json.dumps({"seconds": best, "result": result}))


def peer(python, case, cells, dt, repeats=1):
    done = subprocess.run([python, __file__, "--case", case, "--cells", *map(str, cells), "--dt", str(dt), "--repeats",
                           str(repeats)], capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1",
                                                                                  NUMEXPR_MAX_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"the peer failed: {case} {cells}\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["result"]


def ours(case, cells, dt, repeats=1):
    done = subprocess.run([f"{BUILD}/tests/bench/convection_step", "--case", case, *map(str, cells), str(dt), str(repeats)],
                          capture_output=True, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        sys.exit(f"convection_step failed: {case} {cells}\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["result"]


def has_dedalus(python):
    return subprocess.run([python, "-c", "import dedalus"], capture_output=True).returncode == 0


def steps(python, repeats, rows):
    for cells in ((256, 64), (128, 48), (64, 32)):
        best = [math.inf, math.inf]
        for _ in range(repeats):
            best[0] = min(best[0], ours("step", cells, 0.004)[0])
            if python:
                best[1] = min(best[1], peer(python, "step", cells, 0.004, 2)[0])
        name = "step {}x{}".format(*cells)
        print(f"{name:12} ours {best[0]:.4f} us a cell and step" +
              (f", peer {best[1]:.3f}: {best[1] / best[0]:.1f} times" if python else ""), flush=True)
        rows.append(row(name, best[0], best[1], "us/cell/step"))


def accuracy(python, case, expected, wanted, our_tries, peer_tries, repeats, rows):
    """The least CPU seconds that reach the wanted relative error."""
    best = []
    for side, run, tries in (("ours", ours, our_tries), ("peer", lambda *a: peer(python, *a), peer_tries)):
        least = math.inf
        for cells, dt in tries if side == "ours" or python else ():
            seconds, error = math.inf, math.nan
            for _ in range(repeats):
                spent, result = run(case, cells, dt)
                seconds, error = min(seconds, spent), result / expected - 1
            print(f"{case:6} {side} {cells[0]:4} x {cells[1]:<3} dt {dt:<7g} {result:.6f}, error {100 * error:+.3f} %, "
                  f"{seconds:.3f} CPU s", flush=True)
            if abs(error) <= wanted:
                least = min(least, seconds)
        best.append(least)
    print(f"{case:6} to {100 * wanted:g} %: ours {best[0]:.3f} CPU s" +
          (f", peer {best[1]:.3f}: {best[1] / best[0]:.1f} times" if python else ""), flush=True)
    rows.append(row(f"{case} to {100 * wanted:g} %", *best, "CPU s"))


def row(name, mine, theirs, unit):
    number = lambda v: float(f"{v:.5g}") if math.isfinite(v) else None
    return {"bench": "convection_peer", "case": name, "ours": number(mine), "peer": number(theirs),
            "ratio": number(theirs / mine), "unit": unit}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--cells", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--dt", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        return peer_side(arguments)
    python = arguments.python if has_dedalus(arguments.python) else None
    if not python:
        print(f"{arguments.python} has no Dedalus: our side alone")
    repeats = 1 if arguments.quick else arguments.repeats
    rows = []
    steps(python, repeats, rows)
    some = slice(0, 2) if arguments.quick else slice(None)
    accuracy(python, "roll", NUSSELT, 2e-3,
             [((64, 32), 0.05), ((64, 32), 0.1), ((64, 32), 0.15), ((96, 48), 0.1)][some],
             [((16, 12), 0.2), ((16, 12), 0.1), ((12, 8), 0.1), ((24, 16), 0.2), ((24, 16), 0.1)][some], repeats, rows)
    accuracy(python, "growth", GROWTH, 5e-3,
             [((32, 24), 0.2), ((32, 32), 0.2), ((32, 32), 0.1), ((64, 32), 0.1)][some],
             [((4, 8), 0.2), ((4, 12), 0.2), ((8, 12), 0.2), ((8, 12), 0.1)][some], repeats, rows)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
