"""The viewer: a server of this process for one file, and its page in a frame."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

import hyperslab
from hyperslab import _view


def get(url: str) -> bytes:
    """Return the body of an answer."""
    with urllib.request.urlopen(url, timeout=60) as response:
        body: bytes = response.read()
        return body


def make(folder: Path) -> Path:
    """Make a file with a group and a dataset."""
    path = folder / "run 1.h5"
    with hyperslab.File(path, "w") as file:
        file["entry/data"] = np.arange(6).reshape(2, 3)
    return path


def test_page_and_answers(tmp_path: Path) -> None:
    """The frame has an address whose page and answers need no cookie."""
    shown = hyperslab.view(make(tmp_path), "/entry/data", height=300)
    frame = shown._repr_html_()
    assert "height:300px" in frame and frame.count("<iframe") == 1
    match = re.fullmatch(r"(http://127\.0\.0\.1:\d+/t/[\w-]{22}/)\?file=run%201%2Eh5&path=/entry/data", shown.url)
    assert match, shown.url
    assert b"page/viewer.js" in get(shown.url)
    base = match[1]
    assert len(get(base + "page/viewer.js")) > 100_000
    assert json.loads(get(base + "api/data?path=/entry/data")) == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(base.replace("/t/", "/t/x") + "api/meta")


def test_one_server_for_a_file(tmp_path: Path) -> None:
    """Views of one file share a server, and objects select their own path."""
    path = make(tmp_path)
    first = hyperslab.view(path)
    with hyperslab.File(path) as file:
        second = hyperslab.view(file["entry/data"])
        third = hyperslab.view(file)
    assert second.url == f"{first.url}&path={quote('/entry/data')}"
    assert third.url == f"{first.url}&path=/"
    assert "run 1.h5" in repr(first)


def test_other_files(tmp_path: Path) -> None:
    """Only files on the disk of this machine are shown."""
    with pytest.raises(FileNotFoundError):
        hyperslab.view(tmp_path / "none.h5")
    with pytest.raises(FileNotFoundError):
        hyperslab.view("https://example.org/a.h5")
    with pytest.raises(FileNotFoundError), hyperslab.File.in_memory() as file:
        hyperslab.view(file)


def test_proxy(tmp_path: Path) -> None:
    """A proxy leads to the port of the server."""
    path = make(tmp_path)
    shown = hyperslab.view(path, proxy="/user/me/proxy/{port}")
    port = next(port for key, (port, _) in _view.SERVERS.items() if key[1] == str(path.resolve()))
    assert shown.url.startswith(f"/user/me/proxy/{port}/t/")


def test_frame_escapes_names(tmp_path: Path) -> None:
    """A name cannot leave the attribute of the frame."""
    path = tmp_path / "a\"><script>&'.h5"
    with hyperslab.File(path, "w"):
        pass
    shown = hyperslab.view(path, '/"><b>')
    frame = shown._repr_html_()
    assert "<script" not in frame and "<b>" not in frame
    assert b"viewer.js" in get(shown.url)
