"""Deep Potentials from Python: `Potential("model.dp")(positions, cell, types)`."""
from __future__ import annotations

import ctypes
import os
import tempfile
import warnings
import weakref
from pathlib import Path
from typing import Any, Literal, Mapping, NamedTuple, Optional, Sequence, Union, overload

import numpy as np

from ._library import Turn, library
from ._model_files import as_text, paths_of
from .errors import InputError, InternalError, ResourceError, error_of

Files = Union[str, Path, Sequence[Union[str, Path]]]


class Result(NamedTuple):
    """Energy (eV), forces [n_atoms, 3] (eV/angstrom), virial [3, 3] (eV): W_kl = sum F_k d_l = -dE/d(strain_kl).

    Of several frames each has an axis more, [n_frames, ...].
    """

    energy: Union[float, np.ndarray]
    forces: np.ndarray
    virial: np.ndarray


class AtomicResult(NamedTuple):
    """A Result, and what each atom has of it: energies [n_atoms] (eV), virials [n_atoms, 3, 3] (eV), whose sum is the virial."""

    energy: Union[float, np.ndarray]
    forces: np.ndarray
    virial: np.ndarray
    energies: np.ndarray
    virials: np.ndarray


class Deviation(NamedTuple):
    """Where models disagree: of the force on each atom [n_atoms] (eV/angstrom), sqrt(<|F_i - <F_i>|^2>), and in all.

    Virials and energies are deviations an atom (eV). Source: Zhang et al. (2020), Comput. Phys. Commun. 253, 107206.
    """

    by_atom: np.ndarray
    force_max: float
    force_min: float
    force_mean: float
    virial_max: float
    virial_min: float
    virial_rms: float
    energy: float


