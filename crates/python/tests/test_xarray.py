"""xarray: the engine "hyperslab" beside the engine "h5netcdf" over h5py."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

xr = pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")

from hyperslab.xarray import HyperslabBackendEntrypoint, to_netcdf  # noqa: E402

ENGINE = HyperslabBackendEntrypoint


def example() -> Any:
    """Return a dataset of xarray with times, texts, coordinates, attributes and missing values."""
    rng = np.random.default_rng(1)
    values = rng.random((6, 4, 5))
    values[1, 2] = np.nan
    return xr.Dataset(
        {
            "temperature": (("time", "y", "x"), values, {"units": "K", "valid": [200, 320]}),
            "count": (("y", "x"), rng.integers(0, 9, (4, 5)).astype("i4")),
            "name": (("y",), np.array(["a", "bä", "", "long"], dtype=object)),
            "flag": (("x",), np.array([True, False, True, True, False])),
            "scalar": ((), 4.5),
        },
        coords={"time": np.array("2024-01-01", dtype="M8[ns]") + np.arange(6).astype("m8[D]"), "x": np.arange(5) * 2.5},
        attrs={"title": "example", "version": 3},
    )


@pytest.mark.parametrize("options", [{}, {"decode_times": False}, {"mask_and_scale": False}, {"drop_variables": ["count"]}])
def test_reads_equal_those_of_h5netcdf(path: Path, options: dict[str, Any]) -> None:
    path = path.with_suffix(".nc")
    encoding = {"temperature": {"dtype": "i2", "scale_factor": 0.001, "_FillValue": -9, "zlib": True, "chunksizes": (2, 4, 5)}}
    example().to_netcdf(path, engine="h5netcdf", encoding=encoding, unlimited_dims=["time"])
    with xr.open_dataset(path, engine="h5netcdf", **options) as wanted, xr.open_dataset(path, engine=ENGINE, **options) as found:
        xr.testing.assert_identical(found.load(), wanted.load())
        for name in wanted.variables:
            assert found[name].dtype == wanted[name].dtype
            for key in ("chunksizes", "zlib", "complevel", "shuffle", "_FillValue", "scale_factor", "units", "dtype"):
                assert str(found[name].encoding.get(key)) == str(wanted[name].encoding.get(key)), (name, key)
        assert found.encoding.get("unlimited_dims") == wanted.encoding.get("unlimited_dims")


def test_lazy_reads(path: Path) -> None:
    example().to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine=ENGINE) as found:
        wanted = example()
        xr.testing.assert_equal(found["temperature"][2:5, 1, ::2].load(), wanted["temperature"][2:5, 1, ::2])
        xr.testing.assert_equal(found.isel(x=[3, 0], time=[4, 1]).load(), wanted.isel(x=[3, 0], time=[4, 1]))
        xr.testing.assert_equal(found.isel(x=xr.DataArray([3, 0], dims="p"), y=xr.DataArray([1, 1], dims="p")).load(),
                                wanted.isel(x=xr.DataArray([3, 0], dims="p"), y=xr.DataArray([1, 1], dims="p")))  # fmt: skip
        assert float(found["temperature"].max()) == float(wanted["temperature"].max())


def test_chunked_reads(path: Path) -> None:
    pytest.importorskip("dask")
    example().to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine=ENGINE, chunks={"time": 2}) as found:
        np.testing.assert_allclose(found["temperature"].mean("time").compute(), example()["temperature"].mean("time"))


def test_groups_and_trees(path: Path) -> None:
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/one": example(), "/one/two": example()[["count"]]})
    tree.to_netcdf(path, engine="h5netcdf")
    with xr.open_datatree(path, engine="h5netcdf") as wanted, xr.open_datatree(path, engine=ENGINE) as found:
        xr.testing.assert_identical(found.load(), wanted.load())
    with xr.open_dataset(path, engine=ENGINE, group="one/two") as found:
        xr.testing.assert_identical(found.load(), xr.open_dataset(path, engine="h5netcdf", group="one/two").load())
    groups = xr.open_groups(path, engine=ENGINE)
    assert sorted(groups) == ["/", "/one", "/one/two"]
    for group in groups.values():
        group.close()


def test_plain_hdf5_files(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["a"], f["b"] = np.arange(6).reshape(2, 3), np.arange(3)
    with xr.open_dataset(path, engine=ENGINE, phony_dims="sort") as found:
        assert found["a"].shape == (2, 3) and found["b"].values.tolist() == [0, 1, 2]


def test_guesses(path: Path, tmp_path: Path) -> None:
    example().to_netcdf(path, engine="h5netcdf")
    guess = HyperslabBackendEntrypoint().guess_can_open
    assert guess(path) and guess(str(path)) and guess("x.NC") and not guess("x.zarr") and not guess(5)
    with path.open("rb") as stream:
        assert guess(stream) and stream.tell() == 0
    with (tmp_path / "text").open("w+b") as stream:
        stream.write(b"no file")
        stream.seek(0)
        assert not guess(stream)


def test_writes_are_read_by_h5netcdf(path: Path) -> None:
    encoding = {"count": {"zlib": True, "complevel": 3, "chunksizes": (2, 5), "shuffle": True}}
    to_netcdf(example(), path, encoding=encoding, unlimited_dims=["time"])
    with xr.open_dataset(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), example())
        assert found.encoding["unlimited_dims"] == {"time"} and found["count"].encoding["complevel"] == 3
    to_netcdf(example()[["scalar"]], path, mode="a", group="added/deeper")
    with h5py.File(path) as f:
        assert f["added/deeper/scalar"][()] == 4.5 and f["temperature"].dims[0][0].name == "/time"
    with xr.open_dataset(path, engine=ENGINE, group="added/deeper") as found:
        assert float(found["scalar"]) == 4.5


def test_files_are_closed(path: Path) -> None:
    example().to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine=ENGINE) as found:
        found.load()
    with xr.open_datatree(path, engine=ENGINE) as tree:
        tree.load()
    with h5py.File(path, "r+") as f:
        f.attrs["written"] = 1


def test_the_engine_changes_nothing_else(path: Path) -> None:
    example().to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine=ENGINE) as found:
        found.load()
    import h5netcdf

    assert h5netcdf.File.__module__ == "h5netcdf.core" and h5py.File is not hyperslab.File
    with h5netcdf.File(path) as f:
        assert isinstance(f._h5file, h5py.File)
    with hyperslab.File(path) as f:
        # Subscripts keep what h5py lacks.
        assert f["x"][::-1].tolist() == [10, 7.5, 5, 2.5, 0] and f["x"][[3, 0, 3]].tolist() == [7.5, 0, 7.5]


ENTRY = """
import sys, xarray
assert "h5py" not in sys.modules
from hyperslab.xarray import HyperslabBackendEntrypoint
with xarray.open_dataset(sys.argv[1], engine=HyperslabBackendEntrypoint) as found:
    print(float(found["scalar"]), found["temperature"].shape)
