"""Input files made in Python: `quintet.inputs.vlasov(grid={...}, ...)`, checked by the program and written as YAML.

There is a function for each command, named APP_COMMAND: `dpmd_run`, `dpmd_train`, ...; `vlasov` is `vlasov_run`. Its
arguments are the keys of docs/configuration/APP.md; sections are dicts. inputs.pyi tells editors all of them.
"""
from __future__ import annotations

import difflib
import functools
import inspect
import json
import keyword
import os
import re
from pathlib import Path
from typing import Any, Optional, Union

from . import _programs as programs
from .errors import InputError, QuintetError

COMMANDS = {
    "dpmd": ("run", "train", "equation_of_state", "elastic_constants", "learn"),
    "meshfreeflow": ("simulate", "flow", "control", "train", "superresolve", "evaluate"),
    "podlstm": ("fit", "append", "train", "search", "forecast", "evaluate", "hindcast", "quantise"),
    "submatrix": ("evaluate", "compare"),
    "vlasov": ("run",),
}
_NAMES = {f"{app}_{command}": (app, command) for app, commands in COMMANDS.items() for command in commands} | {"vlasov": ("vlasov", "run")}
_PLAIN = re.compile(r"[A-Za-z_./][\w./-]*( [\w./^-]+)*|-?\d[\d.e+-]* [A-Za-z][\w./^-]*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", ".nan", ".inf"}


class Input:
    """An input of one command. Change `values` as you like; `write()` checks them."""

    def __init__(self, app: str, command: str, values: dict[str, Any]) -> None:
        self.app, self.command, self.values = app, command, values

    def write(self, file: Union[str, Path], check: Union[bool, str] = True) -> Path:
        """Write the input as YAML and return the file.

        The program reads it first: keys, units, ranges, files that it names (relative to the file). check: "build" has
        it build all that the run needs, too, and evaluate formulas, as `--validate` does: seconds, and the memory of a
        run on one rank; False looks at nothing. Raises InputError with all that the program finds wrong; then nothing is
        written.
        """
        if check not in (True, False, "build"):
            raise InputError(f"check is {check!r}; expected True, False or 'build'")
        file = Path(file)
        draft = file.with_name(f".{os.getpid()}.{file.name}")
        try:
            draft.write_text(self.yaml(), encoding="utf-8")
            if check:
                programs.ask([programs.program(self.app), self.command, draft, "--print-config"])
            if check == "build":
                programs.ask([programs.program(self.app), self.command, draft, "--validate"])
            draft.replace(file)
        except QuintetError as error:
            raise type(error)(str(error).replace(str(draft), str(file)).replace(draft.name, file.name)) from None
        finally:
            draft.unlink(missing_ok=True)
        return file

    def yaml(self) -> str:
        """Return the text of the file."""
        return f"# {self.app} {self.command}\n" + "".join(line + "\n" for line in _block(self.values))

    def __repr__(self) -> str:
        return self.yaml()


class Maker:
    """Makes inputs of one command; its signature is that of the program's schema."""

    def __init__(self, app: str, command: str) -> None:
        self.app, self.command = app, command
        self.__name__ = f"{app}_{command}"

    def __call__(self, **values: Any) -> Input:
        known = self.schema["properties"]
        unknown = [key for key in values if key not in known]
        if unknown:
            near = difflib.get_close_matches(unknown[0], known, 1)
            raise InputError(f"{self.app} {self.command} has no key '{unknown[0]}'" + (f"; did you mean '{near[0]}'?" if near else ""))
        missing = [key for key in self.schema.get("required", []) if key not in values]
        if missing:
            raise InputError(f"{self.app} {self.command} needs {', '.join(missing)}: {known[missing[0]].get('description', '')}")
        return Input(self.app, self.command, values)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the command's input, as the program prints it."""
        known = schemas(self.app)
        if self.command not in known:
            raise InputError(f"this build has no '{self.app} {self.command}'; expected one with LibTorch (./quickstart --torch)")
        return known[self.command]

    @property
    def __signature__(self) -> inspect.Signature:
        required = self.schema.get("required", [])
        return inspect.Signature([
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=inspect.Parameter.empty if key in required else one.get("default"))
            for key, one in sorted(self.schema["properties"].items(), key=lambda item: item[0] not in required)
            if key.isidentifier() and not keyword.iskeyword(key)])

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        try:
            lines = [f"{key}: {one.get('description', '')}" for key, one in self.schema["properties"].items()]
        except QuintetError as error:
            lines = [str(error)]
        return "\n".join([f"Make an input of {self.app} {self.command}.", "", *lines])

    def __repr__(self) -> str:
        return f"<quintet.inputs.{self.__name__}>"


