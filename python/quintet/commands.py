"""Start, plan and queue runs: what `APP COMMAND FILE`, `quintet plan` and `quintet submit` do."""
from __future__ import annotations

import itertools
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _programs as programs
from ._files import optional, path_of
from .errors import InputError, QuintetError, StoppedEarly
from .inputs import Input, owner_of, said_by
from .runs import Run

if TYPE_CHECKING:
    import pandas


def run(file: Union[str, Path], app: Optional[str] = None, command: Optional[str] = None, *, output: Union[str, Path, None] = None,
        ranks: int = 1, threads: Optional[int] = None, restart: Union[str, Path, None] = None, overwrite: bool = False,
        walltime: Optional[str] = None, progress: programs.Progress = True, set: Optional[Mapping[str, Any]] = None, **settings: Any) -> Run:
    """Run a YAML file to its end and open what it wrote.

    file: the input; app, command: where several commands take such a file. output: directory of the run, else
    runs/NAME of the file's name. ranks: above 1 through mpirun. restart: "auto" or a checkpoint. walltime:
    "HH:MM:SS", after which the run stops with a checkpoint. progress: True prints the run's lines, False none, a
    function gets each. settings: values in place of the file's, `**{"time.steps": 500}`, or in `set`, also of keys that
    are called as these arguments are: `set={"output": None}`.

    Raises InputError, NumericalError, ResourceError with the program's message; StoppedEarly, whose `run` is what
    there is, where it was stopped from outside. Ctrl-C stops the run with a checkpoint.
    """
    file = _existing(file)
    app, command = owner_of(file, app, command)
    if restart is not None and not isinstance(restart, (str, os.PathLike)):
        raise InputError(f"restart is {restart!r:.80}; expected \"auto\" or a checkpoint")
    if not isinstance(set, (Mapping, type(None))):
        raise InputError(f"set is {set!r:.80}; expected values by their keys, such as {{'time.steps': 500}}")
    directory = _output(output, file)
    words: list[Union[str, Path]] = [*programs.mpirun(ranks), programs.program(app), command, file, "--output", directory]
    words += [word for key, value in {**(set or {}), **settings}.items() for word in ("--set", programs.setting(key, value))]
    for flag, value in (("--threads", threads), ("--restart", restart), ("--walltime", walltime)):
        words += [flag, str(value)] if value is not None else []
    words += ["--overwrite"] if overwrite else []
    code = programs.watched(words, progress)
    done = Run(directory)
    if code == 75 and walltime is None:
        kept = any(Path(directory, "checkpoints").glob("step_*.h5"))
        stopped = StoppedEarly(f"{directory}: stopped early " + (
            "with a checkpoint; go on with restart=\"auto\"" if kept else "without a checkpoint: a new start begins anew"))
        stopped.run = done
        raise stopped
    return done


@dataclass(frozen=True)
class Plan:
    """What a run would take on other numbers of ranks. `data`: all that `quintet plan` says, as in its JSON file."""

    data: dict[str, Any]
    text: str

    @property
    def rows(self) -> pandas.DataFrame:
        """A row for each number of ranks: time, memory, words."""
        pandas = optional("pandas", "a plan's table")
        return pandas.json_normalize(self.data["rows"])

    def __repr__(self) -> str:
        return self.text


