#!/usr/bin/env python3
"""What runs have written is what Python reads: tables, fields, trajectories, reports; also while they write."""
import copy
import multiprocessing
import os
import pickle
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from support import COPPER, PATIENCE, SOURCE, InFolder, copper, needs, needs_program, two_stream

import h5py
import numpy as np

import quintet


@needs_program("vlasov")
class AnyRun(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done = two_stream(quintet, "runs/beams")

    def test_says_what_it_was(self):
        self.assertEqual(self.done.status, "done")
        self.assertEqual(self.done.program, "vlasov run")
        self.assertEqual(self.done.name, "beams")
        self.assertEqual(self.done.provenance["threads"], "1")
        self.assertIn("end: 2", self.done.configuration)
        self.assertIn("vlasov run", self.done.log)
        self.assertEqual(len(self.done.checkpoints) > 0, True)

    def test_summary_is_the_file(self):
        summary = self.done.summary
        self.assertEqual(summary.steps, summary["steps"])
        self.assertGreater(summary.steps, 10)
        self.assertNotIn("status", summary.numbers())
        with self.assertRaisesRegex(AttributeError, "has no 'step'"):
            summary.step

    def test_shows_itself(self):
        self.assertIn("energy drift", repr(self.done))
        page = self.done._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn("Gauss&#x27;s law", page)  # text of a run is no markup

    def test_a_damaged_file_does_not_keep_it_from_showing_itself(self):
        damaged = Path("runs/damaged")
        shutil.copytree(self.done.directory, damaged)
        with open(damaged / "run.h5", "r+b") as file:
            file.truncate((damaged / "run.h5").stat().st_size // 2)
        os.utime(damaged / "run.h5", (0, 0))  # nobody writes it, so it is not tried again
        shown = repr(quintet.open(damaged))
        self.assertIn("energy drift", shown)
        self.assertRegex(shown, "tables .*run.h5: cannot be read: .*'quintet verify runs/damaged/run.h5' says what is damaged")
        with self.assertRaisesRegex(quintet.InputError, "cannot be read"):
            quintet.open(damaged).table("history")
        verify = Path(os.environ["QUINTET_BIN"]) / "quintet"
        if verify.exists():  # the remedy
            said = subprocess.run([verify, "verify", damaged / "run.h5"], text=True, capture_output=True).stdout
            self.assertRegex(said, "damaged +runs/damaged/run.h5: .*truncated")

    def test_report_has_pictures(self):
        pictures = self.done.plot()
        self.assertGreater(len(pictures), 5)
        energy = pictures["Energy"]
        self.assertIs(pictures[np.int64(0)], pictures[0])
        saved = energy.save("energy.svg")
        import xml.etree.ElementTree

        root = xml.etree.ElementTree.parse(saved).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("srcdoc", self.done.report._repr_html_())
        with self.assertRaisesRegex(quintet.InputError, "no picture is called 'pressure of copper'"):
            pictures["pressure of copper"]

    def test_what_is_no_run_is_refused(self):
        with self.assertRaisesRegex(quintet.InputError, "no such directory"):
            quintet.open("runs/nowhere")
        with self.assertRaisesRegex(quintet.InputError, "holds no run"):
            quintet.open(".")

    def test_tables_are_found_by_their_last_name(self):
        self.assertEqual(quintet.runs.tables.match("rdf", ["a/rdf/rdf", "b/vacf"]), "a/rdf/rdf")
        with self.assertRaisesRegex(quintet.InputError, "there is no table 'thermo'; there are: history"):
            quintet.runs.tables.match("thermo", self.done.tables)
        with self.assertRaisesRegex(quintet.InputError, "may be any of a/x, b/x"):
            quintet.runs.tables.match("x", ["a/x", "b/x"])

    @needs("pandas")
    def test_table_is_the_groups_data(self):
        history = self.done.table("history")
        with h5py.File("runs/beams/run.h5") as file:
            for name in ("time", "energy", "ex_squared"):
                np.testing.assert_array_equal(history[name], file["history"][name])
        self.assertEqual(list(history)[:2], ["time", "step"])
        self.assertNotIn("row_checksum", history)
        self.assertEqual(history.attrs["descriptions"]["dt"], "Last time step")
        self.assertEqual(history.step.dtype, np.int64)

    @needs("xarray")
    def test_fields_have_coordinates_and_are_read_late(self):
        fields = self.done.fields
        self.assertEqual(fields.e_x.dims, ("time", "x"))
        self.assertEqual(fields.sizes["time"], 5)
        np.testing.assert_allclose(fields.time, [0, 0.5, 1, 1.5, 2], atol=0.1)
        with h5py.File("runs/beams/run.h5") as file:
            np.testing.assert_array_equal(fields.e_x.values, file["fields/e_x"])
            np.testing.assert_array_equal(fields.e_x[::-2, 1:9:3].values, file["fields/e_x"][:][::-2, 1:9:3])
            np.testing.assert_array_equal(fields.e_x[-1].values, file["fields/e_x"][-1])
        self.assertFalse(fields.e_x.variable._in_memory and self.done.fields.e_x.variable._in_memory)
        self.assertEqual(fields.attrs["Conventions"], "CF-1.11")
        self.assertEqual(fields.time.attrs["standard_name"], "time")
        self.assertEqual(fields.electrons_density.attrs["long_name"], "electrons: density")

    @needs("xarray")
    def test_pictures_lie_where_the_cells_are(self):
        picture = self.done.group("pictures").electrons_x_vx
        self.assertEqual(picture.dims, ("time", "vx", "x"))
        width = float(picture.vx[1] - picture.vx[0])
        self.assertAlmostEqual(float(picture.vx[0]), -6 + width / 2)
        self.assertAlmostEqual(float(picture.vx[-1]), 6 - width / 2)
        particles = float(picture[0].sum()) * width * float(picture.x[1] - picture.x[0])
        self.assertAlmostEqual(particles / (4 * np.pi), 1, delta=0.05)  # density 1 on 4 pi; midpoints of cubic pieces

    @needs("xarray")
    def test_pictures_of_species_lie_where_their_own_cells_are(self):
        def pictures(name, upper, cells):
            species = [{"name": "cold", "velocity": {"lower": [-1], "upper": [1], "cells": [8]}, "charge": 0,
                        "initial": [{"maxwellian": {"density": 1, "thermal_speed": 0.2}}]},
                       {"name": "cold_x", "velocity": {"lower": [-upper], "upper": [upper], "cells": [cells]}, "charge": 0,
                        "initial": [{"maxwellian": {"density": 1, "thermal_speed": 0.2 * upper}}]}]
            return two_stream(quintet, f"runs/{name}", species=species, **{"time.end": 0.1, "grid.cells": [8]}).group("pictures")

        for name, upper, cells in (("range", 6, 8), ("number", 1, 12)):
            both = pictures(name, upper, cells)
            self.assertEqual(both.cold_x_vx.dims, ("time", "vx_cold", "x"))
            self.assertEqual(both.cold_x_x_vx.dims, ("time", "vx_cold_x", "x"))
            for axis, end in ((both.vx_cold, 1), (both.vx_cold_x, upper)):
                width = float(axis[1] - axis[0])
                self.assertAlmostEqual(width * axis.size, 2 * end)
                self.assertAlmostEqual(float(axis[0]), -end + width / 2)
        self.assertEqual(pictures("same", 1, 8).cold_x_x_vx.dims, ("time", "vx", "x"))

    def test_distributions_are_those_of_the_pictures_and_moments(self):
        for frame in (0, -1):
            f = self.done.distribution("electrons", frame)
            with h5py.File("runs/beams/run.h5") as file:
                picture, x = file["pictures/electrons_x_vx"][frame], file["fields/x"][...]
                names = ("electrons_density", "electrons_velocity_x", "electrons_pressure_xx", "time")
                density, velocity, pressure, time = (file[f"fields/{name}"][frame] for name in names)
            self.assertEqual(f.time, time)
            vx = -6 + (np.arange(picture.shape[0]) + 0.5) * 12 / picture.shape[0]
            np.testing.assert_allclose(f(x=x, vx=vx[:, None]), picture, atol=1e-12)
            np.testing.assert_allclose(f(x=x + 4 * np.pi, vx=0.0), f(x=x, vx=0.0), atol=1e-12)  # a period
            n, flux, energy = (f.moment(x=x, powers={"vx": p}) for p in range(3))
            np.testing.assert_allclose(n, density, atol=1e-12)
            self.assertLess(np.abs(flux / n - velocity).max(), 2e-2)  # a projection of the quotient, the run's
            self.assertLess(np.abs(energy - flux**2 / n - pressure).max(), 5e-2)
        with self.assertRaisesRegex(quintet.InputError, r"vx = 7.0 is outside of \[-6.0, 6.0\]"):
            f(x=0, vx=7)
        with self.assertRaisesRegex(quintet.InputError, "points have x; expected x, vx"):
            f(x=0)
        with self.assertRaisesRegex(quintet.InputError, "there is no species 'ions'; there are: electrons"):
            self.done.distribution("ions")
        with self.assertRaisesRegex(quintet.InputError, "there is no frame 5; there are 5"):
            self.done.distribution("electrons", 5)
        with self.assertRaisesRegex(quintet.InputError, "there is no velocity 'vy'; there are: vx"):
            f.moment(x=0, powers={"vy": 1})
        for power in (-1, 1.5):  # those just inside, 0 to 2, are above
            with self.assertRaisesRegex(quintet.InputError, f"vx to the power of {power}: expected a whole number from 0"):
                f.moment(x=0, powers={"vx": power})

    @needs("xarray")
    def test_pickled_it_is_the_same_run_elsewhere(self):
        """A run, its fields (unread) and f go to a process in another folder; a summary can be copied."""
        parts = pickle.dumps((self.done, self.done.fields, self.done.distribution("electrons"), self.done.summary))
        self.assertLess(len(pickle.dumps(self.done.fields)), self.done.fields.nbytes)
        with multiprocessing.get_context("spawn").Pool(1, os.chdir, ("/",)) as pool:
            name, field, f, steps = pool.apply(_looked_at, (parts,))
        self.assertEqual((name, steps), ("beams", self.done.summary.steps))
        np.testing.assert_array_equal(field, self.done.fields.e_x.values)
        self.assertEqual(f, self.done.distribution("electrons")(x=0.1, vx=1.0))
        self.assertEqual(copy.copy(self.done.summary), self.done.summary)

    @needs("xarray", "dask")
    def test_fields_in_chunks_of_dask(self):
        chunked = self.done.fields.chunk(time=2)
        self.assertEqual(chunked.e_x.chunks[0], (2, 2, 1))
        for scheduler in ("threads", "processes"):
            mean = (chunked.e_x**2).mean("x").compute(scheduler=scheduler)
            np.testing.assert_allclose(mean, (self.done.fields.e_x.values**2).mean(axis=1), rtol=1e-13)

    @needs("matplotlib", "pandas")
    def test_columns_are_drawn_with_their_units(self):
        import matplotlib

        matplotlib.use("Agg")
        axes = self.done.plot("history", "energy", "kinetic_energy")
        self.assertEqual([line.get_label() for line in axes.lines], ["energy", "kinetic_energy"])
        self.assertEqual(axes.get_xlabel(), "time")
        with self.assertRaisesRegex(quintet.InputError, "has no column 'enrgy'"):
            self.done.plot("history", "enrgy")


    def test_distributions_of_more_axes_and_other_bases(self):
        done = quintet.run(SOURCE / "inputs/vlasov/weibel_1x2v.yaml", output="runs/weibel", progress=False, threads=1,
                           set={"output": {"frame_interval": 0.25}},
                           **{"grid.cells": [6, 8, 8], "basis.order": 1, "basis.family": "hybrid", "time.end": 0.5, "theory": None})
        f = done.distribution("electrons")
        self.assertEqual((f.axes, f.coefficients.shape), (["x", "vx", "vy"], (6, 8, 8, 16)))
        with h5py.File("runs/weibel/run.h5") as file:
            x, density = file["fields/x"][...], file["fields/electrons_density"][-1]
        np.testing.assert_allclose(f.moment(x=x), density, atol=1e-12)
        nodes, weights = np.polynomial.legendre.leggauss(4)
        # the density at one point, by quadrature of f itself over both velocities
        (vx, wx), (vy, wy) = (zip(*[((a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights) for a, b in zip(edges, edges[1:])])
                              for edges in f.edges[1:])
        sums = np.einsum("i,j,ij", np.ravel(wx), np.ravel(wy), f(x=x[3], vx=np.ravel(vx)[:, None], vy=np.ravel(vy)[None]))
        self.assertAlmostEqual(sums, density[3], places=12)


def _looked_at(parts):
    run, fields, f, summary = pickle.loads(parts)
    return run.name, fields.e_x.values, f(x=0.1, vx=1.0), summary.steps


@needs_program("dpmd")
class Dynamics(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done = copper(quintet, "runs/nvt")

    @needs("pandas")
    def test_units_of_thermo(self):
        thermo = self.done.table("thermo")
        self.assertEqual(thermo.attrs["units"]["temperature"], "K")
        self.assertEqual(list(thermo.step), [0, 5, 10, 15, 20])
        self.assertAlmostEqual(thermo.temperature[0], 600, places=6)

    @needs("ase", "pandas")
    def test_atoms_are_those_of_the_run(self):
        trajectory = self.done.trajectory
        self.assertEqual(len(trajectory), 3)
        thermo = self.done.table("thermo").set_index("step")
        for atoms in trajectory:
            self.assertEqual(len(atoms), 32)
            self.assertEqual(atoms.get_chemical_formula(), "Cu32")
            at = thermo.loc[atoms.info["step"]]
            self.assertAlmostEqual(atoms.info["time_ps"], at.time)
            # velocities in ASE's unit: N = 31 atoms' worth of degrees of freedom, as the momentum is zero
            self.assertAlmostEqual(atoms.get_kinetic_energy() / at.kinetic, 1, places=7)
            self.assertTrue(atoms.pbc.all())
        self.assertEqual([one.info["step"] for one in trajectory[::-1]], [20, 10, 0])
        self.assertEqual(trajectory[-1].info["step"], 20)
        with self.assertRaises(IndexError):
            trajectory[3]

    @needs("ase")
    def test_forces_are_the_potentials(self):
        last = self.done.trajectory[-1]
        forces = quintet.Potential(COPPER / "copper.dp")(last).forces
        np.testing.assert_allclose(last.get_forces(), forces, atol=1e-9)

    def test_a_pickled_trajectory_has_the_same_frames(self):
        some = self.done.trajectory.unwrapped()[1:]
        other = pickle.loads(pickle.dumps(some))
        self.assertEqual((other.path.is_absolute(), other.is_unwrapped, len(other)), (True, True, 2))
        np.testing.assert_array_equal(other.positions, some.positions)

    def test_arrays_need_no_ase(self):
        trajectory = self.done.trajectory
        self.assertEqual(trajectory.positions.shape, (3, 32, 3))
        self.assertEqual(trajectory.symbols, ["Cu"] * 32)
        moved = trajectory.unwrapped().positions
        step = np.linalg.norm(np.diff(moved, axis=0), axis=2)
        self.assertLess(step.max(), 1)  # no jump over the cell, 7.2 angstrom
        np.testing.assert_allclose(trajectory.times, [0, 0.02, 0.04])

    def test_runs_without_fields_say_so(self):
        needs_xarray = needs("xarray")(lambda: None)
        if not getattr(needs_xarray, "__unittest_skip__", False):
            with self.assertRaisesRegex(quintet.InputError, r"has no fields over time; tables: thermo"):
                self.done.fields


@needs_program("vlasov")
class Live(InFolder):
    @needs("xarray", "pandas")
    def test_a_run_is_read_while_it_writes(self):
        program = quintet._programs.program("vlasov")
        words = [program, "run", SOURCE / "inputs/vlasov/two_stream.yaml", "--output", "live", "--set", "grid.cells=[16,16]", "--set",
                 "time.end=1000", "--set", "output.frame_interval=0.05", "--set", "theory=null", "--set", "checkpoint_interval=50", "--threads", "1"]
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            rows, frames, deadline = set(), set(), time.time() + 60 * PATIENCE
            while (len(rows) < 3 or len(frames) < 3) and time.time() < deadline:
                time.sleep(0.1)
                try:
                    run = quintet.open("live")
                    history, fields = run.table("history"), run.fields
                except quintet.InputError as error:
                    self.assertIsNone(process.poll(), error)
                    continue
                self.assertEqual(run.status, "unfinished")
                self.assertTrue(np.isfinite(history.energy).all() and (np.diff(history.time) > 0).all())
                self.assertTrue(np.isfinite(fields.e_x.values).all())
                rows.add(len(history))
                frames.add(fields.sizes["time"])
            self.assertGreaterEqual(min(len(rows), len(frames)), 3, (rows, frames))
        finally:
            process.terminate()  # a kill within a flush would tear the file
            process.wait(60)
        self.assertGreaterEqual(len(quintet.open("live").table("history")), max(rows))


if __name__ == "__main__":
    unittest.main()
