"""Several starts at once, and clocks that jump."""
import os
import time

import moments
from trial import DONE, INPUT, UNEXPECTED, Found


def together(trial, n=3):
    """One of them runs, the others are refused; whoever comes when it is over finds it done."""
    flags = ("--restart", "auto")
    runs = []
    for _ in range(n):
        runs.append(trial.start(1, *flags))
        time.sleep(trial.rng.choice([0, 0, 0.01, trial.rng.uniform(0, 0.3)]))
    codes = [trial.end(run, DONE, INPUT) for run in runs]
    if DONE not in codes:
        raise Found(UNEXPECTED, f"none of {n} starts went through: {codes}: {trial.said()[-400:]}")
    return 1


def at_once_again(trial):
    """The same on what a killed run has left."""
    trial.stopped()
    return together(trial)


def second_is_killed(trial):
    """A second start beside a run is refused, or killed while it waits; the run goes on as if alone."""
    run = trial.start(1)
    moments.strike(trial.rng, run, trial.out, trial.wall_s(1))
    other = trial.start(1, "--restart", "auto")
    time.sleep(trial.rng.uniform(0, 0.2))
    other.kill()
    other.finish(30)
    trial.end(run, DONE)
    return 1


def clock_set_back(trial):
    """The files' times lie in the future, in any order, as after a clock that went wrong."""
    trial.stopped()
    now = time.time()
    for path, folders, names in os.walk(trial.out):
        for name in [*folders, *names]:
            moment = now + trial.rng.uniform(-86400, 86400)
            os.utime(os.path.join(path, name), (moment, moment), follow_symlinks=False)
    return 1


FAULTS = {"starts_at_once": together, "starts_at_once_again": at_once_again, "second_start_killed": second_is_killed,
          "clock_set_back": clock_set_back}
