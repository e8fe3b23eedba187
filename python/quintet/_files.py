"""How files of a run are opened: for a moment only, and also while the run writes them."""
from __future__ import annotations

import importlib
import json
import os
import time
from pathlib import Path
from typing import Any, Callable, TypeVar

import h5py
import numpy as np

from .errors import InputError

_TRIES, _PAUSE = 40, 0.05  # a flush of the writer takes less than that (s)
_QUIET = 60.0  # a file that nobody has written to for so long (s) is not in a flush
_T = TypeVar("_T")


def optional(module: str, what: str) -> Any:
    """Import a package that only some functions need. Raises ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{package} is needed for {what}: pip install {package} ({error})", name=package) from error


def read(path: Path, look: Callable[[h5py.File], _T]) -> _T:
    """Return look(file) of an HDF5 file, opened without a lock, so that a run that writes it is not disturbed.

    Between two flushes of the run the file is whole; what fails during one is tried again. Raises InputError where there
    is no such file or it cannot be read.
    """
    for attempt in range(_TRIES):
        if not path.exists():
            raise InputError(f"{path}: there is no such file")
        try:
            with _open(path) as file:
                return look(file)
        except (OSError, RuntimeError, KeyError) as error:
            is_quiet = time.time() - path.stat().st_mtime > _QUIET
            if attempt == _TRIES - 1 or is_quiet:
                raise InputError(f"{path}: cannot be read: {error}; 'quintet verify {path}' says what is damaged") from error
            time.sleep(_PAUSE)
    raise AssertionError


def _open(path: Path) -> h5py.File:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        if "locking flag" not in str(error):
            raise
        return h5py.File(path, "r")  # this process has it open already, with a lock


def path_of(value: Any, what: str) -> Path:
    """Return a path. Raises InputError where a value is none; `what` begins the message."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{what} is {value!r:.80}; expected a path")
    return Path(value)


def text(value: Any) -> str:
    """Return an attribute or scalar data set as text."""
    if isinstance(value, np.ndarray):
        value = value.item() if value.size == 1 else ", ".join(text(one) for one in value.ravel())
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def texts(value: Any) -> list[str]:
    """Return an attribute that is a list of texts, or one text."""
    return [text(one) for one in np.atleast_1d(value)]


def axes_of(dataset: h5py.Dataset) -> list[str]:
    """Return the names of a data set's axes, as its attribute `axes` says; axis_0, ... where it says nothing."""
    names = texts(dataset.attrs["axes"]) if "axes" in dataset.attrs else []
    return names if len(names) == dataset.ndim else [f"axis_{i}" for i in range(dataset.ndim)]


def json_file(path: Path) -> dict[str, Any]:
    """Read a JSON file of a run; {} where there is none, or where it is being replaced."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
