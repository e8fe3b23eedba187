"""Labelled configurations of Python as a file that `dpmd train` reads."""
from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Union

import numpy as np

from ._files import optional
from .errors import InputError

if TYPE_CHECKING:
    import ase


def write_frames(path: Union[str, Path], frames: Any, *, split: float = 0, seed: int = 0) -> tuple[Path, Optional[Path]]:
    """Write labelled configurations as extended XYZ, in 17 digits, which `dpmd train` and `dpmd test` read.

    frames: a list of ase.Atoms with energies and forces (of a calculator, or as `energy` and `forces` in info and
    arrays), an ASE database (its path or connection), or dpdata's LabeledSystem. split: the share that goes to
    NAME.validation.xyz instead, drawn at random with `seed`. Returns both files; the second is None without a split.

    Labels: the free energy where a calculator tells it, since forces are its gradient, else the energy (eV); forces
    (eV/angstrom); the virial -stress * volume (eV) where there is a stress. Raises InputError for a frame without
    energy or forces, with a label that is no number, or whose calculator has computed other atoms since, as one that
    frames share has; then nothing is written.
    """
    path = Path(path)
    if not 0 <= split < 1:
        raise InputError(f"split is {split}; expected a share of at least 0 and below 1")
    lines = [_frame_text(atoms, i) for i, atoms in enumerate(_frames(frames))]
    if not lines:
        raise InputError("there are no frames to write")
    order = list(range(len(lines)))
    random.Random(seed).shuffle(order)
    n_held = round(split * len(lines))
    if split and not 0 < n_held < len(lines):
        raise InputError(f"split {split} of {len(lines)} frames leaves {n_held} of them for validation: none may be empty")
    held = set(order[:n_held])
    _replace(path, "".join(one for i, one in enumerate(lines) if i not in held))
    if not held:
        return path, None
    validation = path.with_name(f"{path.stem}.validation{path.suffix or '.xyz'}")
    _replace(validation, "".join(one for i, one in enumerate(lines) if i in held))
    return path, validation


def _frames(frames: Any) -> Iterator[ase.Atoms]:
    if isinstance(frames, (str, Path)):
        if "://" not in str(frames) and not Path(frames).is_file():  # connect() would make an empty one
            raise InputError(f"{frames}: there is no such database")
        frames = optional("ase.db", "a database").connect(str(frames))
    if hasattr(frames, "select"):
        for row in frames.select():
            yield row.toatoms()
    elif hasattr(frames, "data") and isinstance(frames.data, Mapping):
        yield from _of_dpdata(frames.data)
    elif hasattr(frames, "get_positions"):
        yield frames
    else:
        yield from frames


def _of_dpdata(data: Mapping[str, Any]) -> Iterator[ase.Atoms]:
    """Return the frames of dpdata's dictionary: coords [n_frames, n_atoms, 3], cells, energies, forces, virials."""
    ase = optional("ase", "dpdata's systems")
    singlepoint = optional("ase.calculators.singlepoint", "dpdata's systems")
    missing = [name for name in ("coords", "cells", "energies", "forces") if name not in data]
    if missing:
        raise InputError(f"the system has no {', '.join(missing)}: a LabeledSystem has them")
    symbols = [data["atom_names"][i] for i in data["atom_types"]]
    for i, positions in enumerate(data["coords"]):
        atoms = ase.Atoms(symbols, positions, cell=data["cells"][i], pbc=not data.get("nopbc", False))
        labels = {"energy": float(data["energies"][i]), "forces": np.asarray(data["forces"][i])}
        if "virials" in data and atoms.cell.volume > 0:
            tensor = -np.asarray(data["virials"][i]) / atoms.cell.volume
            labels["stress"] = tensor[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
        atoms.calc = singlepoint.SinglePointCalculator(atoms, **labels)
        yield atoms


def _results(atoms: ase.Atoms, number: int) -> dict[str, Any]:
    """Return what the calculator of a frame has found. Raises InputError where that was for other atoms."""
    if not hasattr(atoms, "calc"):
        raise InputError(f"frame {number} is a {type(atoms).__name__}; expected an ase.Atoms")
    found = dict(atoms.calc.results) if atoms.calc is not None else {}
    computed = getattr(atoms.calc, "atoms", None)
    if not found or computed is None:
        return found
    compare = optional("ase.calculators.calculator", "labels of a calculator").compare_atoms
    if changed := compare(computed, atoms, excluded_properties={"initial_charges", "initial_magmoms"}):
        raise InputError(f"frame {number}: its calculator has the results of other {', '.join(changed)}. Compute it again; if frames share a "
                         "calculator, keep each one's results: atoms.calc = SinglePointCalculator(atoms, **atoms.calc.results)")
    return found


def _frame_text(atoms: ase.Atoms, number: int) -> str:
    found = _results(atoms, number)
    energy = found.get("free_energy", found.get("energy", atoms.info.get("energy")))
    forces = found.get("forces", atoms.arrays.get("forces"))
    if energy is None or forces is None:
        lacks = " and ".join(name for name, value in (("energy", energy), ("forces", forces)) if value is None)
        raise InputError(f"frame {number} ({atoms.get_chemical_formula()}) has no {lacks}: compute them, or leave the frame out")
    forces = np.asarray(forces, float)
    if forces.shape != (len(atoms), 3) or not np.isfinite(forces).all() or not np.isfinite(energy):
        raise InputError(f"frame {number}: energy {energy} and forces of shape {list(forces.shape)}: expected finite numbers, [{len(atoms)}, 3]")
    words = []
    if atoms.cell.rank == 3:
        words.append(f'Lattice="{_numbers(np.asarray(atoms.cell))}"')
    elif atoms.pbc.any():
        raise InputError(f"frame {number}: periodic along {atoms.pbc.tolist()}, but its cell has {atoms.cell.rank} vectors")
    words += ["Properties=species:S:1:pos:R:3:forces:R:3", f"energy={float(energy)!r}"]
    if "stress" in found and atoms.cell.rank == 3:
        stress = np.asarray(found["stress"], float)
        if not np.isfinite(stress).all():
            raise InputError(f"frame {number}: stress {stress.ravel().tolist()}: expected finite numbers")
        tensor = stress if stress.shape == (3, 3) else stress[[0, 5, 4, 5, 1, 3, 4, 3, 2]].reshape(3, 3)
        words.append(f'virial="{_numbers(-tensor * atoms.cell.volume)}"')
    words.append('pbc="{}"'.format(" ".join("FT"[int(one)] for one in atoms.pbc)))
    rows = [f"{symbol} {_numbers(position)} {_numbers(force)}\n"
            for symbol, position, force in zip(atoms.get_chemical_symbols(), atoms.positions, forces)]
    return f"{len(atoms)}\n{' '.join(words)}\n{''.join(rows)}"


def _numbers(values: Any) -> str:
    return " ".join(repr(float(one)) for one in np.asarray(values).ravel())


def _replace(path: Path, text: str) -> None:
    """Write a file so that a former one stays whole until the new one is."""
    draft = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
