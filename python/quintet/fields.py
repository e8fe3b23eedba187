"""Fields of a run as xarray data sets, with coordinates, units and the names of CF.

Values stay in the file until they are used: opening a large run reads coordinates alone.
"""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional

import h5py
import numpy as np

from ._files import axes_of, optional, read, text, texts
from .errors import InputError

if TYPE_CHECKING:
    import xarray

# https://cfconventions.org: attributes by the name of a coordinate or variable.
_CF = {
    "time": {"standard_name": "time", "axis": "T"},
    "lat": {"standard_name": "latitude", "axis": "Y"},
    "lon": {"standard_name": "longitude", "axis": "X"},
    "x": {"axis": "X"},
    "y": {"axis": "Y"},
    "z": {"axis": "Z"},
}
_V_NAMES, _X_NAMES = ("vx", "vy", "vz"), ("x", "y", "z")


def _lazy(path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype, part: tuple[Any, ...] = ()) -> Any:
    """Return a data set that is read where it is used. `part`: an index into its last axes; the rest is [shape]."""
    indexing = optional("xarray.core.indexing", "fields")
    from ._lazy import FileArray

    return indexing.LazilyIndexedArray(FileArray(path, name, shape, dtype, part))


def _attributes(name: str, dataset: h5py.Dataset) -> dict[str, Any]:
    attributes: dict[str, Any] = {"units": text(dataset.attrs.get("units", "1"))}
    if description := text(dataset.attrs.get("description", "")):
        attributes["long_name"] = description.rstrip(".")
    attributes.update(_CF.get(name, {}))
    return attributes


def _dataset(variables: dict[str, Any], coordinates: dict[str, Any], attributes: dict[str, Any]) -> xarray.Dataset:
    xarray = optional("xarray", "fields")
    return xarray.Dataset(variables, coordinates, {"Conventions": "CF-1.11", **attributes})


def header(file: h5py.File) -> dict[str, str]:
    """Return what a file says of its origin: program, version, date, title."""
    found = {key: text(file.attrs[key]) for key in ("program", "version", "date", "run") if key in file.attrs}
    return {"source": f"Quintet {found['version']}, {found['program']}", **found} if {"program", "version"} <= set(found) else found


def group_dataset(path: Path, group: str) -> xarray.Dataset:
    """Return all arrays of one group, lazily; data sets that are their own only axis are coordinates.

    Arrays over frames get the times of the frames. Where the run still writes, the frames that all have.
    """
    def look(file: h5py.File) -> xarray.Dataset:
        if group not in file or not isinstance(file[group], h5py.Group):
            raise InputError(f"{path}: there is no group '{group}'; there are: {', '.join(_groups(file))}")
        members = {name: member for name, member in file[group].items()
                   if isinstance(member, h5py.Dataset) and not name.endswith("_checksum") and member.dtype.kind in "fiu"}
        frames = min((member.shape[0] for member in members.values() if member.ndim and axes_of(member)[0] == "frame"), default=0)
        times = _times(file, members, frames)
        coordinates: dict[str, Any] = {}
        variables: dict[str, Any] = {}
        for name, member in members.items():
            axes, shape = axes_of(member), member.shape
            if name == "time" and axes == ["frame"]:
                continue
            if axes == [name]:
                coordinates[name] = ((name,), member[...], _attributes(name, member))
                continue
            if axes[:1] == ["frame"]:
                axes, shape = ["time" if times is not None else "frame", *axes[1:]], (frames, *shape[1:])
            variables[name] = (tuple(axes), _lazy(path, f"{group}/{name}", shape, member.dtype), _attributes(name, member))
        if times is not None:
            coordinates["time"] = times
        _phase_space(file, variables, coordinates)
        return _dataset(variables, coordinates, {"title": f"{path.parent.name}: {group}", **header(file)})

    return read(path, look)


def _groups(file: h5py.File) -> list[str]:
    found: list[str] = []
    file.visititems(lambda name, member: found.append(name) if isinstance(member, h5py.Group) else None)
    return found


def _times(file: h5py.File, members: dict[str, h5py.Dataset], frames: int) -> Optional[tuple[Any, ...]]:
    """Return the coordinate of time of the first so many frames: of the group itself, else of `frames`."""
    if not any(member.ndim and axes_of(member)[0] == "frame" for member in members.values()):
        return None
    source = members.get("time", file.get("frames/time"))
    if source is None or source.shape[0] < frames:
        return None
    return ("time",), source[:frames], _attributes("time", source)


def _phase_space(file: h5py.File, variables: dict[str, Any], coordinates: dict[str, Any]) -> None:
    """Add the coordinates of pictures of phase space: the centres of equal parts of each cell of the species.

    A velocity axis in which species differ becomes one of each, such as vx_ions.
    """
    owners: dict[str, str] = {}
    points: dict[str, dict[str, tuple[int, Optional[np.ndarray]]]] = {}
    for name, (axes, array, _) in variables.items():
        for species in file.get("species", {}):
            if len(axes) < 2 or name != f"{species}_{axes[-1]}_{axes[-2]}":
                continue
            owners[name] = species
            for axis, size in zip(axes, array.shape):
                if axis in _X_NAMES + _V_NAMES:
                    points.setdefault(axis, {})[species] = size, _cell_points(file[f"species/{species}"], axis, size)
    for axis, of_species in points.items():
        first, *others = of_species.values()
        shared = all(size == first[0] and _same(one, first[1]) for size, one in others)
        if not shared and axis in _V_NAMES:
            for name, species in owners.items():
                axes, *rest = variables[name]
                variables[name] = (tuple(f"{axis}_{species}" if one == axis else one for one in axes), *rest)
        for species, (_, one) in of_species.items():
            own = axis if shared or axis in _X_NAMES else f"{axis}_{species}"
            if one is not None and own not in coordinates:
                coordinates[own] = ((own,), one, {"units": "1", **_CF.get(axis, {})})


