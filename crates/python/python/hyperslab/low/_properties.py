"""The base of property lists."""

from __future__ import annotations

from typing import Any, Self

from ._objects import ObjectID


class PropID(ObjectID):
    """A property list or a class of property lists."""

    def equal(self, plist: PropID) -> bool:
        """Return True for equal lists."""
        return self == plist


class PropClassID(PropID):
    """A class of property lists."""

    def __init__(self, name: str) -> None:
        super().__init__(1)
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PropClassID) and self.name == other.name

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<property list class {self.name}>"


class PropInstanceID(PropID):
    """A property list: names and values."""

    class_name = "NO_CLASS"

    def __init__(self) -> None:
        super().__init__(1)
        self.values: dict[str, Any] = {}

    def copy(self) -> Self:
        """Return a copy."""
        made = type(self)()
        made.values = dict(self.values)
        return made

    def get_class(self) -> PropClassID:
        """Return the class."""
        return PropClassID(self.class_name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PropInstanceID) and type(self) is type(other) and self.values == other.values

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class PropCreateID(PropInstanceID):
    """Options of what is created."""


class PropCopyID(PropCreateID):
    """Options of a copy."""

    class_name = "OBJECT_COPY"

    def set_copy_object(self, flags: int) -> None:
        """Set the flags of a copy."""
        self.values["copy_object"] = flags

    def get_copy_object(self) -> int:
        """Return the flags of a copy."""
        return int(self.values.get("copy_object", 0))


class PropOCID(PropCreateID):
    """Options of new objects."""

    class_name = "OBJECT_CREATE"

    def set_attr_phase_change(self, max_compact: int = 8, min_dense: int = 6) -> None:
        """Set the numbers of attributes at which their storage changes its form."""
        if not 0 <= max_compact < 65536 or not 0 <= min_dense < 65536 or min_dense > max_compact + 1:
            raise ValueError("max_compact and min_dense must be less than 65536, and min_dense not above max_compact")
        self.values["attr_phase_change"] = (max_compact, min_dense)

    def get_attr_phase_change(self) -> tuple[int, int]:
        """Return the numbers of attributes at which their storage changes its form."""
        found: tuple[int, int] = self.values.get("attr_phase_change", (8, 6))
        return found

    def set_attr_creation_order(self, flags: int) -> None:
        """Set the flags of the creation order of attributes."""
        self.values["attr_creation_order"] = int(flags)

    def get_attr_creation_order(self) -> int:
        """Return the flags of the creation order of attributes."""
        return int(self.values.get("attr_creation_order", 0))

    def set_obj_track_times(self, track_times: bool) -> None:
        """Store times in new objects, or not."""
        self.values["track_times"] = bool(track_times)

    def get_obj_track_times(self) -> bool:
        """Return True if new objects store times."""
        return bool(self.values.get("track_times", True))


class PropGCID(PropOCID):
    """Options of new groups."""

    class_name = "GROUP_CREATE"

    @classmethod
    def of_group(cls, handle: Any) -> Self:
        """Return the options with which a group was created."""
        made = cls()
        made.values["link_creation_order"] = 3 if handle.order_tracked() else 0
        made.values["attr_creation_order"] = 3 if handle.attribute_order_tracked() else 0
        return made

    def set_link_creation_order(self, flags: int) -> None:
        """Set the flags of the creation order of links."""
        self.values["link_creation_order"] = int(flags)

    def get_link_creation_order(self) -> int:
        """Return the flags of the creation order of links."""
        return int(self.values.get("link_creation_order", 0))


class PropFCID(PropOCID):
    """Options of new files."""

    class_name = "FILE_CREATE"

    set_link_creation_order = PropGCID.set_link_creation_order
    get_link_creation_order = PropGCID.get_link_creation_order

    @classmethod
    def of_file(cls, file: Any) -> Self:
        """Return the options with which a file was created."""
        made = cls()
        info = file.info()
        made.values.update(info)
        made.values["link_creation_order"] = made.values["attr_creation_order"] = 3 if info.get("track_order") else 0
        return made

    def get_version(self) -> tuple[int, int, int, int]:
        """Return the versions of parts of the file."""
        return int(self.values.get("superblock_version", 0)), 0, 0, 0

    def set_userblock(self, size: int) -> None:
        """Set the size of the user block."""
        self.values["user_block"] = int(size)

    def get_userblock(self) -> int:
        """Return the size of the user block."""
        return int(self.values.get("user_block", 0))

    def set_sizes(self, addr: int, size: int) -> None:
        """Set the sizes of addresses and lengths."""
        self.values["sizes"] = (addr, size)

    def get_sizes(self) -> tuple[int, int]:
        """Return the sizes of addresses and lengths."""
        found: tuple[int, int] = self.values.get("sizes", (8, 8))
        return found

    def set_file_space_strategy(self, strategy: int, persist: bool, threshold: int) -> None:
        """Set the strategy for free space."""
        self.values.update(fs_strategy=("fsm", "page", "aggregate", "none")[strategy], fs_persist=persist, fs_threshold=threshold)

    def get_file_space_strategy(self) -> tuple[int, bool, int]:
        """Return the strategy for free space."""
        name = self.values.get("fs_strategy") or "fsm"
        number = ("fsm", "page", "aggregate", "none").index(name)
        return number, bool(self.values.get("fs_persist", False)), int(self.values.get("fs_threshold", 1))

    def set_file_space_page_size(self, size: int) -> None:
        """Set the size of pages."""
        self.values["fs_page_size"] = int(size)

    def get_file_space_page_size(self) -> int:
        """Return the size of pages."""
        return int(self.values.get("fs_page_size") or 4096)


class PropLCID(PropCreateID):
    """Options of new links."""

    class_name = "LINK_CREATE"

    def set_char_encoding(self, encoding: int) -> None:
        """Set the character set of names."""
        self.values["char_encoding"] = encoding

    def get_char_encoding(self) -> int:
        """Return the character set of names."""
        return int(self.values.get("char_encoding", 0))

    def set_create_intermediate_group(self, create: bool) -> None:
        """Create missing groups of a path, or not."""
        self.values["intermediate"] = bool(create)

    def get_create_intermediate_group(self) -> bool:
        """Return True if missing groups of a path are created."""
        return bool(self.values.get("intermediate", False))


class PropTCID(PropOCID):
    """Options of new committed datatypes."""

    class_name = "DATATYPE_CREATE"


class PropDXID(PropInstanceID):
    """Options of reads and writes."""

    class_name = "DATASET_XFER"
