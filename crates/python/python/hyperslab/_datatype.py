"""Committed datatypes."""

from typing import Any

import numpy as np

from . import _hyperslab as core
from ._base import HLObject, register_class


class Datatype(HLObject):
    """A datatype that has a name in a file, or one that a low-level identifier gives."""

    def __init__(self, identifier: Any) -> None:
        handle = getattr(identifier, "handle", None)
        if isinstance(handle, core.Object) and handle.kind == "datatype":
            self._handle = handle
        elif isinstance(getattr(identifier, "type", None), core.Type):
            self._handle = None
        else:
            raise ValueError(f"{identifier!r} is not a TypeID")
        self._identifier = identifier

    @property
    def id(self) -> Any:
        given = self.__dict__.get("_identifier")
        if given is not None:
            return given
        from .low._types import type_identifier

        return type_identifier(self._core_type(), self._handle)

    def _core_type(self) -> core.Type:
        if self._handle is None:
            found: core.Type = self._identifier.type
            return found
        committed: core.Type = self._handle.type
        return committed

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements in memory."""
        return self._core_type().dtype

    def __bool__(self) -> bool:
        return self._handle is None or bool(self._handle.is_open)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        if self._handle is None:
            return f"<HDF5 type (dtype {self.dtype.str})>"
        name = self.name
        label = "(anonymous)" if name is None else f'"{name.rsplit("/", 1)[-1]}"'
        return f"<HDF5 named type {label} (dtype {self.dtype.str})>"


def stored_type(dtype: Any) -> tuple[Any, np.dtype[Any]] | None:
    """Return what the core needs for a datatype that is given as such, and its dtype; None for NumPy's dtypes."""
    if isinstance(dtype, Datatype):
        kind = dtype._core_type()
        return (kind if dtype._handle is None else dtype._handle), kind.dtype
    given = getattr(dtype, "type", None)
    if isinstance(given, core.Type):
        return (dtype.handle or given), given.dtype
    return None


register_class(core.Object, Datatype)
