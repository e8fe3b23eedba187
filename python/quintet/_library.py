"""libquintet_c by ctypes: where it is, and its functions (bridges/c/quintet.h)."""
from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Optional

from ._programs import build_folders
from .errors import InternalError, ProgramNotFound

_NAME = "libquintet_c.so.1"
_API_VERSION = 1

_int, _double, _void, _text = ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "quintet_api_version": (_int, []),
    "quintet_version": (_text, []),
    "quintet_potential_open": (_void, [_int, ctypes.POINTER(_text), _text]),
    "quintet_potential_close": (None, [_void]),
    "quintet_potential_error": (_text, [_void]),
    "quintet_potential_warning": (_text, [_void]),
    "quintet_potential_models": (_int, [_void]),
    "quintet_potential_cutoff": (_double, [_void]),
    "quintet_potential_types": (_int, [_void]),
    "quintet_potential_type_name": (_text, [_void, _int]),
    "quintet_potential_compute": (_int, [_void, _int, _int] + 8 * [_void]),
    "quintet_potential_deviation": (_int, [_void, _int] + 5 * [_void]),
}
_loaded: Optional[ctypes.CDLL] = None


def folders() -> list[Path]:
    """Return where the library is looked for, in this order."""
    if os.environ.get("QUINTET_LIBRARY"):
        return [Path(os.environ["QUINTET_LIBRARY"])]
    return [Path(__file__).resolve().parent / "lib", *(one / "lib" for one in build_folders())]


def library() -> ctypes.CDLL:
    """Load libquintet_c once. Raises ProgramNotFound where it is not, InternalError where it is too old."""
    global _loaded
    if _loaded is not None:
        return _loaded
    problems = []
    for folder in folders():
        path = folder / _NAME
        if not path.exists():
            problems.append(f"{path}: there is no such file")
            continue
        try:
            found = ctypes.CDLL(str(path))  # calls give up Python's lock: other threads go on
        except OSError as error:
            problems.append(f"{path}: {error}")
            continue
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
        if found.quintet_api_version() < _API_VERSION:
            raise InternalError(f"{path}: has version {found.quintet_api_version()} of the interface, {_API_VERSION} is needed")
        _loaded = found
        return found
    raise ProgramNotFound("libquintet_c, which evaluates potentials, cannot be loaded: " + "; ".join(problems) +
                          ". Build it (ninja -C build quintet_c) and set QUINTET_LIBRARY=.../build/lib")