class Potential:
    """One or several models of the same types. May be used by several threads, one at a time, and after a fork.

    A fork waits for calls of other threads. A pickled potential opens its files again, so they must be there.

    files: models (.dp, .yaml, .json). precision: "double", "mixed" (networks in float32; sums, forces and virial in
    double), or None: as the file says. device: "cpu", "gpu", "gpu:1" (by number), "auto" (a GPU where one can be used),
    or "portable" (a GPU's algorithms on the host's cores). Raises InputError where a file is no model, ResourceError
    where there is no GPU. On a GPU it may not be used after a fork: make one in the other process.

    atom_parameters: of a model that reads numbers of each atom (DeePMD-kit's aparam), those of each type, {"O": [0.3],
    "H": [0]}. Else a call takes them, atom by atom; a GPU takes those of types alone.
    """

    def __init__(self, files: Files, precision: Optional[str] = None, device: str = "cpu",
                 atom_parameters: Optional[Mapping[str, Any]] = None) -> None:
        self.files = paths_of(files)
        if precision is not None and not isinstance(precision, str):
            raise InputError(f"precision is {precision!r:.80}; expected 'double', 'mixed' or None")
        if not isinstance(device, str):
            raise InputError(f"device is {device!r:.80}; expected 'cpu', 'gpu', 'gpu:1', 'auto' or 'portable'")
        self.precision = precision
        self.device = device
        self.atom_parameters = atom_parameters
        self._places = [Path(os.path.abspath(one)) for one in self.files]
        self._library = library()
        self._lock = Turn()
        self._open()

    def _open(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            names = [as_text(one, Path(folder) / f"{i}.json") for i, one in enumerate(self.files)]
            with self._lock:
                handle, code, error = self._handle_of(names)
        for name, file in zip(names, self.files):
            error = error.replace(name, str(file))
        if code:
            raise error_of(code, error)
        self._handle = handle
        self.n_atom_parameters: int = self._library.quintet_potential_atom_parameters(handle)  #: numbers of each atom that it reads
        self._close = weakref.finalize(self, self._library.quintet_potential_close, handle)
        self.type_names: list[str] = [self._library.quintet_potential_type_name(handle, i).decode()
                                      for i in range(self._library.quintet_potential_types(handle))]  #: names of the types
        self.cutoff: float = self._library.quintet_potential_cutoff(handle)  #: longest of the models (angstrom)
        self.n_models: int = self._library.quintet_potential_models(handle)
        self.device_name: str = self._library.quintet_potential_device(handle).decode("utf-8", "replace")  #: what computes, in a line
        self._numbers = {name: i for i, name in enumerate(self.type_names)}
        if self.atom_parameters is not None:
            self._set_of_types(self.atom_parameters)

    def _set_of_types(self, given: Any) -> None:
        if not isinstance(given, Mapping) or set(map(str, given)) != set(self.type_names):
            raise InputError(f"atom_parameters are {given!r:.80}; expected the numbers of each type of the model: "
                             f"{{{', '.join(f'{name!r}: [...]' for name in self.type_names)}}}")
        rows = [np.atleast_1d(_array([given[name]], f"atom_parameters of {name}")[0]) for name in self.type_names]
        if any(row.ndim != 1 or len(row) != len(rows[0]) for row in rows):
            raise InputError("atom_parameters: expected as many numbers of each type")
        values = np.array(rows)
        with self._lock:
            code = self._library.quintet_potential_set_type_parameters(self._handle, *values.shape, values.ctypes.data)
            if code:
                self._fail(code)

    def _parameters(self, given: Any, n_atoms: int) -> Optional[np.ndarray]:
        """Return the numbers of atoms for a call, [n_atoms, n], or None where the model takes none from there."""
        if given is None and (not self.n_atom_parameters or self.atom_parameters is not None):
            return None
        count = f"the model reads {self.n_atom_parameters} number{'s' * (self.n_atom_parameters != 1)} of each atom (aparam)"
        if given is None:
            raise InputError(f"{count}, none were given: atom_parameters=[n_atoms, {self.n_atom_parameters}] of a call, "
                             "{type: numbers} of Potential(), or atoms.arrays['aparam'] of an ase.Atoms")
        if not self.n_atom_parameters:
            raise InputError("atom_parameters: the model reads no numbers of atoms")
        if self.atom_parameters is not None:
            raise InputError("atom_parameters: this Potential was made with those of types; expected one or the other")
        values = _array(given, "atom_parameters")
        if values.shape == (n_atoms,) and self.n_atom_parameters == 1:
            values = values[:, None]
        if values.shape != (n_atoms, self.n_atom_parameters):
            raise InputError(f"{count}; atom_parameters have shape {list(values.shape)}, expected [{n_atoms}, {self.n_atom_parameters}]")
        return np.ascontiguousarray(values)

    def _give(self, values: Optional[np.ndarray]) -> None:
        if values is not None:
            code = self._library.quintet_potential_set_atom_parameters(self._handle, *values.shape, values.ctypes.data)
            if code:
                self._fail(code)

    def of_atoms(self, atoms: Any) -> Any:
        """Return the numbers of each atom that an ase.Atoms has for this model, or None.

        They are atoms.arrays["aparam"], else atoms.info["aparam"], where DeePMD-kit's calculator looks for them. A model
        that reads none leaves them, and so does a Potential that was made with those of types.
        """
        if not self.n_atom_parameters or self.atom_parameters is not None:
            return None
        return atoms.arrays["aparam"] if "aparam" in atoms.arrays else atoms.info.get("aparam")

    def _handle_of(self, names: Sequence[str]) -> tuple[int, int, str]:
        array = (ctypes.c_char_p * len(names))(*(os.fsencode(name) for name in names))
        precision = None if self.precision is None else self.precision.encode()
        handle = self._library.quintet_potential_open_on(len(names), array, precision, self.device.encode())
        if not handle:
            raise ResourceError("out of memory")
        code = self._library.quintet_potential_code(handle)
        error = self._library.quintet_potential_error(handle).decode("utf-8", "replace")
        if code:
            self._library.quintet_potential_close(handle)
        return handle, code, error

    # -- evaluation

    @overload
    def __call__(self, positions: Any, cell: Any = ..., types: Any = ..., *, model: int = ..., atomic: Literal[False] = ...,
                 atom_parameters: Any = ...) -> Result: ...
    @overload
    def __call__(self, positions: Any, cell: Any = ..., types: Any = ..., *, model: int = ..., atomic: Literal[True],
                 atom_parameters: Any = ...) -> AtomicResult: ...

    def __call__(self, positions: Any, cell: Any = None, types: Any = None, *, model: int = 0, atomic: bool = False,
                 atom_parameters: Any = None) -> Any:
        """Return energy, forces and virial; with `atomic` those of each atom, too.

        positions: [n_atoms, 3] or frames [n_frames, n_atoms, 3] (angstrom), anywhere; or an ase.Atoms alone.
        cell: [3, 3] rows (angstrom) or, of frames, [n_frames, 3, 3]; None: no periodic images. types: [n_atoms] names
        or numbers of types; -1 is another force field's atom. model: which of several. atom_parameters: [n_atoms, n] or,
        of each frame, [n_frames, n_atoms, n], where the model reads n = n_atom_parameters numbers of each atom (aparam);
        an ase.Atoms has them as atoms.arrays["aparam"].
        """
        if not isinstance(model, (int, np.integer)):
            raise InputError(f"model is {model!r:.80}; expected the number of one of {self.n_models}, from 0")
        if hasattr(positions, "get_positions"):
            _alone(cell, types)
            return self._of_atoms(positions, model, atomic, atom_parameters)
        positions = _array(positions, "positions")
        kinds = self.types(types, positions.shape[-2] if positions.ndim > 1 else -1)
        if positions.ndim == 3:
            cells = [None] * len(positions) if cell is None else _cells(cell, len(positions))
            values = _of_frames(atom_parameters, positions)
            results = [self._compute(one, box, kinds, model, atomic, its) for one, box, its in zip(positions, cells, values)]
            kind = AtomicResult if atomic else Result
            return kind(*(np.array(parts) for parts in zip(*results))) if results else _no_frames(kind, len(kinds))
        return self._compute(positions, cell, kinds, model, atomic, atom_parameters)

    def types(self, types: Any, n_atoms: int) -> np.ndarray:
        """Return numbers of types for names or numbers: [n_atoms] int32. Raises InputError for names that no type has."""
        if types is None:
            if len(self.type_names) != 1:
                raise InputError(f"types are needed: the model has {', '.join(self.type_names)}")
            return np.zeros(max(n_atoms, 0), np.int32)
        found = np.asarray(types)
        if found.ndim != 1:
            raise InputError(f"types are {types!r:.80}; expected a list, one for each atom")
        if found.dtype.kind in "US" or (found.dtype == object and found.size):
            unknown = sorted(set(map(str, found.tolist())) - set(self._numbers))
            if unknown:
                raise InputError(f"the model has no type '{unknown[0]}'; it has: {', '.join(self.type_names)}")
            found = np.array([self._numbers[str(name)] for name in found.tolist()], np.int32)
        if found.size and found.dtype.kind not in "iu":
            raise InputError(f"types are {found.dtype}; expected names or whole numbers")
        if n_atoms >= 0 and len(found) != n_atoms:
            raise InputError(f"types have shape {list(found.shape)}, positions {n_atoms} atoms")
        limits = np.iinfo(np.int32)
        if found.size and not limits.min <= int(found.min()) <= int(found.max()) <= limits.max:
            raise InputError(f"types reach from {found.min()} to {found.max()}; the model has types 0 to {len(self.type_names) - 1}")
        return np.ascontiguousarray(found, np.int32)

    def _compute(self, positions: np.ndarray, cell: Any, types: np.ndarray, model: int, atomic: bool, parameters: Any) -> Any:
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise InputError(f"positions have shape {list(positions.shape)}; expected [n_atoms, 3] or [n_frames, n_atoms, 3]")
        n = len(positions)
        values = self._parameters(parameters, n)
        box = None if cell is None else _cell(cell)
        energy, forces, virial = np.empty(1), np.empty((n, 3)), np.empty((3, 3))
        more = (np.empty(n), np.empty((n, 3, 3))) if atomic else ()
        of_atoms: list[Optional[int]] = [one.ctypes.data for one in more] if more else [None, None]
        with self._lock:
            self._give(values)
            code = self._library.quintet_potential_compute(
                self._handle, model, n, types.ctypes.data, positions.ctypes.data, None if box is None else box.ctypes.data,
                energy.ctypes.data, forces.ctypes.data, virial.ctypes.data, *of_atoms)
            if code:
                self._fail(code)
            remark = self._library.quintet_potential_warning(self._handle)
        if remark:
            warnings.warn(remark.decode("utf-8", "replace"), stacklevel=4)
        return AtomicResult(float(energy[0]), forces, virial, *more) if atomic else Result(float(energy[0]), forces, virial)

    def _of_atoms(self, atoms: Any, model: int, atomic: bool, parameters: Any) -> Union[Result, AtomicResult]:
        cell = periodic_cell(np.asarray(atoms.get_positions()), np.asarray(atoms.cell), atoms.pbc, self.cutoff)
        return self._compute(_array(atoms.get_positions(), "positions"), cell,
                             self.types(atoms.get_chemical_symbols(), len(atoms)), model, atomic,
                             self.of_atoms(atoms) if parameters is None else parameters)

    def deviation(self, positions: Any, cell: Any = None, types: Any = None, *, atom_parameters: Any = None) -> Deviation:
        """Return where the models disagree about one configuration; arguments as of a call. Needs several models."""
        if hasattr(positions, "get_positions"):
            _alone(cell, types)
            atom_parameters = self.of_atoms(positions) if atom_parameters is None else atom_parameters
            cell = periodic_cell(np.asarray(positions.get_positions()), np.asarray(positions.cell), positions.pbc, self.cutoff)
            positions, types = positions.get_positions(), positions.get_chemical_symbols()
        positions = _array(positions, "positions")
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise InputError(f"positions have shape {list(positions.shape)}; expected [n_atoms, 3]")
        kinds = self.types(types, len(positions))
        box = None if cell is None else _cell(cell)
        by_atom, summary = np.empty(len(positions)), np.empty(7)
        values = self._parameters(atom_parameters, len(positions))
        with self._lock:
            self._give(values)
            code = self._library.quintet_potential_deviation(
                self._handle, len(positions), kinds.ctypes.data, positions.ctypes.data, None if box is None else box.ctypes.data,
                by_atom.ctypes.data, summary.ctypes.data)
            if code:
                self._fail(code)
        return Deviation(by_atom, *summary.tolist())

    def _fail(self, code: int) -> None:
        raise error_of(code, self._library.quintet_potential_error(self._handle).decode("utf-8", "replace"))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._places, self.precision, self.device, self.atom_parameters)  # a handle is this process's own: others open the files

    def __repr__(self) -> str:
        return f"<Potential {', '.join(map(str, self.files))}: types {' '.join(self.type_names)}, cutoff {self.cutoff:g} angstrom>"


