#!/usr/bin/env python3
"""f of a plasma run at any points, and its moments on any grid, beside analytic Maxwellians."""
import unittest

from support import InFolder, needs_program, two_stream

import numpy as np

import quintet

K, ALPHA, DRIFT, SPEED = 0.5, 0.1, (0.7, -0.4), (1.1, 0.8)


def density(x):
    return 1 + ALPHA * np.cos(K * x)


def maxwellian(x, *v):
    """n(x) prod_i exp(-(v_i - u_i)^2 / (2 s_i^2)) / (sqrt(2 pi) s_i)"""
    f = density(x)
    for one, u, s in zip(v, DRIFT, SPEED):
        f = f * np.exp(-((one - u) ** 2) / (2 * s**2)) / (np.sqrt(2 * np.pi) * s)
    return f


@needs_program("vlasov")
class Maxwellians(InFolder):
    def start(self, name, cells, order=2):
        """f of the first frame: a drifting Maxwellian on a wave of density, in as many velocities as there are cells of them."""
        n_v = len(cells) - 1
        species = [{"name": "electrons", "velocity": {"lower": [-8] * n_v, "upper": [8] * n_v},
                    "initial": [{"maxwellian": {"density": f"1 + {ALPHA}*cos({K}*x)", "drift": list(DRIFT[:n_v]), "thermal_speed": list(SPEED[:n_v])}}]}]
        run = two_stream(quintet, f"runs/{name}", species=species, field={"model": "poisson", "background_charge": 1},
                         **{"grid.cells": list(cells), "basis.order": order, "time.end": 1e-6, "grid.lower": ["-pi/k"], "grid.upper": ["pi/k"]})
        return run.distribution("electrons", frame=0)

    def test_values_converge_to_the_formula(self):
        """Errors of polynomials of order p fall as h^(p+1), at points that are on no grid of the run, faces among them."""
        rng = np.random.default_rng(1)
        x = np.append(rng.uniform(-2 * np.pi, 2 * np.pi, 300), 0.0)
        v = np.append(rng.uniform(-5, 5, 300), 1.0)
        for order in (1, 2):
            errors = []
            for n in (16, 32, 64):
                f = self.start(f"values_{order}_{n}", (n // 2, n), order)
                errors.append(np.sqrt(np.mean((f(x=x, vx=v) - maxwellian(x, v)) ** 2)))
            rates = np.log2(np.divide(errors[:-1], errors[1:]))
            self.assertGreater(rates[-1], order + 0.7, (order, errors))
            self.assertLess(errors[-1], {1: 2e-3, 2: 2e-4}[order])

    def test_moments_on_other_grids_are_the_formulas(self):
        """Density, momentum and energy: n, n u, n (u^2 + s^2), on grids coarser and finer than the cells, and of any shape."""
        f = self.start("moments", (32, 48))
        (u, _), (s, _) = DRIFT, SPEED
        for x in (np.linspace(-6, 6, 7), np.linspace(-2 * np.pi, 2 * np.pi, 301), np.array([[0.1, 0.2], [5.0, -5.0]]), 0.3):
            for power, expected in ((0, 1), (1, u), (2, u**2 + s**2)):
                found = f.moment(x=x, powers={"vx": power})
                self.assertEqual(found.shape, np.shape(x))
                np.testing.assert_allclose(found, expected * density(np.asarray(x)), atol=2e-5)
        even = np.linspace(-2 * np.pi, 2 * np.pi, 1001)[:-1]
        self.assertAlmostEqual(f.moment(x=even).mean(), 1, places=6)  # all particles

    def test_two_velocities(self):
        f = self.start("two", (12, 24, 24))
        x, vx, vy = np.meshgrid([0.4, 2.0], [-1.0, 0.7, 2.2], [-0.4, 1.3], indexing="ij")
        np.testing.assert_allclose(f(x=x, vx=vx, vy=vy), maxwellian(x, vx, vy), atol=3e-3)
        at = np.array([-4.0, 0.0, 1.0, 6.0])
        (u, w), (s, r) = DRIFT, SPEED
        for powers, expected in (({}, 1), ({"vx": 1}, u), ({"vy": 1}, w), ({"vx": 1, "vy": 1}, u * w), ({"vx": 2}, u * u + s * s), ({"vy": 2}, w * w + r * r)):
            np.testing.assert_allclose(f.moment(x=at, powers=powers), expected * density(at), atol=4e-4, err_msg=str(powers))


if __name__ == "__main__":
    unittest.main()
