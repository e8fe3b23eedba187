"""xarray's data sets as a file of fields over time, which `podlstm fit` and `meshfreeflow train` read."""
from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

import h5py
import numpy as np

from ._files import optional
from .errors import InputError

if TYPE_CHECKING:
    import xarray

_LONG_NAMES = {"Ra": "Rayleigh", "Pr": "Prandtl"}
_PARAMETERS = (*_LONG_NAMES, "slip_bottom", "slip_top", "slip_sides", "heated_sides")  # the last four: kinds of walls, 0 or 1


def write_fields(path: Union[str, Path], dataset: xarray.Dataset, fields: Optional[Sequence[str]] = None, *,
                 periodic: Union[Sequence[str], None] = None, bounds: Optional[Mapping[str, tuple[float, float]]] = None,
                 parameters: Optional[Mapping[str, float]] = None, mask: Any = None) -> Path:
    """Write fields over time as `quintet.field_series` (docs/fields_over_time.md), which podlstm and meshfreeflow read.

    dataset: variables with dimensions time and one to three axes, and perhaps `sample`; coordinates of time and each
    axis. fields: which variables; default: all that have time and an axis. periodic: axes that are; default: those
    whose coordinate has the attribute `periodic`. bounds: ends of an axis (or its period), default: attributes `lower`
    and `upper` of the coordinate, else its first and last point; a periodic axis ends a spacing later, and
    needs bounds where it has one point or its points are unevenly spaced. parameters:
    numbers such as {"Ra": 1e6, "Pr": 1}; default: the data set's attributes of these names, and of
    the kinds of walls (slip_bottom, ...). mask: [axes...] 1: a value,
    0: none; default: the variable `mask`, else where all values are numbers; there values must be numbers.

    Raises InputError: a calendar other than ours, no coordinates, axes that differ, times or coordinates that do not ascend, or
    twice, values that are no real numbers within the mask, parameters that are not finite.
    """
    path = Path(path)
    if not hasattr(dataset, "data_vars"):
        more = f": array.to_dataset(name=\"{dataset.name or 'b'}\") makes one" if hasattr(dataset, "to_dataset") else ""
        raise InputError(f"the fields are a {type(dataset).__name__}; expected an xarray.Dataset{more}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: is a directory; expected a file" if path.is_dir() else f"{path.parent}: there is no such directory")
    times, time_units = _times(dataset)
    fields, periodic = _list(fields, "fields"), _list(periodic, "periodic axes")
    for what, given in (("bounds", bounds), ("parameters", parameters)):
        if not isinstance(given, (Mapping, type(None))):
            raise InputError(f"{what} are {given!r:.80}; expected values by their names, {{name: ...}}")
    names = [str(name) for name in (fields or dataset.data_vars) if fields or "time" in dataset[name].dims and len(dataset[name].dims) > 1]
    if not names:
        raise InputError(f"no variable of the data set has time and an axis of space; it has {', '.join(map(str, dataset.data_vars)) or 'none'}")
    for name in names:
        if name not in dataset:
            raise InputError(f"the data set has no variable '{name}'; it has {', '.join(map(str, dataset.data_vars)) or 'none'}")
    axes = [str(one) for one in dataset[names[0]].dims if one not in ("time", "sample")]
    if not 1 <= len(axes) <= 3:
        raise InputError(f"{names[0]} has the axes {axes} besides time and sample; expected 1 to 3")
    values: dict[str, Any] = {}
    for name in names:
        if set(dataset[name].dims) - {"sample"} != {"time", *axes}:
            raise InputError(f"{name} has the dimensions {list(dataset[name].dims)}, {names[0]} {list(dataset[names[0]].dims)}")
        if dataset[name].dtype.kind not in "fiub":
            raise InputError(f"{name} holds {dataset[name].dtype}; expected real numbers")
        array = dataset[name] if "sample" in dataset[name].dims else dataset[name].expand_dims("sample")
        values[name] = array.transpose("sample", "time", *axes)
    samples = {one.sizes["sample"] for one in values.values()}
    if len(samples) > 1:
        raise InputError(f"fields have {sorted(samples)} samples; all must have the same number")
    if samples == {0}:
        raise InputError("the fields have no samples; expected one or more")
    sea = _mask(dataset, values, axes, mask)
    with h5py.File(draft := path.with_name(f".{os.getpid()}.{path.name}"), "w") as file:
        try:
            _write_header(file, dataset, axes, samples.pop(), parameters)
            _write_axes(file, dataset, axes, periodic, bounds or {})
            _write_time(file, times, time_units)
            _write_values(file, values, axes, sea)
            file.close()
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    return path


def _list(names: Any, what: str) -> Optional[list[str]]:
    if not isinstance(names, (str, Iterable, type(None))):
        raise InputError(f"{what} are {names!r:.80}; expected a list of names")
    return [names] if isinstance(names, str) else None if names is None else list(names)


