"""What a run has written: `quintet.open("runs/nvt")`."""
from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Optional, Union

import h5py

from . import fields, tables
from ._files import json_file, optional, path_of, read, text
from .distribution import Distribution
from .errors import InputError
from .report import Pictures, Report
from .trajectory import Trajectory

if TYPE_CHECKING:
    import pandas
    import xarray


class Summary(Mapping[str, Any]):
    """Numbers of summary.json, by key or attribute; units are in the names."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):  # what pickle and copy look for before there are values
            raise AttributeError(key)
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(f"the summary has no '{key}'; it has: {', '.join(self._values) or 'nothing yet'}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def numbers(self) -> dict[str, float]:
        """Return the entries that are numbers."""
        return {key: value for key, value in self._values.items() if isinstance(value, (int, float)) and not isinstance(value, bool)}

    def __repr__(self) -> str:
        width = max(map(len, self.numbers()), default=0)
        return "\n".join(f"{key:{width}}  {value:.10g}" for key, value in self.numbers().items())

    def _repr_html_(self) -> str:
        return _html_table([(key, f"{value:.10g}") for key, value in self.numbers().items()])


class Run:
    """The directory of a run. Everything is read where it is asked for, so a run that still writes is seen live.

    No file stays open, so there is nothing to close. Pickled, it is the same directory in another process.
    """

    def __init__(self, directory: Union[str, Path]) -> None:
        self.directory = path_of(directory, "the directory of a run")
        if self.directory.is_file():
            raise InputError(f"{self.directory}: is a file; a run is the directory that it lies in: quintet.open('{self.directory.parent}')")
        if not self.directory.is_dir():
            raise InputError(f"{self.directory}: there is no such directory of a run")
        if not any((self.directory / name).exists() for name in ("run.h5", "run.log", "summary.json")):
            raise InputError(f"{self.directory}: holds no run: neither run.h5 nor run.log nor summary.json")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.directory.absolute(),)

    # -- what happened

    @property
    def name(self) -> str:
        return self.directory.resolve().name

    @property
    def summary(self) -> Summary:
        """What the run has found, in numbers; empty until it ends."""
        return Summary(json_file(self.directory / "summary.json"))

    @property
    def progress(self) -> dict[str, Any]:
        """Step, last step, steps a second and seconds left, as of the last line of progress; {} before it."""
        return json_file(self.directory / "progress.json")

    @property
    def status(self) -> str:
        """"done", "stopped early", "failed ..." as the run said at its end, or "unfinished": it still runs or was killed."""
        return str(self.summary.get("status", "unfinished"))

    @property
    def log(self) -> str:
        """The text of run.log."""
        path = self.directory / "run.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    @property
    def program(self) -> str:
        """Application and command, such as "vlasov run"."""
        if "program" in self.summary:
            return str(self.summary["program"])
        try:
            return self.provenance.get("program", "")
        except InputError:
            return ""

    @property
    def provenance(self) -> dict[str, str]:
        """Version, git hash, build, host, date, ranks, threads and seed of the run."""
        names = ("program", "version", "git_hash", "build", "host", "date", "ranks", "threads", "seed", "run")
        return read(self._results(), lambda file: {name: text(file.attrs[name]) for name in names if name in file.attrs})

    @property
    def configuration(self) -> str:
        """The whole input of the run with every default, as YAML."""
        return read(self._results(), lambda file: text(file.attrs["configuration"]))

    def _results(self) -> Path:
        found = [self.directory / name for name in ("run.h5", "fields.h5", "modes.h5", "model.h5")]
        return next((path for path in found if path.exists()), found[0])

    # -- what it wrote

    @property
    def tables(self) -> list[str]:
        """Names that `table()` takes."""
        path = self.directory / "run.h5"
        return read(path, tables.names) if path.exists() else []

    def table(self, name: str) -> pandas.DataFrame:
        """Return a table of run.h5, such as "thermo" or "history", as a data frame.

        `attrs["units"]` and `attrs["descriptions"]` say unit and meaning of each column.
        """
        def look(file: h5py.File) -> pandas.DataFrame:
            where = tables.match(name, tables.names(file))
            return tables.table(file[where], where)

        return read(self.directory / "run.h5", look)

    @property
    def fields(self) -> xarray.Dataset:
        """Fields of the run with coordinates and units; values are read where they are used.

        Of `vlasov run` the moments and E, B over time and x, of `meshfreeflow simulate` and `superresolve` the flow,
        of `podlstm fit` the modes on their grid. Other groups: `group()`.
        """
        for path in sorted(self.directory.glob("*.h5")):
            schema, has_fields = read(path, lambda file: (text(file.attrs.get("schema", "")), isinstance(file.get("fields"), h5py.Group)))
            if schema == "quintet.field_series":
                return fields.series_dataset(path)
            if schema == "quintet.ocean_modes":
                return fields.modes_dataset(path)
            if has_fields and path.name == "run.h5":
                return fields.group_dataset(path, "fields")
        raise InputError(f"{self.directory}: this run ({self.program}) has no fields over time; tables: {', '.join(self.tables) or 'none'}")

    def group(self, name: str) -> xarray.Dataset:
        """Return the arrays of one group of run.h5, such as "pictures" (phase space) or "spectra", lazily."""
        return fields.group_dataset(self.directory / "run.h5", name)

    def distribution(self, species: str, frame: int = -1) -> Distribution:
        """Return f of a species of a plasma run in one frame: a function of x and v, and its moments."""
        return Distribution(self.directory / "run.h5", species, frame)

    @property
    def trajectory(self) -> Trajectory:
        """Frames of a molecular dynamics run, as ase.Atoms, read one by one."""
        path = self.directory / "trajectory.h5"
        if not path.exists():
            raise InputError(f"{self.directory}: has no trajectory.h5; the section trajectory of a dpmd run's input asks for it")
        return Trajectory(path)

    @property
    def report(self) -> Report:
        """report.html: shows itself in a notebook; `.open()` in a browser; `.pictures`."""
        return Report(self.directory / "report.html")

    @property
    def checkpoints(self) -> list[Path]:
        """Checkpoints that are there, oldest first."""
        return sorted((self.directory / "checkpoints").glob("*.h5"))

    def plot(self, table: Optional[str] = None, *columns: str, x: Optional[str] = None, ax: Any = None) -> Any:
        """Show the report's pictures; of a table the columns named, over time (or `x`), by matplotlib.

        Returns the pictures, which a notebook shows, or matplotlib's axes.
        """
        if table is None:
            return self.report.pictures
        plt = optional("matplotlib.pyplot", "a plot")
        frame = self.table(table)
        units = frame.attrs["units"]
        x = x or next((name for name in ("time", "step") if name in frame), frame.columns[0])
        chosen = list(columns) or [name for name in frame.columns if name != x]
        for name in (x, *chosen):
            if name not in frame:
                raise InputError(f"table '{table}' has no column '{name}'; it has: {', '.join(frame.columns)}")
        ax = ax if ax is not None else plt.figure().add_subplot()
        for name in chosen:
            ax.plot(frame[x], frame[name], label=name)
        ax.set_xlabel(_label(x, units[x]))
        if len({units[name] for name in chosen}) == 1:
            ax.set_ylabel(_label(chosen[0] if len(chosen) == 1 else "", units[chosen[0]]))
        if len(chosen) > 1:
            ax.legend()
        ax.set_title(self.name)
        return ax

    # -- how it shows itself

    def _facts(self) -> list[tuple[str, str]]:
        summary, progress = self.summary, self.progress
        facts = [(str(key), str(value)) for key, value in summary.get("what", {}).items()]
        facts += [(str(one["name"]), str(one["value"])) for one in summary.get("headlines", [])]
        if not summary and progress:
            facts += [("step", f"{progress.get('step')} of {progress.get('last_step')}"), ("last line", str(progress.get("shown", "")))]
        try:
            names = ", ".join(self.tables)
        except InputError as error:  # a damaged file, of which the summary is shown all the same
            names = str(error)
        return facts + ([("tables", names)] if names else [])

    def __repr__(self) -> str:
        lines = [f"{self.directory}: {self.program}, {self.status}"]
        facts = self._facts()
        width = max((len(key) for key, _ in facts), default=0)
        return "\n".join(lines + [f"  {key:{width}}  {value}" for key, value in facts])

    def _repr_html_(self) -> str:
        title = f"<b>{html.escape(self.name)}</b> &middot; {html.escape(self.program)} &middot; {html.escape(self.status)}"
        return f'<div style="max-width:900px"><p style="margin:4px 0">{title}</p>{_html_table(self._facts())}</div>'


def open(directory: Union[str, Path]) -> Run:
    """Open the directory of a run. Raises InputError where it holds none."""
    return Run(directory)


def _label(name: str, unit: str) -> str:
    return name if unit in ("", "1") else f"{name} ({unit})".strip()


def _html_table(rows: list[tuple[str, str]]) -> str:
    cell = '<tr><td style="text-align:left;opacity:.7;vertical-align:top;white-space:nowrap">{}</td><td style="text-align:left">{}</td></tr>'
    return "<table>" + "".join(cell.format(html.escape(key), html.escape(value)) for key, value in rows) + "</table>"


__all__ = ["Pictures", "Report", "Run", "Summary", "Trajectory", "open"]
