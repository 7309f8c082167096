"""Subscripts: random subscripts of datasets give the elements that NumPy gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

SHAPES: list[tuple[int, ...]] = [(), (17,), (9, 11), (5, 7, 6), (4, 5, 3, 6)]
LAYOUTS: list[dict[str, Any]] = [{}, {"chunks": True}, {"chunks": 3, "compression": "gzip", "shuffle": True}]
ROUNDS = 150
Array = np.ndarray[Any, Any]


def create(f: Any, shape: tuple[int, ...], layout: dict[str, Any]) -> tuple[Any, Array]:
    """Create a dataset of distinct values and return it with its values."""
    options = dict(layout)
    if options.get("chunks") == 3:
        options["chunks"] = tuple(min(3, size) for size in shape)
    values = np.arange(int(np.prod(shape)), dtype="<i4").reshape(shape)
    return f.create_dataset("d", data=values, **(options if shape else {})), values


def random_item(rng: np.random.Generator, size: int, lists: bool) -> Any:
    """Return a random subscript of one dimension."""
    kind = rng.integers(0, 7 if lists else 4)
    if kind == 0:
        return int(rng.integers(-size, size))
    if kind <= 2:
        ends = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)]
        return slice(*ends, None if rng.random() < 0.3 else int(rng.integers(1, size + 2)))
    if kind == 3:
        start, stop = sorted(int(n) for n in rng.integers(0, size + 1, 2))
        return slice(stop - 1 if stop else None, start - 1 if start else None, -int(rng.integers(1, 4)))
    if kind == 4:
        return rng.random(size) < 0.5
    count = int(rng.integers(0, size + 3))
    chosen = rng.integers(-size, size, count)
    return list(map(int, chosen)) if kind == 5 else chosen


def random_subscript(rng: np.random.Generator, shape: tuple[int, ...], most_lists: int) -> tuple[Any, ...]:
    """Return a random subscript with at most ``most_lists`` index lists or masks."""
    items: list[Any] = []
    left = most_lists
    for size in shape:
        item = random_item(rng, size, left > 0)
        left -= isinstance(item, (list, np.ndarray))
        items.append(item)
    if items and rng.random() < 0.3:
        first, last = sorted(int(n) for n in rng.integers(0, len(items) + 1, 2))
        items[first:last] = [Ellipsis]
    elif items and rng.random() < 0.2:
        items = items[: int(rng.integers(0, len(items)))]
    return tuple(items)


def expanded(args: tuple[Any, ...], rank: int) -> list[Any]:
    """Return a subscript with a slice for the ellipsis and for missing dimensions."""
    items = list(args)
    missing = [slice(None)] * (rank - len(items) + sum(item is Ellipsis for item in items))
    for at, item in enumerate(items):
        if item is Ellipsis:
            return items[:at] + missing + items[at + 1 :]
    return items + missing


def outer(values: Array, args: tuple[Any, ...]) -> tuple[Any, tuple[int, ...]]:
    """Return the index of NumPy for a subscript that applies to each dimension for itself, and the result's shape."""
    items = expanded(args, values.ndim)
    lists, shape = [], []
    for item, size in zip(items, values.shape, strict=True):
        chosen = np.arange(size)[item if not isinstance(item, list) else np.array(item, dtype=int)]
        if not isinstance(item, int):
            shape.append(chosen.size)
        lists.append(np.atleast_1d(chosen))
    return np.ix_(*lists), tuple(shape)


def cases(seed: int, shape: tuple[int, ...], most_lists: int) -> Iterator[tuple[Any, ...]]:
    """Yield random subscripts."""
    rng = np.random.default_rng(seed)
    for _ in range(ROUNDS if shape else 3):
        yield random_subscript(rng, shape, most_lists)


