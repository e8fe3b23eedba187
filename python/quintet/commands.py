"""Start, plan and queue runs: what `APP COMMAND FILE`, `quintet plan` and `quintet submit` do."""
from __future__ import annotations

import itertools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

from . import _programs as programs
from ._files import optional
from .errors import InputError, QuintetError, StoppedEarly
from .inputs import Input, owner_of
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
    directory = Path(output) if output is not None else Path("runs") / file.stem
    words: list[Union[str, Path]] = [*programs.mpirun(ranks), programs.program(app), command, file, "--output", directory]
    words += [word for key, value in {**(set or {}), **settings}.items() for word in ("--set", programs.setting(key, value))]
    for flag, value in (("--threads", threads), ("--restart", restart), ("--walltime", walltime)):
        words += [flag, str(value)] if value is not None else []
    words += ["--overwrite"] if overwrite else []
    code = programs.watched(words, progress)
    done = Run(directory)
    if code == 75 and walltime is None:
        stopped = StoppedEarly(f"{directory}: stopped early with a checkpoint; go on with restart=\"auto\"")
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
        words: list[Union[str, Path]] = ["plan", _existing(file), "--ranks", ",".join(map(str, [ranks] if isinstance(ranks, int) else ranks)),
                 "--machine", machine, "--threads", str(threads), "--output", target, *_common(app, command, settings)]
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
    directory = Path(output) if output is not None else Path("runs") / file.stem
    words: list[Union[str, Path]] = ["submit", file, "--machine", machine, "--walltime", walltime, "--nodes", str(nodes), "--output", directory,
             *(["--dry-run"] if dry_run else []), *flags, *_common(app, command, settings)]
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
    folder = Path(output) if output is not None else Path("runs") / file.stem
    for key, several in values.items():
        if isinstance(several, str) or not hasattr(several, "__iter__"):
            raise InputError(f"{key}: {several!r:.80} is no list of values")
    points = [dict(zip(values, one)) for one in itertools.product(*values.values())]
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


def _common(app: Optional[str], command: Optional[str], settings: dict[str, Any]) -> list[str]:
    words = [word for flag, value in (("--app", app), ("--command", command)) if value for word in (flag, value)]
    return words + [word for key, value in settings.items() for word in ("--set", programs.setting(key, value))]


def _existing(file: Union[str, Path]) -> Path:
    if isinstance(file, Input):
        raise InputError("an Input is in no file yet: run what its .write(FILE) returns; names of files in it count from there")
    path = Path(file)
    if path.is_dir():
        raise InputError(f"{path}: is a directory; expected the YAML file of a run")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    return path
