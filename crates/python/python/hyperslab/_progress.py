"""Reports of the progress of long reads and writes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import _hyperslab as core

Report = Callable[[int, int], object]


def _show(done: int, total: int) -> None:
    """Show the progress as one line of the standard error stream."""
    share = done / total if total else 1.0
    bar = "#" * int(share * 40)
    sys.stderr.write(f"\r[{bar:<40}] {share:4.0%} of {total / 1e6:,.1f} MB" + ("\n" if done >= total else ""))
    sys.stderr.flush()


@contextmanager
def progress(report: Report | None = None) -> Iterator[None]:
    """Report the progress of the reads and writes of this thread in a block.

    ``report(done, total)`` gets numbers of bytes after each part of a read or write of numbers. An
    exception of the function ends the read or write; the parts before it stay written. Without a
    function, the standard error stream shows a bar.

    >>> import hyperslab, numpy as np
    >>> reports = []
    >>> with hyperslab.File.in_memory() as f, hyperslab.progress(lambda done, total: reports.append((done, total))):
    ...     f["a"] = np.zeros(1_000_000)
    >>> reports[-1]
    (8000000, 8000000)
    """
    before = core.set_progress(report or _show)
    try:
        yield
    finally:
        core.set_progress(before)
