"""xarray: ``xarray.open_dataset(path, engine="hyperslab")``, and ``to_netcdf``.

The engine reads and writes netCDF-4 files by h5netcdf's model of them over this package.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import xarray
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.file_manager import CachingFileManager, DummyFileManager
from xarray.backends.h5netcdf_ import H5NetCDFStore
from xarray.backends.locks import get_write_lock

from ._remote import is_url, location_of
from .compat import installed_as_h5py

if TYPE_CHECKING:
    from xarray import Dataset as XarrayDataset
    from xarray import DataTree

SUFFIXES = (".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5")
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def netcdf_file(path: Any, mode: str = "r", **kwargs: Any) -> Any:
    """Open a netCDF-4 file of h5netcdf over this package.

    xarray needs options that can be hashed, so the options of a store may be a tuple of names and values.
    """
    if "storage_options" in kwargs:
        kwargs["storage_options"] = dict(kwargs["storage_options"])
    with installed_as_h5py():
        import h5netcdf

        return h5netcdf.File(path, mode, **kwargs)


class HyperslabStore(H5NetCDFStore):
    """xarray's store of a netCDF-4 file, over this package.

    xarray and h5netcdf import h5py in some methods. In these methods, this package takes the place of h5py.
    """

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a store of a file manager of xarray."""
        with installed_as_h5py():
            super().__init__(*args, **kwargs)

    @classmethod
    def open(  # type: ignore[override]
        cls, filename: Any, mode: str = "r", format: str | None = "NETCDF4", group: str | None = None, lock: Any = None,
        autoclose: bool = False, **options: Any,
    ) -> HyperslabStore:  # fmt: skip
        """Open a file as a store. The options are those of ``h5netcdf.File``.

        Reads need no lock. Writes use xarray's lock of the file.
        """
        format = format or "NETCDF4"
        if format not in ("NETCDF4", "NETCDF4_CLASSIC"):
            raise ValueError(f"the format {format!r} is not supported: the engine hyperslab writes NETCDF4 and NETCDF4_CLASSIC")
        if mode != "r":
            options["format"] = format
        if isinstance(filename, str):
            if is_url(filename):
                # Without it, h5netcdf takes another package for URLs.
                options["backend"] = "h5py"
            manager: Any = CachingFileManager(netcdf_file, filename, mode=mode, kwargs=options)
        else:
            filename = _stream_of(filename)
            manager = DummyFileManager(netcdf_file(filename, mode, **options))
        if lock is None:
            lock = False if mode == "r" else get_write_lock(filename)
        return cls(manager, group=group, mode=mode, format=format, lock=lock, autoclose=autoclose)

    def get_variables(self) -> Any:
        """Return the variables of the group."""
        with installed_as_h5py():
            return super().get_variables()  # type: ignore[no-untyped-call]

    def open_store_variable(self, name: str, var: Any) -> Any:
        """Return a variable of xarray with the data and the attributes of a variable in the file."""
        with installed_as_h5py():
            return super().open_store_variable(name, var)  # type: ignore[no-untyped-call]

    def set_attribute(self, key: str, value: Any) -> None:
        """Set an attribute of the group."""
        _check_attribute(key, value)
        super().set_attribute(key, value)  # type: ignore[no-untyped-call]

    def prepare_variable(self, name: str, variable: Any, *args: Any, **kwargs: Any) -> Any:
        """Create a variable in the file. Return the target of its data."""
        for key, value in variable.attrs.items():
            _check_attribute(key, value)
        with installed_as_h5py():
            return super().prepare_variable(name, variable, *args, **kwargs)  # type: ignore[no-untyped-call]


def _check_attribute(name: str, value: Any) -> None:
    """Refuse bytes with a null character, which a text in a file cannot hold."""
    if isinstance(value, bytes) and b"\x00" in value:
        raise ValueError(f"Invalid value provided for attribute {name!r}: {value!r}. Null characters in texts are not supported.")


def _stream_of(target: Any) -> Any:
    """Return a file-like object: for xarray's stand-in of a file in memory, a stream that the stand-in reads at the end."""
    if hasattr(target, "getvalue") and not isinstance(target, io.IOBase):
        stream = io.BytesIO()
        target.getvalue = stream.getbuffer
        return stream
    return target


