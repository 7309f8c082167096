"""Groups: links, copies, orders, attributes and dimension scales, with h5py at the other side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

BOTH = pytest.mark.parametrize("writer, reader", [(h5py, hyperslab), (hyperslab, h5py)])


@BOTH
def test_links(path: Path, tmp_path: Path, writer: Any, reader: Any) -> None:
    with writer.File(tmp_path / "other.h5", "w") as f:
        f["deep/data"] = np.arange(3)
    with writer.File(path, "w") as f:
        f["a/b/c"] = 5
        f["hard"] = f["a/b"]
        f["soft"] = writer.SoftLink("/a/b/c")
        f["dangling"] = writer.SoftLink("/nowhere")
        f["external"] = writer.ExternalLink("other.h5", "/deep")
        f["lost"] = writer.ExternalLink("absent.h5", "/x")
    with reader.File(path) as f:
        assert sorted(f) == ["a", "dangling", "external", "hard", "lost", "soft"]
        assert f["hard/c"][()] == f["soft"][()] == 5 and f["hard"] == f["a/b"]
        assert isinstance(f.get("hard", getlink=True), reader.HardLink)
        assert f.get("soft", getlink=True).path == "/a/b/c"
        link = f.get("external", getlink=True)
        assert (link.filename, link.path) == ("other.h5", "/deep")
        assert f.get("external", getclass=True, getlink=True) is reader.ExternalLink
        assert f["external/data"][1] == 1 and f["external"].file.filename.endswith("other.h5")
        for name in ("dangling", "lost", "a/x", "a/b/c/d"):
            with pytest.raises(KeyError):
                f[name]
            assert f.get(name, "default") == "default"
        assert f["a"].parent == f["/"] and f["a/b/c"].parent.name == "/a/b"


@BOTH
def test_move_copy_and_delete(path: Path, tmp_path: Path, writer: Any, reader: Any) -> None:
    with writer.File(path, "w") as f, writer.File(tmp_path / "second.h5", "w") as second:
        f["g/x"] = np.arange(10)
        f["g/x"].attrs["unit"] = "m"
        f["g/texts"] = ["a", "bc"]
        f["g"].attrs["n"] = 1
        f["g/link"] = writer.SoftLink("/g/x")
        f["g/refs"] = np.array([f["g/x"].ref], dtype=writer.ref_dtype)
        f.copy("g", "copy")
        f.copy("g", "shallow", shallow=True)
        f.copy(f["g"], second, "far", expand_soft=True)
        f.copy("g", "bare", without_attrs=True)
        f.copy("g/x", f["copy"], "again")
        f.move("copy/again", "moved/deeper")
        del f["g/texts"]
        with pytest.raises(KeyError):
            del f["g/texts"]
    with reader.File(path) as f, reader.File(tmp_path / "second.h5") as second:
        assert sorted(f["copy"]) == ["link", "refs", "texts", "x"] and sorted(f["g"]) == ["link", "refs", "x"]
        assert f["copy/x"].attrs["unit"] == "m" and not len(f["bare"].attrs) and f["copy"].attrs["n"] == 1
        assert f["copy/x"] != f["g/x"] and list(f["copy/texts"].asstr()[:]) == ["a", "bc"]
        assert f["moved/deeper"][3] == 3
        assert isinstance(second.get("far/link", getlink=True), reader.HardLink)
        assert second["far/link"][9] == 9 and f.get("copy/link", getlink=True).path == "/g/x"


@BOTH
def test_copies_with_references(path: Path, writer: Any, reader: Any) -> None:
    with writer.File(path, "w") as f, writer.File(path.with_name("other.h5"), "w") as other:
        f["g/x"] = np.arange(4)
        f["g/refs"] = np.array([f["g/x"].ref], dtype=writer.ref_dtype)
        f.copy("g", other, "copy", expand_refs=True)
        f.copy("g/refs", other, "alone", expand_refs=True)
        f.copy("g/refs", other, "lost")
    with reader.File(path.with_name("other.h5")) as f:
        # Another copy of the same data follows for h5py, which gives it a name in the root group.
        assert f[f["copy/refs"][0]][3] == 3
        assert f[f["alone"][0]][3] == 3 and not f["lost"][0]


def tree(library: Any, path: Path) -> list[Any]:
    """Return all that the visits of a file give."""
    found: list[Any] = []
    with library.File(path) as f:
        f.visit(lambda name: found.append(name))
        f.visititems(lambda name, obj: found.append((name, type(obj).__name__, getattr(obj, "shape", None))))
        f.visit_links(lambda name: found.append(name))
        f.visititems_links(lambda name, link: found.append((name, type(link).__name__)))
        found.append(f.visit(lambda name: name if name.endswith("d") else None))
    return found


@pytest.mark.parametrize("writer", [h5py, hyperslab])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_visits(path: Path, writer: Any, libver: str) -> None:
    with writer.File(path, "w", libver=libver) as f:
        for name in ("z/y/x", "z/a/d", "b/c/d", "b/second", "m"):
            f[name] = [1, 2]
        f["cycle"] = f["/"]
        f["b/hard"] = f["z"]
        f["soft"] = writer.SoftLink("/z")
        f["t"] = np.dtype("i4")
    assert tree(hyperslab, path) == tree(h5py, path)


@pytest.mark.parametrize("writer, reader", [(h5py, hyperslab), (hyperslab, h5py), (hyperslab, hyperslab)])
def test_creation_order(path: Path, writer: Any, reader: Any) -> None:
    names = [f"n{number * 7 % 20}" for number in range(20)]
    with writer.File(path, "w", track_order=True) as f:
        f.create_group("tracked", track_order=True)
        f.create_group("sorted", track_order=False)
        for name in names:
            for group in ("tracked", "sorted"):
                f[group][name] = 1
                f[group].attrs[name] = 1
        dset = f.create_dataset("d", data=1, track_order=True)
        for name in names:
            dset.attrs[name] = name
    with reader.File(path) as f:
        assert list(f) == ["tracked", "sorted", "d"]
        assert list(f["tracked"]) == list(f["tracked"].attrs) == list(f["d"].attrs) == names
        assert list(f["sorted"]) == list(f["sorted"].attrs) == sorted(names)
        assert list(reversed(f["tracked"])) == names[::-1]


@BOTH
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_large_groups(path: Path, writer: Any, reader: Any, libver: str) -> None:
    with writer.File(path, "w", libver=libver) as f:
        for number in range(600):
            f.create_group(f"group {number:04}")
        for number in range(0, 600, 2):
            del f[f"group {number:04}"]
        for number in range(100):
            f.attrs[f"a{number}"] = np.arange(number)
    with reader.File(path, "r+") as f:
        assert list(f) == [f"group {number:04}" for number in range(1, 600, 2)]
        assert all(f.attrs[f"a{number}"].tolist() == list(range(number)) for number in range(100))
        f.create_group("more")
    with writer.File(path) as f:
        assert len(f) == 301


def test_mapping(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        f["a"], f["b/c"] = 1, 2
        assert len(f) == 2 and "a" in f and "b/c" in f and "/b/c" in f and "x" not in f
        assert [name for name, _ in f.items()] == ["a", "b"] and f["a"] in f.values()
        assert f.setdefault("a", 9)[()] == 1 and f.setdefault("new", 9) == 9 == f["new"][()]
        f.update({"u": 3})
        assert f.pop("u") is not None and "u" not in f
        assert f.require_group("b") == f["b"]
        with pytest.raises(TypeError):
            f.require_group("a")
        assert f.require_dataset("b/c", (), "i8")[()] == 2
        with pytest.raises(TypeError):
            f.require_dataset("b/c", (2,), "i8")
        with pytest.raises(ValueError):
            f["a"] = 5
        anonymous = f.create_dataset(None, data=7)
        assert anonymous.name is None
        f["named"] = anonymous
        like = f.create_dataset_like("like", f["a"])
        assert like.shape == () and like.dtype == f["a"].dtype
    with h5py.File(path) as f:
        assert f["named"][()] == 7


@BOTH
def test_attributes(path: Path, writer: Any, reader: Any) -> None:
    values: dict[str, Any] = {
        "integer": 5, "float": 2.5, "text": "ä→", "bytes": b"raw", "list": [1, 2, 3], "texts": ["a", "bä"],
        "array": np.arange(6, dtype=">f4").reshape(2, 3), "flag": True, "complex": 1 + 2j, "empty text": "",
        "empty": np.zeros((0, 3)), "fixed": np.bytes_("fixed"), "large": np.arange(20_000), "ü": 1,
    }  # fmt: skip
    with writer.File(path, "w", libver="latest") as f:
        for name, value in values.items():
            f.attrs[name] = value
        f.attrs["list"] = [4, 5]
        f.attrs.create("typed", [1, 2], dtype="i1")
        f.attrs.modify("integer", 6)
        del f.attrs["flag"]
    with reader.File(path) as f, writer.File(path) as own:
        assert list(f.attrs) == list(own.attrs) and len(f.attrs) == len(values)
        for name in f.attrs:
            found, wanted = f.attrs[name], own.attrs[name]
            assert type(found) is type(wanted), name
            np.testing.assert_array_equal(found, wanted)
            assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)
        assert f.attrs["integer"] == 6 and f.attrs["typed"].dtype == np.int8 and "flag" not in f.attrs
        assert f.attrs.get("absent") is None and f.attrs.get("absent", 3) == 3
        with pytest.raises(KeyError):
            f.attrs["absent"]


@BOTH
def test_dimension_scales(path: Path, writer: Any, reader: Any) -> None:
    with writer.File(path, "w") as f:
        data = f.create_dataset("data", data=np.zeros((3, 4)))
        f["x"], f["y"], f["y2"] = np.arange(3), np.arange(4), np.arange(4) * 2
        f["x"].make_scale("east")
        f["y"].make_scale("north")
        f["y2"].make_scale()
        data.dims[0].label, data.dims[1].label = "x", "ü"
        data.dims[0].attach_scale(f["x"])
        data.dims[1].attach_scale(f["y"])
        data.dims[1].attach_scale(f["y2"])
    with reader.File(path, "r+") as f:
        dims = f["data"].dims
        assert [dim.label for dim in dims] == ["x", "ü"] and [len(dim) for dim in dims] == [1, 2]
        assert dims[0]["east"] == f["x"] and dims[1][0] == f["y"] and dims[1].keys() == ["north", ""]
        assert [scale.name for scale in dims[1].values()] == ["/y", "/y2"]
        assert f["x"].is_scale and not f["data"].is_scale
        np.testing.assert_array_equal(dims[1][1][:], np.arange(4) * 2)
        dims[1].detach_scale(f["y"])
    with writer.File(path) as f:
        assert [scale.name for scale in f["data"].dims[1].values()] == ["/y2"]
        assert "REFERENCE_LIST" not in f["y"].attrs and "REFERENCE_LIST" in f["y2"].attrs


@BOTH
def test_virtual_datasets(path: Path, tmp_path: Path, writer: Any, reader: Any) -> None:
    for number in range(3):
        with writer.File(tmp_path / f"part{number}.h5", "w") as f:
            f["d"] = np.arange(20).reshape(4, 5) + 100 * number
    layout = writer.VirtualLayout((3, 4, 5), "i8")
    for number in range(3):
        layout[number] = writer.VirtualSource(f"part{number}.h5", "d", (4, 5))
    layout[2, 1:3, ::2] = writer.VirtualSource("absent.h5", "d", (2, 3))
    with writer.File(path, "w") as f:
        f.create_virtual_dataset("v", layout, fillvalue=-1)
    with reader.File(path) as f, writer.File(path) as own:
        assert f["v"].is_virtual and len(f["v"].virtual_sources()) == 4
        np.testing.assert_array_equal(f["v"][...], own["v"][...])
        np.testing.assert_array_equal(f["v"][1], np.arange(20).reshape(4, 5) + 100)


@BOTH
def test_external_raw_files(path: Path, tmp_path: Path, writer: Any, reader: Any) -> None:
    raw = tmp_path / "raw.bin"
    with writer.File(path, "w") as f:
        f.create_dataset("d", (100,), "i4", external=[(str(raw), 8, 400)])[...] = np.arange(100)
    with reader.File(path) as f:
        assert f["d"].external == [(str(raw), 8, 400)]
        np.testing.assert_array_equal(f["d"][...], np.arange(100))
    assert np.frombuffer(raw.read_bytes()[8:], "i4").tolist() == list(range(100))


@BOTH
@pytest.mark.parametrize(
    "options",
    [
        {"compression": "gzip", "compression_opts": 9}, {"compression": "lzf"}, {"shuffle": True, "fletcher32": True},
        {"scaleoffset": 0}, {"compression": "szip"}, {"chunks": (4, 5), "fillvalue": 3}, {"chunks": True, "maxshape": (None, 9)},
    ],
)  # fmt: skip
def test_filters(path: Path, writer: Any, reader: Any, options: dict[str, Any]) -> None:
    if options.get("compression") == "szip" and writer is h5py and not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        pytest.skip("h5py cannot write szip")
    data = np.random.default_rng(1).integers(0, 50, (30, 9)).astype("i4")
    with writer.File(path, "w") as f:
        f.create_dataset("d", data=data, **options)
    names = ("chunks", "maxshape", "compression", "compression_opts", "shuffle", "fletcher32", "scaleoffset", "fillvalue")
    with writer.File(path) as own:
        wanted = [getattr(own["d"], name) for name in names]
    with reader.File(path) as f:
        assert [getattr(f["d"], name) for name in names] == wanted
        if options.get("compression") != "szip" or reader is hyperslab or h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
            np.testing.assert_array_equal(f["d"][...], data)
