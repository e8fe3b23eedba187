#!/usr/bin/env python3
"""Writes small netCDF records that say in unusual ways what their numbers are, each with its input (standard library only).

Usage: make_data.py  (writes into the working folder)
"""
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import make_fields  # noqa: E402
from make_fields import DOUBLE, FLOAT, SHORT  # noqa: E402

INT = 4
make_fields.SIZES[INT], make_fields.LETTERS[INT] = 4, "i"
LATITUDES = [-35 + 10 * i for i in range(8)]
LONGITUDES = [5 + 10 * j for j in range(36)]
DAYS = [66410 + 7 * i for i in range(60)]
FILL = -32768


def is_land(i, j):
    return 2 <= i < 5 and 3 <= j < 8


def sst(day, i, j):
    y, x = math.radians(LATITUDES[i]), math.radians(LONGITUDES[j])
    return (24 * math.cos(y) + 3 * math.sin(y) * math.cos(2 * math.pi * day / 365.2425) + math.cos(y) * math.sin(x + day / 190)
            + .4 * math.cos(2 * x + day / 90))


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def attributes(table):
    """As make_fields.attributes, also of lists of numbers."""
    if not table:
        return struct.pack(">ii", 0, 0)
    data = struct.pack(">ii", 12, len(table))
    for name, value in table.items():
        data += make_fields.name_of(name)
        if isinstance(value, str):
            data += struct.pack(">ii", 2, len(value)) + make_fields.padded(value.encode())
            continue
        kind, numbers = value
        numbers = numbers if isinstance(numbers, list) else [numbers]
        data += struct.pack(">ii", kind, len(numbers))
        data += make_fields.padded(struct.pack(f">{len(numbers)}{make_fields.LETTERS[kind]}", *numbers))
    return data


make_fields.attributes = attributes


def put(name, value=sst, kind=FLOAT, land=math.nan, pack=None, longitudes=None, days=None, times=None, yaml="", more="",
        latitudes=None, **table):
    """value(day, i, j) by numbers of latitudes and longitudes; pack(number) is what is stored."""
    longitudes, days = longitudes or LONGITUDES, days or DAYS
    stored = []
    for day in days:
        for i in range(len(LATITUDES)):
            for j in range(len(LONGITUDES)):
                number = land if is_land(i, j) else value(day, i, j)
                stored.append(pack(number) if pack else number)
    make_fields.write(name + ".nc", [("lat", len(LATITUDES)), ("lon", len(longitudes)), ("time", len(days))],
                      [("lat", FLOAT, ["lat"], {"units": "degrees_north"}, latitudes or LATITUDES),
                       ("lon", FLOAT, ["lon"], {"units": "degrees_east"}, longitudes),
                       ("time", DOUBLE, ["time"], times or {"units": "days since 1800-1-1"}, days),
                       ("sst", kind, ["time", "lat", "lon"], {"units": "degC", **table}, stored)])
    with open(name + ".yaml", "w", encoding="utf-8") as file:
        file.write(f"fields: {{files: [{name}.nc]{yaml}}}\npod: {{modes: 3}}\nn_fit: 30\n{more}")


def short(number):
    return FILL if math.isnan(number) else round(number / .01)


def unsigned(number):
    stored = 65535 if math.isnan(number) else round((number + 5) / .0005)
    return stored - 65536 if stored > 32767 else stored


def main():
    hundredths = {"scale_factor": (FLOAT, .01), "add_offset": (FLOAT, 0.), "_FillValue": (SHORT, FILL)}
    fine = {"scale_factor": (FLOAT, .0005), "add_offset": (FLOAT, -5.), "_FillValue": (SHORT, -1), "_Unsigned": "true"}
    put("good")
    put("packed", kind=SHORT, pack=short, **hundredths)
    put("range_of_unpacked", kind=SHORT, pack=short, valid_range=(FLOAT, [-3., 45.]), **hundredths)
    put("range_of_stored", kind=SHORT, pack=short, valid_range=(SHORT, [-300, 4500]), **hundredths)
    put("range_cast", kind=SHORT, pack=short, valid_range=(SHORT, [-3, 45]), **hundredths)
    put("third_type", kind=SHORT, pack=short, valid_max=(DOUBLE, 45.), **hundredths)
    put("unsigned_range", kind=SHORT, pack=unsigned, valid_range=(SHORT, [0, -6]), **fine)
    put("unsigned", kind=SHORT, pack=unsigned, **fine)
    put("clamped", value=lambda *place: max(sst(*place), 20.3), valid_min=(DOUBLE, 20.3))
    put("clamped_without_limit", value=lambda *place: max(sst(*place), 20.3))
    put("land_zero", land=0.)
    put("land_code", kind=SHORT, pack=lambda number: -1000 if math.isnan(number) else short(number),
        scale_factor=(FLOAT, .01), yaml=", missing: [-10, 0]")
    for name, land in (("mask", is_land), ("all_sea", lambda i, j: False)):
        make_fields.write(name + ".nc", [("lat", len(LATITUDES)), ("lon", len(LONGITUDES))],
                          [("lat", FLOAT, ["lat"], {"units": "degrees_north"}, LATITUDES),
                           ("lon", FLOAT, ["lon"], {"units": "degrees_east"}, LONGITUDES),
                           ("mask", SHORT, ["lat", "lon"], {},
                            [0 if land(i, j) else 1 for i in range(len(LATITUDES)) for j in range(len(LONGITUDES))])])
    put("text_scale", kind=SHORT, pack=short, _FillValue=(SHORT, FILL), scale_factor="0.01", add_offset="0")
    put("number_units", units=(INT, 1))
    put("text_range", valid_range="-3, 45")
    put("turned", longitudes=[x - 360 if x > 180 else x for x in LONGITUDES])
    put("twice", longitudes=[-175 if x == 195 else x for x in LONGITUDES])
    put("kelvin", value=lambda *place: sst(*place) + 273.15, units="K")
    put("anomalies", value=lambda day, i, j: sst(day, i, j) - 24 * math.cos(math.radians(LATITUDES[i])), units="K")
    put("named_anomalies", value=lambda day, i, j: sst(day, i, j) - 24 * math.cos(math.radians(LATITUDES[i])), units="K",
        long_name="Weekly Mean SST Anomalies")
    put("degree_anomalies", value=lambda day, i, j: sst(day, i, j) - 24 * math.cos(math.radians(LATITUDES[i])))
    for calendar in ("noleap", "360_day"):
        put(calendar, days=[20 + i for i in range(60)], value=lambda day, i, j: sst(66410 + 7 * (day - 20), i, j),
            times={"units": "days since 2000-01-01", "calendar": calendar})
    put("round_off", days=DAYS[:30] + [DAYS[29] + 1e-5] + DAYS[30:], n_fit=(INT, 30))
    # One oscillation in two modes, which determines no regression of raw values.
    phases = [2 * math.pi * i / 17.3 for i in range(800)]
    make_fields.write("oscillation.nc", [("time", 800), ("mode", 2)],
                      [("time", DOUBLE, ["time"], {"units": "days since 1980-01-01"}, [7 * i for i in range(800)]),
                       ("a", DOUBLE, ["time", "mode"], {},
                        [10 * turn(phase) for phase in phases for turn in (math.cos, math.sin)])])
    os.makedirs("daily", exist_ok=True)
    # Names in another order than times, as where days have no leading zeros.
    for day in range(80):
        put(f"daily/sst_{day}", days=[66410 + day])
    put("all_days", days=[66410 + day for day in range(80)])


if __name__ == "__main__":
    main()
