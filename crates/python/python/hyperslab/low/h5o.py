"""Objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import identifier
from .h5l import _encoded

TYPE_GROUP, TYPE_DATASET, TYPE_NAMED_DATATYPE = 0, 1, 2
COPY_SHALLOW_HIERARCHY_FLAG, COPY_EXPAND_SOFT_LINK_FLAG, COPY_EXPAND_EXT_LINK_FLAG = 1, 2, 4
COPY_EXPAND_REFERENCE_FLAG, COPY_WITHOUT_ATTR_FLAG, COPY_PRESERVE_NULL_FLAG = 8, 16, 32
_TYPES = {"group": TYPE_GROUP, "dataset": TYPE_DATASET, "datatype": TYPE_NAMED_DATATYPE}


class ObjInfo(NamedTuple):
    """The properties of an object."""

    fileno: int
    addr: int
    type: int
    rc: int
    mtime: int
    num_attrs: int


def _object(loc: Any, name: bytes | str | None) -> Any:
    return loc._handle if name in (None, b".", ".") else loc._handle.get(name)


def open(loc: Any, name: bytes | str, lapl: Any = None) -> Any:
    """Open an object."""
    return identifier(_object(loc, name))


def get_info(loc: Any, name: bytes | str | None = None, index: int = -1, *, obj_name: bytes | str = b".", **order: Any) -> ObjInfo:
    """Return the properties of an object."""
    handle = _object(loc, name)
    return ObjInfo(
        handle.file.identity, handle.address, _TYPES[handle.kind], handle.link_count, handle.modified or 0,
        handle.attribute_count(),
    )  # fmt: skip


def exists_by_name(loc: Any, name: bytes | str, lapl: Any = None) -> bool:
    """Return True if a path has an object."""
    try:
        loc._handle.get(name)
    except KeyError:
        return False
    return True


def link(obj: Any, loc: Any, name: bytes | str | None = None, lcpl: Any = None, lapl: Any = None) -> None:
    """Create a hard link to an object."""
    loc._handle.link_hard(name, obj._handle)


def copy(
    src_loc: Any, src_name: bytes | str, dst_loc: Any, dst_name: bytes | str, copypl: Any = None, lcpl: Any = None
) -> None:
    """Copy an object."""
    flags = 0 if copypl is None else copypl.get_copy_object()
    dst_loc._handle.copy(
        _object(src_loc, src_name), dst_name, shallow=bool(flags & 1), expand_soft=bool(flags & 2),
        expand_external=bool(flags & 4), expand_refs=bool(flags & 8), without_attrs=bool(flags & 16),
    )  # fmt: skip


def get_comment(loc: Any, comment: Any = None, *, obj_name: bytes | str = b".", lapl: Any = None) -> bytes:
    """Return the comment of an object."""
    return _encoded(_object(loc, obj_name).comment() or b"")


def set_comment(loc: Any, comment: bytes | str, *, obj_name: bytes | str = b".", lapl: Any = None) -> None:
    """Set the comment of an object."""
    _object(loc, obj_name).set_comment(comment.decode() if isinstance(comment, bytes) else comment)


def visit(loc: Any, func: Callable[..., Any], *, info: bool = False, obj_name: bytes | str = b".", **order: Any) -> Any:
    """Call ``func(name)`` for each object below a group until it returns a value."""
    handle = _object(loc, obj_name)

    def call(name: str, found: Any) -> Any:
        label = _encoded(name)
        return func(label, get_info(identifier(found))) if info else func(label)

    return handle.visit(call, False)
