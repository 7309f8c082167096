"""Arrow tables and arrays, and pandas data frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab
from hyperslab import arrow

pa = pytest.importorskip("pyarrow")
COLUMNS = np.dtype([("id", ">i4"), ("x", "<f8"), ("flag", "?"), ("at", "<f4", (2, 2)), ("inner", [("a", "u1"), ("b", "<i8")])])


def rows(count: int) -> np.ndarray[Any, Any]:
    """Return compounds."""
    array = np.zeros(count, dtype=COLUMNS)
    array["id"], array["x"], array["flag"] = np.arange(count), np.arange(count) / 2, np.arange(count) % 2
    array["at"] = np.arange(count * 4).reshape(count, 2, 2)
    array["inner"]["b"] = -np.arange(count)
    return array


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_tables(path: Path, count: int) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = rows(count)
    with hyperslab.File(path) as f:
        table = arrow.to_arrow(f["d"])
        assert table.num_rows == count and table.column_names == list(COLUMNS.names or ())
        assert table["id"].type == pa.int32() and table["flag"].type == pa.bool_()
        assert table["id"].to_pylist() == list(range(count)) and table["x"].to_pylist() == (np.arange(count) / 2).tolist()
        assert table["at"].to_pylist() == rows(count)["at"].tolist()
        assert table["inner"].to_pylist() == [{"a": 0, "b": -n} for n in range(count)]
        assert arrow.to_arrow(f["d"], columns=["x", "id"]).column_names == ["x", "id"]


@pytest.mark.parametrize("dtype", ["i1", ">i8", "u2", "<f4", ">f8", "?", "c8", "S4", "V3"])
def test_arrays(path: Path, dtype: str) -> None:
    values = np.arange(12).astype("i1").astype(dtype) if dtype[0] not in "SV" else np.array([b"abc", b"d", b"ef"], dtype)
    with h5py.File(path, "w") as f:
        f["d"] = values
    with hyperslab.File(path) as f:
        found = arrow.to_arrow(f["d"]).to_pylist()
    if dtype == "c8":
        assert found == [{"real": value.real, "imag": value.imag} for value in values]
    elif dtype == "S4":
        assert found == ["abc", "d", "ef"]
    elif dtype == "V3":
        assert found == [bytes(value) for value in values]
    else:
        assert found == values.tolist()


def test_texts_and_sequences(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["t"] = ["", "ä→", "long" * 100]
        f.create_dataset("v", (3,), h5py.vlen_dtype(np.dtype("i4")))
        f["v"][0], f["v"][2] = [1, 2], np.arange(5)
        f["m"] = np.arange(6).reshape(2, 3)
        pair = np.dtype([("name", h5py.string_dtype()), ("n", "i4")])
        f["c"] = np.array([("a", 1), ("ü", 2)], dtype=pair)
        f.create_dataset("e", (0,), h5py.vlen_dtype(np.dtype("i4")))
    with hyperslab.File(path) as f:
        assert arrow.to_arrow(f["t"]).to_pylist() == ["", "ä→", "long" * 100]
        assert arrow.to_arrow(f["v"]).to_pylist() == [[1, 2], [], [0, 1, 2, 3, 4]]
        assert arrow.to_arrow(f["m"]).to_pylist() == [[0, 1, 2], [3, 4, 5]]
        assert arrow.to_arrow(f["c"]).to_pydict() == {"name": ["a", "ü"], "n": [1, 2]}
        assert arrow.to_arrow(f["e"]).to_pylist() == []


def test_many_texts(path: Path) -> None:
    texts = [f"{number} {'ä€🌍'[number % 4 :]}" if number % 7 else "" for number in range(30_000)]
    with h5py.File(path, "w") as f:
        f["t"] = texts
        f.create_dataset("unwritten", (30_000,), h5py.string_dtype(), chunks=(10_000,))
        f["unwritten"][10_000:20_000:2] = texts[:5000]
        f["fixed"] = np.array([text.encode() for text in texts])
    with hyperslab.File(path) as f:
        assert arrow.to_arrow(f["t"]).to_pylist() == texts
        assert arrow.to_arrow(f["fixed"]).to_pylist() == texts
        expected = [""] * 30_000
        expected[10_000:20_000:2] = texts[:5000]
        assert arrow.to_arrow(f["unwritten"]).to_pylist() == expected
        found = [text for batch in arrow.batches(f["t"], rows=999) for text in batch.column(0).to_pylist()]
        assert found == texts


@pytest.mark.parametrize("texts", [[b"a", b"\xff", b"b"], [b"\xc3", b"\xa4"]])
def test_texts_that_are_not_utf8(path: Path, texts: list[bytes]) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("t", data=texts, dtype=h5py.string_dtype())
    with hyperslab.File(path) as f, pytest.raises(ValueError, match="not UTF-8"):
        arrow.to_arrow(f["t"])


@pytest.mark.parametrize("size", [1, 7, 1000, 5000])
def test_streams(path: Path, size: int) -> None:
    with hyperslab.File(path, "w") as f:
        f.create_dataset("d", data=rows(1000), chunks=(64,), compression="gzip")
        f["n"] = np.arange(10)
        stream = arrow.Stream(f["d"], rows=size)
        reader = pa.RecordBatchReader.from_stream(stream)
        batches = list(reader)
        assert [batch.num_rows for batch in batches] == [min(size, 1000 - at) for at in range(0, 1000, size)]
        assert pa.Table.from_batches(batches).equals(arrow.to_arrow(f["d"]))
        assert pa.table(arrow.Stream(f["d"])).equals(arrow.to_arrow(f["d"]))
        assert pa.table(arrow.Stream(f["n"])).to_pydict() == {"n": list(range(10))}
        with pytest.raises(TypeError):
            list(arrow.batches(f.create_dataset("scalar", data=1)))


def test_pandas(path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": np.arange(5), "b": np.arange(5) / 3, "c": np.arange(5) % 2 == 0})
    with hyperslab.File(path, "w") as f:
        f["d"] = frame.to_records(index=False)
    with hyperslab.File(path) as f:
        pandas.testing.assert_frame_equal(arrow.to_pandas(f["d"]), frame)
        pandas.testing.assert_frame_equal(arrow.to_pandas(f["d"], columns=["b"]), frame[["b"]])


def test_datasets_are_arrow_streams(path: Path) -> None:
    rows = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")])
    with hyperslab.File(path, "w") as f:
        f["table"] = rows
        f["plain"] = np.arange(3)
        assert pa.table(f["table"]).to_pydict() == {"n": [1, 3], "x": [2.5, 4.5]}
        assert pa.table(f["plain"]).to_pydict() == {"plain": [0, 1, 2]}
