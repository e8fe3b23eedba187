"""What a stopped run left is damaged: its newest checkpoint, its results, files beside them."""
import glob
import os
import struct

import h5py

from trial import SKIPPED, Found
from xxh64 import xxh64

SIDES = ("trajectory.h5", "trajectory.xyz", "fields.h5", "candidates.h5", "model_devi.out", "lcurve.csv", "lcurve.out")
WITHOUT_CHECKSUM = ("trajectory.xyz", "model_devi.out")  # texts in which another digit is none that can be found


def cut(rng, path):
    os.truncate(path, int(os.path.getsize(path) * rng.uniform(0.02, 0.98)))


def empty(_rng, path):
    os.truncate(path, 0)


def flip(rng, path, n=1, before=None):
    """One bit, n times."""
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for _ in range(n):
            place = rng.randrange(min(before or size, size))
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << rng.randrange(8)]))


def blank(rng, path):
    """A piece reads as zeros, as after a machine that went down."""
    size = os.path.getsize(path)
    length = min(4096, size)
    with open(path, "r+b") as file:
        file.seek(rng.randrange(max(1, size - length)))
        file.write(b"\0" * length)


def gone(_rng, path):
    os.remove(path)


def folder(_rng, path):
    os.remove(path)
    os.mkdir(path)


def other_version(_rng, path):
    """A whole checkpoint of a schema that nobody knows yet, sealed anew (io/hdf5/seal.cpp)."""
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 24)
    with h5py.File(path, "r+") as file:
        file.attrs["schema_version"] = file.attrs["schema_version"] + 50
    with open(path, "rb") as file:
        content = file.read()
    blocks = b"".join(struct.pack("<Q", xxh64(content[i:i + (1 << 24)])) for i in range(0, len(content), 1 << 24))
    with open(path, "ab") as file:
        file.write(struct.pack("<QQQ", 0x314C4145535F5451, len(content), xxh64(blocks)))


def newest_checkpoint(how, refusal=False):
    def strike(trial):
        trial.stopped()
        how(trial.rng, trial.checkpoints()[-1])
        trial.refusal_allowed = refusal or len(trial.checkpoints()) < 2
        return 1
    return strike


def all_checkpoints(trial):
    """None is whole: told, and nothing is begun over it unasked."""
    trial.stopped()
    for path in trial.checkpoints():
        empty(trial.rng, path)
    trial.loss_allowed = trial.refusal_allowed = True
    return 1


def results(how):
    """run.h5: put aside and told, or refused with words."""
    def strike(trial):
        trial.stopped()
        path = os.path.join(trial.out, "run.h5")
        if not os.path.exists(path):
            raise Found(SKIPPED, "no run.h5 at that time")
        how(trial.rng, path)
        trial.loss_allowed = trial.refusal_allowed = True
        return 1
    return strike


def side(how, but=()):
    """A file beside run.h5."""
    def strike(trial):
        trial.stopped()
        there = [path for name in SIDES if name not in but and os.path.exists(path := os.path.join(trial.out, name))]
        if not there:
            raise Found(SKIPPED, "no such file beside run.h5")
        path = trial.rng.choice(there)
        trial.note(os.path.basename(path))
        how(trial.rng, path)
        trial.loss_allowed = trial.refusal_allowed = True
        return 1
    return strike


def own_files(trial):
    """Garbage where the run keeps its owner and its list of files."""
    trial.stopped()
    for path in glob.glob(trial.out + "/.quintet/*"):
        if os.path.isfile(path):
            trial.rng.choice([empty, cut, lambda rng, name: flip(rng, name, 5)])(trial.rng, path)
    trial.refusal_allowed = True  # for 120 s: an owner that cannot be told to be dead may live on another machine
    return 1


def finished_without_results(trial):
    """run.h5 of a finished run is removed; the run is restarted."""
    trial.end(trial.start(1), 0)
    path = os.path.join(trial.out, "run.h5")
    if not os.path.exists(path):
        raise Found(SKIPPED, "writes no run.h5")
    os.remove(path)
    trial.loss_allowed = trial.refusal_allowed = True
    return 1


FAULTS = {
    "checkpoint_cut": newest_checkpoint(cut), "checkpoint_flipped": newest_checkpoint(flip), "checkpoint_empty": newest_checkpoint(empty),
    "checkpoint_blank": newest_checkpoint(blank), "checkpoint_folder": newest_checkpoint(folder),
    "checkpoint_version": newest_checkpoint(other_version, refusal=True), "checkpoints_all_empty": all_checkpoints,
    "results_cut": results(cut), "results_flipped": results(lambda rng, path: flip(rng, path, 20)), "results_empty": results(empty),
    "results_blank": results(blank), "results_gone": results(gone), "results_header": results(lambda rng, path: flip(rng, path, 3, 500)),
    "side_cut": side(cut), "side_flipped": side(lambda rng, path: flip(rng, path, 20), but=WITHOUT_CHECKSUM), "side_empty": side(empty), "side_gone": side(gone),
    "own_files": own_files, "finished_results_gone": finished_without_results,
}
