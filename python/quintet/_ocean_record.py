"""A file of modes whose record goes on with what was seen elsewhere: what `podlstm forecast` starts from."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Optional

import h5py
import numpy as np

from ._files import text
from .errors import InputError

_EPOCH = np.datetime64("1800-01-01T00:00:00", "ns")
_DAY = np.timedelta64(1, "D")
_YEAR = 365.2425  # days, as in physics/ocean/modes_file.cpp
_SUMMED = ("time", "coefficients", "modes", "mean", "weights", "cycle", "lat", "lon")  # in the order of the file's checksum
_CELSIUS = ("degreecelsius", "degreescelsius", "celsius", "degc", "degreesc", "degreec", "c", "°c")
_KELVIN = ("k", "degk", "kelvin", "kelvins", "degreesk", "degreek", "degreekelvin")


def write_record(path: Path, modes: Path, state: Any, start: Optional[str]) -> Path:
    """Write the file of modes again, its record cut before the first date of `state` and continued with it.

    state: see `quintet.forecast`. Raises InputError: another grid, other units or axes, numbers that are missing.
    """
    if not modes.exists():
        raise InputError(f"{modes}: there is no such file")
    with h5py.File(modes, "r", locking=False) as file:
        if text(file.attrs.get("schema", "")) != "quintet.ocean_modes":
            raise InputError(f"{modes}: is no file of modes, as 'podlstm fit' writes it")
        if "also" in file:
            names = ", ".join(file["also"])
            raise InputError(f"{modes}: has modes of several variables at once ({names} beside the first), and a state is of one; "
                             "continue the record by 'podlstm append'")
        record = _Modes(file)
        times, values = record.coefficients_of(state, start)
        kept = int(np.searchsorted(record.time, times[0] - 1e-6))
        contents = {name: file[name][...] for name in file}
        described = {name: dict(file[name].attrs) for name in file}
        attributes = dict(file.attrs)
    contents["time"] = np.concatenate([record.time[:kept], times])
    contents["coefficients"] = np.concatenate([record.values[:kept], values])
    attributes["n_fit"] = np.int64(min(int(attributes["n_fit"]), len(contents["time"])))
    attributes["source"] = f"{text(attributes['source'])}; {len(times)} last times given in Python"
    attributes["checksum"] = _checksum(contents)
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for name, one in contents.items():
            file[name] = one
            file[name].attrs.update({key: value for key, value in described[name].items() if key in ("units", "axes", "description")})
    return path


class _Modes:
    """Modes, mean and record of a file: time [n] (days since 1800), values [n, mode]."""

    def __init__(self, file: h5py.File) -> None:
        self.time, self.values = file["time"][...], file["coefficients"][...]
        self.units = text(file.attrs["units"])
        self.anomalies = "anomalies" in file.attrs
        self.has_fields = "modes" in file
        if self.has_fields:
            self.lat, self.lon, self.sea = file["lat"][...], file["lon"][...], file["mask"][...].astype(bool)
            self.modes, self.mean, self.weights = file["modes"][...], file["mean"][...], file["weights"][...]
            self.cycle = file["cycle"][...] if "cycle" in file else np.zeros((0, len(self.mean)))

    def coefficients_of(self, state: Any, start: Optional[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return times [n] and coefficients [n, mode] of a state."""
        if hasattr(state, "data_vars"):
            raise InputError(f"the state is a data set; choose a variable of it: {', '.join(map(str, state.data_vars))}")
        if hasattr(state, "dims"):
            times, values = self._of_xarray(state)
        else:
            values = np.asarray(state, float)
            times = self._last_times(len(values) if values.ndim else 0, start)
        if values.ndim == 3:
            values = self._project(times, values)
        n_modes = self.values.shape[1]
        if values.ndim != 2 or values.shape[1] != n_modes or not len(values):
            fields = f", or fields [time, {len(self.lat)}, {len(self.lon)}]" if self.has_fields else ""
            raise InputError(f"the state has shape {list(values.shape)}; expected coefficients [time, {n_modes}]{fields}")
        if not np.isfinite(values).all():
            raise InputError("the state has coefficients that are no numbers")
        return times, values

    def _last_times(self, n: int, start: Optional[str]) -> np.ndarray:
        end = len(self.time)
        if start is not None:
            day = _days(np.array([start], "datetime64[D]"))[0]
            end = int(np.searchsorted(self.time, day + 1 - 1e-6))
            if end == 0 or math.floor(self.time[end - 1]) != day:
                raise InputError(f"start: {start} is not a date of the record; give the state as an xarray.DataArray with its times")
        if not 1 <= n < end:
            raise InputError(f"the state has {n} times; the record has {end} up to its start, and must begin before it")
        return self.time[end - n:end]

    def _of_xarray(self, state: Any) -> tuple[np.ndarray, np.ndarray]:
        if set(state.dims) not in ({"time", "lat", "lon"}, {"time", "mode"}) or "time" not in state.coords:
            raise InputError(f"the state has the axes {', '.join(map(str, state.dims))}; expected time, lat, lon or time, mode, and times")
        if state["time"].dtype.kind != "M":
            raise InputError(f"the state's times are {state['time'].dtype}; expected dates (datetime64) of the Gregorian calendar")
        times = _days(state["time"].values)
        if not (np.diff(times) > 0).all():
            raise InputError("the state's times do not ascend; sort it: state.sortby('time')")
        if "mode" in state.dims:
            return times, np.asarray(state.transpose("time", "mode").values, float)
        if not self.has_fields:
            raise InputError("the modes are coefficients alone, without a grid: give the state as coefficients [time, mode]")
        for name in ("lat", "lon"):
            if name not in state.coords:
                raise InputError(f"the state's axis {name} has no coordinate")
        state = state.assign_coords(lon=state["lon"] % 360).sortby(["lat", "lon"])
        for name, ours in (("lat", self.lat), ("lon", self.lon)):
            theirs = np.asarray(state[name].values, float)
            if theirs.shape != ours.shape or np.abs(theirs - ours).max() > 1e-4:
                raise InputError(f"the state has {len(theirs)} points along {name} from {theirs[0]:g} to {theirs[-1]:g}, the modes {len(ours)} "
                                 f"from {ours[0]:g} to {ours[-1]:g}; interpolate it: state.interp(lat=..., lon=...)")
        return times, np.asarray(state.transpose("time", "lat", "lon").values, float) - self._shift(state.attrs.get("units"))

    def _shift(self, units: Optional[str]) -> float:
        """Return what is subtracted from values of these units."""
        if units is None:
            raise InputError(f"the state has no units; the modes are in {self.units}: state.assign_attrs(units=\"{self.units}\")")
        name, ours = (one.lower().replace(" ", "").replace("_", "") for one in (units, self.units))
        if name == ours or name in _CELSIUS and ours in _CELSIUS:
            return 0
        if name in _KELVIN and ours in _CELSIUS:
            return 0 if self.anomalies else 273.15
        raise InputError(f"the state is in {units}, the modes in {self.units}")

    def _project(self, times: np.ndarray, fields: np.ndarray) -> np.ndarray:
        """a_m = sum_x w(x) phi_m(x) (f(x) - mean(x) - cycle(x)): [time, mode] of fields [time, lat, lon]."""
        if not self.has_fields or fields.shape[1:] != self.sea.shape:
            return fields
        points = fields[:, self.sea]
        if not np.isfinite(points).all():
            t, x = (int(i[0]) for i in np.nonzero(~np.isfinite(points)))
            row, column = (int(i[x]) for i in np.nonzero(self.sea))
            raise InputError(f"the state has no number at sea, first at time {t}, lat {self.lat[row]:g}, lon {self.lon[column]:g}; fill it first")
        return (points - self.mean - _season(times, len(self.cycle) // 2) @ self.cycle) @ (self.weights * self.modes).T


def _season(times: np.ndarray, harmonics: int) -> np.ndarray:
    """cos and sin of each harmonic of the year: [n, 2 harmonics]."""
    angle = 2 * np.pi * np.fmod(times, _YEAR) / _YEAR
    columns = [function(h * angle) for h in range(1, harmonics + 1) for function in (np.cos, np.sin)]
    return np.stack(columns, axis=1) if columns else np.zeros((len(times), 0))


def _days(times: np.ndarray) -> np.ndarray:
    return (times.astype("datetime64[ns]") - _EPOCH) / _DAY


def _checksum(contents: dict[str, np.ndarray]) -> str:
    """Return the checksum of a file of modes, as physics/ocean/modes_file.cpp computes it."""
    total = 0
    for name in _SUMMED:
        total = xxh64(np.ascontiguousarray(contents.get(name, np.zeros(0)), "<f8").tobytes(), total)
    return f"{xxh64(np.ascontiguousarray(contents.get('mask', np.zeros(0)), np.uint8).tobytes(), total):016x}"


_M = (1 << 64) - 1
_P1, _P2, _P3, _P4, _P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def xxh64(data: bytes, seed: int = 0) -> int:
    """Return XXH64 of bytes (Collet, github.com/Cyan4973/xxHash, the specification)."""
    def turned(x: int, n: int) -> int:
        return ((x << n) | (x >> (64 - n))) & _M

    def mixed(x: int) -> int:
        return turned(x, 31) * _P1 & _M

    whole = len(data) // 32 * 32
    if whole:
        words = np.frombuffer(data[:whole], "<u8").reshape(-1, 4) * np.uint64(_P2)  # modulo 2^64
        lanes = [(seed + _P1 + _P2) & _M, (seed + _P2) & _M, seed, (seed - _P1) & _M]
        for i in range(4):
            lane = lanes[i]
            for word in words[:, i].tolist():
                lane = (lane + word) & _M
                lane = ((lane << 31) | (lane >> 33)) * _P1 & _M
            lanes[i] = lane
        total = sum(turned(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & _M
        for lane in lanes:
            total = ((total ^ mixed(lane * _P2 & _M)) * _P1 + _P4) & _M
    else:
        total = (seed + _P5) & _M
    total = (total + len(data)) & _M
    at = whole
    for at in range(whole, len(data) - 7, 8):
        total = (turned(total ^ mixed(int.from_bytes(data[at:at + 8], "little") * _P2 & _M), 27) * _P1 + _P4) & _M
    at = whole + (len(data) - whole) // 8 * 8
    if len(data) - at >= 4:
        total = (turned(total ^ (int.from_bytes(data[at:at + 4], "little") * _P1 & _M), 23) * _P2 + _P3) & _M
        at += 4
    for byte in data[at:]:
        total = turned(total ^ (byte * _P5 & _M), 11) * _P1 & _M
    total = (total ^ (total >> 33)) * _P2 & _M
    total = (total ^ (total >> 29)) * _P3 & _M
    return total ^ (total >> 32)
