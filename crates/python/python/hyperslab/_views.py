"""Views of a dataset that change the dtype of reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _hyperslab as core
from ._dtypes import check_string_dtype
from ._strings import decode_array

if TYPE_CHECKING:
    from ._dataset import Dataset


class AbstractView:
    """The base of views of a dataset."""

    _dset: Dataset

    def __init__(self, dset: Dataset) -> None:
        self._dset = dset

    def __len__(self) -> int:
        return len(self._dset)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that the view returns."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._dset.ndim

    @property
    def shape(self) -> Any:
        """The shape."""
        return self._dset.shape

    @property
    def size(self) -> Any:
        """The number of elements."""
        return self._dset.size

    def __getitem__(self, args: Any) -> Any:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = True) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(f"{type(self).__name__}.__array__ received copy=False, but memory allocation cannot be avoided on read")
        return np.asarray(self[()] if self._dset.shape == () else self[...], dtype=dtype)


class AsTypeView(AbstractView):
    """A view that converts elements to another dtype: ``dataset.astype("f4")[0:10]``."""

    def __init__(self, dset: Dataset, dtype: Any) -> None:
        super().__init__(dset)
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        if self._dtype.kind == "T" and check_string_dtype(dset.dtype) is None:
            raise TypeError("dset.astype(StringDType()) can only be used on datasets with an HDF5 string datatype")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that the view returns."""
        return self._dtype

    def __getitem__(self, args: Any) -> Any:
        return self._dset.__getitem__(args, self._dtype)


class AsStrView(AbstractView):
    """A view that decodes texts to ``str``: ``dataset.asstr()[0:10]``."""

    def __init__(self, dset: Dataset, encoding: str, errors: str = "strict") -> None:
        super().__init__(dset)
        self.encoding, self.errors = encoding, errors

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that the view returns: objects."""
        return np.dtype(object)

    def __getitem__(self, args: Any) -> Any:
        dset = self._dset
        if self.encoding == "utf-8" and dset.dtype.hasobject and not dset._is_special(args):
            # The core decodes UTF-8.
            texts = dset._handle.read_str(core.Selection.parse(args, dset.shape), self.errors)
            is_scalar = texts.shape == () and not (dset.shape == () and args in (Ellipsis, (Ellipsis,)))
            return texts[()] if is_scalar else texts
        bytes_read = dset[args]
        if isinstance(bytes_read, bytes):
            return bytes_read.decode(self.encoding, self.errors)
        if isinstance(bytes_read, np.ndarray):
            return decode_array(bytes_read, self.encoding, self.errors)
        return bytes(bytes_read).decode(self.encoding, self.errors)


class FieldsView(AbstractView):
    """A view of some members of a compound dataset: ``dataset.fields(["x", "y"])[0:10]``."""

    def __init__(self, dset: Dataset, prior_dtype: Any, names: Any) -> None:
        super().__init__(dset)
        self.extract_field = None
        if isinstance(names, str):
            self.extract_field = names
            names = [names]
        self._names = list(names)
        self.read_dtype = subset(dset.dtype if prior_dtype is None else prior_dtype, self._names)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays that the view returns."""
        if self.extract_field is not None:
            return self.read_dtype.fields[self.extract_field][0]  # type: ignore[index]
        return self.read_dtype

    def __getitem__(self, args: Any) -> Any:
        data = self._dset.__getitem__(args, self.read_dtype)
        return data if self.extract_field is None else data[self.extract_field]


def subset(dt: np.dtype[Any], names: list[str]) -> np.dtype[Any]:
    """Return the dtype of some members of a compound dtype."""
    if dt.names is None or dt.fields is None:
        raise ValueError("Field names only allowed for compound types")
    for name in names:
        if name not in dt.names:
            raise ValueError(f"Field {name} does not appear in this type.")
    return np.dtype([(name, dt.fields[name][0]) for name in names])


class OuterIndex:
    """Subscripts whose index lists apply to one dimension each: ``dataset.oindex[[3, 1], [0, 2]]``."""

    def __init__(self, dset: Dataset, kind: str) -> None:
        self._dset, self._kind = dset, kind

    def _selection(self, args: Any) -> Any:
        from ._hyperslab import Selection

        if self._kind == "oindex":
            return Selection.orthogonal(args, self._dset.shape)
        return Selection.points(joint_lists(args, self._dset.shape), self._dset.shape)

    def __getitem__(self, args: Any) -> Any:
        array = self._dset._handle.read(self._selection(args))
        return array[()] if array.shape == () else array

    def __setitem__(self, args: Any, value: Any) -> None:
        array = np.asarray(value, dtype=None if hasattr(value, "dtype") else self._dset.dtype.base)
        self._dset._handle.write(self._selection(args), array)


def joint_lists(args: Any, shape: tuple[int, ...]) -> Any:
    """Return a subscript of NumPy as index lists for all dimensions, which broadcast to the shape of the result."""
    from ._selections import expand

    if isinstance(args, np.ndarray) and args.dtype == bool and args.ndim == len(shape) > 1:
        return args
    items = [np.asarray(item) if isinstance(item, list) else item for item in expand(args, len(shape))]
    items = [item.nonzero()[0] if isinstance(item, np.ndarray) and item.dtype == bool else item for item in items]
    at = [axis for axis, item in enumerate(items) if not isinstance(item, slice)]
    if len(at) == len(items):
        return tuple(items)
    inner = np.broadcast_shapes(*(np.shape(items[axis]) for axis in at))
    # The dimensions of the lists come where the lists are, or first if a slice is between lists.
    together = bool(at) and at[-1] - at[0] + 1 == len(at)
    first = at[0] if together else 0
    rank = len(items) - len(at) + len(inner)
    lists, position = [], 0
    for item, size in zip(items, shape, strict=True):
        if isinstance(item, slice):
            place = position if position < first else position + len(inner)
            lists.append(np.arange(size)[item].reshape([-1 if n == place else 1 for n in range(rank)]))
            position += 1
        else:
            lists.append(np.broadcast_to(item, inner).reshape((*[1] * first, *inner, *[1] * (rank - first - len(inner)))))
    return tuple(lists)


def encoding_of(dset: Dataset, encoding: str | None) -> str:
    """Return the encoding in which a view decodes texts: by default that of the dataset."""
    info = check_string_dtype(dset.dtype)
    if info is None:
        raise TypeError("dset.asstr() can only be used on datasets with an HDF5 string datatype")
    return info.encoding if encoding is None else encoding
