"""Datatypes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import _dtypes
from .. import _hyperslab as core
from .._config import get_config as get_config
from .._dtypes import check_dtype as check_dtype
from .._dtypes import check_enum_dtype as check_enum_dtype
from .._dtypes import check_opaque_dtype as check_opaque_dtype
from .._dtypes import check_ref_dtype as check_ref_dtype
from .._dtypes import check_string_dtype as check_string_dtype
from .._dtypes import check_vlen_dtype as check_vlen_dtype
from .._dtypes import enum_dtype as enum_dtype
from .._dtypes import opaque_dtype as opaque_dtype
from .._dtypes import ref_dtype as ref_dtype
from .._dtypes import regionref_dtype as regionref_dtype
from .._dtypes import special_dtype as special_dtype
from .._dtypes import string_dtype as string_dtype
from .._dtypes import string_info as string_info
from .._dtypes import vlen_dtype as vlen_dtype
from . import _encoding
from ._complex import check_complex_dtype as check_complex_dtype
from ._complex import complex_compat_dtype as complex_compat_dtype
from ._type_ids import (
    CLASSES,
    TypeArrayID,
    TypeAtomicID,
    TypeBitfieldID,
    TypeComplexID,
    TypeCompositeID,
    TypeCompoundID,
    TypeEnumID,
    TypeFloatID,
    TypeID,
    TypeIntegerID,
    TypeOpaqueID,
    TypeReferenceID,
    TypeStringID,
    TypeTimeID,
    TypeVlenID,
    type_id,
)

__all__ = [
    "TypeArrayID", "TypeAtomicID", "TypeBitfieldID", "TypeComplexID", "TypeCompositeID", "TypeCompoundID",
    "TypeEnumID", "TypeFloatID", "TypeID", "TypeIntegerID", "TypeOpaqueID", "TypeReferenceID", "TypeStringID",
    "TypeTimeID", "TypeVlenID", "array_create", "create", "decode", "enum_create", "find", "open", "py_create",
    "typewrap", "vlen_create",
]  # fmt: skip

cfg = get_config()

NO_CLASS = -1
INTEGER, FLOAT, TIME, STRING, BITFIELD, OPAQUE, COMPOUND, REFERENCE, ENUM, VLEN, ARRAY, COMPLEX = range(12)
SGN_NONE, SGN_2 = 0, 1
ORDER_LE, ORDER_BE, ORDER_VAX, ORDER_NONE = 0, 1, 2, 4
ORDER_NATIVE = ORDER_LE if sys.byteorder == "little" else ORDER_BE
DIR_DEFAULT, DIR_ASCEND, DIR_DESCEND = 0, 1, 2
STR_NULLTERM, STR_NULLPAD, STR_SPACEPAD = 0, 1, 2
NORM_IMPLIED, NORM_MSBSET, NORM_NONE = 0, 1, 2
CSET_ASCII, CSET_UTF8 = 0, 1
PAD_ZERO, PAD_ONE, PAD_BACKGROUND = 0, 1, 2
BKG_NO, BKG_TEMP, BKG_YES = 0, 1, 2
VARIABLE = 2**64 - 1

_NATIVE = "<" if sys.byteorder == "little" else ">"


def _fixed(kind: core.Type) -> Any:
    made = type_id(kind)
    made.lock()
    return made


STD_I8LE, STD_I8BE = (_fixed(_encoding.integer(1, order, True)) for order in "<>")
STD_I16LE, STD_I16BE = (_fixed(_encoding.integer(2, order, True)) for order in "<>")
STD_I32LE, STD_I32BE = (_fixed(_encoding.integer(4, order, True)) for order in "<>")
STD_I64LE, STD_I64BE = (_fixed(_encoding.integer(8, order, True)) for order in "<>")
STD_U8LE, STD_U8BE = (_fixed(_encoding.integer(1, order, False)) for order in "<>")
STD_U16LE, STD_U16BE = (_fixed(_encoding.integer(2, order, False)) for order in "<>")
STD_U32LE, STD_U32BE = (_fixed(_encoding.integer(4, order, False)) for order in "<>")
STD_U64LE, STD_U64BE = (_fixed(_encoding.integer(8, order, False)) for order in "<>")
STD_B8LE, STD_B8BE = (_fixed(_encoding.bitfield(1, order)) for order in "<>")
STD_B16LE, STD_B16BE = (_fixed(_encoding.bitfield(2, order)) for order in "<>")
STD_B32LE, STD_B32BE = (_fixed(_encoding.bitfield(4, order)) for order in "<>")
STD_B64LE, STD_B64BE = (_fixed(_encoding.bitfield(8, order)) for order in "<>")
IEEE_F16LE, IEEE_F16BE = (_fixed(_encoding.ieee(2, order)) for order in "<>")
IEEE_F32LE, IEEE_F32BE = (_fixed(_encoding.ieee(4, order)) for order in "<>")
IEEE_F64LE, IEEE_F64BE = (_fixed(_encoding.ieee(8, order)) for order in "<>")
IEEE_F128LE, IEEE_F128BE = (_fixed(_encoding.ieee(16, order)) for order in "<>")
LDOUBLE_LE, LDOUBLE_BE = (_fixed(_encoding.extended(order)) for order in "<>")
COMPLEX_IEEE_F16LE, COMPLEX_IEEE_F16BE = (_fixed(_encoding.complex_of(_encoding.ieee(2, order))) for order in "<>")
COMPLEX_IEEE_F32LE, COMPLEX_IEEE_F32BE = (_fixed(_encoding.complex_of(_encoding.ieee(4, order))) for order in "<>")
COMPLEX_IEEE_F64LE, COMPLEX_IEEE_F64BE = (_fixed(_encoding.complex_of(_encoding.ieee(8, order))) for order in "<>")
UNIX_D32LE, UNIX_D32BE = (_fixed(_encoding.build({"class": "time", "size": 4, "order": order})) for order in "<>")
UNIX_D64LE, UNIX_D64BE = (_fixed(_encoding.build({"class": "time", "size": 8, "order": order})) for order in "<>")
STD_REF_OBJ = _fixed(_encoding.build({"class": "reference", "kind": "object", "size": 8}))
STD_REF_DSETREG = _fixed(_encoding.build({"class": "reference", "kind": "region", "size": 12}))
C_S1 = _fixed(_encoding.text(1, "ascii", "null-terminated"))
FORTRAN_S1 = _fixed(_encoding.text(1, "ascii", "space-padded"))

NATIVE_INT8, NATIVE_UINT8 = (_fixed(_encoding.integer(1, _NATIVE, signed)) for signed in (True, False))
NATIVE_INT16, NATIVE_UINT16 = (_fixed(_encoding.integer(2, _NATIVE, signed)) for signed in (True, False))
NATIVE_INT32, NATIVE_UINT32 = (_fixed(_encoding.integer(4, _NATIVE, signed)) for signed in (True, False))
NATIVE_INT64, NATIVE_UINT64 = (_fixed(_encoding.integer(8, _NATIVE, signed)) for signed in (True, False))
NATIVE_B8, NATIVE_B16, NATIVE_B32, NATIVE_B64 = (_fixed(_encoding.bitfield(size, _NATIVE)) for size in (1, 2, 4, 8))
NATIVE_FLOAT16, NATIVE_FLOAT, NATIVE_DOUBLE = (_fixed(_encoding.ieee(size, _NATIVE)) for size in (2, 4, 8))
NATIVE_LDOUBLE = _fixed(_encoding.extended(_NATIVE))
NATIVE_FLOAT_COMPLEX = _fixed(_encoding.complex_of(_encoding.ieee(4, _NATIVE)))
NATIVE_DOUBLE_COMPLEX = _fixed(_encoding.complex_of(_encoding.ieee(8, _NATIVE)))
NATIVE_LDOUBLE_COMPLEX = _fixed(_encoding.complex_of(_encoding.extended(_NATIVE)))


def typewrap(identifier: Any) -> TypeID:
    """Return the identifier of a datatype."""
    return type_id(identifier)


class NewCompoundID(TypeCompoundID):
    """A compound without members. The first member makes it a datatype."""

    def __init__(self, size: Any) -> None:
        super().__init__(None if isinstance(size, int) else size)
        self._size = size

    def __bool__(self) -> bool:
        return True

    def get_size(self) -> int:
        """Return the size of an element in bytes."""
        return int(self._size) if self._handle is None else super().get_size()

    def insert(self, name: bytes | str, offset: int, field: TypeID) -> None:
        """Add a member."""
        if self._handle is not None:
            super().insert(name, offset, field)
            return
        label = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
        members = [(label, offset, field.type)]
        self._handle = _encoding.build({"class": "compound", "size": self._size, "members": members})


def create(number: int, size: int) -> Any:
    """Return a new compound or opaque datatype, or one of texts, of ``size`` bytes."""
    if number == COMPOUND:
        return NewCompoundID(size)
    if number == OPAQUE:
        return type_id(_encoding.build({"class": "opaque", "size": size, "tag": b""}))
    if number == STRING:
        made: Any = C_S1.copy()
        made.set_size(size)
        return made
    raise ValueError(f"A datatype of the class {number} cannot be created by its size")


def open(group: Any, name: bytes | str, tapl: Any = None) -> TypeID:
    """Open a committed datatype."""
    return type_id(group._handle.get(name))


def array_create(base: TypeID, dims: tuple[int, ...]) -> TypeArrayID:
    """Return a datatype of arrays."""
    return TypeArrayID(_encoding.build({"class": "array", "base": base.type, "dims": dims}))


def enum_create(base: TypeID) -> TypeEnumID:
    """Return an enumeration without names."""
    return TypeEnumID(_encoding.build({"class": "enum", "base": base.type, "members": []}))


def vlen_create(base: TypeID) -> TypeVlenID:
    """Return a datatype of sequences of variable length."""
    return TypeVlenID(_encoding.build({"class": "vlen", "base": base.type}))


def decode(data: bytes) -> TypeID:
    """Return the datatype that ``TypeID.encode`` made bytes of."""
    return type_id(core.Type.decode(data[2:] if data[:1] == b"\x03" else data))


def _check_logical(dtype: np.dtype[Any]) -> None:
    """Raise TypeError for aligned compounds with members whose size differs in files."""
    if dtype.isalignedstruct and dtype.fields is not None:
        stored = core.Type.of(dtype).describe()
        for name, _, member in stored["members"]:
            if member.size > dtype.fields[name][0].itemsize:
                raise TypeError("dtype does not fit: HDF5 stores a member in more bytes than NumPy")


def py_create(dtype: Any, logical: bool = False, aligned: bool = False) -> TypeID:
    """Return the datatype that stores elements of a NumPy dtype."""
    found = np.dtype(dtype)
    if logical:
        _check_logical(found)
    elif found.kind in "iu":
        # Only a logical datatype has the names of an enumeration.
        found = np.dtype(found.str)
    if found.kind == "T":
        found = _dtypes.string_dtype()
    if found.kind == "U" or (found.kind == "O" and not found.metadata):
        raise TypeError(f"Object dtype {found!r} has no native HDF5 equivalent")
    return type_id(core.Type.of(found))


def find(source: TypeID, target: TypeID) -> tuple[int, int] | None:
    """Return the properties of the conversion between two datatypes; None if there is none."""
    same = CLASSES[source.type.class_name] == CLASSES[target.type.class_name]
    return (BKG_NO, 0) if same else None
