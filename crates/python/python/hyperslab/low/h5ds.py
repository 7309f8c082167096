"""Dimension scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .h5d import DatasetID


def set_scale(dset: DatasetID, dimname: bytes | str = b"") -> None:
    """Make a dataset a dimension scale."""
    dset._handle.make_scale(dimname.decode() if isinstance(dimname, bytes) else dimname)


def is_scale(dset: DatasetID) -> bool:
    """Return True for a dimension scale."""
    return dset._handle.scale_name() is not None


def attach_scale(dset: DatasetID, dscale: DatasetID, idx: int) -> None:
    """Attach a scale to a dimension."""
    dset._handle.attach_scale(idx, dscale._handle)


def detach_scale(dset: DatasetID, dscale: DatasetID, idx: int) -> None:
    """Detach a scale from a dimension."""
    dset._handle.detach_scale(idx, dscale._handle)


def is_attached(dset: DatasetID, dscale: DatasetID, idx: int) -> bool:
    """Return True if a scale is attached to a dimension."""
    return any(scale.same(dscale._handle) for scale in dset._handle.scales(idx))


def get_num_scales(dset: DatasetID, dim: int) -> int:
    """Return the number of scales of a dimension."""
    return len(dset._handle.scales(dim))


def set_label(dset: DatasetID, idx: int, label: bytes | str) -> None:
    """Set the label of a dimension."""
    dset._handle.set_dimension_label(idx, label.decode() if isinstance(label, bytes) else label)


def get_label(dset: DatasetID, idx: int) -> bytes:
    """Return the label of a dimension."""
    return dset._handle.dimension_label(idx).encode()


def get_scale_name(dscale: DatasetID) -> bytes:
    """Return the name of a scale."""
    return (dscale._handle.scale_name() or "").encode()


def iterate(dset: DatasetID, dim: int, func: Callable[[DatasetID], Any], startidx: int = 0) -> Any:
    """Call a function with each scale of a dimension until it returns a value."""
    for scale in dset._handle.scales(dim)[startidx:]:
        result = func(DatasetID(scale))
        if result is not None:
            return result
    return None
