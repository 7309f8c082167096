"""The notebook of the book: all its cells run, and groups and datasets show HTML."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[3] / "docs/python/tour.ipynb"
missing = [name for name in ("nbclient", "ipykernel") if importlib.util.find_spec(name) is None]
needs_kernel = pytest.mark.skipif(bool(missing), reason=f"the notebook needs {' and '.join(missing)}")


@needs_kernel
def test_cells_run(tmp_path: Path) -> None:
    """The cells run in their order, and show a tree, a table of properties and pictures."""
    import nbclient
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = html_of(notebook)
    dataset, group, sparse = shown
    assert "<b>/entry/detector/frame</b>" in dataset and "data:image/png;base64," in dataset
    assert "(200, 300)" in dataset and "shuffle" in dataset and "zstd" in dataset
    assert "temperature: (11,) float64" in group and "peaks" in group
    assert "<b>/entry/bright</b>" in sparse and "data:image/png;base64," in sparse


def html_of(notebook: Any) -> list[str]:
    """Return the HTML outputs of a notebook that ran."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]


def test_stored_without_outputs() -> None:
    """The notebook in the repository has no outputs: changes of it stay readable."""
    import json

    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert all(not cell.get("outputs") for cell in cells)
