"""The package in the place of h5py, for programs that import h5py."""

from __future__ import annotations

import importlib
import math
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from ._empty import Empty

LOW = (
    "h5", "h5a", "h5ac", "h5d", "h5ds", "h5f", "h5fd", "h5g", "h5i", "h5l", "h5o", "h5p", "h5pl", "h5r", "h5s", "h5t",
    "h5z",
)  # fmt: skip
# The modules of h5py and the modules of this package whose names they have.
PARTS = {
    "_hl.attrs": ("_attributes",),
    "_hl.base": ("_base", "_empty"),
    "_hl.dataset": ("_dataset", "_views", "_selections"),
    "_hl.datatype": ("_datatype",),
    "_hl.dims": ("_dimensions",),
    "_hl.files": ("_file",),
    "_hl.filters": ("filters",),
    "_hl.group": ("_group", "_links"),
    "_hl.selections": ("low._selections", "_selections"),
    "_hl.selections2": ("low._selections",),
    "_hl.vds": ("_virtual",),
    "_objects": ("low._objects",),
    "_selector": ("low._selector",),
    "h5py_warnings": ("_warnings",),
    "filters": ("filters",),
    "version": ("version",),
}
CLASSES = {
    "AttributeManager": "h5py._hl.attrs", "Dataset": "h5py._hl.dataset", "Datatype": "h5py._hl.datatype",
    "Empty": "h5py._hl.base", "File": "h5py._hl.files", "Group": "h5py._hl.group", "HLObject": "h5py._hl.base",
    "HardLink": "h5py._hl.group", "SoftLink": "h5py._hl.group", "ExternalLink": "h5py._hl.group",
    "VirtualLayout": "h5py._hl.vds", "VirtualSource": "h5py._hl.vds",
}  # fmt: skip


def is_empty_dataspace(identifier: Any) -> bool:
    """Return True if a dataset or an attribute has the null dataspace."""
    return identifier.shape is None


def _alias(name: str, sources: tuple[str, ...]) -> ModuleType:
    """Return a module with all names of modules of this package."""
    made = ModuleType(name)
    made.__path__ = []
    for source in reversed(sources):
        found = importlib.import_module(f"{__package__}.{source}")
        made.__dict__.update({key: value for key, value in vars(found).items() if not key.startswith("__")})
    return made


def _extras(modules: dict[str, ModuleType]) -> None:
    """Add the names that h5py has in other modules than this package."""
    from . import _drivers, _names, is_hdf5

    base, files = modules["_hl.base"].__dict__, modules["_hl.files"].__dict__
    base.update(is_hdf5=is_hdf5, Empty=Empty, is_empty_dataspace=is_empty_dataspace, product=math.prod, phil=modules["_objects"].phil)
    files.update(_drivers=_drivers.driver_functions(), direct_vfd=False, ros3=False, mpi=False, make_fapl=_drivers.driver_options)
    modules["_hl.dataset"].__dict__["_LEGACY_GZIP_COMPRESSION_VALS"] = range(10)
    modules["_hl.vds"].__dict__["vds_support"] = True
    modules["_hl.compat"] = compat = ModuleType("h5py._hl.compat")
    compat.__dict__.update(filename_encode=_names.filename_encode, filename_decode=_names.filename_decode)
    modules["_errors"] = errors = ModuleType("h5py._errors")
    errors.__dict__.update(silence_errors=lambda: None, unsilence_errors=lambda: None)


def install_as_h5py(path: list[str] | None = None) -> ModuleType:
    """Put the package under the name ``h5py`` into ``sys.modules``, with the modules of h5py that programs import.

    Classes get the names of h5py's modules, and subscripts of datasets the limits of h5py. ``path`` is a list of folders with further modules.
    """
    from ._creation import guess_as_h5py
    from ._hyperslab import set_strict

    package = importlib.import_module(str(__package__))
    set_strict(True)
    guess_as_h5py(True)
    top = ModuleType("h5py")
    top.__dict__.update({key: value for key, value in vars(package).items() if not key.startswith("__")})
    top.__doc__, top.__path__ = package.__doc__, list(path or [])
    top.__dict__["__version__"] = package.version.version
    modules = {name: _alias(f"h5py.{name}", sources) for name, sources in PARTS.items()}
    _extras(modules)
    modules["_hl"] = ModuleType("h5py._hl")
    modules["_hl"].__path__ = []
    modules.update({name: importlib.import_module(f"{__package__}.low.{name}") for name in LOW})
    sys.modules["h5py"] = top
    for name, module in modules.items():
        sys.modules[f"h5py.{name}"] = module
        parent, _, leaf = name.rpartition(".")
        (modules[parent] if parent else top).__dict__[leaf] = module
    for name, module_name in CLASSES.items():
        vars(package)[name].__module__ = module_name
    return top


_HIDDEN: dict[str, ModuleType] = {}
# `sys.modules` belongs to all threads: one thread at a time exchanges modules.
_EXCHANGE = threading.RLock()


def _take(names: tuple[str, ...]) -> dict[str, ModuleType]:
    """Remove modules and their parts from ``sys.modules`` and return them."""
    found = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in found}


@contextmanager
def installed_as_h5py() -> Iterator[ModuleType]:
    """Put the package in the place of h5py for a while: h5netcdf of the block works with it.

    Modules h5py and h5netcdf that the process has imported before are the same again afterwards, and
    subscripts keep the meaning of this package.
    """
    from ._creation import guess_as_h5py
    from ._hyperslab import set_strict

    with _EXCHANGE:
        present = sys.modules.get("h5py")
        if present is not None and getattr(present, "File", None) is importlib.import_module(f"{__package__}._file").File:
            yield present
            return
        names = ("h5py", "h5netcdf")
        others = _take(names)
        sys.modules.update(_HIDDEN)
        try:
            top = sys.modules["h5py"] if "h5py" in _HIDDEN else install_as_h5py()
            set_strict(False)
            guess_as_h5py(False)
            yield top
        finally:
            _HIDDEN.update(_take(names))
            sys.modules.update(others)
