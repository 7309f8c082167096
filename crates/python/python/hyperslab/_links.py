"""Links as values."""

from __future__ import annotations

import os
from typing import Any


class HardLink:
    """A hard link, as ``Group.get(name, getlink=True)`` returns it."""


class SoftLink:
    """A link to a path of the same file."""

    def __init__(self, path: str) -> None:
        self._path = str(path)

    @property
    def path(self) -> str:
        """The path to which the link leads."""
        return self._path

    def __repr__(self) -> str:
        return f'<SoftLink to "{self.path}">'


class ExternalLink:
    """A link to a path of another file."""

    def __init__(self, filename: Any, path: Any) -> None:
        self._filename = os.fspath(filename)
        self._path = path

    @property
    def path(self) -> Any:
        """The path in the other file."""
        return self._path

    @property
    def filename(self) -> str:
        """The name of the other file."""
        return os.fsdecode(self._filename)

    def __repr__(self) -> str:
        return f'<ExternalLink to "{self.path}" in file "{self.filename}">'


class UserLink:
    """A user-defined link."""
