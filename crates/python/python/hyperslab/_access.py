"""The options with which objects and files were opened and that change nothing in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OBJECTS: dict[tuple[int, int], dict[str, Any]] = {}
_FILES: dict[int, dict[str, Any]] = {}


def remember(handle: Any, options: Mapping[str, Any]) -> None:
    """Keep the options of an object, by its number."""
    given = {name: value for name, value in options.items() if value is not None}
    if given:
        _OBJECTS.setdefault(handle.number, {}).update(given)


def recall(handle: Any) -> Mapping[str, Any]:
    """Return the options of an object."""
    return _OBJECTS.get(handle.number, {})


def remember_file(file: Any, options: Mapping[str, Any]) -> None:
    """Keep the options of a file, by its number."""
    _FILES[file.identity] = {name: value for name, value in options.items() if value is not None}


def recall_file(file: Any) -> Mapping[str, Any]:
    """Return the options of a file."""
    return _FILES.get(file.identity, {})
