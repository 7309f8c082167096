"""Identifiers of datatypes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import _hyperslab as core
from ._encoding import build
from ._objects import ObjectID

CLASSES = {
    "integer": 0, "float": 1, "time": 2, "string": 3, "bitfield": 4, "opaque": 5, "compound": 6, "reference": 7,
    "enum": 8, "vlen": 9, "array": 10, "complex": 11,
}  # fmt: skip
VARIABLE = 2**64 - 1
_CHARSETS = ("ascii", "utf-8")
_PADDINGS = ("null-terminated", "null-padded", "space-padded")
_PADS = ("zero", "one", "background")
_NORMS = ("implied", "msbset", "none")


class TypeID(ObjectID):
    """A datatype: that of a handle of a committed datatype, or one by itself."""

    def __init__(self, handle: Any) -> None:
        super().__init__(1)
        self._handle = handle
        self._locked = False

    @property
    def type(self) -> core.Type:
        """The datatype."""
        handle = self._handle
        found: core.Type = handle if isinstance(handle, core.Type) else handle.committed_type
        return found

    def __bool__(self) -> bool:
        return bool(self._number) and (isinstance(self._handle, core.Type) or bool(self._handle.is_open))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeID) and self.type == other.type

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements in memory."""
        return self.type.dtype

    def py_dtype(self) -> np.dtype[Any]:
        """Return the NumPy dtype of elements in memory."""
        return self.type.dtype

    def committed(self) -> bool:
        """Return True for a datatype that is an object of a file."""
        return not isinstance(self._handle, core.Type)

    def commit(self, group: Any, name: bytes | str, lcpl: Any = None) -> None:
        """Make the datatype an object of a file."""
        self._handle = group._handle.commit(name, self.type)

    def copy(self) -> Self:
        """Return a datatype that can be changed."""
        return type(self)(self.type)

    def lock(self) -> None:
        """Refuse all changes of the datatype from now on."""
        self._locked = True

    def equal(self, other: TypeID) -> bool:
        """Return True for equal datatypes."""
        return self == other

    def encode(self) -> bytes:
        """Return the datatype as bytes."""
        return b"\x03\x00" + self.type.encode()

    def get_class(self) -> int:
        """Return the number of the class."""
        return CLASSES[self.type.class_name]

    def get_size(self) -> int:
        """Return the size of an element in bytes, where a variable-length string counts as a pointer, as for libhdf5."""
        return self.type.memory_size

    def get_super(self) -> TypeID:
        """Return the datatype of the items."""
        return type_id(self.type.describe()["base"])

    def detect_class(self, number: int) -> bool:
        """Return True if the datatype or a part of it is of a class."""
        names = {value: name for name, value in CLASSES.items()}
        return _has_class(self.type, names.get(number, ""))

    def _change(self, **changes: Any) -> None:
        if self._locked or self.committed():
            raise TypeError("The datatype cannot be changed")
        self._handle = build({**self.type.describe(), **changes})

    def set_size(self, size: int) -> None:
        """Change the size of an element."""
        self._change(size=size)

    def __reduce__(self) -> Any:
        return _decoded, (self.encode(),)


def _decoded(data: bytes) -> TypeID:
    return type_id(core.Type.decode(data[2:] if data[:1] == b"\x03" else data))


def _has_class(kind: core.Type, name: str) -> bool:
    details = kind.describe()
    if details["class"] == name:
        return True
    parts = [member[2] for member in details["members"]] if details["class"] == "compound" else []
    if "base" in details:
        parts.append(details["base"])
    return any(_has_class(part, name) for part in parts)


class TypeArrayID(TypeID):
    """A datatype of arrays of a fixed shape."""

    def get_array_ndims(self) -> int:
        """Return the number of dimensions."""
        return len(self.type.describe()["dims"])

    def get_array_dims(self) -> tuple[int, ...]:
        """Return the shape."""
        return tuple(self.type.describe()["dims"])


