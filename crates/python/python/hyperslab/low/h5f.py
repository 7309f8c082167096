"""Files."""

from __future__ import annotations

import gc
import os
from typing import Any, NamedTuple

from .. import _hyperslab as core
from .. import _access
from ._objects import LinkedID
from .h5ac import CacheConfig
from .h5p import PropFAID, PropFCID

ACC_RDONLY, ACC_RDWR, ACC_TRUNC, ACC_EXCL, ACC_SWMR_WRITE, ACC_SWMR_READ = 0, 1, 2, 4, 32, 64
SCOPE_LOCAL, SCOPE_GLOBAL = 0, 1
CLOSE_DEFAULT, CLOSE_WEAK, CLOSE_SEMI, CLOSE_STRONG = 0, 1, 2, 3
OBJ_FILE, OBJ_DATASET, OBJ_GROUP, OBJ_DATATYPE, OBJ_ATTR = 1, 2, 4, 8, 16
OBJ_ALL, OBJ_LOCAL = 31, 32
UNLIMITED = 2**64 - 1
LIBVER_EARLIEST, LIBVER_V18, LIBVER_V110, LIBVER_V112, LIBVER_V114, LIBVER_V200 = range(6)
LIBVER_LATEST = LIBVER_V200
FILE_IMAGE_OPEN_RW = 1
FSPACE_STRATEGY_FSM_AGGR, FSPACE_STRATEGY_PAGE, FSPACE_STRATEGY_AGGR, FSPACE_STRATEGY_NONE = range(4)


class PageStats(NamedTuple):
    """Counts of a page buffer, for metadata and raw data."""

    meta: int
    raw: int


class PageBufStats(NamedTuple):
    """Counts of a page buffer."""

    accesses: PageStats
    hits: PageStats
    misses: PageStats
    evictions: PageStats
    bypasses: PageStats


class FileID(LinkedID):
    """A file."""

    def __init__(self, file: core.File, root: core.Group) -> None:
        super().__init__(root)
        self._file = file
        self._mdc = CacheConfig()

    def __bool__(self) -> bool:
        return bool(self._file.is_open)

    @property
    def name(self) -> bytes:
        """The name of the file."""
        return os.fsencode(self._file.name)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    _close_open_objects = _close = close

    def reopen(self) -> FileID:
        """Return another identifier of the file."""
        return FileID(self._file, self._handle)

    def get_filesize(self) -> int:
        """Return the size of the file in bytes."""
        return int(self._file.info()["length"])

    def get_intent(self) -> int:
        """Return the flags of the access."""
        if self._file.swmr:
            return ACC_RDWR | ACC_SWMR_WRITE if self._file.writable else ACC_RDONLY | ACC_SWMR_READ
        return ACC_RDWR if self._file.writable else ACC_RDONLY

    def get_create_plist(self) -> PropFCID:
        """Return the options with which the file was created."""
        return PropFCID.of_file(self._file)

    def get_access_plist(self) -> PropFAID:
        """Return the options with which the file was opened."""
        return PropFAID.of_file(self._file)

    def get_freespace(self) -> int:
        """Return 0: this package does not count free bytes here."""
        return 0

    def get_file_image(self) -> bytes:
        """Return the bytes of the file."""
        return self._file.image()

    def get_vfd_handle(self, fapl: Any = None) -> int:
        """Return a descriptor of the file that the system can synchronize; a number for files in memory."""
        if self._file.driver == "core" or not os.path.exists(self._file.name):
            return id(self._file)
        descriptor = os.open(self._file.name, os.O_RDONLY)
        _DESCRIPTORS.append(descriptor)
        return descriptor

    def start_swmr_write(self) -> None:
        """Allow readers while the file is written."""
        self._file.start_swmr_write()

    def get_mdc_hit_rate(self) -> float:
        """Return 0: this package has no statistics of libhdf5's metadata cache."""
        return 0.0

    def get_mdc_size(self) -> tuple[int, int, int, int]:
        """Return maximum size, least clean size, size and number of entries of the metadata cache."""
        return self._mdc.max_size, self._mdc.min_size, 0, 0

    def reset_mdc_hit_rate_stats(self) -> None:
        """Set the statistics of the metadata cache to 0."""

    def get_mdc_config(self) -> CacheConfig:
        """Return the configuration of the metadata cache."""
        return self._mdc

    def set_mdc_config(self, config: CacheConfig) -> None:
        """Keep a configuration of the metadata cache."""
        self._mdc = config

    def get_page_buffering_stats(self) -> PageBufStats:
        """Return counts of the page buffer: zeros."""
        nothing = PageStats(0, 0)
        return PageBufStats(nothing, nothing, nothing, nothing, nothing)

    def reset_page_buffering_stats(self) -> None:
        """Set the counts of the page buffer to 0."""


