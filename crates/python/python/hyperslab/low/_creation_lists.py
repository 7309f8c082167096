"""The options of new datasets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import _hyperslab as core
from ._properties import PropOCID
from .h5s import SpaceID

_FILL_TIMES = ("alloc", "never", "ifset")
_ALLOC_TIMES = ("default", "early", "late", "incr")
_LAYOUTS = ("compact", "contiguous", "chunked", "virtual")
UNLIMITED = 2**64 - 1


class PropDCID(PropOCID):
    """Options of new datasets."""

    class_name = "DATASET_CREATE"

    @classmethod
    def of_dataset(cls, handle: core.Dataset) -> Self:
        """Return the options with which a dataset was created."""
        made = cls()
        values = made.values
        values["layout"] = handle.layout
        values["chunks"] = handle.chunks
        values["filters"] = [
            (number, tuple(options), bool(flags & 1), name) for number, flags, options, name in handle.filters
        ]
        values["fill"] = handle.fill
        values["fill_time"] = handle.fill_time
        values["alloc_time"] = handle.alloc_time
        values["external"] = list(handle.external)
        values["track_times"] = handle.track_times
        values["attr_creation_order"] = 3 if handle.attribute_order_tracked() else 0
        if handle.layout == "virtual":
            values["virtual_sources"] = list(handle.virtual_sources)
        return made

    def dataset_options(self, dtype: np.dtype[Any] | None = None) -> dict[str, Any]:
        """Return the options for the core. ``dtype`` is that of the dataset."""
        values = self.values
        options: dict[str, Any] = {
            name: values[name]
            for name in ("chunks", "filters", "fill_time", "alloc_time", "external", "track_times", "virtual_sources")
            if values.get(name)
        }
        fill = values.get("fill")
        if fill is not None:
            options["fill"] = np.asarray(fill if dtype is None else np.asarray(fill).astype(dtype)).reshape(1)
        if values.get("layout") == "compact":
            options["compact"] = True
        return options

    # ------------------------------------------------------------ layout

    def set_layout(self, layout_code: int) -> None:
        """Set the layout."""
        self.values["layout"] = _LAYOUTS[layout_code]

    def get_layout(self) -> int:
        """Return the number of the layout."""
        name = self.values.get("layout", "contiguous")
        return _LAYOUTS.index(name) if name in _LAYOUTS else 2

    def set_chunk(self, chunksize: tuple[int, ...]) -> None:
        """Set the chunk shape."""
        self.values.update(chunks=tuple(int(size) for size in chunksize), layout="chunked")

    def get_chunk(self) -> tuple[int, ...]:
        """Return the chunk shape."""
        found: tuple[int, ...] | None = self.values.get("chunks")
        if found is None:
            raise ValueError("The layout is not chunked")
        return found

    # ------------------------------------------------------------ fill values

    def set_fill_value(self, value: Any) -> None:
        """Set the fill value: an array of one element."""
        self.values["fill"] = np.asarray(value)

    def get_fill_value(self, value: Any) -> None:
        """Store the fill value in an array of one element."""
        fill = self.values.get("fill")
        value[...] = np.zeros((), value.dtype) if fill is None else np.asarray(fill).reshape(value.shape)

    def fill_value_defined(self) -> int:
        """Return a number that tells if there is a fill value."""
        return 1 if self.values.get("fill") is None else 2

    def set_fill_time(self, fill_time: int) -> None:
        """Set the time at which fill values are written."""
        self.values["fill_time"] = _FILL_TIMES[fill_time]

    def get_fill_time(self) -> int:
        """Return the time at which fill values are written."""
        return _FILL_TIMES.index(self.values.get("fill_time", "ifset"))

    def set_alloc_time(self, alloc_time: int) -> None:
        """Set the time at which storage is allocated."""
        self.values["alloc_time"] = _ALLOC_TIMES[alloc_time]

    def get_alloc_time(self) -> int:
        """Return the time at which storage is allocated."""
        return _ALLOC_TIMES.index(self.values.get("alloc_time", "default"))

    # ------------------------------------------------------------ filters

    def _filters(self) -> list[tuple[int, tuple[int, ...], bool, str | None]]:
        found: list[tuple[int, tuple[int, ...], bool, str | None]] = self.values.setdefault("filters", [])
        return found

    def set_filter(self, filter_code: int, flags: int = 0, values: tuple[int, ...] | None = None) -> None:
        """Add a filter."""
        self._filters().append((filter_code, tuple(values or ()), bool(flags & 1), None))

    def set_deflate(self, level: int = 5) -> None:
        """Add the filter gzip."""
        self.set_filter(1, 1, (level,))

    def set_shuffle(self) -> None:
        """Add the filter shuffle."""
        self.set_filter(2, 1)

    def set_fletcher32(self) -> None:
        """Add the filter of checksums."""
        self.set_filter(3)

    def set_szip(self, options: int, pixels: int) -> None:
        """Add the filter szip."""
        self.set_filter(4, 1, (options, pixels))

    def set_scaleoffset(self, scale_type: int, scale_factor: int) -> None:
        """Add the filter scale-offset."""
        self.set_filter(6, 1, (scale_type, scale_factor))

    def get_nfilters(self) -> int:
        """Return the number of filters."""
        return len(self._filters())

    def get_filter(self, filter_idx: int) -> tuple[int, int, tuple[int, ...], bytes]:
        """Return number, flags, values and name of a filter by its position."""
        number, values, optional, name = self._filters()[filter_idx]
        return number, int(optional), values, (name or "").encode()

    def get_filter_by_id(self, filter_code: int) -> tuple[int, tuple[int, ...], bytes] | None:
        """Return flags, values and name of a filter by its number."""
        for number, values, optional, name in self._filters():
            if number == filter_code:
                return int(optional), values, (name or "").encode()
        return None

    def has_filter(self, filter_code: int) -> bool:
        """Return True if a filter is used."""
        return any(number == filter_code for number, *_ in self._filters())

    def remove_filter(self, filter_class: int) -> None:
        """Remove a filter."""
        self.values["filters"] = [entry for entry in self._filters() if entry[0] != filter_class]

    def all_filters_avail(self) -> bool:
        """Return True if this build has all filters of the list."""
        available = core.filters_available()
        return all(number in available for number, *_ in self._filters())

    # ------------------------------------------------------------ external files and virtual sources

    def set_external(self, name: bytes | str, offset: int, size: int) -> None:
        """Add an external raw file."""
        label = name.decode() if isinstance(name, bytes) else name
        entry = (label, int(offset), None if size == UNLIMITED else int(size))
        self.values.setdefault("external", []).append(entry)

    def get_external_count(self) -> int:
        """Return the number of external raw files."""
        return len(self.values.get("external", ()))

    def get_external(self, idx: int = 0) -> tuple[bytes, int, int]:
        """Return name, offset and size of an external raw file."""
        name, offset, size = self.values["external"][idx]
        return name.encode(), offset, UNLIMITED if size is None else size

    def set_virtual(self, vspace: SpaceID, src_file: bytes | str, src_dset: bytes | str, src_space: SpaceID) -> None:
        """Add a source of a virtual dataset."""
        file = src_file.decode() if isinstance(src_file, bytes) else src_file
        name = src_dset.decode() if isinstance(src_dset, bytes) else src_dset
        self.values.setdefault("virtual_sources", []).append((vspace.selection, file, name, src_space.selection))
        self.values["layout"] = "virtual"

    def get_virtual_count(self) -> int:
        """Return the number of sources."""
        return len(self.values.get("virtual_sources", ()))

    def get_virtual_vspace(self, index: int) -> SpaceID:
        """Return the dataspace of the elements that a source gives."""
        return SpaceID.of(self.values["virtual_sources"][index][0])

    def get_virtual_filename(self, index: int) -> str:
        """Return the name of the file of a source."""
        return str(self.values["virtual_sources"][index][1])

    def get_virtual_dsetname(self, index: int) -> str:
        """Return the name of the dataset of a source."""
        return str(self.values["virtual_sources"][index][2])

    def get_virtual_srcspace(self, index: int) -> SpaceID:
        """Return the dataspace of the elements of a source."""
        return SpaceID.of(self.values["virtual_sources"][index][3])