class TypeOpaqueID(TypeID):
    """A datatype of bytes without a meaning for HDF5."""

    def get_tag(self) -> bytes:
        """Return the tag."""
        return bytes(self.type.describe()["tag"]).rstrip(b"\0")

    def set_tag(self, tag: bytes) -> None:
        """Change the tag."""
        self._change(tag=tag)


class TypeStringID(TypeID):
    """A datatype of texts."""

    def is_variable_str(self) -> bool:
        """Return True for texts of variable length."""
        return bool(self.type.describe()["variable"])

    def get_cset(self) -> int:
        """Return the number of the character set."""
        return _CHARSETS.index(self.type.describe()["charset"])

    def set_cset(self, cset: int) -> None:
        """Change the character set."""
        self._change(charset=_CHARSETS[cset])

    def get_strpad(self) -> int:
        """Return the number of the padding."""
        return _PADDINGS.index(self.type.describe()["padding"])

    def set_strpad(self, padding: int) -> None:
        """Change the padding."""
        self._change(padding=_PADDINGS[padding])

    def set_size(self, size: int) -> None:
        """Change the size of an element; ``VARIABLE`` makes the length variable."""
        self._change(size=16, variable=True) if size == VARIABLE else self._change(size=size, variable=False)


class TypeVlenID(TypeID):
    """A datatype of sequences of variable length."""


class TypeReferenceID(TypeID):
    """A datatype of references."""


class TypeAtomicID(TypeID):
    """A datatype of numbers or bits."""

    def get_order(self) -> int:
        """Return the number of the byte order."""
        details = self.type.describe()
        while "base" in details:
            details = details["base"].describe()
        return {"<": 0, ">": 1, "vax": 2}[details["order"]]

    def set_order(self, order: int) -> None:
        """Change the byte order."""
        self._change(order="<>"[order])

    def get_precision(self) -> int:
        """Return the number of bits that count."""
        return int(self.type.describe()["precision"])

    def set_precision(self, precision: int) -> None:
        """Change the number of bits that count."""
        self._change(precision=precision)

    def get_offset(self) -> int:
        """Return the position of the first bit that counts."""
        return int(self.type.describe()["offset"])

    def set_offset(self, offset: int) -> None:
        """Change the position of the first bit that counts."""
        self._change(offset=offset)

    def get_pad(self) -> tuple[int, int]:
        """Return the values of the bits below and above those that count."""
        low, high = self.type.describe().get("pad", ("zero", "zero"))
        return _PADS.index(low), _PADS.index(high)

    def set_pad(self, lsb: int, msb: int) -> None:
        """Change the values of the bits below and above those that count."""
        self._change(pad=(_PADS[lsb], _PADS[msb]))

    def set_size(self, size: int) -> None:
        """Change the size of an element; the bits that count become fewer if they do not fit."""
        details = self.type.describe()
        if "precision" in details and details["class"] != "float":
            grown = 8 * size if details["precision"] == 8 * details["size"] else min(details["precision"], 8 * size)
            self._change(size=size, precision=grown)
        else:
            self._change(size=size)


class TypeBitfieldID(TypeAtomicID):
    """A datatype of bit fields."""


class TypeTimeID(TypeAtomicID):
    """A datatype of times."""


class TypeIntegerID(TypeAtomicID):
    """A datatype of integers."""

    def get_sign(self) -> int:
        """Return 1 for signed integers, else 0."""
        return int(self.type.describe()["signed"])

    def set_sign(self, sign: int) -> None:
        """Make integers signed (1) or unsigned (0)."""
        self._change(signed=bool(sign))


