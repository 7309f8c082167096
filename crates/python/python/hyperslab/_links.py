"""The kinds of links."""

from typing import Any

from ._names import file_name, text_name


class HardLink:
    """A link that is a name of an object."""


class SoftLink:
    """A link to a path of the same file."""

    def __init__(self, path: str | bytes) -> None:
        self._path = text_name(path) if isinstance(path, bytes) else str(path)

    @property
    def path(self) -> str:
        """The path, which may have no object."""
        return self._path

    def __repr__(self) -> str:
        return f'<SoftLink to "{self.path}">'


class ExternalLink:
    """A link to a path of another file."""

    def __init__(self, filename: Any, path: str | bytes) -> None:
        self._filename = file_name(filename)
        self._path = text_name(path) if isinstance(path, bytes) else str(path)

    @property
    def path(self) -> str:
        """The path in the other file."""
        return self._path

    @property
    def filename(self) -> str:
        """The name of the other file."""
        return self._filename

    def __repr__(self) -> str:
        return f'<ExternalLink to "{self.path}" in file "{self.filename}"'


def link_object(parts: tuple[Any, ...]) -> HardLink | SoftLink | ExternalLink:
    """Return the link that the core describes."""
    match parts:
        case ("hard",):
            return HardLink()
        case ("soft", path):
            return SoftLink(path)
        case ("external", filename, path):
            return ExternalLink(filename, path)
    raise TypeError(f"Unknown link type: {parts[0]}")


def link_class(parts: tuple[Any, ...]) -> type:
    """Return the class of the link that the core describes."""
    classes: dict[str, type] = {"hard": HardLink, "soft": SoftLink, "external": ExternalLink}
    try:
        return classes[parts[0]]
    except KeyError:
        raise TypeError(f"Unknown link type: {parts[0]}") from None
