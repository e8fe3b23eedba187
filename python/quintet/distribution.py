"""Distributions of a plasma run: f at any points, and its moments, from the coefficients that the run wrote."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import h5py
import numpy as np
from numpy.polynomial import legendre

from ._files import read, text
from .errors import InputError

_X, _V = ("x", "y", "z"), ("vx", "vy", "vz")


class Distribution:
    """f of one species at one time: f(x, v) = sum_m c_m prod_d phi_{m_d}(xi_d) in each cell.

    phi_k(xi) = sqrt((2k + 1)/2) P_k(xi), orthonormal on [-1, 1]; xi_d runs from -1 to 1 over the cell. axes: names, x
    first; edges: of the cells along each; coefficients [cells..., n_modes]; modes [n_modes, n_axes]: degrees. In the
    input's units.
    """

    def __init__(self, path: Path, species: str, frame: int) -> None:
        def look(file: h5py.File) -> None:
            names = list(file.get("species", {}))
            if species not in names:
                raise InputError(f"{path}: there is no species '{species}'; there are: {', '.join(names) or 'none'}")
            group, times = file[f"species/{species}"], file["frames/time"]
            if "f" not in group:
                raise InputError(f"{path}: the frames of '{species}' were written without f")
            if not -len(times) <= frame < len(times):
                raise InputError(f"{path}: there is no frame {frame}; there are {len(times)}")
            number = frame % len(times)
            cdim, vdim = int(group.attrs["cdim"]), int(group.attrs["vdim"])
            self.species, self.time, self.step = species, float(times[number]), int(file["frames/step"][number])
            self.charge, self.mass = float(group.attrs["charge"]), float(group.attrs["mass"])
            self.axes = [*_X[:cdim], *_V[:vdim]]
            self.periodic = [bool(one) for one in group.attrs["periodic"]]
            self.edges = [_edges(group, name, d) for d, name in enumerate(self.axes)]
            self.modes = np.array([[int(degree) for degree in mode] for mode in text(group.attrs["modes"]).split()])
            self.coefficients = group[f"f/frame_{number}"][...]
            expected = tuple(len(edges) - 1 for edges in self.edges)
            if self.coefficients.shape != (*expected, len(self.modes)):
                raise InputError(f"{path}: f of frame {number} has shape {list(self.coefficients.shape)}; expected {[*expected, len(self.modes)]}")

        read(path, look)

    def __call__(self, **points: Any) -> np.ndarray:
        """Return f at points, each coordinate an array that is broadcast against the others: f(x=0.3, vx=velocities).

        Coordinates beyond a period are wrapped. Raises InputError for those outside of the box, and for axes that are
        missing. At a face the cell above counts.
        """
        self._known(points, self.axes)
        arrays = np.broadcast_arrays(*(np.asarray(points[name], float) for name in self.axes))
        cells, factors = zip(*(self._place(d, values) for d, values in enumerate(arrays)))
        result = np.zeros(arrays[0].shape)
        for m, degrees in enumerate(self.modes):
            term = self.coefficients[(*cells, m)]
            for d, degree in enumerate(degrees):
                term = term * factors[d][degree]
            result += term
        return result

    def moment(self, *, powers: Optional[dict[str, int]] = None, **points: Any) -> np.ndarray:
        """Return the integral of prod v_i^p_i f over all v at points of x: moment(x=x) is the density.

        powers: {"vx": 2} and the like; exact, but for rounding.
        """
        n_x = sum(name in _X for name in self.axes)
        powers = powers or {}
        for name in powers:
            if name not in self.axes[n_x:]:
                raise InputError(f"there is no velocity '{name}'; there are: {', '.join(self.axes[n_x:])}")
            if not isinstance(powers[name], (int, np.integer)) or powers[name] < 0:
                raise InputError(f"{name} to the power of {powers[name]}: expected a whole number from 0")
        self._known(points, self.axes[:n_x])
        weights = self.coefficients
        for d in range(len(self.axes) - 1, n_x - 1, -1):  # the last axis of cells goes first
            table = self._integrals(d, powers.get(self.axes[d], 0))  # [cells, degrees]
            weights = np.einsum("...cm,cm->...m", weights, table[:, self.modes[:, d]])
        arrays = np.broadcast_arrays(*(np.asarray(points[name], float) for name in self.axes[:n_x]))
        cells, factors = zip(*(self._place(d, values) for d, values in enumerate(arrays)))
        result = np.zeros(arrays[0].shape)
        for m, degrees in enumerate(self.modes):
            term = weights[(*cells, m)]
            for d in range(n_x):
                term = term * factors[d][degrees[d]]
            result += term
        return result

    def _known(self, points: dict[str, Any], axes: list[str]) -> None:
        if set(points) != set(axes):
            raise InputError(f"points have {', '.join(points) or 'no coordinate'}; expected {', '.join(axes)}")

    def _place(self, d: int, values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the cells of coordinates and phi_k there, for each degree k."""
        edges = self.edges[d]
        if self.periodic[d]:
            values = edges[0] + np.mod(values - edges[0], edges[-1] - edges[0])
        if not np.all((values >= edges[0]) & (values <= edges[-1])):
            wrong = values[~((values >= edges[0]) & (values <= edges[-1]))].ravel()[0]
            raise InputError(f"{self.axes[d]} = {wrong} is outside of [{edges[0]}, {edges[-1]}]")
        cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        xi = 2 * (values - edges[cells]) / (edges[cells + 1] - edges[cells]) - 1
        return cells, _functions(xi, int(self.modes[:, d].max()))

    def _integrals(self, d: int, power: int) -> np.ndarray:
        """Return the integral of v^power phi_k over each cell: [cells, degrees]."""
        edges, degree = self.edges[d], int(self.modes[:, d].max())
        nodes, weights = legendre.leggauss((power + degree) // 2 + 1)
        half = np.diff(edges)[:, None] / 2
        v = (edges[:-1, None] + edges[1:, None]) / 2 + half * nodes
        return np.stack([(half * v**power * weights * phi).sum(axis=1) for phi in _functions(nodes, degree)], axis=1)

    def __repr__(self) -> str:
        grid = " x ".join(str(len(edges) - 1) for edges in self.edges)
        return f"<Distribution of {self.species} at time {self.time:g}: {', '.join(self.axes)}, {grid} cells, {len(self.modes)} functions a cell>"


def _edges(group: h5py.Group, name: str, d: int) -> np.ndarray:
    if f"edges_{name}" in group:
        return group[f"edges_{name}"][...]
    return np.linspace(group.attrs["lower"][d], group.attrs["upper"][d], int(group.attrs["cells"][d]) + 1)


def _functions(xi: np.ndarray, degree: int) -> list[np.ndarray]:
    return [np.sqrt(k + 0.5) * legendre.legval(xi, [0] * k + [1]) for k in range(degree + 1)]
