"""HDF5 files at URLs and in stores for asyncio.

>>> import asyncio, hyperslab.aio
>>> async def main():
...     async with hyperslab.aio.AsyncFile("s3://bucket/run42.h5") as file:
...         frames = await file.dataset("entry/frames")
...         return await frames.read((17, ...))

No call blocks the thread of the event loop. One thread of the process sends all requests; further threads decode. A
cancelled task cancels its requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import Any, TypeVar

from . import _hyperslab as core
from ._dataset import Dataset
from ._file import File
from ._remote import is_url, reader_of, storage_of

__all__ = ["AsyncDataset", "AsyncFile"]

T = TypeVar("T")

#: The bytes of a block of ``AsyncDataset.blocks``.
BLOCK_BYTES = 64 << 20


async def _result_of(start: Callable[[Callable[[Any, Any], None]], Any]) -> Any:
    """Start work of the compiled module, and wait for its result."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def end(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def done(value: Any, error: BaseException | None) -> None:
        try:
            loop.call_soon_threadsafe(end, value, error)
        except RuntimeError:  # the loop is closed
            pass

    task = start(done)
    try:
        return await future
    except asyncio.CancelledError:
        task.cancel()
        raise


class AsyncFile:
    """A file at a URL or in a store, open for reading. Await it, or use it with ``async with``.

    Work on the file is a function that reads as usual: ``await file.run(lambda f: f["a"].attrs["unit"])``. If it needs
    bytes that are not there, it fails, the bytes are fetched together, and it is called again. So it must not have
    effects that a repetition would spoil.
    """

    def __init__(self, url: str, *, store: Any = None, storage_options: Mapping[str, Any] | None = None) -> None:
        """Make a file that is opened when it is awaited.

        ``url`` is a URL, or the path in ``store``: a store of obstore or a file system of fsspec, whose blocking methods
        other threads call. ``storage_options`` are settings of the reader, and of the store of a URL.
        """
        if not hasattr(core, "AsyncFile"):
            raise NotImplementedError("this build of hyperslab has no URLs (the feature cloud)")
        if store is None and not is_url(url):
            raise ValueError(f"a URL is needed, such as s3://bucket/file.h5, or a path with store=, not {url!r}")
        if getattr(store, "asynchronous", False):
            raise TypeError("a file system of fsspec with asynchronous=False is needed: other threads call its methods")
        self._url: str | None = url
        self._store = store
        self._storage: dict[str, Any] | None = storage_of(storage_options)
        self._name = core.without_credentials(url) if store is None else f"store:{url}"
        self._opened: core.AsyncFile | None = None
        self._file: File | None = None

    async def open(self) -> AsyncFile:
        """Open the file. An open file stays as it is."""
        if self._opened is None:
            url, storage = self._url, self._storage
            if url is None or storage is None:
                raise ValueError("the file is closed")
            if self._store is None:
                self._opened = await _result_of(lambda done: core.AsyncFile.open(url, {}, storage, done))
            else:
                reader = await asyncio.to_thread(reader_of, url, self._store)
                self._opened = await _result_of(lambda done: core.AsyncFile.open_ranges(reader, {}, storage, done))
            self._url = self._storage = self._store = None
            self._file = File(self._opened.file)
        return self

    def __await__(self) -> Generator[Any, None, AsyncFile]:
        return self.open().__await__()

    async def __aenter__(self) -> AsyncFile:
        return await self.open()

    async def __aexit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._url = self._storage = self._store = None
        if self._file is not None:
            self._file.close()

    @property
    def name(self) -> str:
        """The URL without credentials."""
        return self._name

    async def run(self, work: Callable[[File], T]) -> T:
        """Return the result of ``work`` with the file, which is called until all its bytes are there."""
        await self.open()
        opened, file = self._opened, self._file
        assert opened is not None and file is not None
        return await _result_of(lambda done: opened.run(lambda: work(file), done))  # type: ignore[no-any-return]

    async def keys(self, path: str = "/") -> list[str]:
        """Return the names of the members of a group."""
        return await self.run(lambda file: list(file[path]))

    async def attributes(self, path: str = "/") -> dict[str, Any]:
        """Return the attributes of an object."""
        return await self.run(lambda file: dict(file[path].attrs))

    async def dataset(self, path: str) -> AsyncDataset:
        """Return a dataset."""

        def find(file: File) -> Dataset:
            found = file[path]
            if not isinstance(found, Dataset):
                raise TypeError(f"{path!r} is no dataset")
            found.shape, found.dtype, found.chunks, found.size  # noqa: B018 - the properties need no further bytes
            return found

        return AsyncDataset(self, await self.run(find))

    async def prefetch_metadata(self, path: str = "/") -> None:
        """Fetch the metadata of an object and of all objects below it, level by level."""
        await self.open()
        opened = self._opened
        assert opened is not None
        await _result_of(lambda done: opened.prefetch(path, done))

    def usage(self) -> dict[str, int]:
        """Return the counts of requests, bytes and rounds since the file was opened."""
        if self._opened is None:
            return {"requests": 0, "bytes": 0, "rounds": 0}
        return self._opened.usage()

    def __repr__(self) -> str:
        state = "open" if self._file else "not open"
        return f"<AsyncFile {self._name!r} ({state})>"

    def __reduce__(self) -> Any:
        raise TypeError("an AsyncFile cannot be pickled: open it again in the other process")


