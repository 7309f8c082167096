"""Texts in arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import check_string_dtype, check_vlen_dtype


def stores_text(dt: np.dtype[Any]) -> bool:
    """Return whether the elements of a dtype are texts of variable length."""
    return check_vlen_dtype(dt) in (str, bytes) or dt.kind == "T"


def decode_array(array: np.ndarray[Any, Any], encoding: str = "utf-8", errors: str = "surrogateescape") -> Any:
    """Return an array of ``str`` for an array of ``bytes``."""
    flat = [item.decode(encoding, errors) if isinstance(item, bytes) else item for item in array.flat]
    texts = np.empty(array.shape, dtype=object)
    texts.flat[:] = flat
    return texts


def text_array(value: Any, dt: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return an array of objects with the texts of a value."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "T" and check_vlen_dtype(dt) is not bytes:
        return np.ascontiguousarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "S":
        value = value.astype(object)
    array = np.asarray(value, dtype=object, order="C")
    if check_vlen_dtype(dt) is bytes:
        for item in array.flat:
            if isinstance(item, str):
                item.encode("ascii")
    metadata = dt.metadata if dt.metadata is not None else {"vlen": str}
    return array.astype(np.dtype("O", metadata=dict(metadata)), copy=False)


def encode_fixed(value: Any, dt: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return an array of bytes of a fixed length with the texts of a value in the dtype's encoding."""
    info = check_string_dtype(dt)
    encoding = info.encoding if info is not None else "utf-8"
    array = np.asarray(value)
    if array.dtype.kind == "U":
        if isinstance(value, np.ndarray):
            raise TypeError(f"No conversion path for dtype: {array.dtype!r}")
        return np.char.encode(array, "utf-8")
    if array.dtype.kind == "T":
        texts = [item.encode("utf-8") for item in array.flat]
        return np.array(texts, dtype=dt).reshape(array.shape)
    if array.dtype.kind == "O":
        flat = [item.encode(encoding) if isinstance(item, str) else item for item in array.flat]
        return np.array(flat, dtype=dt).reshape(array.shape)
    return array
