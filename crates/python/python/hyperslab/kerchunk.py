"""References to the chunks of a file, with which zarr reads the file: kerchunk's form version 1.

>>> refs = hyperslab.kerchunk.references("run42.h5", "s3://bucket/run42.h5")  # doctest: +SKIP
>>> fs = fsspec.filesystem("reference", fo=refs, remote_protocol="s3")  # doctest: +SKIP
"""

from __future__ import annotations

import base64
import itertools
import json
import os
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._file import File
from ._group import Group
from ._remote import is_url

__all__ = ["references"]

#: The largest number of bytes of a chunk in the references, as kerchunk has it.
INLINE_BYTES = 500


def references(
    source: Any, url: str | None = None, *, group: str = "/", inline: int = INLINE_BYTES, skip_unsupported: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the references of a group and of all objects below it.

    ``source`` is a path, a URL, or an open file or group. ``url`` is the URL of the file that the references state; the
    default is the name of the file. Chunks of at most ``inline`` bytes are in the references. Datasets that zarr cannot
    read raise NotImplementedError unless ``skip_unsupported`` is true.
    """
    if not isinstance(source, Group):
        with File(source, "r", storage_options=storage_options) as file:
            return references(file, url, group=group, inline=inline, skip_unsupported=skip_unsupported)
    target = source[group]
    found = describe(target, url or url_of(target.file.filename), inline, skip_unsupported)
    refs: dict[str, Any] = {}
    for path, attributes in found["groups"]:
        folder = f"{path}/" if path else ""
        refs[f"{folder}.zgroup"] = json.dumps({"zarr_format": 2})
        refs[f"{folder}.zattrs"] = attributes
    for array in found["arrays"]:
        path = array["path"]
        refs[f"{path}/.zarray"] = array["zarray"]
        refs[f"{path}/.zattrs"] = json.dumps({**json.loads(array["attributes"]), "_ARRAY_DIMENSIONS": array["dimensions"]})
        names = chunk_names(array["positions"], array["grid"])
        locations = zip(array["url_indices"].tolist(), array["offsets"].tolist(), array["lengths"].tolist(), strict=True)
        for name, (index, offset, length) in zip(names, locations, strict=True):
            refs[f"{path}/{name}"] = [array["urls"][index], offset, length]
        positions = np.fromiter(array["inline"], dtype=np.uint64)
        for name, data in zip(chunk_names(positions, array["grid"]), array["inline"].values(), strict=True):
            refs[f"{path}/{name}"] = "base64:" + base64.b64encode(data).decode()
    return {"version": 1, "refs": refs}


def describe(group: Any, url: str, inline: int, skip_unsupported: bool) -> dict[str, Any]:
    """Return the groups, the arrays and the report of an export."""
    return core.references(group._handle, url, inline, skip_unsupported)


def url_of(name: str) -> str:
    """Return the URL of a file with a name."""
    return name if is_url(name) else f"file://{os.path.abspath(name)}"


def chunk_names(positions: Any, grid: list[int]) -> list[str]:
    """Return the names of chunks, such as ``0.3``, from their positions in the grid."""
    if not grid:
        return ["0"] * len(positions)
    indices = np.unravel_index(positions.astype(np.intp), grid)
    return [".".join(map(str, index)) for index in itertools.islice(zip(*(axis.tolist() for axis in indices), strict=True), len(positions))]
