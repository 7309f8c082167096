"""Files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _hyperslab as core
from ._access import recall_file, remember_file
from ._base import handle_of
from ._config import get_config
from ._drivers import driver_options
from ._group import Group
from ._remote import is_url, local_path, open_in_store, open_url, storage_of

LIBVER_NAMES = ("earliest", "v108", "v110", "v112", "v114", "v200", "latest")


class File(Group):
    """An open HDF5 file, which is also its root group."""

    def __init__(
        self, name: Any, mode: str | None = None, driver: str | None = None, libver: Any = None,
        userblock_size: int | None = None, swmr: bool = False, rdcc_nslots: int | None = None,
        rdcc_nbytes: int | None = None, rdcc_w0: float | None = None, track_order: bool | None = None,
        fs_strategy: str | None = None, fs_persist: bool = False, fs_threshold: int = 1, fs_page_size: int | None = None,
        page_buf_size: int | None = None, min_meta_keep: int = 0, min_raw_keep: int = 0, locking: Any = None,
        alignment_threshold: int = 1, alignment_interval: int = 1, meta_block_size: int | None = None,
        *, track_times: bool = False, durability: str | None = None, mmap: bool = False,
        storage_options: Mapping[str, Any] | None = None, store: Any = None, **kwds: Any,
    ) -> None:  # fmt: skip
        """Open or create a file.

        Modes: "r" (the default), "r+", "w" (truncate), "w-" or "x" (fail if the file exists), "a".
        ``name`` is a path, or a Python object with the methods of a binary file. ``durability`` is
        "full" (the default: a flush survives a power failure), "ordered" or "none".
        ``mmap=True`` maps a file that is read.

        A name such as ``s3://bucket/file.h5`` or ``https://host/file.h5`` is read by byte ranges; ``storage_options`` are
        settings of the store. ``store`` is a store of obstore or a file system of fsspec, in which ``name`` is a path.
        """
        handle = handle_of(name)
        if isinstance(handle, (core.File, core.Group)):
            self._open_handle(handle)
            return
        if mode is None:
            mode = get_config().default_file_mode
        if mode not in ("r", "r+", "w", "w-", "x", "a"):
            raise ValueError(f"Invalid mode; must be one of r, r+, w, w-, x, a, not {mode!r}")
        options: dict[str, Any] = {
            "driver": "mmap" if mmap else driver, "libver": versions(libver), "userblock_size": block(userblock_size),
            "swmr": swmr, "rdcc_nbytes": rdcc_nbytes, "page_buf_size": page_buf_size, "locking": locking_of(locking),
            "track_order": get_config().track_order if track_order is None else track_order,
            "alignment_threshold": alignment_threshold, "alignment_interval": alignment_interval,
            "meta_block_size": meta_block_size, "durability": durability,
        }  # fmt: skip
        options.update(space_options(mode, fs_strategy, fs_persist, fs_threshold, fs_page_size))
        options.update(driver_options(driver, kwds))
        if page_buf_size and mode in ("w", "w-", "x") and fs_strategy != "page":
            raise OSError("A page buffer needs a file with the file space strategy \"page\"")
        self._check_strategy(name, mode, fs_strategy)
        remote: dict[str, Any] = {}
        if store is not None:
            opened = open_in_store(os.fspath(name), store, mode, options)
        elif is_url(name) and local_path(name) is None:
            opened, remote = open_url(name, mode, options, storage_of(storage_options))
        else:
            opened = open_any(local_path(name) if is_url(name) else name, mode, driver, options)
        self._check_userblock(opened, mode, userblock_size)
        kept = {"rdcc_nslots": rdcc_nslots, "rdcc_w0": rdcc_w0, "min_meta_keep": min_meta_keep, "min_raw_keep": min_raw_keep}
        remember_file(opened, {**options, **kept, **remote})
        self._file = opened
        super().__init__(opened.root)

    def _open_handle(self, handle: Any) -> None:
        self._file = handle.file if isinstance(handle, core.Group) else handle
        super().__init__(self._file.root)

    @staticmethod
    def _check_strategy(name: Any, mode: str, strategy: str | None) -> None:
        """Check that a file space strategy is given for a new file only."""
        if strategy is not None and mode == "a" and not hasattr(name, "read") and os.path.exists(name):
            raise ValueError("Unable to set file space strategy of an existing file")

    @staticmethod
    def _check_userblock(opened: core.File, mode: str, size: int | None) -> None:
        """Check that an existing file has the requested user block."""
        if size and mode in ("r", "r+", "a") and opened.info()["user_block"] != size:
            opened.close()
            raise ValueError(f"Requested userblock size ({size}) does not match that of existing file")

    @classmethod
    def in_memory(cls, file_image: bytes | None = None, **kwargs: Any) -> File:
        """Create a file in memory, or open the bytes of a file."""
        kwargs.pop("block_size", None)
        if file_image is not None:
            return cls(core.File.open_image(bytes(file_image), "r+", {}))
        return cls("memory file", "w", driver="core", backing_store=False, **kwargs)

    # ------------------------------------------------------------ properties

    @property
    def id(self) -> Any:
        """The identifier of the file, with the low-level calls of h5py."""
        from .low.h5f import FileID

        return FileID(self._file, self._handle)

    @property
    def attrs(self) -> Any:
        """The attributes of the root group."""
        from ._attributes import AttributeManager

        return AttributeManager(self)

    @property
    def filename(self) -> str:
        """The name of the file."""
        self._file.writable  # noqa: B018 - raises for a closed file
        return self._file.name

    @property
    def mode(self) -> str:
        """The mode in which the file is open: "r" or "r+"."""
        return "r+" if self._file.writable else "r"

    @property
    def driver(self) -> str:
        """The name of the driver."""
        return self._file.driver

    @property
    def libver(self) -> tuple[str, str]:
        """The bounds of library versions."""
        return self._file.info()["libver"]  # type: ignore[no-any-return]

    @property
    def userblock_size(self) -> int:
        """The size of the user block in bytes."""
        return self._file.info()["user_block"]  # type: ignore[no-any-return]

    @property
    def meta_block_size(self) -> int:
        """The size of metadata blocks in bytes."""
        return self._file.info()["meta_block_size"]  # type: ignore[no-any-return]

    @property
    def swmr_mode(self) -> bool:
        """Whether the file is open for single-writer, multiple-readers access."""
        return self._file.swmr

    @swmr_mode.setter
    def swmr_mode(self, value: bool) -> None:
        if not value:
            raise ValueError("It is not possible to forcibly switch SWMR mode off.")
        self._file.start_swmr_write()

    # ------------------------------------------------------------ life

    def close(self) -> None:
        """Write all dirty data and close the file. Objects of the file become invalid."""
        self._file.close()

    def flush(self) -> None:
        """Write all dirty data to the file."""
        self._file.flush()

    def image(self) -> bytes:
        """Return the bytes of the whole file."""
        return self._file.image()

    def usage(self) -> dict[str, int] | None:
        """Return the counts of requests, bytes and rounds of a file at a URL; None for other files."""
        remote = recall_file(self._file).get("remote")
        return None if remote is None else remote.usage()

    def journal_outcome(self) -> str | None:
        """Return what was done with the journal of an earlier process; None without a journal."""
        return self._file.journal_outcome()

    def __bool__(self) -> bool:
        return self._file.is_open

    def __enter__(self) -> File:
        return self

    def __exit__(self, *args: object) -> None:
        if self:
            self.close()

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 file>"
        name = os.path.basename(self.filename) or self.filename
        return f'<HDF5 file "{name}" (mode {self.mode})>'


def block(size: int | None) -> int | None:
    """Check the size of a user block."""
    if size is None:
        return None
    try:
        size = int(size)
    except (TypeError, ValueError):
        raise ValueError("User block must be an integer") from None
    if size and (size < 512 or size & (size - 1)):
        raise ValueError("User block must be 512, 1024, 2048, … bytes (userblock size is non-zero and less than 512, or no power of 2)")
    return size


def locking_of(locking: Any) -> Any:
    """Check the value of ``locking``."""
    if locking in (None, True, False, "true", "false", "best-effort"):
        return {"true": True, "false": False}.get(locking, locking)
    raise ValueError(f"Unsupported locking value: {locking}")


def versions(libver: Any) -> tuple[str, str] | None:
    """Return the bounds of library versions; None for the default."""
    if libver is None:
        return None
    low, high = libver if isinstance(libver, (tuple, list)) else (libver, "latest")
    for name in (low, high):
        if name not in LIBVER_NAMES:
            raise ValueError(f"Invalid library version {name!r}: one of {', '.join(LIBVER_NAMES)} is needed")
    return low, high


def space_options(mode: str, strategy: str | None, persist: bool, threshold: int, page_size: int | None) -> dict[str, Any]:
    """Check and return the file space strategy of a new file."""
    if strategy is None:
        return {}
    if mode in ("r", "r+"):
        raise ValueError("unable to set file space strategy of an existing file")
    if strategy not in ("fsm", "page", "aggregate", "none"):
        raise ValueError("Invalid file space strategy type")
    return {"fs_strategy": strategy, "fs_persist": persist, "fs_threshold": threshold, "fs_page_size": page_size}


def open_any(name: Any, mode: str, driver: str | None, options: dict[str, Any]) -> core.File:
    """Open a path or a file object."""
    if driver == "fileobj" or (hasattr(name, "read") and hasattr(name, "seek")):
        if driver not in (None, "fileobj"):
            raise ValueError("Driver must be 'fileobj' for file-like object if specified.")
        options["driver"] = None
        if mode == "a":
            name.seek(0, 2)
            mode = "r+" if name.tell() else "w"
        return core.File.open_object(name, "x" if mode == "w-" else mode, options)  # type: ignore[arg-type]
    path = os.fspath(name)
    if mode == "a":
        try:
            return core.File.open(path, "r+", options)  # type: ignore[arg-type]
        except FileNotFoundError:
            mode = "x"
    return core.File.open(path, "x" if mode == "w-" else mode, options)  # type: ignore[arg-type]
