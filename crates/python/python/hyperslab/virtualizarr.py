"""A parser of HDF5 files for VirtualiZarr, without the C library.

>>> from virtualizarr import open_virtual_dataset  # doctest: +SKIP
>>> vds = open_virtual_dataset(url, registry=registry, parser=HyperslabParser())  # doctest: +SKIP

Texts of variable length, compact data and other chunks that no byte range can give lie in a store in memory, which the
parser registers under ``memory://``. They are read as usual; name them in ``loadable_variables`` where references are
written to a file.
"""

from __future__ import annotations

import json
import uuid
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from obstore.store import MemoryStore
from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
from virtualizarr.manifests.utils import create_v3_array_metadata
from virtualizarr.parsers.utils import encode_cf_fill_value
from zarr.core.dtype import get_data_type_from_json

from ._file import File
from .kerchunk import describe

__all__ = ["HyperslabParser"]

FILL_VALUE = "_FillValue"


class HyperslabParser:
    """A callable with a URL and a registry of stores, which returns the references of the file as a ManifestStore."""

    def __init__(
        self, group: str | None = None, drop_variables: Iterable[str] | None = None, *, skip_unsupported: bool = False,
        reader_factory: Any = None,
    ) -> None:  # fmt: skip
        """Make a parser of a group.

        Datasets that zarr cannot read are an error unless ``skip_unsupported`` is true; then a warning names them.
        ``reader_factory`` makes a file-like object of a store and a path; without it, the store is read by byte ranges.
        """
        self.group = group
        self.drop_variables = drop_variables
        self.skip_unsupported = skip_unsupported
        self.reader_factory = reader_factory

    def __call__(self, url: str, registry: Any) -> ManifestStore:
        """Return the references of the file at a URL."""
        store, path = registry.resolve(url)
        memory = Inline(registry)
        with self._open(store, path) as file:
            found = file.get(self.group or "/")
            if found is None or not hasattr(found, "keys"):
                raise ValueError(f"Group {self.group!r} is not an HDF Group")
            described = describe(found, url, 0, True)
            dropped = set(self.drop_variables or ())
            groups, arrays = tree(described, dropped)
            for name, array in arrays.items():
                array["stored_fill"] = found[name].fillvalue
        self._report(described, dropped)
        group = manifest_group("", groups, arrays, memory)
        return ManifestStore(registry=registry, group=group)

    def _open(self, store: Any, path: str) -> File:
        if self.reader_factory is not None:
            return File(self.reader_factory(store, path), "r")
        return File(path, "r", store=store)

    def _report(self, described: dict[str, Any], dropped: set[str]) -> None:
        """Raise an error or warn about the datasets that zarr cannot read."""
        left_out = [f"{path!r} ({reason})" for path, reason in described["skipped"] if not is_dropped(path, dropped)]
        if not left_out:
            return
        text = f"zarr cannot read {', '.join(left_out)}"
        if not self.skip_unsupported:
            raise NotImplementedError(f"{text}; name them in drop_variables, or set skip_unsupported")
        warnings.warn(text, stacklevel=3)


def is_dropped(path: str, dropped: set[str]) -> bool:
    """Return whether a part of a path has the name of a dropped variable."""
    return any(name in dropped for name in path.split("/"))


class Inline:
    """The store of chunks that are in no file."""

    def __init__(self, registry: Any) -> None:
        """Make a store that is registered when it is used."""
        self._registry = registry
        self._store: Any = None
        self._url = f"memory://hyperslab-{uuid.uuid4().hex}"

    def put(self, path: str, data: bytes) -> str:
        """Keep bytes, and return their URL."""
        if self._store is None:
            self._store = MemoryStore()
            self._registry.register(self._url, self._store)
        self._store.put(path, data)
        return f"{self._url}/{path}"


