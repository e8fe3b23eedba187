"""Density matrices of sparse Kohn-Sham matrices: `quintet.density(K, S, electrons=...)`."""
from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence

import numpy as np

from ._files import optional
from ._library import Turn, density_library
from .errors import InputError, ResourceError, error_of

if TYPE_CHECKING:
    import scipy.sparse

_SETTINGS = ("electrons", "temperature", "threshold", "spin_degeneracy", "rows_per_block", "dense", "estimate_error")
_NUMBERS = ("free_energy", "mu", "gap", "entropy", "energy_error", "electrons_error", "mu_error", "density_error", "rest", "dense",
            "overlap_kept", "overlap_condition", "blocks", "submatrix_rows")


class Density(NamedTuple):
    """The density matrix and what is known of it. Energies in hartree; NaN: not known.

    D [n, n]: Tr(D S) = electrons, on the pattern of K and S. W: sum_i f_i e_i c_i c_i^T, of which forces are made.
    energy: Tr(D K). gap: at temperature 0. Errors are estimates: of the energy, of the electrons, of mu, and
    ||D - D_exact||_F (density_error), what D lacks outside the pattern included (rest: that part).
    """

    D: scipy.sparse.csc_array
    W: scipy.sparse.csc_array
    energy: float
    free_energy: float
    mu: float
    gap: float
    entropy: float
    energy_error: float
    electrons_error: float
    mu_error: float
    density_error: float
    rest: float
    dense: float
    overlap_kept: float
    overlap_condition: float
    blocks: float
    submatrix_rows: float


class DensitySolver:
    """A solver of density matrices that keeps S^-1/2 while S stays the same, as SCF loops need it.

    electrons: of all spins that are computed together. temperature: k_B T (hartree). threshold: blocks of
    S^-1/2 K S^-1/2 of smaller norm are dropped (hartree; 1e-5). blocks: rows of each block (an atom's, a molecule's);
    None: parts of the graph of K. Others: spin_degeneracy, rows_per_block, dense, estimate_error, as
    bridges/density/quintet_density.h says. May be used by several threads, one at a time, and after a fork.
    """

    def __init__(self, electrons: float, *, temperature: float = 0, threshold: float = 1e-5, blocks: Optional[Sequence[int]] = None,
                 **settings: float) -> None:
        unknown = sorted(set(settings) - set(_SETTINGS))
        if unknown:
            raise InputError(f"there is no setting '{unknown[0]}'; there are: {', '.join(_SETTINGS)}, blocks")
        self._library = density_library()
        self._lock = Turn()
        self._pattern: Optional[tuple[np.ndarray, np.ndarray]] = None
        self._handle = self._library.quintet_density_open()
        if not self._handle:
            raise ResourceError("out of memory")
        self._close = weakref.finalize(self, self._library.quintet_density_close, self._handle)
        for name, value in {"electrons": electrons, "temperature": temperature, "threshold": threshold, **settings}.items():
            if not isinstance(value, (int, float, np.integer, np.floating)):
                raise InputError(f"{name} is {value!r:.80}; expected a number")
            self._check(self._library.quintet_density_set(self._handle, name.encode(), float(value)))
        if blocks is not None:
            rows = _rows_of(blocks)
            self._check(self._library.quintet_density_set_blocks(self._handle, len(rows), rows.ctypes.data))

    def __call__(self, K: Any, S: Any = None) -> Density:
        """Return the density matrix of K and S [n, n], scipy.sparse or dense; S None: the unit matrix.

        Both triangles are given. The pattern of D is that of K and S together: elements that are 0 but stored count.
        """
        sparse = optional("scipy.sparse", "density matrices")
        first = _matrix(sparse, K, "K")
        second = None if S is None else _matrix(sparse, S, "S")
        if second is not None and second.shape != first.shape:
            raise InputError(f"K has shape {list(first.shape)}, S {list(second.shape)}")
        indptr, indices = _pattern(sparse, first, sparse.eye_array(first.shape[0], format="csc") if second is None else second)
        ham, ovlp = _on(first, indptr, indices), None if second is None else _on(second, indptr, indices)
        d, w, energy = np.empty(len(indices)), np.empty(len(indices)), np.empty(1)
        n = first.shape[0]
        with self._lock:
            if self._pattern is None or not all(np.array_equal(a, b) for a, b in zip(self._pattern, (indptr, indices))):
                self._pattern = None
                self._check(self._library.quintet_density_set_csc(self._handle, n, len(indices), n, indices.ctypes.data, indptr.ctypes.data))
                self._pattern = indptr, indices
            self._check(self._library.quintet_density_dm_real_sparse(
                self._handle, ham.ctypes.data, None if ovlp is None else ovlp.ctypes.data, d.ctypes.data, energy.ctypes.data))
            remark = self._library.quintet_density_warning(self._handle)
            self._check(self._library.quintet_density_edm_real_sparse(self._handle, w.ctypes.data))
            numbers = [self._library.quintet_density_number(self._handle, name.encode()) for name in _NUMBERS]
        if remark:
            warnings.warn(remark.decode("utf-8", "replace"), RuntimeWarning, stacklevel=2)
        results = [sparse.csc_array((values, indices, indptr), shape=first.shape) for values in (d, w)]
        return Density._make([*results, float(energy[0]), *numbers])

    def _check(self, code: int) -> None:
        if code:
            raise error_of(code, self._library.quintet_density_error(self._handle).decode("utf-8", "replace"))

    def __reduce__(self) -> Any:
        raise TypeError("a DensitySolver is its process's own and cannot be pickled: make one in each, or call quintet.density there")


