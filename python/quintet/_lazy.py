"""Arrays of a file of a run that xarray reads where they are used. A module of its own, because xarray need not be there."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from ._files import read


class FileArray(BackendArray):
    """A data set of a file, which is opened for a moment by each access: pickled, and in chunks of dask, it is a name.

    path, name: of the data set. shape: of its first axes, which may have grown since. part: an index into the last ones.
    """

    def __init__(self, path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype, part: tuple[Any, ...]) -> None:
        self.path, self.name, self.shape, self.dtype, self.part = path.absolute(), name, shape, dtype, part

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        return read(self.path, lambda file: _forward(file[self.name], (*key, *self.part), self.shape))


def _forward(dataset: h5py.Dataset, key: tuple[Any, ...], shape: tuple[int, ...]) -> np.ndarray:
    """Read a part of the first [shape] of a data set; h5py takes no slices with a negative step."""
    reversed_axes, taken, kept = [], [], 0
    for d, one in enumerate(key):
        if isinstance(one, slice):
            start, stop, step = one.indices(shape[d])
            count = len(range(start, stop, step))
            if step < 0:
                start, step = start + (count - 1) * step, -step
                reversed_axes.append(kept)
            one = slice(start, start + (count - 1) * step + 1, step) if count else slice(0, 0)
            kept += 1
        taken.append(one)
    values = np.asarray(dataset[tuple(taken)])
    return np.flip(values, tuple(reversed_axes)) if reversed_axes else values