def _same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other))


def _cell_points(species: h5py.Group, axis: str, size: int) -> Optional[np.ndarray]:
    """Return the centres of `size` equal parts of the cells of an axis: [size]; None where they do not divide it."""
    cdim = int(species.attrs["cdim"])
    d = _X_NAMES.index(axis) if axis in _X_NAMES else cdim + _V_NAMES.index(axis)
    if d >= len(species.attrs["cells"]) or (axis in _X_NAMES and d >= cdim):
        return None
    edges = species[f"edges_{axis}"][...] if f"edges_{axis}" in species else np.linspace(
        species.attrs["lower"][d], species.attrs["upper"][d], int(species.attrs["cells"][d]) + 1)
    n, rest = divmod(size, len(edges) - 1)
    if rest or not n:
        return None
    parts = (np.arange(n) + 0.5) / n
    return (edges[:-1, None] + parts * np.diff(edges)[:, None]).ravel()


def series_dataset(path: Path) -> xarray.Dataset:
    """Return the fields of a file `quintet.field_series` (docs/fields_over_time.md), lazily: [sample, time, axes...].

    Components of vectors are fields of their own, under the symbols that equations use. Of several samples,
    the frames that all have.
    """
    def look(file: h5py.File) -> xarray.Dataset:
        dimensions = file["dimensions"]
        names = texts(dimensions.attrs["spatial_dims"])
        fields = [(f"{group}/{name}", member) for group in ("t0_fields", "t1_fields")
                  for name, member in file.get(group, {}).items()]
        frames = min([dimensions["time"].shape[0], *(member.shape[1] for _, member in fields)])
        if "n_frames" in file:
            frames = min(frames, int(np.min(file["n_frames"][...])))
        coordinates: dict[str, Any] = {"time": (("time",), dimensions["time"][:frames], _attributes("time", dimensions["time"]))}
        for name in names:
            attributes = _attributes(name, dimensions[name])
            for end in ("lower", "upper"):
                if end in dimensions[name].attrs:
                    attributes[end] = float(dimensions[name].attrs[end])
            attributes["periodic"] = int(f"boundary_conditions/{name}_periodic" in file)
            coordinates[name] = ((name,), dimensions[name][...], attributes)
        variables: dict[str, Any] = {}
        for where, member in fields:
            symbols = texts(member.attrs["symbol"]) if "symbol" in member.attrs else [where.rsplit("/", 1)[-1]]
            is_vector = member.ndim == 3 + len(names)
            shape = (member.shape[0], frames, *member.shape[2:2 + len(names)])
            for i, symbol in enumerate(symbols):
                attributes = _attributes(symbol, member)
                if is_vector:
                    attributes["long_name"] = f"{where.rsplit('/', 1)[-1]} along {names[i]}"
                variables[symbol] = (("sample", "time", *names), _lazy(path, where, shape, member.dtype, (i,) if is_vector else ()),
                                     attributes)
        if "mask" in file:
            variables["mask"] = (tuple(names), file["mask"][...], _attributes("mask", file["mask"]))
        parameters = {text(member.attrs.get("symbol", name)): float(member[()])
                      for name, member in file.get("scalars", {}).items() if member.shape == ()}
        return _dataset(variables, coordinates, {"title": path.parent.name, **header(file), **parameters})

    return read(path, look)


def modes_dataset(path: Path) -> xarray.Dataset:
    """Return modes of a field on their grid: modes [mode, lat, lon], mean [lat, lon], coefficients [time, mode].

    Land is NaN. Times are dates. Attributes tell the field's `variable`, `long_name` and `standard_name` in its file.
    """
    decode = optional("xarray", "fields").decode_cf
    def look(file: h5py.File) -> xarray.Dataset:
        sea = file["mask"][...].astype(bool)

        def on_grid(values: np.ndarray) -> np.ndarray:
            grid = np.full((*values.shape[:-1], *sea.shape), np.nan)
            grid[..., sea] = values
            return grid

        coordinates = {name: ((name,), file[name][...], _attributes(name, file[name])) for name in ("lat", "lon", "time")}
        coordinates["time"][2]["calendar"] = text(file.attrs.get("calendar", "standard"))
        variables: dict[str, Any] = {"mask": (("lat", "lon"), file["mask"][...], _attributes("mask", file["mask"]))}
        for name in _present(file, ("mean", "weights", "modes")):
            axes = ("mode", "lat", "lon") if name == "modes" else ("lat", "lon")
            variables[name] = (axes, on_grid(file[name][...]), _attributes(name, file[name]))
        for name in _present(file, ("coefficients", "singular_values")):
            variables[name] = (tuple(axes_of(file[name])), file[name][...], _attributes(name, file[name]))
        names = {key: text(file.attrs[key]) for key in ("variable", "long_name", "standard_name") if key in file.attrs}
        return decode(_dataset(variables, coordinates, {"title": path.parent.name, **names, **header(file)}))

    return read(path, look)


def _present(file: h5py.File, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in file]