def check_equal(found: Any, wanted: Array, args: Any) -> None:
    """Check a result."""
    assert np.shape(found) == wanted.shape, (args, np.shape(found), wanted.shape)
    np.testing.assert_array_equal(found, wanted, err_msg=repr(args))


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("shape", SHAPES)
def test_reads(path: Path, shape: tuple[int, ...], layout: int) -> None:
    with h5py.File(path, "w") as f:
        create(f, shape, LAYOUTS[layout])
    with hyperslab.File(path) as f:
        dset = f["d"]
        values = dset[()]
        for args in cases(1, shape, 1):
            index, result = outer(values, args) if shape else ((), ())
            check_equal(dset[args], values[index].reshape(result), args)


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_orthogonal_reads(path: Path, shape: tuple[int, ...], layout: int) -> None:
    with h5py.File(path, "w") as f:
        create(f, shape, LAYOUTS[layout])
    with hyperslab.File(path) as f:
        dset = f["d"]
        values = dset[()]
        for args in cases(2, shape, len(shape)):
            index, result = outer(values, args)
            check_equal(dset.oindex[args], values[index].reshape(result), args)


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("shape", SHAPES)
def test_writes(path: Path, shape: tuple[int, ...], layout: int) -> None:
    rng = np.random.default_rng(3)
    with hyperslab.File(path, "w") as f:
        dset, expected = create(f, shape, LAYOUTS[layout])
        for number, args in enumerate(cases(4, shape, 1)):
            if any(isinstance(item, (list, np.ndarray)) and np.asarray(item).dtype != bool for item in args):
                # The order of writes to repeated coordinates is not defined.
                args = tuple(sorted({i % n for i in item}) if isinstance(item, (list, np.ndarray)) and np.asarray(item).dtype != bool else item
                             for item, n in zip(expanded(args, len(shape)), shape, strict=True))  # fmt: skip
            index, result = outer(expected, args) if shape else ((), ())
            value = rng.integers(0, 1000, result).astype("i4") if number % 3 else np.int32(-number)
            dset[args] = value
            expected[index] = np.broadcast_to(value, result).reshape(expected[index].shape)
            if number % 10 == 0:
                check_equal(dset[()], expected, args)
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][()], expected)


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_orthogonal_writes(path: Path, shape: tuple[int, ...], layout: int) -> None:
    rng = np.random.default_rng(5)
    with hyperslab.File(path, "w") as f:
        dset, expected = create(f, shape, LAYOUTS[layout])
        for _ in range(40):
            lists = [rng.permutation(size)[: int(rng.integers(0, size + 1))] for size in shape]
            value = rng.integers(0, 1000, [len(items) for items in lists]).astype("i4")
            dset.oindex[tuple(lists)] = value
            expected[np.ix_(*lists)] = value
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][()], expected)


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_points(path: Path, shape: tuple[int, ...], layout: int) -> None:
    rng = np.random.default_rng(6)
    with hyperslab.File(path, "w") as f:
        dset, expected = create(f, shape, LAYOUTS[layout])
        for _ in range(60):
            count = int(rng.integers(0, 20))
            lists = tuple(rng.integers(-size, size, count) for size in shape)
            check_equal(dset.vindex[lists], expected[lists], lists)
            mask = rng.random(shape) < 0.3
            check_equal(dset[mask], expected[mask], "mask")
            value = rng.integers(0, 1000, int(mask.sum())).astype("i4")
            dset[mask] = value
            expected[mask] = value
        chosen = rng.permutation(expected.size)[:10]
        lists = np.unravel_index(chosen, shape)
        dset.vindex[lists] = np.arange(10)
        expected[lists] = np.arange(10)
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][()], expected)


def test_points_broadcast_with_slices(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dset, values = create(f, (5, 7, 6), LAYOUTS[2])
        rows, columns = np.array([[3], [0]]), np.array([1, 5, 5])
        check_equal(dset.vindex[rows, columns], values[rows, columns], "lists and all")
        check_equal(dset.vindex[rows, columns, 2:5], values[rows, columns, 2:5], "lists and a slice")
        check_equal(dset.vindex[rows, ::-2, columns], values[rows, ::-2, columns], "a slice between lists")
        check_equal(dset.vindex[1:4, rows, columns], values[1:4, rows, columns], "a slice before lists")
        check_equal(dset.vindex[1:4, 2, columns], values[1:4, 2, columns], "an integer")
        check_equal(dset.vindex[..., [3, 0]], values[..., [3, 0]], "one list")
        check_equal(dset.vindex[1:3], values[1:3], "no list")
        dset.vindex[rows, columns[:2], 2:5] = -1
        values[rows, columns[:2], 2:5] = -1
        check_equal(dset[...], values, "write")


@pytest.mark.parametrize("args", [17, -18, (0, 0), (slice(None), 0), [17], [-18], "x", 1.5, np.ones(16, bool), np.ones((17, 2), bool)])
def test_wrong_subscripts_raise_as_in_h5py(path: Path, args: Any) -> None:
    with h5py.File(path, "w") as f:
        create(f, (17,), {})
    with hyperslab.File(path) as f, h5py.File(path) as referee:
        for dset in (f["d"], referee["d"]):
            with pytest.raises((IndexError, TypeError, ValueError, OSError)):
                dset[args]


def test_wrong_values_raise(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dset, values = create(f, (9, 11), {})
        for args, value in (((slice(0, 3), 0), [1, 2]), (..., np.zeros((9, 10))), ((0, [1, 2]), [1, 2, 3]), (0, "text")):
            with pytest.raises((TypeError, ValueError)):
                dset[args] = value
        np.testing.assert_array_equal(dset[...], values)


def test_iteration_length_and_array(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dset, values = create(f, (9, 11), LAYOUTS[2])
        assert len(dset) == 9
        np.testing.assert_array_equal(np.stack(list(dset)), values)
        np.testing.assert_array_equal(np.asarray(dset), values)
        assert np.asarray(dset, dtype="f8").dtype == np.float64
        target = np.zeros((4, 11), dtype="f8")
        dset.read_direct(target, np.s_[2:4], np.s_[1:3])
        np.testing.assert_array_equal(target[1:3], values[2:4])
        dset.write_direct(np.full((2, 11), 5, dtype="i4"), np.s_[0:1], np.s_[8:9])
        assert (dset[8] == 5).all()
        parts = list(dset.iter_chunks())
        assert len(parts) == 12 and sum(dset[part].size for part in parts) == values.size


def test_resized_datasets(path: Path) -> None:
    with hyperslab.File(path, "w") as f:
        dset = f.create_dataset("d", (3, 4), "i2", chunks=(2, 3), maxshape=(None, 10), fillvalue=-1, compression="gzip")
        dset[...] = 1
        dset.resize((5, 6))
        dset[4, 5] = 2
        dset.resize(2, axis=1)
        dset.resize(6, axis=1)
        expected = dset[...]
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][...], expected)
        assert f["d"].maxshape == (None, 10) and expected[4, 5] == -1 and expected[0, 0] == 1
