"""Datasets as Arrow arrays and tables.

A compound dataset of one dimension is a table; another dataset of one dimension is a column. Texts
become Arrow strings, sequences become lists, and enumerations become their integers.

>>> import hyperslab, numpy as np
>>> from hyperslab import arrow
>>> with hyperslab.File.in_memory() as f:
...     rows = np.array([(1, 0.5), (2, 1.5)], dtype=[("id", "i4"), ("x", "f8")])
...     table = arrow.to_arrow(f.create_dataset("rows", data=rows))
...     print(table.column_names, table.num_rows)
['id', 'x'] 2
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _hyperslab as core
from ._dataset import Dataset
from ._dtypes import check_string_dtype, check_vlen_dtype

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 16


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("Arrow arrays need pyarrow: pip install hyperslab[arrow]") from error
    return pyarrow


def column(values: np.ndarray[Any, Any]) -> pa.Array:
    """Return a NumPy array of one or more dimensions as an Arrow array of its rows."""
    arrow = _pyarrow()
    dt = values.dtype
    if values.ndim > 1:
        inner = column(values.reshape((-1, *values.shape[2:])))
        return arrow.FixedSizeListArray.from_arrays(inner, int(values.shape[1]))
    if dt.names is not None:
        return arrow.StructArray.from_arrays([column(values[name]) for name in dt.names], names=list(dt.names))
    info = check_string_dtype(dt)
    if info is not None:
        binary = arrow.array([bytes(item) for item in values], type=arrow.large_binary())
        return binary.cast(arrow.large_string())
    if check_vlen_dtype(dt) is not None:
        lengths = np.fromiter((len(item) for item in values), dtype=np.int64, count=len(values))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        base = np.dtype(check_vlen_dtype(dt))
        items = np.concatenate(list(values)) if len(values) else np.empty(0, dtype=base)
        return arrow.LargeListArray.from_arrays(arrow.array(offsets, type=arrow.int64()), column(items))
    if dt.kind in "biufmM":
        return arrow.array(np.ascontiguousarray(values.astype(dt.newbyteorder("="), copy=False)))
    if dt.kind == "c":
        parts = [column(np.ascontiguousarray(part)) for part in (values.real, values.imag)]
        return arrow.StructArray.from_arrays(parts, names=["real", "imag"])
    if dt.kind == "V":
        return arrow.array([bytes(item) for item in values], type=arrow.binary(dt.itemsize))
    raise TypeError(f"no Arrow array of the dtype {dt}")


def record_batch(values: np.ndarray[Any, Any], name: str) -> pa.RecordBatch:
    """Return an array as a record batch: one column for each member, or one column ``name``."""
    arrow = _pyarrow()
    if values.dtype.names is None:
        return arrow.RecordBatch.from_arrays([column(values)], names=[name])
    names = list(values.dtype.names)
    return arrow.RecordBatch.from_arrays([column(values[part]) for part in names], names=names)


def batches(dataset: Dataset, rows: int = ROWS, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a dataset as record batches of ``rows`` rows, so that memory stays bounded."""
    if not dataset.shape:
        raise TypeError("a table needs a dataset with a dimension")
    source: Any = dataset if columns is None else dataset.fields(columns)
    name = (dataset.name or "values").rsplit("/", 1)[-1]
    is_text = columns is None and dataset.ndim == 1 and check_string_dtype(dataset.dtype) is not None
    for first in range(0, max(dataset.shape[0], 1), rows):
        if is_text:
            part = core.Selection.parse(slice(first, first + rows), dataset.shape)
            yield _pyarrow().RecordBatch.from_arrays([texts(dataset, part)], names=[name])
            continue
        yield record_batch(source[first : first + rows], name)


def texts(dataset: Dataset, selection: core.Selection) -> pa.Array:
    """Return the texts of a selection of one dimension as an Arrow array, without a Python object for each."""
    arrow = _pyarrow()
    offsets, data = dataset._handle.read_text(selection)
    buffers = [arrow.py_buffer(offsets), arrow.py_buffer(data)]
    found = arrow.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)
    return found


def to_arrow(dataset: Dataset, columns: list[str] | None = None) -> Any:
    """Return a compound dataset as an Arrow table, and another dataset as an Arrow array."""
    if dataset.dtype.names is None:
        if dataset.ndim == 1 and check_string_dtype(dataset.dtype) is not None:
            return texts(dataset, core.Selection.all(dataset.shape))
        return column(dataset[...])
    return _pyarrow().Table.from_batches(batches(dataset, columns=columns))


class Stream:
    """A dataset as a stream of record batches, for any library that imports Arrow streams.

    ``polars.DataFrame(Stream(dataset))`` and ``pyarrow.RecordBatchReader.from_stream(...)`` work.
    """

    def __init__(self, dataset: Dataset, rows: int = ROWS, columns: list[str] | None = None) -> None:
        self._dataset, self._rows, self._columns = dataset, rows, columns

    def reader(self) -> pa.RecordBatchReader:
        """Return a reader of the batches."""
        source = batches(self._dataset, self._rows, self._columns)
        first = next(source)

        def chained() -> Iterator[pa.RecordBatch]:
            yield first
            yield from source

        return _pyarrow().RecordBatchReader.from_batches(first.schema, chained())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.reader().__arrow_c_stream__(requested_schema)


def to_pandas(dataset: Dataset, columns: list[str] | None = None) -> Any:
    """Return a compound dataset as a pandas data frame."""
    return to_arrow(dataset, columns).to_pandas()


def to_polars(dataset: Dataset, columns: list[str] | None = None) -> Any:
    """Return a compound dataset as a Polars data frame."""
    import polars

    return polars.DataFrame(Stream(dataset, columns=columns))
