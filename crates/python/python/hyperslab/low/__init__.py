"""The low-level interface of h5py, as far as other packages use it, over the handles of this package."""

from __future__ import annotations

from typing import Any

from .. import _hyperslab as core


def identifier(handle: Any) -> Any:
    """Return the low-level identifier of the object of a handle."""
    if isinstance(handle, core.Dataset):
        from .h5d import DatasetID

        return DatasetID(handle)
    if isinstance(handle, core.Group):
        from .h5g import GroupID

        return GroupID(handle)
    if isinstance(handle, core.File):
        from .h5f import FileID

        return FileID(handle, handle.root)
    from ._type_ids import type_id

    return type_id(handle)
