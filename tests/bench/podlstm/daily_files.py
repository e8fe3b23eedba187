#!/usr/bin/env python3
"""podlstm fit of daily quarter-degree files beside plain reads of the same numbers, by netCDF's C library and by h5py (pip install h5py numpy).

daily_files.py PODLSTM [--days 126] [--folder DIR]

Writes files as NOAA's OISST v2.1 has them (netCDF-4, sst(time, zlev, lat, lon) of int16, shuffled, deflated, one chunk), unless they are there.
Then, each three times by turns, in CPU seconds: every file opened once and its sst read as it is stored, all of which the disk's cache has, by
either library with its own HDF5 and zlib; podlstm fit, which makes weeks at one degree of them, keeps them and computes modes, less the same run
again, which reads no values: what files cost. With --threads the wall clock of fit counts, too.
The last line is JSON; its peer is the faster of the plain reads.
"""
import argparse
import ctypes
import ctypes.util
import datetime
import json
import os
import resource
import shutil
import subprocess
import sys
import time

try:
    import h5py
    import numpy as np
except ModuleNotFoundError as error:
    sys.exit(f"what writes and reads the files is not here: {error}; pip install h5py numpy")

INPUT = """fields: {files: ["%s/oisst-avhrr-v02r01.*.nc"], mean: week, coarsen: 4, cache: %s/weekly.h5}
pod: {modes: 5, weights: area}
"""


def write_files(folder, n_days):
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(1)
    lat, lon = np.arange(720) * 0.25 - 89.875, np.arange(1440) * 0.25 + 0.125
    y, x = np.meshgrid(np.radians(lat), np.radians(lon), indexing="ij")
    land = (np.abs(lat[:, None]) > 78) | (np.sin(3 * x) * np.cos(2 * y) + 0.5 * np.sin(5 * x + 7 * y) > 0.6)
    small = np.zeros((720, 1440))
    for day in range(n_days):
        date = datetime.date(2001, 1, 7) + datetime.timedelta(day)
        path = os.path.join(folder, f"oisst-avhrr-v02r01.{date:%Y%m%d}.nc")
        eddies = np.repeat(np.repeat(random.standard_normal((90, 180)), 8, 0), 8, 1)
        small = 0.9 * small + 0.3 * eddies + 0.03 * random.standard_normal((720, 1440))
        if os.path.exists(path):
            continue
        sst = 28 * np.cos(y) ** 2 - 1 + 4 * np.sin(y) * np.cos(day / 58) + np.cos(x + day / 100) + small
        stored = np.where(land, -999, np.round(100 * np.maximum(sst, -1.8))).astype("int16")
        with h5py.File(path + ".new", "w") as file:
            for name, values, kind in (("time", [(date - datetime.date(1978, 1, 1)).days], "f4"), ("zlev", [0], "f4"), ("lat", lat, "f4"),
                                       ("lon", lon, "f4")):
                file.create_dataset(name, data=np.asarray(values, kind)).make_scale(name)
            for name, units in (("time", "days since 1978-01-01 12:00:00"), ("zlev", "meters"), ("lat", "degrees_north"), ("lon", "degrees_east")):
                file[name].attrs["units"] = np.bytes_(units)
            for name in ("sst", "anom", "err", "ice"):
                data = stored if name == "sst" else np.where(land, -999, (stored // (3 if name == "anom" else 50)) % 400).astype("int16")
                field = file.create_dataset(name, data=data[None, None], chunks=(1, 1, 720, 1440), shuffle=True, compression="gzip",
                                            compression_opts=4, fillvalue=-999)
                for i, axis in enumerate(("time", "zlev", "lat", "lon")):
                    field.dims[i].attach_scale(file[axis])
                field.attrs.update({"_FillValue": np.int16([-999]), "scale_factor": np.float32([0.01]), "add_offset": np.float32([0]),
                                    "valid_min": np.int16([-300]), "valid_max": np.int16([4500]), "units": np.bytes_("Celsius")})
        os.rename(path + ".new", path)


def seconds(action, who):
    """CPU seconds of an action, and those of the clock."""
    before, begin = resource.getrusage(who), time.perf_counter()
    action()
    after, end = resource.getrusage(who), time.perf_counter()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, end - begin


def netcdf_library():
    """netCDF's C library, the one that podlstm has where it is found."""
    for name in ("netcdf_mpi", "netcdf"):
        path = ctypes.util.find_library(name)
        if path:
            return ctypes.CDLL(path)
    sys.exit("netCDF's C library is not here; Debian: apt-get install libnetcdf-mpi-dev")


def checked(code):
    if code != 0:
        sys.exit(f"netCDF: error {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("podlstm")
    parser.add_argument("--days", type=int, default=126)
    parser.add_argument("--folder", default="daily_files")
    parser.add_argument("--threads", default="1")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    write_files(folder, options.days)
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("oisst-avhrr") and name.endswith(".nc"))

    netcdf, buffer = netcdf_library(), np.empty(720 * 1440, "int16")

    def by_netcdf():
        for path in paths:
            file, variable = ctypes.c_int(), ctypes.c_int()
            checked(netcdf.nc_open(path.encode(), 0, ctypes.byref(file)))
            checked(netcdf.nc_inq_varid(file, b"sst", ctypes.byref(variable)))
            checked(netcdf.nc_get_var_short(file, variable, buffer.ctypes.data_as(ctypes.c_void_p)))
            checked(netcdf.nc_close(file))

    def by_h5py():
        for path in paths:
            with h5py.File(path, "r") as file:
                file["sst"][...]

    def clear():
        for name in ("weekly.h5", "weekly.h5.files"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        with open(os.path.join(folder, "fit.yaml"), "w", encoding="utf-8") as file:
            file.write(INPUT % (folder, folder))

    def fit():
        shutil.rmtree(os.path.join(folder, "fit"), ignore_errors=True)
        subprocess.run([options.podlstm, "fit", os.path.join(folder, "fit.yaml"), "--threads", options.threads, "--output", os.path.join(folder, "fit")],
                       check=True, stdout=subprocess.DEVNULL)

    def measured():
        clear()
        return [seconds(action, who) for action, who in ((by_netcdf, resource.RUSAGE_SELF), (by_h5py, resource.RUSAGE_SELF),
                                                         (fit, resource.RUSAGE_CHILDREN), (fit, resource.RUSAGE_CHILDREN))]

    by_netcdf()
    rows = [measured() for _ in range(3)]
    cpu, wall = ([min(row[k][i] for row in rows) for k in range(4)] for i in range(2))
    ours, peer, n = cpu[2] - cpu[3], min(cpu[:2]), len(paths)
    print(f"{n} files of {sum(map(os.path.getsize, paths)) / n / 1e6:.2f} MB; load {os.getloadavg()[0]:.1f}; {options.threads} threads")
    for what, s in (("CPU", cpu), ("wall", wall)):
        print(f"{what} s: netCDF {s[0]:.2f}, h5py {s[1]:.2f}, first fit {s[2]:.2f}, again {s[3]:.2f}; ms a file: "
              f"netCDF {1e3 * s[0] / n:.1f}, h5py {1e3 * s[1] / n:.1f}, fit {1e3 * (s[2] - s[3]) / n:.1f}")
    print(json.dumps({"bench": "podlstm_daily_files", "case": f"{n} files of 720 x 1440, {options.threads} threads", "ours": ours, "peer": peer,
                      "ratio": peer / ours, "unit": "CPU s"}))


if __name__ == "__main__":
    main()
