"""Names of files, links and attributes."""

import os
from typing import Any

StrOrBytes = str | bytes


def file_name(name: Any) -> str:
    """Return the name of a file as text; bytes are decoded as the operating system decodes names."""
    return os.fsdecode(name)


def link_name(name: Any) -> str | bytes:
    """Return the name of a link, or raise TypeError if it is neither text nor bytes."""
    if isinstance(name, (str, bytes)):
        return name
    raise TypeError(f"A name should be string or bytes, not {type(name)}")


def optional_link_name(name: Any) -> str | bytes | None:
    """Return the name of a link; None is an object without a link."""
    return None if name is None else link_name(name)


def text_name(name: str | bytes) -> str:
    """Return a name as text."""
    return name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")


def filename_encode(name: Any) -> bytes:
    """Return the name of a file as bytes."""
    return os.fsencode(name)


def filename_decode(name: Any) -> str:
    """Return the name of a file as text."""
    return os.fsdecode(name)
