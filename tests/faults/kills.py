"""SIGKILL: once, again and again, one rank or all, before the next checkpoint, and on to other numbers of ranks."""
import os
import signal

import moments

KILLED = (0, -signal.SIGKILL, 137, 1, 4, 9)  # mpirun tells a rank's death in several ways; 0: the run was faster


def kill(trial, ranks, *names, one=False, flags=()):
    """Start, kill at some moment, wait; false if the run had ended before."""
    run = trial.start(ranks, *flags)
    when = moments.strike(trial.rng, run, trial.out, trial.wall_s(ranks), *names)
    workers = run.workers() if one else []
    run.kill(trial.rng.choice(workers) if workers else None)
    trial.note(f"killed at {when}")
    return trial.end(run, *KILLED) != 0


def once(*names, ranks=(1, 1, 1, 2), one=False):
    """Killed once, at a moment of these kinds (at any, where none is named), on a drawn number of ranks."""
    def strike(trial):
        n = trial.draw_ranks(*ranks)
        kill(trial, n, *names, one=one)
        return n
    return strike


def before_the_next_checkpoint(trial, ranks, *start):
    """Start where no checkpoint is due and, if need be, the end is far; kill: what the run changed on disk meanwhile has no checkpoint."""
    pairs = [pair for pair in (trial.program.seldom, *trial.program.longer) if pair]
    flags = [word for pair in pairs for word in ("--set", pair)]
    return kill(trial, ranks, "any time", "goes on", "goes on", "file", flags=(*start, *flags))


def twice(trial):
    """The second before the next checkpoint."""
    ranks = trial.draw_ranks(1, 1, 1, 2)
    if kill(trial, ranks, "any time", "checkpoint", "checkpoint", "file"):
        before_the_next_checkpoint(trial, ranks)
    return ranks


def thrice(trial):
    ranks = trial.draw_ranks(1, 1, 1, 2)
    if kill(trial, ranks) and before_the_next_checkpoint(trial, ranks):
        kill(trial, ranks)
    return ranks


def twice_from_older(trial):
    """The newest checkpoint was being written when the first kill came: an older one counts. Killed again before the next."""
    trial.stopped()
    if len(trial.checkpoints()) > 1:
        os.remove(trial.checkpoints()[-1])
    before_the_next_checkpoint(trial, 1)
    return 1


def from_named(trial):
    """--restart FILE of an older checkpoint, killed before the next one."""
    trial.stopped()
    before_the_next_checkpoint(trial, 1, "--restart", trial.checkpoints()[0])
    return 1


def other_ranks(trial):
    """Killed on a, then on b ranks, and on to the end on c."""
    choices = [trial.draw_ranks(1, 2, 3) for _ in range(3)]
    if kill(trial, choices[0]) and trial.rng.random() < 0.6:
        kill(trial, choices[1])
    return choices[2]


def other_ranks_from_checkpoint(trial):
    """Begun on one rank, killed in its middle, on to the end on two or three."""
    trial.stopped()
    return trial.draw_ranks(2, 3)


FAULTS = {
    "kill": once(), "kill_at_start": once("start", ranks=(1, 2)), "kill_at_checkpoint": once("checkpoint"), "kill_at_file": once("file"),
    "kill_at_report": once("report"), "kill_one_rank": once(ranks=(2, 3), one=True),
    "kill_twice": twice, "kill_thrice": thrice, "kill_twice_from_older": twice_from_older,
    "kill_from_named": from_named, "kill_other_ranks": other_ranks, "other_ranks": other_ranks_from_checkpoint,
}
