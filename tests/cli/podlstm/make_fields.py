#!/usr/bin/env python3
"""Writes small netCDF files (classic format, standard library only) as NOAA's weekly record comes, good ones and bad ones.

Usage: make_fields.py  (writes into the working folder)
"""
import math
import struct

LATITUDES = [85 - 10 * i for i in range(18)]  # north first
LONGITUDES = [5 + 10 * j for j in range(36)]
SHORT, INT, FLOAT, DOUBLE = 3, 4, 5, 6
SIZES = {SHORT: 2, INT: 4, FLOAT: 4, DOUBLE: 8}
LETTERS = {SHORT: "h", INT: "i", FLOAT: "f", DOUBLE: "d"}


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def name_of(text):
    return struct.pack(">i", len(text)) + padded(text.encode())


def attributes(table):
    if not table:
        return struct.pack(">ii", 0, 0)
    data = struct.pack(">ii", 12, len(table))
    for name, value in table.items():
        data += name_of(name)
        if isinstance(value, str):
            data += struct.pack(">ii", 2, len(value)) + padded(value.encode())
        else:
            kind, number = value
            data += struct.pack(">ii", kind, 1) + padded(struct.pack(">" + LETTERS[kind], number))
    return data


def write(path, dimensions, variables):
    """variables: (name, type, dimensions, attributes, numbers). No record dimension."""
    numbers = {name: i for i, (name, _) in enumerate(dimensions)}
    head = b"CDF\1" + struct.pack(">i", 0)
    head += struct.pack(">ii", 10, len(dimensions)) + b"".join(name_of(n) + struct.pack(">i", size) for n, size in dimensions)
    head += attributes({})
    body = [padded(struct.pack(f">{len(values)}{LETTERS[kind]}", *values)) for _, kind, _, _, values in variables]

    def list_of(begin):
        data = struct.pack(">ii", 11, len(variables))
        for (name, kind, axes, table, _), block in zip(variables, body):
            data += name_of(name) + struct.pack(">i", len(axes)) + b"".join(struct.pack(">i", numbers[a]) for a in axes)
            data += attributes(table) + struct.pack(">iii", kind, len(block), begin)
            begin += len(block)
        return data
    with open(path, "wb") as file:
        file.write(head + list_of(len(head) + len(list_of(0))) + b"".join(body))


def is_land(latitude, longitude):
    return abs(latitude) > 75 or (20 < longitude < 60 and latitude > -30) or (240 < longitude < 300 and latitude > 20)


def sst(day, latitude, longitude):
    season = math.cos(2 * math.pi * day / 365.2425 - 3.6)
    wave = math.sin(math.radians(longitude) + day / 200) * math.cos(math.radians(latitude)) ** 2
    slow = math.cos(math.radians(2 * longitude)) * math.sin(day / 900)
    return 28 * math.cos(math.radians(latitude)) ** 2 - 1 + 4 * math.sin(math.radians(latitude)) * season + wave + slow


def fields(path, days, value=sst, units="degC", time_units="days since 1800-1-1 00:00:00", calendar=None, variable="sst"):
    times = {"units": time_units}
    if calendar:
        times["calendar"] = calendar
    packed = []
    for day in days:
        for latitude in LATITUDES:
            for longitude in LONGITUDES:
                number = value(day, latitude, longitude)
                packed.append(32767 if math.isnan(number) else round(100 * number))
    write(path, [("lat", len(LATITUDES)), ("lon", len(LONGITUDES)), ("time", len(days))],
          [("lat", FLOAT, ["lat"], {"units": "degrees_north"}, LATITUDES),
           ("lon", FLOAT, ["lon"], {"units": "degrees_east"}, LONGITUDES),
           ("time", DOUBLE, ["time"], times, days),
           (variable, SHORT, ["time", "lat", "lon"],
            {"units": units, "scale_factor": (FLOAT, 0.01), "add_offset": (FLOAT, 0.0), "missing_value": (SHORT, 32767)}, packed)])


def mask(path, land):
    values = [0 if land(latitude, longitude) else 1 for latitude in LATITUDES for longitude in LONGITUDES]
    write(path, [("lat", len(LATITUDES)), ("lon", len(LONGITUDES)), ("time", 1)],
          [("lat", FLOAT, ["lat"], {"units": "degrees_north"}, LATITUDES),
           ("lon", FLOAT, ["lon"], {"units": "degrees_east"}, LONGITUDES),
           ("time", DOUBLE, ["time"], {"units": "days since 1800-1-1 00:00:0.0"}, [66410]),
           ("mask", SHORT, ["time", "lat", "lon"], {"missing_value": (SHORT, 32766)}, values)])


def main():
    early = [66410 + 7 * i for i in range(60)]   # Thursdays
    late = [66410 + 7 * 59 + 3 + 7 * i for i in range(50)]  # then Sundays
    fields("early.nc", early)
    fields("late.nc", late)
    fields("old.nc", [day + 657073 for day in late], time_units="days since 1-1-1 00:00:0.0",
           value=lambda day, y, x: sst(day - 657073, y, x))
    mask("mask.nc", is_land)
    mask("land.nc", lambda latitude, longitude: True)
    fields("gap.nc", early[:20] + early[23:])
    fields("twice.nc", early[:20] + early[19:])
    fields("calendar.nc", early, calendar="mayan")
    fields("month.nc", list(range(60)), time_units="months since 1981-10-29")
    fields("nan_week.nc", early, value=lambda day, y, x: math.nan if day == early[7] else sst(day, y, x))
    fields("ice.nc", early, value=lambda day, y, x: math.nan if y > 60 and day < early[9] else sst(day, y, x))
    fields("kelvin.nc", early, value=lambda day, y, x: sst(day, y, x), units="K")
    fields("named.nc", early, variable="tos")
    with open("early.nc", "rb") as file:
        data = file.read()
    with open("cut.nc", "wb") as file:
        file.write(data[:-100])
    with open("cut_head.nc", "wb") as file:
        file.write(data[:200])


if __name__ == "__main__":
    main()
