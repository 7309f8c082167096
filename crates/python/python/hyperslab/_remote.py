"""Files at URLs, and in stores of other packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from . import _hyperslab as core

SCHEMES = ("s3", "gs", "az", "http", "https", "file")

#: The number of requests of one store of another package at the same time.
PARALLEL = 16

#: Names of options of fsspec's file systems, with the names of this package.
ALIASES = {
    "anon": "anonymous", "key": "aws_access_key_id", "secret": "aws_secret_access_key", "token": "aws_session_token",
    "endpoint_url": "aws_endpoint", "region_name": "aws_region",
}  # fmt: skip

#: Options that are no credentials, and that pickles have.
SAFE_OPTIONS = (
    "cache", "parallel", "line", "first", "anonymous", "deadline", "retries", "aws_region", "aws_default_region",
    "aws_endpoint", "aws_virtual_hosted_style_request", "azure_storage_account_name",
)  # fmt: skip


def is_url(name: Any) -> bool:
    """Return whether a name is a URL of a store."""
    if not isinstance(name, str) or "://" not in name:
        return False
    return name.split("://", 1)[0].lower() in SCHEMES


def local_path(url: str) -> str | None:
    """Return the path of a ``file://`` URL; None for other URLs."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme.lower() == "file" else None


def storage_of(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return storage options with the names of this package."""
    storage: dict[str, Any] = {}
    for name, value in (options or {}).items():
        if name == "client_kwargs":
            storage.update(storage_of(value))
        elif value is not None:
            storage[ALIASES.get(name, name)] = value
    return storage


def safe_options(storage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the storage options that are no credentials."""
    return {name: value for name, value in storage.items() if name in SAFE_OPTIONS}


def open_url(url: str, mode: str, options: Mapping[str, Any], storage: Mapping[str, Any]) -> tuple[core.File, dict[str, Any]]:
    """Open a file at a URL for reading. Return also what is remembered of it."""
    if mode != "r":
        raise ValueError(f"a file at a URL is open for reading only, so the mode is 'r', not {mode!r}")
    if not hasattr(core.File, "open_url"):
        raise NotImplementedError("this build of hyperslab has no URLs (the feature cloud)")
    given = {name: value for name, value in options.items() if name in ("rdcc_nbytes", "page_buf_size")}
    file, remote = core.File.open_url(url, given, dict(storage))  # type: ignore[arg-type]
    return file, {"remote": remote, "storage": safe_options(storage)}


def open_in_store(path: str, store: Any, mode: str, options: Mapping[str, Any]) -> core.File:
    """Open a file in a store of obstore, or in a file system of fsspec, for reading."""
    if mode != "r":
        raise ValueError(f"a file in a store is open for reading only, so the mode is 'r', not {mode!r}")
    given = {name: value for name, value in options.items() if name in ("rdcc_nbytes", "page_buf_size")}
    return core.File.open_ranges(reader_of(path, store), given)  # type: ignore[arg-type]


def reader_of(path: str, store: Any) -> Any:
    """Return the reader of an object in a store."""
    if hasattr(store, "cat_ranges") and hasattr(store, "info"):
        return FsspecReader(path, store)
    if hasattr(store, "get") and hasattr(store, "head"):
        return ObstoreReader(path, store)
    raise TypeError(f"a store of obstore or a file system of fsspec is needed, not {type(store).__name__}")


class ObstoreReader:
    """An object in a store of obstore. All reads have the condition that it is the object that was opened."""

    def __init__(self, path: str, store: Any) -> None:
        """Ask for the size and the version of the object."""
        meta = store.head(path)
        self.name = f"store:{path}"
        self.path = path
        self.size = int(meta["size"])
        self._store = store
        self._tag = meta.get("e_tag")

    def ranges(self, starts: list[int], ends: list[int]) -> list[bytes]:
        """Read byte ranges."""
        if len(starts) == 1:
            return [self._range(starts[0], ends[0])]
        with ThreadPoolExecutor(min(PARALLEL, len(starts))) as pool:
            return list(pool.map(self._range, starts, ends))

    def _range(self, start: int, end: int) -> bytes:
        options: dict[str, Any] = {"range": (start, end)}
        if self._tag and not self._tag.startswith("W/"):
            options["if_match"] = self._tag
        result = self._store.get(self.path, options=options)
        if result.meta["size"] != self.size or result.meta.get("e_tag") != self._tag:
            raise OSError(f"{self.name} has changed since it was opened")
        return bytes(result.bytes())


class FsspecReader:
    """A file in a file system of fsspec."""

    def __init__(self, path: str, store: Any) -> None:
        """Ask for the size of the file."""
        self.name = f"store:{path}"
        self.path = store._strip_protocol(path)
        self._store = store
        info = store.info(self.path)
        if info.get("size") is None:
            raise OSError(f"{self.name}: the file system does not tell the size of the file")
        self.size = int(info["size"])

    def ranges(self, starts: list[int], ends: list[int]) -> list[bytes]:
        """Read byte ranges."""
        found = self._store.cat_ranges([self.path] * len(starts), starts, ends, on_error="raise")
        return [bytes(part) for part in found]


def location_of(name: Any) -> str:
    """Return the name of a file as an absolute path or a URL."""
    name = os.fspath(name)
    return str(name) if is_url(name) else os.path.abspath(os.path.expanduser(name))
