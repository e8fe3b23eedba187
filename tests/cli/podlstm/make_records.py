#!/usr/bin/env python3
"""Writes made-up records of the sea in the layouts of NOAA, ECMWF and CMIP: names of files, dimensions, variables, types, packing, missing
values, attributes and counts of time are theirs, values and grids are not (classic format, standard library only).

Usage: make_records.py KIND FOLDER [--from 2001-01-01] [--to 2003-12-31] [--spacing 5] [--preliminary N] [--el-nino]
       make_records.py all FOLDER: a short record of each kind

KIND         files                                        variable
oisst        oisst-avhrr-v02r01.YYYYMMDD.nc, one a day    sst(time, zlev, lat, lon), short; the last N are preliminary
ersst        ersst.v5.YYYYMM.nc, one a month              sst(time, lev, lat, lon), degree_C
era5         era5.nc                                      sst(valid_time, latitude, longitude), K, north first
cmip         tos_noleap.nc, tos_360_day.nc                tos(time, lat, lon), degC
curvilinear  tos_curvilinear.nc                           tos(time, j, i) with latitude(j, i): a grid that is refused
sea_level    sea_level_YYYYMMDD.nc, one a day             sla(time, latitude, longitude), int, m, of the same sea as oisst; the layout of
                                                          no provider in particular

--el-nino (ersst): the eastern Pacific and a second pattern in the west recharge each other (Jin, J. Atmos. Sci. 54, 811 (1997)) with a period of
3.7 years, dT/dt = -(1/240 - cos(season)/150) T + w H + noise, dH/dt = -w T - H/600 (days), so that anomalies grow in autumn and fade in spring.
"""
import argparse
import datetime
import math
import os
import random

from make_fields import DOUBLE, FLOAT, INT, SHORT, write

DAY = datetime.timedelta(1)


class Sea:
    """Temperatures of a sea with seasons, a slow oscillation and two continents, on latitudes and longitudes at a spacing (degrees)."""

    def __init__(self, spacing, north_first=False, seed=1, el_nino=False):
        n = round(180 / spacing)
        self.latitudes = [-90 + spacing * (i + 0.5) for i in range(n)]
        self.longitudes = [spacing * (j + 0.5) for j in range(2 * n)]
        if north_first:
            self.latitudes.reverse()
        self.random, self.index, self.last = random.Random(seed), 0.0, None
        self.recharge, self.el_nino = 0.0, el_nino
        self.points = []  # mean, season, two parts of a wave and a pattern at each point; None on land
        for y in self.latitudes:
            a = math.radians(y)
            for x in self.longitudes:
                b = math.radians(x)
                land = abs(y) > 75 or (20 < x < 60 and y > -30) or (240 < x < 300 and y > 20)
                bump = math.exp(-(y / 10) ** 2 - ((x - 215) / 35) ** 2)
                west = 0.6 * math.exp(-(y / 12) ** 2 - ((x - 150) / 20) ** 2) if el_nino else 0
                self.points.append(None if land else (28 * math.cos(a) ** 2 - 1, 4 * math.sin(a), 0.4 * math.sin(b) * math.cos(a) ** 2,
                                                      0.4 * math.cos(b) * math.cos(a) ** 2, bump, west))

    def move(self, day):
        """Bring the sea to a day (a datetime.date). Days must ascend: the oscillation is a process in time."""
        for k in range((day - self.last).days if self.last else 1):
            if self.el_nino:
                season = math.cos(2 * math.pi * ((self.last or day).timetuple().tm_yday + k - 290) / 365.2425)
                w, index, recharge = 2 * math.pi / (3.7 * 365), self.index, self.recharge
                self.index += -(1 / 240 - season / 150) * index + w * recharge + 0.04 * self.random.gauss(0, 1)
                self.recharge += -w * index - recharge / 600
            else:
                self.index = 0.99 * self.index + 0.15 * self.random.gauss(0, 1)
        self.last = day

    def field(self, day):
        """Temperatures of a day, None on land."""
        self.move(day)
        t = (day - datetime.date(1978, 1, 1)).days
        season = math.cos(2 * math.pi * t / 365.2425 - 3.6)
        c, s, index = math.cos(t / 200), math.sin(t / 200), self.index
        return [None if p is None else p[0] + p[1] * season + p[2] * c + p[3] * s + p[4] * index + p[5] * self.recharge for p in self.points]


    def level(self, day):
        """Sea level of a day (m), None on land: it rises where the oscillation warms, and falls in the west; seasons, and a slow rise."""
        self.move(day)
        t = (day - datetime.date(1978, 1, 1)).days
        season = math.cos(2 * math.pi * t / 365.2425 - 4.2)
        west = [math.exp(-(y / 12) ** 2 - ((x - 150) / 25) ** 2) for y in self.latitudes for x in self.longitudes]
        return [None if p is None else 0.02 * p[1] * season + (0.12 * p[4] - 0.08 * w) * self.index + 0.003 * t / 365.2425
                for p, w in zip(self.points, west)]