def __getattr__(name: str) -> Maker:
    if name in _NAMES:
        return Maker(*_NAMES[name])
    near = difflib.get_close_matches(name, _NAMES, 1)
    raise AttributeError(f"module 'quintet.inputs' has no attribute '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))


def __dir__() -> list[str]:
    return sorted([*_NAMES, "Input"])


def schemas(app: str) -> dict[str, Any]:
    """Return the JSON Schemas of all commands of an application: {command: schema}."""
    executable = programs.program(app)
    return _schemas(executable, executable.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _schemas(executable: Path, _: int) -> dict[str, Any]:
    return json.loads(programs.ask([executable, "schemas"]))


def owner_of(file: Path, app: Optional[str] = None, command: Optional[str] = None) -> tuple[str, str]:
    """Return the application and command whose input a file is: the one that has its keys, all that it needs, and reads it.

    Of several that have its keys, the one that the first line says, as Input.write() has it: "# podlstm fit".
    Raises InputError where no command, or more than one, takes the file.
    """
    if app and command:
        return app, command
    if app and app not in COMMANDS:
        raise InputError(f"there is no application '{app}'; there are: {', '.join(COMMANDS)}")
    keys = _top_keys(file)
    fitting = []
    for one, commands in COMMANDS.items():
        if app not in (None, one):
            continue
        for name in commands:
            if command not in (None, name):
                continue
            schema = schemas(one).get(name, {"properties": {}})
            if keys <= set(schema["properties"]) and set(schema.get("required", [])) <= keys:
                fitting.append((one, name))
    if len(fitting) > 1 and (said := said_by(file)) in fitting:
        return said
    if len(fitting) > 1:
        fitting = [one for one in fitting if _reads(one, file)] or fitting
    if len(fitting) == 1:
        return fitting[0]
    names = " or ".join(" ".join(one) for one in fitting)
    raise InputError(f"{file} may be a file of {names}: say which by app and command" if fitting else
                     f"{file} fits no command (its keys: {', '.join(sorted(keys))}): say which is meant by app and command")


def said_by(file: Path) -> tuple[Optional[str], Optional[str]]:
    """Return the application and command that the first line of a file names; None and None where it names none of ours."""
    found = re.match(r"# (\w+) (\w+)\n", file.read_text(encoding="utf-8"))
    return (found[1], found[2]) if found and found[2] in COMMANDS.get(found[1], ()) else (None, None)


def _reads(owner: tuple[str, str], file: Path) -> bool:
    try:
        programs.ask([programs.program(owner[0]), owner[1], file, "--print-config"])
    except InputError:
        return False
    return True


def _top_keys(file: Path) -> set[str]:
    text = file.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        try:
            return set(json.loads(text))
        except ValueError:
            raise InputError(f"{file}: begins with a brace but is not JSON: say app and command") from None
    return set(re.findall(r"^[\"']?(\w+)[\"']?\s*:(?=\s|$)", text, re.M))


def _block(value: Any) -> list[str]:
    """Return lines of YAML; short lists of scalars, and what is empty, stand in one line."""
    value = _native(value)
    if isinstance(value, dict) and value:
        lines = []
        for key, inner in value.items():
            below = _block(inner)
            name = _scalar(str(key))
            if isinstance(_native(inner), (dict, list)) and not _is_flow(inner):
                lines += [f"{name}:", *("  " + line for line in below)]
            else:
                lines.append(f"{name}: {below[0]}")
        return lines
    if isinstance(value, list) and not _is_flow(value):
        lines = []
        for inner in value:
            first, *rest = _block(inner)
            lines += [f"- {first}", *("  " + line for line in rest)]
        return lines
    if isinstance(value, (list, dict)):
        return ["[" + ", ".join(_flow(one) for one in value) + "]" if isinstance(value, list) else "{}"]
    return [_scalar(value)]


def _is_flow(value: Any) -> bool:
    value = _native(value)
    return not value if isinstance(value, dict) else all(
        _is_flow(one) if isinstance(_native(one), list) else not isinstance(_native(one), dict) for one in value)


def _flow(value: Any) -> str:
    value = _native(value)
    return "[" + ", ".join(map(_flow, value)) + "]" if isinstance(value, list) else _scalar(value)


def _native(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value) if isinstance(value, os.PathLike) else value


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    if isinstance(value, float):
        digits = repr(value)
        if digits in ("nan", "inf", "-inf"):
            raise InputError(f"{digits} is no value of an input")
        return digits.replace("e", ".0e") if "e" in digits and "." not in digits else digits
    raise InputError(f"{value!r} is no number, text, list or dict")
