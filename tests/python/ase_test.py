#!/usr/bin/env python3
"""The calculator of ASE: derivatives, units, partly periodic cells, optimisers, dynamics; beside DeePMD-kit's where it is.

ASE's own tests are run by ase_own_test.py, where its version brings them.
"""
import copy
import importlib.util
import json
import os
import pickle
import subprocess
import sys
import unittest
from pathlib import Path

from support import COPPER, MODELS, InFolder, grown_by, needs

import numpy as np

import quintet
from quintet import _library

# A Python that has deepmd-kit: it need not be this one.
PEER = os.environ.get("QUINTET_PEER_DEEPMD", sys.executable if importlib.util.find_spec("deepmd") else "")


def why_not():
    try:
        _library.library()
    except quintet.ProgramNotFound as error:
        return str(error)
    return ""


@unittest.skipIf(why_not(), why_not())
@needs("ase")
class Calculator(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import quintet.ase

        cls.model = quintet.Potential(COPPER / "copper.dp")

    def calculator(self, *arguments, **more):
        return quintet.ase.Calculator(*(arguments or (self.model,)), **more)

    def crystal(self):
        from ase.build import bulk

        atoms = bulk("Cu", cubic=True) * (2, 1, 1)
        atoms.rattle(0.1, seed=1)
        atoms.set_cell(atoms.cell @ (np.eye(3) + 0.05 * np.random.default_rng(0).random((3, 3))), scale_atoms=True)
        atoms.calc = self.calculator()
        return atoms

    def test_forces_and_stress_are_derivatives(self):
        from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress

        atoms = self.crystal()
        np.testing.assert_allclose(atoms.get_forces(), calculate_numerical_forces(atoms, 1e-4), atol=1e-6)
        np.testing.assert_allclose(atoms.get_stress(), calculate_numerical_stress(atoms, 1e-4), atol=1e-6)

    def test_all_properties_agree_with_one_another(self):
        atoms = self.crystal()
        self.assertEqual(set(atoms.calc.implemented_properties), {"energy", "free_energy", "forces", "stress", "energies", "stresses"})
        self.assertEqual(atoms.get_potential_energy(force_consistent=True), atoms.get_potential_energy())
        self.assertAlmostEqual(atoms.get_potential_energies().sum(), atoms.get_potential_energy(), places=10)
        np.testing.assert_allclose(atoms.get_stresses().mean(axis=0), atoms.get_stress(), atol=1e-12)
        self.assertEqual(atoms.get_stress(voigt=False).shape, (3, 3))
        np.testing.assert_allclose(-atoms.get_stress(voigt=False) * atoms.get_volume(), self.model(atoms).virial, atol=1e-12)

    def test_changes_are_seen_and_results_kept(self):
        atoms = self.crystal()
        first = atoms.get_potential_energy()
        results = atoms.calc.results
        atoms.get_forces()
        self.assertIs(atoms.calc.results, results)
        atoms.positions[0, 0] += 0.2
        self.assertNotEqual(atoms.get_potential_energy(), first)
        atoms.positions[0, 0] -= 0.2
        self.assertAlmostEqual(atoms.get_potential_energy(), first, places=10)
        atoms.pbc = False
        self.assertNotAlmostEqual(atoms.get_potential_energy(), first, places=2)
        atoms.wrap()

    def test_directions_that_are_not_periodic(self):
        """A slab and a wire have the energies and forces that vacuum around them gives; their own cell does not matter."""
        from ase.build import fcc111

        for periodic in ((1, 1, 0), (0, 0, 1), (1, 0, 1)):
            atoms = fcc111("Cu", (2, 2, 3), a=3.61)
            atoms.cell[2] = [0.4, -0.7, 5.0]  # not perpendicular to the slab, and too short for its atoms
            atoms.rattle(0.05, seed=2)
            atoms.pbc = periodic
            apart = atoms.copy()
            for k in range(3):
                if not periodic[k]:
                    apart.cell[k] *= 30 / np.linalg.norm(apart.cell[k])
            apart.pbc = True
            atoms.calc, apart.calc = self.calculator(), self.calculator()
            self.assertAlmostEqual(atoms.get_potential_energy(), apart.get_potential_energy(), places=9)
            np.testing.assert_allclose(atoms.get_forces(), apart.get_forces(), atol=1e-9)
        atoms.cell[0] = 0
        with self.assertRaisesRegex(quintet.InputError, r"periodic along \[True, False, True\], but the cell is"):
            atoms.get_potential_energy()

    def test_clusters_have_no_stress(self):
        from ase.calculators.calculator import PropertyNotImplementedError

        atoms = self.crystal()
        atoms.pbc, atoms.cell[:] = False, 0
        self.assertEqual(atoms.get_forces().shape, (8, 3))
        with self.assertRaises(PropertyNotImplementedError):
            atoms.get_stress()

    def test_symbols_are_the_models_types(self):
        import ase

        water = ase.Atoms("OHH", [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]])
        water.calc = self.calculator(MODELS / "oneside.dp")
        expected = quintet.Potential(MODELS / "oneside.dp")(water.positions, None, [0, 1, 1])
        self.assertEqual(water.get_potential_energy(), expected.energy)
        heavy = ase.Atoms("SFF", water.positions)
        heavy.calc = self.calculator(MODELS / "oneside.dp", types={"S": "O", "F": "H"})
        np.testing.assert_array_equal(heavy.get_forces(), expected.forces)
        water.symbols[0] = "N"
        with self.assertRaisesRegex(quintet.InputError, "the model has no type 'N'; it has: O, H"):
            water.get_potential_energy()
        with self.assertRaisesRegex(quintet.InputError, "the model has no type 'Q'"):
            self.calculator(MODELS / "oneside.dp", types={"S": "Q"})

    def test_numbers_of_atoms_are_an_array_of_them(self):
        """aparam: forces are derivatives, changes are seen, those of types are the same, and a file keeps them."""
        import ase.io
        from ase.calculators.fd import calculate_numerical_forces

        water = ase.Atoms("OHHOHH", [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0], [2, 2, 1], [2.9, 2, 1.2], [1.7, 2.8, 1]],
                          cell=[5.5, 6, 5], pbc=True)
        water.arrays["aparam"] = np.cos(np.arange(12.)).reshape(6, 2)
        water.calc = self.calculator(MODELS / "atom_parameters.dp")
        np.testing.assert_allclose(water.get_forces(), calculate_numerical_forces(water, 1e-4), atol=1e-7)
        before = water.get_potential_energy()
        expected = quintet.Potential(MODELS / "atom_parameters.dp")(water).energy
        self.assertEqual(before, expected)
        water.arrays["aparam"][1] += 0.4
        self.assertNotAlmostEqual(water.get_potential_energy(), before, places=4)
        water.arrays["aparam"][1] -= 0.4
        self.assertAlmostEqual(water.get_potential_energy(), before, places=10)
        copy = water.copy()
        copy.info["aparam"] = copy.arrays.pop("aparam")
        copy.calc = self.calculator(MODELS / "atom_parameters.dp")
        self.assertAlmostEqual(copy.get_potential_energy(), before, places=10)
        ase.io.write("aparam.xyz", water)
        read = ase.io.read("aparam.xyz")
        read.calc = copy.calc
        self.assertAlmostEqual(read.get_potential_energy(), before, places=4)  # of digits in a file
        by_type = {"O": [0.3, -1], "H": [0.1, 0.5]}
        water.arrays["aparam"] = np.array([by_type[name] for name in water.get_chemical_symbols()])
        typed = copy.copy()
        typed.info.clear()
        typed.calc = self.calculator(MODELS / "atom_parameters.dp", atom_parameters=by_type)
        self.assertAlmostEqual(typed.get_potential_energy(), water.get_potential_energy(), places=10)
        np.testing.assert_allclose(typed.get_forces(), water.get_forces(), atol=1e-11)
        several = self.calculator([MODELS / "atom_parameters.dp", MODELS / "oneside.dp"])
        self.assertGreater(several.deviation(water).force_max, 0)
        typed.calc = self.calculator(MODELS / "atom_parameters.dp")
        with self.assertRaisesRegex(quintet.InputError, r"none were given: .* atoms.arrays\['aparam'\]"):
            typed.get_potential_energy()
        with self.assertRaisesRegex(quintet.InputError, "when it is made"):
            self.calculator(self.model, atom_parameters={"Cu": [1]})

    def test_optimisers_and_dynamics_take_it(self):
        from ase import units
        from ase.filters import UnitCellFilter
        from ase.md.verlet import VelocityVerlet
        from ase.optimize import BFGS

        atoms = self.crystal()
        self.assertTrue(BFGS(UnitCellFilter(atoms), logfile=None).run(fmax=0.02, steps=60))
        self.assertLess(abs(atoms.get_stress()).max() * atoms.get_volume() / 8, 0.02)
        self.assertLess(atoms.get_potential_energy(), self.crystal().get_potential_energy())
        rng = np.random.default_rng(1)
        atoms.set_momenta(rng.normal(size=(8, 3)) * np.sqrt(atoms.get_masses() * units.kB * 300)[:, None])
        before = atoms.get_total_energy()
        VelocityVerlet(atoms, 1 * units.fs).run(20)
        self.assertAlmostEqual(atoms.get_total_energy(), before, delta=5e-4)

    def test_ten_thousand_calls_keep_their_memory(self):
        """Each call moves an atom, so that all is computed again."""
        setup = "import ase, quintet.ase\natoms = ase.Atoms('Cu2', [[0, 0, 0], [2.5, 0, 0]], calculator=quintet.ase.Calculator(argument))"
        call = "atoms.positions[1, 0] = 5 - atoms.positions[1, 0] + 0.01\natoms.get_forces(); atoms.get_potential_energies()"
        self.assertLess(grown_by(setup, call, COPPER / "copper.dp"), 500_000)
        self.assertGreater(grown_by(setup, call, COPPER / "copper.dp", leak=120), 1_000_000)

    def test_pickled_and_copied(self):
        """As ASE's own tools do it that send a calculator to other processes."""
        atoms = self.crystal()
        expected = atoms.get_potential_energy()
        for other in (pickle.loads(pickle.dumps(atoms.calc)), copy.deepcopy(atoms.calc)):
            atoms.calc = other
            atoms.calc.results = {}
            self.assertEqual(atoms.get_potential_energy(), expected)

    def test_several_models_tell_where_they_disagree(self):
        atoms = self.crystal()
        calculator = self.calculator([COPPER / "copper.dp"] * 2)
        atoms.calc = calculator
        self.assertEqual(atoms.get_potential_energy(), self.model(atoms).energy)
        self.assertEqual(calculator.deviation(atoms).force_max, 0)

    @unittest.skipIf(not PEER, "no deepmd-kit here; QUINTET_PEER_DEEPMD names a Python that has it")
    def test_deepmd_kits_values(self):
        atoms = self.crystal()
        code = ("import json, sys, numpy as np\nfrom deepmd.infer import DeepPot\nd = json.load(open(sys.argv[1]))\np = DeepPot(sys.argv[2])\n"
                "e, f, v = p.eval(np.array([d['positions']]), np.array([d['cell']]), [0] * 8)[:3]\n"
                "json.dump({'e': e.ravel().tolist(), 'f': f.ravel().tolist(), 'v': v.ravel().tolist()}, open(sys.argv[3], 'w'))\n")
        Path("frame.json").write_text(json.dumps({"positions": atoms.positions.tolist(), "cell": atoms.cell.tolist()}))
        subprocess.run([PEER, "-c", code, "frame.json", COPPER / "copper.dp", "peer.json"], check=True, capture_output=True,
                       env={**os.environ, "PYTHONPATH": ""})
        peer = json.loads(Path("peer.json").read_text())
        self.assertAlmostEqual(atoms.get_potential_energy(), peer["e"][0], places=8)
        if np.isfinite(peer["f"]).all():  # its numpy backend, which reads .dp, knows energies alone; potential_test.py has stored forces
            np.testing.assert_allclose(atoms.get_forces().ravel(), peer["f"], atol=1e-8)
            np.testing.assert_allclose(-atoms.get_stress(voigt=False).ravel() * atoms.get_volume(), peer["v"], atol=1e-7)


if __name__ == "__main__":
    unittest.main()
