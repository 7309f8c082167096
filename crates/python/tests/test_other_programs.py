"""Files that other programs read, or change while they are open here."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import hyperslab
from hyperslab.low import h5t

h5py = pytest.importorskip("h5py")


def test_new_files_have_the_oldest_version(tmp_path: Path) -> None:
    path = tmp_path / "new.h5"
    with hyperslab.File(path, "w") as file:
        for number in range(12):
            file.attrs[f"a{number}"] = number
        file.create_dataset("x", data=[1, 2])
    assert path.read_bytes()[8] == 0
    with h5py.File(tmp_path / "stock.h5", "w") as stock:
        assert h5py.File(path).libver[0] == stock.libver[0]


def test_attributes_have_the_order_of_their_creation_in_the_header(tmp_path: Path) -> None:
    pyfive = pytest.importorskip("pyfive")
    names = ["units", "long_name", "_FillValue", "a", "zz", "CLASS", "NAME", "x1", "b", "c"]
    with hyperslab.File(tmp_path / "order.h5", "w") as file:
        dataset = file.create_dataset("x", data=[1, 2])
        for name in names:
            dataset.attrs[name] = name * 3
    assert list(pyfive.File(tmp_path / "order.h5")["x"].attrs) == names


def test_a_file_that_another_program_changes_is_read_anew(tmp_path: Path) -> None:
    first, second = tmp_path / "first.h5", tmp_path / "second.h5"
    for path, value in ((first, 1), (second, 2)):
        with hyperslab.File(path, "w") as file:
            file["x"] = np.full(10, value)
    old = hyperslab.File(first)
    assert old["x"][0] == 1
    same = hyperslab.File(first)
    assert same == old
    shutil.copy(second, first)
    with hyperslab.File(first) as new:
        assert new["x"][0] == 2
        assert new != old
    old.close()
    same.close()


def test_files_of_external_links_are_open_as_the_file_with_the_link(tmp_path: Path) -> None:
    with hyperslab.File(tmp_path / "target.h5", "w") as file:
        file["x"] = np.arange(5)
    with hyperslab.File(tmp_path / "main.h5", "w") as file:
        file["link"] = hyperslab.ExternalLink("target.h5", "/x")
    with hyperslab.File(tmp_path / "main.h5", "r+") as file:
        assert file["link"].file.mode == "r+"
        file["link"][2] = 70
    with h5py.File(tmp_path / "target.h5") as stock:
        assert list(stock["x"]) == [0, 1, 70, 3, 4]
    with hyperslab.File(tmp_path / "main.h5", "r", locking=False) as file:
        linked = file["link"].file
        assert linked.mode == "r"
        assert linked.id.get_access_plist().get_file_locking() == (0, 0)


def test_py_create_has_names_only_if_it_is_logical() -> None:
    dtype = hyperslab.enum_dtype({"a": 1, "b": 2}, basetype="u1")
    assert isinstance(h5t.py_create(dtype), h5t.TypeIntegerID)
    assert isinstance(h5t.py_create(dtype, logical=True), h5t.TypeEnumID)
    assert isinstance(h5t.py_create(np.dtype(bool)), h5t.TypeEnumID)


def test_prefixes_of_a_dataset_find_its_other_files(tmp_path: Path) -> None:
    for folder in ("raw", "sources"):
        (tmp_path / folder).mkdir()
    with hyperslab.File(tmp_path / "sources" / "source.h5", "w") as file:
        file["x"] = np.arange(10)
    with hyperslab.File(tmp_path / "main.h5", "w") as file:
        pieces = [("pieces.bin", 0, 40)]
        raw = file.create_dataset("raw", (10,), "i4", external=pieces, efile_prefix="${ORIGIN}/raw")
        raw[:] = range(10)
        layout = hyperslab.VirtualLayout((10,), "i8")
        layout[:] = hyperslab.VirtualSource("source.h5", "x", (10,))
        file.create_virtual_dataset("virtual", layout, fillvalue=-1)
    assert (tmp_path / "raw" / "pieces.bin").stat().st_size == 40
    with h5py.File(tmp_path / "main.h5") as stock:
        dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        dapl.set_efile_prefix(bytes(tmp_path / "raw"))
        assert list(h5py.Dataset(h5py.h5d.open(stock.id, b"raw", dapl))) == list(range(10))
    with hyperslab.File(tmp_path / "main.h5") as file:
        assert list(file["virtual"]) == [-1] * 10
        again = file.require_dataset("raw", (10,), "i4", efile_prefix=tmp_path / "raw")
        assert list(again) == list(range(10))
        seen = file.require_dataset("virtual", (10,), "i8", virtual_prefix=str(tmp_path / "sources"))
        assert list(seen) == list(range(10))


def test_virtual_datasets_show_elements_that_no_flush_has_stored(tmp_path: Path) -> None:
    source = hyperslab.File(tmp_path / "source.h5", "w")
    source["x"] = np.arange(10)
    with hyperslab.File(tmp_path / "main.h5", "w") as file:
        layout = hyperslab.VirtualLayout((10,), "i8")
        layout[:] = hyperslab.VirtualSource("source.h5", "x", (10,))
        shown = file.create_virtual_dataset("virtual", layout, fillvalue=-1)
        assert list(shown) == list(range(10))
        source["x"][3] = 30
        assert shown[3] == 30
    source.close()


def test_compounds_with_texts_have_the_offsets_of_h5py(tmp_path: Path) -> None:
    text, items = h5py.string_dtype(), h5py.vlen_dtype("i4")
    kinds = [
        [("a", text), ("b", text)],
        [("i", "i4"), ("b", text), ("j", "i2")],
        [("a", items), ("b", "i4"), ("c", items)],
        [("n", np.dtype([("a", text), ("k", "i4")])), ("m", "f8")],
        [("a", text, (3,)), ("b", "i1")],
        [("r", h5py.ref_dtype), ("s", text)],
    ]
    path = tmp_path / "compounds.h5"
    with h5py.File(path, "w") as file:
        for number, kind in enumerate(kinds):
            file.create_dataset(str(number), (2,), np.dtype(kind))
        file["1"][...] = np.array([(1, "one", 10), (2, "two", 20)], file["1"].dtype)
    with h5py.File(path) as stock:
        dtypes = [stock[str(number)].dtype for number in range(len(kinds))]
    with hyperslab.File(path, "r+") as file:
        for number, expected in enumerate(dtypes):
            found = file[str(number)].dtype
            assert found.itemsize == expected.itemsize
            assert [found.fields[name][1] for name in found.names] == [expected.fields[name][1] for name in found.names]
        assert file["1"][:].tolist() == [(1, b"one", 10), (2, b"two", 20)]
        file["1"][1] = np.array((3, "three", 30), file["1"].dtype)
    with h5py.File(path) as stock:
        assert stock["1"][:].tolist() == [(1, b"one", 10), (3, b"three", 30)]


def test_an_existing_name_is_named_as_in_h5py(tmp_path: Path) -> None:
    with hyperslab.File(tmp_path / "names.h5", "w") as file:
        file["t"] = np.dtype("i4")
        kind = h5t.py_create(np.dtype("i8"))
        with pytest.raises(TypeError, match="name already exists"):
            kind.commit(file.id, b"t")


def test_sizes_of_types_with_texts_are_those_in_memory(path: Path) -> None:
    texts = h5py.string_dtype()
    kinds = [texts, np.dtype((texts, (3,))), h5py.vlen_dtype("u8"),
             np.dtype([("a", "u1"), ("t", texts, (1,)), ("v", h5py.vlen_dtype("u8")), ("r", h5py.ref_dtype), ("n", [("t", texts), ("i", "i2")])])]  # fmt: skip
    with h5py.File(path, "w") as f:
        for number, kind in enumerate(kinds):
            f.create_dataset(str(number), (2,), kind)
    with h5py.File(path) as reference, hyperslab.File(path) as f:
        for number in range(len(kinds)):
            wanted, found = (file[str(number)].id.get_type() for file in (reference, f))
            assert found.get_size() == wanted.get_size(), number
        for member in range(wanted.get_nmembers()):
            assert found.get_member_offset(member) == wanted.get_member_offset(member)
            assert found.get_member_type(member).get_size() == wanted.get_member_type(member).get_size()
