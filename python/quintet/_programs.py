"""Where the programs are, and how one is started, watched and stopped."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from .errors import InputError, ProgramNotFound, error_of

APPLICATIONS = ("dpmd", "meshfreeflow", "podlstm", "submatrix", "vlasov")
_GRACE = 30.0  # seconds for a checkpoint, after which the program is told to end
_PATIENCE = 5.0  # and so many more, after which it is killed
_WARNING = "warning: "

Progress = Union[bool, Callable[[str], None]]


def build_folders() -> list[Path]:
    """Return the builds that this package belongs to: of the checkout it lies in, or was installed from."""
    package = Path(__file__).resolve().parent
    found = [package.parents[1] / "build"] if (package.parents[1] / "CMakePresets.json").exists() else []
    try:
        found.append(Path(json.loads((package / "installed_from.json").read_text())["build"]))
    except (OSError, ValueError, KeyError):
        pass
    return found


def program(name: str) -> Path:
    """Return the executable of this name: in QUINTET_BIN, else of the checkout's build, else in PATH.

    Raises ProgramNotFound that says where it was looked for.
    """
    folders = [Path(os.environ["QUINTET_BIN"])] if os.environ.get("QUINTET_BIN") else [one / "bin" for one in build_folders()]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return folder / name
    if not os.environ.get("QUINTET_BIN") and (found := shutil.which(name)):
        return Path(found)
    where = ", ".join(map(str, folders)) + ("" if os.environ.get("QUINTET_BIN") else " and PATH" if folders else "PATH")
    raise ProgramNotFound(f"the program '{name}' is not in {where}; build it (ninja -C build {name}) and set QUINTET_BIN=.../build/bin")


def setting(key: str, value: Any) -> str:
    """Return KEY=VALUE as `--set` takes it. A text goes as it is, as on the command line; all else as JSON, which is YAML."""
    try:
        plain = _plain(value)
        return f"{key}={plain}" if isinstance(plain, str) else f"{key}={json.dumps(plain, default=_plain)}"
    except TypeError as error:
        raise InputError(f"{key}: {value!r} is no number, text, list or dict: {error}") from None


def _plain(value: Any) -> Any:
    """Return numbers of numpy as Python's, and a path as text; all else as it is, which JSON refuses where it is neither."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return str(value)
    if isinstance(value, (str, bool, int, float, list, tuple, dict, type(None))):
        return value
    raise TypeError(f"a {type(value).__name__}")


def ask(words: Sequence[Union[str, Path]]) -> str:
    """Run a program to its end and return what it printed. Raises its error as an exception."""
    done = subprocess.run([str(word) for word in words], text=True, stdin=subprocess.DEVNULL, capture_output=True, env=_environment())
    if done.returncode != 0:
        raise error_of(done.returncode, message_of(done.stderr or done.stdout))
    return done.stdout


def message_of(errors: str) -> str:
    """Return what a program said of its error: without the word "error: ", warnings, and what mpirun adds."""
    lines: list[str] = []
    for line in errors.strip().splitlines():
        if line.startswith(("-----", "mpirun", "Primary job", "a non-zero exit code", "prterun")) or "MPI_ABORT was invoked" in line:
            if lines:
                break
            continue
        if line.startswith(_WARNING):
            continue
        lines.append(line[len("error: "):] if line.startswith("error: ") else line)
    return "\n".join(lines).strip()


def mpirun(ranks: int) -> list[str]:
    """Return the words before a program for so many ranks; none for one."""
    if not isinstance(ranks, (int, np.integer)) or ranks < 1:
        raise InputError(f"{ranks!r:.80} ranks: expected a whole number, at least 1")
    if ranks == 1:
        return []
    launcher = shutil.which("mpirun") or shutil.which("mpiexec")
    if launcher is None:
        raise ProgramNotFound(f"{ranks} ranks need mpirun, which is not in PATH")
    words = [launcher, "-n", str(ranks)]
    version = subprocess.run([launcher, "--version"], text=True, capture_output=True).stdout
    if "Open MPI" in version and ranks > len(os.sched_getaffinity(0)):
        words += ["--oversubscribe", "--bind-to", "none"]
    return words


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    if os.geteuid() == 0:  # Open MPI refuses root where nobody says that it is meant
        environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return environment


def watched(words: Sequence[Union[str, Path]], progress: Progress = True) -> int:
    """Run a program, hand each line that it prints to `progress`, and return its exit code if it is 0 or 75.

    progress: True prints the lines, False keeps silent, a function is called with each. Ctrl-C (KeyboardInterrupt)
    stops the program: it writes a checkpoint; it is killed where it has not ended after 30 s, or at a second Ctrl-C.
    Raises the program's error as an exception; its warnings are Python's.
    """
    tell = progress if callable(progress) else _print if progress else lambda line: None
    process = subprocess.Popen([str(word) for word in words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=_environment(), start_new_session=True, errors="replace")
    errors: list[str] = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        for line in process.stdout or ():
            tell(line.rstrip("\n"))
        code = process.wait()
    except BaseException:
        _stop(process)
        raise
    finally:
        if process.poll() is not None:
            reader.join(5)
            for pipe in (process.stdout, process.stderr):
                pipe.close() if pipe and not reader.is_alive() else None
    for line in errors:
        if line.startswith(_WARNING):
            warnings.warn(line[len(_WARNING):].rstrip("\n"), RuntimeWarning, stacklevel=3)
    if code in (0, 75):
        return code
    raise error_of(code, message_of("".join(errors)))


def _print(line: str) -> None:
    print(line, file=sys.stdout, flush=True)


def _stop(process: subprocess.Popen[str]) -> None:
    """Have a program write a checkpoint and end; kill it and its ranks where it does not."""
    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGUSR1)  # mpirun passes this one on to the ranks
        threading.Thread(target=lambda: list(process.stdout or ()), daemon=True).start()  # a full pipe would keep it waiting
        process.wait(_GRACE)
    except BaseException:  # it hangs, or a second Ctrl-C came
        _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    try:
        process.terminate()  # mpirun ends its ranks then
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
