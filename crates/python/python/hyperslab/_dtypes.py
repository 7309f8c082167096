"""NumPy dtypes that stand for HDF5 datatypes which NumPy lacks, by metadata."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ._config import get_config
from ._hyperslab import Reference, RegionReference, Type

Encoding = Literal["utf-8", "ascii"]


class string_info(NamedTuple):
    """The encoding of a text datatype, and its length in bytes or None for variable length."""

    encoding: str
    length: int | None


def _metadata(dtype: Any) -> Mapping[str, Any]:
    found = np.dtype(dtype).metadata
    return {} if found is None else found


def string_dtype(encoding: str = "utf-8", length: int | None = None) -> np.dtype[Any]:
    """Return the dtype of texts, of variable length or of ``length`` bytes."""
    normal = encoding.lower().replace("utf8", "utf-8")
    if normal not in ("utf-8", "ascii"):
        raise ValueError(f"Invalid encoding ({encoding!r}); 'utf-8' or 'ascii' allowed")
    if length is None:
        return np.dtype("O", metadata={"vlen": str if normal == "utf-8" else bytes})
    if isinstance(length, (int, np.integer)):
        return np.dtype(f"S{int(length)}", metadata={"h5py_encoding": normal})
    raise TypeError(f"length must be an integer or None, not {length!r}")


def vlen_dtype(basetype: Any) -> np.dtype[Any]:
    """Return the dtype of sequences of variable length."""
    return np.dtype("O", metadata={"vlen": basetype})


def enum_dtype(values_dict: Mapping[str, int], basetype: npt.DTypeLike = np.uint8) -> np.dtype[Any]:
    """Return the dtype of an enumeration with integers of ``basetype``."""
    base = np.dtype(basetype)
    if not np.issubdtype(base, np.integer):
        raise TypeError("Only integer types can be used as enums")
    return np.dtype(base, metadata={"enum": values_dict})


def opaque_dtype(np_dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a dtype whose elements are stored as opaque bytes with the name of the dtype as tag."""
    dtype = np.dtype(np_dtype)
    if np.issubdtype(dtype, np.object_):
        raise TypeError("Cannot store numpy object arrays as opaque data")
    if dtype.names is not None:
        raise TypeError("Cannot store numpy structured arrays as opaque data")
    if dtype.subdtype is not None:
        raise TypeError("Cannot store numpy sub-array dtype as opaque data")
    if dtype.itemsize == 0:
        raise TypeError("dtype for opaque data must have explicit size")
    return np.dtype(dtype, metadata={"h5py_opaque": True})


ref_dtype: np.dtype[Any] = np.dtype("O", metadata={"ref": Reference})
regionref_dtype: np.dtype[Any] = np.dtype("O", metadata={"ref": RegionReference})


def complex_compat_dtype(complex_dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the compound dtype with the two members that store complex numbers."""
    dtype = np.dtype(complex_dtype)
    if dtype.kind != "c":
        raise TypeError(f"Not a complex dtype: {dtype!r}")
    part = np.dtype(f"f{dtype.itemsize // 2}").newbyteorder(dtype.byteorder)
    real, imaginary = get_config().complex_names
    return np.dtype([(real, part), (imaginary, part)])


def special_dtype(**kwds: Any) -> np.dtype[Any]:
    """Return a dtype by one keyword: ``vlen``, ``enum=(base, values)`` or ``ref``."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, value = kwds.popitem()
    if name == "vlen":
        return np.dtype("O", metadata={"vlen": value})
    if name == "enum":
        try:
            base, values = value
        except (TypeError, ValueError):
            raise TypeError("Enums must be created from a 2-tuple (basetype, values_dict)") from None
        return enum_dtype(values, base)
    if name == "ref":
        if value not in (Reference, RegionReference):
            raise ValueError("Ref class must be Reference or RegionReference")
        return ref_dtype if value is Reference else regionref_dtype
    raise TypeError(f'Unknown special type "{name}"')


def check_vlen_dtype(dt: Any) -> Any:
    """Return the type of the items of sequences of variable length; None for other dtypes."""
    try:
        return _metadata(dt).get("vlen")
    except TypeError:
        return None


def check_string_dtype(dt: Any) -> string_info | None:
    """Return encoding and length of a text dtype; None for other dtypes."""
    base = check_vlen_dtype(dt)
    if base is str:
        return string_info("utf-8", None)
    if base is bytes:
        return string_info("ascii", None)
    if dt.kind == "S":
        return string_info(_metadata(dt).get("h5py_encoding", "ascii"), dt.itemsize)
    return None


def check_enum_dtype(dt: Any) -> Mapping[str, int] | None:
    """Return names and values of an enumeration; None for other dtypes."""
    return _metadata(dt).get("enum")


def check_opaque_dtype(dt: Any) -> bool:
    """Return True for a dtype whose elements are stored as opaque bytes."""
    return bool(_metadata(dt).get("h5py_opaque", False))


def check_ref_dtype(dt: Any) -> type[Reference] | type[RegionReference] | None:
    """Return the class of the references of a dtype; None for other dtypes."""
    return _metadata(dt).get("ref")


def check_complex_dtype(dt: Any) -> np.dtype[Any] | None:
    """Return the complex dtype that a dtype stores; None for other dtypes."""
    dtype = np.dtype(dt)
    if dtype.kind == "c":
        return dtype
    if dtype.names != get_config().complex_names or dtype.fields is None:
        return None
    first, second = (dtype.fields[name][0] for name in dtype.names)
    if first != second or first.kind != "f" or dtype.itemsize != 2 * first.itemsize:
        return None
    try:
        return np.dtype(f"c{dtype.itemsize}").newbyteorder(first.byteorder)
    except TypeError:
        return None


def check_dtype(**kwds: Any) -> Any:
    """Return what a dtype stands for, by one keyword: ``vlen``, ``enum`` or ``ref``."""
    if len(kwds) != 1:
        raise TypeError("Exactly one keyword may be provided")
    name, dtype = kwds.popitem()
    if name not in ("vlen", "enum", "ref"):
        raise ValueError(f'Unknown special type "{name}"')
    return _metadata(dtype).get(name)


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the texts of variable length for NumPy's StringDType, and other dtypes as they are."""
    return string_dtype() if dtype.kind == "T" else dtype


def type_of(dtype: np.dtype[Any]) -> Type:
    """Return the datatype that stores elements of a dtype."""
    stored = stored_dtype(dtype)
    if stored.kind == "U":
        raise TypeError(f"No conversion path for dtype: {stored!r}")
    if stored.kind == "O" and not stored.metadata:
        raise TypeError(f"Object dtype {stored!r} has no native HDF5 equivalent")
    return Type.of(stored)