def _times(dataset: xarray.Dataset) -> tuple[np.ndarray, str]:
    if "time" not in dataset.coords:
        raise InputError("the data set has no coordinate 'time'")
    time = dataset["time"]
    units, calendar = str(time.attrs.get("units", "1")), str(time.attrs.get("calendar", "standard"))
    if time.dtype.kind in "MO":
        units, calendar = "days since 1970-01-01 00:00:00", str(time.encoding.get("calendar", "standard"))
        encode = optional("xarray.coding.times", "dates").encode_cf_datetime
        numbers, units, calendar = encode(time.values, units, None if time.dtype.kind == "O" else calendar, np.dtype("float64"))
    elif time.dtype.kind not in "iuf":
        raise InputError(f"times are {time.dtype}; expected numbers or dates")
    else:
        numbers = time.values
    if "since" in units and calendar.lower() not in ("standard", "gregorian", "proleptic_gregorian"):
        raise InputError(f"times have the calendar {calendar}, and a file of fields over time has none: use dataset.to_netcdf(FILE), which podlstm reads")
    return _rising(np.asarray(numbers), "time"), units


def _rising(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "iuf":
        raise InputError(f"the coordinate '{name}' holds {values.dtype}; expected numbers")
    values = values.astype(float)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise InputError(f"the coordinate '{name}' is {values.ravel()[:4].tolist()} ..., of shape {list(values.shape)}; expected finite numbers, one or more")
    again = np.flatnonzero(np.diff(np.sort(values)) == 0)
    if again.size:
        raise InputError(f"the coordinate '{name}' has {np.sort(values)[again[0]]} twice; leave one out: dataset.drop_duplicates('{name}')")
    if not (np.diff(values) > 0).all():
        raise InputError(f"the coordinate '{name}' does not ascend: {values[:4].tolist()} ...; sort it: dataset.sortby('{name}')")
    return values


def _mask(dataset: xarray.Dataset, values: Mapping[str, Any], axes: Sequence[str], mask: Any) -> Optional[np.ndarray]:
    """Return where there are values, [axes...] bool; None: everywhere. Raises InputError for values that are missing there."""
    if mask is None and "mask" in dataset and "mask" not in values:
        mask = dataset["mask"]
    shape = tuple(dataset.sizes[name] for name in axes)
    finite = np.ones(shape, bool)
    somewhere = np.zeros(shape, bool)
    for array in values.values():
        for frame in (array.isel(sample=s, time=t).values for s in range(array.sizes["sample"]) for t in range(array.sizes["time"])):
            good = np.isfinite(frame)
            finite &= good
            somewhere |= good
    if mask is None:
        given = finite
        partly = somewhere & ~finite
    else:
        given = np.asarray(mask.transpose(*axes) if hasattr(mask, "transpose") and hasattr(mask, "dims") else mask) != 0
        if given.shape != shape:
            raise InputError(f"the mask has shape {list(given.shape)}, the fields {list(shape)}")
        partly = given & ~finite
    if partly.any():
        where = [int(i[0]) for i in np.nonzero(partly)]
        raise InputError(f"{int(partly.sum())} points have values at some times only, the first at {dict(zip(axes, where))}: fill them, or leave "
                         "them out by a mask")
    if not given.any():
        raise InputError("no point has values at all times")
    return None if given.all() else given


def _write_header(file: h5py.File, dataset: xarray.Dataset, axes: Sequence[str], n_samples: int, parameters: Optional[Mapping[str, float]]) -> None:
    if parameters is None:
        parameters = {name: dataset.attrs[name] for name in _PARAMETERS if name in dataset.attrs}
    for name, value in parameters.items():
        if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
            raise InputError(f"the parameter {name} is {value}; expected a finite number")
    names = [_LONG_NAMES.get(name, name) for name in parameters]
    file.attrs.update(schema="quintet.field_series", schema_version=np.int64(1), dataset_name=str(dataset.attrs.get("title", "fields")),
                      grid_type="cartesian", n_spatial_dims=np.int64(len(axes)), n_trajectories=np.int64(n_samples))
    file.attrs.update(program="quintet.data.write_fields", version="0.1.0", git_hash="unknown", build=f"Python {platform.python_version()}",
                      host=platform.node(), date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), ranks=np.int64(1), threads=np.int64(1),
                      seed=np.uint64(0))
    file.attrs["simulation_parameters"] = np.array(names, dtype=h5py.string_dtype())
    scalars = file.create_group("scalars")
    for name, value in zip(names, parameters.values()):
        scalars[name] = float(value)
        file.attrs[name] = float(value)
        _describe(scalars[name], "1", [], f"{name}.", sample=0, time=0)
    for name, symbol in zip(names, parameters):
        scalars[name].attrs["symbol"] = symbol
    scalars.attrs["field_names"] = np.array(names, dtype=h5py.string_dtype())


