"""Names of files."""

from __future__ import annotations

import os
from typing import Any


def filename_encode(name: Any) -> bytes:
    """Return the name of a file as bytes."""
    return os.fsencode(name)


def filename_decode(name: Any) -> str:
    """Return the name of a file as text."""
    return os.fsdecode(name)
