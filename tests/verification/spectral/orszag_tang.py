#!/usr/bin/env python3
"""The numbers of orszag_tang_test.cpp by another program: NumPy's FFT, the two-thirds rule, and Runge and Kutta's method on both the
products and the diffusion. Usage: orszag_tang.py [CELLS [STEPS]]: max |j| and max |w| at t = 0.5 and 1, and <j^2>, <w^2> at 1.
"""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 800
nu = 0.02
x = 2 * np.pi * np.arange(n) / n
x, y = np.meshgrid(x, x)  # [y, x]
k_x, k_y = np.meshgrid(np.arange(n // 2 + 1), np.fft.fftfreq(n, 1 / n))
k2 = k_x**2 + k_y**2
inverse = 1 / np.where(k2 == 0, np.inf, k2)
kept = (k_x <= (n - 1) // 3) & (abs(k_y) <= (n - 1) // 3)


def points(waves):
    return np.fft.irfft2(waves, s=(n, n))


def change(state):
    w, a = state
    psi, j = inverse * w, k2 * a
    u, v = points(1j * k_y * psi), points(-1j * k_x * psi)
    b_x, b_y = points(1j * k_y * a), points(-1j * k_x * a)
    of_w = -u * points(1j * k_x * w) - v * points(1j * k_y * w) + b_x * points(1j * k_x * j) + b_y * points(1j * k_y * j)
    of_a = -u * points(1j * k_x * a) - v * points(1j * k_y * a)
    return np.array([kept * np.fft.rfft2(of_w) - nu * k2 * w, kept * np.fft.rfft2(of_a) - nu * k2 * a])


state = np.array([np.fft.rfft2(2 * np.cos(x) + 2 * np.cos(y)), np.fft.rfft2(2 * np.cos(y) + np.cos(2 * x))])
h = 1 / steps
for step in range(1, steps + 1):
    one = change(state)
    two = change(state + h / 2 * one)
    three = change(state + h / 2 * two)
    four = change(state + h * three)
    state = state + h / 6 * (one + 2 * two + 2 * three + four)
    if step in (steps // 2, steps):
        j, w = points(k2 * state[1]), points(state[0])
        print(f"t = {step * h:.3g}: max |j| {abs(j).max():.12g}, max |w| {abs(w).max():.12g}")
print(f"<j^2> {(j**2).mean():.12g}, <w^2> {(w**2).mean():.12g}")
