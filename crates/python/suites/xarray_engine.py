"""xarray's tests of netCDF-4 backends, on the engine "hyperslab" of xarray.

pytest collects the inherited tests of the one class in this file. The runner `run.py` names the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import xarray
from xarray.tests.test_backends import NetCDF4Base, create_tmp_file

import hyperslab.xarray as engine


class TestHyperslabData(NetCDF4Base):
    """The tests that xarray runs on each backend of netCDF-4 files."""

    engine = "hyperslab"

    @contextlib.contextmanager
    def create_store(self) -> Iterator[Any]:
        """Yield a store of a new file."""
        with create_tmp_file() as path:
            store = engine.HyperslabStore.open(path, "w")
            try:
                yield store
            finally:
                store.close()

    def save(self, dataset: Any, path: Any, **options: Any) -> Any:
        """Write a dataset with the package, because `Dataset.to_netcdf` of xarray knows no other engines."""
        return engine.to_netcdf(dataset, path, **options)

    @contextlib.contextmanager
    def open(self, path: Any, **options: Any) -> Iterator[Any]:
        """Open a file with the engine, whatever name the attribute `engine` has."""
        with xarray.open_dataset(path, engine="hyperslab", **options) as dataset:
            yield dataset

    def test_byte_attrs(self, byte_attrs_dataset: Any) -> None:
        """Expect the error of h5py for a text with a null character, as xarray does for its engine h5netcdf."""
        with pytest.raises(ValueError, match=byte_attrs_dataset["h5netcdf_error"]):
            super().test_byte_attrs(byte_attrs_dataset)

    def test_encoding_enum__no_fill_value(self, recwarn: Any) -> None:
        """Expect the warning of h5netcdf, which the test expects of the engine with this name only."""
        self.engine = "h5netcdf"
        super().test_encoding_enum__no_fill_value(recwarn)


del NetCDF4Base  # pytest would collect the base class too
