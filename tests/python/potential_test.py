#!/usr/bin/env python3
"""Potentials from Python: the values of the C library and of dpmd, derivatives, types, cells, threads, forks, memory."""
import copy
import json
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path
from unittest import mock

from support import BUILD, COPPER, MODELS, SOURCE, InFolder, grown_by, needs, needs_program

import numpy as np

import quintet
from quintet import _library, _model_files

RANDOM = np.random.default_rng(3)
CELL = np.array([[7.2, 0.3, -0.2], [0.1, 7.4, 0.5], [-0.4, 0.2, 7.1]])
POSITIONS = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(2)]) @ CELL / 2 + 0.4 * RANDOM.random((8, 3))


def has_library():
    try:
        _library.library()
    except quintet.ProgramNotFound as error:
        return str(error)
    return ""


@unittest.skipIf(has_library(), has_library())
class Values(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.copper = quintet.Potential(COPPER / "copper.dp")

    def test_values_are_the_peers(self):
        """DeePMD-kit's own energies, forces and virials of small frames (tests/data/deep_potential/*.ref.json)."""
        for name in ("oneside", "twoside", "float32", "exclude_types"):
            reference = json.loads((MODELS / f"{name}.ref.json").read_text())
            model = quintet.Potential(MODELS / f"{name}.dp")
            frames = [frame for frame in reference["cases"] if "rule" not in frame]  # others have more neighbours than sel
            self.assertGreaterEqual(len(frames), 2)
            for frame in frames:
                box = np.reshape(frame["box"], (3, 3)) if frame["box"] else None
                found = model(np.reshape(frame["coord"], (-1, 3)), box, frame["type"], atomic=True)
                tolerance = {"atol": reference["tolerance"], "rtol": reference["tolerance"]}
                for ours, peers in zip(found, ("energy", "force", "virial", "atom_energy", "atom_virial")):
                    np.testing.assert_allclose(ours, np.reshape(frame[peers], np.shape(ours)), **tolerance, err_msg=f"{name} {frame['name']} {peers}")

    def test_numbers_of_atoms_are_read(self):
        """DeePMD-kit's values with its aparam; those of types; what is wrong about them is named."""
        for name in ("atom_parameters", "dpa1_atom_parameters", "hybrid_atom_parameters"):
            model = quintet.Potential(MODELS / f"{name}.dp")
            for frame in json.loads((MODELS / f"{name}.ref.json").read_text())["cases"]:
                if "rule" in frame:
                    continue
                given = np.reshape(frame["atom_parameters"], (-1, model.n_atom_parameters))
                box = np.reshape(frame["box"], (3, 3)) if frame["box"] else None
                found = model(np.reshape(frame["coord"], (-1, 3)), box, frame["type"], atom_parameters=given)
                self.assertAlmostEqual(found.energy, frame["energy"], places=9)
                np.testing.assert_allclose(found.forces.ravel(), frame["force"], atol=1e-9)
        positions, types = POSITIONS, ["O", "H"] * 4
        by_type = {"O": [0.3, -1], "H": [0.1, 0.5]}
        each = np.array([by_type[name] for name in types])
        model, typed = quintet.Potential(MODELS / "atom_parameters.dp"), quintet.Potential(MODELS / "atom_parameters.dp", atom_parameters=by_type)
        expected = model(positions, CELL, types, atom_parameters=each)
        for other in (typed, pickle.loads(pickle.dumps(typed)), quintet.Potential(MODELS / "atom_parameters.dp", device="portable", atom_parameters=by_type)):
            np.testing.assert_allclose(other(positions, CELL, types).forces, expected.forces, atol=1e-11)
        frames = model(np.array([positions, positions]), CELL, types, atom_parameters=np.array([each, each + 1]))
        self.assertEqual(frames.energy[0], expected.energy)
        self.assertNotAlmostEqual(frames.energy[1], expected.energy, places=4)
        one = quintet.Potential(MODELS / "hybrid_atom_parameters.dp")
        self.assertEqual(one(positions, CELL, types, atom_parameters=np.arange(8.)).energy,
                         one(positions, CELL, types, atom_parameters=np.arange(8.)[:, None]).energy)
        several = quintet.Potential([MODELS / "atom_parameters.dp", MODELS / "oneside.dp"])
        self.assertGreater(several.deviation(positions, CELL, types, atom_parameters=each).force_max, 0)
        for what, words in ((lambda: model(positions, CELL, types), "reads 2 numbers of each atom .aparam., none were given: atom_parameters="),
                            (lambda: model(positions, CELL, types, atom_parameters=each[:7]), r"shape \[7, 2\], expected \[8, 2\]"),
                            (lambda: model(positions, CELL, types, atom_parameters=np.where(each > 0.4, np.nan, each)), "aparam of atom 1 is nan"),
                            (lambda: typed(positions, CELL, types, atom_parameters=each), "made with those of types"),
                            (lambda: quintet.Potential(MODELS / "oneside.dp")(positions, CELL, types, atom_parameters=each), "reads no numbers"),
                            (lambda: quintet.Potential(MODELS / "atom_parameters.dp", atom_parameters={"O": [1, 2]}), "numbers of each type"),
                            (lambda: quintet.Potential(MODELS / "atom_parameters.dp", atom_parameters={"O": [1, 2], "H": [1]}), "as many numbers"),
                            (lambda: quintet.Potential(MODELS / "atom_parameters.dp", atom_parameters={"O": 1, "H": 2}), "reads 2 numbers.*1 given"),
                            (lambda: quintet.Potential(MODELS / "atom_parameters.dp", device="portable")(positions, CELL, types, atom_parameters=each),
                             "give them by type"),
                            (lambda: model(np.array([positions]), CELL, types, atom_parameters=np.array([each, each])), "of 2 frames and 1 frames")):
            with self.assertRaisesRegex(quintet.InputError, words):
                what()

    def test_forces_and_virial_are_derivatives(self):
        found = self.copper(POSITIONS, CELL)
        h = 1e-4
        for atom, axis in ((0, 0), (5, 2)):
            step = np.zeros_like(POSITIONS)
            step[atom, axis] = h
            slope = (self.copper(POSITIONS + step, CELL).energy - self.copper(POSITIONS - step, CELL).energy) / (2 * h)
            self.assertAlmostEqual(found.forces[atom, axis], -slope, places=6)
        for k, l in ((0, 0), (0, 2)):
            strain = np.zeros((3, 3))
            strain[k, l] = h
            energies = [self.copper(POSITIONS @ (np.eye(3) + s * strain).T, CELL @ (np.eye(3) + s * strain).T).energy for s in (1, -1)]
            self.assertAlmostEqual(found.virial[k, l], -(energies[0] - energies[1]) / (2 * h), places=5)

    def test_atoms_share_the_whole(self):
        found = self.copper(POSITIONS, CELL, atomic=True)
        self.assertAlmostEqual(found.energies.sum(), found.energy, places=10)
        np.testing.assert_allclose(found.virials.sum(axis=0), found.virial, atol=1e-12)

    def test_frames_are_a_batch(self):
        frames = np.stack([POSITIONS, POSITIONS + 0.3 * RANDOM.random(POSITIONS.shape)])
        cells = np.stack([CELL, 1.1 * CELL])
        found = self.copper(frames, cells)
        self.assertEqual((found.energy.shape, found.forces.shape, found.virial.shape), ((2,), (2, 8, 3), (2, 3, 3)))
        for i in range(2):
            one = self.copper(frames[i], cells[i])
            self.assertEqual(found.energy[i], one.energy)
            np.testing.assert_array_equal(found.forces[i], one.forces)
        self.assertEqual(self.copper(frames[:0], CELL).forces.shape, (0, 8, 3))
        np.testing.assert_array_equal(self.copper(frames, [7.2, 7.3, 7.4]).energy[1], self.copper(frames[1], [7.2, 7.3, 7.4]).energy)
        np.testing.assert_array_equal(self.copper(frames, CELL).energy[0], self.copper(POSITIONS, CELL).energy)

    def test_layouts_and_lists_are_taken(self):
        expected = self.copper(POSITIONS, CELL)
        for positions in (POSITIONS.tolist(), np.asfortranarray(POSITIONS), np.repeat(POSITIONS, 2, axis=0)[::2]):
            np.testing.assert_array_equal(self.copper(positions, CELL.tolist()).forces, expected.forces)
        np.testing.assert_array_equal(self.copper(POSITIONS, [7.2, 7.2, 7.2]).forces, self.copper(POSITIONS, 7.2 * np.eye(3)).forces)

    def test_left_handed_cells_are_the_same_lattice(self):
        expected = self.copper(POSITIONS, CELL)
        for cell in (CELL[[1, 0, 2]], CELL * [[1], [1], [-1]]):
            for found in (self.copper(POSITIONS, cell), self.copper(POSITIONS[None], cell)):
                for ours, same in zip(found, expected):
                    np.testing.assert_allclose(np.reshape(ours, np.shape(same)), same, atol=1e-11)

    def test_several_models_disagree(self):
        both = quintet.Potential([MODELS / "oneside.dp", MODELS / "twoside.dp"]) if self.same_types() else quintet.Potential([COPPER / "copper.dp"] * 2)
        types = np.arange(8) % len(both.type_names)
        found = both.deviation(POSITIONS, CELL, types)
        forces = np.stack([both(POSITIONS, CELL, types, model=i).forces for i in range(both.n_models)])
        expected = np.sqrt(((forces - forces.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0))
        np.testing.assert_allclose(found.by_atom, expected, atol=1e-12)
        self.assertAlmostEqual(found.force_max, expected.max(), places=12)
        self.assertAlmostEqual(found.force_mean, expected.mean(), places=12)
        with self.assertRaisesRegex(quintet.InputError, "2"):
            both(POSITIONS, CELL, types, model=2)

    @staticmethod
    def same_types():
        one, two = (quintet.Potential(MODELS / f"{name}.dp").type_names for name in ("oneside", "twoside"))
        return one == two

    def test_mistakes_are_refused(self):
        for arguments, says in (
                ((POSITIONS, CELL, ["Ag"] * 8), "the model has no type 'Ag'; it has: Cu"),
                ((POSITIONS, CELL, [0] * 7), r"types have shape \[7\], positions 8 atoms"),
                ((POSITIONS, CELL, [0.0] * 8), "types are float64; expected names or whole numbers"),
                ((POSITIONS, CELL, [1] * 8), "type"),
                ((POSITIONS, CELL, [2**31 - 1] * 8), "atom 0 has type 2147483647"),
                ((POSITIONS, CELL, [2**32] * 8), "types reach from 4294967296 to 4294967296; the model has types 0 to 0"),
                ((POSITIONS + 0j, CELL), "positions are complex"),
                (([POSITIONS] * 2, [CELL] * 3), "there are 3 cells and 2 frames"),
                (([POSITIONS] * 2, [[7.2] * 3] * 2), r"the cell has shape \[2, 3\]"),
                ((POSITIONS[:, :2], CELL), r"positions have shape \[8, 2\]"),
                ((POSITIONS, np.zeros((3, 3))), "cell"),
                ((POSITIONS, CELL[:2]), r"the cell has shape \[2, 3\]"),
                ((POSITIONS * np.nan, CELL), "nan"),
                (("atoms", CELL), "positions: 'atoms' is no array")):
            with self.assertRaisesRegex(quintet.InputError, says):
                self.copper(*arguments)
        with self.assertRaisesRegex(quintet.InputError, "nowhere.dp: there is no such file"):
            quintet.Potential("nowhere.dp")
        Path("broken.dp").write_bytes(b"no model")
        with self.assertRaisesRegex(quintet.InputError, "broken.dp"):
            quintet.Potential("broken.dp")
        with self.assertRaisesRegex(quintet.InputError, "types are needed: the model has"):
            quintet.Potential(MODELS / "oneside.dp")(POSITIONS, CELL)
        with self.assertRaisesRegex(quintet.InputError, "precision"):
            quintet.Potential(COPPER / "copper.dp", precision="half")

    def test_files_of_models_are_read_to_the_bit(self):
        for name in (COPPER / "copper.dp", MODELS / "float32.dp", MODELS / "exclude_types.dp", MODELS / "oneside_compressed.dp"):
            found = quintet.Potential(name)
            types = np.arange(8) % len(found.type_names)
            text = Path(_model_files.as_text(name, Path("model.json")))
            np.testing.assert_array_equal(quintet.Potential(text)(POSITIONS, CELL, types).forces, found(POSITIONS, CELL, types).forces)

    def test_the_environment_may_change(self):
        """Also where the library reads a .dp file itself, in a name space with a C library of its own."""
        for opened in ("quintet.Potential(sys.argv[2])", "quintet.Potential._handle_of(Plain(), [sys.argv[2]])"):
            code = ("import os, sys; sys.path.insert(0, sys.argv[1]); import quintet\n"
                    "class Plain: _library, precision, device = quintet._library.library(), None, 'cpu'\n"
                    f"assert {opened}\nfor i in range(200): os.environ[f'QUINTET_TEST_{{i}}'] = 'x' * 100\n")
            done = subprocess.run([sys.executable, "-c", code, SOURCE / "python", COPPER / "copper.dp"], text=True, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)  # it would read freed memory at the end

    def test_a_library_that_is_not_there(self):
        with mock.patch.dict(os.environ, QUINTET_LIBRARY="/nowhere"), mock.patch.object(_library, "_loaded", {}):
            with self.assertRaisesRegex(quintet.ProgramNotFound, "/nowhere/libquintet_c.so.1: there is no such file.*ninja -C build quintet_c"):
                quintet.Potential(COPPER / "copper.dp")

    def test_what_computes_is_a_choice(self):
        """The GPU's algorithms on the cores give the same; where there is no GPU that is said, or the cores are taken."""
        self.assertEqual((self.copper.device, self.copper.device_name), ("cpu", "cpu"))
        cores, other = self.copper(POSITIONS, CELL, atomic=True), quintet.Potential(COPPER / "copper.dp", "double", "portable")
        self.assertIn("device engines on the host's cores", other.device_name)
        for found, expected in zip(other(POSITIONS, CELL, atomic=True), cores):
            np.testing.assert_allclose(found, expected, atol=1e-9)
        self.assertEqual(pickle.loads(pickle.dumps(other)).device, "portable")
        with mock.patch.dict(os.environ, QUINTET_DEVICE_LIBRARY="/nowhere/libquintet_device.so"):
            with self.assertRaisesRegex(quintet.ResourceError, "device: gpu needs libquintet_device.so, which is not at /nowhere"):
                quintet.Potential(COPPER / "copper.dp", device="gpu")
            self.assertRegex(quintet.Potential(COPPER / "copper.dp", device="auto").device_name, r"^cpu \(device: gpu needs")
        with self.assertRaisesRegex(quintet.InputError, "device: unknown value 'tpu'"):
            quintet.Potential(COPPER / "copper.dp", device="tpu")

    @unittest.skipUnless(shutil.which("cc"), "no compiler of C")
    def test_a_library_of_an_earlier_version_is_refused(self):
        Path("old.c").write_text("int quintet_api_version(void) { return 1; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "old.c", "-o", "libquintet_c.so.1"], check=True)
        with mock.patch.dict(os.environ, QUINTET_LIBRARY=os.getcwd()), mock.patch.object(_library, "_loaded", {}):
            with self.assertRaisesRegex(quintet.InternalError, "libquintet_c.so.1: has version 1 of the interface, 3 is needed: build it anew"):
                quintet.Potential(COPPER / "copper.dp")

    @needs_program("dpmd")
    @needs("ase")
    def test_dpmd_evaluates_the_same(self):
        import ase
        import ase.io

        atoms = ase.Atoms("Cu8", POSITIONS, cell=CELL, pbc=True)
        ase.io.write("frame.xyz", atoms)
        frame = ase.io.read("frame.xyz")  # with the digits that the file has
        subprocess.run([BUILD / "bin/dpmd", "evaluate", "frame.xyz", "--model", COPPER / "copper.dp", "--output", "evaluated"], check=True,
                       capture_output=True)
        by_dpmd = ase.io.read("evaluated.xyz")
        found = self.copper(frame)
        self.assertAlmostEqual(found.energy, by_dpmd.get_potential_energy(), places=9)
        np.testing.assert_allclose(found.forces, by_dpmd.get_forces(), atol=1e-8)


@unittest.skipIf(has_library(), has_library())
class Processes(unittest.TestCase):
    def setUp(self):
        self.copper = quintet.Potential(COPPER / "copper.dp")
        self.expected = self.copper(POSITIONS, CELL).energy

    def test_threads_take_turns(self):
        found = []
        threads = [threading.Thread(target=lambda: found.extend(self.copper(POSITIONS, CELL).energy for _ in range(25))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [self.expected] * 100)

    def test_children_of_a_fork_go_on(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with multiprocessing.get_context("fork").Pool(2) as pool:
                self.assertEqual(pool.starmap_async(_energy_of, [(None, POSITIONS)] * 4).get(30), [self.expected] * 4)

    def test_a_fork_waits_for_calls_of_other_threads(self):
        """Children of a process whose threads compute find no call half done and no lock taken."""
        going = threading.Event()
        threads = [threading.Thread(target=_busy, args=(self.copper, going)) for _ in range(2)]
        threads.append(threading.Thread(target=_opening, args=(going,)))
        for thread in threads:
            thread.start()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python's own, of forks beside threads
                for _ in range(8):
                    self.assertEqual(_in_a_fork(lambda: self.copper(POSITIONS, CELL).energy == self.expected), 0)
        finally:
            going.set()
            for thread in threads:
                thread.join()

    def test_a_fork_from_within_a_turn_does_not_wait_for_itself(self):
        with self.copper._lock:  # as a handler of a signal finds it
            self.assertEqual(_in_a_fork(lambda: self.copper(POSITIONS, CELL).energy == self.expected), 0)
        self.assertEqual(self.copper(POSITIONS, CELL).energy, self.expected)

    def test_other_processes_open_the_files(self):
        for method in ("spawn", "forkserver", "fork"):
            with warnings.catch_warnings(), multiprocessing.get_context(method).Pool(1) as pool:
                warnings.simplefilter("ignore")
                self.assertEqual(pool.starmap_async(_energy_of, [(self.copper, POSITIONS)]).get(60), [self.expected], method)
        self.assertEqual(pickle.loads(pickle.dumps(self.copper))(POSITIONS, CELL).energy, self.expected)

    def test_pickles_know_the_place_of_their_files(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(COPPER)
        here = quintet.Potential("copper.dp")
        os.chdir("/")
        self.assertEqual(here.files, [Path("copper.dp")])
        self.assertEqual(pickle.loads(pickle.dumps(here))(POSITIONS, CELL).energy, self.expected)
        self.assertEqual(copy.deepcopy(here)(POSITIONS, CELL).energy, self.expected)

    def test_ten_thousand_calls_keep_their_memory(self):
        setup = "model = quintet.Potential(argument)"
        call = "model([[0, 0, 0], [2.5, 0, 0]], [20, 20, 20], atomic=True)"
        self.assertLess(grown_by(setup, call, COPPER / "copper.dp"), 500_000)
        self.assertGreater(grown_by(setup, call, COPPER / "copper.dp", leak=120), 1_000_000)

    def test_mistakes_and_openings_keep_their_memory(self):
        """What is refused leaves nothing behind, and a potential that is let go gives its memory back (this model takes 0.5 MB)."""
        refused = "try: model([[0, 0, 0], [2.5, 0, 0]], types=[0, 7])\nexcept quintet.InputError: pass"
        self.assertLess(grown_by("model = quintet.Potential(argument)", refused, COPPER / "copper.dp", n=30_000), 1_500_000)
        small = MODELS / "oneside.dp"  # opened in a tenth of the time of copper.dp, whose tables are larger
        self.assertLess(grown_by("", "quintet.Potential(argument)", small, n=30), 2_000_000)
        self.assertGreater(grown_by("opened = []", "opened.append(quintet.Potential(argument))", small, n=10), 3_000_000)


SHARED = quintet.Potential(COPPER / "copper.dp") if not has_library() else None


def _busy(model, going):
    while not going.is_set():
        model(POSITIONS, CELL)


def _opening(going):
    while not going.is_set():
        quintet.Potential(COPPER / "copper.dp")


def _in_a_fork(works, seconds=30):
    """Return 0 where works() is true in a child of a fork, which is killed after so many seconds."""
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        code = 1
        try:
            code = 0 if works() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


def _energy_of(model, positions):
    return (model or SHARED)(positions, CELL).energy


if __name__ == "__main__":
    unittest.main()
