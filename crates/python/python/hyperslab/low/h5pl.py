"""The folders of libhdf5's filter plug-ins. This package has its filters inside and loads none."""

from __future__ import annotations

import os

_FOLDERS: list[bytes] = [os.fsencode(folder) for folder in os.environ.get("HDF5_PLUGIN_PATH", "").split(os.pathsep) if folder]


def size() -> int:
    """Return the number of folders."""
    return len(_FOLDERS)


def get(index: int) -> bytes:
    """Return a folder."""
    return _FOLDERS[index]


def append(search_path: bytes) -> None:
    """Add a folder at the end."""
    _FOLDERS.append(search_path)


def prepend(search_path: bytes) -> None:
    """Add a folder at the start."""
    _FOLDERS.insert(0, search_path)


def insert(search_path: bytes, index: int) -> None:
    """Add a folder before another one."""
    _FOLDERS.insert(index, search_path)


def replace(search_path: bytes, index: int) -> None:
    """Replace a folder."""
    _FOLDERS[index] = search_path


def remove(index: int) -> None:
    """Remove a folder."""
    del _FOLDERS[index]
