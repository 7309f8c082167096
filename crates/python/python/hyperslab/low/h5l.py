"""Links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _hyperslab as core

TYPE_HARD, TYPE_SOFT, TYPE_EXTERNAL = 0, 1, 64
_TYPES = {"hard": TYPE_HARD, "soft": TYPE_SOFT, "external": TYPE_EXTERNAL}


class LinkInfo(NamedTuple):
    """The properties of a link."""

    type: int
    corder_valid: bool
    corder: int
    cset: int
    u: Any


def _encoded(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogateescape")


class LinkProxy:
    """The links of a group."""

    def __init__(self, handle: core.Group) -> None:
        self._handle = handle

    def _link(self, name: bytes | str) -> tuple[Any, ...]:
        link = self._handle.link(name)
        if link is None:
            raise KeyError(f"Unable to get link info (object {_encoded(name).decode()!r} doesn't exist)")
        return link

    def create_hard(self, new_name: bytes | str, cur_loc: Any, cur_name: bytes | str, lcpl: Any = None, lapl: Any = None) -> None:
        """Create a hard link to the object of a path."""
        self._handle.link_hard(new_name, cur_loc._handle.get(cur_name))

    def create_soft(self, new_name: bytes | str, target: bytes | str, lcpl: Any = None, lapl: Any = None) -> None:
        """Create a soft link."""
        self._handle.link_soft(new_name, target)

    def create_external(
        self, link_name: bytes | str, file_name: bytes | str, obj_name: bytes | str, lcpl: Any = None, lapl: Any = None
    ) -> None:
        """Create an external link."""
        self._handle.link_external(link_name, file_name, obj_name)

    def get_val(self, name: bytes | str, lapl: Any = None) -> Any:
        """Return the path of a soft link, or file and path of an external link."""
        link = self._link(name)
        if link[0] == "soft":
            return _encoded(link[1])
        return tuple(_encoded(part) for part in link[1:])

    def exists(self, name: bytes | str, lapl: Any = None) -> bool:
        """Return True if a link exists."""
        return self._handle.link(name) is not None

    def get_info(self, name: bytes | str, index: int = -1, *, lapl: Any = None, **order: Any) -> LinkInfo:
        """Return the properties of a link."""
        link = self._link(name)
        last = _encoded(name).rstrip(b"/").rsplit(b"/", 1)[-1]
        kind = _TYPES.get(link[0], TYPE_EXTERNAL + 1)
        value = self._handle.get(name).address if kind == TYPE_HARD else sum(len(_encoded(part)) + 1 for part in link[1:])
        return LinkInfo(kind, False, 0, int(not last.isascii()), value)

    def move(self, src_name: bytes | str, dst_loc: Any, dst_name: bytes | str, lcpl: Any = None, lapl: Any = None) -> None:
        """Move a link to another path of the file."""
        self._handle.move(src_name, dst_name)

    def unlink(self, name: bytes | str, lapl: Any = None) -> None:
        """Remove a link."""
        self._handle.remove(name)

    def iterate(self, func: Callable[..., Any], *, info: bool = False, **order: Any) -> Any:
        """Call ``func(name)`` for each link of the group until it returns a value."""
        for name in self._handle.names():
            label = _encoded(name)
            result = func(label, self.get_info(label)) if info else func(label)
            if result is not None:
                return result
        return None

    def visit(self, func: Callable[..., Any], *, info: bool = False, **order: Any) -> Any:
        """Call ``func(name)`` for each link below the group until it returns a value."""

        def call(name: str, _: Any) -> Any:
            label = _encoded(name)
            return func(label, self.get_info(label)) if info else func(label)

        return self._handle.visit(call, True)
