"""xarray: ``xarray.open_dataset(path, engine="hyperslab")``, and ``to_netcdf``.

The engine reads netCDF-4 files by h5netcdf's model of them over this package.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import xarray
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.file_manager import DummyFileManager
from xarray.backends.h5netcdf_ import H5NetCDFStore

if TYPE_CHECKING:
    from xarray import Dataset as XarrayDataset
    from xarray import DataTree

SUFFIXES = (".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5")
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def netcdf_file(path: Any, mode: str = "r", **kwargs: Any) -> Any:
    """Open a netCDF-4 file of h5netcdf over this package."""
    from .compat import installed_as_h5py

    with installed_as_h5py():
        import h5netcdf

        return h5netcdf.File(path, mode, **kwargs)


def store_of(file: Any, group: str | None, mode: str) -> H5NetCDFStore:
    """Return xarray's store of a file of h5netcdf over this package.

    The classes of this h5netcdf are not those that xarray imports, so the store gets a file manager.
    """
    return H5NetCDFStore(DummyFileManager(file), group=group, mode=mode)


class HyperslabBackendEntrypoint(BackendEntrypoint):
    """The engine "hyperslab" of xarray."""

    description = "Open netCDF-4 and HDF5 files with hyperslab"
    url = "https://pypi.org/project/hyperslab"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "group", "phony_dims", "decode_vlen_strings")
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a path has a suffix or the first bytes of an HDF5 file."""
        if hasattr(filename_or_obj, "read"):
            at = filename_or_obj.tell()
            start = filename_or_obj.read(len(SIGNATURE))
            filename_or_obj.seek(at)
            return bool(start == SIGNATURE)
        try:
            path = os.fspath(filename_or_obj)
        except TypeError:
            return False
        return str(path).lower().endswith(SUFFIXES)

    def _store(self, source: Any, group: str | None, **options: Any) -> H5NetCDFStore:
        return store_of(netcdf_file(source, "r", **options), group, "r")

    def open_dataset(
        self, filename_or_obj: Any, *, mask_and_scale: Any = True, decode_times: Any = True, concat_characters: Any = True,
        decode_coords: Any = True, drop_variables: str | Iterable[str] | None = None, use_cftime: Any = None,
        decode_timedelta: Any = None, group: str | None = None, phony_dims: str | None = "access",
        decode_vlen_strings: bool = True,
    ) -> XarrayDataset:  # fmt: skip
        """Open a group of a file as a dataset of xarray."""
        store = self._store(filename_or_obj, group, phony_dims=phony_dims, decode_vlen_strings=decode_vlen_strings)
        return StoreBackendEntrypoint().open_dataset(
            store, mask_and_scale=mask_and_scale, decode_times=decode_times, concat_characters=concat_characters,
            decode_coords=decode_coords, drop_variables=drop_variables, use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )  # fmt: skip

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, XarrayDataset]:
        """Open all groups of a file."""
        file = netcdf_file(filename_or_obj, "r", phony_dims="access")
        paths = ["/"]
        stack = [("", file)]
        while stack:
            prefix, group = stack.pop()
            for name, child in group.groups.items():
                paths.append(f"{prefix}/{name}")
                stack.append((f"{prefix}/{name}", child))
        file.close()
        return {path: self.open_dataset(filename_or_obj, group=path, **options) for path in paths}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """Open a file as a tree of datasets."""
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def to_netcdf(dataset: XarrayDataset, path: Any, mode: str = "w", group: str | None = None, encoding: Any = None, unlimited_dims: Any = None) -> None:
    """Write a dataset of xarray to a netCDF-4 file."""
    from .compat import installed_as_h5py

    # xarray and h5netcdf import h5py while they write.
    with installed_as_h5py():
        file = netcdf_file(path, mode)
        try:
            store = store_of(file, group, mode)
            dataset.dump_to_store(store, encoding=encoding, unlimited_dims=unlimited_dims)
            store.sync()
        finally:
            file.close()
