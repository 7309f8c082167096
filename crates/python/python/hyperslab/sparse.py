"""Sparse datasets, and matrices of SciPy, AnnData and 10x Genomics.

A sparse dataset stores only the elements that were written. To read it as an array gives the fill
value for the others.

>>> import hyperslab, numpy as np, scipy.sparse
>>> from hyperslab import sparse
>>> with hyperslab.File.in_memory() as f:
...     matrix = scipy.sparse.random(100, 50, density=0.1, format="csr", random_state=1)
...     stored = sparse.create(f, "m", matrix)
...     back = stored.to_scipy("csr")
...     print(back.nnz == matrix.nnz, round(stored.density, 2))
True 0.1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _hyperslab as core
from ._dataset import Dataset
from ._group import Group

if TYPE_CHECKING:
    import scipy.sparse as sp

Format = Literal["csr", "csc", "coo"]


def _scipy() -> Any:
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("matrices need SciPy: pip install hyperslab[sparse]") from error
    return scipy.sparse


class SparseDataset:
    """A view of a sparse dataset by its defined elements."""

    def __init__(self, dataset: Dataset) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"a dataset is needed, not {dataset!r}")
        if dataset._handle.layout != "structured":
            raise TypeError(f"the dataset {dataset.name} is not sparse: its layout is {dataset._handle.layout}")
        self.dataset = dataset

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dataset."""
        return self.dataset.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.dataset.dtype

    @property
    def nnz(self) -> int:
        """The number of defined elements."""
        return int(self.dataset._handle.sparse_count())

    @property
    def density(self) -> float:
        """The part of the elements that are defined, from 0 to 1."""
        size = self.dataset.size or 0
        return self.nnz / size if size else 0.0

    def defined(self, args: Any = ...) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Return the coordinates of the defined elements of a subscript, as an array (count, rank)."""
        return self.dataset._handle.sparse_defined(self._selection(args))  # type: ignore[no-any-return]

    def read(self, args: Any = ...) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], np.ndarray[Any, Any]]:
        """Return coordinates and values of the defined elements of a subscript."""
        return self.dataset._handle.sparse_read(self._selection(args))  # type: ignore[no-any-return]

    def write(self, value: Any, values: Any = None) -> None:
        """Write a SciPy matrix, or ``values`` at coordinates given as an array (count, rank)."""
        if values is not None:
            self.dataset._handle.sparse_write(np.asarray(value), np.asarray(values, dtype=self._value_dtype(values)))
            return
        if value.shape != self.shape:
            raise ValueError(f"a matrix of the shape {value.shape} for a dataset of the shape {self.shape}")
        self._write_rows(0, value)

    def _value_dtype(self, values: Any) -> Any:
        return None if hasattr(values, "dtype") else self.dtype

    def _write_rows(self, first: int, matrix: Any) -> None:
        handle = self.dataset._handle
        if matrix.format == "csc" and first == 0 and matrix.shape == self.shape:
            matrix = canonical(matrix)
            handle.sparse_write_csc(matrix.indptr, matrix.indices, matrix.data)
            return
        matrix = canonical(matrix.tocsr())
        handle.sparse_write_csr(first, matrix.indptr, matrix.indices, matrix.data)

    def erase(self, args: Any = ...) -> None:
        """Make the elements of a subscript undefined."""
        self.dataset._handle.sparse_erase(self._selection(args))

    def append(self, matrix: Any) -> None:
        """Add the rows of a SciPy matrix at the end of the dataset."""
        rows, columns = self.shape
        if matrix.shape[1] != columns:
            raise ValueError(f"rows of {matrix.shape[1]} columns for a dataset of {columns} columns")
        self.dataset.resize(rows + matrix.shape[0], axis=0)
        self._write_rows(rows, matrix)

    def rows(self, first: int, last: int) -> sp.csr_matrix:
        """Return the rows ``first`` to ``last`` (without ``last``) as a CSR matrix."""
        if not 0 <= first <= last <= self.shape[0]:
            raise IndexError(f"rows {first}:{last} of a matrix of {self.shape[0]} rows")
        starts, indices, values = self.dataset._handle.sparse_read_csr(first, last)
        return _scipy().csr_matrix((values, indices, starts), shape=(last - first, self.shape[1]))

    def to_scipy(self, format: Format = "csr") -> Any:
        """Return the matrix as SciPy's "csr", "csc" or "coo"."""
        if len(self.shape) != 2:
            raise TypeError(f"a matrix has 2 dimensions, and the dataset has {len(self.shape)}")
        if format == "csr":
            return self.rows(0, self.shape[0])
        if format == "csc":
            starts, indices, values = self.dataset._handle.sparse_read_csc()
            return _scipy().csc_matrix((values, indices, starts), shape=self.shape)
        if format == "coo":
            points, values = self.read()
            return _scipy().coo_matrix((values, (points[:, 0], points[:, 1])), shape=self.shape)
        raise ValueError(f"unknown format {format!r}: csr, csc or coo")

    def _selection(self, args: Any) -> core.Selection:
        return core.Selection.parse(args, self.shape)

    def __repr__(self) -> str:
        return f"<SparseDataset {self.dataset.name!r}: shape {self.shape}, {self.nnz} elements of {self.dtype}>"


