"""Handles that can be sent to other processes: files open for reading only, and what is in them.

A pickle of a file at a URL has no credentials: the other process takes them from its environment.
"""

from __future__ import annotations

import os
from typing import Any

from ._access import recall_file


def _state(path: str) -> tuple[str, int, int]:
    status = os.stat(path)
    return (os.path.realpath(path), status.st_size, status.st_mtime_ns)


def reduce_object(obj: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return how to open an object in another process."""
    handle = obj._handle
    file = handle.file
    name = obj.name
    if name is None:
        raise TypeError("an object without a name cannot be pickled")
    kept = recall_file(file)
    if "remote" in kept:
        return reopen_url, (file.name, kept["remote"].version, kept["storage"], type(obj).__name__, name)
    if file.writable or file.driver == "url" or not os.path.exists(file.name):
        raise TypeError(
            "h5py objects cannot be pickled (hyperslab pickles objects of files on disk or at URLs that are open for reading only)"
        )
    return reopen, (*_state(file.name), type(obj).__name__, name)


def reopen(path: str, size: int, modified: int, kind: str, name: str) -> Any:
    """Open an object that was pickled. Objects of one file share it, and the last one closes it."""
    from ._file import File

    if _state(path) != (path, size, modified):
        raise OSError(f"the file has changed since its object was pickled: {path}")
    file = File(path, "r")
    return file if kind == "File" else file[name]


def reopen_url(url: str, version: str | None, storage: dict[str, Any], kind: str, name: str) -> Any:
    """Open an object of a file at a URL that was pickled."""
    from ._file import File

    file = File(url, "r", storage_options=storage)
    if recall_file(file._file)["remote"].version != version:
        file.close()
        raise OSError(f"the file has changed since its object was pickled: {url}")
    return file if kind == "File" else file[name]
