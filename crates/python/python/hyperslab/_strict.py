"""The limits of h5py's subscripts, for programs that expect its errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dataset import Dataset


def check_subscript(args: Any, shape: tuple[int, ...]) -> None:
    """Raise an error for negative steps, and for lists that are not ascending or that repeat an index."""
    items = args if isinstance(args, tuple) else (args,)
    lists = [item for item in items if isinstance(item, (list, tuple, np.ndarray, range))]
    after = len(shape) - len(items)
    for at, item in enumerate(items):
        if item is Ellipsis:
            after += 1
            continue
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            raise ValueError(f"Step must be >= 1 (got {item.step})")
        if lists and item is lists[0]:
            before_ellipsis = Ellipsis not in items[:at]
            axis = at if before_ellipsis else at - 1 + after
            _check_list(item, shape[axis] if 0 <= axis < len(shape) else 0)


def _check_list(item: Any, length: int) -> None:
    found = np.asarray(item)
    if found.dtype.kind not in "ui" or found.ndim != 1:
        return
    positions = found.astype(np.int64)
    positions = np.where(positions < 0, positions + length, positions)
    if np.any(np.diff(positions) <= 0):
        raise TypeError("Indexing elements must be in increasing order")


_get = Dataset.__getitem__


def get_strictly(dset: Dataset, args: Any, new_dtype: Any = None) -> Any:
    """Return the elements of a subscript within the limits of h5py."""
    items = args if isinstance(args, tuple) else (args,)
    if any(isinstance(item, (slice, list, tuple, np.ndarray, range)) for item in items):
        check_subscript(items, dset.shape or ())
    return _get(dset, args, new_dtype)


def use_strict_subscripts() -> None:
    """Give all datasets of the process the limits of h5py."""
    Dataset.__getitem__ = get_strictly  # type: ignore[method-assign]
