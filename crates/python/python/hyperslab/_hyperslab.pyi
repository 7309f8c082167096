"""The compiled core of the package: handles of open files and their objects.

The classes here are the ground on which the public classes stand. They are not part of the public
interface.
"""

from collections.abc import Callable
from typing import Any, Literal, Self, TypedDict, final, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

__all__ = [
    "AsyncFile", "Attribute", "Dataset", "ErrorInfo", "File", "Group", "Object", "Reference", "RegionReference", "Remote",
    "Selection", "Task", "Type", "__version__", "after_fork", "end", "filters_available", "is_hdf5", "open_files",
    "references", "serve", "set_progress", "set_strict", "without_credentials",
]  # fmt: skip

__version__: str

# ---------------------------------------------------------------- errors

@final
class ErrorInfo:
    """The details of an error: the attribute ``hyperslab`` of exceptions that this package raises."""

    kind: str  # "corrupt", "exists", "internal", "io", "limit", "locked", "misuse", "not found", "unsupported"
    structure: str | None
    address: int | None
    message: str

# ---------------------------------------------------------------- process

def end() -> None:
    """Close all open files, newest first, because Python ends. Calls of other threads are errors from now on."""

def after_fork() -> None:
    """Mark this process as a fork: inherited writable files refuse all access from now on."""

def set_progress(report: Any) -> Any:
    """Set the function that gets reports of reads and writes of this thread; return the function before."""

def set_strict(yes: bool) -> None:
    """Set whether subscripts that h5py refuses are errors: lists in another order than ascending, several
    lists, and negative steps."""

def open_files() -> list[int]:
    """Return the numbers of the open files: ``File.identity``."""

def is_hdf5(path: str | bytes) -> bool: ...
def filters_available() -> list[int]:
    """Return the identifiers of the filters of the build."""

# ---------------------------------------------------------------- datatypes

