"""Files of Deep Potentials: which are meant, and a text of each that libquintet_c reads by itself."""
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence, Union

import h5py

from ._files import read, text
from .errors import InputError

_OTHER_BACKENDS = (".pb", ".pth", ".pt", ".pt2", ".savedmodel", ".jlo", ".hlo", ".pd")


def paths_of(files: Any) -> list[Path]:
    """Return the paths of one model or of several. Raises InputError where one is no path, or a directory."""
    given: Sequence[Union[str, os.PathLike[str]]] = [files] if isinstance(files, (str, os.PathLike)) else files
    if not isinstance(given, Sequence) or not all(isinstance(one, (str, os.PathLike)) for one in given):
        raise InputError(f"files are {files!r:.80}; expected the file of a model, or a list of them")
    paths = [Path(one) for one in given]
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: is a directory; expected the file of a model")
    return paths


def as_text(path: Path, target: Path) -> str:
    """Return a file of the same model as text; a .dp file is written as JSON, whose arrays stand in the tree.

    The library's own reader of .dp files would bring a second HDF5 and MPI, in a name space whose C library loses the
    environment, and the process, when Python changes os.environ.
    """
    if path.suffix in (".yaml", ".yml", ".json"):
        return str(path)
    if path.suffix in _OTHER_BACKENDS and path.exists():
        whose = ", if DeePMD-kit froze it (dpmd takes exported models as they are)" if path.suffix in (".pth", ".pt") else ""
        raise InputError(f"{path}: no native Deep Potential (.dp); it looks like a frozen model of another backend: "
                         f"dp convert-backend {path} {path.with_suffix('.dp')}{whose}")

    def look(file: h5py.File) -> Any:
        if "json" not in file.attrs:
            raise InputError(f"{path}: is no Deep Potential: it has no attribute 'json'")
        try:
            return _whole(json.loads(text(file.attrs["json"])), file)
        except ValueError as error:
            raise InputError(f"{path}: its description cannot be read: {error}") from None

    if path.is_file() and not h5py.is_hdf5(path):
        raise InputError(f"{path}: is no Deep Potential: a .dp file is HDF5; models as text end in .yaml or .json")
    target.write_text(json.dumps(read(path, look)))
    return str(target)


def _whole(node: Any, file: h5py.File) -> Any:
    """Return a part of a model's description with the arrays that it names."""
    if isinstance(node, dict):
        return {key: _whole(inner, file) for key, inner in node.items()}
    if isinstance(node, str) and node.startswith("/") and node in file:
        array = file[node]
        return {"@class": "np.ndarray", "@is_variable": True, "@version": 1, "dtype": str(array.dtype), "value": array[...].tolist()}
    return [_whole(inner, file) for inner in node] if isinstance(node, list) else node