def _alone(cell: Any, types: Any) -> None:
    if cell is not None or types is not None:
        raise InputError("an ase.Atoms has its own cell and symbols: give it alone, or its positions with a cell and types")


def _array(values: Any, name: str) -> np.ndarray:
    if isinstance(values, (list, tuple)) and values and hasattr(values[0], "get_positions"):
        raise InputError(f"{name} are a list of ase.Atoms; expected one: [potential(one) for one in frames]")
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} are masked in places; expected a number everywhere")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise InputError(f"{name} are complex; expected real numbers")
        if array.ndim == 0:
            raise InputError(f"{name}: {values!r:.80} is no array")
        return np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{name}: no array of numbers: {error}") from None


def _cell(values: Any) -> np.ndarray:
    cell = _array(values, "cell")
    if cell.shape == (3,):
        cell = np.ascontiguousarray(np.diag(cell))
    if cell.shape != (3, 3):
        raise InputError(f"the cell has shape {list(cell.shape)}; expected [3, 3] rows or 3 lengths (angstrom)" +
                         (": ase.geometry.cellpar_to_cell makes rows of lengths and angles" if cell.shape == (6,) else ""))
    (a, b, c), (d, e, f), (g, h, i) = cell.tolist()  # numpy's determinant would take a tenth of a small call's time
    is_left_handed = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0
    return -cell if is_left_handed else cell  # the negatives span the same lattice


