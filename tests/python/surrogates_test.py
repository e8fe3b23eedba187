#!/usr/bin/env python3
"""Trained networks from Python give what the programs give, to the last bit, and leave nothing behind."""
import tempfile
import unittest
import warnings
from pathlib import Path

from support import InFolder, flow_runs, needs, needs_networks, needs_program, sea_runs

import h5py
import numpy as np

import quintet
from quintet import _ocean_record

# Bytes 0, 1, 2, ...: how many, the seed, and xxhash.xxh64(data, seed).hexdigest() of the package xxhash 4.1.0.
SUMS = ((0, 0, "ef46db3751d8e999"), (3, 0, "e5c7bb4533bc65dd"), (7, 5, "e4878bbf72f59115"), (31, 2**63 + 1, "14c93bc20295bb71"),
        (32, 0, "cbf59c5116ff32b4"), (47, 2**64 - 1, "00db852cbebe3e2e"), (101, 9, "a6256ba9a477470c"))


class Sums(unittest.TestCase):
    def test_sums_are_those_of_xxhash(self):
        data = bytes(range(101))
        for n, seed, expected in SUMS:
            self.assertEqual(f"{_ocean_record.xxh64(data[:n], seed):016x}", expected, (n, seed))


class WithTemporaries(InFolder):
    """Temporary folders lie in one of the test's own, which must be empty after each test."""

    def setUp(self):
        self.place = tempfile.mkdtemp(dir=self.folder)
        before, tempfile.tempdir = tempfile.tempdir, self.place
        self.addCleanup(lambda: (setattr(tempfile, "tempdir", before), self.assertEqual(list(Path(self.place).iterdir()), [])))


