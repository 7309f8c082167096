"""Datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._assign import assign
from ._base import HLObject, handle_of
from ._dtypes import check_string_dtype
from ._empty import Empty
from ._selections import ChunkIterator, MultiBlockSlice, with_blocks
from ._strings import stores_text
from ._views import AsStrView, AsTypeView, FieldsView, OuterIndex, encoding_of, subset

GZIP, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET, LZF = 1, 2, 3, 4, 5, 6, 32000
NAMES = {GZIP: "gzip", SHUFFLE: "shuffle", FLETCHER32: "fletcher32", SZIP: "szip", SCALEOFFSET: "scaleoffset", LZF: "lzf"}


class Dataset(HLObject):
    """An array in a file, read and written by NumPy's subscripts."""

    def __init__(self, bind: Any, *, readonly: bool = False) -> None:
        handle = handle_of(bind)
        if not isinstance(handle, core.Dataset):
            raise ValueError(f"{bind!r} is not a DatasetID")
        super().__init__(handle)
        self._readonly = readonly

    # ------------------------------------------------------------ elements

    def __getitem__(self, args: Any, new_dtype: Any = None) -> Any:
        if new_dtype is None:
            try:
                return self._handle.get(args)
            except (TypeError, ValueError):
                if not self._handle.is_open or not self._is_special(args):
                    raise
        return self._get_special(args, new_dtype)

    def _is_special(self, args: Any) -> bool:
        """Return whether a subscript needs more than ``Dataset.get`` of the core."""
        if self._handle.shape is None:
            return True
        items = args if isinstance(args, tuple) else (args,)
        return any(isinstance(item, (str, bytes, core.RegionReference, MultiBlockSlice, core.Selection)) for item in items)

    def _split(self, args: Any) -> tuple[list[str], tuple[Any, ...]]:
        """Return the names of members and the other items of a subscript."""
        items = args if isinstance(args, tuple) else (args,)
        names = [item.decode() if isinstance(item, bytes) else item for item in items if isinstance(item, (str, bytes))]
        return names, tuple(item for item in items if not isinstance(item, (str, bytes)))

    def _selection(self, args: tuple[Any, ...]) -> core.Selection:
        if len(args) == 1 and isinstance(args[0], core.Selection):
            return args[0]
        if len(args) == 1 and isinstance(args[0], core.RegionReference):
            return self._handle.file.root.region(args[0])  # type: ignore[no-any-return]
        if any(isinstance(item, MultiBlockSlice) for item in args):
            return with_blocks(args, self.shape)
        return core.Selection.parse(args, self.shape)

    def _get_special(self, args: Any, new_dtype: Any) -> Any:
        if self.shape is None:
            if args in ((), Ellipsis, (Ellipsis,)):
                return Empty(self.dtype)
            raise ValueError("Empty datasets cannot be sliced")
        names, rest = self._split(args)
        dt = self.dtype if new_dtype is None else np.dtype(new_dtype)
        if names:
            dt = subset(dt, names)
        selection = self._selection(rest)
        if self.shape == () and rest and isinstance(rest[0], core.RegionReference):
            return Empty(self.dtype) if selection.count == 0 else self[()]
        if selection.kind == "none":
            array = np.zeros(selection.result_shape, dtype=dt)
        else:
            array = self._handle.read(selection, dt)
        if len(names) == 1:
            array = array[names[0]]
        if isinstance(array, np.ndarray) and array.shape == () and not (self.shape == () and Ellipsis in rest):
            return array[()]
        return array

    @property
    def _fast_reader(self) -> FastReader:
        return FastReader(self)

    def __setitem__(self, args: Any, val: Any) -> None:
        assign(self, args, val)

    def read_direct(self, dest: np.ndarray[Any, Any], source_sel: Any = None, dest_sel: Any = None) -> None:
        """Read elements into an existing array, or into the part ``dest_sel`` of it."""
        if self.shape is None:
            raise TypeError("Empty datasets have no numpy representation")
        source = self._selection((Ellipsis,) if source_sel is None else _items(source_sel))
        part = core.Selection.all(dest.shape) if dest_sel is None else core.Selection.parse(dest_sel, dest.shape)
        if not dest.flags.c_contiguous or not dest.flags.writeable:
            raise TypeError("Array must be C-contiguous and writeable")
        if source.count == part.count == 0 and source_sel is dest_sel is None and dest.shape != self.shape:
            raise TypeError(f"Can't broadcast {self.shape} -> {dest.shape}")
        if source.count != part.count and source.count == 1:
            dest[dest_sel if dest_sel is not None else ...] = self._handle.read(source, dest.dtype)
            return
        self._handle.read_into(source, dest, part)

    def write_direct(self, source: np.ndarray[Any, Any], source_sel: Any = None, dest_sel: Any = None) -> None:
        """Write an array, or the part ``source_sel`` of it, to the elements ``dest_sel``."""
        if self.shape is None:
            raise TypeError("Empty datasets cannot be written to")
        if not source.flags.c_contiguous:
            raise TypeError("Array must be C-contiguous")
        target = self._selection((Ellipsis,) if dest_sel is None else _items(dest_sel))
        values = source if source_sel is None else source[source_sel]
        self._handle.write(target, np.ascontiguousarray(values))

    def __len__(self) -> int:
        return self.len()

    def len(self) -> int:
        """Return the size of the first dimension."""
        shape = self.shape
        if shape is None or len(shape) == 0:
            raise TypeError("Attempt to take len() of scalar dataset")
        return int(shape[0])

    def __iter__(self) -> Iterator[Any]:
        shape = self.shape
        if shape is None or len(shape) == 0:
            raise TypeError("Can't iterate over a scalar dataset")
        for at in range(shape[0]):
            yield self[at]

    def __array__(self, dtype: Any = None, copy: bool | None = True) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(f"{type(self).__name__}.__array__ received copy=False, but memory allocation cannot be avoided on read")
        shape = self.shape
        if shape is None:
            raise TypeError("Empty datasets have no numpy representation")
        array = self._handle.read(core.Selection.all(shape), self.dtype if dtype is None else np.dtype(dtype))
        return array  # type: ignore[no-any-return]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export compounds as a stream of Arrow record batches: ``polars.DataFrame(dataset)`` and ``pyarrow.table(dataset)`` work."""
        from .arrow import Stream

        return Stream(self).__arrow_c_stream__(requested_schema)

    # ------------------------------------------------------------ views

    def astype(self, dtype: Any) -> AsTypeView:
        """Return a view whose reads convert elements to ``dtype``."""
        return AsTypeView(self, dtype)

    def asstr(self, encoding: str | None = None, errors: str = "strict") -> AsStrView:
        """Return a view whose reads decode texts to ``str``."""
        return AsStrView(self, encoding_of(self, encoding), errors)

    def fields(self, names: Any, *, _prior_dtype: Any = None) -> FieldsView:
        """Return a view of one member or some members of a compound."""
        return FieldsView(self, _prior_dtype, names)

    @property
    def oindex(self) -> OuterIndex:
        """Subscripts whose index lists apply to one dimension each, in any order."""
        return OuterIndex(self, "oindex")

    @property
    def vindex(self) -> OuterIndex:
        """Subscripts whose index lists are broadcast together, as in NumPy."""
        return OuterIndex(self, "vindex")

    def view(self) -> np.ndarray[Any, Any]:
        """Return a read-only array over the bytes of the file, without a copy.

        The dataset must be contiguous, and the file open for reading only with ``mmap=True`` or
        in memory. The array keeps the file open.
        """
        dt = self.dtype
        if dt.hasobject:
            raise TypeError("a view needs elements without variable-length data")
        return np.frombuffer(self._handle.view(), dtype=dt).reshape(self.shape)

    # ------------------------------------------------------------ properties

    @property
    def shape(self) -> Any:
        """The shape; None for a dataset without elements."""
        return self._handle.shape

    @shape.setter
    def shape(self, shape: tuple[int, ...]) -> None:
        self.resize(shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the elements."""
        return self._handle.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape or ())

    @property
    def size(self) -> int | None:
        """The number of elements; None for a dataset without elements."""
        shape = self.shape
        if shape is None:
            return None
        product = 1
        for length in shape:
            product *= length
        return product

    @property
    def nbytes(self) -> int:
        """The size of all elements in memory, in bytes."""
        return 0 if self.size is None else self.size * self.dtype.itemsize

    @property
    def maxshape(self) -> Any:
        """The largest shape to which the dataset can be resized; None for unlimited dimensions."""
        return self._handle.maxshape

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The chunk shape; None if the layout is not chunked."""
        return self._handle.chunks  # type: ignore[no-any-return]

    def _filter(self, number: int) -> tuple[int, ...] | None:
        return next((values for found, _, values, _ in self._handle.filters if found == number), None)

    @property
    def compression(self) -> str | None:
        """The name of the compression filter: "gzip", "lzf", "szip", or "unknown" for others; None without one."""
        for number, name in ((GZIP, "gzip"), (LZF, "lzf"), (SZIP, "szip")):
            if self._filter(number) is not None:
                return name
        return "unknown" if any(number not in NAMES and number != NBIT for number in self.filter_ids) else None

    @property
    def compression_opts(self) -> Any:
        """The options of the compression filter, such as the level of gzip."""
        level = self._filter(GZIP)
        if level is not None:
            return level[0]
        values = self._filter(SZIP)
        if values is not None:
            return ("ec" if values[0] & 4 else "nn", values[1])
        return None

    @property
    def shuffle(self) -> bool:
        """Whether the shuffle filter is used."""
        return self._filter(SHUFFLE) is not None

    @property
    def fletcher32(self) -> bool:
        """Whether chunks have checksums."""
        return self._filter(FLETCHER32) is not None

    @property
    def scaleoffset(self) -> int | None:
        """The bits or digits of the scale-offset filter; None without the filter."""
        values = self._filter(SCALEOFFSET)
        return None if values is None else values[1]

    @property
    def filter_ids(self) -> tuple[int, ...]:
        """The numbers of the filters."""
        return tuple(number for number, *_ in self._handle.filters)

    @property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the filters."""
        return tuple(NAMES.get(number) or name or str(number) for number, _, _, name in self._handle.filters)

    @property
    def _filters(self) -> dict[str, Any]:
        filters: dict[str, Any] = {}
        for number, _, values, _ in self._handle.filters:
            filters[NAMES.get(number, str(number))] = values[0] if number == GZIP else values or None
        return filters

    @property
    def external(self) -> list[tuple[str, int, int]] | None:
        """Name, offset and size of each external raw file; None without external files."""
        files = self._handle.external
        unlimited = 2**64 - 1
        return [(name, offset, unlimited if size is None else size) for name, offset, size in files] or None

    @property
    def fillvalue(self) -> Any:
        """The value of elements that were never written."""
        fill = self._handle.fill
        if fill is None:
            return b"" if stores_text(self.dtype) else np.zeros((), dtype=self.dtype)[()]
        return fill[()]

    @property
    def is_virtual(self) -> bool:
        """Whether the elements lie in other datasets."""
        return bool(self._handle.layout == "virtual")

    def virtual_sources(self) -> list[Any]:
        """Return the mappings of a virtual dataset."""
        from ._virtual import VDSmap

        if not self.is_virtual:
            raise RuntimeError("Not a virtual dataset")
        from .low.h5s import SpaceID

        maps = self._handle.virtual_sources
        return [VDSmap(SpaceID.of(to), file, name, SpaceID.of(source)) for to, file, name, source in maps]

    @property
    def dims(self) -> Any:
        """The labels and scales of the dimensions."""
        from ._dimensions import DimensionManager

        return DimensionManager(self)

    @property
    def is_scale(self) -> bool:
        """Whether the dataset is a dimension scale."""
        return self._handle.scale_name() is not None

    def make_scale(self, name: str | bytes = "") -> None:
        """Make the dataset a dimension scale."""
        self._handle.make_scale(name.decode() if isinstance(name, bytes) else name)

    # ------------------------------------------------------------ changes

    def resize(self, size: Any, axis: int | None = None) -> None:
        """Change the shape, or the size of the dimension ``axis``."""
        if self.chunks is None:
            raise TypeError("Only chunked datasets can be resized")
        if axis is not None:
            if not 0 <= axis < self.ndim:
                raise ValueError(f"Invalid axis (0 to {self.ndim - 1} allowed)")
            shape = list(self.shape)
            try:
                shape[axis] = int(size)
            except TypeError:
                raise TypeError("Argument must be a single int if axis is specified") from None
            size = shape
        elif isinstance(size, (int, np.integer)):
            size = (size,)
        self._handle.resize(tuple(int(n) for n in size))

    def flush(self) -> None:
        """Write all dirty data of the file."""
        self._handle.flush()

    def refresh(self) -> None:
        """Read changes that a SWMR writer made."""
        self._handle.refresh()

    def iter_chunks(self, sel: Any = None) -> ChunkIterator:
        """Return an iterator over the chunks as tuples of slices."""
        return ChunkIterator(self, sel)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 dataset>"
        name = self.name
        shown = "(anonymous)" if name is None else f'"{name.rsplit("/", 1)[-1] or "/"}"'
        try:
            kind = self.dtype.str
        except TypeError:
            kind = "unknown"
        return f'<HDF5 dataset {shown}: shape {self.shape}, type "{kind}">'

    def _repr_html_(self) -> str:
        from ._html import dataset_html

        return dataset_html(self)

    @property
    def is_text(self) -> bool:
        """Whether the elements are strings."""
        return check_string_dtype(self.dtype) is not None


class FastReader:
    """The reader of subscripts that h5py's programs find at its datasets."""

    def __init__(self, dset: Dataset) -> None:
        self._handle = dset._handle

    def read(self, args: tuple[Any, ...]) -> Any:
        """Return the elements of a subscript."""
        return self._handle.get(args)


def _items(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)
