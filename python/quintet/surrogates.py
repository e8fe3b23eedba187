"""Trained networks on data of Python: `superresolve` refines coarse flows, `forecast` continues a record of the sea.

The programs `meshfreeflow superresolve` and `podlstm forecast` do it, over temporary files that are removed in any case.
"""
from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import h5py
import numpy as np

from . import fields as field_files
from ._files import optional, read, text, texts
from ._ocean_record import write_record
from ._programs import Progress
from ._training_fields import write_fields
from .commands import run
from .errors import InputError, QuintetError
from .runs import Run

if TYPE_CHECKING:
    import xarray

_WAYS = ("factor", "grid", "points")


def superresolve(model: Union[str, Path, Run], fields: Any, *, factor: Optional[Sequence[int]] = None,
                 grid: Optional[Sequence[int]] = None, points: Optional[Mapping[str, Any]] = None,
                 coordinates: Optional[Mapping[str, Any]] = None, periodic: Optional[Sequence[str]] = None,
                 bounds: Optional[Mapping[str, tuple[float, float]]] = None, parameters: Optional[Mapping[str, float]] = None,
                 threads: Optional[int] = None, progress: Progress = False, **settings: Any) -> xarray.Dataset:
    """Return coarse fields over time on a finer grid, or at points, as a model of `meshfreeflow train` sees them.

    model: model.h5, or the run of the training. fields: an xarray.Dataset [time, axes...] or [sample, time, axes...], such
    as `run.fields`, or arrays {name: [time, axes...]} with coordinates={"time": ..., "z": ..., "x": ...} in their order, which
    may begin with "sample". One of: factor: points for each coarse node along time and
    the axes; grid: numbers of points of an even grid; points: {"time": [n], "z": [n], "x": [n]}. periodic, bounds, parameters
    (Ra, Pr, ...): as of `quintet.data.write_fields`, the same for all samples, which are refined one after another.
    settings: other keys, such as residuals=False or error_bars={"members": [...], "scale": [...]}.

    The result has units, coordinates and residuals of the equations (residual_NAME), and the samples of the fields. Raises
    InputError with the program's words, for conditions that the model was not trained for among others;
    outside_training="mark" computes them all the same, and says so in the attribute `outside_training`.
    """
    chosen = {name: value for name, value in zip(_WAYS, (factor, grid, points)) if value is not None}
    if len(chosen) != 1:
        raise InputError(f"one of {', '.join(_WAYS)} says where fields are wanted; given: {', '.join(chosen) or 'none'}")
    data = _flow(fields, coordinates)
    with tempfile.TemporaryDirectory(prefix="quintet_") as folder:
        coarse = write_fields(Path(folder) / "coarse.h5", data, periodic=periodic, bounds=bounds, parameters=parameters)
        if points is not None:
            where: Any = {"points": str(_write_points(Path(folder) / "points.csv", points))}
        else:
            where = {name: _whole_numbers(name, value) for name, value in chosen.items()}
        values = {"model": str(_model(model)), "output": where}

        def refined(sample: int) -> xarray.Dataset:
            asked = {**values, "input": {"file": str(coarse), "sample": sample}}
            done = _run(Path(folder) / f"run_{sample}", "meshfreeflow", "superresolve", asked, threads, progress, settings)
            return _at_points(done.directory / "points.h5", list(points)) if points is not None else _on_grid(done)

        if "sample" not in data.dims:
            result = refined(0)
        else:
            result = _of_samples([_named(f"sample {i}", refined, i) for i in range(data.sizes["sample"])], data)
    if points is not None:
        return result
    result.attrs["title"] = f"{data.attrs.get('title', 'fields')}, refined"
    for name in result.dims:
        if name in data.coords and "units" in data[name].attrs:
            result[name].attrs["units"] = data[name].attrs["units"]
    return result