def plan(file: Union[str, Path], ranks: Union[int, Iterable[int]] = (1,), *, machine: str = "local", app: Optional[str] = None,
         command: Optional[str] = None, threads: int = 1, **settings: Any) -> Plan:
    """Return what a run would take on these numbers of ranks of a machine: time, memory, words, node-hours. Runs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "plan.json"
        words: list[Union[str, Path]] = ["plan", _existing(file), "--ranks", _ranks(ranks), "--machine", machine, "--threads", str(threads), "--output", target, *_common(Path(file), app, command, settings)]
        text = programs.ask([programs.program("quintet"), *words])
        return Plan(json.loads(target.read_text()), text)


@dataclass(frozen=True)
class Job:
    """A queued run. `text`: what `quintet submit` said."""

    directory: Path
    text: str

    def status(self) -> str:
        """Return what the jobs of the run do, and how far it is."""
        return programs.ask([programs.program("quintet"), "status", self.directory])

    def cancel(self) -> str:
        """Take the jobs from the queue, with a checkpoint."""
        return programs.ask([programs.program("quintet"), "cancel", self.directory])

    def open(self) -> Run:
        """Open what the run has written so far."""
        return Run(self.directory)


def submit(file: Union[str, Path], machine: str, walltime: str, *, nodes: int = 1, output: Union[str, Path, None] = None,
           dry_run: bool = False, app: Optional[str] = None, command: Optional[str] = None, flags: Sequence[str] = (),
           **settings: Any) -> Job:
    """Queue a run on a machine: limits are checked, inputs staged, restarts chained.

    machine: a name of configs/machines, or a file. walltime: of a job, "HH:MM:SS". dry_run: check all and write
    nothing; the job's text is the script. flags: further ones of `quintet submit`, such as ("--queue", "gpu").
    """
    file = _existing(file)
    directory = _output(output, file)
    if isinstance(flags, str):
        raise InputError(f"flags are {flags!r:.80}; expected a list of words: {tuple(flags.split())!r:.80}")
    words: list[Union[str, Path]] = ["submit", file, "--machine", machine, "--walltime", walltime, "--nodes", str(nodes), "--output", directory,
             *(["--dry-run"] if dry_run else []), *flags, *_common(file, app, command, settings)]
    return Job(directory, programs.ask([programs.program("quintet"), *words]))


class Sweep(list[Optional[Run]]):
    """Runs of a sweep, in the order of their points; `points[i]` are the values of run i, `errors` what failed."""

    def __init__(self, runs: Iterable[Optional[Run]], points: list[dict[str, Any]], errors: dict[int, QuintetError]) -> None:
        super().__init__(runs)
        self.points = points
        self.errors = errors

    def table(self) -> pandas.DataFrame:
        """Return a row for each point: its values, the numbers of its summary, and the error where it failed."""
        pandas = optional("pandas", "a table of a sweep")
        rows = []
        for i, (point, one) in enumerate(zip(self.points, self)):
            rows.append({**point, **(one.summary.numbers() if one is not None else {}),
                         **({"error": str(self.errors[i])} if i in self.errors else {})})
        return pandas.DataFrame(rows)


def sweep(file: Union[str, Path], values: dict[str, Sequence[Any]], *, output: Union[str, Path, None] = None,
          on_error: str = "raise", **options: Any) -> Sweep:
    """Run a file at all combinations of values, one after another, in output/0000, output/0001, ...

    values: {"time.dt": ["0.5 fs", "1 fs"], ...}; the last key varies fastest. on_error: "raise" ends at the first
    error, "keep" goes on and lists it. options: those of `run()`, the same for all points.
    """
    if on_error not in ("raise", "keep"):
        raise InputError(f"on_error is '{on_error}'; expected 'raise' or 'keep'")
    file = _existing(file)
    folder = _output(output, file)
    if not isinstance(values, Mapping):
        raise InputError(f"values are {values!r:.80}; expected a list for each key, such as {{'time.dt': ['0.5 fs', '1 fs']}}")
    lists: dict[str, list[Any]] = {}
    for key, several in values.items():
        lists[key] = [] if isinstance(several, str) or not hasattr(several, "__iter__") else list(several)
        if not lists[key]:
            raise InputError(f"{key}: {several!r:.80} is no list of values, one or more")
    points = [dict(zip(lists, one)) for one in itertools.product(*lists.values())]
    runs: list[Optional[Run]] = []
    errors: dict[int, QuintetError] = {}
    for i, point in enumerate(points):
        target = folder / f"{i:04d}"
        try:
            runs.append(run(file, output=target, **{**options, **point}))
        except QuintetError as error:
            if on_error == "raise" or isinstance(error, StoppedEarly):
                raise
            errors[i] = error
            runs.append(None)
    return Sweep(runs, points, errors)


def _common(file: Path, app: Optional[str], command: Optional[str], settings: dict[str, Any]) -> list[str]:
    if app is None and command is None:
        app, command = said_by(file)
    words = [word for flag, value in (("--app", app), ("--command", command)) if value for word in (flag, value)]
    return words + [word for key, value in settings.items() for word in ("--set", programs.setting(key, value))]


def _output(output: Union[str, Path, None], file: Path) -> Path:
    """Return the directory of a run: the one that is named, else runs/NAME of the input's name."""
    return path_of(output, "output") if output is not None else Path("runs") / file.stem


def _ranks(ranks: Any) -> str:
    """Return numbers of ranks as `quintet plan` takes them."""
    several = [ranks] if isinstance(ranks, (int, np.integer)) else ranks
    if isinstance(several, str) or not hasattr(several, "__iter__") or not all(isinstance(one, (int, np.integer)) for one in several):
        raise InputError(f"ranks are {ranks!r:.80}; expected a whole number, or a list of them")
    return ",".join(map(str, several))


def _existing(file: Union[str, Path]) -> Path:
    if isinstance(file, Input):
        raise InputError("an Input is in no file yet: run what its .write(FILE) returns; names of files in it count from there")
    path = path_of(file, "the input")
    if path.is_dir():
        raise InputError(f"{path}: is a directory; expected the YAML file of a run")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    return path
