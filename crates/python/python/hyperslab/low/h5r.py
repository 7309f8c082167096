"""References."""

from __future__ import annotations

from typing import Any

from .. import _hyperslab as core
from .._hyperslab import Reference, RegionReference
from . import identifier
from .h5s import SpaceID

OBJECT, DATASET_REGION = 0, 1
_TYPES = {"group": 0, "dataset": 1, "datatype": 2}

__all__ = ["Reference", "RegionReference", "create", "dereference", "get_name", "get_obj_type", "get_region"]


def create(loc: Any, name: bytes | str, ref_type: int, space: SpaceID | None = None) -> Reference | RegionReference:
    """Return a reference to an object or to elements of a dataset."""
    handle = loc._handle if name in (b".", ".") else loc._handle.get(name)
    if ref_type == OBJECT:
        found: Reference = handle.reference()
        return found
    if space is None:
        raise ValueError("Dataspace required for region reference")
    region: RegionReference = handle.region_reference(space.selection)
    return region


def _root(loc: Any) -> core.Group:
    found: core.Group = loc._handle.file.root
    return found


def dereference(ref: Reference | RegionReference, loc: Any) -> Any:
    """Return the identifier of the object of a reference; None for a null reference."""
    return identifier(_root(loc).dereference(ref)) if ref else None


def get_region(ref: RegionReference, loc: Any) -> SpaceID | None:
    """Return the dataspace with the selection of a reference."""
    return SpaceID.of(_root(loc).region(ref)) if ref else None


def get_obj_type(ref: Reference | RegionReference, loc: Any) -> int | None:
    """Return the number of the kind of the object of a reference."""
    return _TYPES[_root(loc).dereference(ref).kind] if ref else None


def get_name(ref: Reference | RegionReference, loc: Any) -> bytes | None:
    """Return the path of the object of a reference."""
    name = _root(loc).dereference(ref).name if ref else None
    return None if name is None else name.encode("utf-8", "surrogateescape")