def forecast(model: Union[str, Path, Run], modes: Union[str, Path, Run], state: Any = None, *, start: Any = None,
             lead: Optional[int] = None, threads: Optional[int] = None, progress: Progress = False, **settings: Any) -> xarray.Dataset:
    """Return the steps after a date as `podlstm forecast` computes them: sst [time, lat, lon], coefficients a [mode, time].

    Of several states, or several starts: sst [sample, lead, lat, lon], a [sample, mode, lead], dates in time [sample, lead]
    and the last date seen in forecast_reference_time [sample]. They are computed one after another.

    model: model.h5 of `podlstm train`, or its run. modes: modes.h5 that it was trained on, or the run of `podlstm fit`.
    state: what was seen last, in place of the record's values from its first date on, or after the record: an
    xarray.DataArray of fields [time, lat, lon] on the grid of the modes, or of coefficients [time, mode]. A numpy array
    of either shape, in the units of the modes, has the record's last dates up to `start`. None: the record as it is.
    Several states are a list of them, or an xarray.DataArray with the axis `sample` besides. start: last date that the
    forecast sees, such as "2014-12-28"; default: the last there is; or a list, one for each state. lead: steps.

    Fields are projected on the modes: a_m = sum_x w(x) phi_m(x) (f(x) - mean(x) - seasonal cycle(x)). `sst_error` is the
    error that forecasts of the validation period had. Raises InputError with the program's words: dates that leave gaps,
    a state within the training period, too little before the start. A field other than the temperature of the sea
    surface has the name of its file's variable in place of `sst`.
    """
    h5netcdf = optional("h5netcdf", "a forecast")
    xarray = optional("xarray", "a forecast")

    def following(state: Any, start: Optional[str]) -> Any:
        with tempfile.TemporaryDirectory(prefix="quintet_") as folder:
            record = _model(modes, "modes.h5")
            if state is not None:
                record = write_record(Path(folder) / "modes.h5", record, state, start)
            values: dict[str, Any] = {"modes": str(record), "model": str(_model(model))}
            values.update({key: value for key, value in (("from", start), ("lead", lead)) if value is not None})
            done = _run(Path(folder) / "run", "podlstm", "forecast", values, threads, progress, settings)
            return xarray.load_dataset(done.directory / "forecast.nc", engine=h5netcdf.__name__)

    states, starts = _list_of_states(state), _list_of_dates(start)
    if states is None and starts is None:
        return following(state, None if start is None else _date(start))
    states = [state] * len(starts or []) if states is None else states
    starts = [_date(start)] * len(states) if starts is None else starts
    if not states or len(starts) != len(states):
        raise InputError(f"there are {len(states)} states and {len(starts)} starts; expected as many of each, and at least one")
    return _of_windows([_named(f"sample {i}", following, *one) for i, one in enumerate(zip(states, starts))], state)


def _list_of_states(state: Any) -> Optional[list[Any]]:
    """Return several states as a list, None where there is one or none."""
    if "sample" in getattr(state, "dims", ()):
        return [state.isel(sample=i) for i in range(state.sizes["sample"])]
    is_several = isinstance(state, (list, tuple)) and all(getattr(one, "ndim", 0) >= 2 for one in state)
    return list(state) if is_several else None


def _list_of_dates(start: Any) -> Optional[list[Optional[str]]]:
    return [_date(one) for one in start] if not isinstance(start, str) and np.ndim(start) == 1 else None


def _date(start: Any) -> Optional[str]:
    """Return a date as the program reads it: text as it is, else a date or time of Python, numpy, pandas or xarray."""
    if start is None or isinstance(start, str):
        return start
    value = np.asarray(start)
    try:
        if value.dtype.kind in "MO" and value.ndim == 0:
            return str(value.astype("datetime64[D]"))
    except (TypeError, ValueError):
        pass
    raise InputError(f"start is {start!r:.80}; expected a date such as \"2014-12-28\"")


def _named(what: str, function: Any, *arguments: Any) -> Any:
    """Return function(*arguments), whose error then begins with `what`."""
    try:
        return function(*arguments)
    except QuintetError as error:
        named = type(error)(f"{what}: {error}")
        named.__dict__.update(error.__dict__)
        raise named from error


def _of_windows(found: list[xarray.Dataset], state: Any) -> xarray.Dataset:
    """Return forecasts of several windows as one: their dates become [sample, lead]."""
    parts = []
    for one in found:
        lead = ("time", np.arange(1, one.sizes["time"] + 1), {"long_name": "Steps after the last date seen", "units": "1"})
        part = one.assign_coords(lead=lead).swap_dims(time="lead")
        own = [name for name in part.variables if name != "lead" and ("lead" in part[name].dims or name == "forecast_reference_time")]
        part = part.set_coords([name for name in ("time", "forecast_reference_time", "forecast_period") if name in part.variables])
        parts.append(part.assign({name: part[name].variable.expand_dims("sample") for name in own}))
    return _of_samples(parts, state)


def _of_samples(found: list[xarray.Dataset], data: Any) -> xarray.Dataset:
    """Return data sets of one sample each as one, with the samples' coordinate of `data` where it has one."""
    concat = optional("xarray", "several samples").concat
    parts = [one if "sample" in one.dims else one.expand_dims("sample") for one in found]
    outside = [f"sample {i}: {one.attrs['outside_training']}" for i, one in enumerate(found) if "outside_training" in one.attrs]
    result = concat(parts, "sample", data_vars="minimal", coords="minimal", compat="equals", join="exact", combine_attrs="drop_conflicts")
    if outside:
        result.attrs["outside_training"] = "; ".join(outside)
    return result.assign_coords(sample=data["sample"]) if "sample" in getattr(data, "coords", ()) else result


