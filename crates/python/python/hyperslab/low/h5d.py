"""Datasets."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _hyperslab as core
from .. import _access
from ._objects import LinkedID
from ._type_ids import TypeID, type_id
from .h5p import PropDAID, PropDCID
from .h5s import ALL, SpaceID

COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL = 0, 1, 2, 3
ALLOC_TIME_DEFAULT, ALLOC_TIME_EARLY, ALLOC_TIME_LATE, ALLOC_TIME_INCR = 0, 1, 2, 3
SPACE_STATUS_NOT_ALLOCATED, SPACE_STATUS_PART_ALLOCATED, SPACE_STATUS_ALLOCATED = 0, 1, 2
FILL_TIME_ALLOC, FILL_TIME_NEVER, FILL_TIME_IFSET = 0, 1, 2
FILL_VALUE_UNDEFINED, FILL_VALUE_DEFAULT, FILL_VALUE_USER_DEFINED = 0, 1, 2
VDS_FIRST_MISSING, VDS_LAST_AVAILABLE = 0, 1


class StoreInfo(NamedTuple):
    """The place of a stored chunk."""

    chunk_offset: tuple[int, ...] | None
    filter_mask: int
    byte_offset: int | None
    size: int


class DatasetID(LinkedID):
    """A dataset."""

    _handle: core.Dataset

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements in memory."""
        return self._handle.dtype

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None for the null dataspace."""
        return self._handle.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._handle.shape or ())

    def get_type(self) -> TypeID:
        """Return the datatype."""
        committed = self._handle.committed
        return type_id(self._handle.type if committed is None else committed)

    def get_space(self) -> SpaceID:
        """Return the dataspace."""
        return SpaceID(self._handle.shape, self._handle.maxshape)

    def get_space_status(self) -> int:
        """Return a number that tells if storage is allocated."""
        return SPACE_STATUS_ALLOCATED if self._handle.storage_size else SPACE_STATUS_NOT_ALLOCATED

    def get_create_plist(self) -> PropDCID:
        """Return the options with which the dataset was created."""
        return PropDCID.of_dataset(self._handle)

    def get_access_plist(self) -> PropDAID:
        """Return the options with which the dataset was opened."""
        return PropDAID.of_dataset(self._handle)

    def get_offset(self) -> int | None:
        """Return the position of contiguous storage in the file."""
        return self._handle.offset

    def get_storage_size(self) -> int:
        """Return the size of the storage in bytes."""
        return self._handle.storage_size

    # ------------------------------------------------------------ elements

    def read(self, mspace: SpaceID, fspace: SpaceID, arr_obj: Any, mtype: TypeID | None = None, dxpl: Any = None) -> None:
        """Read selected elements into an array."""
        source = core.Selection.all(self._handle.shape or ()) if fspace is ALL else fspace.selection
        dtype = arr_obj.dtype if mtype is None else mtype.dtype
        values = self._handle.read(source, dtype)
        if mspace is ALL or mspace.get_select_type() == 3:
            arr_obj[...] = values.reshape(arr_obj.shape)
        else:
            arr_obj[tuple(mspace.selection.coordinates().T)] = values.reshape(-1)

    def write(self, mspace: SpaceID, fspace: SpaceID, arr_obj: Any, mtype: TypeID | None = None, dxpl: Any = None) -> None:
        """Write selected elements from an array."""
        target = core.Selection.all(self._handle.shape or ()) if fspace is ALL else fspace.selection
        values = np.asarray(arr_obj)
        if not (mspace is ALL or mspace.get_select_type() == 3):
            values = values[tuple(mspace.selection.coordinates().T)]
        own = self._handle.type
        if mtype is not None and mtype.type == own and values.dtype.itemsize == own.size and not values.dtype.hasobject:
            self._handle.write_stored(target, np.ascontiguousarray(values))
            return
        self._handle.write(target, np.ascontiguousarray(values))

    def set_extent(self, shape: tuple[int, ...]) -> None:
        """Change the shape."""
        self._handle.resize(tuple(shape))

    def extend(self, shape: tuple[int, ...]) -> None:
        """Make dimensions larger."""
        old = self._handle.shape or ()
        self._handle.resize(tuple(max(a, b) for a, b in zip(old, shape, strict=True)))

    def flush(self) -> None:
        """Write all dirty data of the file."""
        self._handle.flush()

    def refresh(self) -> None:
        """Read changes that a SWMR writer made."""
        self._handle.refresh()

    # ------------------------------------------------------------ chunks

    def get_num_chunks(self, space: SpaceID | None = None) -> int:
        """Return the number of stored chunks."""
        return self._handle.chunk_count()

    def get_chunk_info(self, index: int, space: SpaceID | None = None) -> StoreInfo:
        """Return the place of a chunk by its number."""
        found = self._handle.chunk_info(index) if index >= 0 else None
        if found is None:
            raise IndexError(f"Chunk number {index} out of range for (0-{self._handle.chunk_count() - 1})")
        return StoreInfo(*found)

    def get_chunk_info_by_coord(self, chunk_offset: tuple[int, ...]) -> StoreInfo:
        """Return the place of the chunk at coordinates."""
        found = self._handle.chunk_at(tuple(chunk_offset))
        return StoreInfo(tuple(chunk_offset), 0, None, 0) if found is None else StoreInfo(*found)

    def chunk_iter(self, func: Callable[[StoreInfo], Any]) -> Any:
        """Call a function with the place of each stored chunk until it returns a value."""
        for chunk in self._handle.chunk_list():
            result = func(StoreInfo(*chunk))
            if result is not None:
                return result
        return None

    def read_direct_chunk(self, offsets: tuple[int, ...], dxpl: Any = None, out: Any = None) -> tuple[int, Any]:
        """Return filter mask and bytes of the chunk at coordinates. ``out`` is a buffer for the bytes."""
        mask, data = self._handle.read_chunk(tuple(offsets))
        if out is None:
            return mask, data
        view = memoryview(out)
        if view.readonly:
            raise BufferError("The buffer is read-only")
        if not view.c_contiguous:
            raise ValueError("The buffer is not contiguous")
        if view.nbytes < len(data):
            raise ValueError(f"The buffer has {view.nbytes} bytes and the chunk {len(data)}")
        target = view.cast("B")
        target[: len(data)] = data
        return mask, target[: len(data)]

    def write_direct_chunk(self, offsets: tuple[int, ...], data: Any, filter_mask: int = 0, dxpl: Any = None) -> None:
        """Write the bytes of the chunk at coordinates."""
        self._handle.write_chunk(tuple(int(value) for value in offsets), data, filter_mask)


def create(
    loc: Any, name: bytes | str | None, tid: TypeID, space: SpaceID, dcpl: Any = None, lcpl: Any = None, dapl: Any = None
) -> DatasetID:
    """Create a dataset."""
    options = {} if dcpl is None else dcpl.dataset_options(tid.dtype)
    maxshape = space._maxshape
    if maxshape is not None and maxshape != space._shape:
        options["maxshape"] = maxshape
    if dapl is not None:
        given = dapl.access_options()
        options.update((name, os.fsdecode(given[name])) for name in ("efile_prefix", "virtual_prefix") if given.get(name))
    handle = loc._handle.create_dataset(name, tid._handle, space._shape, options)
    return DatasetID(handle)


def open(loc: Any, name: bytes | str, dapl: PropDAID | None = None) -> DatasetID:
    """Open a dataset."""
    handle = loc._handle.get(name)
    if not isinstance(handle, core.Dataset):
        raise TypeError(f"{name!r} is not a dataset")
    if dapl is not None:
        options = dapl.access_options()
        handle = _access.with_prefixes(handle, options)
        _access.remember(handle, options)
    return DatasetID(handle)
