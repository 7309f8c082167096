"""Conversion of Python values into arrays that the core stores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._dtypes import (
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
    ref_dtype,
    regionref_dtype,
    string_dtype,
)
from ._empty import product
from ._hyperslab import Reference, RegionReference

Array = npt.NDArray[Any]


def _leaf_type(data: Any) -> type | None:
    """Return the one type of all items of nested lists; None if there are several or none."""
    if isinstance(data, np.ndarray):
        if data.dtype.kind != "O":
            return None
        items: Any = data.flat
    elif isinstance(data, (list, tuple)):
        items = data
    else:
        return type(data)
    found: type | None = None
    for item in items:
        kind = _leaf_type(item) if isinstance(item, (list, tuple)) else type(item)
        if kind is None or (found is not None and kind is not found):
            return None
        found = kind
    return found


def guess_dtype(data: Any) -> np.dtype[Any] | None:
    """Return the dtype of texts and references, from the type of the items; None for other data."""
    leaf = _leaf_type(data)
    if leaf is str or leaf is np.str_:
        return string_dtype()
    if leaf is bytes:
        return string_dtype("ascii")
    if leaf is Reference:
        return ref_dtype
    if leaf is RegionReference:
        return regionref_dtype
    return None


def new_array(data: Any, dtype: np.dtype[Any] | None = None) -> Array:
    """Return the array of the elements of a new dataset or attribute."""
    if dtype is not None:
        if dtype.kind == "T":
            dtype = string_dtype()
        base = check_vlen_dtype(dtype)
        if base is not None and base is not str and base is not bytes:
            return vlen_cells(data, np.dtype(base), None)
        if check_string_dtype(dtype) is not None:
            return text_array(data, dtype)
        if isinstance(data, np.ndarray) or hasattr(data, "__array__"):
            return np.asarray(data, order="C")
        if dtype.subdtype is not None:
            dtype = dtype.subdtype[0]
        return np.asarray(data, dtype=dtype, order="C")
    if hasattr(data, "dtype") and not isinstance(data, np.ndarray):
        data = np.asarray(data)
    if isinstance(data, np.ndarray) and (data.dtype.kind != "O" or data.dtype.metadata):
        return np.asarray(data, order="C")
    return np.asarray(data, dtype=guess_dtype(data), order="C")


def text_array(value: Any, dtype: np.dtype[Any]) -> Array:
    """Return an array of texts: objects for variable length, bytes for a fixed length."""
    info = check_string_dtype(dtype)
    if info is None:
        raise TypeError(f"{dtype!r} is not a dtype of texts")
    if info.length is None:
        return np.asarray(value, dtype=dtype, order="C")
    source = value if isinstance(value, np.ndarray) else np.asarray(value)
    if source.dtype.kind == "S":
        return source
    if source.dtype.kind == "U" and isinstance(value, np.ndarray):
        raise TypeError(f"No conversion path for dtype: {source.dtype!r}")
    objects = np.asarray(value, dtype=object)
    cells = [item.encode("utf-8") if isinstance(item, str) else bytes(item) for item in objects.flat]
    return np.array(cells, dtype=dtype).reshape(objects.shape)


def _cell(value: Any, base: np.dtype[Any]) -> Array:
    """Return one sequence of variable length."""
    inner = check_vlen_dtype(base)
    if inner is not None and inner is not str and inner is not bytes:
        return vlen_cells(value, np.dtype(inner), None)
    array = np.asarray(value, dtype=base)
    return array.reshape(1) if array.ndim == 0 else array


def _object_cells(value: Any, depth: int) -> Array:
    """Return the items of nested sequences as an array of ``depth`` dimensions, without looking into the items."""
    if isinstance(value, np.ndarray):
        shape = value.shape[:depth]
        if len(shape) < depth:
            raise TypeError(f"Can't broadcast {value.shape} to {depth} dimensions of sequences")
        cells = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            cells[index] = value[index]
        return cells
    lengths: list[int] = []
    level: Any = value
    for _ in range(depth):
        if not isinstance(level, Sequence) and not isinstance(level, np.ndarray):
            raise TypeError(f"Can't use {type(value).__name__} as a sequence of sequences")
        lengths.append(len(level))
        level = level[0] if len(level) else ()
    cells = np.empty(lengths, dtype=object)
    for index in np.ndindex(*lengths):
        item: Any = value
        for position in index:
            item = item[position]
        cells[index] = item
    return cells


def vlen_cells(value: Any, base: np.dtype[Any], shape: tuple[int, ...] | None) -> Array:
    """Return an array of objects, each the array of one sequence of variable length.

    ``shape`` is the shape of the selection; None takes it from the value.
    """
    if isinstance(value, np.void):
        value = value.tolist()
    if shape is None:
        if isinstance(value, np.ndarray):
            depth = value.ndim if value.dtype.kind == "O" else max(value.ndim - 1, 0)
        else:
            depth = 1
        cells = _object_cells(value, depth)
    elif shape == ():
        if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 0:
            value = value[()]
        cells = np.empty((), dtype=object)
        cells[()] = value
    elif product(shape) == 1 and not _holds_sequences(value):
        cells = np.empty(shape, dtype=object)
        cells[(0,) * len(shape)] = value
    else:
        cells = _object_cells(value, len(shape))
    result = np.empty(cells.shape, dtype=np.dtype("O", metadata={"vlen": base}))
    for index in np.ndindex(*cells.shape):
        result[index] = _cell(cells[index], base)
    return result


def _holds_sequences(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "O":
            return value.ndim > 1
        value = list(value.flat) if value.ndim else [value[()]]
    return len(value) > 0 and isinstance(value[0], (list, tuple, np.ndarray))


def _check_references(array: Array, kind: type) -> None:
    for item in array.flat:
        if isinstance(item, (Reference, RegionReference)) and not isinstance(item, kind):
            raise TypeError(f"Cannot convert {type(item).__name__} into {kind.__name__}")


def values_for(value: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return the array to write for a value that is assigned to elements of a dtype, selected with ``shape``."""
    base = check_vlen_dtype(dtype)
    if base is not None and base is not str and base is not bytes:
        return vlen_cells(value, np.dtype(base), shape)
    if check_string_dtype(dtype) is not None:
        return text_array(value, dtype)
    kind = check_ref_dtype(dtype)
    if kind is not None:
        array = np.asarray(value, dtype=dtype)
        _check_references(array, kind)
        return array
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return np.asarray(value, order="C")
    if dtype.subdtype is not None:
        dtype = dtype.subdtype[0]
    if dtype.names is not None and isinstance(value, np.ndarray):
        return np.asarray(value, dtype=dtype)
    return np.asarray(value, dtype=dtype, order="C")


def broadcast(values: Array, shape: tuple[int, ...]) -> Array:
    """Return values in the shape of a selection; dimensions of length 1 may be absent or additional."""
    source = values.shape
    if source == shape:
        return values
    if values.size == 1 and product(shape) == 1:
        return values.reshape(shape)
    remaining = list(source)
    expanded: list[int] = []
    for length in reversed(shape):
        if remaining and remaining[-1] in (1, length):
            expanded.append(remaining.pop())
        elif length == 1 or not remaining:
            expanded.append(1)
        else:
            raise TypeError(f"Can't broadcast {source} -> {shape}")
    if any(length != 1 for length in remaining):
        raise TypeError(f"Can't broadcast {source} -> {shape}")
    return np.broadcast_to(values.reshape(tuple(reversed(expanded))), shape)
