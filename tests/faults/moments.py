"""When a fault strikes: at a random time of the run's life, or beside something that the run does on disk."""
import contextlib
import os
import time

RESULTS = ("run.h5", "trajectory.h5", "fields.h5", "candidates.h5", "trials.h5", "judged.h5", "model.h5", "model.dp", "modes.h5", "policy.h5",
           "lcurve.csv", "lcurve.out", "model_devi.out", "campaign.state", "trajectory.xyz")
LOOK_S = 0.0003


def listing(folder):
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def sizes(folder, names):
    found = {}
    for name in names:
        with contextlib.suppress(OSError):
            found[name] = os.stat(os.path.join(folder, name)).st_size
    return found


def wait_for(run, limit_s, happened):
    """Until something has happened, the run has ended, or it took too long; true for the first."""
    deadline = time.monotonic() + limit_s
    while run.is_running() and time.monotonic() < deadline:
        if happened():
            return True
        time.sleep(LOOK_S)
    return False


def any_time(rng, run, _out, wall_s):
    time.sleep(rng.uniform(0, wall_s))


def start(rng, run, _out, wall_s):
    time.sleep(rng.uniform(0, min(0.3, wall_s)))


def checkpoint(rng, run, out, wall_s):
    """A checkpoint's unfinished file appears, or gets its name; where none comes for long, some time."""
    folder, skip, seen = os.path.join(out, "checkpoints"), rng.randrange(6), listing(os.path.join(out, "checkpoints"))

    def happened():
        nonlocal skip
        new = listing(folder) - seen
        seen.update(new)
        skip -= len(new)
        return skip < 0

    wait_for(run, rng.uniform(0.5, 1.2) * wall_s, happened)
    time.sleep(rng.choice([0, 0, rng.uniform(0, 0.003), rng.uniform(0, 0.03)]))


def file_grows(rng, run, out, wall_s):
    """A file of results appears or grows; where none does for long, some time."""
    before, skip = sizes(out, RESULTS), rng.choice([0, 0, 1, 2, 4])

    def happened():
        nonlocal before, skip
        now = sizes(out, RESULTS)
        if now == before:
            return False
        before, skip = now, skip - 1
        return skip < 0

    wait_for(run, rng.uniform(0.5, 1.2) * wall_s, happened)
    time.sleep(rng.choice([0, 0, 1e-4, 5e-4, 1e-3, 3e-3]))


def report(rng, run, out, wall_s):
    """The last files are written: report.html, summary.json."""
    last = ("report.html", "summary.json", "report.html.tmp", "summary.json.tmp")
    times = {name: os.stat(os.path.join(out, name)).st_mtime_ns for name in last if os.path.exists(os.path.join(out, name))}

    def happened():
        for name in last:
            with contextlib.suppress(OSError):
                if os.stat(os.path.join(out, name)).st_mtime_ns != times.get(name):
                    return True
        with contextlib.suppress(OSError):
            with open(os.path.join(out, "progress.json"), encoding="utf-8") as stream:
                return '"share": 1' in stream.read()
        return False

    wait_for(run, 2 * wall_s + 3, happened)
    time.sleep(rng.choice([0, 0, rng.uniform(0, 0.003), rng.uniform(0, 0.03)]))


def goes_on(rng, run, out, wall_s):
    """Some way behind the first sign of life of its loop."""
    path = os.path.join(out, "progress.json")
    before = os.stat(path).st_mtime_ns if os.path.exists(path) else 0
    wait_for(run, 2 * wall_s + 3, lambda: os.path.exists(path) and os.stat(path).st_mtime_ns != before)
    time.sleep(rng.uniform(0, wall_s))


MOMENTS = {"goes on": goes_on, "any time": any_time, "start": start, "checkpoint": checkpoint, "file": file_grows, "report": report}


def strike(rng, run, out, wall_s, *names):
    """Wait for a moment of one of these kinds; which one it was."""
    name = rng.choice(names or ("any time", "any time", "start", "checkpoint", "checkpoint", "file", "report"))
    MOMENTS[name](rng, run, out, wall_s)
    return name
