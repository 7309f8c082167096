"""Reports of the progress of reads and writes."""

from __future__ import annotations

import threading
from pathlib import Path

import h5py
import numpy as np
import pytest

import hyperslab

SIZE = 40_000_000


def is_ascending(reports: list[tuple[int, int]], total: int) -> bool:
    """Return whether reports end with all bytes and never go back."""
    done = [report[0] for report in reports]
    return done == sorted(set(done)) and done[-1] == total and {report[1] for report in reports} == {total}


@pytest.mark.parametrize("options", [{}, {"chunks": (700, 100), "compression": "gzip", "compression_opts": 1}])
def test_long_reads_and_writes_report(path: Path, options: dict[str, object]) -> None:
    values = np.arange(SIZE // 4, dtype="i4").reshape(-1, 100)
    writes: list[tuple[int, int]] = []
    reads: list[tuple[int, int]] = []
    with hyperslab.File(path, "w", durability="none") as f:
        dataset = f.create_dataset("a", values.shape, values.dtype, **options)
        with hyperslab.progress(lambda done, total: writes.append((done, total))):
            dataset[...] = values
    assert len(writes) > 5 and is_ascending(writes, SIZE)
    with hyperslab.File(path) as f, hyperslab.progress(lambda done, total: reads.append((done, total))):
        assert (f["a"][...] == values).all()
        assert len(reads) > 5 and is_ascending(reads, SIZE)
        reads.clear()
        assert f["a"][3, 5] == 305 and reads == [(4, 4)]
    with h5py.File(path) as f:
        assert (f["a"][...] == values).all()


def test_a_report_can_end_a_read(path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise RuntimeError(f"enough after {done} of {total}")

    with hyperslab.File(path, "w", durability="none") as f:
        f["a"] = np.zeros(SIZE, "u1")
        with hyperslab.progress(stop), pytest.raises(RuntimeError, match="enough after [0-9]+ of 40000000"):
            f["a"][...]
        assert f["a"][...].sum() == 0


def test_reports_belong_to_a_thread_and_a_block(path: Path) -> None:
    outer: list[int] = []
    inner: list[int] = []
    with hyperslab.File(path, "w") as f:
        f["a"] = np.zeros(10)
        with hyperslab.progress(lambda done, total: outer.append(done)):
            with hyperslab.progress(lambda done, total: inner.append(done)):
                f["a"][...]
            other = threading.Thread(target=lambda: f["a"][...])
            other.start()
            other.join()
            assert (outer, inner) == ([], [80])
            f["a"][:5]
        f["a"][...]
    assert (outer, inner) == ([40], [80])


def test_the_bar(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with hyperslab.File(path, "w", durability="none") as f:
        f["a"] = np.zeros(SIZE, "u1")
        with hyperslab.progress():
            f["a"][...]
    shown = capsys.readouterr().err
    assert shown.endswith(f"\r[{'#' * 40}] 100% of 40.0 MB\n") and shown.count("\r") > 5