def _run(output: Path, app: str, command: str, values: dict[str, Any], threads: Optional[int], progress: Progress, settings: dict[str, Any]) -> Run:
    """Run a command on an input of its own. JSON is YAML."""
    file = output.with_suffix(".yaml")
    file.write_text(json.dumps(values), encoding="utf-8")
    try:
        return run(file, app, command, output=output, threads=threads, progress=progress, set=settings)
    except QuintetError as error:  # which names the temporary file that the user has not written
        error.args = (re.sub(rf"{re.escape(str(file))}:\d+:\d+: ", "", str(error)).replace(str(output.parent / "coarse.h5"), "the fields"),)
        raise


def _model(given: Union[str, Path, Run], name: str = "model.h5") -> Path:
    """Return the whole path of a model's file. "registry.h5:ID" names an expert and stays as it is."""
    if isinstance(given, Run):
        given = given.directory
    path = Path(given)
    return (path / name if path.is_dir() else path).absolute()


def _flow(fields: Any, coordinates: Optional[Mapping[str, Any]]) -> xarray.Dataset:
    xarray = optional("xarray", "super-resolution")
    if isinstance(fields, Run):
        fields = fields.fields
    if isinstance(fields, xarray.Dataset):
        if coordinates is not None:
            raise InputError("the fields are a data set, which has its own coordinates; these are for arrays")
        return fields
    if not isinstance(fields, Mapping) or coordinates is None:
        raise InputError("expected an xarray.Dataset, or arrays {name: [time, axes...]} with coordinates={'time': ..., axes...}")
    axes = tuple(coordinates)
    if "time" not in axes[:2] or axes.index("time") == 1 and axes[0] != "sample":
        raise InputError(f"the coordinates are {', '.join(axes)}; expected time, then the axes of space in the order of the arrays; "
                         "sample may come before time")
    shape = tuple(len(coordinates[name]) for name in axes)
    for name, values in fields.items():
        if np.shape(values) != shape:
            raise InputError(f"{name} has shape {list(np.shape(values))}; its coordinates {', '.join(axes)} have {list(shape)} points")
    return xarray.Dataset({name: (axes, np.asarray(values)) for name, values in fields.items()},
                          {name: np.asarray(values, float) for name, values in coordinates.items()})


def _whole_numbers(name: str, values: Any) -> list[int]:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise InputError(f"{name} is {values!r:.80}; expected a list of whole numbers: of time, then of each axis of space")
    return numbers.tolist()


def _on_grid(done: Run) -> xarray.Dataset:
    result = done.fields.load().isel(sample=0)
    if outside := read(done.directory / "fields.h5", _outside):
        result.attrs["outside_training"] = outside
    return result


def _write_points(path: Path, points: Mapping[str, Any]) -> Path:
    columns = [np.asarray(values, float).ravel() for values in points.values()]
    if len({len(one) for one in columns}) != 1:
        raise InputError(f"points have {', '.join(f'{len(one)} of {name}' for name, one in zip(points, columns))}; expected as many of each")
    names = ["t" if name == "time" else name for name in points]
    rows = [",".join(map(repr, row)) for row in np.stack(columns, axis=1).tolist()]
    path.write_text("\n".join([",".join(names), *rows]) + "\n", encoding="utf-8")
    return path


def _at_points(path: Path, order: list[str]) -> xarray.Dataset:
    """Return what points.h5 holds: fields [point], with time and place of each as coordinates."""
    make = optional("xarray", "super-resolution").Dataset

    def look(file: h5py.File) -> xarray.Dataset:
        axes = _axes_of_points(file, order)
        places = file["points"][...]
        variables = {name: (("point",), member[...], {"units": text(member.attrs["units"]), "long_name": text(member.attrs["description"])})
                     for name, member in file.items() if isinstance(member, h5py.Dataset) and name != "points" and member.shape == places.shape[:1]}
        data = make(variables, {name: (("point",), places[:, i]) for i, name in enumerate(axes)}, field_files.header(file))
        if outside := _outside(file):
            data.attrs["outside_training"] = outside
        return data

    return read(path, look)


def _axes_of_points(file: h5py.File, order: list[str]) -> list[str]:
    """Return the names of the columns of `points`: the first line of points.csv beside it says them."""
    with open(Path(file.filename).with_name("points.csv"), encoding="utf-8") as stream:
        names = stream.readline().strip().split(",")[:file["points"].shape[1]]
    return ["time" if name == "t" and "time" in order else name for name in names]


def _outside(file: h5py.File) -> str:
    return "; ".join(texts(file.attrs["outside_training"])) if "outside_training" in file.attrs else ""
