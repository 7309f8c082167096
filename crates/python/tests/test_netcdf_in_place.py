"""netCDF-4 files of h5netcdf over the package, beside other uses of the package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import hyperslab

xarray = pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")


def test_subscripts_and_modules_stay(tmp_path: Path) -> None:
    """After a netCDF file was written and read, subscripts have the meaning of this package, and h5py is not replaced."""
    from hyperslab.xarray import HyperslabBackendEntrypoint, to_netcdf

    before = sys.modules.get("h5py")
    data = xarray.Dataset({"a": ("x", np.arange(5))})
    to_netcdf(data, tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc", engine=HyperslabBackendEntrypoint) as opened:
        assert opened.identical(data)
        assert opened["a"][[4, 0, 4]].values.tolist() == [4, 0, 4]
    assert sys.modules.get("h5py") is before
    with hyperslab.File(tmp_path / "a.nc") as file:
        assert file["a"][[4, 0, 4]].tolist() == [4, 0, 4]
        assert file["a"][::-2].tolist() == [4, 2, 0]


def test_groups(tmp_path: Path) -> None:
    """A group of a file is written and read."""
    from hyperslab.xarray import HyperslabBackendEntrypoint, to_netcdf

    data = xarray.Dataset({"a": ("x", np.arange(5))})
    to_netcdf(data, tmp_path / "a.nc", group="inner/most")
    engine = HyperslabBackendEntrypoint()
    assert engine.open_dataset(tmp_path / "a.nc", group="inner/most").identical(data)
    assert set(engine.open_groups_as_dict(tmp_path / "a.nc")) == {"/", "/inner", "/inner/most"}
