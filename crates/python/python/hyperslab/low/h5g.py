"""Groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import _hyperslab as core
from ._objects import LinkedID
from ._properties import PropGCID
from .h5l import LinkProxy

CRT_ORDER_TRACKED = 1
UNKNOWN, GROUP, DATASET, TYPE, LINK = -1, 0, 1, 2, 3
LINK_ERROR, LINK_HARD, LINK_SOFT = -1, 0, 1
_TYPES = {"group": GROUP, "dataset": DATASET, "datatype": TYPE}


class GroupStat(NamedTuple):
    """The properties of an object."""

    fileno: tuple[int, int]
    objno: tuple[int, int]
    nlink: int
    type: int
    mtime: int
    linklen: int


class GroupID(LinkedID):
    """A group."""

    _handle: core.Group

    @property
    def links(self) -> LinkProxy:
        """The links of the group."""
        return LinkProxy(self._handle)

    def get_create_plist(self) -> PropGCID:
        """Return the options with which the group was created."""
        return PropGCID.of_group(self._handle)

    def get_num_objs(self) -> int:
        """Return the number of links."""
        return len(self._handle)

    def get_objname_by_idx(self, idx: int) -> bytes:
        """Return the name of a link by its number."""
        return _encoded(self._handle.names()[idx])

    def get_objtype_by_idx(self, idx: int) -> int:
        """Return the kind of the object of a link by its number."""
        return _TYPES[self._handle.get(self._handle.names()[idx]).kind]

    def get_linkval(self, name: bytes | str) -> bytes:
        """Return the path of a soft link."""
        link = self._handle.link(name)
        if link is None or link[0] != "soft":
            raise ValueError(f"{name!r} is not a soft link")
        return _encoded(link[1])

    def link(self, current_name: bytes | str, new_name: bytes | str, link_type: int = LINK_HARD, remote: Any = None) -> None:
        """Create a link."""
        target = self if remote is None else remote
        if link_type == LINK_HARD:
            target._handle.link_hard(new_name, self._handle.get(current_name))
        else:
            target._handle.link_soft(new_name, current_name)

    def unlink(self, name: bytes | str) -> None:
        """Remove a link."""
        self._handle.remove(name)

    def move(self, current_name: bytes | str, new_name: bytes | str, remote: Any = None) -> None:
        """Move a link to another path of the file."""
        self._handle.move(current_name, new_name)

    def get_comment(self, name: bytes | str) -> bytes:
        """Return the comment of an object."""
        return _encoded(self._handle.get(name).comment() or b"")

    def __contains__(self, name: bytes | str) -> bool:
        return self._handle.contains(name)

    def __iter__(self) -> Iterator[bytes]:
        return (_encoded(name) for name in self._handle.names())

    def __len__(self) -> int:
        return len(self._handle)


def _encoded(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


def open(loc: Any, name: bytes | str) -> GroupID:
    """Open a group."""
    handle = loc._handle.get(name)
    if not isinstance(handle, core.Group):
        raise ValueError(f"{name!r} is not a group")
    return GroupID(handle)


def create(loc: Any, name: bytes | str | None, lcpl: Any = None, gcpl: Any = None) -> GroupID:
    """Create a group."""
    tracked = gcpl is not None and bool(gcpl.get_link_creation_order())
    return GroupID(loc._handle.create_group(name, tracked))


def iterate(loc: Any, func: Callable[[bytes], Any], startidx: int = 0, *, obj_name: bytes | str = b".") -> Any:
    """Call ``func(name)`` for each link until it returns a value."""
    handle = loc._handle if obj_name in (b".", ".") else loc._handle.get(obj_name)
    for name in handle.names()[startidx:]:
        result = func(_encoded(name))
        if result is not None:
            return result
    return None


def get_objinfo(obj: Any, name: bytes | str = b".", follow_link: bool = True) -> GroupStat:
    """Return the properties of an object."""
    handle = obj._handle if name in (b".", ".") else obj._handle.get(name)
    file, address = handle.number
    return GroupStat((file, 0), (address, 0), handle.link_count, _TYPES[handle.kind], handle.modified or 0, 0)
