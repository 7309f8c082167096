"""Committed datatypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import HLObject


class Datatype(HLObject):
    """A datatype that is stored as an object of the file."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements of the datatype."""
        return self._handle.committed_type.dtype  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 named type>"
        name = self.name
        shown = "(anonymous)" if name is None else f'"{name.rsplit("/", 1)[-1]}"'
        return f"<HDF5 named type {shown} (dtype {self.dtype.str})>"
