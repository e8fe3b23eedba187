"""The trajectory of a molecular dynamics run, as ASE's Atoms or as arrays, frame by frame."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Union, overload

import h5py
import numpy as np

from ._files import optional, read, text, texts
from .errors import InputError

if TYPE_CHECKING:
    import ase

_GROUP = "particles/atoms"


class Trajectory(Sequence["ase.Atoms"]):
    """Frames of trajectory.h5 (H5MD), read where they are used; grows while the run writes.

    `trajectory[i]` is an ase.Atoms with positions (angstrom), cell, velocities (in ASE's unit), masses, forces
    where they were written, and step and time (ps) in `info`. Slices are trajectories, too.

    unwrapped: positions leave the cell where atoms did, as mean-square displacements need it.
    """

    def __init__(self, path: Union[str, Path], unwrapped: bool = False, frames: Union[range, None] = None) -> None:
        self.path = Path(path)
        self.is_unwrapped = unwrapped
        self._frames = frames
        if not read(self.path, lambda file: _GROUP in file):
            raise InputError(f"{self.path}: has no atoms ({_GROUP}), so it is no trajectory of ours")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path.absolute(), self.is_unwrapped, self._frames)

    def unwrapped(self) -> Trajectory:
        """Return the same frames with positions that are not folded back into the cell."""
        return Trajectory(self.path, True, self._frames)

    def _range(self, group: h5py.Group) -> range:
        if self._frames is not None:
            return self._frames
        growing = [group[name]["value"] for name in ("position", "velocity", "image") if name in group]
        return range(min([group["position/step"].shape[0], *(member.shape[0] for member in growing)]))

    def __len__(self) -> int:
        return len(self._read(self._range))

    def _read(self, look: Callable[[h5py.Group], Any]) -> Any:
        return read(self.path, lambda file: look(file[_GROUP]))

    @overload
    def __getitem__(self, key: int) -> ase.Atoms: ...
    @overload
    def __getitem__(self, key: slice) -> Trajectory: ...

    def __getitem__(self, key: Union[int, slice]) -> Any:
        frames = self._read(self._range)
        if isinstance(key, slice):
            return Trajectory(self.path, self.is_unwrapped, frames[key])
        try:
            frame = frames[key]
        except IndexError:
            raise IndexError(f"frame {key} of {len(frames)} of {self.path}") from None
        return self._read(lambda group: self._atoms(group, frame))

    def __iter__(self) -> Iterator[ase.Atoms]:
        i = 0
        while i < len(self):
            yield self[i]
            i += 1

    def _atoms(self, group: h5py.Group, frame: int) -> ase.Atoms:
        ase = optional("ase", "a trajectory as ASE's Atoms")
        units = optional("ase.units", "a trajectory as ASE's Atoms")
        names = texts(group.attrs["type_names"])
        species = group["species"][...]
        from ase.data import atomic_numbers

        numbers = np.array([atomic_numbers.get(name, 0) for name in names])[species]
        cell = self._cell(group, frame)
        atoms = ase.Atoms(
            numbers=numbers, positions=self._positions(group, frame, cell), cell=cell, masses=group["mass"][...],
            pbc=[word == "periodic" for word in texts(group["box"].attrs["boundary"])],
            celldisp=group["box/origin/value"][frame] if "box/origin" in group else None,
            info={"step": int(group["position/step"][frame]), "time_ps": float(group["position/time"][frame])})
        if not np.all(numbers):  # names that are no elements
            atoms.new_array("type_name", np.array(names)[species])
        if "velocity" in group:
            atoms.set_velocities(group["velocity/value"][frame].astype(float) / (1000 * units.fs))
        if "force" in group:
            from ase.calculators.singlepoint import SinglePointCalculator

            forces = group["force/value"]
            factor = units.kJ / units.mol if text(forces.attrs["unit"]).startswith("kJ") else 1
            atoms.calc = SinglePointCalculator(atoms, forces=forces[frame].astype(float) * factor)
        return atoms

    @staticmethod
    def _cell(group: h5py.Group, frame: int) -> np.ndarray:
        edges = group["box/edges"]
        return edges["value"][frame] if isinstance(edges, h5py.Group) else np.asarray(edges)

    def _positions(self, group: h5py.Group, frame: int, cell: np.ndarray) -> np.ndarray:
        positions = group["position/value"][frame].astype(float)
        if not self.is_unwrapped:
            return positions
        if "image" not in group:
            raise InputError(f"{self.path}: has no images of atoms, so positions cannot be unwrapped")
        return positions + group["image/value"][frame] @ cell

    @property
    def positions(self) -> np.ndarray:
        """Positions of all frames (angstrom): [n_frames, n_atoms, 3]. Read now."""
        return self._read(lambda group: np.stack([self._positions(group, i, self._cell(group, i)) for i in self._range(group)]))

    @property
    def velocities(self) -> np.ndarray:
        """Velocities of all frames (angstrom/ps): [n_frames, n_atoms, 3]. Read now."""
        def look(group: h5py.Group) -> np.ndarray:
            if "velocity" not in group:
                raise InputError(f"{self.path}: has no velocities; trajectory.velocities writes them")
            return np.stack([group["velocity/value"][i].astype(float) for i in self._range(group)])

        return self._read(look)

    @property
    def times(self) -> np.ndarray:
        """Times of the frames (ps): [n_frames]."""
        return self._read(lambda group: group["position/time"][...][list(self._range(group))])

    @property
    def symbols(self) -> list[str]:
        """Name of the type of each atom: [n_atoms]."""
        return self._read(lambda group: np.array(texts(group.attrs["type_names"]))[group["species"][...]].tolist())

    def __repr__(self) -> str:
        return f"<Trajectory of {len(self)} frames, {len(self.symbols)} atoms: {self.path}>"