class TypeFloatID(TypeAtomicID):
    """A datatype of floating-point numbers."""

    def get_fields(self) -> tuple[int, int, int, int, int]:
        """Return the positions of sign and exponent, the size of the exponent, position and size of the mantissa."""
        details = self.type.describe()
        return (details["sign"], *details["exponent"], *details["mantissa"])

    def set_fields(self, spos: int, epos: int, esize: int, mpos: int, msize: int) -> None:
        """Change the positions and sizes of sign, exponent and mantissa."""
        self._change(sign=spos, exponent=(epos, esize), mantissa=(mpos, msize))

    def get_ebias(self) -> int:
        """Return the bias of the exponent."""
        return int(self.type.describe()["bias"])

    def set_ebias(self, bias: int) -> None:
        """Change the bias of the exponent."""
        self._change(bias=bias)

    def get_norm(self) -> int:
        """Return the number of the normalization."""
        return _NORMS.index(self.type.describe()["norm"])

    def set_norm(self, norm: int) -> None:
        """Change the normalization."""
        self._change(norm=_NORMS[norm])

    def get_inpad(self) -> int:
        """Return the value of bits between the fields."""
        return 0


class TypeComplexID(TypeAtomicID):
    """A datatype of complex numbers."""


class TypeCompositeID(TypeID):
    """A datatype with members."""

    def _members(self) -> list[tuple[Any, ...]]:
        return list(self.type.describe()["members"])

    def get_nmembers(self) -> int:
        """Return the number of members."""
        return len(self._members())

    def get_member_name(self, member: int) -> bytes:
        """Return the name of a member."""
        members = self._members()
        if not 0 <= member < len(members):
            raise ValueError(f"Invalid member number {member}")
        name = members[member][0]
        return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else bytes(name)

    def get_member_index(self, name: bytes) -> int:
        """Return the number of the member with a name."""
        names = [self.get_member_name(number) for number in range(self.get_nmembers())]
        return names.index(name)


class TypeCompoundID(TypeCompositeID):
    """A datatype of compounds."""

    def get_member_offset(self, member: int) -> int:
        """Return the position of a member in bytes."""
        return self.type.memory_offset(int(self._members()[member][1]))

    def get_member_type(self, member: int) -> TypeID:
        """Return the datatype of a member."""
        members = self._members()
        if not 0 <= member < len(members):
            raise TypeError(f"Invalid member number {member}")
        return type_id(members[member][2])

    def get_member_class(self, member: int) -> int:
        """Return the number of the class of a member."""
        return self.get_member_type(member).get_class()

    def insert(self, name: bytes | str, offset: int, field: TypeID) -> None:
        """Add a member."""
        label = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
        self._change(members=[*self._members(), (label, offset, field.type)])


class TypeEnumID(TypeCompositeID):
    """A datatype of enumerations."""

    def enum_insert(self, name: bytes | str, value: int) -> None:
        """Add a name."""
        label = name.decode() if isinstance(name, bytes) else name
        self._change(members=[*self._members(), (label, int(value))])

    def enum_nameof(self, value: int) -> bytes:
        """Return the name of a value."""
        for number, (_, found) in enumerate(self._members()):
            if found == value:
                return self.get_member_name(number)
        raise ValueError(f"No name has the value {value}")

    def enum_valueof(self, name: bytes) -> int:
        """Return the value of a name."""
        return int(self._members()[self.get_member_index(name)][1])

    def get_member_value(self, member: int) -> int:
        """Return the value of a name by its number."""
        return int(self._members()[member][1])


_IDS: dict[str, type[TypeID]] = {
    "integer": TypeIntegerID, "float": TypeFloatID, "time": TypeTimeID, "string": TypeStringID,
    "bitfield": TypeBitfieldID, "opaque": TypeOpaqueID, "compound": TypeCompoundID, "reference": TypeReferenceID,
    "enum": TypeEnumID, "vlen": TypeVlenID, "array": TypeArrayID, "complex": TypeComplexID,
}  # fmt: skip


def type_id(handle: Any) -> TypeID:
    """Return the identifier of a datatype, or of the handle of a committed one."""
    kind = handle if isinstance(handle, core.Type) else handle.committed_type
    return _IDS[kind.class_name](handle)
