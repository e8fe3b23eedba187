"""Deep Potentials as a calculator of ASE: `atoms.calc = quintet.ase.Calculator("model.dp")`."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._files import optional
from .errors import InputError
from .potential import Files, Potential, periodic_cell

optional("ase", "quintet.ase")
from ase import Atoms  # noqa: E402
from ase.calculators.calculator import Calculator as _Calculator  # noqa: E402
from ase.calculators.calculator import PropertyNotImplementedError, all_changes  # noqa: E402
from ase.data import atomic_numbers  # noqa: E402


class Calculator(_Calculator):
    """Energy, forces and stress of a Deep Potential.

    files: a model, or several of the same types: the first moves the atoms, and `results["deviation"]` is asked for by
    `deviation(atoms)`. types: the model's type of each chemical symbol, {"Cu": "copper"}, where names are no symbols.
    precision, device, atom_parameters: as Potential's. A model that reads numbers of each atom (aparam) takes those of
    atoms.arrays["aparam"], [n_atoms, n], else of atoms.info["aparam"], unless atom_parameters gives those of the model's
    types.

    Units are ASE's: eV, angstrom; stress in eV/angstrom^3, positive where pulled, xx yy zz yz xz xy. `stresses` are the
    atoms' virials over the volume of the cell over the number of atoms, so that their mean is the stress.
    """

    implemented_properties = ["energy", "free_energy", "forces", "stress", "energies", "stresses"]
    discard_results_on_any_change = True

    def __init__(self, files: Union[Files, Potential], types: Optional[dict[str, str]] = None, precision: Optional[str] = None,
                 device: str = "cpu", atom_parameters: Optional[Mapping[str, Any]] = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        if isinstance(files, Potential) and atom_parameters is not None:
            raise InputError("atom_parameters: a Potential takes them when it is made")
        self.potential = files if isinstance(files, Potential) else Potential(files, precision, device, atom_parameters)
        self.names = _names(types, self.potential.type_names)

    def calculate(self, atoms: Optional[Atoms] = None, properties: Optional[Sequence[str]] = None,
                  system_changes: Sequence[str] = all_changes) -> None:
        super().calculate(atoms, properties, system_changes)
        if self.atoms is None:
            raise InputError("the calculator has no atoms yet: atoms.calc = calculator, or calculator.get_potential_energy(atoms)")
        properties = properties or ["energy"]
        atomic = "energies" in properties or "stresses" in properties
        found: Any = self.potential(*self._arguments(), atomic=atomic, atom_parameters=self.potential.of_atoms(self._known))
        self.results = {"energy": found.energy, "free_energy": found.energy, "forces": found.forces}
        volume = self._known.cell.volume
        if volume > 0:
            self.results["stress"] = _voigt(-found.virial / volume)
        elif "stress" in properties or "stresses" in properties:
            raise PropertyNotImplementedError("stress needs a cell of three vectors")
        if atomic:
            self.results["energies"] = found.energies
            if volume > 0:
                self.results["stresses"] = _voigt(-found.virials * (len(self._known) / volume))

    def check_state(self, atoms: Atoms, tol: float = 1e-15) -> list[str]:
        """Return what has changed since the last calculation, also of the numbers of atoms that the model reads."""
        changes: list[str] = super().check_state(atoms, tol=tol)
        if self.atoms is not None and not np.array_equal(*(_numbers(self.potential.of_atoms(one)) for one in (self.atoms, atoms))):
            changes.append("aparam")
        return changes

    def set(self, **settings: Any) -> dict[str, Any]:
        """Refuse settings: they are given when a calculator is made. ASE would keep a name that nobody reads."""
        for name in settings:
            raise InputError(f"a calculator has no setting '{name}' that could be set: it takes types, precision, device and atom_parameters when it is made")
        return {}

    @property
    def _known(self) -> Any:
        return self.atoms

    def _arguments(self) -> tuple[Any, ...]:
        atoms = self._known
        names = [self.names.get(symbol, symbol) for symbol in atoms.get_chemical_symbols()]
        positions = np.ascontiguousarray(atoms.positions)
        return (positions, periodic_cell(positions, np.asarray(atoms.cell), atoms.pbc, self.potential.cutoff),
                self.potential.types(names, len(atoms)))

    def deviation(self, atoms: Atoms) -> Any:
        """Return where the models disagree about a configuration, see Potential.deviation()."""
        self.atoms = atoms.copy()
        return self.potential.deviation(*self._arguments(), atom_parameters=self.potential.of_atoms(atoms))


def _names(types: Any, known: Sequence[str]) -> dict[str, str]:
    """Return the model's type of each symbol that has another name. Raises InputError for what is no symbol or no type."""
    if types is not None and not isinstance(types, Mapping):
        raise InputError(f"types are {types!r:.80}; expected the model's type of each symbol, such as {{'Cu': 'copper'}}")
    names = dict(types or {})
    for symbol, name in names.items():
        if symbol not in atomic_numbers:
            raise InputError(f"types: '{symbol}' is no chemical symbol; expected {{symbol: type of the model}}, such as {{'Cu': 'copper'}}")
        if name not in known:
            raise InputError(f"the model has no type '{name}'; it has: {', '.join(known)}")
    return names


def _numbers(values: Any) -> np.ndarray:
    return np.empty(0) if values is None else np.asarray(values)


def _voigt(tensor: np.ndarray) -> np.ndarray:
    """Return xx yy zz yz xz xy of the symmetric part of [..., 3, 3]."""
    tensor = (tensor + np.swapaxes(tensor, -1, -2)) / 2
    return tensor[..., [0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
