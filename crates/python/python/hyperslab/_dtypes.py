"""NumPy dtypes for HDF5 datatypes that NumPy lacks. The metadata of a dtype name the datatype."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._hyperslab import Reference, RegionReference


class string_info(NamedTuple):  # noqa: N801 - the name of h5py
    """The encoding and the length in bytes of a string dtype. A length of None is variable."""

    encoding: str
    length: int | None


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> np.dtype[Any]:
    """Return a dtype for strings: of ``length`` bytes, or of variable length.

    >>> import hyperslab
    >>> hyperslab.check_string_dtype(hyperslab.string_dtype("ascii", 8))
    string_info(encoding='ascii', length=8)
    """
    encoding = encoding.lower().replace("_", "-")
    if encoding == "utf8":
        encoding = "utf-8"
    if encoding not in {"ascii", "utf-8"}:
        raise ValueError(f"Invalid encoding ({encoding!r}); 'utf-8' or 'ascii' allowed")
    if isinstance(length, (int, np.integer)) and not isinstance(length, bool):
        return np.dtype(f"S{int(length)}", metadata={"h5py_encoding": encoding})
    if length is not None:
        raise TypeError("length must be integer or None")
    return np.dtype("O", metadata={"vlen": bytes if encoding == "ascii" else str})


def _metadata(dt: Any) -> dict[str, Any]:
    """Return the metadata of a dtype."""
    return dict(getattr(dt, "metadata", None) or {})


def check_string_dtype(dt: np.dtype[Any]) -> string_info | None:
    """Return encoding and length of a string dtype; None for another dtype."""
    vlen = check_vlen_dtype(dt)
    if vlen is str:
        return string_info("utf-8", None)
    if vlen is bytes:
        return string_info("ascii", None)
    if dt.kind == "T":
        return string_info("utf-8", None)
    if dt.kind == "S":
        return string_info(_metadata(dt).get("h5py_encoding", "ascii"), dt.itemsize)
    return None


def vlen_dtype(basetype: Any) -> np.dtype[Any]:
    """Return a dtype for sequences of variable length. Each element is an array of ``basetype``."""
    return np.dtype("O", metadata={"vlen": basetype})


def check_vlen_dtype(dt: Any) -> Any:
    """Return the dtype of the items of a sequence dtype; None for another dtype."""
    return _metadata(dt).get("vlen")


def enum_dtype(values_dict: dict[str, int], basetype: Any = np.uint8) -> np.dtype[Any]:
    """Return a dtype for an enumeration: a dict of names and integer values."""
    dt: np.dtype[Any] = np.dtype(basetype)
    if not np.issubdtype(dt, np.integer):
        raise TypeError("Only integer types can be used as enums")
    return np.dtype(dt, metadata={"enum": values_dict})


def check_enum_dtype(dt: Any) -> dict[str, int] | None:
    """Return the names and values of an enumeration dtype; None for another dtype."""
    return _metadata(dt).get("enum")


def opaque_dtype(np_dtype: Any) -> np.dtype[Any]:
    """Return a dtype whose elements HDF5 stores as opaque bytes, with a tag that names the dtype."""
    dt: np.dtype[Any] = np.dtype(np_dtype)
    if np.issubdtype(dt, np.object_):
        raise TypeError("Cannot store numpy object arrays as opaque data")
    if dt.names is not None:
        raise TypeError("Cannot store numpy structured arrays as opaque data")
    if dt.subdtype is not None:
        raise TypeError("Cannot store numpy sub-array dtype as opaque data")
    if dt.itemsize == 0:
        raise TypeError("dtype for opaque data must have explicit size")
    return np.dtype(dt, metadata={"h5py_opaque": True})


def check_opaque_dtype(dt: Any) -> bool:
    """Return whether a dtype is stored as opaque bytes."""
    return bool(_metadata(dt).get("h5py_opaque", False))


ref_dtype: np.dtype[Any] = np.dtype("O", metadata={"ref": Reference})
regionref_dtype: np.dtype[Any] = np.dtype("O", metadata={"ref": RegionReference})


def check_ref_dtype(dt: Any) -> type | None:
    """Return the class of the references of a dtype; None for another dtype."""
    return _metadata(dt).get("ref")


def special_dtype(**kwds: Any) -> np.dtype[Any]:
    """Return a dtype by one keyword: ``vlen=base``, ``enum=(base, names)`` or ``ref=class``."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, param = kwds.popitem()
    if name == "vlen":
        return np.dtype("O", metadata={"vlen": param})
    if name == "enum":
        try:
            base, values = param
        except (TypeError, ValueError):
            raise TypeError("Enums must be created from a 2-tuple (basetype, values_dict)") from None
        return enum_dtype(values, base)
    if name == "ref":
        if param not in (Reference, RegionReference):
            raise ValueError("Ref class must be Reference or RegionReference")
        return ref_dtype if param is Reference else regionref_dtype
    raise TypeError(f"Unknown special type {name!r}")


def check_dtype(**kwds: Any) -> Any:
    """Return what a dtype describes, by one keyword: ``vlen=dt``, ``enum=dt`` or ``ref=dt``."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, dt = kwds.popitem()
    if name not in ("vlen", "enum", "ref"):
        raise TypeError(f"Unknown special type {name!r}")
    return _metadata(dt).get(name)


def has_objects(dt: np.dtype[Any]) -> bool:
    """Return whether elements of a dtype contain Python objects."""
    return bool(dt.hasobject)


def guess_dtype(data: Any) -> np.dtype[Any] | None:
    """Return the dtype of texts and references, which NumPy stores as plain objects."""
    if isinstance(data, Reference):
        return ref_dtype
    if isinstance(data, RegionReference):
        return regionref_dtype
    if type(data) is bytes:
        return string_dtype("ascii")
    if type(data) is str:
        return string_dtype()
    return None
