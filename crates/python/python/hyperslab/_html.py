"""Representations of groups and datasets in notebooks."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._group import Group

MAX_MEMBERS = 50
PICTURE_PIXELS = 96
NARROW_PIXELS = 8
PICTURE_BYTES = 64 << 20


def row(name: str, value: Any) -> str:
    """Return one row of a table of properties."""
    return f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(str(value))}</td></tr>"


def bytes_text(size: int) -> str:
    """Return a size in bytes with a unit."""
    value, units = float(size), ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1024 and len(units) > 1:
        value /= 1024
        units.pop(0)
    return f"{value:.3g} {units[0]}"


def dataset_html(dset: Dataset) -> str:
    """Return the properties of a dataset, with a small picture of numbers in two dimensions."""
    if not dset:
        return "<b>Closed HDF5 dataset</b>"
    rows = [row("shape", dset.shape), row("dtype", dset.dtype)]
    if dset.chunks is not None:
        rows.append(row("chunks", dset.chunks))
    # Some programs store a description after the name of a filter.
    names = [name.partition(";")[0] or str(number) for number, _, _, name in dset._handle.filters]
    if names:
        rows.append(row("filters", ", ".join(names)))
    stored, total = dset._handle.storage_size, dset.nbytes
    size = f"{bytes_text(stored)} in the file, {bytes_text(total)} in memory"
    if stored and total:
        size += f" (ratio {total / stored:.2f})"
    rows.append(row("size", size))
    if len(dset.attrs):
        rows.append(row("attributes", ", ".join(dset.attrs)))
    name = html.escape(dset.name or "(anonymous)")
    return f"<div><b>{name}</b> dataset<table>{''.join(rows)}</table>{picture(dset)}</div>"


def picture(dset: Dataset) -> str:
    """Return an image of a dataset of real numbers in two dimensions; an empty text for others."""
    shape = dset.shape
    if shape is None or len(shape) != 2 or dset.dtype.kind not in "biuf" or 0 in shape or dset.nbytes > PICTURE_BYTES:
        return ""
    # One step for both dimensions keeps the proportions; a narrow dimension has its own step.
    step = -(-max(shape) // PICTURE_PIXELS)
    steps = tuple(step if size >= NARROW_PIXELS * step else -(-size // PICTURE_PIXELS) for size in shape)
    values = np.asarray(dset[:: steps[0], :: steps[1]], dtype=np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    scaled = np.zeros(values.shape) if high == low else np.nan_to_num((values - low) / (high - low)).clip(0, 1)
    data = base64.b64encode(png((scaled * 255).astype(np.uint8))).decode()
    text = f"values from {low:.6g} to {high:.6g}"
    return f"<img alt='{text}' title='{text}' style='image-rendering:pixelated;min-width:96px' src='data:image/png;base64,{data}'/>"


def png(pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Return a grey picture as the bytes of a PNG file."""
    height, width = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = np.hstack([np.zeros((height, 1), np.uint8), pixels]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def group_html(group: Group) -> str:
    """Return the tree below a group: two levels, at most 50 members each."""
    if not group:
        return "<b>Closed HDF5 group</b>"
    name = html.escape(group.name or "(anonymous)")
    return f"<div><b>{name}</b> group ({count(group)}){members(group, 2)}</div>"


def count(group: Group) -> str:
    """Return the number of members of a group as a text."""
    return "1 member" if len(group) == 1 else f"{len(group)} members"


def members(group: Group, levels: int) -> str:
    """Return the members of a group as a list."""
    from ._dataset import Dataset
    from ._group import Group

    lines = []
    for at, name in enumerate(group):
        if at == MAX_MEMBERS:
            lines.append(f"<li>… {len(group) - MAX_MEMBERS} more</li>")
            break
        shown = html.escape(name)
        item = group.get(name)
        if isinstance(item, Group):
            text = f"{shown} ({count(item)})"
            if levels > 1:
                text = f"<details open><summary>{text}</summary>{members(item, levels - 1)}</details>"
            lines.append(f"<li>{text}</li>")
        elif isinstance(item, Dataset):
            lines.append(f"<li>{shown}: {html.escape(str(item.shape))} {html.escape(str(item.dtype))}</li>")
        else:
            lines.append(f"<li>{shown}</li>")
    return f"<ul>{''.join(lines)}</ul>"