class AsyncDataset:
    """A dataset of an ``AsyncFile``. Its shape, dtype and chunks need no waiting."""

    def __init__(self, file: AsyncFile, dataset: Dataset) -> None:
        """Make a dataset; ``AsyncFile.dataset`` does it."""
        self._file = file
        self._dataset = dataset

    @property
    def name(self) -> str | None:
        """The path of the dataset."""
        return self._dataset.name

    @property
    def shape(self) -> Any:
        """The shape."""
        return self._dataset.shape

    @property
    def dtype(self) -> Any:
        """The dtype of NumPy."""
        return self._dataset.dtype

    @property
    def chunks(self) -> Any:
        """The shape of a chunk; None without chunks."""
        return self._dataset.chunks

    async def run(self, work: Callable[[Dataset], T]) -> T:
        """Return the result of ``work`` with the dataset, as ``AsyncFile.run``."""
        dataset = self._dataset
        return await self._file.run(lambda _: work(dataset))

    async def read(self, selection: Any = ()) -> Any:
        """Return the selected elements: ``await dataset.read(numpy.s_[17, :100])``."""
        return await self.run(lambda dataset: dataset[selection])

    async def attributes(self) -> dict[str, Any]:
        """Return the attributes."""
        return await self.run(lambda dataset: dict(dataset.attrs))

    async def blocks(self, nbytes: int = BLOCK_BYTES) -> AsyncIterator[tuple[slice, Any]]:
        """Yield the elements in blocks of rows, with their slices. The next block is fetched while one is used."""
        rows = self._rows(nbytes)
        length = self.shape[0]
        slices = [slice(start, min(start + rows, length)) for start in range(0, length, rows)]
        pending: list[asyncio.Task[Any]] = []
        try:
            for number, where in enumerate(slices):
                for ahead in slices[number + len(pending) : number + 2]:
                    pending.append(asyncio.ensure_future(self.read(ahead)))
                yield where, await pending.pop(0)
        finally:
            for task in pending:
                task.cancel()

    def _rows(self, nbytes: int) -> int:
        """Return the number of rows of a block: whole chunks of about ``nbytes`` bytes."""
        if not self.shape:
            raise TypeError("a scalar dataset has no blocks")
        row = max(1, self.dtype.itemsize * self._dataset.size // max(1, self.shape[0]))
        chunk = self.chunks[0] if self.chunks else 1
        return int(max(chunk, nbytes // row // chunk * chunk))

    def __repr__(self) -> str:
        return f"<AsyncDataset {self.name!r}: shape {self.shape}, type {self.dtype}>"
