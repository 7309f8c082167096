"""The base of files, groups, datasets and committed datatypes."""

from __future__ import annotations

import posixpath
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import TYPE_CHECKING, Any

from . import _hyperslab as core

if TYPE_CHECKING:
    from ._attributes import AttributeManager
    from ._file import File
    from ._group import Group


def handle_of(obj: Any) -> Any:
    """Return the handle of an object, of an identifier of ``hyperslab.low``, or of a handle."""
    return getattr(obj, "_handle", obj)


class HLObject:
    """An object of a file: the base of ``Group``, ``Dataset`` and ``Datatype``."""

    _handle: Any

    def __init__(self, oid: Any) -> None:
        self._handle = handle_of(oid)

    @property
    def id(self) -> Any:
        """The identifier of the object, with the low-level calls of h5py."""
        from .low import identifier

        return identifier(self._handle)

    @property
    def _id(self) -> Any:
        return self.id

    @property
    def file(self) -> File:
        """The file of the object."""
        from ._file import File

        return File(self._handle.file)

    @property
    def name(self) -> str | None:
        """The absolute path of the object; None if the object has no link."""
        name: str | None = self._handle.name
        return name

    @property
    def parent(self) -> Group:
        """The group that contains the object."""
        name = self.name
        if name is None:
            raise ValueError("Parent of an anonymous object is undefined")
        return self.file[posixpath.dirname(name)]  # type: ignore[no-any-return]

    @property
    def ref(self) -> core.Reference:
        """A reference to the object."""
        return self._handle.reference()  # type: ignore[no-any-return]

    @property
    def regionref(self) -> Any:
        """A maker of references to selected elements of the dataset."""
        from ._selections import RegionProxy

        return RegionProxy(self)

    @property
    def attrs(self) -> AttributeManager:
        """The attributes of the object."""
        from ._attributes import AttributeManager

        return AttributeManager(self)

    def __hash__(self) -> int:
        return hash(self._handle.number)

    def __eq__(self, other: object) -> bool:
        if not hasattr(other, "_handle"):
            return NotImplemented
        try:
            return bool(self._handle.number == other._handle.number)
        except (ValueError, AttributeError):
            return self is other

    def __bool__(self) -> bool:
        return bool(self._handle.is_open)

    def __getnewargs__(self) -> tuple[Any, ...]:
        raise TypeError("h5py objects cannot be pickled")

    def __reduce__(self) -> Any:
        from ._pickling import reduce_object

        return reduce_object(self)


class KeysViewHDF5(KeysView[str]):
    """The names of a group or of attributes."""

    _mapping: Mapping[str, Any]

    def __str__(self) -> str:
        return f"<KeysViewHDF5 {list(self)}>"

    __repr__ = __str__

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._mapping))


class ValuesViewHDF5(ValuesView[Any]):
    """The members of a group or the values of attributes."""

    _mapping: Mapping[str, Any]

    def __contains__(self, value: object) -> bool:
        return any(self._mapping.get(key) == value for key in self._mapping)

    def __iter__(self) -> Iterator[Any]:
        for key in self._mapping:
            yield self._mapping.get(key)

    def __reversed__(self) -> Iterator[Any]:
        for key in reversed(list(self._mapping)):
            yield self._mapping.get(key)


class ItemsViewHDF5(ItemsView[str, Any]):
    """The names and members of a group, or the names and values of attributes."""

    _mapping: Mapping[str, Any]

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        key, value = item
        return key in self._mapping and bool(self._mapping.get(key) == value)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for key in self._mapping:
            yield key, self._mapping.get(key)

    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        for key in reversed(list(self._mapping)):
            yield key, self._mapping.get(key)


class MappingHDF5(Mapping[str, Any]):
    """A mapping with views that show their names."""

    def keys(self) -> KeysViewHDF5:
        """Return a view of the names."""
        return KeysViewHDF5(self)

    def values(self) -> ValuesViewHDF5:
        """Return a view of the values."""
        return ValuesViewHDF5(self)

    def items(self) -> ItemsViewHDF5:
        """Return a view of names and values."""
        return ItemsViewHDF5(self)

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self.keys())


class MutableMappingHDF5(MappingHDF5, MutableMapping[str, Any]):
    """A mapping that can change."""
