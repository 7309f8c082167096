"""Datatypes: elements that h5py writes are read as h5py reads them, and the other way round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

NUMBERS = [order + kind for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8") for order in "<>"]
COMPLEX = ["<c8", ">c8", "<c16", ">c16"]
COMPOUND = np.dtype([("id", "<u2"), ("at", ">f8", (2, 3)), ("name", "S5"), ("inner", [("flag", "?"), ("z", "<c8")])])
SHAPES: list[tuple[int, ...]] = [(), (0,), (5,), (2, 3), (2, 0, 3)]


def numbers(dtype: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array of distinct values with the extremes of the dtype."""
    dt = np.dtype(dtype)
    size = int(np.prod(shape))
    values: Any = np.arange(size) * 3 - (0 if dt.kind == "u" else 4)
    if dt.kind == "c":
        values = values + 1j * (values + 0.5)
    array = np.asarray(values).astype(dt).reshape(shape)
    if size > 3 and dt.kind in "iu":
        array.flat[0], array.flat[1] = np.iinfo(dt).min, np.iinfo(dt).max
    if size > 3 and dt.kind == "f":
        array.flat[0], array.flat[1], array.flat[2] = np.inf, np.nan, np.finfo(dt).tiny
    return array


def compounds(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return an array of nested compounds."""
    array = np.zeros(shape, dtype=COMPOUND)
    size = array.size
    array["id"] = np.arange(size).reshape(shape)
    array["at"] = np.arange(size * 6).reshape((*shape, 2, 3)) / 7
    array["name"] = np.array([b"n%d" % n for n in range(size)], dtype="S5").reshape(shape)
    array["inner"]["flag"] = (np.arange(size) % 2 == 1).reshape(shape)
    array["inner"]["z"] = (np.arange(size) * (1 + 2j)).reshape(shape)
    return array


def same(left: Any, right: Any) -> None:
    """Check that two results of reads are equal in value, dtype and kind."""
    assert type(left) is type(right), (type(left), type(right))
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype and left.shape == right.shape
        if left.dtype == object:
            for one, other in zip(left.flat, right.flat, strict=True):
                same(one, other)
        else:
            assert left.tobytes() == right.tobytes()
    else:
        np.testing.assert_equal(left, right)


def both_ways(path: Path, value: Any, dtype: Any = None, to: Any = None) -> None:
    """Check a value as dataset and as attribute: h5py to hyperslab, hyperslab to h5py, and hyperslab alone."""
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py), (hyperslab, hyperslab)):
        with writer.File(path, "w") as f:
            f.create_dataset("d", data=value, dtype=dtype)
            f["d"].attrs.create("a", value, dtype=dtype)
            want, want_attribute, want_dtype = f["d"][()], f["d"].attrs["a"], f["d"].dtype
        with h5py.File(path, "r") as f:
            same(f["d"][()], want)
        with reader.File(path, "r") as f:
            same(f["d"][()], want)
            same(f["d"].attrs["a"], want_attribute)
            assert f["d"].dtype == want_dtype
            assert f["d"].dtype.metadata == want_dtype.metadata or to is not None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", NUMBERS + COMPLEX)
def test_numbers(path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    both_ways(path, numbers(dtype, shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_booleans(path: Path, shape: tuple[int, ...]) -> None:
    both_ways(path, (np.arange(int(np.prod(shape))) % 3 == 1).reshape(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_compounds(path: Path, shape: tuple[int, ...]) -> None:
    both_ways(path, compounds(shape))


@pytest.mark.parametrize("base", ["u1", ">i4", "<i8"])
def test_enumerations(path: Path, base: str) -> None:
    dt = hyperslab.enum_dtype({"red": 3, "green": 7, "blue": 100}, base)
    both_ways(path, np.array([3, 100, 7, 3], dtype=base), dtype=dt)
    with h5py.File(path) as f:
        assert h5py.check_enum_dtype(f["d"].dtype) == {"red": 3, "green": 7, "blue": 100}


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("length", [None, 7])
def test_strings(path: Path, encoding: str, length: int | None) -> None:
    texts = ["", "a", "longer"] if encoding == "ascii" else ["", "ä", "→€"]
    for shape in ((3,), (1, 3), ()):
        value: Any = np.array(texts, dtype=object).reshape(shape) if shape else texts[-1]
        if length is not None:
            encoded = np.char.encode(np.array(texts), "utf-8").astype(h5py.string_dtype(encoding, length))
            value = encoded.reshape(shape) if shape else encoded[-1]
        for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
            with writer.File(path, "w") as f:
                dt = writer.string_dtype(encoding, length)
                f.create_dataset("d", data=value, dtype=dt)
                f.attrs.create("a", value, dtype=dt)
            with reader.File(path) as f, writer.File(path) as own:
                same(f["d"][()], own["d"][()])
                same(f.attrs["a"], own.attrs["a"])
                info = reader.check_string_dtype(f["d"].dtype)
                assert (info.encoding, info.length) == (encoding, length)
                text = f["d"].asstr()[()]
                assert (list(text.flat) if shape else [text]) == (texts if shape else texts[-1:])


def test_string_dtype_of_numpy(path: Path) -> None:
    dt = np.dtypes.StringDType()
    texts = np.array(["", "x" * 100, "äöü", "short"], dtype=dt)
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py), (hyperslab, hyperslab)):
        with writer.File(path, "w") as f:
            f.create_dataset("v", data=texts)
            f.create_dataset("w", (4,), dtype=writer.string_dtype())[...] = texts
            f.create_dataset("s", data=np.array([b"ab", b"c"], dtype=writer.string_dtype("utf-8", 4)))
        with reader.File(path) as f:
            for name in "vw":
                back = f[name].astype(dt)[:]
                assert back.dtype == dt and list(back) == list(texts)
                assert list(f[name].astype("T")[1:3]) == list(texts[1:3])
            assert list(f["s"].astype("T")[:]) == ["ab", "c"]


def test_sequences_of_another_byte_order(path: Path) -> None:
    # h5py writes such items, and reads them in the wrong byte order.
    for writer in (h5py, hyperslab):
        with writer.File(path, "w") as f:
            dset = f.create_dataset("d", (2,), dtype=writer.vlen_dtype(np.dtype(">f8")))
            dset[0] = np.array([1, 2, 3], dtype=">f8")
        with hyperslab.File(path) as f:
            assert f["d"][0].tolist() == [1, 2, 3] and f["d"][1].size == 0


@pytest.mark.parametrize("base", ["<i4", "<f8", "u1"])
def test_sequences(path: Path, base: str) -> None:
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        with writer.File(path, "w") as f:
            dset = f.create_dataset("d", (4,), dtype=writer.vlen_dtype(np.dtype(base)))
            dset[0], dset[1], dset[3] = [1, 2, 3], np.arange(1000) % 200, []
            f.attrs.create("a", dset[:2], dtype=writer.vlen_dtype(np.dtype(base)))
        with reader.File(path) as f, writer.File(path) as own:
            for at in range(4):
                same(f["d"][at], own["d"][at])
            same(f["d"][1:], own["d"][1:])
            for one, other in zip(f.attrs["a"], own.attrs["a"], strict=True):
                same(one, other)
            assert reader.check_vlen_dtype(f["d"].dtype) == np.dtype(base)


def test_compounds_with_texts_and_sequences(path: Path) -> None:
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        inner = np.dtype([("text", writer.string_dtype()), ("code", writer.string_dtype("ascii"))])
        dt = np.dtype([("n", ">i2"), ("inner", inner), ("list", writer.vlen_dtype(np.dtype("f4")))])
        rows = np.empty(3, dtype=dt)
        for at in range(3):
            rows[at] = (at, ("ä" * at, b"c" * at), np.arange(at, dtype="f4"))
        with writer.File(path, "w") as f:
            f.create_dataset("d", data=rows)
        with reader.File(path) as f:
            back = f["d"][:]
            for at in range(3):
                assert back["n"][at] == at
                assert back["inner"]["text"][at] == ("ä" * at).encode()
                assert back["inner"]["code"][at] == b"c" * at
                same(back["list"][at], np.arange(at, dtype="f4"))
            assert list(f["d"]["n"]) == [0, 1, 2]


def test_array_elements(path: Path) -> None:
    dt = np.dtype(("<i4", (2, 3)))
    values = np.arange(24, dtype="<i4").reshape(4, 2, 3)
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        with writer.File(path, "w") as f:
            f.create_dataset("d", (4,), dtype=dt)[...] = values
            f.attrs.create("a", values[0], dtype=dt)
        with reader.File(path) as f:
            assert f["d"].shape == (4,) and f["d"].dtype == dt
            np.testing.assert_array_equal(f["d"][:], values)
            np.testing.assert_array_equal(f["d"][2], values[2])
            np.testing.assert_array_equal(f.attrs["a"], values[0])


@pytest.mark.parametrize("unit", ["datetime64[s]", "datetime64[ns]", "timedelta64[D]"])
def test_opaque_times(path: Path, unit: str) -> None:
    values = np.array([0, 86400, 2_000_000], dtype="i8").view(unit)
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        with writer.File(path, "w") as f:
            f.create_dataset("d", data=values.astype(writer.opaque_dtype(values.dtype)))
        with reader.File(path) as f:
            same(f["d"][:], values)
            assert reader.check_opaque_dtype(f["d"].dtype)


def test_opaque_bytes(path: Path) -> None:
    values = np.array([b"abc\0", b"\0\1\2\3"], dtype="V4")
    both_ways(path, values)


@pytest.mark.parametrize("writer, reader", [(h5py, hyperslab), (hyperslab, h5py)])
def test_references(path: Path, writer: Any, reader: Any) -> None:
    with writer.File(path, "w") as f:
        group, dset = f.create_group("g/h"), f.create_dataset("x", data=np.arange(20).reshape(4, 5))
        refs = f.create_dataset("refs", (3,), dtype=writer.ref_dtype)
        refs[0], refs[1] = group.ref, dset.ref
        regions = f.create_dataset("regions", (3,), dtype=writer.regionref_dtype)
        regions[0], regions[1] = dset.regionref[1:3, ::2], dset.regionref[2]
        f.attrs["ref"] = dset.ref
        f.attrs["region"] = dset.regionref[0:2, 3]
    with reader.File(path) as f:
        refs = f["refs"][:]
        assert f[refs[0]].name == "/g/h" and f[refs[1]].name == "/x" and not refs[2]
        assert reader.check_ref_dtype(f["refs"].dtype) is reader.Reference
        regions = f["regions"][:]
        data = f["x"][:]
        np.testing.assert_array_equal(f["x"][regions[0]].ravel(), data[1:3, ::2].ravel())
        np.testing.assert_array_equal(f["x"][regions[1]].ravel(), data[2])
        assert not regions[2] and reader.check_ref_dtype(f["regions"].dtype) is reader.RegionReference
        assert f[f.attrs["ref"]].name == "/x"
        assert f[f.attrs["region"]][f.attrs["region"]].ravel().tolist() == data[0:2, 3].tolist()


@pytest.mark.parametrize("dtype", ["<i4", ">f8", COMPOUND, "S5", np.dtype(("i4", (2,)))])
def test_null_dataspace(path: Path, dtype: Any) -> None:
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        with writer.File(path, "w") as f:
            f["d"] = writer.Empty(dtype)
            if np.dtype(dtype).subdtype is None:
                f.attrs["a"] = writer.Empty(dtype)
        with reader.File(path) as f:
            assert f["d"].shape is None and f["d"].size is None
            assert isinstance(f["d"][()], reader.Empty) and f["d"][()].dtype == f["d"].dtype
            if "a" in f.attrs:
                assert f.attrs["a"] == reader.Empty(np.dtype(dtype))


def native(make: Any, path: Path, raw: np.ndarray[Any, Any], memory: Any = None) -> None:
    """Write raw bytes of elements of a low-level datatype of h5py."""
    with h5py.File(path, "w") as f:
        space = h5py.h5s.create_simple((len(raw),))
        dset = h5py.h5d.create(f.id, b"d", make, space)
        dset.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, mtype=make if memory is None else memory)


@pytest.mark.parametrize("order", [h5py.h5t.ORDER_LE, h5py.h5t.ORDER_BE])
@pytest.mark.parametrize("base", [h5py.h5t.STD_I32LE, h5py.h5t.STD_U32LE])
def test_integers_of_three_bytes(path: Path, order: int, base: Any) -> None:
    values = np.array([0, 1, 65536 + 7, 2**23 - 1, 12345], dtype="i4")
    if base.get_sign() == h5py.h5t.SGN_2:
        values = np.concatenate([values, -values])
    kind = base.copy()
    kind.set_precision(24)
    kind.set_size(3)
    kind.set_order(order)
    native(kind, path, values, h5py.h5t.NATIVE_INT32)
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        np.testing.assert_array_equal(f["d"][:], values)
        read = np.zeros(len(values), dtype="i4")
        referee["d"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, read, mtype=h5py.h5t.NATIVE_INT32)
        np.testing.assert_array_equal(read, f["d"].astype("i4")[:])


def test_integers_with_offset_bits(path: Path) -> None:
    kind = h5py.h5t.STD_I32LE.copy()
    kind.set_precision(12)
    kind.set_offset(5)
    values = np.array([0, 1, -1, 2047, -2048], dtype="i4")
    native(kind, path, values, h5py.h5t.NATIVE_INT32)
    with hyperslab.File(path) as f:
        np.testing.assert_array_equal(f["d"][:], values)


@pytest.mark.parametrize("kind", [h5py.h5t.STD_B8LE, h5py.h5t.STD_B16LE, h5py.h5t.STD_B32LE, h5py.h5t.STD_B64LE])
def test_bitfields(path: Path, kind: Any) -> None:
    values = np.array([0, 1, 0x5A, 0xFF], dtype=f"<u{kind.get_size()}")
    native(kind, path, values)
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        same(f["d"][:], referee["d"][:])


@pytest.mark.parametrize("padding", [h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD])
def test_paddings_of_strings(path: Path, padding: int) -> None:
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(6)
    kind.set_strpad(padding)
    fill = b" " if padding == h5py.h5t.STR_SPACEPAD else b"\0"
    native(kind, path, np.array([text.ljust(6, fill) for text in (b"", b"ab", b"abcde")], dtype="V6"))
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        same(f["d"][:], referee["d"][:])
        assert list(f["d"].asstr()[:]) == list(referee["d"].asstr()[:])


def test_committed_datatypes(path: Path) -> None:
    for writer, reader in ((h5py, hyperslab), (hyperslab, h5py)):
        with writer.File(path, "w") as f:
            f["t"] = COMPOUND
            f.create_dataset("d", (2,), dtype=f["t"])[...] = compounds((2,))
            f.attrs.create("a", compounds(()), dtype=f["t"])
        with reader.File(path) as f:
            assert isinstance(f["t"], reader.Datatype) and f["t"].dtype == COMPOUND
            same(f["d"][:], compounds((2,)))
            assert f["d"].id.get_type().committed()


@pytest.mark.parametrize("source", ["<i2", ">u4", "<f4", ">f8"])
@pytest.mark.parametrize("target", ["<i1", ">i8", "<f8", "f2"])
def test_conversions(path: Path, source: str, target: str) -> None:
    values = np.array([0, 1, 2, 100, 127, 5], dtype=source)
    with h5py.File(path, "w") as f:
        f["d"] = values
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        same(f["d"].astype(target)[1:4], referee["d"].astype(target)[1:4])


def test_out_of_range_values_are_clamped_as_in_h5py(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = np.array([-1.5, 0.9, 300.2, 1e20, -1e20])
        f["i"] = np.array([-(2**40), -1, 256, 2**40])
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        for target in ("u1", "i1", "i4", "u8"):
            for name in "di":
                np.testing.assert_array_equal(f[name].astype(target)[:], referee[name].astype(target)[:])
