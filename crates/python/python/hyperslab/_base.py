"""The common part of groups, datasets and committed datatypes."""

import posixpath
from collections.abc import Iterator, KeysView, Mapping, MutableMapping, ValuesView
from collections.abc import ItemsView as _ItemsView
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from . import _hyperslab as core
from ._empty import Empty, product

if TYPE_CHECKING:
    from ._attributes import AttributeManager
    from ._file import File
    from ._regions import RegionProxy

__all__ = ["Empty", "HLObject", "product", "wrap"]

_NO_OPTIONS: Mapping[str, Any] = {}
_CLASSES: dict[type, type["HLObject"]] = {}


def register_class(handle_class: type, public_class: type["HLObject"]) -> None:
    """Make ``public_class`` the class of the objects with handles of ``handle_class``."""
    _CLASSES[handle_class] = public_class


def class_of(handle: core.Object) -> type["HLObject"]:
    """Return the public class of the object of a handle."""
    return _CLASSES[type(handle)]


def wrap(handle: core.Object, options: Mapping[str, Any] = _NO_OPTIONS) -> Any:
    """Return the public object of a handle in a file that was opened with ``options``."""
    cls = _CLASSES[type(handle)]
    made = cls.__new__(cls)
    made._handle = handle
    made._options = options
    return made


def handle_of(identifier: Any, expected: type, name: str) -> core.Object:
    """Return the handle of a low-level identifier, which must be of the expected class."""
    handle = getattr(identifier, "handle", None)
    if not isinstance(handle, expected):
        raise ValueError(f"{identifier!r} is not a {name}")
    return handle


class HLObject:
    """An object of a file."""

    _handle: Any
    _options: Mapping[str, Any] = _NO_OPTIONS
    _access: Mapping[str, Any] = _NO_OPTIONS

    @property
    def file(self) -> "File":
        """The file of the object."""
        from ._file import File

        return File._adopt(self._handle.file, self._options)

    @property
    def name(self) -> str | None:
        """The absolute path of the object; None for an object without a link."""
        handle = self._handle
        if not handle.is_open:
            return None
        found: str | None = handle.name
        return found

    @property
    def parent(self) -> Any:
        """The group with the link of the object."""
        name = self.name
        if name is None:
            raise ValueError("Parent of an anonymous object is undefined")
        return self.file[posixpath.dirname(name)]

    @property
    def id(self) -> Any:
        """The low-level identifier of the object."""
        from .low._ids import identifier

        return identifier(self._handle, self._options, self._access)

    @property
    def _id(self) -> Any:
        return self.id

    @property
    def ref(self) -> core.Reference:
        """A reference to the object."""
        reference: core.Reference = self._handle.reference()
        return reference

    @property
    def regionref(self) -> "RegionProxy":
        """The maker of references to elements: ``dataset.regionref[0:10]``."""
        from ._regions import RegionProxy

        return RegionProxy(self)

    @cached_property
    def attrs(self) -> "AttributeManager":
        """The attributes of the object."""
        from ._attributes import AttributeManager

        return AttributeManager(self)

    def __bool__(self) -> bool:
        return bool(self._handle.is_open)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, HLObject):
            return NotImplemented
        mine, yours = self._handle, other._handle
        return bool(mine.is_open and yours.is_open and mine.same(yours))

    def __hash__(self) -> int:
        handle = self._handle
        return hash((handle.file.identity, handle.address))

    def __reduce__(self) -> Any:
        from ._pickling import reduce_object

        return reduce_object(self)

    def __copy__(self) -> Self:
        made: Self = wrap(self._handle, self._options)
        return made


class KeysViewHDF5(KeysView[str]):
    """The names of a mapping."""

    _mapping: Any

    def __str__(self) -> str:
        return f"<KeysViewHDF5 {list(self)}>"

    def __reversed__(self) -> Iterator[str]:
        yield from reversed(self._mapping)

    __repr__ = __str__


class ValuesViewHDF5(ValuesView[Any]):
    """The values of a mapping."""

    _mapping: Any

    def __contains__(self, value: object) -> bool:
        return any(value == self._mapping.get(key) for key in self._mapping)

    def __iter__(self) -> Iterator[Any]:
        for key in self._mapping:
            yield self._mapping.get(key)

    def __reversed__(self) -> Iterator[Any]:
        for key in reversed(self._mapping):
            yield self._mapping.get(key)


class ItemsViewHDF5(_ItemsView[str, Any]):
    """The names and values of a mapping."""

    _mapping: Any

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        key, value = item
        return key in self._mapping and bool(self._mapping.get(key) == value)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for key in self._mapping:
            yield key, self._mapping.get(key)

    def __reversed__(self) -> Iterator[tuple[str, Any]]:
        for key in reversed(self._mapping):
            yield key, self._mapping.get(key)


class MutableMappingHDF5(MutableMapping[str, Any]):
    """A mapping with names in a file."""

    def keys(self) -> KeysViewHDF5:
        """Return a view of the names."""
        return KeysViewHDF5(self)

    def values(self) -> ValuesViewHDF5:
        """Return a view of the values."""
        return ValuesViewHDF5(self)

    def items(self) -> ItemsViewHDF5:
        """Return a view of the names and values."""
        return ItemsViewHDF5(self)

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self.keys())