def canonical(matrix: Any) -> Any:
    """Return a compressed matrix with sorted indices, each once."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def create(group: Group, name: str, matrix: Any, *, filters: str | None = None, chunks: Any = None, maxshape: Any = None) -> SparseDataset:
    """Create a sparse dataset with the elements of a SciPy matrix.

    ``filters`` compress all sections of chunks, such as "zstd=3".
    """
    size = matrix.shape[0] * matrix.shape[1]
    options: dict[str, Any] = {"sparse": True, "density": matrix.nnz / size if size else 0.0}
    for key, value in (("filters", filters), ("chunks", chunks), ("maxshape", maxshape)):
        if value is not None:
            options[key] = value
    dataset = group.create_dataset(name, shape=matrix.shape, dtype=matrix.dtype, **options)
    stored = SparseDataset(dataset)
    if matrix.nnz:
        stored._write_rows(0, matrix)
    return stored


def read_matrix(source: Any) -> Any:
    """Return a SciPy matrix from a sparse dataset, or from a group in a form of AnnData, 10x or SciPy.

    - AnnData: a group with ``encoding-type`` "csr_matrix" or "csc_matrix", or with ``h5sparse_format``;
    - 10x Genomics: a group with ``barcodes``, ``data``, ``indices``, ``indptr``, ``shape`` (genes by cells);
    - a group with ``data``, ``indices``, ``indptr`` and ``shape`` (CSR).
    """
    if isinstance(source, Dataset):
        return SparseDataset(source).to_scipy("csr")
    if not isinstance(source, Group):
        raise TypeError(f"a dataset or a group is needed, not {source!r}")
    missing = [name for name in ("data", "indices", "indptr") if name not in source]
    if missing:
        raise ValueError(f"the group {source.name} is no matrix: it lacks {', '.join(missing)}")
    attrs = source.attrs
    kind = str(attrs.get("encoding-type", attrs.get("h5sparse_format", ""))).removesuffix("_matrix")
    shape = attrs.get("shape", attrs.get("h5sparse_shape"))
    if shape is None and "shape" in source:
        shape = source["shape"][()]
    if shape is None:
        raise ValueError(f"the group {source.name} is no matrix: it lacks a shape")
    if not kind:
        kind = "csc" if "barcodes" in source else "csr"
    if kind not in ("csr", "csc"):
        raise ValueError(f"unknown form of a matrix: {kind!r}")
    make = getattr(_scipy(), f"{kind}_matrix")
    parts = (source["data"][()], source["indices"][()], source["indptr"][()])
    return make(parts, shape=tuple(int(n) for n in shape))
