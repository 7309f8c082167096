"""The listings of the book and of the READMEs: each ``pycon`` listing prints the output that its page shows.

The listings of a page run in their order with common names, in a folder of the page.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "crates/python/README.md",
    ROOT / "docs/python-exceptions.md",
    *sorted((ROOT / "docs/python").glob("*.md")),
]
# Packages that the listings of a page need beside NumPy.
NEEDS = {
    "README.md": (),
    "cloud.md": ("fsspec",),
    "sparse.md": ("scipy",),
    "tables.md": ("pyarrow", "pandas"),
    "xarray-and-dask.md": ("xarray", "h5netcdf", "dask"),
}
LISTING = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def listings(text: str) -> str:
    """Return the text of the listings; all other lines are empty, so that line numbers stay."""
    kept = []
    end = 0
    for found in LISTING.finditer(text):
        kept.append("\n" * text.count("\n", end, found.start(1)))
        kept.append(found.group(1))
        end = found.end(1)
    return "".join(kept)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_listings(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listings of a page print the output that the page shows."""
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    name = str(page.relative_to(ROOT))
    examples = doctest.DocTestParser().get_doctest(listings(page.read_text("utf-8")), {}, name, str(page), 0)
    monkeypatch.chdir(tmp_path)
    printed: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=printed.append)
    assert not result.failed, "".join(printed)


def test_most_pages_have_listings() -> None:
    """A page whose listings are no longer found is an error."""
    empty = [page.name for page in PAGES if not listings(page.read_text("utf-8")).strip()]
    assert empty == ["python-exceptions.md"]
