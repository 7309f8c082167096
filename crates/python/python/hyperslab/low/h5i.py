"""Identifiers."""

from __future__ import annotations

import os
from typing import Any

from .. import _hyperslab as core
from ._properties import PropClassID, PropInstanceID
from ._type_ids import TypeID
from .h5a import AttrID
from .h5d import DatasetID
from .h5f import FileID
from .h5g import GroupID
from .h5s import SpaceID

INVALID_HID = BADID = -1
FILE, GROUP, DATATYPE, DATASPACE, DATASET, ATTR, GENPROP_CLS, GENPROP_LST = 1, 2, 3, 4, 5, 7, 10, 11
_TYPES: tuple[tuple[type, int], ...] = (
    (FileID, FILE), (GroupID, GROUP), (TypeID, DATATYPE), (SpaceID, DATASPACE), (DatasetID, DATASET),
    (AttrID, ATTR), (PropClassID, GENPROP_CLS), (PropInstanceID, GENPROP_LST),
)  # fmt: skip


def get_type(obj: Any) -> int:
    """Return the number of the kind of an identifier."""
    for kind, number in _TYPES:
        if isinstance(obj, kind):
            return number
    return BADID


def get_name(obj: Any) -> bytes | None:
    """Return the path of an object."""
    handle = obj._handle
    name = handle.name if isinstance(handle, core.Object) else None
    return None if name is None else os.fsencode(name)


def get_file_id(obj: Any) -> FileID:
    """Return the identifier of the file of an object."""
    parent = obj._parent if isinstance(obj, AttrID) else obj._handle
    return FileID(parent.file, parent.file.root)


def get_ref(obj: Any) -> int:
    """Return 1 for an object that is open, else 0."""
    return int(bool(obj))


def inc_ref(obj: Any) -> None:
    """Keep an object: Python counts references itself."""


def dec_ref(obj: Any) -> None:
    """Give an object back: Python counts references itself."""
