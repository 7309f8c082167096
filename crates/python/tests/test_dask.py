"""Dask arrays: threads, and processes of which one dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hyperslab

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from hyperslab.dask import from_hdf5, joined_chunks, to_hdf5  # noqa: E402

DATA = np.arange(300 * 170, dtype="f8").reshape(300, 170)


def make(path: Path) -> None:
    """Write a chunked dataset with h5py."""
    with h5py.File(path, "w") as f:
        f.create_dataset("g/d", data=DATA, chunks=(40, 50), compression="gzip", shuffle=True)
        f["scalar"] = 5


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
@pytest.mark.parametrize("chunks", ["file", (100, 60), "auto"])
def test_reads(path: Path, scheduler: str, chunks: Any) -> None:
    make(path)
    array = from_hdf5(path, "g/d", chunks)
    assert array.shape == DATA.shape and array.dtype == DATA.dtype
    np.testing.assert_array_equal((array * 2)[::3, 5:].compute(scheduler=scheduler), (DATA * 2)[::3, 5:])
    assert float(array.sum().compute(scheduler=scheduler)) == DATA.sum()


def test_wrong_names(path: Path) -> None:
    make(path)
    with pytest.raises(KeyError):
        from_hdf5(path, "absent")
    with pytest.raises(TypeError):
        from_hdf5(path, "g")


def test_joined_chunks(path: Path) -> None:
    make(path)
    with hyperslab.File(path) as f:
        assert joined_chunks(f["g/d"]) == DATA.shape
        for target in (1, 20_000, 70_000, 200_000):
            found = joined_chunks(f["g/d"], target)
            assert all(n % c == 0 or n == size for n, c, size in zip(found, (40, 50), DATA.shape, strict=True))


@pytest.mark.parametrize("filters", [None, "shuffle,deflate=2", "zstd=3"])
@pytest.mark.parametrize("chunks", [(100, 85), (64, 64), (300, 170), (7, 170)])
def test_writes(path: Path, filters: str | None, chunks: Any) -> None:
    to_hdf5(da.from_array(DATA, chunks=chunks), path, "g/d", filters=filters, scheduler="threads")
    with hyperslab.File(path) as f:
        np.testing.assert_array_equal(f["g/d"][...], DATA)
        assert f["g/d"].chunks == chunks and list(f["g"]) == ["d"]
    if filters is None or "zstd" not in filters:
        with h5py.File(path) as f:
            np.testing.assert_array_equal(f["g/d"][...], DATA)


def test_a_pipeline_from_file_to_file(path: Path, tmp_path: Path) -> None:
    make(path)
    to_hdf5(from_hdf5(path, "g/d", (50, 50)) + 1, tmp_path / "out.h5", "d", filters="deflate=1")
    to_hdf5((from_hdf5(path, "g/d", (50, 50)) > 7).astype("u1"), tmp_path / "out.h5", "mask")
    with h5py.File(tmp_path / "out.h5") as f:
        np.testing.assert_array_equal(f["d"][...], DATA + 1)
        np.testing.assert_array_equal(f["mask"][...], DATA > 7)


def test_failing_tasks_leave_no_dataset(path: Path) -> None:
    def fail(block: Any, block_info: Any = None) -> Any:
        if block_info and block_info[0]["chunk-location"] == (2, 1):
            raise ArithmeticError("no value")
        return block

    array = da.from_array(DATA, chunks=(60, 60)).map_blocks(fail, dtype=DATA.dtype)
    with pytest.raises(ArithmeticError):
        to_hdf5(array, path, "d", scheduler="threads")
    with h5py.File(path) as f:
        assert len(f) == 0
    with pytest.raises(ValueError, match="rechunk"):
        to_hdf5(da.from_array(DATA, chunks=((100, 50, 150), 170)), path, "d")


CLUSTER = """
import os, signal, sys, threading, time
import dask.array as da, numpy as np
from dask.distributed import Client, LocalCluster
from hyperslab.dask import from_hdf5, to_hdf5

def slow(block):
    time.sleep(0.05)
    return block + 1

def main():
    source, target, kill = sys.argv[1:]
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        array = from_hdf5(source, "g/d", (20, 20)).map_blocks(slow, dtype="f8")
        victim = sorted(client.run(os.getpid).values())[0]
        if kill == "yes":
            threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
        start = time.monotonic()
        try:
            to_hdf5(array, target, "d", filters="deflate=1", scheduler=client)
        except Exception as error:
            print("raised", type(error).__name__)
        else:
            print("written")
        print(victim in client.run(os.getpid).values(), time.monotonic() - start, file=sys.stderr)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("kill", ["no", "yes"])
def test_a_cluster_whose_worker_is_killed(path: Path, tmp_path: Path, run_python: Callable[..., Any], kill: str) -> None:
    make(path)
    target = tmp_path / "target.h5"
    done = run_python(CLUSTER, path, target, kill, timeout=180)
    assert done.returncode == 0, done.stderr
    written = done.stdout.startswith("written")
    assert written or (kill == "yes" and done.stdout.startswith("raised")), done.stdout + done.stderr
    for library in (h5py, hyperslab):
        with library.File(target) as f:
            assert ("d" in f) == written
            if written:
                np.testing.assert_array_equal(f["d"][...], DATA + 1)


WRITER = """
import os, signal, sys, threading
import dask.array as da, numpy as np
from hyperslab.dask import to_hdf5
array = da.ones((400, 400), chunks=(20, 20))
def slow(block, block_info=None):
    if block_info and block_info[0]["chunk-location"] == (10, 10):
        os.kill(os.getpid(), signal.SIGKILL)
    return block
to_hdf5(array.map_blocks(slow, dtype="f8"), sys.argv[1], "d", scheduler="threads")
"""


def test_a_killed_writer_leaves_no_dataset(path: Path, run_python: Callable[..., Any]) -> None:
    make(path)
    done = run_python(WRITER, path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with hyperslab.File(path, "r+") as f:
        assert "d" not in f
        np.testing.assert_array_equal(f["g/d"][...], DATA)
    to_hdf5(da.ones((10, 10)), path, "d")
    with h5py.File(path) as f:
        assert "d.unfinished" not in f and f["d"].shape == (10, 10)
    assert os.path.getsize(path) > 0
