"""The options with which objects and files were opened and that change nothing in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._hyperslab import open_files

_FIRST_CLEANING = 64
_OBJECTS: dict[tuple[int, int], dict[str, Any]] = {}
_FILES: dict[int, dict[str, Any]] = {}


_clean_at = _FIRST_CLEANING


def _clean() -> None:
    """Forget the options of files that are closed."""
    global _clean_at
    if len(_FILES) + len(_OBJECTS) < _clean_at:
        return
    kept = set(open_files())
    for number in [number for number in _FILES if number not in kept]:
        _FILES.pop(number, None)
    for key in [key for key in _OBJECTS if key[0] not in kept]:
        _OBJECTS.pop(key, None)
    _clean_at = max(_FIRST_CLEANING, 2 * (len(_FILES) + len(_OBJECTS)))


def with_prefixes(handle: Any, options: Mapping[str, Any]) -> Any:
    """Return the handle of a dataset with the folders of other files in ``options``, if there are any."""
    given = {name: os.fsdecode(options[name]) for name in ("efile_prefix", "virtual_prefix") if options.get(name)}
    return handle.with_prefixes(**given) if given else handle


def remember(handle: Any, options: Mapping[str, Any]) -> None:
    """Keep the options of an object, by its number."""
    given = {name: value for name, value in options.items() if value is not None}
    if given:
        _clean()
        _OBJECTS.setdefault(handle.number, {}).update(given)


def recall(handle: Any) -> Mapping[str, Any]:
    """Return the options of an object."""
    return _OBJECTS.get(handle.number, {})


def remember_file(file: Any, options: Mapping[str, Any]) -> None:
    """Keep the options of a file, by its number."""
    _clean()
    _FILES[file.identity] = {name: value for name, value in options.items() if value is not None}


def recall_file(file: Any) -> Mapping[str, Any]:
    """Return the options of a file."""
    return _FILES.get(file.identity, {})
