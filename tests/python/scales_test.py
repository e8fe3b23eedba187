#!/usr/bin/env python3
"""All that runs write opens in xarray by itself: dimension scales on tables and fields, named axes everywhere."""
import unittest

from support import InFolder, copper, needs, needs_program, two_stream

import h5py

import quintet
from quintet._files import axes_of


def scales_of(dataset):
    """Names of the scales attached to a data set, one an axis; None where there are none."""
    if "DIMENSION_LIST" not in dataset.attrs:
        return None
    return [dataset.file[one[0]].name.rsplit("/", 1)[-1] for one in dataset.attrs["DIMENSION_LIST"]]


@needs_program("vlasov", "dpmd")
class Files(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plasma = two_stream(quintet, "plasma", ranks=2)
        cls.copper = copper(quintet, "copper", observables={"rdf": {"interval": 10}})

    def files(self):
        return [self.plasma.directory / "run.h5", self.copper.directory / "run.h5", self.copper.directory / "trajectory.h5"]

    def test_tables_lie_along_their_times(self):
        for run, name in ((self.plasma, "history"), (self.copper, "thermo")):
            with h5py.File(run.directory / "run.h5") as file:
                group = file[name]
                self.assertTrue(group["time"].is_scale)
                for column, member in group.items():
                    self.assertEqual(scales_of(member), None if column == "time" else ["time"], column)
                self.assertEqual(len(group["time"].attrs["REFERENCE_LIST"]), len(group) - 1)

    def test_fields_and_curves_lie_along_their_coordinates(self):
        with h5py.File(self.plasma.directory / "run.h5") as file:
            for name, member in file["fields"].items():
                expected = {"time": None, "x": None, "mask": ["x"]}.get(name, ["time", "x"])
                self.assertEqual(scales_of(member), expected, name)
            self.assertEqual(file["fields/e_x"].dims[0][0], file["fields/time"])
        with h5py.File(self.copper.directory / "run.h5") as file:
            self.assertEqual(scales_of(file["observables/rdf/rdf/Cu_Cu"]), ["r"])

    def test_scales_are_as_long_as_what_lies_along_them(self):
        seen = 0
        for path in self.files():
            with h5py.File(path) as file:
                def visit(name, member):
                    nonlocal seen
                    if isinstance(member, h5py.Dataset) and "DIMENSION_LIST" in member.attrs:
                        lengths = [file[one[0]].shape[0] for one in member.attrs["DIMENSION_LIST"]]
                        self.assertEqual(tuple(lengths), member.shape, name)
                        self.assertEqual(len(axes_of(member)), len(lengths))
                        seen += 1
                file.visititems(visit)
        self.assertGreater(seen, 60)

    @needs("xarray", "h5netcdf")
    def test_every_group_opens_in_xarray(self):
        import xarray

        history = xarray.open_dataset(self.plasma.directory / "run.h5", group="history", engine="h5netcdf")
        self.assertEqual((list(history.sizes), list(history.coords)), (["time"], ["time"]))
        self.assertEqual(history.energy.attrs["units"], "1")
        for path in self.files():
            groups = [""]
            with h5py.File(path) as file:
                file.visititems(lambda name, member: groups.append(name) if isinstance(member, h5py.Group) else None)
            for group in groups:
                with xarray.open_dataset(path, group=group, engine="h5netcdf", phony_dims="sort") as data:
                    data.load()


if __name__ == "__main__":
    unittest.main()
