#!/usr/bin/env python3
"""Density matrices from scipy.sparse: dense diagonalisation, estimated errors, an SCF of PySCF."""
import os
import unittest
import warnings

from support import grown_by, needs

import numpy as np

import quintet
from quintet import _library


def why_not():
    try:
        _library.density_library()
    except quintet.ProgramNotFound as error:
        return str(error)
    return ""


def energy_of(K, S):
    return quintet.density(K, S, electrons=K.shape[0]).energy


def chain(n, disorder=0.0):
    """K and S of a chain of pairs of sites, half filled: an insulator."""
    import scipy.sparse

    rng = np.random.default_rng(1)
    i = np.arange(n)
    even = i % 2 == 0
    hops, overlaps = np.where(even, -0.3, -0.12), np.where(even, 0.12, 0.05)
    j = (i + 1) % n
    K = scipy.sparse.coo_array((hops, (i, j)), shape=(n, n)) + scipy.sparse.diags_array(disorder * rng.normal(size=n)).tocoo() / 2
    S = scipy.sparse.coo_array((overlaps, (i, j)), shape=(n, n)) + scipy.sparse.eye_array(n).tocoo() / 2
    return K + K.T, S + S.T


@unittest.skipIf(why_not(), why_not())
@needs("scipy")
class Matrices(unittest.TestCase):
    def exact(self, K, S, electrons):
        import scipy.linalg

        levels, c = scipy.linalg.eigh(K.toarray(), S.toarray())
        c, occupied = c[:, :electrons // 2], levels[:electrons // 2]
        return 2 * c @ c.T, 2 * (c * occupied) @ c.T, 2 * occupied.sum(), levels[electrons // 2] - occupied[-1]

    def test_dense_and_submatrices_are_the_exact_answer(self):
        K, S = chain(240, disorder=0.02)
        D, W, energy, gap = self.exact(K, S, 240)
        stored = (abs(K) + abs(S)).toarray() != 0
        for dense, tolerance in ((1, 1e-11), (-1, 1e-6)):
            found = quintet.density(K, S, electrons=240, dense=dense, threshold=1e-9, rows_per_block=12)
            self.assertEqual(found.dense, float(dense == 1))
            self.assertAlmostEqual(found.energy, energy, delta=240 * tolerance)
            self.assertAlmostEqual((found.D @ S).trace(), 240, delta=240 * tolerance)
            np.testing.assert_allclose(found.D.toarray()[stored], D[stored], atol=tolerance)
            np.testing.assert_allclose(found.W.toarray()[stored], W[stored], atol=tolerance)
            self.assertEqual(found.D.toarray()[~stored].any(), False)
        self.assertAlmostEqual(quintet.density(K, S, electrons=240, dense=1).gap, gap, places=10)

    def test_any_sparse_or_dense_form_is_taken(self):
        import scipy.sparse

        K, S = chain(40)
        expected = quintet.density(K, S, electrons=40).D.toarray()
        for form in ("csr", "coo", "bsr", "lil"):
            np.testing.assert_array_equal(quintet.density(K.asformat(form), S.asformat(form), electrons=40).D.toarray(), expected)
        twice = scipy.sparse.coo_matrix((np.r_[K.tocoo().data, K.tocoo().data] / 2, (np.r_[K.tocoo().row, K.tocoo().row],
                                                                                    np.r_[K.tocoo().col, K.tocoo().col])), K.shape)
        np.testing.assert_allclose(quintet.density(twice, S, electrons=40).D.toarray(), expected, atol=1e-13)
        kept = scipy.sparse.csc_array((np.array([1.0, 2, 3, 1]), np.array([1, 0, 1, 0]), np.array([0, 2, 4])), shape=(2, 2))
        before = [part.copy() for part in (kept.data, kept.indices, kept.indptr)]
        quintet.density(kept, electrons=2)
        for part, same in zip((kept.data, kept.indices, kept.indptr), before):
            np.testing.assert_array_equal(part, same)
        shifted = S.tolil()
        shifted[0, 7] = shifted[7, 0] = 1e-3  # an element that K lacks
        self.assertNotEqual(quintet.density(K, shifted, electrons=40).D[0, 7], 0)
        alone = quintet.density(K.toarray(), electrons=40)
        self.assertAlmostEqual(alone.D.trace(), 40)

    def test_mistakes_are_refused(self):
        K, S = chain(40)
        for arguments, settings, says in (
                ((K, S[:30, :30]), {"electrons": 40}, r"K has shape \[40, 40\], S \[30, 30\]"),
                ((K[:30], None), {"electrons": 40}, r"expected \[n, n\]"),
                ((K * 1j, S), {"electrons": 40}, "K is complex"),
                ((np.full((2, 2), "a"), None), {"electrons": 2}, "expected .n, n. real numbers"),
                ((K * np.nan, S), {"electrons": 40}, "K|nan|number"),
                ((K, S), {"electrons": 400}, "electrons"),
                ((K, S), {"electrons": 40, "temprature": 1}, "there is no setting 'temprature'"),
                ((K, S), {"electrons": 40, "blocks": [20.5, 19.5]}, "blocks are .20.5, 19.5.; expected a list of whole numbers"),
                ((K, S), {"electrons": 40, "blocks": [2**32 + 20, 20]}, "blocks are .4294967316, 20."),
                ((K, S), {"electrons": 40, "blocks": [[20, 20]]}, "blocks are ..20, 20.."),
                ((K, S), {"electrons": 40, "blocks": [30, 20]}, "50|blocks|rows")):
            with self.assertRaisesRegex(quintet.QuintetError, says):
                quintet.density(*arguments, **settings)

    @needs("pyscf")
    def test_an_scf_of_pyscf_finds_its_energy_in_ten_iterations(self):
        """Four waters, restricted Hartree-Fock, with PySCF's DIIS: D from K and S in place of orbitals; S^-1/2 is made once."""
        from pyscf import gto, scf

        places = ((0, 0, 0), (0.4, 0.2, 2.9), (2.8, 0.3, -0.2), (3.1, 0.1, 2.8))
        water = ((0, 0, 0), (0.76, 0, 0.59), (-0.76, 0, 0.59))
        atoms = [(symbol, np.add(place, at)) for place in places for symbol, at in zip("OHH", water)]
        molecule = gto.M(atom=atoms, basis="sto-3g", verbose=0)
        reference = scf.RHF(molecule).run(conv_tol=1e-12)
        solver = quintet.DensitySolver(molecule.nelectron, dense=-1, threshold=1e-10, blocks=[7] * len(places))
        loop, diis, kept = scf.RHF(molecule), scf.diis.CDIIS(), []
        S, D = loop.get_ovlp(), loop.get_init_guess()
        for _ in range(10):
            found = solver(diis.update(S, D, loop.get_fock(dm=D)), S)
            kept.append(found.overlap_kept)
            D = found.D.toarray()
            self.assertEqual(found.dense, 0)
        self.assertAlmostEqual(loop.energy_tot(dm=D), reference.e_tot, delta=1e-9)
        self.assertEqual((kept[0], min(kept[1:])), (0, 1))

    def test_ten_thousand_calls_keep_their_memory(self):
        """Of a solver, and of solvers that are made and let go."""
        setup = "import numpy as np\nK = np.diag(np.full(3, -0.3), 1); K = K + K.T\nsolver = quintet.DensitySolver(4)"
        self.assertLess(grown_by(setup, "solver(K)"), 500_000)
        self.assertGreater(grown_by(setup, "solver(K)", leak=120), 1_000_000)
        self.assertLess(grown_by(setup, "quintet.density(K, electrons=4)", n=2000), 500_000)

    def test_processes_and_threads(self):
        """Threads take turns, a fork goes on, and another process is told to make its own solver."""
        import multiprocessing
        import pickle
        import threading

        K, S = chain(40)
        solver = quintet.DensitySolver(40)
        expected = solver(K, S).energy
        found = []
        threads = [threading.Thread(target=lambda: found.extend(solver(K, S).energy for _ in range(10))) for _ in range(3)]
        for thread in threads:
            thread.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's own, of forks beside threads
            process = multiprocessing.get_context("fork").Process(target=lambda: os._exit(0 if solver(K, S).energy == expected else 3))
            process.start()
        for thread in threads:
            thread.join()
        process.join(60)
        self.assertEqual((found, process.exitcode), ([expected] * 30, 0))
        with self.assertRaisesRegex(TypeError, "cannot be pickled: make one in each, or call quintet.density there"):
            pickle.dumps(solver)
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # the remedy
            self.assertEqual(pool.apply(energy_of, (K, S)), expected)


if __name__ == "__main__":
    unittest.main()
