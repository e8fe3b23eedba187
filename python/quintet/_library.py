"""libquintet_c and libquintet_density by ctypes: where they are, and their functions (bridges/*/*.h)."""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from pathlib import Path
from typing import Any

from ._programs import build_folders
from .errors import InternalError, ProgramNotFound

_int, _double, _void, _text = ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_char_p
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "quintet_api_version": (_int, []),
    "quintet_version": (_text, []),
    "quintet_potential_open_on": (_void, [_int, ctypes.POINTER(_text), _text, _text]),
    "quintet_potential_device": (_text, [_void]),
    "quintet_potential_code": (_int, [_void]),
    "quintet_potential_close": (None, [_void]),
    "quintet_potential_error": (_text, [_void]),
    "quintet_potential_warning": (_text, [_void]),
    "quintet_potential_models": (_int, [_void]),
    "quintet_potential_cutoff": (_double, [_void]),
    "quintet_potential_types": (_int, [_void]),
    "quintet_potential_type_name": (_text, [_void, _int]),
    "quintet_potential_atom_parameters": (_int, [_void]),
    "quintet_potential_set_atom_parameters": (_int, [_void, _int, _int, _void]),
    "quintet_potential_set_type_parameters": (_int, [_void, _int, _int, _void]),
    "quintet_potential_compute": (_int, [_void, _int, _int] + 8 * [_void]),
    "quintet_potential_deviation": (_int, [_void, _int] + 5 * [_void]),
}
_DENSITY_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "quintet_density_api_version": (_int, []),
    "quintet_density_open": (_void, []),
    "quintet_density_close": (None, [_void]),
    "quintet_density_error": (_text, [_void]),
    "quintet_density_warning": (_text, [_void]),
    "quintet_density_set": (_int, [_void, _text, _double]),
    "quintet_density_set_blocks": (_int, [_void, _int, _void]),
    "quintet_density_set_csc": (_int, [_void, _int, _int, _int, _void, _void]),
    "quintet_density_dm_real_sparse": (_int, [_void, _void, _void, _void, _void]),
    "quintet_density_edm_real_sparse": (_int, [_void, _void]),
    "quintet_density_number": (_double, [_void, _text]),
}
_loaded: dict[str, ctypes.CDLL] = {}
_turns: weakref.WeakSet[Turn] = weakref.WeakSet()
_fork = threading.RLock()  # held by a fork from its beginning to its end
_stopped: list[Turn] = []  # by a fork that is under way


def folders() -> list[Path]:
    """Return where libraries are looked for, in this order."""
    if os.environ.get("QUINTET_LIBRARY"):
        return [Path(os.environ["QUINTET_LIBRARY"])]
    return [Path(__file__).resolve().parent / "lib", *(one / "lib" for one in build_folders())]


def library() -> ctypes.CDLL:
    """Load libquintet_c once, which evaluates potentials. Raises as _load()."""
    return _load("quintet_c", "quintet", 3, _FUNCTIONS, "evaluates potentials")


def density_library() -> ctypes.CDLL:
    """Load libquintet_density once, which solves for density matrices. Raises as _load()."""
    return _load("quintet_density", "quintet_density", 1, _DENSITY_FUNCTIONS, "solves for density matrices")


def _load(name: str, prefix: str, needed: int, functions: dict[str, tuple[Any, list[Any]]], what: str) -> ctypes.CDLL:
    """Load a library. Raises ProgramNotFound where it is not or cannot be loaded, InternalError where it is older than `needed`."""
    if name in _loaded:
        return _loaded[name]
    problems = []
    for folder in folders():
        path = folder / f"lib{name}.so.1"
        if not path.exists():
            problems.append(f"{path}: there is no such file")
            continue
        try:
            found = ctypes.CDLL(str(path))  # calls give up Python's lock: other threads go on
        except OSError as error:
            problems.append(f"{path}: {error}")
            continue
        version = getattr(found, f"{prefix}_api_version")()  # before the functions, which an old one lacks
        if version < needed:
            raise InternalError(f"{path}: has version {version} of the interface, {needed} is needed: build it anew (ninja -C build {name})")
        for function, (result, arguments) in functions.items():
            one = getattr(found, function)
            one.restype, one.argtypes = result, arguments
        _loaded[name] = found
        return found
    raise ProgramNotFound(f"lib{name}, which {what}, cannot be loaded: {'; '.join(problems)}. {_way_to(name)}")


def _way_to(name: str) -> str:
    """Return how a library that is missing is had."""
    builds = [] if os.environ.get("QUINTET_LIBRARY") else build_folders()
    configured = [one for one in builds if (one / "build.ninja").exists()]
    if configured:
        return f"Build it, and it is found: ninja -C {configured[0]} {name}"
    checkout = builds[0].parent if builds else "a checkout of Quintet"
    found = "and it is found" if builds else "and set QUINTET_LIBRARY to the folder build/lib there"
    return f"Build it, {found}: cmake --preset cpu-release && ninja -C build {name}, in {checkout}"


class Turn:
    """A lock for the calls of one handle. A fork waits for it: a child finds it free, and no call half done."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler of a signal that comes within may fork, too
        with _fork:
            _turns.add(self)

    def __enter__(self) -> None:
        if _stopped:  # a fork waits for its turn, which a thread that calls without a pause would never leave it
            with _fork:
                pass
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _before_fork() -> None:
    _fork.acquire()
    _stopped[:] = list(_turns)
    for one in _stopped:
        one._lock.acquire()


def _after_fork() -> None:
    for one in _stopped:
        one._lock.release()
    _stopped.clear()
    _fork.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
