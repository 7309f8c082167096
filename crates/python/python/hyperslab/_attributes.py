"""Attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._base import HLObject, MutableMappingHDF5, handle_of
from ._datatype import datatype_handle
from ._dtypes import check_ref_dtype, check_string_dtype, check_vlen_dtype, guess_dtype, string_dtype
from ._empty import Empty
from ._strings import decode_array, stores_text, text_array


class AttributeManager(MutableMappingHDF5):
    """The attributes of an object, as a mapping of names and values.

    Texts are ``str``; arrays are NumPy arrays; an attribute with a null dataspace is ``Empty``.
    """

    def __init__(self, parent: HLObject) -> None:
        self._handle = handle_of(parent)
        self._parent = parent

    @property
    def _id(self) -> Any:
        from .low import identifier

        return identifier(self._handle)

    def __getitem__(self, name: str | bytes) -> Any:
        return read(self._handle.attribute(name))

    def get_id(self, name: str | bytes) -> Any:
        """Return the low-level identifier of an attribute."""
        from .low.h5a import AttrID

        return AttrID(self._handle.attribute(name), self._handle)

    def __setitem__(self, name: str | bytes, value: Any) -> None:
        self.create(name, data=value)

    def __delitem__(self, name: str | bytes) -> None:
        if not self._handle.has_attribute(name):
            raise KeyError(f"Unable to synchronously delete attribute (can't locate name: '{name!r}')")
        self._handle.delete_attribute(name)

    def create(self, name: str | bytes, data: Any, shape: Any = None, dtype: Any = None) -> None:
        """Create or replace an attribute.

        ``shape`` and ``dtype`` override those of ``data``. A failure leaves the old attribute.
        """
        if isinstance(data, Empty):
            kind = core.Type.of(data.dtype if dtype is None else np.dtype(dtype))
            self._handle.create_attribute(name, kind, None, None)
            return
        given = datatype_handle(dtype)
        original = dtype.dtype if given is not None else None if dtype is None else np.dtype(dtype)
        array, original = as_attribute(data, original)
        if shape is not None:
            shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        dims, array, stored = fit_shape(array, shape, original)
        kind = core.Type.of(stored) if given is None else given
        self._handle.create_attribute(name, kind, dims, array)

    def modify(self, name: str | bytes, value: Any) -> None:
        """Change the value of an attribute and keep its type and shape. A missing one is created."""
        if not self._handle.has_attribute(name):
            self[name] = value
            return
        attribute = self._handle.attribute(name)
        dt = attribute.dtype
        if isinstance(value, Empty) or attribute.shape is None:
            raise OSError("Can't modify an empty attribute")
        array = value_array(value, None if hasattr(value, "dtype") and not stores_text(dt) else dt)
        if array.shape != attribute.shape and not (array.size == 1 and attribute.shape in ((), (1,))):
            raise TypeError("Shape of data is incompatible with existing attribute")
        attribute.write(np.ascontiguousarray(array).reshape(attribute.shape))

    def __len__(self) -> int:
        return int(self._handle.attribute_count())

    def __iter__(self) -> Iterator[str]:
        yield from self._handle.attribute_names()

    def __reversed__(self) -> Iterator[str]:
        yield from reversed(self._handle.attribute_names())

    def __contains__(self, name: object) -> bool:
        return bool(self._handle.has_attribute(name))

    def __repr__(self) -> str:
        if not self._handle.is_open:
            return "<Attributes of closed HDF5 object>"
        return f"<Attributes of HDF5 object at {id(self._parent)}>"


def read(attribute: core.Attribute) -> Any:
    """Return the value of an attribute: an array, a scalar, a text, or ``Empty``."""
    shape = attribute.shape
    dt = attribute.dtype
    if shape is None:
        return Empty(dt)
    array = attribute.read()
    if check_vlen_dtype(dt) is str or check_vlen_dtype(dt) is bytes:
        array = decode_array(array)
    if array.shape == ():
        return array[()]
    return array


def value_array(value: Any, dt: np.dtype[Any] | None) -> np.ndarray[Any, Any]:
    """Return a value as an array of the dtype of an attribute."""
    if dt is not None and stores_text(dt):
        return text_array(value, dt)
    if dt is not None and check_vlen_dtype(dt) is not None:
        return sequence_array(value, dt)
    return np.asarray(value, order="C", dtype=dt)


def sequence_array(value: Any, dt: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return an array of sequences: one array object for each."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return np.asarray(value, dtype=dt)
    array = np.empty((len(value),), dtype=dt)
    for at, items in enumerate(value):
        array[at] = items
    return array


def as_attribute(data: Any, dt: np.dtype[Any] | None) -> tuple[np.ndarray[Any, Any], np.dtype[Any]]:
    """Return the array of a new attribute and the dtype that the file stores."""
    if dt is None:
        dt = guess_dtype(data)
        if dt is None and isinstance(data, (list, tuple)) and len(data) and all(isinstance(x, str) for x in data):
            dt = string_dtype()
        if dt is None:
            array = np.asarray(data, order="C")
            dt = array.dtype
            if dt.kind == "U" and not isinstance(data, (np.ndarray, np.generic)):
                dt = string_dtype()
            elif dt.kind == "O" and check_vlen_dtype(dt) is None and check_ref_dtype(dt) is None:
                dt = object_dtype(array)
            elif dt.kind != "T":
                return array, dt
            if dt.kind == "T":
                dt = string_dtype()
    if stores_text(dt):
        return text_array(data, dt), dt
    if check_vlen_dtype(dt) is not None:
        return sequence_array(data, dt), dt
    base = dt.base if dt.subdtype is not None else dt
    array = np.asarray(data, order="C", dtype=None if dt.subdtype is not None else base)
    return array, dt


def object_dtype(array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """Return the dtype of an array of objects: texts or references."""
    first = next((item for item in array.flat if item is not None), None)
    if isinstance(first, str):
        return string_dtype()
    if isinstance(first, bytes):
        return string_dtype("ascii")
    found = guess_dtype(first)
    if found is None:
        raise TypeError(f"Object dtype {array.dtype!r} has no native HDF5 equivalent")
    return found


def fit_shape(
    array: np.ndarray[Any, Any], shape: tuple[int, ...] | None, dt: np.dtype[Any]
) -> tuple[tuple[int, ...], np.ndarray[Any, Any], np.dtype[Any]]:
    """Return the shape of an attribute, its elements, and the dtype that the file stores."""
    if dt.subdtype is not None:
        base, inner = dt.subdtype
        array = np.asarray(array, dtype=base, order="C")
        outer = shape if shape is not None else array.shape[: array.ndim - len(inner)]
        if tuple(outer) + tuple(inner) != array.shape and np.prod(tuple(outer) + tuple(inner)) != array.size:
            raise ValueError(f"Array dtype shape {inner} is incompatible with data shape {array.shape}")
        holder = np.empty(tuple(outer), dtype=np.dtype([("value", dt)]))
        holder["value"] = array.reshape(tuple(outer) + tuple(inner))
        return tuple(outer), holder["value"], dt
    if shape is None:
        shape = array.shape
    if int(np.prod(shape, dtype=np.int64)) != array.size:
        raise ValueError("Shape of new attribute conflicts with shape of data")
    array = np.ascontiguousarray(array).reshape(shape)
    if check_string_dtype(dt) is None and dt.kind != "O" and array.dtype != dt:
        array = array.astype(dt)
    return shape, array, dt