def _source_of(source: Any) -> Any:
    """Return a path as an absolute text, bytes as a stream, and a stream as it is."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(source)
    try:
        return location_of(source)
    except TypeError:
        return source


class HyperslabBackendEntrypoint(BackendEntrypoint):
    """The engine "hyperslab" of xarray."""

    description = "Open netCDF-4 and HDF5 files with hyperslab"
    url = "https://pypi.org/project/hyperslab"
    open_dataset_parameters = (
        "filename_or_obj", "mask_and_scale", "decode_times", "concat_characters", "decode_coords", "drop_variables",
        "use_cftime", "decode_timedelta", "group", "phony_dims", "decode_vlen_strings", "storage_options",
    )  # fmt: skip
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return whether a path has a suffix or the first bytes of an HDF5 file."""
        if hasattr(filename_or_obj, "read"):
            at = filename_or_obj.tell()
            start = filename_or_obj.read(len(SIGNATURE))
            filename_or_obj.seek(at)
            return bool(start == SIGNATURE)
        if isinstance(filename_or_obj, (bytes, bytearray, memoryview)):
            return bytes(filename_or_obj[: len(SIGNATURE)]) == SIGNATURE
        try:
            path = os.fspath(filename_or_obj)
        except TypeError:
            return False
        path = urlsplit(path).path if is_url(path) else path
        return str(path).lower().endswith(SUFFIXES)

    def open_dataset(
        self, filename_or_obj: Any, *, mask_and_scale: Any = True, decode_times: Any = True, concat_characters: Any = True,
        decode_coords: Any = True, drop_variables: str | Iterable[str] | None = None, use_cftime: Any = None,
        decode_timedelta: Any = None, group: str | None = None, phony_dims: str | None = "access",
        decode_vlen_strings: bool = True, storage_options: Mapping[str, Any] | None = None,
    ) -> XarrayDataset:  # fmt: skip
        """Open a group of a file as a dataset of xarray. ``storage_options`` are settings of the store of a URL."""
        remote: dict[str, Any] = {"storage_options": tuple(storage_options.items())} if storage_options else {}
        store = HyperslabStore.open(
            _source_of(filename_or_obj), group=group, phony_dims=phony_dims, decode_vlen_strings=decode_vlen_strings, **remote
        )
        try:
            return StoreBackendEntrypoint().open_dataset(
                store, mask_and_scale=mask_and_scale, decode_times=decode_times, concat_characters=concat_characters,
                decode_coords=decode_coords, drop_variables=drop_variables, use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )  # fmt: skip
        except BaseException:
            store.close()  # type: ignore[no-untyped-call]
            raise

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, XarrayDataset]:
        """Open all groups of a file."""
        source = _source_of(filename_or_obj)
        remote: dict[str, Any] = {"backend": "h5py"} if is_url(source) else {}
        if options.get("storage_options"):
            remote["storage_options"] = options["storage_options"]
        file = netcdf_file(source, "r", phony_dims="access", **remote)
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
        """Open a file as a tree of datasets. The tree closes the file."""
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xarray.DataTree.from_dict(groups)
        for path, dataset in groups.items():
            tree[path].set_close(dataset.close)
        return tree


def _register() -> None:
    """Make the engine known to ``Dataset.to_netcdf``, whose engines have no entry points."""
    for name in ("xarray.backends.writers", "xarray.backends.api"):
        try:
            stores = getattr(importlib.import_module(name), "WRITEABLE_STORES", None)
        except ImportError:
            continue
        if stores is not None:
            stores.setdefault("hyperslab", HyperslabStore.open)


_register()


def to_netcdf(dataset: XarrayDataset | DataTree, path: Any = None, mode: str = "w", **options: Any) -> Any:
    """Write a dataset or a tree of xarray to a netCDF-4 file.

    The options are those of ``Dataset.to_netcdf`` (``group``, ``encoding``, ``unlimited_dims``, ``format``, ``compute``).
    A tree takes ``encoding`` by the path of a group. Without a path, a dataset returns the bytes of the file.
    """
    engine: Any = "hyperslab"
    if not isinstance(dataset, xarray.DataTree):
        return dataset.to_netcdf(path, mode=mode, engine=engine, **options)  # type: ignore[call-overload]
    encodings = options.pop("encoding", None) or {}
    for node in dataset.subtree:
        own = node.to_dataset(inherit=False)
        own.to_netcdf(path, mode=mode, engine=engine, group=node.path, encoding=encodings.get(node.path), **options)  # type: ignore[call-overload]
        mode = "a"
    return None
