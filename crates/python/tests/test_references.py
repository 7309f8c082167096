"""References for zarr: zarr, xarray and kerchunk's file system read what h5py reads from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hyperslab
import hyperslab.kerchunk
import numpy as np
import pytest

zarr = pytest.importorskip("zarr")
fsspec = pytest.importorskip("fsspec")
h5py = pytest.importorskip("h5py")

from fsspec.implementations.reference import ReferenceFileSystem  # noqa: E402

FIXTURES = Path(__file__).parents[3] / "fixtures"


def opened(refs: dict[str, Any]) -> Any:
    """Return the group of zarr for references."""
    system = ReferenceFileSystem(refs, remote_protocol="file", asynchronous=True)
    return zarr.open_group(zarr.storage.FsspecStore(system, read_only=True, path=""), mode="r", zarr_format=2)


@pytest.fixture
def written(path: Path) -> Path:
    """Return a file of many kinds of datasets, which h5py wrote."""
    random = np.random.default_rng(1)
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["title"] = "é"
        values = random.normal(size=(37, 50))
        for name, options in {
            "gzip": {"compression": "gzip"}, "shuffle": {"compression": "gzip", "shuffle": True},
            "fletcher": {"fletcher32": True, "compression": 4}, "plain": {},
        }.items():  # fmt: skip
            file.create_dataset(name, data=values, chunks=(10, 20), **options)
        file.create_dataset("big_endian", data=values.astype(">f4"), chunks=(10, 50), compression="gzip")
        file.create_dataset("contiguous", data=values)
        file.create_dataset("small", data=np.arange(3, dtype="i2"))
        file.create_dataset("scalar", data=7.5)
        file.create_dataset("complex", data=values[:3] + 1j)
        file.create_dataset("bool", data=values[:2] > 0)
        file.create_dataset("texts", data=["one", "", "zwölf"] * 5, dtype=h5py.string_dtype(), chunks=(4,))
        file.create_dataset("fixed", data=np.array([b"abc", b"", b"xyz12"]))
        colours = h5py.enum_dtype({"red": 0, "blue": -3}, basetype="i1")
        file.create_dataset("enum", data=np.array([0, -3, 0]), dtype=colours)
        record = np.dtype([("id", "<u2"), ("value", "<f8"), ("name", "S4")], align=True)
        file.create_dataset("records", data=np.array([(1, 2.5, b"ab"), (3, np.nan, b"")], dtype=record))
        file.create_dataset("arrays", data=np.arange(24).reshape(4, 2, 3), dtype=None)
        file.create_dataset("sparse_chunks", (100,), chunks=(10,), dtype="i4", fillvalue=5)[20:30] = np.arange(10)
        file.create_dataset("never", (4, 4), dtype="f4", fillvalue=np.nan)
        file.create_dataset("empty", (0, 3), maxshape=(None, 3), dtype="i8")
        group = file.create_group("group/inner")
        group.attrs["numbers"] = [1, 2]
        group["linked"] = h5py.SoftLink("/plain")
        masked = file.create_dataset("masked", data=np.ones((20, 20), "f8"), chunks=(10, 10), shuffle=True, compression="gzip")
        masked.id.write_direct_chunk((0, 10), np.full((10, 10), 3.0).tobytes(), filter_mask=3)
    return path


def test_zarr_reads_what_h5py_reads(written: Path) -> None:
    refs = hyperslab.kerchunk.references(written)
    json.dumps(refs)
    group = opened(refs)
    with h5py.File(written) as file:
        names: list[str] = []
        file.visit(lambda name: names.append(name) if isinstance(file[name], h5py.Dataset) else None)
        for name in [*names, "group/inner/linked"]:
            expected, found = file[name][()], group[name][...]
            if name == "texts":
                assert [text.encode() for text in found.tolist()] == expected.tolist()
            elif name == "records":
                assert all(np.array_equal(expected[one], found[one], equal_nan=one == "value") for one in expected.dtype.names)
            else:
                assert found.shape == expected.shape, name
                assert np.array_equal(found, expected, equal_nan=found.dtype.kind in "fc"), name
        assert group.attrs["title"] == "é" and group["group/inner"].attrs["numbers"] == [1, 2]
    assert refs["refs"]["gzip/0.0"][0] == f"file://{written}"
    assert isinstance(refs["refs"]["masked/0.1"], str) and isinstance(refs["refs"]["small/0"], str)
    assert group["big_endian"].dtype == np.dtype(">f4")


def test_large_chunks_stay_in_the_file(written: Path) -> None:
    refs = hyperslab.kerchunk.references(written, "s3://bucket/file.h5", inline=0)["refs"]
    assert refs["small/0"][0] == "s3://bucket/file.h5" and refs["small/0"][2] == 6
    assert all(isinstance(refs[f"plain/{row}.{column}"], list) for row in range(4) for column in range(3))


def test_dimensions_have_the_names_of_scales(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(4.0)
        file["x"].make_scale("x")
        for name in ("v", "sub/w"):
            file[name] = np.zeros((4, 3))
            file[name].dims[0].attach_scale(file["x"])
        file["other"] = np.zeros(7)
        file["v"].attrs["_FillValue"] = np.float64(-1)
    refs = hyperslab.kerchunk.references(path)["refs"]
    names = {name: json.loads(refs[f"{name}/.zattrs"])["_ARRAY_DIMENSIONS"] for name in ("x", "v", "sub/w", "other")}
    assert names == {"x": ["x"], "v": ["x", "phony_dim_1"], "sub/w": ["x", "phony_dim_1"], "other": ["phony_dim_0"]}
    assert json.loads(refs["v/.zarray"])["fill_value"] == -1


def test_xarray_reads_the_same(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "a.nc"
    values = np.arange(60.0).reshape(3, 4, 5)
    values[1, 1] = np.nan
    dataset = xarray.Dataset(
        {"rain": (("time", "y", "x"), values, {"units": "mm"}), "name": (("y",), ["a", "b", "ç", "d"])},
        {"time": np.array(["2026-01-01", "2026-01-02", "2026-02-01"], "datetime64[ns]"), "x": np.arange(5)},
        {"title": "rain"},
    )
    encoding = {"rain": {"zlib": True, "chunksizes": (1, 4, 5), "dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}}
    dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding)
    refs = hyperslab.kerchunk.references(path)
    system = ReferenceFileSystem(refs, remote_protocol="file", asynchronous=True)
    store = zarr.storage.FsspecStore(system, read_only=True, path="")
    with xarray.open_dataset(path, engine="h5netcdf") as expected:
        found = xarray.open_dataset(store, engine="zarr", consolidated=False)
        xarray.testing.assert_identical(found.load(), expected.load())


def test_other_datasets_are_named(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("lzf", data=np.arange(10_000), compression="lzf")
        file["ok"] = np.arange(3)
        file.create_dataset("refs", data=[file["ok"].ref], dtype=h5py.ref_dtype)
    with pytest.raises(NotImplementedError, match=r"`lzf` \(filter .*`refs` \(datatype: references"):
        hyperslab.kerchunk.references(path)
    refs = hyperslab.kerchunk.references(path, skip_unsupported=True)["refs"]
    assert "ok/.zarray" in refs and "lzf/.zarray" not in refs


def test_virtual_datasets_lead_to_their_sources(tmp_path: Path) -> None:
    for number in range(3):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file.create_dataset("a", data=np.arange(40) + 100 * number, chunks=(10,), compression="gzip")
    layout = h5py.VirtualLayout((3, 40), "i8")
    for number in range(3):
        layout[number] = h5py.VirtualSource(f"{number}.h5", "a", (40,))
    with h5py.File(tmp_path / "whole.h5", "w") as file:
        file.create_virtual_dataset("a", layout)
    refs = hyperslab.kerchunk.references(tmp_path / "whole.h5", inline=0)
    assert refs["refs"]["a/2.1"][0] == f"file://{tmp_path}/2.h5"
    expected = np.arange(40) + 100 * np.arange(3)[:, None]
    assert np.array_equal(opened(refs)["a"][...], expected)


def test_external_files_are_referenced(tmp_path: Path) -> None:
    values = np.arange(30, dtype="<i4").reshape(6, 5)
    (tmp_path / "one.raw").write_bytes(b"head" + values[:3].tobytes())
    (tmp_path / "two.raw").write_bytes(values[3:].tobytes())
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", (6, 5), "<i4", external=[("one.raw", 4, 60), ("two.raw", 0, 60)])
        file.create_dataset("far", (5000,), "<i4", external=[("/etc/hostname", 0, 20_000)])
    with pytest.raises(NotImplementedError, match="`far`.*outside the folder"):
        hyperslab.kerchunk.references(tmp_path / "a.h5")
    refs = hyperslab.kerchunk.references(tmp_path / "a.h5", skip_unsupported=True)
    assert refs["refs"]["a/0.0"] == [f"file://{tmp_path}/one.raw", 4, 60]
    assert np.array_equal(opened(refs)["a"][...], values)


@pytest.mark.parametrize("name", ["weather_station.h5", "chunk_indexes_latest.h5", "filters_latest.h5", "layouts_latest.h5"])
def test_fixtures(name: str) -> None:
    source = FIXTURES / name
    if not source.exists():
        pytest.skip(f"no fixture {name}")
    refs = hyperslab.kerchunk.references(source, skip_unsupported=True)
    group = opened(refs)
    compared = 0
    with h5py.File(source) as file:
        for key in refs["refs"]:
            if not key.endswith("/.zarray"):
                continue
            path = key.removesuffix("/.zarray")
            expected, found = file[path][()], group[path][...]
            if expected.dtype.kind in "iufb":
                assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"), path
                compared += 1
    assert compared > 0