def days_of(first, last):
    while first <= last:
        yield first
        first += DAY


def months_of(first, last):
    day = first.replace(day=1)
    while day <= last:
        yield day
        day = (day + 32 * DAY).replace(day=1)


def oisst(folder, first, last, spacing, preliminary=0):
    sea = Sea(spacing)
    n_lat, n_lon = len(sea.latitudes), len(sea.longitudes)
    sst = {"long_name": "Daily sea surface temperature", "_FillValue": (SHORT, -999), "add_offset": (FLOAT, 0.0), "scale_factor": (FLOAT, 0.01),
           "valid_min": (SHORT, -300), "valid_max": (SHORT, 4500), "units": "Celsius"}
    ice = {"long_name": "Sea ice concentration", "_FillValue": (SHORT, -999), "add_offset": (FLOAT, 0.0), "scale_factor": (FLOAT, 0.01), "units": "%"}
    axes = ["time", "zlev", "lat", "lon"]
    for day in days_of(first, last):
        packed = [-999 if v is None else round(100 * max(v, -1.8)) for v in sea.field(day)]
        late = "_preliminary" if (last - day).days < preliminary else ""
        write(os.path.join(folder, f"oisst-avhrr-v02r01.{day:%Y%m%d}{late}.nc"), [("time", 1), ("zlev", 1), ("lat", n_lat), ("lon", n_lon)],
              [("time", FLOAT, ["time"], {"long_name": "Center time of the day", "units": "days since 1978-01-01 12:00:00"},
                [(day - datetime.date(1978, 1, 1)).days]),
               ("zlev", FLOAT, ["zlev"], {"long_name": "Sea surface height", "units": "meters", "actual_range": "0, 0"}, [0]),
               ("lat", FLOAT, ["lat"], {"long_name": "Latitude", "units": "degrees_north"}, sea.latitudes),
               ("lon", FLOAT, ["lon"], {"long_name": "Longitude", "units": "degrees_east"}, sea.longitudes),
               ("sst", SHORT, axes, sst, packed), ("ice", SHORT, axes, ice, [-999] * len(packed))])


def ersst(folder, first, last, spacing, el_nino=False):
    sea = Sea(spacing, el_nino=el_nino)
    n_lat, n_lon = len(sea.latitudes), len(sea.longitudes)
    for day in months_of(first, last):
        values = [-999.0 if v is None else v for v in sea.field(day)]
        write(os.path.join(folder, f"ersst.v5.{day:%Y%m}.nc"), [("time", 1), ("lev", 1), ("lat", n_lat), ("lon", n_lon)],
              [("time", DOUBLE, ["time"], {"long_name": "Center time of the day", "units": "days since 1854-01-15 00:00:00"},
                [(day.replace(day=15) - datetime.date(1854, 1, 15)).days]),
               ("lev", DOUBLE, ["lev"], {"long_name": "Depth of sea surface temperature measurements", "units": "meters"}, [0]),
               ("lat", DOUBLE, ["lat"], {"units": "degrees_north"}, sea.latitudes),
               ("lon", DOUBLE, ["lon"], {"units": "degrees_east"}, sea.longitudes),
               ("sst", FLOAT, ["time", "lev", "lat", "lon"],
                {"long_name": "Extended reconstructed sea surface temperature", "standard_name": "sea_surface_temperature", "units": "degree_C",
                 "_FillValue": (FLOAT, -999.0)}, values)])


def era5(folder, first, last, spacing):
    sea = Sea(spacing, north_first=True)
    days = list(months_of(first, last))
    values = [math.nan if v is None else v + 273.15 for day in days for v in sea.field(day)]
    write(os.path.join(folder, "era5.nc"), [("valid_time", len(days)), ("latitude", len(sea.latitudes)), ("longitude", len(sea.longitudes))],
          [("valid_time", DOUBLE, ["valid_time"], {"standard_name": "time", "long_name": "time", "units": "seconds since 1970-01-01",
                                                    "calendar": "proleptic_gregorian"},
            [(day - datetime.date(1970, 1, 1)).days * 86400 for day in days]),
           ("latitude", DOUBLE, ["latitude"], {"units": "degrees_north", "standard_name": "latitude", "stored_direction": "decreasing"}, sea.latitudes),
           ("longitude", DOUBLE, ["longitude"], {"units": "degrees_east", "standard_name": "longitude"}, sea.longitudes),
           ("sst", FLOAT, ["valid_time", "latitude", "longitude"],
            {"_FillValue": (FLOAT, math.nan), "units": "K", "standard_name": "unknown", "long_name": "Sea surface temperature",
             "coordinates": "number valid_time latitude longitude expver"}, values)])


