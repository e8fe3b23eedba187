"""Two folders of results: every data set, every number of summary.json, every other file."""
import fnmatch
import functools
import json
import os
import struct

import h5py
import numpy as np

import gkyl

# What two uninterrupted runs differ in, too: times, places, and who ran it how.
IGNORED_FILES = ("report.html", "run.log", "progress.json", "*.xmf", "index.html", "jobs.yaml", "last_word*", "leaderboard.csv", "trials.csv")
IGNORED_DATASETS = ("seconds", "numbers")  # numbers: of a search's trials, whose times are among them
# Keys of summary.json, as patterns: times and rates, memory and what lies in it, who ran it how, and words made of all these;
# last_step is not told where nothing was left to do.
IGNORED_KEYS = ("*_s", "seconds_per_*", "?s_per_*", "wall_*", "trials_per_hour", "speed_*", "utilisation", "repeated", "memory_*", "*_bytes",
                "*_bytes_*", "ranks", "threads", "steps", "last_step", "restart*", "lost", "neighbour_list_rebuilds", "input", "output", "what",
                "headlines", "warnings", "provenance", "parallel_*", "*checksum")
STATE = ("checkpoints/", ".quintet/", "emergency/")


def files_of(folder, only=()):
    """Paths of results, relative; links are followed, the run's own state is left out."""
    found = set()
    for path, _, names in os.walk(folder, followlinks=True):
        found |= {os.path.relpath(os.path.join(path, name), folder) for name in names}
    if only:
        return {name for name in found if any(fnmatch.fnmatch(name, pattern) for pattern in only)}
    return {name for name in found if not name.startswith(STATE)
            and not any(fnmatch.fnmatch(os.path.basename(name), pattern) for pattern in IGNORED_FILES)}


def left_over(folder):
    """Unfinished files that nobody will finish."""
    found = []
    for path, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(path, name), folder) for name in names if ".tmp" in name or name.endswith(".unfinished")]
    return sorted(found)


def data_sets(path):
    found = {}
    with h5py.File(path, "r") as file:
        def add(name, item):
            if isinstance(item, h5py.Dataset) and item.attrs.get("description") != "A frame that a restart dropped.":
                found[name] = item[()] if item.shape is not None else None
        file.visititems(add)
    return found


reference_sets = functools.lru_cache(maxsize=64)(data_sets)


def difference(ours, theirs, tolerance, floor):
    """Words on how an array differs from the reference's; empty if it does not."""
    if ours is None or theirs is None:
        return "" if ours is theirs else "one is null"
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype} {ours.shape}, expected {theirs.dtype} {theirs.shape}"
    if ours.dtype.kind in "OSV":
        return "" if ours.tolist() == theirs.tolist() else "other values"
    if ours.tobytes() == theirs.tobytes():
        return ""
    if ours.dtype.kind not in "fiu":
        return "other values"
    x, y = ours.astype(float).ravel(), theirs.astype(float).ravel()
    if (np.isnan(x) != np.isnan(y)).any():
        return "nan in other places"
    numbers = ~np.isnan(x)
    worst = np.abs(x - y)[numbers].max(initial=0)
    relative = worst / max(np.abs(y[numbers]).max(initial=0), 1e-300)
    if tolerance and (relative <= tolerance or worst <= floor):
        return ""
    zeros = int((~x.reshape(len(x) if x.ndim == 1 else x.shape[0], -1).any(axis=1)).sum()) if x.size else 0
    return f"relative {relative:.2g}, absolute {worst:.2g}, {zeros} zeros"


def unwrapped(sets):
    """Positions of atoms without the cell that they were last folded into: round-off decides which it is for an atom on its edge."""
    group = "particles/atoms/"
    names = [group + name for name in ("position/value", "image/value", "box/edges/value")]
    if any(name not in sets for name in names):
        return sets
    position, image, edges = (sets[name] for name in names)
    if position.shape[:2] != image.shape[:2] or edges.shape != (len(position), 3, 3):
        return sets
    return {**{name: value for name, value in sets.items() if name != names[1]}, names[0]: position + np.einsum("fai,fik->fak", image, edges)}


def is_ignored(name):
    return name.rsplit("/", 1)[-1] in IGNORED_DATASETS


def has_ignored(path):
    """Whether checksums of a file are over values that differ between any two runs."""
    found = []
    with h5py.File(path, "r") as file:
        def look(name, item):
            if name.endswith("_checksum") and "covers" in item.attrs:
                found.extend(str(one) for one in item.attrs["covers"])
        file.visititems(look)
    return any(is_ignored(name) for name in found)


def compare_hdf5(name, ours, theirs, tolerance, floor):
    a, b = data_sets(ours), reference_sets(theirs)
    if tolerance:
        a, b = unwrapped(a), unwrapped(b)
    found = [f"{name}:{key}: {'not there' if key in b else 'not expected'}" for key in sorted(set(a) ^ set(b))]
    without_checksums = tolerance or has_ignored(ours)
    for key in sorted(set(a) & set(b)):
        if is_ignored(key) or key.endswith("_checksum") and without_checksums:
            continue
        if (words := difference(a[key], b[key], tolerance, floor)):
            found.append(f"{name}:{key}: {words}")
    return found


def compare_summaries(ours, theirs, tolerance):
    with open(ours, encoding="utf-8") as stream:
        a = json.load(stream)
    with open(theirs, encoding="utf-8") as stream:
        b = json.load(stream)
    found = []
    for key in b:
        if any(fnmatch.fnmatchcase(key, pattern) for pattern in IGNORED_KEYS):
            continue
        x, y = a.get(key, "absent"), b[key]
        close = tolerance and all(isinstance(z, (int, float)) for z in (x, y)) and abs(x - y) <= max(100 * tolerance, 1e-7) * max(abs(y), 1e-2)
        if x != y and not close:
            found.append(f"summary {key}: {str(x)[:60]}, expected {str(y)[:60]}")
    return found


def content(path, name):
    """Bytes of a file, but for where its folder lies."""
    if path.endswith(".gkyl") and (rows := gkyl.series(path)):
        return rows
    with open(path, "rb") as stream:
        return stream.read().replace(path[:-len(name)].encode(), b"")


def compare_file(name, ours, theirs, tolerance, floor):
    try:
        if name == "summary.json":
            return compare_summaries(ours, theirs, tolerance)
        if h5py.is_hdf5(theirs):
            return compare_hdf5(name, ours, theirs, tolerance, floor)
        if tolerance:  # text and numbers of others' formats: to the bit on the same ranks only
            return []
        return [] if content(ours, name) == content(theirs, name) else [f"{name}: other bytes"]
    except (OSError, RuntimeError, ValueError, KeyError, struct.error) as error:
        return [f"{name}: {type(error).__name__} {str(error)[:120]}"]


def compare(ours, theirs, program, same_ranks):
    """Differences of a folder from the reference's, as lines."""
    a, b = files_of(ours, program.only), files_of(theirs, program.only)
    # Files of unfinished things are told apart from results.
    found = [f"{name}: not there" for name in sorted(b - a)]
    found += [f"{name}: not expected" for name in sorted(a - b) if ".tmp" not in name and "put_aside" not in name and ".damaged" not in name]
    if not same_ranks and program.round_off == 0:
        return found
    tolerance = 0 if same_ranks else program.round_off
    for name in sorted(a & b):
        found += compare_file(name, os.path.join(ours, name), os.path.join(theirs, name), tolerance, program.floor)
    return found
