"""The viewer of files in notebooks and browsers."""

from __future__ import annotations

import html
import os
import webbrowser
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from . import _hyperslab as core
from ._base import HLObject
from ._remote import is_url

if TYPE_CHECKING:
    from collections.abc import Callable

#: The ports and pages of the running servers, by process, file and names of hosts.
SERVERS: dict[tuple[int, str, str], tuple[int, str]] = {}

#: Pages of every site may show the viewer in a frame: they cannot read what the frame shows, and need
#: the token to address it.
FRAMES = ["http:", "https:", "vscode-webview:"]


class View:
    """A file in the viewer. Notebooks show it in a frame; ``open`` shows it in the browser."""

    def __init__(self, url: str, name: str, height: int) -> None:
        #: The address of the page. Everyone who knows it can read the file.
        self.url = url
        self._name = name
        self._height = height

    def open(self) -> View:
        """Show the file in the browser of the user."""
        webbrowser.open(self.url)
        return self

    def __repr__(self) -> str:
        return f"<hyperslab view of {self._name!r}>"

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{int(self._height)}px;border:1px solid #ccc"
        title = html.escape(self._name, quote=True)
        return f'<iframe src="{html.escape(self.url, quote=True)}" title="{title}" style="{style}"></iframe>'


def view(file: Any, path: str | None = None, *, height: int = 600, proxy: str | None = None) -> View:
    """Show a file of this machine in H5Web, in the output of a notebook or in the browser.

    ``file`` is a path, or an open file, group or dataset of a file on disk. ``path`` selects an object. The file is
    read by a server of this process, which only this machine reaches. If the browser runs on another machine,
    ``proxy`` is the address at which it reaches ports of this machine, such as ``/user/me/proxy/{port}`` with
    jupyter-server-proxy.
    """
    serve: Callable[..., tuple[int, str]] | None = getattr(core, "serve", None)
    if serve is None:
        raise RuntimeError("this build of hyperslab has no viewer")
    if isinstance(file, HLObject):
        if path is None:
            path = file.name
        if file.file.mode != "r":
            file.file.flush()
        file = file.file.filename
    name = os.fspath(file)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if is_url(name) or not os.path.isfile(name):
        raise FileNotFoundError(f"{name!r} is no file of this machine")
    host = (urlsplit(proxy).hostname or "") if proxy else ""
    key = (os.getpid(), os.path.realpath(name), host)
    if key not in SERVERS:
        SERVERS[key] = serve(name, FRAMES, [host] if host else [])
    port, page = SERVERS[key]
    base = proxy.format(port=port).rstrip("/") if proxy else f"http://127.0.0.1:{port}"
    selected = f"&path={quote(path, safe='/')}" if path else ""
    return View(f"{base}{page}{selected}", os.path.basename(name), height)
