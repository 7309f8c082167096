"""HDF5 files as NumPy arrays, without the C library.

>>> import hyperslab, numpy as np
>>> with hyperslab.File.in_memory() as f:
...     f["a"] = np.arange(4)
...     print(f["a"][1:3])
[1 2]
"""

from __future__ import annotations

import atexit as _atexit
import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING
from typing import Any as _Any

from . import _hyperslab, filters, version
from ._attributes import AttributeManager
from ._base import HLObject
from ._config import get_config
from ._dataset import Dataset
from ._datatype import Datatype
from ._dtypes import (
    check_dtype,
    check_enum_dtype,
    check_opaque_dtype,
    check_ref_dtype,
    check_string_dtype,
    check_vlen_dtype,
    enum_dtype,
    opaque_dtype,
    ref_dtype,
    regionref_dtype,
    special_dtype,
    string_dtype,
    vlen_dtype,
)
from ._empty import Empty
from ._drivers import register_driver, registered_drivers, unregister_driver
from ._file import File
from ._group import Group
from ._hyperslab import Reference, RegionReference, is_hdf5
from ._links import ExternalLink, HardLink, SoftLink
from ._progress import progress
from ._selections import MultiBlockSlice
from ._view import view
from ._virtual import UNLIMITED, VirtualLayout, VirtualSource
from .low._complex import check_complex_dtype, complex_compat_dtype

if TYPE_CHECKING:
    from .low import h5, h5a, h5ac, h5d, h5ds, h5f, h5fd, h5g, h5i, h5l, h5o, h5p, h5pl, h5r, h5s, h5t, h5z

__version__ = _hyperslab.__version__

__all__ = [
    "UNLIMITED", "AttributeManager", "Dataset", "Datatype", "Empty", "ExternalLink", "File", "Group", "HLObject",
    "HardLink", "MultiBlockSlice", "Reference", "RegionReference", "SoftLink", "VirtualLayout", "VirtualSource",
    "check_dtype", "check_enum_dtype", "check_opaque_dtype", "check_ref_dtype", "check_string_dtype",
    "check_complex_dtype", "check_vlen_dtype", "complex_compat_dtype", "enum_dtype", "filters", "get_config", "h5", "h5a", "h5ac", "h5d", "h5ds", "h5f", "h5fd", "h5g", "h5i",
    "h5l", "h5o", "h5p", "h5pl", "h5r", "h5s", "h5t", "h5z", "is_hdf5", "opaque_dtype", "progress", "ref_dtype",
    "register_driver", "registered_drivers", "regionref_dtype", "special_dtype", "string_dtype",
    "unregister_driver", "version", "view", "vlen_dtype",
]  # fmt: skip

_atexit.register(_hyperslab.end)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_hyperslab.after_fork)


def __getattr__(name: str) -> _Any:
    """Import a low-level module at its first use: few programs need one."""
    if name.startswith("h5") and name in __all__:
        return _importlib.import_module(f"{__name__}.low.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
