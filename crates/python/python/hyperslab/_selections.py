"""Selections of elements beyond subscripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _hyperslab as core


class RegionProxy:
    """The maker of region references of a dataset: ``dataset.regionref[0:10]``."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.id = obj.id

    def __getitem__(self, args: Any) -> core.RegionReference:
        from ._dataset import Dataset

        if not isinstance(self.obj, Dataset):
            raise TypeError("Region references can only be made to datasets")
        selection = core.Selection.parse(args, self.obj.shape)
        return self.obj._handle.region_reference(selection)  # type: ignore[no-any-return]

    def shape(self, ref: core.RegionReference) -> tuple[int, ...]:
        """Return the shape of the dataset to which a reference refers."""
        return self.obj.file._root.region(ref).shape  # type: ignore[no-any-return]

    def selection(self, ref: core.RegionReference) -> tuple[int, ...]:
        """Return the shape of the selection to which a reference refers."""
        selection = self.obj.file._root.region(ref)
        return guess_shape(selection)


def guess_shape(selection: core.Selection) -> tuple[int, ...]:
    """Return the shape that a selection has if it is a product of coordinates, else its length."""
    if selection.kind == "hyperslab" and selection.regular is None:
        coordinates = selection.coordinates()
        sizes = tuple(len(np.unique(column)) for column in coordinates.T)
        if int(np.prod(sizes)) == len(coordinates):
            return sizes
    return selection.kept_shape


class MultiBlockSlice:
    """Blocks at equal distances along one dimension: ``dataset[MultiBlockSlice(start=1, count=3, stride=4, block=2)]``."""

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if start < 0:
            raise ValueError("Start can't be negative")
        if stride < 1 or (count is not None and count < 1) or block < 1:
            raise ValueError("Stride, count and block can't be 0 or negative")
        if block > stride:
            raise ValueError("Blocks will overlap if block > stride")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Return start, stride, count and block in a dimension of ``length`` coordinates."""
        if self.count is None:
            available = length - self.start
            count = available // self.stride
            if available - count * self.stride >= self.block:
                count += 1
        else:
            count = self.count
        end = self.start + self.block + (count - 1) * self.stride
        if count < 1:
            raise ValueError("No full blocks can be selected using {} within dimension of length {}".format(
                self._repr(count), length))
        if end > length:
            raise ValueError(f"{self._repr(count)} range ({self.start} - {end - 1}) extends beyond maximum index ({length - 1})")
        return self.start, self.stride, count, self.block

    def _repr(self, count: int | None = None) -> str:
        count = count if self.count is None and count is not None else self.count
        return f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={count}, block={self.block})"

    def __repr__(self) -> str:
        return f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={self.count}, block={self.block})"


def expand(args: Any, rank: int) -> list[Any]:
    """Return one subscript for each dimension, with slices for ``...`` and missing ones."""
    items = list(args) if isinstance(args, tuple) else [args]
    missing = rank - (len(items) - sum(item is Ellipsis for item in items))
    if missing < 0:
        raise TypeError(f"{len(items)} indexing arguments for {rank} dimensions")
    whole = [slice(None)] * missing
    for at, item in enumerate(items):
        if item is Ellipsis:
            return items[:at] + whole + items[at + 1 :]
    return items + whole


def with_blocks(args: Any, shape: tuple[int, ...]) -> core.Selection:
    """Return the selection of a subscript with ``MultiBlockSlice`` among integers and slices."""
    if not shape:
        raise ValueError("Illegal slicing argument for scalar dataspace")
    parts = []
    for item, size in zip(expand(args, len(shape)), shape, strict=True):
        if isinstance(item, MultiBlockSlice):
            parts.append(item.indices(size))
        elif isinstance(item, slice):
            start, stop, step = item.indices(size)
            if step < 1:
                raise ValueError(f"Step must be >= 1 (got {step})")
            parts.append((start, step, max(0, -(-(stop - start) // step)), 1))
        elif isinstance(item, (int, np.integer)):
            parts.append((int(item) + (size if item < 0 else 0), 1, 1, 1))
        else:
            raise TypeError(f"the subscript {item!r} cannot be combined with MultiBlockSlice")
    starts, strides, counts, blocks = (list(values) for values in zip(*parts, strict=True))
    return core.Selection.hyperslab(starts, strides, counts, blocks, shape)


class ChunkIterator:
    """The chunks of a dataset as tuples of slices, restricted to a selection of slices."""

    def __init__(self, dset: Any, source_sel: Any = None) -> None:
        self._shape = dset.shape
        if dset.chunks is None:
            raise TypeError("Chunked dataset required")
        self._chunks = dset.chunks
        if source_sel is None:
            self._bounds = [(0, size) for size in self._shape]
            return
        if not isinstance(source_sel, tuple):
            source_sel = (source_sel,)
        if len(source_sel) != len(self._shape):
            raise ValueError("Invalid selection - selection region must have same rank as dataset")
        self._bounds = []
        for part, size in zip(source_sel, self._shape, strict=True):
            if isinstance(part, (int, np.integer)):
                first = int(part) + (size if part < 0 else 0)
                part = slice(first, first + 1)
            if not isinstance(part, slice) or part.step not in (None, 1):
                raise ValueError("Invalid selection - selections are integers and slices with a step of 1")
            start, stop, _ = part.indices(size)
            if start > stop or (part.stop is not None and part.stop > size) or (part.start is not None and part.start > size):
                raise ValueError("Invalid selection - selection region must be within dataset space")
            self._bounds.append((start, stop))

    def __iter__(self) -> Iterator[tuple[slice, ...]]:
        yield from self._below(0, ())

    def _below(self, axis: int, before: tuple[slice, ...]) -> Iterator[tuple[slice, ...]]:
        if axis == len(self._bounds):
            yield before
            return
        (start, stop), chunk = self._bounds[axis], self._chunks[axis]
        for first in range(start - start % chunk, stop, chunk):
            part = slice(max(first, start), min(first + chunk, stop), 1)
            yield from self._below(axis + 1, (*before, part))
