"""The options of new datasets."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._config import get_config
from ._datatype import datatype_handle
from ._dtypes import check_string_dtype
from ._strings import encode_fixed, stores_text, text_array

GZIP, SHUFFLE, FLETCHER32, SZIP, SCALEOFFSET, LZF = 1, 2, 3, 4, 6, 32000
DEFAULT_GZIP, DEFAULT_SZIP = 4, ("nn", 8)
SZIP_CODES = {"ec": 4, "nn": 32}
OPTIONS = {
    "chunks", "maxshape", "compression", "compression_opts", "shuffle", "fletcher32", "scaleoffset", "fillvalue",
    "fill_time", "track_times", "track_order", "external", "allow_unknown_filter", "rdcc_nslots", "rdcc_nbytes",
    "rdcc_w0", "efile_prefix", "virtual_prefix", "dcpl", "dapl", "sparse", "density", "filters", "compact",
}  # fmt: skip


_GUESS = {"as h5py": False}
CHUNK_BASE, CHUNK_MIN, CHUNK_MAX = 16 << 10, 8 << 10, 1 << 20


def guess_as_h5py(yes: bool) -> None:
    """Choose whether ``chunks=True`` gives the chunk shapes of h5py, which are smaller than the usual ones."""
    _GUESS["as h5py"] = yes


def h5py_chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the chunk shape that h5py chooses.

    The dimensions are halved in turns until a chunk is near a target, which grows with the dataset
    from 16 KiB at 1 MiB. A dimension of size 0 counts as 1024.
    """
    chunks = [size or 1024 for size in shape]

    def size() -> int:
        return math.prod(chunks) * itemsize

    target = CHUNK_BASE * 2.0 ** math.log10(max(size(), 1) / (1 << 20))
    target = min(max(target, CHUNK_MIN), CHUNK_MAX)
    axis = 0
    while math.prod(chunks) > 1:
        near = size() < target or abs(size() - target) / target < 0.5
        if near and size() < CHUNK_MAX:
            break
        chunks[axis % len(chunks)] = -(-chunks[axis % len(chunks)] // 2)
        axis += 1
    return tuple(chunks)


def as_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of integers."""
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)


def creation_options(shape: tuple[int, ...] | None, dt: np.dtype[Any], kwds: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the core for a new dataset with the keywords of ``create_dataset``."""
    unknown = set(kwds) - OPTIONS
    if unknown:
        raise TypeError(f"create_dataset() got unexpected keyword arguments {sorted(unknown)}")
    given = {name: value for name, value in kwds.items() if value is not None}
    options: dict[str, Any] = {}
    dcpl = given.pop("dcpl", None)
    if dcpl is not None:
        options.update(dcpl.dataset_options())
    given.pop("dapl", None)
    filters = filter_list(given, dt)
    special = {"chunks", "compression", "compression_opts", "fletcher32", "scaleoffset", "shuffle"} & {
        name for name, value in given.items() if value is not False
    }
    if shape == () or shape is None:
        if special or (shape is None and given.get("maxshape")):
            kind = "Empty" if shape is None else "Scalar"
            raise TypeError(f"{kind} datasets don't support chunk/filter options")
        if shape == () and given.get("maxshape"):
            raise TypeError("Scalar datasets don't support maxshape")
    else:
        layout(options, shape, given, bool(filters))
    if options.get("chunks") is True and _GUESS["as h5py"] and not given.get("sparse") and shape:
        options["chunks"] = h5py_chunks(shape, dt.itemsize)
    if filters:
        options["filters"] = filters
    if "filters" in given:
        options["filter_specs"] = given["filters"]
        if "chunks" not in options and not given.get("sparse"):
            options["chunks"] = True
    for name in ("sparse", "density", "compact", "efile_prefix", "virtual_prefix"):
        if name in given:
            options[name] = given[name]
    for name in ("efile_prefix", "virtual_prefix"):
        if name in options:
            options[name] = os.fsdecode(options[name])
    external(options, given)
    times(options, given)
    if "fillvalue" in given:
        options["fill"] = fill_value(given["fillvalue"], dt)
    return options


def layout(options: dict[str, Any], shape: tuple[int, ...], given: dict[str, Any], filtered: bool) -> None:
    """Check and set the chunk shape and the maximum shape."""
    chunks, maxshape = given.get("chunks"), given.get("maxshape")
    if maxshape is True:
        maxshape = (None,) * len(shape)
    if isinstance(maxshape, (int, np.integer)):
        maxshape = (int(maxshape),)
    if maxshape is not None:
        maxshape = tuple(None if n is None else int(n) for n in maxshape)
        if len(maxshape) != len(shape):
            raise ValueError('"maxshape" must have same rank as dataset shape')
        if any(limit is not None and size > limit for size, limit in zip(shape, maxshape, strict=True)):
            raise ValueError("maximum dimensions are smaller than the shape")
        options["maxshape"] = maxshape
    if isinstance(chunks, (int, np.integer)) and not isinstance(chunks, bool):
        chunks = (int(chunks),)
    needs_chunks = filtered or (maxshape is not None and not given.get("external"))
    if chunks is False:
        if needs_chunks:
            raise ValueError("Chunked format required for given storage options")
        return
    if chunks is None:
        if needs_chunks and not given.get("sparse"):
            options["chunks"] = True
        return
    if chunks is True:
        options["chunks"] = True
        return
    chunks = tuple(int(n) for n in chunks)
    if len(chunks) != len(shape):
        raise ValueError('"chunks" must have same rank as dataset shape')
    if any(n < 1 for n in chunks):
        raise ValueError("All chunk dimensions must be positive")
    limits: tuple[int | None, ...] = shape
    if maxshape is not None:
        limits = tuple(None if m is None else max(m, n) for m, n in zip(maxshape, shape, strict=True))
    if any(limit is not None and chunk > limit for chunk, limit in zip(chunks, limits, strict=True)):
        raise ValueError(
            "Chunk shape must not be greater than data shape in any dimension. "
            f"{chunks} is not compatible with {shape}"
        )
    options["chunks"] = chunks


def filter_list(given: dict[str, Any], dt: np.dtype[Any]) -> list[tuple[int, tuple[int, ...], bool, str | None]]:
    """Return the filters that the keywords of h5py request, in their order."""
    compression, opts = given.get("compression"), given.get("compression_opts")
    scaleoffset, fletcher32, shuffle = given.get("scaleoffset"), given.get("fletcher32"), given.get("shuffle")
    filters: list[tuple[int, tuple[int, ...], bool, str | None]] = []
    if scaleoffset is not None and scaleoffset is not False:
        filters.append(scale_offset(scaleoffset, fletcher32, dt))
    if shuffle:
        filters.append((SHUFFLE, (), True, None))
    found = compression_filter(compression, opts, given)
    if found is not None:
        filters.append(found)
    if fletcher32:
        filters.append((FLETCHER32, (), False, None))
    return filters


def scale_offset(value: Any, fletcher32: Any, dt: np.dtype[Any]) -> tuple[int, tuple[int, ...], bool, str | None]:
    """Return the scale-offset filter for a number of digits or bits."""
    if fletcher32:
        raise ValueError("fletcher32 cannot be used with potentially lossy scale/offset filter")
    if value is True:
        if dt.kind == "f":
            raise ValueError("integer must be provided for floating point types")
        value = 0
    if value < 0:
        raise ValueError("scale factor must be >= 0")
    if dt.kind == "f":
        return (SCALEOFFSET, (0, int(value)), False, None)
    if dt.kind in "ui":
        return (SCALEOFFSET, (2, int(value)), False, None)
    raise TypeError("scale/offset filter only supported for integer and floating-point types")


def compression_filter(compression: Any, opts: Any, given: dict[str, Any]) -> tuple[int, tuple[int, ...], bool, str | None] | None:
    """Return the filter of the keywords ``compression`` and ``compression_opts``."""
    if compression is None or compression is False:
        if opts is not None:
            raise TypeError("Compression method must be specified")
        return None
    if isinstance(compression, Mapping):  # the filters of hdf5plugin
        opts = compression.get("compression_opts", opts)
        compression = compression["compression"]
    if compression is True:
        compression = "gzip"
    if hasattr(compression, "filter_id"):
        opts = compression.filter_options
        compression = compression.filter_id
    if isinstance(compression, (int, np.integer)) and 0 <= compression < 10 and opts is None:
        compression, opts = "gzip", int(compression)
    if isinstance(compression, bytes):
        compression = compression.decode()
    if compression == "gzip" or compression == GZIP:
        return gzip(opts)
    if compression == "lzf" or compression == LZF:
        if opts is not None:
            raise ValueError("LZF compression filter accepts no options")
        return (LZF, (), True, None)
    if compression == "szip" or compression == SZIP:
        return szip(opts)
    if isinstance(compression, (int, np.integer)):
        if not given.get("allow_unknown_filter") and int(compression) not in core.filters_available():
            if compression < 0 or compression > 65535:
                raise ValueError(f"Invalid filter number: {compression}")
            raise ValueError(f"Unknown compression filter number: {compression}")
        values = () if opts is None else tuple(int(value) for value in opts)
        return (int(compression), values, bool(given.get("allow_unknown_filter")), None)
    raise ValueError(f'Compression filter "{compression}" is unavailable')


def gzip(opts: Any) -> tuple[int, tuple[int, ...], bool, str | None]:
    """Return the gzip filter with a level."""
    level = DEFAULT_GZIP if opts is None else opts[0] if isinstance(opts, tuple) and len(opts) == 1 else opts
    if level not in range(10):
        raise ValueError(f"GZIP setting must be an integer from 0-9, not {opts!r}")
    return (GZIP, (int(level),), True, None)


def szip(opts: Any) -> tuple[int, tuple[int, ...], bool, str | None]:
    """Return the szip filter with a coding and the pixels of a block."""
    opts = DEFAULT_SZIP if opts is None else opts
    text = "SZIP options must be a 2-tuple ('ec'|'nn', even integer 0-32)"
    try:
        coding, pixels = opts
    except (TypeError, ValueError):
        raise TypeError(text) from None
    if coding not in SZIP_CODES:
        raise ValueError(text)
    if not (0 < pixels <= 32 and pixels % 2 == 0):
        raise ValueError(text)
    return (SZIP, (SZIP_CODES[coding], int(pixels)), True, None)


def external(options: dict[str, Any], given: dict[str, Any]) -> None:
    """Set the external raw files."""
    files = given.get("external")
    if not files:
        return
    if given.get("chunks"):
        raise ValueError("external storage is contiguous: no chunks")
    import os

    if isinstance(files, (str, bytes, os.PathLike)):
        files = [(files, 0, 2**64 - 1)]
    entries = []
    for entry in files:
        if isinstance(entry, (str, bytes, int)):
            raise TypeError(f"external should be a list of (name, offset, size) tuples, not {entry!r}")
        name, offset, size = entry
        try:
            size = None if size in (2**64 - 1, None) else int(size)
            entries.append((os.fsdecode(name), int(offset), size))
        except (TypeError, ValueError):
            raise TypeError(f"external should be a list of (name, offset, size) tuples, not {entry!r}") from None
    options["external"] = entries


def times(options: dict[str, Any], given: dict[str, Any]) -> None:
    """Set what the object header tracks, and the time of fill values."""
    if given.get("track_times") not in (None, True, False):
        raise TypeError("track_times must be either True or False")
    options["track_times"] = bool(given.get("track_times", False))
    options["track_order"] = bool(given.get("track_order", get_config().track_order))
    fill_time = given.get("fill_time")
    if fill_time is not None:
        if fill_time not in ("alloc", "never", "ifset"):
            raise ValueError("fill_time must be one of ('alloc', 'never', 'ifset')")
        options["fill_time"] = fill_time


def fill_value(value: Any, dt: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a fill value as an array of one element."""
    if stores_text(dt):
        return text_array(value, dt).reshape(1)
    if check_string_dtype(dt) is not None:
        return encode_fixed(value, dt).astype(dt).reshape(1)
    if dt.names is not None and not isinstance(value, (np.void, np.ndarray, tuple)):
        raise ValueError(f"A fill value of a compound needs a value for each member, not {value!r}")
    if dt.subdtype is not None:
        holder = np.zeros(1, dtype=[("value", dt)])
        holder["value"] = value
        return holder["value"].reshape(-1)
    return np.asarray(value, dtype=dt if getattr(value, "dtype", None) is None else None).astype(dt).reshape(1)


def stored_type(dt: Any) -> Any:
    """Return the handle or the datatype for a dtype or a committed datatype."""
    handle = datatype_handle(dt)
    return core.Type.of(np.dtype(dt)) if handle is None else handle
