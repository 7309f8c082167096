"""Subscripts beyond those that the core reads: regions, multi-block slices, masks in datasets."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._hyperslab import RegionReference, Selection


class MultiBlockSlice:
    """A slice of several blocks along an axis: ``count`` blocks of ``block`` elements, ``stride`` apart."""

    def __init__(self, start: int = 0, stride: int = 1, count: int | None = None, block: int = 1) -> None:
        if start < 0:
            raise ValueError("Start can't be negative")
        if stride < 1 or (count is not None and count < 1) or block < 1:
            raise ValueError("Stride, count and block can't be 0 or negative")
        if block > stride:
            raise ValueError("Blocks will overlap if block > stride")
        self.start, self.stride, self.count, self.block = start, stride, count, block

    def indices(self, length: int) -> tuple[int, int, int, int]:
        """Return start, stride, count and block for an axis of ``length`` elements."""
        if self.count is not None:
            end = self.start + (self.count - 1) * self.stride + self.block
            if end > length:
                raise ValueError(f"{self} range ({self.start} - {end - 1}) extends beyond maximum index {length - 1}")
            return self.start, self.stride, self.count, self.block
        count = (length - self.start - self.block) // self.stride + 1
        if count < 1:
            raise ValueError(f"{self} does not select a block of an axis of {length} elements")
        return self.start, self.stride, count, self.block

    def __repr__(self) -> str:
        return f"MultiBlockSlice(start={self.start}, stride={self.stride}, count={self.count}, block={self.block})"


def guess_shape(selection: Selection) -> tuple[int, ...]:
    """Return the shape of the array of selected elements: of all dimensions if the selection is regular."""
    regular = selection.regular
    if regular is not None:
        return tuple((count or 0) * block for count, block in zip(regular[2], regular[3], strict=True))
    if selection.kind == "all":
        return selection.shape
    return (selection.count,)


def expand_ellipsis(args: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return one argument for each axis."""
    at = [position for position, item in enumerate(args) if item is Ellipsis]
    if len(at) > 1:
        raise ValueError("Only one ellipsis may be used.")
    given = len(args) - len(at)
    if given > rank:
        raise ValueError(f"{given} indexing arguments for {rank} dimensions")
    fill = (slice(None),) * (rank - given)
    if not at:
        return args + fill
    return args[: at[0]] + fill + args[at[0] + 1 :]


class BlockSelection:
    """A selection with multi-block slices, and the shape of the array of a read."""

    def __init__(self, args: tuple[Any, ...], shape: tuple[int, ...]) -> None:
        axes = expand_ellipsis(args, len(shape))
        parts: list[tuple[int, int, int, int]] = []
        result: list[int] = []
        others: list[Any] = []
        for item, length in zip(axes, shape, strict=True):
            if isinstance(item, MultiBlockSlice):
                part = item.indices(length)
                result.append(part[2] * part[3])
                others.append(slice(None))
            else:
                part = (0, 1, length, 1)
                result.append(-1)
                others.append(item)
            parts.append(part)
        start, stride, count, block = (tuple(column) for column in zip(*parts, strict=True))
        blocks = Selection.hyperslab(start, stride, count, block, shape)
        rest = Selection.parse(tuple(others), shape)
        kept = [a if a >= 0 else b for a, b in zip(result, rest.kept_shape, strict=True)]
        integers = [isinstance(item, (int, np.integer)) for item in others]
        self.selection = blocks if all(item == slice(None) for item in others) else blocks.combine("and", rest)
        self.result_shape = tuple(k for k, dropped in zip(kept, integers, strict=True) if not dropped)


def parse_selection(args: Any, shape: tuple[int, ...]) -> Selection:
    """Return the selection of a subscript of an array of a shape."""
    if isinstance(args, Selection):
        if args.shape != shape:
            raise TypeError("Mismatched selection shape")
        return args
    items = args if isinstance(args, tuple) else (args,)
    if any(isinstance(item, MultiBlockSlice) for item in items):
        if not shape:
            raise ValueError("Illegal slicing argument for scalar dataspace")
        return BlockSelection(items, shape).selection
    return Selection.parse(args, shape)


def is_special(args: Any) -> bool:
    """Return True for subscripts that the core does not read."""
    items = args if isinstance(args, tuple) else (args,)
    return any(
        isinstance(item, (MultiBlockSlice, RegionReference, Selection)) or hasattr(item, "_handle") for item in items
    )


class ChunkIterator:
    """The chunks that a selection touches, as tuples of slices."""

    def __init__(self, shape: tuple[int, ...], chunks: tuple[int, ...] | None, source_sel: Any = None) -> None:
        if chunks is None:
            raise TypeError("Chunked dataset required")
        if source_sel is None:
            ranges: tuple[Any, ...] = tuple(slice(0, length) for length in shape)
        else:
            ranges = source_sel if isinstance(source_sel, tuple) else (source_sel,)
            ranges = expand_ellipsis(ranges, len(shape)) if Ellipsis in ranges else ranges
        if len(ranges) != len(shape):
            raise ValueError("Invalid selection - selection region must have same rank as dataset")
        self._axes: list[list[slice]] = []
        for item, length, chunk in zip(ranges, shape, chunks, strict=True):
            first, last = _bounds(item, length)
            edges = range(first // chunk * chunk, last, chunk) if last > first else range(0)
            self._axes.append([slice(max(first, edge), min(last, edge + chunk), 1) for edge in edges])
        self._iterator = self._all()

    def _all(self) -> Iterator[tuple[slice, ...]]:
        for index in np.ndindex(*(len(axis) for axis in self._axes)):
            yield tuple(axis[position] for axis, position in zip(self._axes, index, strict=True))

    def __iter__(self) -> "ChunkIterator":
        return self

    def __next__(self) -> tuple[slice, ...]:
        return next(self._iterator)


def _bounds(item: Any, length: int) -> tuple[int, int]:
    if isinstance(item, slice):
        first, last, step = item.indices(length)
        if step != 1:
            raise ValueError("Chunks are iterated over slices with a step of 1")
        return first, last
    position = int(item)
    if position < 0:
        position += length
    if not 0 <= position < length:
        raise IndexError(f"Index ({item}) out of range for (0-{length - 1})")
    return position, position + 1