def _write_axes(file: h5py.File, dataset: xarray.Dataset, axes: Sequence[str], periodic: Optional[Sequence[str]],
                bounds: Mapping[str, tuple[float, float]]) -> None:
    dimensions = file.create_group("dimensions")
    dimensions.attrs["spatial_dims"] = np.array(list(axes), dtype=h5py.string_dtype())
    for name, given in bounds.items():
        if np.shape(given) != (2,) or np.asarray(given).dtype.kind not in "iuf":
            raise InputError(f"bounds of '{name}' are {given!r:.80}; expected two numbers, (lower, upper)")
    for name in [*(periodic or []), *bounds]:
        if name not in axes:
            raise InputError(f"there is no axis '{name}'; there are: {', '.join(axes)}")
    for name in axes:
        if name not in dataset.coords:
            raise InputError(f"the axis '{name}' has no coordinate")
        points = _rising(dataset[name].values, name)
        attributes = dataset[name].attrs
        wraps = name in periodic if periodic is not None else bool(attributes.get("periodic", False))
        lower, upper = bounds.get(name, (attributes.get("lower", points[0]), attributes.get("upper", None)))
        if upper is None:
            steps = np.diff(points)
            if wraps and (not steps.size or np.ptp(steps) > 0.01 * steps.mean()):
                points_are = f"its points are {steps.min():g} to {steps.max():g} apart" if steps.size else "it has one point"
                raise InputError(f"the axis '{name}' is periodic and {points_are}, which does not tell the "
                                 f"period: give it, as bounds={{'{name}': (lower, upper)}}")
            upper = lower + (points[-1] - points[0]) * len(points) / (len(points) - 1) if wraps else points[-1]
        if not lower <= points[0] <= points[-1] <= upper:
            raise InputError(f"the axis '{name}' has points from {points[0]} to {points[-1]}, outside of its ends {lower} and {upper}")
        dimensions[name] = points
        _describe(dimensions[name], str(attributes.get("units", "1")), [name], "Coordinates of the points.", sample=0, time=0)
        dimensions[name].attrs.update(lower=float(lower), upper=float(upper))
        boundary = file.create_group(f"boundary_conditions/{name}_{'periodic' if wraps else 'wall'}")
        boundary.attrs.update(bc_type="periodic" if wraps else "wall", sample_varying=np.int64(0), time_varying=np.int64(0))
        boundary.attrs["associated_dims"] = np.array([name], dtype=h5py.string_dtype())
        boundary.attrs["associated_fields"] = np.array([], dtype=h5py.string_dtype())
        ends = np.zeros(len(points), np.uint8)
        ends[[0, -1]] = 1
        boundary["mask"] = ends


def _write_time(file: h5py.File, times: np.ndarray, units: str) -> None:
    file["dimensions/time"] = times
    _describe(file["dimensions/time"], units, ["time"], "Time of each frame.", sample=0, time=1)


def _write_values(file: h5py.File, values: Mapping[str, Any], axes: Sequence[str], sea: Optional[np.ndarray]) -> None:
    group = file.create_group("t0_fields")
    group.attrs["field_names"] = np.array(list(values), dtype=h5py.string_dtype())
    for other in ("t1_fields", "t2_fields"):
        file.create_group(other).attrs["field_names"] = np.array([], dtype=h5py.string_dtype())
    file.attrs["fields"] = np.array(list(values), dtype=h5py.string_dtype())
    for name, array in values.items():
        kind = np.float32 if array.dtype == np.float32 else np.float64
        target = group.create_dataset(name, array.shape, kind)
        for sample in range(array.shape[0]):
            for frame in range(array.shape[1]):
                one = np.asarray(array[sample, frame].values, kind)
                target[sample, frame] = one if sea is None else np.where(sea, one, 0)
        _describe(target, str(array.attrs.get("units", "1")), ["sample", "time", *axes], str(array.attrs.get("long_name", name)), sample=1, time=1)
        target.attrs["dim_varying"] = np.ones(len(axes), np.int64)
        target.attrs["symbol"] = np.array([name], dtype=h5py.string_dtype())
    first = next(iter(values.values()))
    file["n_frames"] = np.full(first.shape[0], first.shape[1], np.int64)
    _describe(file["n_frames"], "1", ["sample"], "Whole frames of each sample.")
    if sea is not None:
        file["mask"] = sea.astype(np.uint8)
        _describe(file["mask"], "1", list(axes), "1 where there is a value, 0 where there is none.")


def _describe(dataset: h5py.Dataset, units: str, axes: Sequence[str], description: str, **varying: int) -> None:
    dataset.attrs["units"] = units
    dataset.attrs["axes"] = np.array(list(axes), dtype=h5py.string_dtype())
    dataset.attrs["description"] = description
    for what, value in varying.items():
        dataset.attrs[f"{what}_varying"] = np.array([value], np.int64)
