"""Selections of subscripts, in the form of h5py's internal classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._hyperslab import RegionReference
from .._hyperslab import Selection as CoreSelection
from .h5s import SpaceID


class Selection:
    """A selection of elements of an array."""

    def __init__(self, selection: CoreSelection) -> None:
        self._selection = selection

    @property
    def id(self) -> SpaceID:
        """The dataspace."""
        return SpaceID.of(self._selection)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self._selection.shape)

    @property
    def nselect(self) -> int:
        """The number of selected elements."""
        return self._selection.count

    @property
    def mshape(self) -> tuple[int, ...]:
        """The shape of the selection."""
        return tuple(self._selection.kept_shape)

    @property
    def array_shape(self) -> tuple[int, ...]:
        """The shape of the array of a read."""
        return tuple(self._selection.result_shape)


class PointSelection(Selection):
    """A selection by a mask of the whole shape."""


class SimpleSelection(Selection):
    """A selection of integers and slices."""


class FancySelection(Selection):
    """A selection with lists."""


def select(shape: tuple[int, ...], args: Any, dataset: Any = None) -> Selection:
    """Return the selection of a subscript."""
    items = args if isinstance(args, tuple) else (args,)
    if len(items) == 1:
        item = items[0]
        if isinstance(item, Selection):
            if item.shape != shape:
                raise TypeError("Mismatched selection shape")
            return item
        if isinstance(item, RegionReference):
            return Selection(_region(item, shape, dataset))
        if isinstance(item, np.ndarray) and item.dtype.kind == "b" and item.shape == shape:
            return PointSelection(CoreSelection.parse(args, shape))
    if any(isinstance(item, (str, bytes)) for item in items):
        raise TypeError("Names do not select elements")
    lists = any(isinstance(item, (list, tuple, np.ndarray)) for item in items)
    plain = tuple(list(item) if isinstance(item, tuple) else item for item in items)
    return (FancySelection if lists else SimpleSelection)(CoreSelection.parse(plain, shape))


def _region(reference: RegionReference, shape: tuple[int, ...], dataset: Any) -> CoreSelection:
    if dataset is None:
        raise TypeError("Cannot apply a region reference without a dataset")
    found: CoreSelection = dataset._handle.file.root.region(reference)
    if tuple(found.shape) != shape:
        raise TypeError("Reference shape does not match dataset shape")
    return found


def read_dtypes(dataset_dtype: np.dtype[Any], names: tuple[str, ...]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the dtype of the array of a read, and the dtype of the members that are read."""
    if not names:
        return dataset_dtype, dataset_dtype
    if dataset_dtype.names is None or dataset_dtype.fields is None:
        raise ValueError("Field names only allowed for compound types")
    for name in names:
        if name not in dataset_dtype.names:
            raise ValueError(f"Field {name} does not appear in this type.")
    part = np.dtype([(name, dataset_dtype.fields[name][0]) for name in names])
    return (dataset_dtype.fields[names[0]][0] if len(names) == 1 else part), part


def read_selections_scalar(dsid: Any, args: tuple[Any, ...]) -> tuple[tuple[int, ...] | None, SpaceID]:
    """Return the shape of a read of a scalar dataset (None for a scalar), and its selection."""
    if dsid.shape != ():
        raise RuntimeError("Illegal selection function for non-scalar dataset")
    if args == ():
        return None, SpaceID(())
    if args == (Ellipsis,):
        return (), SpaceID(())
    raise ValueError("Illegal slicing argument for scalar dataspace")