_DESCRIPTORS: list[int] = []


def _identifier(file: core.File) -> FileID:
    return FileID(file, file.root)


def _opened(name: bytes | str, mode: Any, fapl: PropFAID | None, options: dict[str, Any]) -> FileID:
    if fapl is not None:
        options.update(fapl.file_options())
        image = fapl.values.get("image")
        if image is not None:
            return _identifier(core.File.open_image(image, "r+" if mode == "r+" else "r", {}))
    file = core.File.open(os.fsdecode(name), mode, options)  # type: ignore[arg-type]
    if fapl is not None:
        _access.remember_file(file, fapl.values)
    return _identifier(file)


def open(name: bytes | str, flags: int = ACC_RDWR, fapl: PropFAID | None = None) -> FileID:
    """Open a file."""
    options: dict[str, Any] = {"swmr": True} if flags & ACC_SWMR_READ else {}
    return _opened(name, "r+" if flags & ACC_RDWR else "r", fapl, options)


def create(name: bytes | str, flags: int = ACC_TRUNC, fcpl: PropFCID | None = None, fapl: PropFAID | None = None) -> FileID:
    """Create a file."""
    options: dict[str, Any] = {}
    if fcpl is not None:
        names = {"user_block": "userblock_size", "fs_strategy": "fs_strategy", "fs_persist": "fs_persist",
                 "fs_threshold": "fs_threshold", "fs_page_size": "fs_page_size"}  # fmt: skip
        options.update({names[key]: value for key, value in fcpl.values.items() if key in names})
        options["track_order"] = bool(fcpl.values.get("link_creation_order"))
    return _opened(name, "x" if flags & ACC_EXCL else "w", fapl, options)


def open_file_image(image: bytes, flags: int = 0) -> FileID:
    """Open the bytes of a file."""
    return _identifier(core.File.open_image(bytes(image), "r+" if flags & FILE_IMAGE_OPEN_RW else "r", {}))


def flush(obj: Any, scope: int = SCOPE_LOCAL) -> None:
    """Write all dirty data of the file of an object."""
    obj._handle.file.flush()


def is_hdf5(name: bytes | str) -> bool:
    """Return True for the name of an HDF5 file."""
    return core.is_hdf5(name)


def get_name(obj: Any) -> bytes:
    """Return the name of the file of an object."""
    return os.fsencode(obj._handle.file.name)


def get_obj_ids(where: Any = OBJ_ALL, types: int = OBJ_ALL) -> list[Any]:
    """Return the identifiers of the objects that the program holds."""
    from .._base import HLObject
    from .._dataset import Dataset
    from .._datatype import Datatype
    from .._file import File
    from .._group import Group

    found = []
    for item in gc.get_objects():
        if not isinstance(item, HLObject) or not item:
            continue
        number = OBJ_FILE if isinstance(item, File) else OBJ_GROUP if isinstance(item, Group) else (
            OBJ_DATASET if isinstance(item, Dataset) else OBJ_DATATYPE if isinstance(item, Datatype) else 0
        )
        inside = where == OBJ_ALL or item._handle.file.identity == where._handle.file.identity
        if number & types and inside:
            found.append(item.id)
    return found


def get_obj_count(where: Any = OBJ_ALL, types: int = OBJ_ALL) -> int:
    """Return the number of objects that the program holds."""
    return len(get_obj_ids(where, types))
