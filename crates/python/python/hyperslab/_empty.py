"""Datasets and attributes without elements."""

from __future__ import annotations

from typing import Any

import numpy as np


class Empty:
    """The value of a dataset or attribute with a null dataspace: a dtype without elements.

    >>> import hyperslab
    >>> hyperslab.Empty("f8").dtype
    dtype('float64')
    """

    shape = None
    size = None

    def __init__(self, dtype: Any) -> None:
        self._dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements that there are not."""
        return self._dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empty) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"Empty(dtype={self.dtype!r})"


def is_empty_dataspace(obj: Any) -> bool:
    """Return whether an object with a shape has a null dataspace."""
    return obj.shape is None
