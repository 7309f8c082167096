"""The attributes of an object."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._base import HLObject, MutableMappingHDF5
from ._conversion import broadcast, new_array, values_for
from ._dtypes import check_string_dtype, check_vlen_dtype, type_of
from ._empty import Empty, product
from ._names import link_name, text_name


def attribute_value(attribute: core.Attribute) -> Any:
    """Return the value of an attribute: an array, a scalar, a text or ``Empty``."""
    if attribute.shape is None:
        return Empty(attribute.dtype)
    array = attribute.read()
    dtype = array.dtype
    if dtype.kind == "O":
        declared = attribute.dtype
        if check_vlen_dtype(declared) in (str, bytes):
            if array.ndim == 0:
                return _text(array[()])
            texts = [_text(item) for item in array.flat]
            array = np.array(texts, dtype=declared).reshape(array.shape)
    return array[()] if array.ndim == 0 else array


def _text(item: Any) -> Any:
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item


def _without_null_bytes(array: Any, dtype: np.dtype[Any]) -> None:
    info = check_string_dtype(dtype)
    if info is None or info.length is not None:
        return
    for item in array.flat:
        if (isinstance(item, bytes) and 0 in item) or (isinstance(item, str) and "\0" in item):
            raise ValueError("VLEN strings do not support embedded NULLs")


class AttributeManager(MutableMappingHDF5):
    """The attributes of an object, by name. Assignment creates an attribute or replaces it."""

    __slots__ = ("_handle",)

    _handle: Any

    def __init__(self, parent: HLObject) -> None:
        self._handle = parent._handle

    def __getitem__(self, name: str | bytes) -> Any:
        return attribute_value(self._handle.attribute(name))

    def get_id(self, name: str | bytes) -> Any:
        """Return the low-level identifier of an attribute."""
        from .low.h5a import AttrID

        return AttrID(self._handle.attribute(link_name(name)), self._handle)

    def __setitem__(self, name: str | bytes, value: Any) -> None:
        self.create(name, data=value)

    def __delitem__(self, name: str | bytes) -> None:
        self._handle.delete_attribute(link_name(name))

    def create(
        self, name: str | bytes, data: Any, shape: int | tuple[int, ...] | None = None, dtype: Any = None
    ) -> None:
        """Create an attribute, or replace it. ``shape`` and ``dtype`` are taken from ``data`` by default."""
        name = link_name(name)
        stored, wanted = _stored_type(dtype)
        if isinstance(data, Empty):
            if stored is None:
                stored = type_of(data.dtype if wanted is None else wanted)
            self._handle.create_attribute(name, stored, None, None)
            return
        array = new_array(data, wanted)
        if wanted is None:
            wanted = array.dtype
        target = _target_shape(array, shape, wanted)
        if wanted.subdtype is not None:
            array = array.reshape(target + wanted.subdtype[1])
        else:
            array = array.reshape(target)
        _without_null_bytes(array, wanted)
        if stored is None:
            stored = type_of(wanted)
        self._handle.create_attribute(name, stored, target, array)

    def modify(self, name: str | bytes, value: Any) -> None:
        """Change the value of an attribute without a change of its datatype and shape; create it if it is absent."""
        name = link_name(name)
        if name not in self:
            self[text_name(name)] = value
            return
        attribute = self._handle.attribute(name)
        shape = attribute.shape
        if shape is None:
            raise OSError("Empty attributes can't be modified")
        dtype = attribute.dtype
        array = values_for(value, dtype, shape)
        whole = shape if dtype.subdtype is None else shape + dtype.subdtype[1]
        if array.shape != whole and not (product(array.shape) == 1 == product(whole)):
            raise TypeError("Shape of data is incompatible with existing attribute")
        attribute.write(broadcast(array, whole))

    def rename(self, old: str | bytes, new: str | bytes) -> None:
        """Change the name of an attribute."""
        self._handle.rename_attribute(link_name(old), link_name(new))

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
        return f"<Attributes of HDF5 object at {id(self._handle)}>"


def _stored_type(dtype: Any) -> tuple[Any, np.dtype[Any] | None]:
    """Return the core's datatype if it is given as such, and the dtype, for an argument ``dtype``."""
    if dtype is None:
        return None, None
    from ._datatype import stored_type

    given = stored_type(dtype)
    if given is not None:
        return given
    return None, np.dtype(dtype)


def _target_shape(array: Any, shape: Any, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Return the shape of an attribute for an array, or raise ValueError if they do not fit."""
    inner = () if dtype.subdtype is None else dtype.subdtype[1]
    if inner and array.shape[array.ndim - len(inner):] != inner:
        raise ValueError(f"Array dtype shape {inner} is incompatible with data shape {array.shape}")
    outer = array.shape[: array.ndim - len(inner)]
    if shape is None:
        found: tuple[int, ...] = outer
        return found
    target = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if product(target) != product(outer):
        raise ValueError("Shape of new attribute conflicts with shape of data")
    return target
