#!/usr/bin/env python3
"""Modes and linear forecasts of the sea by numpy, with no code of the programs: the other numbers of the section on the sea.

Usage: sea_by_numpy.py ../shared/data/ocean

Modes: singular values of monthly ERSST v5 of 2010 to 2014, mean of the times removed, each point of the sea weighing the same. Forecasts
of weekly coefficients: climatology (three harmonics and a trend), persistence of anomalies, damped persistence, a linear inverse model of
lag 8 and ridge over 8 weeks; fitted until 2007-12-31, judged on the windows of 2012 to 2014.
"""
import os
import sys

import h5py
import numpy as np

POINTS, SEEN, AHEAD = 44219, 8, 8


def singular_values(path):
    with h5py.File(path) as file:
        stored, scale = file["sst"][:], float(file["sst"].attrs["scale_factor"][0])
        sea = (stored != file["sst"].attrs["_FillValue"][0]).all(0)
    fields = stored[:, sea]*scale
    return np.linalg.svd(fields - fields.mean(0), compute_uv=False)


class Weeks:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.days, self.a = file["time"][:], file["a"][:]
        self.trained = np.count_nonzero(self.days < 75970)  # 2008-01-01 as days since 1800-01-01
        self.tested = np.count_nonzero(self.days < 77431)   # 2012-01-01
        phase = 2*np.pi*self.days/365.2425
        shapes = np.stack([np.ones_like(phase), phase] + [wave(k*phase) for k in (1, 2, 3) for wave in (np.cos, np.sin)], 1)
        self.normal = shapes @ np.linalg.lstsq(shapes[:self.trained], self.a[:self.trained], rcond=None)[0]
        self.x = self.a - self.normal
        self.regular = np.abs(np.diff(self.days) - 7) < 0.5

    def starts(self, n, begin, end):
        """First rows of n rows within [begin, end) that follow each other by a week."""
        return np.array([i for i in range(begin, end - n + 1) if self.regular[i:i + n - 1].all()])

    def pairs(self, lag):
        i = self.starts(lag + 1, 0, self.trained)
        return self.x[i], self.x[i + lag]

    def damped(self):
        factors = [None] + [(early*late).sum(0)/(early**2).sum(0) for early, late in map(self.pairs, range(1, AHEAD + 1))]
        return lambda past, lead: past[:, -1]*factors[lead]

    def lim(self):
        early, late = self.pairs(AHEAD)
        values, vectors = np.linalg.eig((late.T @ early) @ np.linalg.inv(early.T @ early))
        return lambda past, lead: past[:, -1] @ (vectors*values.astype(complex)**(lead/AHEAD) @ np.linalg.inv(vectors)).real.T

    def ridge(self, alpha=100):
        i = self.starts(SEEN + AHEAD, 0, self.trained)
        past = np.stack([self.x[j:j + SEEN].ravel() for j in i])
        future = np.stack([self.x[j + SEEN:j + SEEN + AHEAD].ravel() for j in i])
        weights = np.linalg.solve(past.T @ past + alpha*np.eye(past.shape[1]), past.T @ future)
        return lambda seen, lead: (seen.reshape(len(seen), -1) @ weights).reshape(len(seen), AHEAD, -1)[:, lead - 1]

    def scores(self):
        windows = self.starts(SEEN + AHEAD, self.tested, len(self.days))
        seen = np.stack([self.x[i:i + SEEN] for i in windows])
        future = [slice(i + SEEN, i + SEEN + AHEAD) for i in windows]
        truth, usual = (np.stack([rows[part] for part in future]) for rows in (self.a, self.normal))
        methods = {"climatology": lambda past, lead: 0*past[:, -1], "anomaly_persistence": lambda past, lead: past[:, -1],
                   "damped_persistence": self.damped(), "lim": self.lim(), "ridge": self.ridge()}
        for name, method in methods.items():
            error = usual + np.stack([method(seen, lead) for lead in range(1, AHEAD + 1)], 1) - truth
            r2 = 1 - (error**2).sum(0)/((truth - truth.mean(0))**2).sum(0)
            yield name, len(windows), r2.mean(), np.sqrt((error**2).sum(2).mean()/POINTS)


print("singular values", singular_values(os.path.join(sys.argv[1], "ersst_v5_2deg_monthly_2010_2014.nc"))[:5])
for name, n, r2, rmse in Weeks(os.path.join(sys.argv[1], "sst_pod_coefficients_weekly.nc")).scores():
    print(f"{name:20} {n} windows  R2 {r2:.6f}  RMSE {rmse:.6f}")
