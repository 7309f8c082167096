"""Paths through external links whose files are opened with options of the caller."""

from __future__ import annotations

import os
from typing import Any

from . import _hyperslab as core
from ._access import recall_file

_MOST_LINKS = 64


class LinkAccess:
    """The options with which files of external links are opened."""

    def __init__(self, file: Any, mode: str | None, locking: Any, swmr: bool | None) -> None:
        writable, swmr_active = file._file.writable, file.swmr_mode
        if mode == "r+" and not writable:
            raise ValueError("A file of an external link cannot be written from a file that is open for reading only")
        if writable and swmr_active and (mode == "r" or swmr is False):
            raise ValueError("A file of an external link has the mode of a file that is written with SWMR")
        self.mode = mode or file.mode
        self.locking = recall_file(file._file).get("locking") if locking is None else locking
        self.swmr = swmr_active if swmr is None else swmr
        self._left = _MOST_LINKS

    def find(self, group: core.Group, path: str, *, link: bool = False) -> tuple[core.Group, str]:
        """Return the group of the last link of a path, and the name of the link.

        ``link`` is True if the last link itself is wanted; otherwise it is followed if it is external.
        """
        if path.startswith("/"):
            group = group.file.root
        names = [name for name in path.split("/") if name not in ("", ".")]
        for at, name in enumerate(names):
            last = at == len(names) - 1
            if last and link:
                return group, name
            rest = "/".join(names[at + 1 :])
            target = group.link(name)
            if target is not None and target[0] == "external":
                inside = "/".join(part for part in (target[2], rest) if part)
                return self.find(self._open(group, target[1]), "/" + inside.lstrip("/"), link=link)
            if target is not None and target[0] == "soft":
                self._count()
                inside = "/".join(part for part in (target[1], rest) if part)
                return self.find(group, inside, link=link)
            if last:
                return group, name
            child = group.get(name)
            if not isinstance(child, core.Group):
                raise KeyError(f"Unable to open object (component not found: {name!r})")
            group = child
        return group, "."

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyError("Unable to open object (too many links in the path)")

    def _open(self, group: core.Group, name: str) -> core.Group:
        from ._file import File

        self._count()
        beside = os.path.join(os.path.dirname(os.path.abspath(group.file.name)), name)
        path = beside if os.path.exists(beside) else name
        try:
            opened = File(path, self.mode, swmr=self.swmr, locking=self.locking)
        except FileNotFoundError as error:
            raise KeyError(f"Unable to open external file {name!r}") from error
        return opened._handle  # type: ignore[no-any-return]
