"""The bytes of datatypes, in the form of the datatype message of a file."""

from __future__ import annotations

from typing import Any

from .._hyperslab import Type

_CHARSETS = {"ascii": 0, "utf-8": 1}
_PADDINGS = {"null-terminated": 0, "null-padded": 1, "space-padded": 2}
_PADS = {"zero": 0, "one": 1, "background": 2}
_NORMS = {"none": 0, "msbset": 1, "implied": 2}


def _two_bytes(number: int) -> bytes:
    return number.to_bytes(2, "little")


def _head(number: int, bits: int, size: int, version: int = 1) -> bytes:
    return bytes([number | version << 4]) + bits.to_bytes(3, "little") + size.to_bytes(4, "little")


def _order_bit(order: str) -> int:
    return 1 if order == ">" else 0


def _integer(d: dict[str, Any]) -> bytes:
    low, high = (_PADS.get(name, 0) for name in d.get("pad", ("zero", "zero")))
    bits = _order_bit(d["order"]) | (low & 1) << 1 | (high & 1) << 2 | int(d["signed"]) << 3
    return _head(0, bits, d["size"]) + _two_bytes(d["offset"]) + _two_bytes(d["precision"])


def _float(d: dict[str, Any]) -> bytes:
    low, high = (_PADS.get(name, 0) for name in d.get("pad", ("zero", "zero")))
    bits = _order_bit(d["order"]) | (low & 1) << 1 | (high & 1) << 2 | _NORMS[d["norm"]] << 4 | d["sign"] << 8
    exponent, mantissa = d["exponent"], d["mantissa"]
    body = _two_bytes(d["offset"]) + _two_bytes(d["precision"])
    body += bytes([exponent[0], exponent[1], mantissa[0], mantissa[1]]) + int(d["bias"]).to_bytes(4, "little")
    return _head(1, bits, d["size"]) + body


def _time(d: dict[str, Any]) -> bytes:
    return _head(2, _order_bit(d["order"]), d["size"]) + _two_bytes(8 * d["size"])


def _string(d: dict[str, Any]) -> bytes:
    charset, padding = _CHARSETS[d["charset"]], _PADDINGS[d["padding"]]
    if d["variable"]:
        element = _head(3, charset << 4, 1)
        return _head(9, 1 | padding << 4 | charset << 8, 16) + element
    return _head(3, padding | charset << 4, d["size"])


def _bitfield(d: dict[str, Any]) -> bytes:
    body = _two_bytes(d["offset"]) + _two_bytes(d["precision"])
    return _head(4, _order_bit(d["order"]), d["size"]) + body


def _opaque(d: dict[str, Any]) -> bytes:
    tag = bytes(d["tag"])
    padded = tag + b"\0" * (-len(tag) % 8)
    return _head(5, len(padded), d["size"]) + padded


def _compound(d: dict[str, Any]) -> bytes:
    size = d["size"]
    width = max(1, (size.bit_length() + 7) // 8)
    body = b""
    for name, offset, member in d["members"]:
        text = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
        body += text + b"\0" + offset.to_bytes(width, "little") + member.encode()
    return _head(6, len(d["members"]), size, 3) + body


def _reference(d: dict[str, Any]) -> bytes:
    return _head(7, 1 if d["kind"] == "region" else 0, d["size"])


def _enum(d: dict[str, Any]) -> bytes:
    base: Type = d["base"]
    details = base.describe()
    order = "big" if details["order"] == ">" else "little"
    names = b"".join((name.encode() if isinstance(name, str) else name) + b"\0" for name, _ in d["members"])
    values = b"".join(
        int(value).to_bytes(base.size, order, signed=details["signed"])  # type: ignore[arg-type]
        for _, value in d["members"]
    )
    return _head(8, len(d["members"]), base.size, 3) + base.encode() + names + values


def _vlen(d: dict[str, Any]) -> bytes:
    base: Type = d["base"]
    return _head(9, 0, 16) + base.encode()


def _array(d: dict[str, Any]) -> bytes:
    dims = tuple(d["dims"])
    base: Type = d["base"]
    size = base.size
    for length in dims:
        size *= length
    sizes = b"".join(int(length).to_bytes(4, "little") for length in dims)
    return _head(10, 0, size, 3) + bytes([len(dims)]) + sizes + base.encode()


def _complex(d: dict[str, Any]) -> bytes:
    base: Type = d["base"]
    return _head(11, 1, 2 * base.size, 5) + base.encode()


_ENCODERS = {
    "integer": _integer, "float": _float, "time": _time, "string": _string, "bitfield": _bitfield,
    "opaque": _opaque, "compound": _compound, "reference": _reference, "enum": _enum, "vlen": _vlen,
    "array": _array, "complex": _complex,
}  # fmt: skip


def build(description: dict[str, Any]) -> Type:
    """Return the datatype with the properties that ``Type.describe`` names."""
    return Type.decode(_ENCODERS[description["class"]](description))


def integer(size: int, order: str, signed: bool) -> Type:
    """Return the datatype of integers of ``size`` bytes."""
    return build({"class": "integer", "size": size, "order": order, "signed": signed, "precision": 8 * size, "offset": 0})


def bitfield(size: int, order: str) -> Type:
    """Return the datatype of bit fields of ``size`` bytes."""
    return build({"class": "bitfield", "size": size, "order": order, "precision": 8 * size, "offset": 0})


_FLOATS = {2: (15, (10, 5), (0, 10), 15), 4: (31, (23, 8), (0, 23), 127), 8: (63, (52, 11), (0, 52), 1023),
           16: (127, (112, 15), (0, 112), 16383)}  # fmt: skip


def ieee(size: int, order: str) -> Type:
    """Return the datatype of IEEE floating-point numbers of ``size`` bytes."""
    sign, exponent, mantissa, bias = _FLOATS[size]
    return build({
        "class": "float", "size": size, "order": order, "precision": 8 * size, "offset": 0, "sign": sign,
        "exponent": exponent, "mantissa": mantissa, "bias": bias, "norm": "implied",
    })  # fmt: skip


def extended(order: str) -> Type:
    """Return the datatype of floating-point numbers of 80 bits in 16 bytes."""
    return build({
        "class": "float", "size": 16, "order": order, "precision": 80, "offset": 0, "sign": 79,
        "exponent": (64, 15), "mantissa": (0, 64), "bias": 16383, "norm": "none",
    })  # fmt: skip


def complex_of(base: Type) -> Type:
    """Return the datatype of complex numbers with parts of a datatype."""
    return build({"class": "complex", "base": base})


def text(size: int, charset: str, padding: str) -> Type:
    """Return the datatype of texts of ``size`` bytes."""
    return build({"class": "string", "variable": False, "size": size, "charset": charset, "padding": padding})
