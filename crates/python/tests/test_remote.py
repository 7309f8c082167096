"""Files at URLs and in stores: a web server on this machine, obstore and fsspec."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyperslab
import numpy as np
import pytest
from hyperslab import _hyperslab
from web import Server, serve

pytestmark = pytest.mark.skipif(not hasattr(_hyperslab, "Remote"), reason="this build has no URLs (the feature cloud)")

VALUES = np.arange(400_000, dtype="<f8").reshape(400, 1000)


def example() -> bytes:
    """Return the bytes of a file."""
    buffer = io.BytesIO()
    with hyperslab.File(buffer, "w") as file:
        file.create_dataset("a", data=VALUES, chunks=(20, 500), compression="gzip", compression_opts=1)
        file["a"].attrs["unit"] = "V"
        file.create_dataset("group/text", data=["x", "yé"])
        file["plain"] = np.arange(50_000)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def data() -> bytes:
    return example()


@pytest.fixture
def server(data: bytes) -> Iterator[Server]:
    with serve(**{"dir/a.h5": data}) as running:
        yield running


def test_a_url_is_read_by_ranges(server: Server, data: bytes) -> None:
    with hyperslab.File(server.url("dir/a.h5")) as file:
        assert file.driver == "url" and file.mode == "r"
        assert np.array_equal(file["a"][...], VALUES)
        assert file["a"].attrs["unit"] == "V"
        assert list(file["group/text"].asstr()) == ["x", "yé"]
        assert file["plain"][-1] == 49_999
        usage = file.usage()
        assert usage is not None and usage["requests"] == len(server.requests) < 20
        assert usage["bytes"] <= 1.3 * len(data)
    assert all(request.split()[1] != "None" for request in server.requests)


def test_a_url_is_read_only(server: Server) -> None:
    with pytest.raises(ValueError, match="reading only"):
        hyperslab.File(server.url("dir/a.h5"), "r+")
    with hyperslab.File(server.url("dir/a.h5")) as file, pytest.raises((OSError, ValueError)):
        file["new"] = 1


def test_a_missing_object_is_named(server: Server) -> None:
    with pytest.raises(OSError, match=r"dir/b\.h5.*404|404"):
        hyperslab.File(server.url("dir/b.h5"))


def test_a_replaced_object_is_an_error(server: Server) -> None:
    with hyperslab.File(server.url("dir/a.h5"), storage_options={"first": 1024, "line": 4096}) as file:
        dataset = file["a"]
        server.objects["dir/a.h5"] = server.objects["dir/a.h5"][::-1]
        with pytest.raises(OSError, match="changed"):
            dataset[...]


def test_credentials_are_not_shown(server: Server) -> None:
    server.user = "me:secret-word"
    url = server.url("dir/a.h5", user="me:secret-word@") + "?token=hidden-word"
    with hyperslab.File(url) as file:
        texts = [repr(file), file.filename, repr(file["a"]), repr(file._file), str(pickle.dumps(file["a"]))]
        assert file["a"][3, 7] == VALUES[3, 7]
    with pytest.raises(OSError) as caught:
        hyperslab.File(server.url("dir/a.h5", user="me:wrong-word@") + "?token=hidden-word")
    texts += [str(caught.value), repr(caught.value), repr(getattr(caught.value, "hyperslab", ""))]
    for text in texts:
        assert not any(word in text for word in ("secret-word", "wrong-word", "hidden-word")), text


def test_objects_of_a_url_are_pickled(server: Server) -> None:
    with hyperslab.File(server.url("dir/a.h5"), storage_options={"parallel": 4, "aws_secret_access_key": "hidden"}) as file:
        pickled = pickle.dumps(file["a"])
    assert b"hidden" not in pickled
    again = pickle.loads(pickled)
    assert again[5, 5] == VALUES[5, 5]
    again.file.close()
    server.objects["dir/a.h5"] += b"\0"
    with pytest.raises(OSError, match="changed"):
        pickle.loads(pickled)


def test_a_file_url_is_a_path(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a b.h5"
    path.write_bytes(data)
    with hyperslab.File(path.as_uri()) as file:
        assert file.filename == str(path)
    with hyperslab.File(path.as_uri(), "r+") as file:
        file["new"] = 1


def test_unknown_settings_are_errors(server: Server) -> None:
    with pytest.raises(ValueError, match="setting"):
        hyperslab.File("s3://bucket/a.h5", storage_options={"no_such_setting": 1})


@pytest.fixture(params=["obstore", "fsspec"])
def store(request: pytest.FixtureRequest, data: bytes) -> Any:
    """Return a store of another package with a file at ``dir/a.h5``."""
    if request.param == "obstore":
        module = pytest.importorskip("obstore.store")
        memory = module.MemoryStore()
        memory.put("dir/a.h5", data)
        return memory
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/dir/a.h5", data)
    return memory


def test_stores_of_other_packages(store: Any) -> None:
    with hyperslab.File("dir/a.h5", store=store) as file:
        assert np.array_equal(file["a"][...], VALUES)
        assert np.array_equal(file["a"][5:300:7, 3], VALUES[5:300:7, 3])
        assert list(file["group/text"].asstr()) == ["x", "yé"]
        names: list[str] = []
        file.visit(names.append)
        assert sorted(names) == ["a", "group", "group/text", "plain"]
        assert file["plain"][...].sum() == np.arange(50_000).sum()
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(file["a"])
    with pytest.raises(ValueError, match="reading only"):
        hyperslab.File("dir/a.h5", "w", store=store)


def test_other_objects_are_no_stores() -> None:
    with pytest.raises(TypeError, match="obstore"):
        hyperslab.File("a.h5", store=object())


def test_a_replaced_object_of_obstore_is_an_error() -> None:
    memory = pytest.importorskip("obstore.store").MemoryStore()
    buffer = io.BytesIO()
    with hyperslab.File(buffer, "w") as file:
        file["a"] = VALUES
    memory.put("a.h5", buffer.getvalue())
    with hyperslab.File("a.h5", store=memory) as file:
        dataset = file["a"]
        memory.put("a.h5", buffer.getvalue()[::-1])
        with pytest.raises(Exception, match=r"(?i)precondition|changed"):
            dataset[...]


def test_errors_of_a_store_come_out() -> None:
    buffer = io.BytesIO()
    with hyperslab.File(buffer, "w") as file:
        file["a"] = VALUES
    data = buffer.getvalue()

    class Broken:
        def info(self, path: str) -> dict[str, Any]:
            return {"size": len(data)}

        def _strip_protocol(self, path: str) -> str:
            return path

        def cat_ranges(self, paths: list[str], starts: list[int], ends: list[int], **_: object) -> list[bytes]:
            if starts[0] > 0:
                raise ConnectionError("the line is dead")
            return [data[start:end] for start, end in zip(starts, ends, strict=True)]

    with hyperslab.File("a.h5", store=Broken()) as file, pytest.raises(ConnectionError, match="the line is dead"):
        file["a"][...]


def test_xarray_opens_urls(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "a.nc"
    with hyperslab.File(path, "w") as file:
        file["x"] = np.arange(5.0)
        file["x"].make_scale("x")
        file["v"] = np.arange(5)
        file["v"].dims[0].attach_scale(file["x"])
    with serve(**{"a.nc": path.read_bytes()}) as server:
        dataset = xarray.open_dataset(server.url("a.nc"), engine="hyperslab", storage_options={"parallel": 2})
        assert dataset["v"].dims == ("x",)
        assert dataset["v"].values.tolist() == [0, 1, 2, 3, 4]
        dataset.close()
        tree = xarray.open_datatree(server.url("a.nc"), engine="hyperslab")
        assert tree["v"].values.tolist() == [0, 1, 2, 3, 4]
        tree.close()
        entry = __import__("hyperslab.xarray").xarray.HyperslabBackendEntrypoint()
        assert entry.guess_can_open(server.url("a.nc") + "?version=2")


def test_a_url_is_read_in_a_forked_process(server: Server) -> None:
    url = server.url("dir/a.h5")
    with hyperslab.File(url) as file:
        assert file["a"][0, 1] == 1
    child = os.fork()
    if child == 0:
        try:
            with hyperslab.File(url) as file:
                os._exit(0 if file["a"][2, 2] == VALUES[2, 2] else 1)
        except BaseException:  # noqa: BLE001
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
