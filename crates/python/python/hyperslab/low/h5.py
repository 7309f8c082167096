"""Settings and orders of iteration."""

from __future__ import annotations

from .._config import Config as H5PYConfig
from .._config import get_config as get_config
from ..version import hdf5_version_tuple

INDEX_NAME, INDEX_CRT_ORDER = 0, 1
ITER_INC, ITER_DEC, ITER_NATIVE = 0, 1, 2

HDF5_VERSION_COMPILED_AGAINST = hdf5_version_tuple

__all__ = ["H5PYConfig", "get_config", "get_libversion"]


def get_libversion() -> tuple[int, ...]:
    """Return the version of HDF5 whose format this package knows."""
    return tuple(hdf5_version_tuple)