@final
class Type:
    """An HDF5 datatype."""

    @staticmethod
    def of(dtype: np.dtype[Any]) -> Type:
        """Return the datatype that stores elements of a NumPy dtype.

        The metadata of the dtype select datatypes that NumPy lacks, with the keys of h5py:
        ``vlen`` (str, bytes, or the dtype of the items), ``enum`` (dict of names and values),
        ``ref`` (``Reference`` or ``RegionReference``), ``h5py_encoding`` ("utf-8" or "ascii"),
        ``h5py_opaque`` (True).
        """
    @staticmethod
    def decode(data: bytes) -> Type: ...
    def encode(self) -> bytes: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of elements in memory; raises TypeError if NumPy has none."""
    @property
    def size(self) -> int: ...
    @property
    def memory_size(self) -> int:
        """The size in bytes that an element has for the functions of libhdf5: a variable-length string counts as a pointer."""
    def memory_offset(self, offset: int) -> int: ...
    @property
    def class_name(self) -> str:
        """One of integer, float, time, string, bitfield, opaque, compound, reference, enum, vlen, array, complex."""
    def describe(self) -> dict[str, Any]:
        """Return all properties of the datatype as a dict: ``class``, ``size``, and those of the class.

        integer: order ("<", ">"), signed, precision, offset. float: order, precision, offset, sign, exponent
        (position, size), mantissa (position, size), bias, norm. string and vlen string: variable, charset
        ("ascii", "utf-8"), padding ("null-terminated", "null-padded", "space-padded"). opaque: tag. compound:
        members (list of (name, offset, Type)). reference: kind ("object", "region", "attribute"). enum: base,
        members (list of (name, value)). vlen: base. array: base, dims. complex: base.
        """
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Reference:
    """A reference to an object."""

    def __bool__(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RegionReference:
    """A reference to a selection of elements of a dataset."""

    def __bool__(self) -> bool: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

# ---------------------------------------------------------------- selections

@final
class Selection:
    """A set of elements of an array of a given shape, and the shape of the array that a read returns."""

    @staticmethod
    def parse(args: Any, shape: tuple[int, ...]) -> Selection:
        """Return the selection of a subscript with the meaning of h5py: integers, slices with positive
        steps, ``...``, index lists and masks along one axis (ascending), and masks of the whole shape.
        Further: negative steps, and lists in any order."""
    @staticmethod
    def orthogonal(args: Any, shape: tuple[int, ...]) -> Selection:
        """As ``parse``, with index lists and masks along several axes, each for itself (NumPy's ``ix_``)."""
    @staticmethod
    def points(args: Any, shape: tuple[int, ...]) -> Selection:
        """As ``parse``, with index lists along several axes that are broadcast together (NumPy's indexing)."""
    @staticmethod
    def of_points(coordinates: npt.NDArray[np.uint64], shape: tuple[int, ...]) -> Selection:
        """Return a selection of single elements; one row of coordinates for each."""
    @staticmethod
    def hyperslab(start: Any, stride: Any, count: Any, block: Any, shape: tuple[int, ...]) -> Selection:
        """Return a regular hyperslab; ``None`` in ``count`` is unlimited."""
    @staticmethod
    def all(shape: tuple[int, ...]) -> Selection: ...
    @staticmethod
    def none(shape: tuple[int, ...]) -> Selection: ...
    def combine(self, operation: Literal["and", "or", "xor", "notb", "nota"], other: Selection) -> Selection: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the array that a read returns: dimensions with an integer index are absent."""
    @property
    def kept_shape(self) -> tuple[int, ...]:
        """The shape of the selection, with a dimension of 1 for each integer index."""
    @property
    def count(self) -> int: ...
    @property
    def kind(self) -> Literal["all", "none", "hyperslab", "points"]: ...
    @property
    def bounds(self) -> tuple[tuple[int, ...], tuple[int, ...]]: ...
    @property
    def regular(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int | None, ...], tuple[int, ...]] | None:
        """Start, stride, count and block of a regular hyperslab; None for other selections."""
    def blocks(self) -> npt.NDArray[np.uint64]:
        """Return start and last coordinates of the blocks of a hyperslab, as an array (blocks, 2, rank)."""
    def coordinates(self) -> npt.NDArray[np.uint64]:
        """Return the coordinates of all selected elements, in the order of a read, as an array (count, rank)."""
    def encode(self) -> bytes: ...
    @staticmethod
    def decode(data: bytes, shape: tuple[int, ...]) -> Selection: ...

# ---------------------------------------------------------------- files

@type_check_only
class FileOptions(TypedDict, total=False):
    driver: str | None  # None, "sec2", "stdio", "core", "family", "split", "mmap"
    backing_store: bool
    block_size: int
    memb_size: int
    meta_ext: str
    raw_ext: str
    libver: tuple[str, str] | None  # "earliest", "v108", "v110", "v112", "v114", "v200", "latest"
    userblock_size: int
    swmr: bool
    rdcc_nbytes: int | None
    track_order: bool
    track_times: bool
    fs_strategy: str | None  # "fsm", "page", "aggregate", "none"
    fs_persist: bool
    fs_threshold: int
    fs_page_size: int | None
    page_buf_size: int | None
    alignment_threshold: int
    alignment_interval: int
    meta_block_size: int | None
    locking: bool | Literal["best-effort"] | None
    durability: Literal["full", "ordered", "none"] | None
    efile_prefix: str | None

@final
class File:
    """An open file. Handles of its objects become invalid when the file is closed."""

    @staticmethod
    def open(path: str | bytes, mode: Literal["r", "r+", "w", "x"], options: FileOptions) -> File:
        """Open or create the file at ``path``. Files that this process has open already are shared, as in
        libhdf5: opening for writing a file that is open for reading only, or truncating an open file, raises
        OSError."""
    @staticmethod
    def open_image(data: bytes, mode: Literal["r", "r+"], options: FileOptions) -> File: ...
    @staticmethod
    def open_object(fileobj: Any, mode: Literal["r", "r+", "w", "x"], options: FileOptions) -> File:
        """Open a Python object with the methods of a binary file."""
    @staticmethod
    def open_ranges(reader: Any, options: FileOptions) -> File:
        """Open a Python object with the attributes ``name`` and ``size`` and the method ``ranges(starts, ends)``, which
        returns a list of bytes."""
    @staticmethod
    def open_url(url: str, options: FileOptions, storage: dict[str, Any]) -> tuple[File, Remote]:
        """Open the file at a URL for reading. Only in builds with the feature ``cloud``."""
    def close(self) -> None:
        """Write all dirty data and close the file. Closing a closed file does nothing."""
    def flush(self) -> None: ...
    def refresh(self) -> None: ...
    def start_swmr_write(self) -> None: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def writable(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def root(self) -> Group: ...
    @property
    def driver(self) -> str: ...
    @property
    def swmr(self) -> bool: ...
    @property
    def locking(self) -> str | None:
        """``"true"``, ``"false"``, ``"best-effort"``; ``None`` if no use of locks was requested."""
    @property
    def identity(self) -> int:
        """A number that is the same for all handles of one file."""
    def info(self) -> dict[str, Any]:
        """Return ``superblock_version``, ``user_block``, ``libver`` (low, high names), ``fs_strategy``,
        ``fs_persist``, ``fs_threshold``, ``fs_page_size``, ``length``, ``track_order``."""
    def image(self) -> bytes: ...
    def journal_outcome(self) -> str | None: ...
    def has_open_objects(self) -> int:
        """Return the number of live handles of objects of the file."""

# ---------------------------------------------------------------- files at URLs (the feature ``cloud``)

@final
class Remote:
    """The object at a URL that a file reads."""

    @property
    def version(self) -> str | None: ...
    def usage(self) -> dict[str, int]:
        """Return the counts ``requests``, ``bytes`` and ``rounds``."""

@final
class AsyncFile:
    """A file at a URL whose reads note missing bytes. ``done`` is called in another thread, with a result and None, or
    with None and an exception."""

    @staticmethod
    def open(url: str, options: FileOptions, storage: dict[str, Any], done: Callable[[Any, Any], None]) -> Task: ...
    @staticmethod
    def open_ranges(reader: Any, options: FileOptions, storage: dict[str, Any], done: Callable[[Any, Any], None]) -> Task: ...
    @property
    def file(self) -> File: ...
    def run(self, work: Callable[[], Any], done: Callable[[Any, Any], None]) -> Task: ...
    def prefetch(self, path: str, done: Callable[[Any, Any], None]) -> Task: ...
    def usage(self) -> dict[str, int]: ...

@final
class Task:
    """Work that runs."""

    def cancel(self) -> None: ...

def without_credentials(url: str) -> str:
    """Return a URL without the user, the password and the query."""

def serve(path: str, frame_ancestors: list[str], hosts: list[str]) -> tuple[int, str]:
    """Start a server for one file. Return its port, and the path of the page with the token."""

def references(group: Group, url: str, inline: int, skip_unsupported: bool) -> dict[str, Any]:
    """Return the references of a group: ``groups`` (path, attributes as JSON), ``arrays``, ``skipped`` (path, reason) and
    ``skipped_attributes``. An array is a dict of ``path``, ``zarray`` and ``attributes`` (JSON), ``dimensions``, ``grid``,
    ``urls``, ``url_indices``, ``positions``, ``offsets``, ``lengths`` and ``inline`` (position: bytes)."""

# ---------------------------------------------------------------- objects

@disjoint_base
class Object:
    """A handle of an object: a group, a dataset or a committed datatype."""

    @property
    def file(self) -> File: ...
    @property
    def is_open(self) -> bool: ...
    def close(self) -> None: ...
    @property
    def kind(self) -> Literal["group", "dataset", "datatype"]: ...
    @property
    def address(self) -> int: ...
    @property
    def name(self) -> str | None:
        """The absolute path of the object in its file; None if the object has no link."""
    @property
    def link_count(self) -> int: ...
    @property
    def modified(self) -> int | None: ...
    def same(self, other: Object) -> bool: ...
    @property
    def number(self) -> tuple[int, int]:
        """A number of the file and one of the object: handles of the same object have the same numbers."""
    @property
    def committed_type(self) -> Type:
        """The datatype of a committed datatype."""
    def reference(self) -> Reference: ...
    def comment(self) -> bytes | None: ...
    def set_comment(self, text: str) -> None: ...
    # attributes, in the order of creation if it is tracked, else by name
    def attribute_names(self) -> list[str]: ...
    def attribute_count(self) -> int: ...
    def attribute_order_tracked(self) -> bool: ...
    def has_attribute(self, name: str | bytes) -> bool: ...
    def attribute(self, name: str | bytes) -> Attribute: ...
    def create_attribute(
        self, name: str | bytes, type: Type | Object, shape: tuple[int, ...] | None, value: npt.NDArray[Any] | None
    ) -> Attribute:
        """Create or replace an attribute, in one step. ``shape`` None is the null dataspace. ``value`` None is
        zeros. The committed datatype of an object can be given for ``type``."""
    def delete_attribute(self, name: str | bytes) -> None: ...
    def rename_attribute(self, old: str | bytes, new: str | bytes) -> None: ...

@final
class Attribute:
    name: str
    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape; None for the null dataspace."""
    @property
    def type(self) -> Type: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def committed(self) -> Object | None: ...
    @property
    def creation_order(self) -> int | None: ...
    @property
    def storage_size(self) -> int: ...
    def read(self, dtype: np.dtype[Any] | None = None) -> npt.NDArray[Any]:
        """Return an array of the shape of the attribute. Texts of variable length are ``bytes`` objects."""
    def write(self, value: npt.NDArray[Any], type: Type | None = None) -> None: ...

@final
class Group(Object):
    def get(self, path: str | bytes) -> Object:
        """Return the object at a path; raises KeyError."""
    def contains(self, path: str | bytes) -> bool: ...
    def names(self) -> list[str]:
        """Return the names of the links, in the order of creation if it is tracked, else by name."""
    def __len__(self) -> int: ...
    def order_tracked(self) -> bool: ...
    def link(self, path: str | bytes) -> tuple[Any, ...] | None:
        """Return ("hard",), ("soft", path), ("external", file, path), ("user", class) of the last link of the path."""
    def create_group(self, path: str | bytes | None, track_order: bool = False) -> Group:
        """Create a group, and the groups on the way to it. A path of None makes a group without a link."""
    def create_dataset(
        self, path: str | bytes | None, type: Type | Object, shape: tuple[int, ...] | None, options: DatasetOptions
    ) -> Dataset: ...
    def commit(self, path: str | bytes | None, type: Type) -> Object: ...
    def link_hard(self, path: str | bytes, target: Object) -> None: ...
    def link_soft(self, path: str | bytes, target: str | bytes) -> None: ...
    def link_external(self, path: str | bytes, file: str | bytes, target: str | bytes) -> None: ...
    def remove(self, path: str | bytes) -> None: ...
    def move(self, source: str | bytes, target: str | bytes) -> None: ...
    def copy(
        self, source: Object, path: str | bytes, *,
        shallow: bool = False, expand_soft: bool = False, expand_external: bool = False, expand_refs: bool = False,
        without_attrs: bool = False,
    ) -> None: ...
    def dereference(self, reference: Reference | RegionReference) -> Object: ...
    def region(self, reference: RegionReference) -> Selection: ...
    def visit(self, function: Callable[[str, Object | None], Any], links: bool) -> Any:
        """Call ``function`` with path and object of all objects below the group, each once (``links``: all
        links, without objects), until a call returns a value other than None; return the value."""

@type_check_only
class DatasetOptions(TypedDict, total=False):
    maxshape: tuple[int | None, ...] | None
    chunks: tuple[int, ...] | Literal[True] | None
    sparse: bool  # structured chunks
    density: float
    filters: list[tuple[int, tuple[int, ...], bool, str | None]]  # id, values, optional, name
    filter_specs: str  # the syntax of the command line, such as "shuffle,zstd=5"
    fill: npt.NDArray[Any] | None  # one element
    fill_time: Literal["ifset", "never", "alloc"]
    alloc_time: Literal["default", "early", "late", "incr"]
    track_times: bool
    track_order: bool
    compact: bool
    external: list[tuple[str, int, int | None]]  # name, offset, size (None: unlimited)
    efile_prefix: str
    virtual_prefix: str
    virtual_sources: list[tuple[Selection, str, str, Selection]]  # selection, file, dataset, source selection

@final
class Dataset(Object):
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def maxshape(self) -> tuple[int | None, ...] | None: ...
    @property
    def type(self) -> Type: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def committed(self) -> Object | None: ...
    @property
    def layout(self) -> Literal["compact", "contiguous", "chunked", "virtual", "structured"]: ...
    @property
    def chunks(self) -> tuple[int, ...] | None: ...
    @property
    def filters(self) -> list[tuple[int, int, tuple[int, ...], str]]:
        """Identifier, flags, values and name of each filter of the pipeline."""
    @property
    def fill(self) -> npt.NDArray[Any] | None:
        """The fill value as an array without dimensions; None if it is undefined or the default."""
    @property
    def fill_time(self) -> str: ...
    @property
    def alloc_time(self) -> str: ...
    @property
    def external(self) -> list[tuple[str, int, int | None]]: ...
    @property
    def virtual_sources(self) -> list[tuple[Selection, str, str, Selection]]: ...
    @property
    def storage_size(self) -> int: ...
    @property
    def offset(self) -> int | None: ...
    @property
    def track_times(self) -> bool: ...
    def resize(self, shape: tuple[int, ...]) -> None: ...
    def refresh(self) -> None: ...
    def flush(self) -> None: ...
    def get(self, args: Any) -> Any:
        """Return the elements of a subscript with the meaning of h5py: an array, or a scalar for a single element
        given by integers. Names of members in the subscript select members of a compound."""
    def set(self, args: Any, value: Any) -> None:
        """Write elements of a subscript, with NumPy's broadcasting and h5py's conversions of ``value``."""
    def read(self, selection: Selection, dtype: np.dtype[Any] | None = None) -> npt.NDArray[Any]:
        """Return the selected elements, as ``dtype`` (by default ``self.dtype``). A ``dtype`` of a part of the
        members of a compound reads those members."""
    def read_str(self, selection: Selection, errors: str) -> npt.NDArray[np.object_]:
        """Return the selected texts as ``str`` objects. ``errors`` is that of ``bytes.decode``."""
    def read_text(self, selection: Selection) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return the positions of the selected texts, and the bytes of all texts: the form of Arrow."""
    def read_into(self, selection: Selection, target: npt.NDArray[Any], part: Selection | None = None) -> None: ...
    def write(self, selection: Selection, values: npt.NDArray[Any], dtype: np.dtype[Any] | None = None) -> None:
        """Write the elements of an array of as many elements as the selection has. A dtype of a part of the
        members of a compound writes those members. Objects of a dtype of variable length are texts or arrays."""
    def write_stored(self, selection: Selection, values: npt.NDArray[Any]) -> None:
        """Write the bytes of an array as elements in the stored form."""
    def view(self) -> memoryview: ...
    def region_reference(self, selection: Selection) -> RegionReference: ...
    def with_prefixes(self, efile_prefix: str | None = None, virtual_prefix: str | None = None) -> Dataset:
        """Return a handle that finds external raw data files and virtual source files in these folders."""
    # chunks
    def chunk_count(self) -> int: ...
    def chunk_list(self) -> list[tuple[tuple[int, ...], int, int, int]]:
        """Offset, filter mask, address and size in bytes of each stored chunk."""
    def chunk_info(self, number: int) -> tuple[tuple[int, ...], int, int, int] | None:
        """Return the stored chunk of a number; None if there are fewer chunks."""
    def chunk_at(self, coordinates: tuple[int, ...]) -> tuple[tuple[int, ...], int, int, int] | None: ...
    def read_chunk(self, coordinates: tuple[int, ...]) -> tuple[int, bytes]: ...
    def write_chunk(self, coordinates: tuple[int, ...], data: Any, filter_mask: int = 0) -> None: ...
    # dimension scales
    def scale_name(self) -> str | None:
        """The name of the dimension scale that the dataset is; None if it is none."""
    def make_scale(self, name: str) -> None: ...
    def dimension_label(self, axis: int) -> str: ...
    def set_dimension_label(self, axis: int, label: str) -> None: ...
    def scales(self, axis: int) -> list[Dataset]: ...
    def attach_scale(self, axis: int, scale: Dataset) -> None: ...
    def detach_scale(self, axis: int, scale: Dataset) -> None: ...
    def is_scale_attached(self, axis: int, scale: Dataset) -> bool: ...
    # sparse datasets (structured chunks)
    def sparse_defined(self, selection: Selection) -> npt.NDArray[np.uint64]:
        """Return the coordinates of the defined elements of a selection, as an array (count, rank)."""
    def sparse_count(self) -> int: ...
    def sparse_read(self, selection: Selection) -> tuple[npt.NDArray[np.uint64], npt.NDArray[Any]]:
        """Return coordinates and values of the defined elements of a selection."""
    def sparse_write(self, coordinates: npt.NDArray[np.uint64], values: npt.NDArray[Any]) -> None: ...
    def sparse_erase(self, selection: Selection) -> None: ...
    def sparse_read_csr(self, first: int, last: int) -> tuple[Any, Any, Any]:
        """Return starts, indices and values of rows of a matrix, as CSR."""
    def sparse_read_csc(self) -> tuple[Any, Any, Any]: ...
    def sparse_write_csr(self, first_row: int, starts: Any, indices: Any, values: Any) -> None: ...
    def sparse_write_csc(self, starts: Any, indices: Any, values: Any) -> None: ...