def density(K: Any, S: Any = None, *, electrons: float, **settings: Any) -> Density:
    """Return the density matrix of K and S: `DensitySolver(electrons, **settings)(K, S)`. Loops over K of one S take a solver."""
    return DensitySolver(electrons, **settings)(K, S)


def _rows_of(blocks: Sequence[int]) -> np.ndarray:
    """Return rows of blocks [n_blocks] as int32. Raises InputError where they are no list of whole numbers that fit."""
    rows = np.asarray(blocks)
    if rows.ndim != 1 or (rows.size and (rows.dtype.kind not in "iu" or np.abs(rows).max() > np.iinfo(np.int32).max)):
        raise InputError(f"blocks are {blocks!r:.80}; expected a list of whole numbers, the rows of each block")
    return np.ascontiguousarray(rows, np.int32)


def _matrix(sparse: Any, values: Any, name: str) -> Any:
    """Return a matrix in compressed columns, sorted, without entries that are there twice."""
    if not sparse.issparse(values):
        values = np.asarray(values)
        if values.dtype.kind not in "fiu" or values.ndim != 2:
            raise InputError(f"{name} has shape {list(values.shape)} of {values.dtype}; expected [n, n] real numbers")
    if values.dtype.kind == "c":
        raise InputError(f"{name} is complex; expected real numbers")
    matrix = sparse.csc_array(values, dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {list(matrix.shape)}; expected [n, n]")
    if matrix.nnz > np.iinfo(np.int32).max:
        raise InputError(f"{name} has {matrix.nnz} elements; at most {np.iinfo(np.int32).max} are taken: use the program submatrix")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the caller's arrays stay as they are
        matrix.sum_duplicates()
    return matrix


def _pattern(sparse: Any, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return col_ptr and row_ind of what either matrix stores."""
    ones = [sparse.csc_array((np.ones(len(one.indices), np.int8), one.indices, one.indptr), shape=one.shape) for one in (first, second)]
    union = ones[0].maximum(ones[1])
    union.sort_indices()
    return union.indptr.astype(np.int32), union.indices.astype(np.int32)


def _on(matrix: Any, indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the values of a matrix on a pattern that has all of its elements; 0 where it stores none."""
    if np.array_equal(matrix.indptr, indptr) and np.array_equal(matrix.indices, indices):
        return np.ascontiguousarray(matrix.data)
    n = matrix.shape[0]

    def places(pointers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.repeat(np.arange(n, dtype=np.int64), np.diff(pointers)) * n + rows

    values = np.zeros(len(indices))
    values[np.searchsorted(places(indptr, indices), places(matrix.indptr, matrix.indices))] = matrix.data
    return values
