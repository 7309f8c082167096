"""Virtual datasets."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import _hyperslab as core
from ._dataset import Dataset
from ._selections import expand


class VDSmap(NamedTuple):
    """A mapping of a virtual dataset, as ``Dataset.virtual_sources`` returns it."""

    vspace: Any
    file_name: str
    dset_name: str
    src_space: Any


UNLIMITED = 2**64 - 1


class VirtualSource:
    """A dataset, or a part of a dataset by a subscript, whose elements a virtual dataset shows."""

    def __init__(self, path_or_dataset: Any, name: str | None = None, shape: Any = None, dtype: Any = None, maxshape: Any = None) -> None:
        if isinstance(path_or_dataset, Dataset):
            given = {"name": name, "shape": shape, "dtype": dtype, "maxshape": maxshape}
            wrong = {key for key, value in given.items() if value is not None}
            if wrong:
                raise TypeError(f"If a Dataset is passed as the first argument, the following arguments may not be passed: {sorted(wrong)}")
            dset = path_or_dataset
            self.path = dset.file.filename
            name, shape, dtype, maxshape = dset.name, dset.shape, dset.dtype, dset.maxshape
        else:
            missing = {key for key, value in {"name": name, "shape": shape}.items() if value is None}
            if missing:
                raise TypeError(f"If a file path is passed as the first argument, the following arguments must be passed: {sorted(missing)}")
            self.path = os.fspath(path_or_dataset)
        self.name = name
        self.dtype = dtype
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        maxshape = self.shape if maxshape is None else maxshape
        maxshape = (maxshape,) if isinstance(maxshape, int) else maxshape
        self.maxshape = tuple(size if size != UNLIMITED else None for size in maxshape)
        self._selection = core.Selection.all(self.shape)
        self._is_part = False

    @property
    def sel(self) -> core.Selection:
        """The selected elements."""
        return self._selection

    def __getitem__(self, key: Any) -> VirtualSource:
        if self._is_part:
            raise RuntimeError("VirtualSource objects can only be sliced once.")
        part = VirtualSource(self.path, self.name, self.shape, self.dtype, self.maxshape)
        part._selection = select(key, self.shape)
        part.shape = tuple(part._selection.result_shape)
        part._is_part = True
        return part


def select(key: Any, shape: tuple[int, ...]) -> core.Selection:
    """Return the selection of a subscript. A slice that ends at ``UNLIMITED`` has no end."""
    items = expand(key, len(shape))
    if not any(isinstance(item, slice) and item.stop == UNLIMITED for item in items):
        return core.Selection.parse(key, shape)
    start: list[int] = []
    stride: list[int] = []
    count: list[int | None] = []
    for item, size in zip(items, shape, strict=True):
        if isinstance(item, slice) and item.stop == UNLIMITED:
            start.append(item.start or 0)
            stride.append(item.step or 1)
            count.append(None)
        elif isinstance(item, slice):
            first, stop, step = item.indices(size)
            start.append(first)
            stride.append(step)
            count.append(max(0, -(-(stop - first) // step)))
        else:
            start.append(int(item))
            stride.append(1)
            count.append(1)
    if stride.count(1) == len(stride):
        return core.Selection.hyperslab(start, stride, [1] * len(count), count, shape)
    return core.Selection.hyperslab(start, stride, count, None, shape)


class VirtualLayout:
    """The parts of a new virtual dataset: ``layout[0:10] = source``."""

    def __init__(self, shape: Any, dtype: Any, maxshape: Any = None, filename: Any = None) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = dtype
        self.maxshape = (maxshape,) if isinstance(maxshape, int) else maxshape
        self._filename = filename
        self.sources: list[tuple[core.Selection, VirtualSource]] = []

    def __setitem__(self, key: Any, source: VirtualSource) -> None:
        selection = select(key, self.shape)
        unlimited = any(regular is not None and None in regular[2] for regular in (selection.regular, source.sel.regular))
        if not unlimited and selection.count != source.sel.count:
            raise ValueError(
                f"Elements of source and target selections have a different number: {source.sel.count} and {selection.count}"
            )
        self.sources.append((selection, source))

    def _mappings(self, filename: str) -> list[tuple[core.Selection, str, str, core.Selection]]:
        """Return the mappings for a dataset in the file ``filename``, which is named "." in them."""
        mappings = []
        for selection, source in self.sources:
            path = os.fsdecode(source.path)
            if path == "." or os.path.abspath(path) == os.path.abspath(filename):
                path = "."
            mappings.append((selection, path, str(source.name), source.sel))
        return mappings

    def _source_dtype(self) -> np.dtype[Any]:
        return np.dtype(self.dtype) if self.dtype is not None else np.dtype("f4")
