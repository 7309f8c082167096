"""Complex numbers as compounds of two floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._config import get_config


def complex_compat_dtype(complex_dtype: Any) -> np.dtype[Any]:
    """Return the compound dtype with the two members that store complex numbers."""
    dtype = np.dtype(complex_dtype)
    if dtype.kind != "c":
        raise TypeError(f"Not a complex dtype: {dtype!r}")
    part = np.dtype(f"f{dtype.itemsize // 2}").newbyteorder(dtype.byteorder)
    real, imaginary = get_config().complex_names
    return np.dtype([(real, part), (imaginary, part)])


def check_complex_dtype(dt: Any) -> np.dtype[Any] | None:
    """Return the complex dtype that a dtype stores; None for other dtypes."""
    dtype: np.dtype[Any] = np.dtype(dt)
    if dtype.kind == "c":
        return dtype
    if dtype.names is None or dtype.fields is None or dtype.names != tuple(get_config().complex_names):
        return None
    first, second = (dtype.fields[name][0] for name in dtype.names)
    if first != second or first.kind != "f" or first.itemsize < 4 or dtype.itemsize != 2 * first.itemsize:
        return None
    found: np.dtype[Any] = np.dtype(f"c{dtype.itemsize}").newbyteorder(first.byteorder)
    return found