def cmip(folder, first, last, spacing):
    for calendar, days_a_year, starts in (("noleap", 365, (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)),
                                          ("360_day", 360, tuple(range(0, 360, 30)))):
        sea = Sea(spacing)
        days = list(months_of(first, last))
        times = [(day.year - 1850) * days_a_year + starts[day.month - 1] + 15 for day in days]
        write(os.path.join(folder, f"tos_{calendar}.nc"), [("time", len(days)), ("lat", len(sea.latitudes)), ("lon", len(sea.longitudes))],
              [("time", DOUBLE, ["time"], {"units": "days since 1850-01-01", "calendar": calendar, "standard_name": "time"}, times),
               ("lat", DOUBLE, ["lat"], {"units": "degrees_north", "standard_name": "latitude"}, sea.latitudes),
               ("lon", DOUBLE, ["lon"], {"units": "degrees_east", "standard_name": "longitude"}, sea.longitudes),
               ("tos", FLOAT, ["time", "lat", "lon"],
                {"standard_name": "sea_surface_temperature", "units": "degC", "cell_methods": "area: mean where sea time: mean",
                 "_FillValue": (FLOAT, 1e20), "missing_value": (FLOAT, 1e20)},
                [1e20 if v is None else v for day in days for v in sea.field(day)])])


def curvilinear(folder, first, last, spacing):
    sea = Sea(spacing)
    days = list(months_of(first, last))
    n_lat, n_lon = len(sea.latitudes), len(sea.longitudes)
    write(os.path.join(folder, "tos_curvilinear.nc"), [("time", len(days)), ("j", n_lat), ("i", n_lon)],
          [("time", DOUBLE, ["time"], {"units": "days since 1850-01-01", "standard_name": "time"},
            [(day - datetime.date(1850, 1, 1)).days for day in days]),
           ("j", DOUBLE, ["j"], {"units": "1", "long_name": "cell index along second dimension"}, range(n_lat)),
           ("i", DOUBLE, ["i"], {"units": "1", "long_name": "cell index along first dimension"}, range(n_lon)),
           ("latitude", DOUBLE, ["j", "i"], {"units": "degrees_north", "standard_name": "latitude"},
            [y for y in sea.latitudes for _ in sea.longitudes]),
           ("longitude", DOUBLE, ["j", "i"], {"units": "degrees_east", "standard_name": "longitude"},
            [x for _ in sea.latitudes for x in sea.longitudes]),
           ("tos", FLOAT, ["time", "j", "i"], {"units": "degC", "coordinates": "latitude longitude", "_FillValue": (FLOAT, 1e20)},
            [1e20 if v is None else v for day in days for v in sea.field(day)])])


def sea_level(folder, first, last, spacing):
    sea = Sea(spacing)
    n_lat, n_lon = len(sea.latitudes), len(sea.longitudes)
    sla = {"long_name": "Sea level anomaly", "standard_name": "sea_surface_height_above_sea_level", "units": "m",
           "_FillValue": (INT, -2147483647), "scale_factor": (DOUBLE, 0.0001)}
    for day in days_of(first, last):
        packed = [-2147483647 if v is None else round(10000 * v) for v in sea.level(day)]
        write(os.path.join(folder, f"sea_level_{day:%Y%m%d}.nc"), [("time", 1), ("latitude", n_lat), ("longitude", n_lon)],
              [("time", FLOAT, ["time"], {"standard_name": "time", "units": "days since 1950-01-01 00:00:00", "calendar": "gregorian"},
                [(day - datetime.date(1950, 1, 1)).days]),
               ("latitude", FLOAT, ["latitude"], {"units": "degrees_north", "standard_name": "latitude"}, sea.latitudes),
               ("longitude", FLOAT, ["longitude"], {"units": "degrees_east", "standard_name": "longitude"}, sea.longitudes),
               ("sla", INT, ["time", "latitude", "longitude"], sla, packed)])


KINDS = {"oisst": oisst, "ersst": ersst, "era5": era5, "cmip": cmip, "curvilinear": curvilinear, "sea_level": sea_level}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=(*KINDS, "all"))
    parser.add_argument("folder")
    parser.add_argument("--from", dest="first", type=datetime.date.fromisoformat, default=datetime.date(2001, 1, 1))
    parser.add_argument("--to", dest="last", type=datetime.date.fromisoformat, default=datetime.date(2003, 12, 31))
    parser.add_argument("--spacing", type=float, default=5)
    parser.add_argument("--preliminary", type=int, default=0, help="of the last days of oisst")
    parser.add_argument("--el-nino", action="store_true", help="of ersst: an oscillation with seasons")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    for kind in KINDS if options.kind == "all" else (options.kind,):
        more = {"oisst": {"preliminary": options.preliminary}, "ersst": {"el_nino": options.el_nino}}.get(kind, {})
        KINDS[kind](options.folder, options.first, options.last, options.spacing, **more)


if __name__ == "__main__":
    main()
