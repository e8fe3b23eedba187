#!/usr/bin/env python3
"""What Python writes as training data is what the programs read, label by label and point by point."""
import re
import subprocess
import unittest
from pathlib import Path
from types import SimpleNamespace

from support import BUILD, COPPER, InFolder, needs, needs_program

import h5py
import numpy as np

import quintet

RANDOM = np.random.default_rng(5)


def inspected(path):
    done = subprocess.run([BUILD / "bin/quintet", "inspect", path], text=True, capture_output=True)
    return done.stdout + done.stderr


@needs("ase")
class Frames(InFolder):
    def atoms(self, n=6, stress=True, periodic=True):
        import ase
        from ase.calculators.singlepoint import SinglePointCalculator

        cell = 7 * np.eye(3) + RANDOM.random((3, 3)) if periodic else None
        atoms = ase.Atoms(["Cu"] * n, 7 * RANDOM.random((n, 3)), cell=cell, pbc=periodic)
        labels = {"energy": -3.5 * n + RANDOM.random(), "forces": RANDOM.normal(size=(n, 3))}
        if stress:
            labels["stress"] = 0.01 * RANDOM.normal(size=6)
        atoms.calc = SinglePointCalculator(atoms, **labels)
        return atoms

    def test_labels_come_back_to_the_last_digit(self):
        import ase.io

        frames = [self.atoms(6), self.atoms(5, stress=False)]
        path, none = quintet.data.write_frames("frames.xyz", frames)
        self.assertIsNone(none)
        for ours, back in zip(frames, ase.io.read(path, ":")):
            np.testing.assert_array_equal(back.positions, ours.positions)
            np.testing.assert_array_equal(back.cell, ours.cell)
            np.testing.assert_array_equal(back.get_forces(), ours.get_forces())
            self.assertEqual(back.get_potential_energy(), ours.get_potential_energy())
        virial = ase.io.read(path, 0).info["virial"]
        np.testing.assert_allclose(virial, -frames[0].get_stress(voigt=False) * frames[0].get_volume(), atol=1e-14)

    @needs_program("dpmd")
    def test_dpmd_reads_them(self):
        """The labels of a model's own making: dpmd test finds that they are the model's."""
        from ase.calculators.singlepoint import SinglePointCalculator

        model = quintet.Potential(COPPER / "copper.dp")
        frames = []
        for i in range(4):
            atoms = self.atoms(8)
            atoms.positions = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) @ np.array(atoms.cell) / 2 + 0.3 * RANDOM.random((8, 3))
            found = model(atoms)
            tensor = -found.virial / atoms.get_volume()
            atoms.calc = SinglePointCalculator(atoms, energy=found.energy + 7, free_energy=found.energy, forces=found.forces, stress=tensor)
            frames.append(atoms)
        quintet.data.write_frames("own.xyz", frames)
        done = subprocess.run([BUILD / "bin/dpmd", "test", "own.xyz", "--model", COPPER / "copper.dp"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = re.search(r"4 frames, rmse: energy (\S+) meV/atom, force (\S+) meV/angstrom, virial (\S+) meV/atom", done.stdout)
        self.assertTrue(said, done.stdout)
        self.assertLess(max(map(float, said.groups())), 1e-7)

    def test_results_of_other_atoms_are_refused(self):
        """A calculator that frames share has the results of the last one: the others would be written with its labels."""
        import ase.io
        from ase.calculators.emt import EMT
        from ase.calculators.singlepoint import SinglePointCalculator

        def computed(keep):
            calculator, frames = EMT(), []
            for shift in (0, 0.1, 0.2):
                atoms = ase.Atoms("Cu2", [[0, 0, 0], [2.4 + shift, 0, 0]], calculator=calculator)
                atoms.get_forces()
                if keep:
                    atoms.calc = SinglePointCalculator(atoms, **atoms.calc.results)
                frames.append(atoms)
            return frames

        shared = computed(keep=False)
        with self.assertRaisesRegex(quintet.InputError, r"frame 0: .* of other positions\..*SinglePointCalculator\(atoms, \*\*atoms"):
            quintet.data.write_frames("shared.xyz", shared)
        self.assertFalse(Path("shared.xyz").exists())
        quintet.data.write_frames("last.xyz", shared[-1:])
        own = computed(keep=True)
        quintet.data.write_frames("own_labels.xyz", own)
        for back, atoms in zip(ase.io.read("own_labels.xyz", ":"), shared):
            self.assertEqual(back.get_potential_energy(), atoms.get_potential_energy())  # computed again
        own[1].set_initial_charges([1, -1])  # which no label depends on
        quintet.data.write_frames("charges.xyz", own)
        own[1].pbc = True
        with self.assertRaisesRegex(quintet.InputError, "frame 1: .* of other pbc"):
            quintet.data.write_frames("pbc.xyz", own)

    def test_a_database_and_dpdata(self):
        import ase.db

        frames = [self.atoms(4) for _ in range(3)]
        database = ase.db.connect("frames.db")
        for atoms in frames:
            database.write(atoms)
        quintet.data.write_frames("list.xyz", frames)
        quintet.data.write_frames("database.xyz", "frames.db")
        self.assertEqual(Path("database.xyz").read_text(), Path("list.xyz").read_text())
        system = SimpleNamespace(data={
            "atom_names": ["Cu"], "atom_types": np.zeros(4, int), "coords": np.stack([one.positions for one in frames]),
            "cells": np.stack([np.array(one.cell) for one in frames]), "energies": np.array([one.get_potential_energy() for one in frames]),
            "forces": np.stack([one.get_forces() for one in frames]),
            "virials": np.stack([-one.get_stress(voigt=False) * one.get_volume() for one in frames])})
        quintet.data.write_frames("dpdata.xyz", system)
        import ase.io

        for ours, back in zip(frames, ase.io.read("dpdata.xyz", ":")):
            np.testing.assert_array_equal(back.get_forces(), ours.get_forces())
            np.testing.assert_allclose(back.info["virial"], -ours.get_stress(voigt=False) * ours.get_volume(), atol=1e-12)
        del system.data["forces"]
        with self.assertRaisesRegex(quintet.InputError, "the system has no forces"):
            quintet.data.write_frames("none.xyz", system)

    def test_a_part_is_held_out(self):
        import ase.io

        frames = [self.atoms(3) for _ in range(10)]
        training, validation = quintet.data.write_frames("split.xyz", frames, split=0.2, seed=4)
        energies = [[one.get_potential_energy() for one in ase.io.read(path, ":")] for path in (training, validation)]
        self.assertEqual((len(energies[0]), len(energies[1])), (8, 2))
        self.assertEqual(sorted(energies[0] + energies[1]), sorted(one.get_potential_energy() for one in frames))
        self.assertEqual(validation.name, "split.validation.xyz")
        for wrong, says in ((0.01, "none may be empty"), (1, "below 1"), (-0.1, "at least 0")):
            with self.assertRaisesRegex(quintet.InputError, says):
                quintet.data.write_frames("split2.xyz", frames, split=wrong)

    def test_frames_without_labels_are_refused(self):
        good = self.atoms(3)
        for change, says in ((lambda one: setattr(one, "calc", None), "frame 1 .Cu3. has no energy and forces"),
                             (lambda one: one.calc.results.pop("forces"), "has no forces"),
                             (lambda one: one.calc.results.update(energy=np.nan), "expected finite numbers"),
                             (lambda one: one.calc.results.update(stress=np.full(6, np.inf)), "frame 1: stress .inf.*expected finite numbers"),
                             (lambda one: [each.cell.__setitem__(0, 0) for each in (one, one.calc.atoms)], "its cell has 2 vectors")):
            bad = self.atoms(3)
            change(bad)
            with self.assertRaisesRegex(quintet.InputError, says):
                quintet.data.write_frames("bad.xyz", [good, bad])
            self.assertFalse(Path("bad.xyz").exists())
        with self.assertRaisesRegex(quintet.InputError, "no frames"):
            quintet.data.write_frames("bad.xyz", [])


@needs("xarray", "pandas")
class Fields(InFolder):
    def sea(self, n_t=60):
        import pandas
        import xarray

        lat, lon = np.arange(-60, 61, 20.0), np.arange(0, 360, 30.0)
        t = np.arange(n_t)
        season = np.cos(2 * np.pi * t / 52)
        sst = 20 - 0.004 * lat[:, None] ** 2 + season[:, None, None] * np.sin(np.radians(lat))[:, None] + 0.3 * np.cos(
            np.radians(lon)) * np.sin(2 * np.pi * t / 37)[:, None, None] + 0.02 * RANDOM.normal(size=(n_t, len(lat), len(lon)))
        sst[:, 2, 3:5] = np.nan
        return xarray.Dataset({"sst": (("time", "lat", "lon"), sst, {"units": "degree_Celsius", "long_name": "Temperature of the sea surface"})},
                              {"time": pandas.date_range("2001-01-03", periods=n_t, freq="7D"), "lat": ("lat", lat, {"units": "degrees_north"}),
                               "lon": ("lon", lon, {"units": "degrees_east"})})

    def flow(self):
        import xarray

        t, x = np.linspace(0, 1, 9), (np.arange(16) + 0.5) / 4
        z = np.linspace(-0.5, 0.5, 9)
        b = np.sin(np.pi * x / 2)[None, None, :] * np.cos(np.pi * z)[None, :, None] * np.exp(-t)[:, None, None] - z[None, :, None]
        return xarray.Dataset({name: (("time", "z", "x"), b.astype(kind)) for name, kind in (("b", np.float64), ("w", np.float32))},
                              {"time": t, "z": z, "x": x}, {"Ra": 1e5, "Pr": 1.0})

    @needs_program("podlstm")
    def test_podlstm_reads_a_sea(self):
        data = self.sea()
        path = quintet.data.write_fields("sea.h5", data, periodic=["lon"])
        file = quintet.inputs.podlstm_fit(fields={"files": [path.name], "variable": "sst"}, pod={"modes": 3}).write("fit.yaml")
        done = quintet.run(file, progress=False, threads=1)
        fields = done.fields
        self.assertEqual(int((fields.mask == 0).sum()), 2)
        self.assertEqual(fields.attrs["variable"], "sst")
        np.testing.assert_array_equal(fields.time.values.astype("datetime64[D]"), data.time.values.astype("datetime64[D]"))
        mean = data.sst.mean("time")
        np.testing.assert_allclose(fields["mean"].values, mean.values, atol=1e-6)
        whole = fields["mean"] + (fields.coefficients * fields.modes).sum("mode")
        self.assertLess(float(np.sqrt(((whole.transpose("time", "lat", "lon").values - data.sst.values)[:, fields.mask.values == 1] ** 2).mean())), 0.03)

    @needs_program("podlstm")
    @needs("scipy")
    def test_other_calendars_go_by_netcdf(self):
        """A file of fields over time has no calendar: days of a year without leap days would become wrong dates."""
        data = self.sea()
        days = 7.0 * np.arange(data.sizes["time"])
        for calendar in ("proleptic_gregorian", "noleap"):
            one = data.assign_coords(time=("time", days, {"units": "days since 2001-01-03", "calendar": calendar}))
            if calendar != "noleap":
                quintet.data.write_fields("calendar.h5", one)
                continue
            with self.assertRaisesRegex(quintet.InputError, r"the calendar noleap, .*dataset\.to_netcdf\(FILE\), which podlstm reads"):
                quintet.data.write_fields("noleap.h5", one)
            self.assertFalse(Path("noleap.h5").exists())
            one.to_netcdf("noleap.nc", engine="scipy", format="NETCDF3_64BIT")
            file = quintet.inputs.podlstm_fit(fields={"files": ["noleap.nc"], "variable": "sst"}, pod={"modes": 3}).write("noleap.yaml")
            self.assertEqual(quintet.run(file, progress=False, threads=1).summary.n_times, len(days))

    @needs_program("meshfreeflow", "quintet")
    def test_meshfreeflow_reads_a_flow(self):
        data = self.flow()
        quintet.data.write_fields("flow.h5", data, periodic=["x"], bounds={"x": (0, 4)})
        said = inspected("flow.h5")
        for word in ("made by: quintet.data.write_fields", "axis x: 16 points", "a period from 0 to 4", "axis z: 9 points", "field b", "Ra"):
            self.assertIn(word, said)
        from quintet import fields

        back = fields.series_dataset(Path("flow.h5"))
        back.attrs["slip_top"] = 1.0
        np.testing.assert_array_equal(back.b[0].values, data.b.values)
        np.testing.assert_array_equal(back.w[0].values, data.w.values)
        self.assertEqual((back.attrs["Ra"], back.x.attrs["upper"], back.x.attrs["periodic"], back.z.attrs["periodic"]), (1e5, 4, 1, 0))
        quintet.data.write_fields("again.h5", back)  # what was read is written as it was
        with h5py.File("flow.h5") as one, h5py.File("again.h5") as two:
            for name in ("t0_fields/b", "t0_fields/w", "dimensions/x", "dimensions/time"):
                np.testing.assert_array_equal(one[name], two[name])
            self.assertEqual(two["dimensions/x"].attrs["upper"], 4)
            self.assertIn("boundary_conditions/x_periodic", two)
            self.assertEqual((two["scalars/slip_top"][()], two["scalars/Rayleigh"][()]), (1, 1e5))

    def test_wrong_data_are_refused(self):
        write = quintet.data.write_fields
        flow = self.flow()
        for wrong, more, says in (
                (flow.isel(time=slice(None, None, -1)), {}, r"'time' does not ascend.*sortby\('time'\)"),
                (flow.isel(time=[0, 1, 1, 2]), {}, r"'time' has 0.125 twice.*drop_duplicates\('time'\)"),
                (flow.isel(time=[]), {}, r"'time' is \[\].*one or more"),
                (flow * 1j, {}, "b holds complex128; expected real numbers"),
                (flow, {"periodic": "xz"}, "there is no axis 'xz'"),
                (flow.assign_coords(x=flow.x + 0.003 * (flow.x > 2)), {"periodic": "x"}, r"0.25 to 0.253 apart.*bounds=\{'x': \(lower, upper\)\}"),
                (flow.isel(x=[0]), {"periodic": "x"}, r"'x' is periodic and it has one point.*bounds=\{'x': \(lower, upper\)\}"),
                (flow, {"parameters": {"Ra": np.nan, "Pr": 1}}, "the parameter Ra is nan; expected a finite number"),
                (flow.drop_vars("x"), {}, "the axis 'x' has no coordinate"),
                (flow.drop_vars("time"), {}, "no coordinate 'time'"),
                (flow, {"periodic": ["y"]}, "there is no axis 'y'; there are: z, x"),
                (flow, {"bounds": {"z": (0, 1)}}, "outside of its ends 0 and 1"),
                (flow.assign(w=flow.w.isel(z=0)), {"fields": ["b", "w"]}, "w has the dimensions"),
                (flow[["b"]].mean("time").assign_coords(time=flow.time), {}, "no variable of the data set has time"),
                (flow.where((flow.time > 0.5) | (flow.x > 1)), {}, "points have values at some times only, the first at {'z': 0, 'x': 0}"),
                (flow.where(flow.x > 9), {}, "no point has values at all times"),
                (flow, {"mask": np.ones((3, 3))}, r"the mask has shape \[3, 3\], the fields \[9, 16\]")):
            with self.assertRaisesRegex(quintet.InputError, says):
                write("wrong.h5", wrong, **more)
            self.assertFalse(list(Path().glob("*wrong*")) + list(Path().glob(".*wrong*")))
        holes = flow.where(flow.x > 1)  # land, at all times
        write("land.h5", holes)
        with h5py.File("land.h5") as file:
            self.assertEqual(int((file["mask"][...] == 0).sum()), 9 * 4)
        with self.assertRaisesRegex(quintet.InputError, "points have values at some times only"):
            write("wrong.h5", holes, mask=np.ones((9, 16)))

    def test_a_period_ends_a_spacing_after_its_last_point(self):
        quintet.data.write_fields("period.h5", self.flow(), periodic=["x"])
        with h5py.File("period.h5") as file:
            lower, upper = (file["dimensions/x"].attrs[end] for end in ("lower", "upper"))
        self.assertAlmostEqual(upper - lower, 4)
        quintet.data.write_fields("two.h5", self.flow().isel(x=[0, 4]), periodic=["x"])
        with h5py.File("two.h5") as file:
            self.assertEqual(file["dimensions/x"].attrs["upper"] - file["dimensions/x"].attrs["lower"], 2)
        nearly = self.flow()
        nearly = nearly.assign_coords(x=nearly.x + 0.002 * (nearly.x > 2))  # as coordinates of few digits are
        quintet.data.write_fields("nearly.h5", nearly, periodic="x")

    def test_remedies_work(self):
        flow = self.flow()
        quintet.data.write_fields("sorted.h5", flow.isel(time=slice(None, None, -1)).sortby("time"))
        quintet.data.write_fields("once.h5", flow.isel(time=[0, 1, 1, 2]).drop_duplicates("time"))
        uneven = flow.assign_coords(x=flow.x + 0.003 * (flow.x > 2))
        quintet.data.write_fields("bounds.h5", uneven, periodic="x", bounds={"x": (0, 4.1)})
        with h5py.File("bounds.h5") as file:
            self.assertEqual(file["dimensions/x"].attrs["upper"], 4.1)
        quintet.data.write_fields("one.h5", flow.isel(x=[0]), periodic="x", bounds={"x": (0, 4)})
        with h5py.File("one.h5") as file:
            self.assertEqual((file["dimensions/x"].attrs["lower"], file["dimensions/x"].attrs["upper"]), (0, 4))


if __name__ == "__main__":
    unittest.main()
