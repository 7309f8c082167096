"""Property lists: options of access and of creation."""

from __future__ import annotations

from ._access_lists import PropDAID, PropFAID, PropLAID
from ._creation_lists import PropDCID
from ._properties import (
    PropClassID,
    PropCopyID,
    PropCreateID,
    PropDXID,
    PropFCID,
    PropGCID,
    PropID,
    PropInstanceID,
    PropLCID,
    PropOCID,
    PropTCID,
)

__all__ = [
    "PropClassID", "PropCopyID", "PropCreateID", "PropDAID", "PropDCID", "PropDXID", "PropFAID", "PropFCID",
    "PropGCID", "PropID", "PropInstanceID", "PropLAID", "PropLCID", "PropOCID", "PropTCID", "create",
]  # fmt: skip

CRT_ORDER_TRACKED, CRT_ORDER_INDEXED = 1, 2
DEFAULT = None

_CLASSES: dict[str, type[PropInstanceID]] = {
    cls.class_name: cls
    for cls in (PropCopyID, PropDAID, PropDCID, PropDXID, PropFAID, PropFCID, PropGCID, PropLAID, PropLCID, PropOCID, PropTCID)
}

NO_CLASS = PropClassID("NO_CLASS")
FILE_CREATE = PropClassID("FILE_CREATE")
FILE_ACCESS = PropClassID("FILE_ACCESS")
DATASET_CREATE = PropClassID("DATASET_CREATE")
DATASET_XFER = PropClassID("DATASET_XFER")
DATASET_ACCESS = PropClassID("DATASET_ACCESS")
OBJECT_COPY = PropClassID("OBJECT_COPY")
LINK_CREATE = PropClassID("LINK_CREATE")
LINK_ACCESS = PropClassID("LINK_ACCESS")
GROUP_CREATE = PropClassID("GROUP_CREATE")
OBJECT_CREATE = PropClassID("OBJECT_CREATE")


def create(cls: PropClassID) -> PropInstanceID:
    """Return a new property list of a class."""
    try:
        return _CLASSES[cls.name]()
    except KeyError:
        raise ValueError(f"No property lists of the class {cls!r}") from None