def _cells(values: Any, n_frames: int) -> list[np.ndarray]:
    """Return the cell of each frame: one for all, [3, 3] or lengths [3], or one of each."""
    cells = _array(values, "cell")
    if cells.ndim < 3:
        return [_cell(cells)] * n_frames
    if len(cells) != n_frames:
        raise InputError(f"there are {len(cells)} cells and {n_frames} frames; expected a cell of each frame, or one for all")
    return [_cell(one) for one in cells]


def _of_frames(values: Any, frames: np.ndarray) -> Sequence[Any]:
    """Return the numbers of atoms of each frame: one array for all, or one of each."""
    if values is None:
        return [None] * len(frames)
    array = _array(values, "atom_parameters")
    if array.ndim < 3:
        return [array] * len(frames)
    if len(array) != len(frames):
        raise InputError(f"there are atom_parameters of {len(array)} frames and {len(frames)} frames; expected those of each, or one for all")
    return list(array)


def _no_frames(kind: Any, n: int) -> Any:
    parts = (np.empty(0), np.empty((0, n, 3)), np.empty((0, 3, 3)), np.empty((0, n)), np.empty((0, n, 3, 3)))
    return kind(*parts[:len(kind._fields)])


def periodic_cell(positions: np.ndarray, cell: np.ndarray, pbc: Any, cutoff: float) -> Optional[np.ndarray]:
    """Return the cell that gives the images that `pbc` means: [3, 3], or None for none.

    The library knows all directions periodic or none. Along a direction that is not, the cell becomes so long that no
    image is within the cutoff, perpendicular to the periodic ones: neighbours are the same. Raises InputError where a
    periodic direction has no cell vector.
    """
    periodic = np.broadcast_to(np.asarray(pbc, bool), 3)
    if not periodic.any():
        return None
    if periodic.all():
        return cell
    kept = cell[periodic]
    if np.linalg.matrix_rank(kept) < len(kept):
        raise InputError(f"periodic along {periodic.tolist()}, but the cell is {cell.tolist()}")
    result = np.array(cell, float)
    free = np.linalg.svd(kept)[2][len(kept):]  # unit vectors perpendicular to the periodic ones
    heights = positions @ free.T if len(positions) else np.zeros((1, len(free)))
    lengths = np.ptp(heights, axis=0) + 2 * cutoff + 1
    result[~periodic] = free * lengths[:, None]
    if np.linalg.det(result) < 0:
        result[np.flatnonzero(~periodic)[0]] *= -1
    return result


__all__ = ["AtomicResult", "Deviation", "InternalError", "Potential", "Result", "periodic_cell"]
