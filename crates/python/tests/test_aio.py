"""Files at URLs for asyncio."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections.abc import Iterator
from typing import Any

import hyperslab
import hyperslab.aio
import numpy as np
import pytest
from hyperslab import _hyperslab
from test_remote import VALUES, example
from web import Server, serve

pytestmark = pytest.mark.skipif(not hasattr(_hyperslab, "AsyncFile"), reason="this build has no URLs (the feature cloud)")


@pytest.fixture(scope="module")
def data() -> bytes:
    return example()


@pytest.fixture
def server(data: bytes) -> Iterator[Server]:
    with serve(**{"a.h5": data}) as running:
        yield running


def test_a_file_is_read(server: Server) -> None:
    async def main() -> None:
        async with hyperslab.aio.AsyncFile(server.url("a.h5"), storage_options={"first": 2048, "line": 4096}) as file:
            assert await file.keys() == ["a", "group", "plain"]
            assert await file.attributes("a") == {"unit": "V"}
            dataset = await file.dataset("a")
            assert (dataset.shape, dataset.dtype, dataset.chunks) == ((400, 1000), np.float64, (20, 500))
            assert np.array_equal(await dataset.read(), VALUES)
            assert np.array_equal(await dataset.read(np.s_[17, :100]), VALUES[17, :100])
            assert await file.run(lambda file: file["group/text"].asstr()[1]) == "yé"
            assert file.usage()["requests"] == len(server.requests)
            with pytest.raises(KeyError):
                await file.keys("missing")
            with pytest.raises(TypeError, match="no dataset"):
                await file.dataset("group")
        with pytest.raises(ValueError, match="closed|not open"):
            await dataset.read()

    asyncio.run(main())


def test_blocks_are_fetched_ahead(server: Server) -> None:
    async def main() -> None:
        file = await hyperslab.aio.AsyncFile(server.url("a.h5"))
        dataset = await file.dataset("a")
        parts = [(where, part) async for where, part in dataset.blocks(300_000)]
        assert [where.start for where, _ in parts] == list(range(0, 400, 20))
        assert np.array_equal(np.concatenate([part for _, part in parts]), VALUES)
        file.close()

    asyncio.run(main())


def test_the_loop_runs_while_bytes_come(server: Server) -> None:
    async def main() -> None:
        file = await hyperslab.aio.AsyncFile(server.url("a.h5"), storage_options={"first": 2048, "line": 4096})
        dataset = await file.dataset("a")
        server.gate = threading.Event()
        task = asyncio.ensure_future(dataset.read())
        ticks = 0
        for _ in range(20):
            await asyncio.sleep(0.01)
            ticks += 1
        assert not task.done() and ticks == 20
        server.gate.set()
        assert np.array_equal(await task, VALUES)

    asyncio.run(main())


def test_a_cancelled_read_leaves_nothing_behind(server: Server) -> None:
    async def main() -> None:
        file = await hyperslab.aio.AsyncFile(server.url("a.h5"), storage_options={"first": 2048, "line": 4096})
        dataset = await file.dataset("a")
        server.gate = threading.Event()
        task = asyncio.ensure_future(dataset.read())
        await asyncio.sleep(0.1)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - started < 5
        server.gate.set()
        assert np.array_equal(await dataset.read(np.s_[:40]), VALUES[:40])

    asyncio.run(main())


def test_many_tasks_share_a_file(server: Server) -> None:
    async def main() -> None:
        file = await hyperslab.aio.AsyncFile(server.url("a.h5"), storage_options={"first": 2048, "line": 4096})
        dataset = await file.dataset("a")
        rows = await asyncio.gather(*(dataset.read(np.s_[4 * number]) for number in range(100)))
        assert all(np.array_equal(row, VALUES[4 * number]) for number, row in enumerate(rows))

    asyncio.run(main())


def test_an_exception_of_the_work_comes_out(server: Server) -> None:
    def work(file: hyperslab.File) -> None:
        file["a"][0, 0]
        raise ZeroDivisionError("mine")

    async def main() -> None:
        async with hyperslab.aio.AsyncFile(server.url("a.h5")) as file:
            with pytest.raises(ZeroDivisionError, match="mine"):
                await file.run(work)

    asyncio.run(main())


@pytest.fixture(params=["obstore", "fsspec"])
def store(request: pytest.FixtureRequest, data: bytes) -> Any:
    """Return a store of another package with a file at ``dir/a.h5``."""
    if request.param == "obstore":
        memory = pytest.importorskip("obstore.store").MemoryStore()
        memory.put("dir/a.h5", data)
        return memory
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe_file("/dir/a.h5", data)
    return memory


def test_stores_of_other_packages(store: Any) -> None:
    async def main() -> None:
        options = {"first": 2048, "line": 4096}
        async with hyperslab.aio.AsyncFile("dir/a.h5", store=store, storage_options=options) as file:
            assert file.name == "store:dir/a.h5" and await file.keys() == ["a", "group", "plain"]
            dataset = await file.dataset("a")
            rows = await asyncio.gather(*(dataset.read(np.s_[4 * number]) for number in range(100)))
            assert all(np.array_equal(row, VALUES[4 * number]) for number, row in enumerate(rows))
            assert file.usage()["requests"] > 3
        with pytest.raises((OSError, FileNotFoundError)):
            await hyperslab.aio.AsyncFile("dir/missing.h5", store=store)

    asyncio.run(main())


def test_a_replaced_object_of_a_store_is_an_error(data: bytes) -> None:
    memory = pytest.importorskip("obstore.store").MemoryStore()
    memory.put("a.h5", data)

    async def main() -> None:
        async with hyperslab.aio.AsyncFile("a.h5", store=memory, storage_options={"first": 2048, "line": 4096}) as file:
            dataset = await file.dataset("a")
            memory.put("a.h5", data[::-1])
            with pytest.raises(OSError, match=r"(?i)precondition|changed"):
                await dataset.read()

    asyncio.run(main())


def test_other_objects_are_no_stores() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="obstore"):
            await hyperslab.aio.AsyncFile("a.h5", store=object())

    asyncio.run(main())


def test_failures_and_credentials(server: Server) -> None:
    async def main() -> None:
        with pytest.raises(OSError, match="404"):
            await hyperslab.aio.AsyncFile(server.url("missing.h5"))
        server.user = "me:secret-word"
        file = hyperslab.aio.AsyncFile(server.url("a.h5", user="me:secret-word@"))
        assert "secret-word" not in repr(file) + file.name
        await file
        assert "secret-word" not in repr(file) + repr(vars(file))
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(file)

    asyncio.run(main())
    with pytest.raises(ValueError, match="URL"):
        hyperslab.aio.AsyncFile("a.h5")
