"""Assignments to elements of datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._dtypes import check_ref_dtype, check_string_dtype, check_vlen_dtype
from ._empty import Empty
from ._hyperslab import Reference, RegionReference
from ._strings import encode_fixed, stores_text, text_array

if TYPE_CHECKING:
    from ._dataset import Dataset


def assign(dset: Dataset, args: Any, val: Any) -> None:
    """Write a value to the elements of a subscript, with h5py's conversions."""
    if dset._readonly:
        raise ValueError("the dataset is read-only here")
    dt = dset.dtype
    if dt.kind in "biufc" and not dset._is_special(args) and not isinstance(val, Empty):
        dset._handle.set(args, _plain(val))
        return
    if dset.shape is None:
        raise ValueError("Empty datasets cannot be assigned to")
    names, rest = dset._split(args)
    selection = dset._selection(rest)
    if names:
        val = with_names(dt, names, val)
    elif check_vlen_dtype(dt) is not None and not stores_text(dt):
        val = sequences(val, dt, selection.result_shape)
    elif stores_text(dt):
        val = text_array(val, dt)
    elif check_ref_dtype(dt) is not None:
        val = np.asarray(val, dtype=dt)
        wanted = check_ref_dtype(dt)
        for item in val.flat:
            if isinstance(item, (Reference, RegionReference)) and not isinstance(item, wanted):  # type: ignore[arg-type]
                raise TypeError(f"Cannot convert {item!r} to a {wanted.__name__}")  # type: ignore[union-attr]
    elif dt.kind == "S":
        val = encode_fixed(val, dt)
    else:
        val = converted(val, dt)
    dset._handle.write(selection, val)


def _plain(val: Any) -> Any:
    """Return a value for the core: an array of texts of NumPy as numbers is an error there."""
    if isinstance(val, np.ndarray) and val.dtype.kind == "O":
        return val.tolist()
    return val


def with_names(dt: np.dtype[Any], names: list[str], val: Any) -> np.ndarray[Any, Any]:
    """Return a compound array with the values of some members."""
    if dt.fields is None:
        raise TypeError("Illegal slicing argument (not a compound dataset)")
    for name in names:
        if name not in dt.fields:
            raise ValueError(f"No such field for indexing: {name}")
    part = np.dtype([(name, dt.fields[name][0]) for name in names])
    if len(names) == 1:
        inner = part.fields[names[0]][0]  # type: ignore[index]
        if getattr(val, "dtype", None) is not None and getattr(val.dtype, "names", None) and names[0] in val.dtype.names:
            val = val[names[0]]
        base = text_array(val, inner) if stores_text(inner) else np.asarray(val, dtype=inner.base)
        outer = base.shape[: base.ndim - len(inner.shape)]
        array = np.empty(outer, dtype=part)
        array[names[0]] = base
        return array
    given = getattr(val, "dtype", None)
    if given is not None and given.names and all(name in given.names for name in names):
        array = np.empty(np.shape(val), dtype=part)
        for name in names:
            array[name] = val[name]
        return array
    return np.asarray(val, dtype=part)


def sequences(val: Any, dt: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array of sequences for a value: one sequence, or nested sequences."""
    base = np.dtype(check_vlen_dtype(dt))
    if isinstance(val, np.ndarray) and val.dtype == object and not (shape == () and val.ndim == 1 and base.hasobject):
        return val.astype(dt, copy=False)
    count = int(np.prod(shape, dtype=np.int64))
    array = np.empty((), dtype=dt)
    if shape == () or (count == 1 and not _is_nested(val)) or not _is_nested(val):
        try:
            array[()] = np.asarray(val, dtype=base).reshape(-1) if not base.hasobject else np.asarray(val, dtype=base)
        except (ValueError, TypeError) as error:
            raise ValueError("Cannot convert value to the dtype of the sequences") from error
        return array if shape == () else np.broadcast_to(array, shape)
    array = np.empty(len(val), dtype=dt)
    for at, items in enumerate(val):
        if np.ndim(items) > 1 or (len(shape) > 1 and _is_nested(items)):
            return np.stack([sequences(row, dt, shape[1:]) for row in val])
        array[at] = np.asarray(items, dtype=base)
    if array.shape != shape and array.size == count:
        array = array.reshape(shape)
    return array


def _is_nested(val: Any) -> bool:
    """Return whether the items of a value are sequences themselves."""
    if isinstance(val, np.ndarray):
        return val.ndim > 1
    return isinstance(val, (list, tuple)) and len(val) > 0 and all(isinstance(x, (list, tuple, np.ndarray)) for x in val)


def converted(val: Any, dt: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a value as an array of a compound, opaque or other dtype without texts."""
    if dt.names is not None and dt.hasobject:
        return np.asarray(val, dtype=dt, order="C")
    if dt.subdtype is not None and np.shape(val)[max(0, np.ndim(val) - len(dt.shape)) :] != dt.shape:
        raise TypeError(f"Can't broadcast {np.shape(val)} to elements of the shape {dt.shape}")
    if getattr(val, "dtype", None) is None or (val.dtype.kind == "O" and not dt.hasobject):
        if dt.subdtype is not None:
            return np.asarray(val, dtype=dt.base, order="C")
        return np.asarray(val, dtype=dt, order="C")
    array = np.asarray(val, order="C")
    if dt.kind in "mM" and array.dtype != dt:
        array = array.astype(dt)
    if check_string_dtype(array.dtype) is None and array.dtype.kind == "V" and dt.names is None and array.dtype != dt:
        array = array.view(dt) if array.dtype.itemsize == dt.itemsize else array
    return array
