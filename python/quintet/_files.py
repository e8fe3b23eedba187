"""How files of a run are opened: for a moment only, and also while the run writes them."""
from __future__ import annotations

import contextlib
import importlib
import json
import time
from pathlib import Path
from typing import Any, Iterator

import h5py
import numpy as np

from .errors import InputError

_TRIES, _PAUSE = 8, 0.05  # a flush of the writer takes less than that (s)


def optional(module: str, what: str) -> Any:
    """Import a package that only some functions need. Raises ImportError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package} ({error})") from error


@contextlib.contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file for reading, without a lock, so that a run that writes it is not disturbed.

    Between two flushes the file on the disk is whole; where a flush is under way opening is tried again.
    Raises InputError where there is no such file or it cannot be read.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    for attempt in range(_TRIES):
        try:
            file = h5py.File(path, "r", locking=False)
            break
        except OSError as error:
            if attempt == _TRIES - 1:
                raise InputError(f"{path}: cannot be read: {error}; 'quintet verify {path.parent}' says what is damaged") from error
            time.sleep(_PAUSE)
    with file:
        yield file


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
