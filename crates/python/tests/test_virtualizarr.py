"""The parser of VirtualiZarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("virtualizarr")
pytest.importorskip("obstore")
h5py = pytest.importorskip("h5py")
xarray = pytest.importorskip("xarray")

from hyperslab.virtualizarr import HyperslabParser  # noqa: E402
from obspec_utils.registry import ObjectStoreRegistry  # noqa: E402
from obstore.store import LocalStore  # noqa: E402
from virtualizarr import open_virtual_dataset  # noqa: E402
from virtualizarr.parsers.typing import Parser  # noqa: E402


@pytest.fixture
def registry() -> Any:
    return ObjectStoreRegistry({"file://": LocalStore()})


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "a.nc"
    dataset = xarray.Dataset(
        {"rain": (("time", "x"), np.arange(200.0).reshape(20, 10)), "station": (("x",), [f"s{n}é" for n in range(10)])},
        {"time": np.arange(20), "x": np.arange(10.0)}, {"title": "rain"},
    )  # fmt: skip
    encoding = {"rain": {"zlib": True, "shuffle": True, "chunksizes": (5, 10), "_FillValue": np.nan}}
    dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding)
    return path


def test_the_parser_has_the_protocol() -> None:
    assert isinstance(HyperslabParser(), Parser)


def test_values_are_those_of_the_file(written: Path, registry: Any) -> None:
    url = written.as_uri()
    store = HyperslabParser()(url, registry)
    with xarray.open_dataset(written, engine="h5netcdf") as expected:
        found = xarray.open_zarr(store, consolidated=False, zarr_format=3)
        xarray.testing.assert_equal(found.load(), expected.load())
    with open_virtual_dataset(url, registry, parser=HyperslabParser(), loadable_variables=["time", "x", "station"]) as virtual:
        assert virtual["station"].values[3] == "s3é"
        manifest = virtual["rain"].data.manifest.dict()
        assert len(manifest) == 4 and all(entry["path"] == url for entry in manifest.values())


def test_the_fill_value_is_the_one_of_the_file(tmp_path: Path, registry: Any) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("stored", shape=(10,), chunks=(5,), dtype="i2", fillvalue=42)[:3] = [42, 1, 2]
        file.create_dataset("masked", data=np.arange(5.0)).attrs["_FillValue"] = 3.0
        file.create_dataset("none", data=np.arange(5))
    store = HyperslabParser()(path.as_uri(), registry)
    assert [store._group.arrays[name].metadata.fill_value for name in ("stored", "masked", "none")] == [42, 3.0, 0]
    found = xarray.open_zarr(store, consolidated=False, zarr_format=3)
    assert found["stored"].values.tolist() == [42, 1, 2] + 7 * [42]
    assert np.isnan(found["masked"].values).tolist() == [False, False, False, True, False]


def test_groups_and_dropped_variables(tmp_path: Path, registry: Any) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("g/inner/a", data=np.arange(1000), chunks=(100,), compression="gzip")
        file.create_dataset("g/odd", data=np.arange(1000), compression="lzf")
    store = HyperslabParser(group="g", drop_variables=["odd"])(path.as_uri(), registry)
    assert np.array_equal(xarray.open_zarr(store, group="inner", consolidated=False, zarr_format=3)["a"], np.arange(1000))
    with pytest.raises(NotImplementedError, match="odd"):
        HyperslabParser(group="g")(path.as_uri(), registry)
    with pytest.warns(UserWarning, match="odd"):
        HyperslabParser(group="g", skip_unsupported=True)(path.as_uri(), registry)
    with pytest.raises(ValueError, match="not an HDF Group"):
        HyperslabParser(group="missing")(path.as_uri(), registry)
