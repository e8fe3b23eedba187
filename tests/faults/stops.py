"""Signals, --walltime, a pause, and a terminal that goes away."""
import os
import signal
import time

import moments
from trial import CRASHED, DONE, EARLY, UNEXPECTED, Found

# How mpirun tells that a signal ended it or a rank.
OF_LAUNCHER = {1, 15, 130, 137, 138, 143, 129}


def judge(trial, run, numbers, begun):
    code = trial.end(run)
    if code in (DONE, EARLY):
        return
    # Before the run begins, a signal may end it as it ends any program; mpirun hands on what it likes.
    if not begun and (code in {-number for number in numbers} or code > 0) or run.ranks > 1 and code in OF_LAUNCHER:
        return
    raise Found(CRASHED if code in (70, 134, 139) or code < 0 else UNEXPECTED, f"ends with {code}: {run.said()[-400:]}")


def stop(trial, number, times=1):
    ranks = trial.draw_ranks(1, 1, 1, 2)
    run = trial.start(ranks, grace_s=5)
    when = moments.strike(trial.rng, run, trial.out, trial.wall_s(ranks))
    begun = os.path.exists(os.path.join(trial.out, "run.log"))
    to = "ranks" if ranks > 1 and number != signal.SIGUSR1 and trial.rng.random() < 0.5 else "launcher"
    for i in range(times):
        if i:
            time.sleep(trial.rng.uniform(0, 0.05))
        run.send(number, to)
    trial.note(f"{signal.Signals(number).name} to {to} at {when}")
    # A second signal of a kind ends a run at once.
    judge(trial, run, [number], begun and times == 1)
    return ranks


def walltime(trial):
    """Links of a second or two, as many as it takes."""
    ranks = trial.draw_ranks(1, 1, 1, 2)
    for _ in range(6):
        run = trial.start(ranks, "--walltime", f"00:00:0{trial.rng.choice([1, 2])}")
        code = trial.end(run, DONE, EARLY)
        if code == DONE:
            break
    return ranks


def pause(trial):
    """All processes stand still for a while."""
    ranks = trial.draw_ranks(1, 2)
    run = trial.start(ranks)
    moments.strike(trial.rng, run, trial.out, trial.wall_s(ranks))
    run.send(signal.SIGSTOP, "ranks")
    time.sleep(trial.rng.uniform(0.2, 1))
    run.send(signal.SIGCONT, "ranks")
    trial.end(run, DONE)
    return ranks


FAULTS = {
    "SIGTERM": lambda trial: stop(trial, signal.SIGTERM), "SIGINT": lambda trial: stop(trial, signal.SIGINT),
    "SIGUSR1": lambda trial: stop(trial, signal.SIGUSR1), "SIGHUP": lambda trial: stop(trial, signal.SIGHUP),
    "SIGTERM_twice": lambda trial: stop(trial, signal.SIGTERM, 2), "walltime": walltime, "pause": pause,
}
