"""Errors of the programs and of libquintet_c, with the words that they use."""
from __future__ import annotations

from typing import Any


class QuintetError(Exception):
    """Base of all errors of this package.

    code: the exit code of the program, or the code of the library's call.
    """

    code = 70


class UsageError(QuintetError):
    """A program does not know such a flag or command (exit code 1)."""

    code = 1


class InputError(QuintetError, ValueError):
    """A mistake in an input, or a file that is not as it must be (exit code 2)."""

    code = 2


class NumericalError(QuintetError, ArithmeticError):
    """A result that is no number, or a conservation law that broke (exit code 3). An emergency checkpoint was written."""

    code = 3


class ResourceError(QuintetError):
    """Out of memory, disk space or another resource (exit code 4)."""

    code = 4


class StoppedEarly(QuintetError):
    """A run that stopped before its end (exit code 75), with a checkpoint where there is something to keep. `run`: what it has written so far."""

    code = 75
    run: Any = None


class InternalError(QuintetError):
    """A fault of Quintet (exit code 70). Please report it with run.log."""


class ProgramNotFound(QuintetError, FileNotFoundError):
    """The program or library that does the work is not installed, or not where it was looked for."""

    code = 1


_BY_CODE = {kind.code: kind for kind in (UsageError, InputError, NumericalError, ResourceError, StoppedEarly, InternalError)}


def error_of(code: int, message: str) -> QuintetError:
    """Return the exception for an exit code; of another code than those above, one that names it."""
    kind = _BY_CODE.get(code)
    if kind is not None:
        return kind(message)
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    error = InternalError(f"{how}: {message}" if message else how)
    error.code = code
    return error
