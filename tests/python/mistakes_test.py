#!/usr/bin/env python3
"""What a newcomer types wrong is refused in words that say what was given and what is expected."""
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from unittest import mock

from support import BUILD, COPPER, SOURCE, InFolder, needs

import numpy as np

import quintet
from quintet import _files, _library, _programs

PAIR = np.array([[0, 0, 0], [2.5, 0, 0]])


def has_library(load):
    try:
        load()
    except quintet.ProgramNotFound as error:
        return str(error)
    return ""


class Mistakes(InFolder):
    def refused(self, says, function, *arguments, **more):
        with self.assertRaisesRegex(quintet.InputError, says):
            function(*arguments, **more)

    def test_runs(self):
        Path("run").mkdir()
        Path("run/run.h5").touch()
        self.refused(r"run/run.h5: is a file; .*quintet.open\('run'\)", quintet.open, "run/run.h5")
        self.assertEqual(quintet.open("run").name, "run")  # the remedy
        self.refused("run: is a directory; expected the YAML file", quintet.run, "run")
        file = SOURCE / "inputs/vlasov/two_stream.yaml"
        for ranks in ("2", 1.5, 0):
            self.refused("ranks: expected a whole number, at least 1", quintet.run, file, ranks=ranks)
        for values in (3, "tensor", [], iter([])):
            self.refused("basis.family: .* is no list of values", quintet.sweep, file, {"basis.family": values})
        self.refused("values are .'time.end'.; expected a list for each key", quintet.sweep, file, ["time.end"])
        self.refused("the directory of a run is None; expected a path", quintet.open, None)
        for other in (None, b"x.yaml", {"time.end": 1}):
            self.refused("the input is .*; expected a path", quintet.run, other)
        self.refused("output is 3; expected a path", quintet.run, file, output=3)
        self.refused('restart is True; expected "auto" or a checkpoint', quintet.run, file, restart=True)
        self.refused("set is .'time.end=1'.; expected values by their keys", quintet.run, file, set=["time.end=1"])
        self.refused("flags are '--queue gpu'; expected a list of words: .'--queue', 'gpu'.", quintet.submit, file, "abci3", "01:00:00", flags="--queue gpu")
        for ranks in (2.0, "2", [1, "2"]):
            self.refused("ranks are .*; expected a whole number, or a list of them", quintet.plan, file, ranks)

    def test_values_of_settings(self):
        """Numbers of numpy and paths are settings, also within lists; a set of Python is none."""
        for value, text in ((np.int64(3), "3"), ([np.int64(3), np.float64(0.5)], "[3, 0.5]"), (np.arange(2), "[0, 1]"), (Path("a/b"), "a/b"),
                            ({"a": Path("b")}, '{"a": "b"}'), (None, "null"), (True, "true"), ("1 fs", "1 fs")):
            self.assertEqual(_programs.setting("key", value), f"key={text}")
        for value in ({1}, [{1}], object()):
            self.refused("key: .* is no number, text, list or dict", _programs.setting, "key", value)
        self.assertEqual(_programs.mpirun(np.int64(1)), [])

    @unittest.skipIf(has_library(_library.library), has_library(_library.library))
    def test_potentials(self):
        model = quintet.Potential(COPPER / "copper.dp")
        self.refused("is a directory; expected the file of a model", quintet.Potential, SOURCE)
        self.refused("device is 3; expected 'cpu', 'gpu', 'gpu:1'", quintet.Potential, COPPER / "copper.dp", device=3)
        self.refused("precision is 64; expected 'double'", quintet.Potential, COPPER / "copper.dp", precision=64)
        self.assertEqual(quintet.Potential(COPPER / "copper.dp", precision="double", device="cpu").device_name, "cpu")
        for files in (None, b"copper.dp", [3], {"a": 1}):
            self.refused("files are .*; expected the file", quintet.Potential, files)
        Path("frozen.pb").write_bytes(b"graph")
        self.refused("frozen.pb: no native Deep Potential.*dp convert-backend frozen.pb frozen.dp", quintet.Potential, "frozen.pb")
        Path("mace.pt").write_bytes(b"graph")
        self.refused("dp convert-backend mace.pt mace.dp, if DeePMD-kit froze it", quintet.Potential, "mace.pt")
        Path("text.dp").write_text("no HDF5")
        self.refused("text.dp: is no Deep Potential: a .dp file is HDF5", quintet.Potential, "text.dp")
        self.refused("positions are masked in places", model, np.ma.masked_equal(PAIR, 2.5))
        self.assertEqual(model(np.ma.masked_array(PAIR)).energy, model(PAIR).energy)
        self.refused("positions: None is no array", model, None)
        self.refused("positions: no array of numbers: .*inhomogeneous", model, [[0, 0, 0], [1, 2]])
        self.refused("cell: 10 is no array", model, PAIR, 10)
        self.refused(r"shape \[6\]; expected .* or 3 lengths .*cellpar_to_cell", model, PAIR, [10, 10, 10, 90, 90, 90])
        for types in ("CuCu", [["Cu", "Cu"]], 0):
            self.refused("types are .*; expected a list, one for each atom", model, PAIR, None, types)
        for number in ("first", 1.5, None):
            self.refused("model is .*; expected the number of one of 1, from 0", model, PAIR, model=number)

    @needs("ase")
    @unittest.skipIf(has_library(_library.library), has_library(_library.library))
    def test_atoms_have_their_own_cell(self):
        import ase

        atoms = ase.Atoms("Cu2", PAIR)
        model = quintet.Potential([COPPER / "copper.dp"] * 2)
        for function in (model, model.deviation):
            self.refused("its own cell and symbols: give it alone", function, atoms, np.eye(3) * 9)
            self.refused("its own cell and symbols: give it alone", function, atoms, None, [0, 0])
        self.assertEqual(model.deviation(atoms).force_max, 0)
        self.refused(r"a list of ase.Atoms; expected one: \[potential\(one\) for one in frames\]", model, [atoms, atoms])
        self.refused("frame 0 is a ndarray; expected an ase.Atoms", quintet.data.write_frames, "x.xyz", [PAIR])
        self.refused("nowhere.db: there is no such database", quintet.data.write_frames, "x.xyz", "nowhere.db")
        self.assertFalse(Path("nowhere.db").exists())

    @needs("ase")
    @unittest.skipIf(has_library(_library.library), has_library(_library.library))
    def test_calculators(self):
        import ase

        import quintet.ase

        make = quintet.ase.Calculator
        model = COPPER / "copper.dp"
        for types in (["Cu"], "Cu", 3):
            self.refused("types are .*; expected the model's type of each symbol", make, model, types=types)
        self.refused("'copper' is no chemical symbol; expected {symbol: type", make, model, types={"copper": "Cu"})
        self.refused("no setting 'precison' that could be set: it takes types, precision and device", make, model, precison="mixed")
        calculator = make(model, types={"Au": "Cu"}, label="gold", atoms=ase.Atoms("Au2", PAIR))
        self.refused("no setting 'precision' that could be set", calculator.set, precision="mixed")
        self.refused("the calculator has no atoms yet: atoms.calc = calculator", calculator.get_forces)
        self.assertEqual(calculator.get_potential_energy(ase.Atoms("Au2", PAIR)), quintet.Potential(model)(PAIR).energy)  # the remedy

    @unittest.skipIf(has_library(_library.density_library), has_library(_library.density_library))
    def test_densities(self):
        for settings in ({"electrons": "two"}, {"electrons": 2, "threshold": None}):
            self.refused("is .*; expected a number", quintet.density, np.eye(2), **settings)

    @unittest.skipIf(has_library(_library.density_library), has_library(_library.density_library))
    def test_a_library_that_is_not_there(self):
        """The error names the command that makes it, which ninja takes, or the folder to name, which helps."""
        Path("empty").mkdir()
        with mock.patch.object(_library, "_loaded", {}):
            with mock.patch.dict(os.environ, {"QUINTET_LIBRARY": "empty"}):
                with self.assertRaisesRegex(quintet.ProgramNotFound, r"libquintet_density, which .*empty/libquintet_density.so.1: there is no such file. "
                                                                     "Build it, and set QUINTET_LIBRARY to the folder build/lib there: cmake"):
                    quintet.density(np.eye(2), electrons=2)
            with mock.patch.dict(os.environ), mock.patch.object(_library, "folders", lambda: [Path("empty")]):
                os.environ.pop("QUINTET_LIBRARY", None)
                with mock.patch.object(_library, "build_folders", lambda: [BUILD]):
                    with self.assertRaisesRegex(quintet.ProgramNotFound, "Build it, and it is found: ninja -C ") as caught:
                        quintet.density(np.eye(2), electrons=2)
            command = str(caught.exception).rpartition("found: ")[2].split()
            if shutil.which("ninja"):
                self.assertEqual(subprocess.run([*command, "-n"], capture_output=True).returncode, 0, command)
            with mock.patch.dict(os.environ, {"QUINTET_LIBRARY": str(BUILD / "lib")}):
                _library.density_library()

    def test_a_package_that_is_not_there(self):
        with self.assertRaisesRegex(ImportError, "^nowhere is needed for density matrices: pip install nowhere ") as caught:
            _files.optional("nowhere.part", "density matrices")
        self.assertEqual(caught.exception.name, "nowhere")
        self.assertIs(_files.optional("numpy.linalg", "a table"), np.linalg)

    @needs("xarray")
    def test_fields(self):
        import xarray

        good = xarray.Dataset({"b": (("time", "x"), np.ones((2, 3)))}, {"time": [0.0, 1.0], "x": [0.0, 1.0, 2.0]})
        write = quintet.data.write_fields
        self.refused(r'are a DataArray; expected an xarray.Dataset: array.to_dataset\(name="b"\)', write, "x.h5", good.b)
        for other in (good.b.values, {"b": good.b}):
            self.refused("expected an xarray.Dataset$", write, "x.h5", other)
        self.refused("no variable 'q'; it has b", write, "x.h5", good, ["q"])
        self.refused("no: there is no such directory", write, "no/x.h5", good)
        self.refused("is a directory; expected a file", write, SOURCE, good)
        for bounds in (4, (0, 1, 2), "ab ", ("a", "b")):
            self.refused("bounds of 'x' are .*; expected two numbers", write, "x.h5", good, bounds={"x": bounds})
        for names in (True, 3):
            self.refused("periodic axes are .*; expected a list of names", write, "x.h5", good, periodic=names)
            self.refused("fields are .*; expected a list of names", write, "x.h5", good, names)
        self.refused("bounds are .0, 1.; expected values by their names", write, "x.h5", good, bounds=(0, 1))
        self.refused("parameters are .1, 2.; expected values by their names", write, "x.h5", good, parameters=[1, 2])
        self.refused("the coordinate 'x' holds <U1; expected numbers", write, "x.h5", good.assign_coords(x=list("abc")))
        self.refused("parameter Ra is 1e5; expected a finite number", write, "x.h5", good, parameters={"Ra": "1e5"})
        self.refused("no samples; expected one or more", write, "x.h5", good.expand_dims(sample=1).isel(sample=slice(0)))
        self.refused("times are <U1; expected numbers or dates", write, "x.h5", good.assign_coords(time=["0", "1"]))
        self.assertEqual(list(self.folder.glob("*.h5")), [])
        write("x.h5", good.b.to_dataset(name="b"), bounds={"x": (0, 2)}, parameters={"Ra": 1e5})  # the remedy
        self.assertTrue(Path("x.h5").exists())


if __name__ == "__main__":
    unittest.main()
