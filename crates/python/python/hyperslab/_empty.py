"""Values and shapes of the null dataspace."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt


class Empty:
    """The value of a dataset or an attribute that has a datatype but no dataspace for elements."""

    __slots__ = ("_dtype",)

    shape = None
    size = None

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._dtype = np.dtype(dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empty) and self._dtype == other._dtype

    def __hash__(self) -> int:
        return hash(("Empty", self._dtype))

    def __repr__(self) -> str:
        return f"Empty(dtype={self._dtype!r})"


def product(numbers: Iterable[int]) -> int:
    """Return the product of integers, without overflow."""
    result = 1
    for number in numbers:
        result *= int(number)
    return result
