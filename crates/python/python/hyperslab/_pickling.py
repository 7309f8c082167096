"""Handles that can be sent to other processes: files open for reading only, and what is in them."""

from __future__ import annotations

import os
from typing import Any


def _state(path: str) -> tuple[str, int, int]:
    status = os.stat(path)
    return (os.path.realpath(path), status.st_size, status.st_mtime_ns)


def reduce_object(obj: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return how to open an object in another process."""
    handle = obj._handle
    file = handle.file
    if file.writable or not os.path.exists(file.name):
        raise TypeError("h5py objects cannot be pickled (hyperslab pickles objects of files on disk that are open for reading only)")
    name = obj.name
    if name is None:
        raise TypeError("an object without a name cannot be pickled")
    return reopen, (*_state(file.name), type(obj).__name__, name)


def reopen(path: str, size: int, modified: int, kind: str, name: str) -> Any:
    """Open an object that was pickled. Objects of one file share it, and the last one closes it."""
    from ._file import File

    if _state(path) != (path, size, modified):
        raise OSError(f"the file has changed since its object was pickled: {path}")
    file = File(path, "r")
    return file if kind == "File" else file[name]
