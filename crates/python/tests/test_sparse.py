"""Sparse datasets and matrices of SciPy, AnnData and 10x Genomics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab
from hyperslab import sparse

sp = pytest.importorskip("scipy.sparse")
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]


def random_matrix(rows: int = 200, columns: int = 90, dtype: str = "f8", seed: int = 1) -> Any:
    """Return a matrix with a tenth of its elements, some rows empty."""
    rng = np.random.default_rng(seed)
    matrix = sp.random(rows, columns, density=0.1, format="csr", random_state=rng)
    matrix.data = rng.integers(1, 100, matrix.nnz)
    matrix = matrix.astype(dtype).tolil()
    matrix[3 : rows // 4] = 0
    return matrix.tocsr()


def equal(left: Any, right: Any) -> bool:
    """Return whether two matrices have the same shape, dtype and elements."""
    return left.shape == right.shape and left.dtype == right.dtype and abs(left.tocsr() - right.tocsr()).nnz == 0


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_matrices(path: Path, dtype: str, form: str) -> None:
    matrix = random_matrix(dtype=dtype)
    with hyperslab.File(path, "w") as f:
        stored = sparse.create(f, "m", matrix.asformat(form))
        assert stored.nnz == matrix.nnz and stored.shape == matrix.shape and stored.dtype == matrix.dtype
    with hyperslab.File(path) as f:
        stored = sparse.SparseDataset(f["m"])
        assert stored.density == pytest.approx(matrix.nnz / (200 * 90))
        for wanted in ("csr", "csc", "coo"):
            found = stored.to_scipy(wanted)
            assert found.format == wanted and found.nnz == matrix.nnz and equal(found, matrix)
        np.testing.assert_array_equal(f["m"][...], matrix.toarray())
        assert equal(sparse.read_matrix(f["m"]), matrix)


@pytest.mark.parametrize("filters", [None, "deflate=5", "zstd=3"])
@pytest.mark.parametrize("chunks", [None, (7, 13), (500, 500), (1, 90)])
def test_filters_and_chunks(path: Path, filters: str | None, chunks: Any) -> None:
    matrix = random_matrix()
    with hyperslab.File(path, "w") as f:
        if chunks is not None:
            chunks = tuple(min(n, size) for n, size in zip(chunks, matrix.shape, strict=True))
        sparse.create(f, "m", matrix, filters=filters, chunks=chunks)
    with hyperslab.File(path) as f:
        assert equal(sparse.SparseDataset(f["m"]).to_scipy(), matrix)


def test_rows_and_appends(path: Path) -> None:
    parts = [random_matrix(rows, 90, seed=rows) for rows in (40, 1, 77)]
    with hyperslab.File(path, "w") as f:
        stored = sparse.create(f, "m", parts[0], maxshape=(None, 90), chunks=(16, 32))
        for part in parts[1:]:
            stored.append(part)
        whole = sp.vstack(parts).tocsr()
        assert stored.shape == (118, 90) and equal(stored.to_scipy(), whole)
        for first, last in ((0, 118), (0, 0), (118, 118), (17, 18), (5, 100)):
            assert equal(stored.rows(first, last), whole[first:last])
        for first, last in ((-1, 2), (3, 2), (0, 119)):
            with pytest.raises(IndexError):
                stored.rows(first, last)
        with pytest.raises(ValueError):
            stored.append(random_matrix(3, 4))


def test_points(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dataset = f.create_dataset("p", (50, 60, 70), "f4", sparse=True, fillvalue=-1)
        stored = sparse.SparseDataset(dataset)
        rng = np.random.default_rng(4)
        points = np.unravel_index(rng.permutation(50 * 60 * 70)[:500], (50, 60, 70))
        coordinates = np.stack(points, axis=1)
        values = rng.random(500).astype("f4")
        stored.write(coordinates, values)
        expected = np.full((50, 60, 70), -1, dtype="f4")
        expected[points] = values
        np.testing.assert_array_equal(dataset[...], expected)
        found, back = stored.read()
        assert len(found) == stored.nnz == 500
        np.testing.assert_array_equal(expected[tuple(found.T.astype(int))], back)
        inside = stored.defined(np.s_[10:20, :, 5])
        assert {tuple(p) for p in inside.tolist()} == {tuple(p) for p in coordinates.tolist() if 10 <= p[0] < 20 and p[2] == 5}
        stored.erase(np.s_[:25])
        expected[:25] = -1
        np.testing.assert_array_equal(dataset[...], expected)
        dataset[30, 30] = 2
        expected[30, 30] = 2
        np.testing.assert_array_equal(dataset[...], expected)
        with pytest.raises((TypeError, ValueError)):
            stored.write(np.zeros((2, 2), dtype=int), np.zeros(2))
        with pytest.raises((IndexError, ValueError)):
            stored.write(np.array([[50, 0, 0]]), np.zeros(1))


def test_empty_and_repeated_elements(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        stored = sparse.create(f, "empty", sp.csr_matrix((10, 20)))
        assert stored.nnz == 0 and stored.density == 0 and stored.to_scipy().nnz == 0 and stored.to_scipy("csc").nnz == 0
        double = sp.coo_matrix(([1.0, 2.0, 5.0], ([0, 0, 3], [1, 1, 2])), shape=(4, 4))
        assert equal(sparse.create(f, "double", double).to_scipy(), double.tocsr())
        with pytest.raises(TypeError):
            sparse.SparseDataset(f.create_dataset("dense", data=[1]))
        with pytest.raises(ValueError):
            stored.write(random_matrix(3, 3))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_groups_of_anndata(path: Path, form: str) -> None:
    anndata = pytest.importorskip("anndata")
    matrix = random_matrix(dtype="f4").asformat(form)
    anndata.AnnData(matrix).write_h5ad(path)
    with hyperslab.File(path) as f:
        found = sparse.read_matrix(f["X"])
        assert found.format == form and equal(found, matrix)


def test_groups_of_others(path: Path) -> None:
    matrix = random_matrix(dtype="i4")
    with h5py.File(path, "w") as f:
        for name, stored in (("scipy", matrix), ("matrix", matrix.tocsc())):
            for part in ("data", "indices", "indptr"):
                f[f"{name}/{part}"] = getattr(stored, part)
            f[f"{name}/shape"] = stored.shape
        f["matrix/barcodes"] = np.array([b"x"])
        f["no matrix/data"] = 1
    with hyperslab.File(path) as f:
        assert equal(sparse.read_matrix(f["scipy"]), matrix) and equal(sparse.read_matrix(f["matrix"]), matrix)
        with pytest.raises(ValueError, match="lacks"):
            sparse.read_matrix(f["no matrix"])


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_values_of_the_other_byte_order_keep_their_values(form: str) -> None:
    matrix = sp.random(20, 30, density=0.2, format=form, random_state=3)
    swapped = matrix.copy()
    swapped.data = matrix.data.astype(matrix.data.dtype.newbyteorder())
    with hyperslab.File.in_memory() as file:
        stored = sparse.create(file, "m", swapped)
        assert (abs(stored.to_scipy("csr") - matrix.tocsr()) > 0).nnz == 0
