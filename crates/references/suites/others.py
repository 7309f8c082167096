"""The tests of kerchunk and of VirtualiZarr for HDF5, with the references of this package.

    python others.py kerchunk|virtualizarr FOLDER [PYTEST_ARGUMENT…]

FOLDER holds the sources of the project, as its repository has them: the tests are not part of this repository. In the
tests of kerchunk, ``SingleHdf5ToZarr`` returns the references of hyperslab; in the tests of VirtualiZarr, ``HDFParser``
is ``HyperslabParser``. The exit status is the one of pytest.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import pytest

TESTS = {
    "kerchunk": ["tests/test_hdf.py"],
    "virtualizarr": ["virtualizarr/tests/test_parsers/test_hdf", "virtualizarr/tests/test_integration.py"],
}


def patch_kerchunk() -> None:
    """Replace the translation of kerchunk."""
    import hyperslab.kerchunk
    import kerchunk.hdf

    class Translator(kerchunk.hdf.SingleHdf5ToZarr):
        """The class of kerchunk, with the references of hyperslab for files that it opens by a path or a URL."""

        def __init__(self, h5f: Any, url: str | None = None, *args: Any, inline_threshold: int = 500, **kwargs: Any) -> None:
            super().__init__(h5f, url, *args, inline_threshold=inline_threshold, **kwargs)
            self._source, self._url, self._limit = h5f, url, inline_threshold

        def translate(self, preserve_linked_dsets: bool = False) -> Any:
            source: Any = self._source
            if hasattr(source, "file") and hasattr(source, "id"):
                source = source.file.filename
            return hyperslab.kerchunk.references(
                str(source) if isinstance(source, (str, pathlib.Path)) else source,
                self._url and str(self._url), inline=int(max(0, min(self._limit, 1 << 40))), skip_unsupported=True,
            )  # fmt: skip

    kerchunk.hdf.SingleHdf5ToZarr = Translator


def patch_virtualizarr() -> None:
    """Replace the parser of VirtualiZarr."""
    import virtualizarr.parsers
    import virtualizarr.parsers.hdf
    from hyperslab.virtualizarr import HyperslabParser

    for module in (virtualizarr.parsers, virtualizarr.parsers.hdf):
        module.HDFParser = HyperslabParser


def main() -> int:
    """Run the tests of a project."""
    project, folder, *arguments = sys.argv[1:]
    sys.path.insert(0, folder)  # the tests of VirtualiZarr are modules of the package
    {"kerchunk": patch_kerchunk, "virtualizarr": patch_virtualizarr}[project]()
    root = pathlib.Path(folder)
    tests = [str(root / test) for test in TESTS[project] if (root / test).exists()]
    return pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={root}", *arguments, *tests])


if __name__ == "__main__":
    sys.exit(main())
