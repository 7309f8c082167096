"""Dask arrays from and to datasets.

Workers open a file by its path, so that a graph can run in other processes. To write, workers
encode chunks and send the bytes to one process, which stores them: HDF5 has one writer.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np

from ._dataset import Dataset
from ._file import File
from ._pickling import reopen


def from_hdf5(path: Any, name: str, chunks: Any = "file") -> Any:
    """Return a dataset as a Dask array.

    ``chunks`` are those of Dask, or "file": whole chunks of the dataset, joined to at least 32 MiB.
    """
    import dask.array as da

    with File(path, "r") as file:
        dataset = file[name]
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{name!r} is no dataset")
        dataset = dataset_of(os.fspath(path), name)
    if chunks == "file":
        chunks = joined_chunks(dataset)
    return da.from_array(dataset, chunks=chunks, name=f"{os.fspath(path)}:{name}-{_token(path)}", asarray=True, fancy=False)


def _token(path: Any) -> str:
    status = os.stat(path)
    return f"{status.st_size}-{status.st_mtime_ns}"


def dataset_of(path: str, name: str) -> Dataset:
    """Return a dataset of a file, which keeps the file open."""
    status = os.stat(path)
    found = reopen(os.path.realpath(path), status.st_size, status.st_mtime_ns, "Dataset", name)
    if not isinstance(found, Dataset):
        raise TypeError(f"{name!r} is no dataset")
    return found


def joined_chunks(dataset: Dataset, target: int = 32 << 20) -> tuple[int, ...]:
    """Return a shape of whole chunks of the dataset with about ``target`` bytes."""
    shape = dataset.shape
    chunk = list(dataset.chunks or shape)
    for axis in reversed(range(len(shape))):
        size = int(np.prod(chunk, dtype=np.int64)) * dataset.dtype.itemsize
        if size >= target:
            break
        factor = max(1, min(target // max(size, 1), -(-shape[axis] // max(chunk[axis], 1))))
        chunk[axis] = min(chunk[axis] * factor, shape[axis])
    return tuple(max(n, 1) for n in chunk)


def encode_chunk(block: np.ndarray[Any, Any], chunk: tuple[int, ...], dtype: Any, filters: str | None) -> bytes:
    """Return a block of an array as the encoded bytes of one chunk."""
    whole = np.zeros(chunk, dtype=dtype)
    whole[tuple(slice(0, n) for n in block.shape)] = block
    with File.in_memory() as file:
        options = {} if filters is None else {"filters": filters}
        dataset = file.create_dataset("chunk", chunk, dtype, chunks=chunk, **options)
        dataset[...] = whole
        mask, data = dataset._handle.read_chunk((0,) * len(chunk))
    if mask:
        raise ValueError("a filter skipped a chunk: such chunks cannot be sent encoded")
    return bytes(data)


def to_hdf5(
    array: Any, path: Any, name: str, *, filters: str | None = None, mode: Literal["w", "a", "x"] = "a", scheduler: Any = None
) -> None:
    """Store a Dask array as a dataset whose chunks are the blocks of the array.

    Workers encode the chunks with ``filters``, such as "shuffle,zstd=3", and this process stores the
    encoded bytes one after the other. The dataset appears only when all its chunks are stored.
    """
    chunk = tuple(int(sizes[0]) for sizes in array.chunks)
    for sizes in array.chunks:
        if any(n != sizes[0] for n in sizes[:-1]) or sizes[-1] > sizes[0]:
            raise ValueError("the blocks of the array differ in size: call array.rechunk() first")
    import itertools

    from dask.delayed import delayed

    encoded = [
        (tuple(at * n for at, n in zip(index, chunk, strict=True)), delayed(encode_chunk)(block, chunk, array.dtype, filters))
        for index, block in zip(
            itertools.product(*(range(len(sizes)) for sizes in array.chunks)), array.to_delayed().ravel(), strict=True
        )
    ]
    options = {} if filters is None else {"filters": filters}
    with File(path, mode) as file:
        temporary = f"{name}.unfinished"
        if temporary in file:
            del file[temporary]
        dataset = file.create_dataset(temporary, array.shape, array.dtype, chunks=chunk, **options)
        try:
            for offset, data in finished(encoded, scheduler):
                dataset._handle.write_chunk(offset, data, 0)
        except BaseException:
            del file[temporary]
            raise
        file.move(temporary, name)


def finished(tasks: list[Any], scheduler: Any) -> Any:
    """Yield the results of tasks as they become ready: with a client of dask.distributed, or in batches."""
    from dask.base import compute

    client = scheduler if hasattr(scheduler, "compute") else None
    if client is None:
        for first in range(0, len(tasks), 64):
            part = tasks[first : first + 64]
            options = {} if scheduler is None else {"scheduler": scheduler}
            results = compute(*(task for _, task in part), **options)
            yield from zip((offset for offset, _ in part), results, strict=True)
        return
    from dask.distributed import as_completed

    futures = {future: offset for (offset, _), future in zip(tasks, client.compute([task for _, task in tasks]), strict=True)}
    for future, data in as_completed(list(futures), with_results=True):
        yield futures[future], data
        future.release()
