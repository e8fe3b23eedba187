"""Tables of a run: columns of one length, as pandas data frames."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from ._files import axes_of, optional, text
from .errors import InputError

if TYPE_CHECKING:
    import pandas

_SKIPPED = ("report", "coefficients", "pictures", "fields", "frames", "species", "particles")


def is_table(group: h5py.Group) -> bool:
    """Say whether the data sets of a group are the columns of a table: two or more that share their first axis."""
    columns = _columns(group)
    return len(columns) >= 2


def _columns(group: h5py.Group) -> dict[str, h5py.Dataset]:
    """Return the columns of a table in the order in which they were made, without checksums.

    The first axis that most data sets have is that of the rows; data sets with another one are not columns.
    """
    datasets = {name: member for name, member in group.items()
                if isinstance(member, h5py.Dataset) and member.ndim in (1, 2) and not name.endswith("_checksum")}
    if not datasets:
        return {}
    firsts = [axes_of(member)[0] for member in datasets.values()]
    rows = max(sorted(set(firsts)), key=firsts.count)
    checksum = next((group[name] for name in group if name.endswith("_checksum")), None)
    if checksum is not None and "covers" in checksum.attrs:
        order = [text(path).rsplit("/", 1)[-1] for path in checksum.attrs["covers"]]
        datasets = {name: datasets[name] for name in [*[n for n in order if n in datasets],
                                                      *[n for n in datasets if n not in order]]}
    columns = {name: member for name, member in datasets.items() if axes_of(member)[0] == rows}
    return {name: columns[name] for name in sorted(columns, key=lambda name: name != rows)}  # what it is a table over first


def names(file: h5py.File) -> list[str]:
    """Return the paths of all tables in a file."""
    found: list[str] = []

    def visit(name: str, member: Any) -> None:
        if isinstance(member, h5py.Group) and name.split("/")[0] not in _SKIPPED and is_table(member):
            found.append(name)

    file.visititems(visit)
    return found


def match(wanted: str, available: list[str]) -> str:
    """Return the table that is meant: its path, or its last names where no other table ends like that.

    Raises InputError that lists what there is.
    """
    if wanted in available:
        return wanted
    found = [name for name in available if f"/{name}".endswith(f"/{wanted}")]
    found = found or [name for name in available if f"/{wanted}/" in f"/{name}/"]
    if len(found) == 1:
        return found[0]
    there = ", ".join(available) if available else "none"
    raise InputError(f"there is no table '{wanted}'; there are: {there}" if not found
                     else f"'{wanted}' may be any of {', '.join(found)}")


def table(group: h5py.Group, where: str) -> pandas.DataFrame:
    """Read a table: [n_rows, n_columns].

    A column of several numbers a row becomes several columns, NAME_0, NAME_1, ... Where the run still writes,
    the rows that all columns have. `attrs["units"]` and `attrs["descriptions"]` say unit and meaning of each
    column.
    """
    pandas = optional("pandas", "a table")
    columns = _columns(group)
    rows = min((member.shape[0] for member in columns.values()), default=0)
    values: dict[str, np.ndarray] = {}
    units: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    axis = "row"
    for name, member in columns.items():
        axis = axes_of(member)[0]
        data = member[:rows]
        if name == "step" and np.all(np.mod(data, 1) == 0):
            data = data.astype(np.int64)
        parts = {name: data} if member.ndim == 1 else {f"{name}_{i}": data[:, i] for i in range(member.shape[1])}
        for part, numbers in parts.items():
            values[part] = numbers
            units[part] = text(member.attrs.get("units", "1"))
            descriptions[part] = text(member.attrs.get("description", ""))
    frame = pandas.DataFrame(values)
    frame.index.name = None if axis in frame.columns else axis
    frame.attrs.update(name=where, units=units, descriptions=descriptions)
    return frame