@needs("xarray")
@needs_networks
class Flows(WithTemporaries):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.all = flow_runs(quintet, "trained")
        cls.coarse = cls.all.isel(sample=2)

    def refined(self, **more):
        return quintet.superresolve("trained", self.coarse, threads=1, **{"outside_training": "mark", **more})

    def by_program(self, name, **where):
        file = quintet.data.write_fields(f"{name}.h5", self.coarse)
        quintet.inputs.meshfreeflow_superresolve(model="trained/model.h5", input={"file": str(file)}, output=where,
                                                 outside_training="mark").write(f"{name}.yaml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return quintet.run(f"{name}.yaml", output=f"runs_{name}", progress=False, threads=1)

    def test_a_grid_is_the_programs(self):
        for where in ({"factor": [2, 3, 2]}, {"grid": [7, 9, 20]}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                ours = self.refined(**where)
            theirs = self.by_program("grid_" + next(iter(where)), **where).fields.isel(sample=0)
            self.assertEqual(set(ours.data_vars), set(theirs.data_vars))
            self.assertIn("residual_momentum_z", ours)
            for name in theirs.variables:
                np.testing.assert_array_equal(ours[name].values, theirs[name].values)
            self.assertEqual(ours.b.dims, ("time", "z", "x"))
            self.assertEqual((ours.b.attrs["units"], ours.attrs["Ra"], ours.x.attrs["periodic"]), ("1", 1e4, 1))

    def test_points_and_arrays(self):
        """Values at nodes of a grid are the grid's; arrays with coordinates are the data set."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            grid = self.refined(grid=[5, 9, 16])
            places = {"x": grid.x.values[[3, 7]], "time": grid.time.values[[1, 4]], "z": grid.z.values[[2, 8]]}
            found = self.refined(points=places)
            arrays = {name: self.coarse[name].values for name in self.coarse.data_vars}
            same = quintet.superresolve(Path("trained/model.h5"), arrays, coordinates={n: self.coarse[n].values for n in ("time", "z", "x")},
                                        periodic=["x"], bounds={"x": (0, 2), "z": (-0.5, 0.5)}, parameters={"Ra": 1e4, "Pr": 1}, threads=1,
                                        grid=[5, 9, 16], **{"outside_training": "mark", "residuals": False})
        for name in ("time", "z", "x"):
            np.testing.assert_allclose(found[name], places[name], atol=1e-12)
        for name in ("b", "residual_buoyancy"):
            expected = [float(grid[name][1, 2, 3]), float(grid[name][4, 8, 7])]
            np.testing.assert_allclose(found[name].values, expected, rtol=1e-4, atol=1e-5)
        self.assertNotIn("residual_buoyancy", same)
        np.testing.assert_allclose(same.b.values, grid.b.values, atol=1e-6)

    def test_samples_are_refined_each_as_alone(self):
        two = self.all.isel(sample=[2, 0]).assign_coords(sample=[12, 10])
        places = {"time": [0.3, 1.0, 2.0], "z": [0.1, -0.2, 0.4], "x": [0.5, 1.0, 1.9]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for where in ({"grid": [5, 9, 16]}, {"points": places}):
                both = quintet.superresolve("trained", two, threads=1, outside_training="mark", **where)
                self.assertEqual(list(both.sample.values), [12, 10])
                for i, one in enumerate((self.coarse, self.all.isel(sample=0))):
                    alone = quintet.superresolve("trained", one, threads=1, outside_training="mark", **where)
                    self.assertEqual(set(alone.data_vars), set(both.data_vars))
                    for name in alone.variables:
                        got = both[name].isel(sample=i) if "sample" in both[name].dims else both[name]
                        np.testing.assert_array_equal(got.values, alone[name].values, err_msg=name)
            self.assertEqual(both.b.dims, ("sample", "point"))
            one = quintet.superresolve("trained", two.isel(sample=[0]), threads=1, outside_training="mark", grid=[5, 9, 16])
            arrays = quintet.superresolve("trained", {name: two[name].values for name in two.data_vars}, threads=1, outside_training="mark",
                                          coordinates={"sample": [12, 10], **{n: two[n].values for n in ("time", "z", "x")}}, periodic=["x"],
                                          bounds={"x": (0, 2), "z": (-0.5, 0.5)}, parameters={"Ra": 1e4, "Pr": 1}, grid=[5, 9, 16])
        self.assertEqual((one.b.dims, one.sizes["sample"]), (("sample", "time", "z", "x"), 1))
        np.testing.assert_array_equal(arrays.b.isel(sample=0), one.b.isel(sample=0))
        self.assertEqual(list(arrays.sample.values), [12, 10])
        with self.assertRaisesRegex(quintet.InputError, "sample 0: the fields take .* of memory"):
            quintet.superresolve("trained", two, threads=1, outside_training="mark", grid=[5, 9, 16], max_memory=1e-6)

    def test_errors_are_the_programs(self):
        hot = self.coarse.assign_attrs(Ra=2e4)
        with self.assertRaisesRegex(quintet.InputError, "beyond what the model was trained for: .*Ra.*outside_training: mark"):
            quintet.superresolve("trained", hot, factor=[2, 4, 4], threads=1)
        with self.assertWarnsRegex(RuntimeWarning, "Beyond the training"):  # the remedy of the message
            marked = quintet.superresolve("trained", hot, factor=[1, 1, 1], threads=1, outside_training="mark")
        self.assertRegex(marked.attrs["outside_training"], "Ra")
        for more, says in (({"factor": [1, 1, 1], "max_memry": 1}, "unknown key; did you mean 'max_memory'"), ({}, "one of factor, grid, points .* given: none"),
                           ({"factor": [1, 1, 1], "grid": [3, 3, 3]}, "given: factor, grid"),
                           ({"points": {"time": [1], "z": [0, 0], "x": [1]}}, "1 of time, 2 of z, 1 of x")):
            with self.assertRaisesRegex(quintet.InputError, says):
                self.refined(**more)
        for factor in ([1.5, 1, 1], "111", [[1, 1, 1]]):
            with self.assertRaisesRegex(quintet.InputError, "factor is .*; expected a list of whole numbers"):
                self.refined(factor=factor)
        with self.assertRaisesRegex(quintet.InputError, r"b has shape \[2, 3\]; its coordinates time, z, x have \[2, 2, 4\]"):
            quintet.superresolve("trained", {"b": np.zeros((2, 3))}, coordinates={"time": [0, 1], "z": [0, 1], "x": range(4)}, factor=[1, 1, 1])


@needs("xarray", "h5netcdf")
@needs_program("podlstm")
class Seas(WithTemporaries):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sea_runs(quintet)
        cls.fit = quintet.open("runs/fit").fields.load()

    def forecast(self, *state, **more):
        return quintet.forecast("runs/train", "runs/fit", *state, threads=1, **more)

    def field_of(self, coefficients):
        """Fields of coefficients in the space of the modes: their inverse, with the seasonal cycle."""
        with h5py.File("runs/fit/modes.h5") as file:
            cycle, days = file["cycle"][...], self.days(coefficients.time)
        cycle_now = _ocean_record._season(days, len(cycle) // 2) @ cycle
        field = (self.fit["mean"] + (coefficients * self.fit.modes).sum("mode")).transpose("time", "lat", "lon")
        field.values[:, self.fit.mask.values == 1] += cycle_now
        return field.where(self.fit.mask == 1).assign_attrs(units="degree_Celsius")

    @staticmethod
    def days(times):
        return (times.values - np.datetime64("1800-01-01")) / np.timedelta64(1, "D")

    def test_a_record_is_continued_as_by_the_program(self):
        import xarray

        for more in ({}, {"start": "1989-06-15", "lead": 3}):
            values = {{"start": "from"}.get(key, key): value for key, value in more.items()}
            file = quintet.inputs.podlstm_forecast(modes="runs/fit/modes.h5", model="runs/train/model.h5", **values).write("forecast.yaml")
            done = quintet.run(file, "podlstm", "forecast", progress=False, threads=1, overwrite=True)
            theirs = xarray.load_dataset(done.directory / "forecast.nc", engine="h5netcdf")
            self.assertTrue(self.forecast(**more).equals(theirs))
        self.assertEqual((theirs.sizes["time"], theirs.sst.attrs["units"]), (3, "degree_Celsius"))

    def test_a_state_of_fields_or_coefficients_is_that_of_the_record(self):
        """What the record had anyway changes nothing; fields of it, in kelvin from -180 degrees on and north first, are projected back."""
        last = self.fit.coefficients[-9:]
        plain = self.forecast()
        self.assertTrue(self.forecast(last).equals(plain))
        self.assertTrue(self.forecast(last.values).equals(plain))
        field = self.field_of(last)
        np.testing.assert_allclose(self.forecast(field).a, plain.a, atol=1e-9)
        np.testing.assert_allclose(self.forecast(field.values).a, plain.a, atol=1e-9)
        turned = field.isel(lat=slice(None, None, -1)).assign_coords(lon=(field.lon + 180) % 360 - 180).sortby("lon")
        kelvin = (turned + 273.15).assign_attrs(units="K").transpose("lon", "time", "lat")
        np.testing.assert_allclose(self.forecast(kelvin).a, plain.a, atol=1e-9)

    def test_another_state_is_another_forecast(self):
        """A record cut on a date and told again what followed forecasts from its own end; one degree more is another forecast."""
        until = "1989-06-15"
        rest = self.fit.coefficients.sel(time=slice("1989-04-01", until))
        told = self.forecast(rest)
        self.assertTrue(told.equals(self.forecast(start=until)))
        self.assertGreater(float(abs(self.forecast(rest + 1).a - told.a).max()), 0.3)
        beyond = self.forecast().a.transpose("time", "mode")  # weeks after the record: a forecast of the forecast
        self.assertEqual(self.forecast(beyond).forecast_reference_time.values, beyond.time.values[-1])

    def test_several_states_and_starts_are_each_as_alone(self):
        """A list of dates, of states, and an axis `sample` besides: [sample, lead]; each the same numbers as by itself."""
        import xarray

        starts = ["1989-06-15", "1989-08-31"]
        both = self.forecast(start=starts)
        self.assertEqual((both.a.dims, both.sst.dims), (("sample", "mode", "lead"), ("sample", "lead", "lat", "lon")))
        self.assertEqual((list(both.lead.values), both.time.dims), ([1, 2, 3, 4, 5], ("sample", "lead")))
        for i, start in enumerate(starts):
            alone = self.forecast(start=start)
            for name in ("a", "sst", "sst_error", "a_members", "time", "forecast_reference_time", "forecast_period"):
                np.testing.assert_array_equal(both[name].isel(sample=i).values, alone[name].values, err_msg=name)
        self.assertTrue(self.forecast(start=both.forecast_reference_time).equals(both))  # dates of xarray
        last = self.fit.coefficients[-9:]
        alone = [self.forecast(last), self.forecast(last + 1)]
        for states in ([last, last + 1], [last.values, last.values + 1], xarray.concat([last, last + 1], xarray.Variable("sample", [3, 5]))):
            found = self.forecast(states)
            for i in range(2):
                np.testing.assert_array_equal(found.a.isel(sample=i).values, alone[i].a.values)
        self.assertEqual(list(found.sample.values), [3, 5])
        with self.assertRaisesRegex(quintet.InputError, "there are 2 states and 3 starts; expected as many of each"):
            self.forecast([last, last], start=starts + starts[:1])
        with self.assertRaisesRegex(quintet.InputError, "sample 1: .*from: 1989-09-01 is not a date of the record"):
            self.forecast(start=[starts[0], "1989-09-01"])
        with self.assertRaisesRegex(quintet.InputError, "start is 7; expected a date such as"):
            self.forecast(start=7)

    def test_modes_of_several_variables_are_refused(self):
        """A state is of one variable: coefficients of several cannot be had of it."""
        with h5py.File("joint.h5", "w") as file:
            file.attrs["schema"] = "quintet.ocean_modes"
            file.create_group("also/level")
        with self.assertRaisesRegex(quintet.InputError, r"several variables at once \(level beside the first\).*podlstm append"):
            _ocean_record.write_record(Path("record.h5"), Path("joint.h5"), np.zeros((2, 3)), None)
        self.assertFalse(Path("record.h5").exists())

    def test_wrong_states_are_refused(self):
        last = self.fit.coefficients[-9:]
        field = self.field_of(last)
        for state, says in ((last[:, :2], r"shape \[9, 2\]; expected coefficients \[time, 3\], or fields"),
                            (last.isel(time=slice(None, None, -1)), r"do not ascend; sort it: state.sortby\('time'\)"),
                            (last.drop_vars("time"), "expected time, lat, lon or time, mode, and times"),
                            (self.fit, "choose a variable of it"), (last.where(last.mode < 0), "that are no numbers"),
                            (field.drop_attrs(), r'no units; .*assign_attrs\(units="degree_Celsius"\)'),
                            (field.assign_attrs(units="m"), "is in m, the modes in degree_Celsius"),
                            (field.isel(lon=slice(1, None)), "points along lon .*interpolate it"),
                            (field.where(field.time > field.time[0]), "has no number at sea, first at time 0, lat"),
                            (self.fit.coefficients[:200], "the record, .*, lacks these dates|was trained on other modes")):
            with self.assertRaisesRegex(quintet.InputError, says):
                self.forecast(state)
        units = field.drop_attrs().assign_attrs(units="degree_Celsius")  # the remedy
        self.assertEqual(self.forecast(units).sizes["time"], 5)
        n = self.fit.sizes["time"]
        with self.assertRaisesRegex(quintet.InputError, "start: 1989-06-16 is not a date of the record"):
            self.forecast(last.values, start="1989-06-16")
        with self.assertRaisesRegex(quintet.InputError, f"the state has {n} times; the record has {n}"):
            self.forecast(self.fit.coefficients.values)
        with self.assertRaisesRegex(quintet.InputError, "lead: 6 steps are wanted, but .* forecasts 5"):
            self.forecast(lead=6)


if __name__ == "__main__":
    unittest.main()
