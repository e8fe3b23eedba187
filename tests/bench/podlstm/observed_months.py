#!/usr/bin/env python3
"""Writes monthly sea-surface temperature of the tropics from observed weekly coefficients: months of NOAA's weekly record, 1981 to 2014, in the
space of five modes. Nobody's values are kept here: they are read from two files of the user.

Usage: observed_months.py COEFFICIENTS MODES OUTPUT.nc [weeks]
COEFFICIENTS  netCDF-4 with time (days since 1800-01-01, first days of weeks) and a(time, mode)
MODES         netCDF-4 with modes(mode, lat, lon), mean(lat, lon) as packed numbers, mask, lat, lon

A month is the mean of its weeks, each weighted by the days that lie in it; months that lack days are left out. Points become boxes of 2 by 2
degrees, 31 S to 31 N, of which half or more is sea. weeks: the weeks themselves, the whole sea in boxes of 4 by 4 degrees.
"""
import datetime
import os
import sys

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cli/podlstm"))
from make_fields import DOUBLE, FLOAT, write

EPOCH = datetime.date(1800, 1, 1)


def months_of(days, coefficients):
    """First days of whole months, and mean coefficients [month, mode]."""
    ends = numpy.append(days[1:], days[-1] + 7)
    sums = {}
    for begin, end, row in zip(days, ends, coefficients):
        for day in range(int(begin), int(end)):
            month = (EPOCH + datetime.timedelta(day)).replace(day=1)
            total, n = sums.get(month, (0.0, 0))
            sums[month] = (total + row, n + 1)
    whole = [m for m, (_, n) in sorted(sums.items()) if n == ((m + datetime.timedelta(32)).replace(day=1) - m).days]
    return whole, numpy.array([sums[m][0] / sums[m][1] for m in whole])


def unpacked(dataset):
    return dataset[:] * dataset.attrs.get("scale_factor", 1) + dataset.attrs.get("add_offset", 0)


def boxes(field, sea, n):
    """Means of boxes of n by n points over their sea, NaN where less than half is sea."""
    def sums(values):
        return values.reshape(*values.shape[:-2], values.shape[-2] // n, n, values.shape[-1] // n, n).sum(axis=(-3, -1))
    count = sums(sea.astype(float))
    return numpy.where(count >= n * n / 2, sums(numpy.where(sea, field, 0)) / numpy.maximum(count, 1), numpy.nan)


def main(coefficients, modes, output, step="months"):
    n, north = (4, 90) if step == "weeks" else (2, 31)
    with h5py.File(coefficients) as file:
        days, a = file["time"][:], file["a"][:]
    if step == "months":
        months, a = months_of(days, a)
        days = [(m - EPOCH).days for m in months]
    with h5py.File(modes) as file:
        lat, lon, sea = file["lat"][:], file["lon"][:], file["mask"][:] == 1
        shapes, mean = unpacked(file["modes"]), unpacked(file["mean"])
    rows = numpy.flatnonzero(abs(lat) < north)
    sea = sea[rows]
    shapes, mean = boxes(shapes[:, rows], sea, n), boxes(mean[rows], sea, n)
    lat, lon = lat[rows].reshape(-1, n).mean(axis=1), lon.reshape(-1, n).mean(axis=1)
    fields = mean + numpy.tensordot(a, shapes, axes=(1, 0))
    fields = numpy.where(numpy.isnan(fields), -999.0, fields)
    write(output, [("time", len(days)), ("lat", len(lat)), ("lon", len(lon))],
          [("time", DOUBLE, ["time"], {"units": "days since 1800-01-01 00:00:00"}, list(days)),
           ("lat", DOUBLE, ["lat"], {"units": "degrees_north"}, lat.tolist()),
           ("lon", DOUBLE, ["lon"], {"units": "degrees_east"}, lon.tolist()),
           ("sst", FLOAT, ["time", "lat", "lon"], {"units": "degree_C", "standard_name": "sea_surface_temperature", "_FillValue": (FLOAT, -999.0)},
            fields.ravel().tolist())])
    print(f"{len(days)} {step}, {EPOCH + datetime.timedelta(int(days[0]))} to {EPOCH + datetime.timedelta(int(days[-1]))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
