"""Groups."""

from __future__ import annotations

import posixpath
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _hyperslab as core
from ._base import HLObject, MutableMappingHDF5, handle_of
from ._access import remember, with_prefixes
from ._config import get_config
from ._creation import as_shape, creation_options, stored_type
from ._dataset import Dataset
from ._datatype import Datatype, datatype_handle
from ._dtypes import check_vlen_dtype, guess_dtype, string_dtype
from ._empty import Empty
from ._links import ExternalLink, HardLink, SoftLink, UserLink
from ._strings import encode_fixed, stores_text, text_array
from ._virtual import VirtualLayout
from ._warnings import H5pyDeprecationWarning

_NAMES = (str, bytes)


class Group(MutableMappingHDF5, HLObject):
    """A group: a mapping of names to groups, datasets and committed datatypes."""

    def __init__(self, bind: Any) -> None:
        handle = handle_of(bind)
        if not isinstance(handle, core.Group):
            raise ValueError(f"{bind!r} is not a GroupID")
        HLObject.__init__(self, handle)

    @property
    def _root(self) -> core.Group:
        return self._handle.file.root  # type: ignore[no-any-return]

    # ------------------------------------------------------------ creation

    def create_group(self, name: Any, track_order: bool | None = None, *, track_times: bool | None = None) -> Group:
        """Create a group, and the groups on the way to it. A name of None makes a group without a link."""
        order = get_config().track_order if track_order is None else track_order
        return Group(self._handle.create_group(name, bool(order)))

    def create_dataset(self, name: Any, shape: Any = None, dtype: Any = None, data: Any = None, **kwds: Any) -> Dataset:
        """Create a dataset.

        ``shape`` and ``dtype`` are those of ``data`` by default. Keywords: ``chunks``, ``maxshape``,
        ``compression``, ``compression_opts``, ``shuffle``, ``fletcher32``, ``scaleoffset``,
        ``fillvalue``, ``fill_time``, ``track_times``, ``track_order``, ``external``, as in h5py;
        ``filters="shuffle,zstd=5"`` for any filter of hyperslab; ``sparse=True`` for structured chunks.
        """
        if isinstance(data, Empty) and dtype is None:
            dtype = data.dtype
        value, dt, dims = plan(shape, dtype, data)
        options = creation_options(dims, dt, kwds)
        kind = stored_type(dt if datatype_handle(dtype) is None else dtype)
        dset = Dataset(self._handle.create_dataset(name, kind, dims, options))
        remember_access(dset, kwds)
        if value is not None and dims is not None and value.size > 0:
            try:
                dset._handle.write(core.Selection.all(dims), value)
            except BaseException:
                if name is not None:
                    self._handle.remove(name)
                raise
        return dset

    def create_dataset_like(self, name: Any, other: Dataset, **kwupdate: Any) -> Dataset:
        """Create a dataset with the shape, dtype and storage of another one."""
        for key in ("shape", "dtype", "chunks", "compression", "compression_opts", "scaleoffset", "shuffle", "fletcher32", "fillvalue"):
            value = getattr(other, key)
            if key == "fillvalue" and other._handle.fill is None:
                continue
            kwupdate.setdefault(key, value)
        kwupdate.setdefault("track_times", bool(other._handle.track_times))
        if other.shape is not None and other.maxshape != other.shape:
            kwupdate.setdefault("maxshape", other.maxshape)
        return self.create_dataset(name, **kwupdate)

    def create_virtual_dataset(self, name: Any, layout: VirtualLayout, fillvalue: Any = None) -> Dataset:
        """Create a virtual dataset from a layout."""
        dt = layout._source_dtype()
        options = creation_options(layout.shape, dt, {"fillvalue": fillvalue})
        if layout.maxshape is not None:
            options["maxshape"] = tuple(layout.maxshape)
        options["virtual_sources"] = layout._mappings(self.file.filename)
        return Dataset(self._handle.create_dataset(name, stored_type(dt), layout.shape, options))

    def build_virtual_dataset(self, name: Any, shape: Any, dtype: Any, maxshape: Any = None, fillvalue: Any = None) -> Any:
        """Return a context manager that yields a layout and creates the virtual dataset at its end."""
        from contextlib import contextmanager

        @contextmanager
        def build() -> Iterator[VirtualLayout]:
            layout = VirtualLayout(shape, dtype, maxshape, self.file.filename)
            yield layout
            self.create_virtual_dataset(name, layout, fillvalue)

        return build()

    def require_dataset(self, name: Any, shape: Any, dtype: Any, exact: bool = False, **kwds: Any) -> Dataset:
        """Return the dataset of a name, or create it. Shape and dtype must fit."""
        if name not in self:
            return self.create_dataset(name, shape, dtype, **kwds)
        shape = as_shape(shape)
        dset = self[name]
        if not isinstance(dset, Dataset):
            raise TypeError(f"Incompatible object ({type(dset).__name__}) already exists")
        if shape != dset.shape:
            if "maxshape" not in kwds:
                raise TypeError(f"Shapes do not match (existing {dset.shape} vs new {shape})")
            if dset.maxshape != kwds["maxshape"]:
                raise TypeError(f"Max shapes do not match (existing {dset.maxshape} vs new {kwds['maxshape']})")
        if exact and dtype != dset.dtype:
            raise TypeError(f"Datatypes do not exactly match (existing {dset.dtype} vs new {dtype})")
        if not exact and not np.can_cast(np.dtype(dtype), dset.dtype):
            raise TypeError(f"Datatypes cannot be safely cast (existing {dset.dtype} vs new {dtype})")
        dset = Dataset(with_prefixes(dset._handle, kwds))
        remember_access(dset, kwds)
        return dset

    def require_group(self, name: Any) -> Group:
        """Return the group of a name, or create it."""
        if name not in self:
            return self.create_group(name)
        group = self[name]
        if not isinstance(group, Group):
            raise TypeError(f"Incompatible object ({type(group).__name__}) already exists")
        return group

    # ------------------------------------------------------------ mapping

    def __getitem__(self, name: Any) -> Any:
        if isinstance(name, (core.Reference, core.RegionReference)):
            return as_object(self._handle.dereference(name))
        if isinstance(name, _NAMES):
            return as_object(self._handle.get(name))
        raise TypeError(f"Accessing a group is done with bytes or str, not {type(name)}")

    def get(
        self, name: Any, default: Any = None, getclass: bool = False, getlink: bool = False,
        elink_mode: str | None = None, elink_locking: Any = None, elink_swmr: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return an object, its class, its link, or the class of its link.

        ``elink_mode``, ``elink_locking`` and ``elink_swmr`` are the options of files of external links.
        """
        if not (elink_mode is None and elink_locking is None and elink_swmr is None):
            from ._external_links import LinkAccess

            access = LinkAccess(self.file, elink_mode, elink_locking, elink_swmr)
            path = name.decode() if isinstance(name, bytes) else name
            try:
                handle, last = access.find(self._handle, path, link=getlink)
            except KeyError:
                return default
            return Group(handle).get(last, default, getclass, getlink)
        if not (getclass or getlink):
            try:
                return self[name]
            except KeyError:
                return default
        if not getlink:
            if name not in self:
                return default
            return type(self[name])
        found = self._handle.link(name)
        if found is None:
            return default
        classes = {"hard": HardLink, "soft": SoftLink, "external": ExternalLink, "user": UserLink}
        if getclass:
            return classes[found[0]]
        return classes[found[0]](*found[1:]) if found[0] != "user" else UserLink()

    def __setitem__(self, name: Any, obj: Any) -> None:
        if isinstance(obj, HLObject):
            self._handle.link_hard(name, obj._handle)
        elif isinstance(obj, SoftLink):
            self._handle.link_soft(name, obj.path)
        elif isinstance(obj, ExternalLink):
            self._handle.link_external(name, obj.filename, obj.path)
        elif isinstance(obj, np.dtype):
            self._handle.commit(name, core.Type.of(obj))
        elif hasattr(obj, "_handle") and isinstance(obj._handle, core.Type):
            self._handle.commit(name, obj._handle)
        else:
            self.create_dataset(name, data=obj)

    def __delitem__(self, name: Any) -> None:
        if self._handle.link(name) is None:
            raise KeyError(f"Couldn't delete link (component not found: {name!r})")
        try:
            self._handle.remove(name)
        except ValueError as error:
            raise KeyError(str(error)) from error

    def __len__(self) -> int:
        return len(self._handle)

    def __iter__(self) -> Iterator[str]:
        return iter(self._handle.names())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._handle.names())

    def __contains__(self, name: object) -> bool:
        if isinstance(name, (core.Reference, core.RegionReference)):
            if not name:
                return False
            try:
                self._handle.dereference(name)
            except ValueError:
                return False
            return True
        return bool(self._handle.is_open and self._handle.contains(name))

    # ------------------------------------------------------------ links

    def copy(
        self, source: Any, dest: Any, name: str | None = None, shallow: bool = False, expand_soft: bool = False,
        expand_external: bool = False, expand_refs: bool = False, without_attrs: bool = False,
    ) -> None:  # fmt: skip
        """Copy an object, or the object of a path, to a path or into a group."""
        if not isinstance(source, HLObject):
            path = source
            source = self[source]
        else:
            path = source.name
        if isinstance(dest, Group):
            if name is None:
                name = posixpath.basename(path.decode() if isinstance(path, bytes) else path or "")
            target = dest._handle
        elif isinstance(dest, HLObject):
            raise TypeError("Destination must be path or Group object")
        else:
            target, name = self._handle, dest
        target.copy(
            source._handle, name, shallow=shallow, expand_soft=expand_soft, expand_external=expand_external,
            expand_refs=expand_refs, without_attrs=without_attrs,
        )  # fmt: skip

    def move(self, source: Any, dest: Any) -> None:
        """Move a link to another path of the file."""
        if source == dest:
            return
        self._handle.move(source, dest)

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(name)`` for all objects below the group, until it returns another value than None."""
        return self._handle.visit(lambda name, _: func(name), False)

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func(name, object)`` for all objects below the group, until it returns another value than None."""
        return self._handle.visit(lambda name, handle: func(name, as_object(handle)), False)

    def visit_links(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(name)`` for all links below the group, until it returns another value than None."""
        return self._handle.visit(lambda name, _: func(name), True)

    def visititems_links(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func(name, link)`` for all links below the group, until it returns another value than None."""
        return self._handle.visit(lambda name, _: func(name, self.get(name, getlink=True)), True)

    def __repr__(self) -> str:
        if not self:
            return "<Closed HDF5 group>"
        name = self.name
        shown = "(anonymous)" if name is None else f'"{name}"'
        return f"<HDF5 group {shown} ({len(self)} members)>"

    def _repr_html_(self) -> str:
        from ._html import group_html

        return group_html(self)


def as_object(handle: Any) -> Any:
    """Return the public object of a handle."""
    if isinstance(handle, core.Dataset):
        return Dataset(handle)
    if isinstance(handle, core.Group):
        return Group(handle)
    return Datatype(handle)


def remember_access(dset: Dataset, kwds: dict[str, Any]) -> None:
    """Keep the keywords that are options of access, for the low-level interface."""
    names = ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0", "efile_prefix", "virtual_prefix")
    remember(dset._handle, {name: kwds[name] for name in names if kwds.get(name) is not None})


def plan(shape: Any, dtype: Any, data: Any) -> tuple[np.ndarray[Any, Any] | None, np.dtype[Any], tuple[int, ...] | None]:
    """Return the array, the dtype and the shape of a new dataset."""
    dt = dtype.dtype if datatype_handle(dtype) is not None else None if dtype is None else np.dtype(dtype)
    if isinstance(data, Empty) or (data is None and shape is None):
        if dt is None and isinstance(data, Empty):
            dt = data.dtype
        if dt is None:
            raise TypeError("One of data, shape or dtype must be specified")
        return None, dt, None if shape is None else as_shape(shape)
    if data is None:
        if dt is None:
            warnings.warn("Creating a dataset without passing data or dtype is deprecated", H5pyDeprecationWarning, stacklevel=3)
        return None, np.dtype("f4") if dt is None else dt, as_shape(shape)
    value, dt = as_data(data, dt)
    inner = dt.shape if dt.subdtype is not None else ()
    outer = value.shape[: value.ndim - len(inner)] if inner and value.shape[value.ndim - len(inner) :] == inner else value.shape
    if shape is None:
        return value, dt, outer
    dims = as_shape(shape)
    if int(np.prod(dims, dtype=np.int64)) != int(np.prod(outer, dtype=np.int64)):
        raise ValueError("Shape tuple is incompatible with data")
    return value.reshape(dims + (inner if outer != value.shape else ())), dt, dims


def as_data(data: Any, dt: np.dtype[Any] | None) -> tuple[np.ndarray[Any, Any], np.dtype[Any]]:
    """Return the data of a new dataset as an array, and the dtype of the file."""
    from ._attributes import object_dtype, sequence_array

    if dt is None:
        dt = guess_dtype(data)
        if dt is None:
            value = np.asarray(data, order="C")
            dt = value.dtype
            if dt.kind in "US" and not isinstance(data, (np.ndarray, np.generic)) and not hasattr(data, "__array__"):
                dt = string_dtype("utf-8" if dt.kind == "U" else "ascii")
            elif dt.kind == "T":
                dt = string_dtype()
            elif dt.kind == "O" and not dt.metadata:
                dt = object_dtype(value)
            else:
                return value, dt
    if stores_text(dt):
        return text_array(data, dt), string_dtype() if dt.kind == "T" else dt
    if check_vlen_dtype(dt) is not None:
        return sequence_array(data, dt), dt
    if dt.kind == "S":
        return encode_fixed(data, dt), dt
    if isinstance(data, np.ndarray) and (data.dtype.kind != "O" or dt.kind == "O"):
        return np.asarray(data, order="C", dtype=dt if dt.kind in "OV" and dt.subdtype is None else None), dt
    return np.asarray(data, order="C", dtype=dt.base if dt.subdtype is not None else dt), dt