import h5py
assert h5py.File.__module__ == "h5py._hl.files" and "hyperslab" not in h5py.__file__
"""


def test_the_engine_without_h5py(path: Path, run_python: Callable[..., Any]) -> None:
    example().to_netcdf(path, engine="h5netcdf")
    done = run_python(ENTRY, path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4.5 (6, 4, 5)\n"


def test_the_entry_point(path: Path) -> None:
    from importlib.metadata import entry_points

    if not entry_points(group="xarray.backends", name="hyperslab"):
        pytest.skip("the package is not installed, so xarray cannot find its engine by name")
    example().to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine="hyperslab") as found:
        xr.testing.assert_identical(found.load(), example())


def test_xarray_itself_writes_with_the_engine(path: Path) -> None:
    example().to_netcdf(path, engine="hyperslab", unlimited_dims=["time"])
    with xr.open_dataset(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), example())
        assert found.encoding["unlimited_dims"] == {"time"}


def test_packed_values_keep_their_types(path: Path) -> None:
    packed = example()[["temperature"]]
    packed["temperature"].encoding = {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -1}
    to_netcdf(packed, path)
    with h5py.File(path) as f:
        assert f["temperature"].dtype == "i2" and f["temperature"].attrs["_FillValue"] == -1
    with xr.open_dataset(path, engine=ENGINE) as found:
        np.testing.assert_allclose(found["temperature"], packed["temperature"], atol=0.006)


def test_wrong_names_and_attributes_are_refused(path: Path) -> None:
    with pytest.raises(TypeError, match="must be either a string or None"):
        to_netcdf(xr.Dataset({4: 1}), path)
    with pytest.raises(ValueError, match="attribute 'a': .* Null characters"):
        to_netcdf(xr.Dataset({"x": ((), 1, {"a": b"\x00"})}), path)
    with pytest.raises(ValueError, match="the format 'NETCDF3_64BIT' is not supported"):
        to_netcdf(example(), path, format="NETCDF3_64BIT")


def test_trees_are_written(path: Path) -> None:
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"a": 1}), "/one": example(), "/one/two": example()[["count"]]})
    to_netcdf(tree, path, encoding={"/one": {"count": {"zlib": True}}})
    with xr.open_datatree(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), tree)
    with h5py.File(path) as f:
        assert f["one/count"].compression == "gzip" and f["one/two/count"].compression is None


def test_files_in_memory(path: Path) -> None:
    stored = bytes(to_netcdf(example()))
    path.write_bytes(stored)
    with xr.open_dataset(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), example())
    with xr.open_dataset(stored, engine=ENGINE) as found:
        xr.testing.assert_identical(found.load(), example())


def test_lazy_datasets_pickle(path: Path) -> None:
    to_netcdf(example(), path)
    with xr.open_dataset(path, engine=ENGINE) as found:
        again = pickle.loads(pickle.dumps(found))
        xr.testing.assert_identical(again.load(), example())


def test_delayed_writes(path: Path) -> None:
    pytest.importorskip("dask")
    delayed = to_netcdf(example().chunk({"time": 2}), path, compute=False)
    delayed.compute()
    with xr.open_dataset(path, engine="h5netcdf") as found:
        xr.testing.assert_identical(found.load(), example())


def test_many_files_open_in_parallel(tmp_path: Path) -> None:
    pytest.importorskip("dask")
    for number in range(6):
        to_netcdf(example().assign_coords(time=example()["time"] + np.timedelta64(number * 6, "D")), tmp_path / f"{number}.nc")
    with xr.open_mfdataset(str(tmp_path / "*.nc"), engine=ENGINE, parallel=True, combine="by_coords") as found:
        assert found.sizes["time"] == 36
        np.testing.assert_allclose(found["temperature"].isel(time=slice(6, 12)), example()["temperature"])
