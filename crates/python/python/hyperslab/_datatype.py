"""Committed datatypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _hyperslab as core
from ._base import HLObject, handle_of


class Datatype(HLObject):
    """A datatype that is stored as an object of the file, or one of a low-level identifier."""

    def __init__(self, bind: Any) -> None:
        handle = handle_of(bind)
        if not isinstance(handle, core.Type) and getattr(handle, "kind", "datatype") != "datatype":
            raise ValueError(f"{bind!r} is not a TypeID")
        super().__init__(handle)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements of the datatype."""
        handle = self._handle
        kind = handle if isinstance(handle, core.Type) else handle.committed_type
        return kind.dtype

    def __bool__(self) -> bool:
        return isinstance(self._handle, core.Type) or bool(self._handle.is_open)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        name = None if isinstance(self._handle, core.Type) else self.name
        shown = "(anonymous)" if name is None else f'"{name.rsplit("/", 1)[-1]}"'
        return f"<HDF5 named type {shown} (dtype {self.dtype.str})>"


def datatype_handle(dtype: Any) -> Any:
    """Return the handle of a committed datatype, or the datatype of an identifier; None for NumPy's dtypes."""
    handle = getattr(dtype, "_handle", None)
    if isinstance(handle, core.Type) or isinstance(dtype, Datatype) or getattr(handle, "kind", None) == "datatype":
        return handle
    return None
