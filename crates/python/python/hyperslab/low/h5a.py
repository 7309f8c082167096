"""Attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _hyperslab as core
from ._objects import ObjectID
from ._type_ids import TypeID, type_id
from .h5s import SpaceID


class AttrInfo(NamedTuple):
    """The properties of an attribute."""

    corder_valid: bool
    corder: int
    cset: int
    data_size: int


class AttrID(ObjectID):
    """An attribute of an object."""

    def __init__(self, attribute: core.Attribute, parent: Any) -> None:
        super().__init__(1)
        self._attribute, self._parent = attribute, parent

    def __bool__(self) -> bool:
        return bool(self._number) and bool(self._parent.is_open)

    @property
    def name(self) -> str:
        """The name."""
        return self._attribute.name

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None for the null dataspace."""
        return self._attribute.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._attribute.shape or ())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements in memory."""
        return self._attribute.dtype

    def get_name(self) -> bytes:
        """Return the name."""
        return self._attribute.name.encode("utf-8", "surrogateescape")

    def get_space(self) -> SpaceID:
        """Return the dataspace."""
        return SpaceID(self._attribute.shape)

    def get_type(self) -> TypeID:
        """Return the datatype."""
        committed = self._attribute.committed
        return type_id(self._attribute.type if committed is None else committed)

    def get_storage_size(self) -> int:
        """Return the size of all elements in bytes."""
        return self.get_space().get_simple_extent_npoints() * self._attribute.type.size

    def read(self, arr: Any, mtype: TypeID | None = None) -> None:
        """Read all elements into an array."""
        arr[...] = self._attribute.read(arr.dtype if mtype is None else mtype.dtype)

    def write(self, arr: Any, mtype: TypeID | None = None) -> None:
        """Write all elements from an array."""
        array = np.asarray(arr)
        own = self._attribute.type
        stored = mtype is not None and mtype.type == own and array.dtype.itemsize == own.size and not array.dtype.hasobject
        self._attribute.write(array, own if stored else None)


def _object(loc: Any, obj_name: bytes | str = b".") -> Any:
    return loc._handle if obj_name in (b".", ".") else loc._handle.get(obj_name)


def create(
    loc: Any, name: bytes | str, tid: TypeID, space: SpaceID, *, obj_name: bytes | str = b".", lapl: Any = None
) -> AttrID:
    """Create an attribute."""
    handle = _object(loc, obj_name)
    return AttrID(handle.create_attribute(name, tid._handle, space.get_simple_extent_dims(), None), handle)


def open(loc: Any, name: bytes | str | None = None, index: int = -1, *, obj_name: bytes | str = b".", **order: Any) -> AttrID:
    """Open an attribute by its name or its number."""
    handle = _object(loc, obj_name)
    if name is None:
        name = handle.attribute_names()[index]
    return AttrID(handle.attribute(name), handle)


def exists(loc: Any, name: bytes | str, *, obj_name: bytes | str = b".", lapl: Any = None) -> bool:
    """Return True if an attribute exists."""
    return bool(_object(loc, obj_name).has_attribute(name))


def rename(loc: Any, name: bytes | str, new_name: bytes | str, *, obj_name: bytes | str = b".", lapl: Any = None) -> None:
    """Change the name of an attribute."""
    _object(loc, obj_name).rename_attribute(name, new_name)


def delete(loc: Any, name: bytes | str, index: int = -1, *, obj_name: bytes | str = b".", lapl: Any = None) -> None:
    """Delete an attribute."""
    _object(loc, obj_name).delete_attribute(name)


def get_num_attrs(loc: Any) -> int:
    """Return the number of attributes of an object."""
    return int(loc._handle.attribute_count())


def get_info(loc: Any, name: bytes | str | None = None, index: int = -1, *, obj_name: bytes | str = b".", **order: Any) -> AttrInfo:
    """Return the properties of an attribute."""
    attribute = loc if isinstance(loc, AttrID) else open(loc, name, index, obj_name=obj_name)
    order_number = attribute._attribute.creation_order
    return AttrInfo(
        order_number is not None, order_number or 0, int(not attribute.name.isascii()), attribute.get_storage_size()
    )


def iterate(loc: Any, func: Callable[..., Any], index: int = 0, *, info: bool = False, **order: Any) -> Any:
    """Call ``func(name)`` for each attribute until it returns a value."""
    for name in loc._handle.attribute_names()[index:]:
        label = name.encode("utf-8", "surrogateescape")
        result = func(label, get_info(loc, name)) if info else func(label)
        if result is not None:
            return result
    return None