def tree(described: dict[str, Any], dropped: set[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the attributes of groups and the arrays, by their paths."""
    groups = {path: attributes for path, attributes in described["groups"] if not is_dropped(path, dropped)}
    arrays = {array["path"]: array for array in described["arrays"] if not is_dropped(array["path"], dropped)}
    return groups, arrays


def manifest_group(path: str, groups: dict[str, str], arrays: dict[str, Any], memory: Inline) -> ManifestGroup:
    """Return a group with its members."""
    prefix = f"{path}/" if path else ""

    def own(paths: Iterable[str]) -> list[str]:
        return [one for one in paths if one and one.startswith(prefix) and "/" not in one[len(prefix) :]]

    members = {one[len(prefix) :]: manifest_array(arrays[one], memory) for one in own(arrays)}
    inner = {one[len(prefix) :]: manifest_group(one, groups, arrays, memory) for one in own(groups) if one != path}
    return ManifestGroup(arrays=members, groups=inner, attributes=json.loads(groups[path]))


def manifest_array(array: dict[str, Any], memory: Inline) -> ManifestArray:
    """Return an array with its chunks."""
    zarray = json.loads(array["zarray"])
    attributes = json.loads(array["attributes"])
    codecs = [as_v3(codec) for codec in zarray["filters"] or []]
    name = zarray["dtype"]
    object_codec = "vlen-utf8" if name == "|O" else None
    if isinstance(name, list):
        dtype: Any = np.dtype([tuple(field) for field in name])
    elif object_codec:
        dtype = np.dtypes.StringDType()
        codecs[0] = {"name": "vlen-utf8"}
    else:
        dtype = get_data_type_from_json({"name": name, "object_codec_id": None}, zarr_format=2).to_native_dtype()
    fill_value = fill_of(zarray, dtype)
    if fill_value is not None:
        attributes[FILL_VALUE] = encode_cf_fill_value(fill_value, dtype)
    elif dtype.kind in "biufc":
        # Without the attribute, xarray masks no element: the fill value of zarr version 3 is the one of HDF5.
        fill_value = np.array(array["stored_fill"]).astype(dtype)[()]
    metadata = create_v3_array_metadata(
        shape=tuple(zarray["shape"]), data_type=dtype, chunk_shape=tuple(zarray["chunks"]), fill_value=fill_value,
        codecs=codecs, dimension_names=tuple(array["dimensions"]), attributes=attributes,
    )  # fmt: skip
    return ManifestArray(metadata=metadata, chunkmanifest=manifest(array, memory))


def as_v3(codec: dict[str, Any]) -> dict[str, Any]:
    """Return a codec of zarr version 2 in the form of version 3."""
    configuration = dict(codec)
    return {"name": f"numcodecs.{configuration.pop('id')}", "configuration": configuration}


def fill_of(zarray: dict[str, Any], dtype: Any) -> Any:
    """Return the fill value of an array as a scalar; None without one."""
    value = zarray["fill_value"]
    if value is None:
        return None
    if dtype.kind == "S":
        import base64

        return np.bytes_(base64.b64decode(value))
    return np.array(value).astype(dtype)[()]


def manifest(array: dict[str, Any], memory: Inline) -> ChunkManifest:
    """Return the chunks of an array."""
    grid = tuple(array["grid"])
    size = int(np.prod(grid, dtype=np.int64))
    paths = np.full(size, "", dtype=np.dtypes.StringDType())
    offsets = np.zeros(size, dtype=np.uint64)
    lengths = np.zeros(size, dtype=np.uint64)
    positions = array["positions"].astype(np.intp)
    urls = np.array(array["urls"] or [""], dtype=np.dtypes.StringDType())
    paths[positions] = urls[array["url_indices"]]
    offsets[positions] = array["offsets"]
    lengths[positions] = array["lengths"]
    for position, data in array["inline"].items():
        paths[position] = memory.put(f"{array['path']}/{position}", data)
        lengths[position] = len(data)
    return ChunkManifest.from_arrays(
        paths=paths.reshape(grid), offsets=offsets.reshape(grid), lengths=lengths.reshape(grid), validate_paths=False
    )
