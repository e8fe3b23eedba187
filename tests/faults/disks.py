"""Disks that are full, limited, read-only, or gone."""
import contextlib
import os
import resource
import shutil
import subprocess

import moments
from trial import DONE, INPUT, RESOURCE, SKIPPED, Found

STOPPED = (DONE, RESOURCE, 1)  # 1: mpirun, where a rank ended with 4


def can_mount():
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def du(folder):
    return sum(os.lstat(os.path.join(path, name)).st_blocks * 512 for path, _, names in os.walk(folder) for name in names)


@contextlib.contextmanager
def disk(trial, kilobytes):
    """A tmpfs of a size at the trial's folder of results; what is on it stays there afterwards."""
    place = trial.base + "/disk"
    os.makedirs(place)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Found(SKIPPED, f"no disk can be mounted: {done.stderr.strip()}")
    former, trial.out = trial.out, place + "/out"
    try:
        yield lambda *options: subprocess.run(["mount", "-o", "remount," + ",".join(options), place], check=True)
    finally:
        if os.path.isdir(trial.out):
            shutil.copytree(trial.out, former, symlinks=True)
        subprocess.run(["umount", "-l", place], check=True)
        trial.out = former


def full(trial, ranks):
    """Too small a disk, from the start; then there is room."""
    reference, wall = trial.lab.reference(trial.program, ranks)
    size = du(reference) // 1024
    share = trial.rng.choice([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 1.05])
    trial.note(f"{share:.0%} of {size} kB")
    trial.loss_allowed = False
    with disk(trial, max(16, int(size * share) // 4 * 4)) as remount:
        trial.end(trial.start(ranks), *STOPPED)
        remount(f"size={3 * size + 4000}k")
        if trial.rng.random() < 0.3:  # and a kill on the way
            run = trial.start(ranks)
            moments.strike(trial.rng, run, trial.out, wall)
            run.kill()
            trial.end(run)
    return ranks


def read_only(trial):
    """A folder that cannot be written to is refused, and is what it was."""
    trial.stopped()
    kept = trial.out
    with disk(trial, 400000) as remount:
        shutil.copytree(kept, trial.out, symlinks=True)
        shutil.rmtree(kept)
        remount("ro")
        trial.end(trial.start(1), INPUT, RESOURCE)
        remount("rw")
    return 1


def quota(trial):
    """No file may grow beyond a limit (RLIMIT_FSIZE), as a quota that is used up."""
    ranks = trial.draw_ranks(1, 1, 1, 2)
    reference, _ = trial.lab.reference(trial.program, ranks)
    largest = max(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(reference) for name in names)
    limit = max(4096, int(largest * trial.rng.uniform(0.02, 1.0)))
    trial.note(f"{limit} of {largest} bytes")
    run = trial.start(ranks, prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    trial.end(run, *STOPPED)
    return ranks


def removed(trial):
    """Somebody removes the folder; the next start begins anew."""
    ranks = trial.draw_ranks(1, 1, 1, 2)
    run = trial.start(ranks)
    moments.strike(trial.rng, run, trial.out, trial.wall_s(ranks))
    for _ in range(3):
        shutil.rmtree(trial.out, ignore_errors=True)
    trial.end(run, DONE, INPUT, RESOURCE, 1)
    shutil.rmtree(trial.out, ignore_errors=True)
    return ranks


FAULTS = {
    "disk_full": lambda trial: full(trial, 1), "disk_full_ranks": lambda trial: full(trial, trial.draw_ranks(2)),
    "read_only": read_only, "quota": quota, "folder_removed": removed,
}
