"""Versions: of this package, and of the library that it stands in for."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy

from . import _hyperslab


class H5PyVersion(NamedTuple):
    """The parts of a version."""

    major: int
    minor: int
    bugfix: int
    pre: str | None = None
    post: str | None = None
    dev: str | None = None


# The version of h5py whose interface this package has: other packages ask for it.
version = "3.16.0"
version_tuple = H5PyVersion(3, 16, 0)
api_version_tuple = (1, 8)
api_version = "1.8"
hdf5_version = "2.0.0"
hdf5_version_tuple = (2, 0, 0)
hdf5_built_version_tuple = (2, 0, 0)
info = f"""\
hyperslab {_hyperslab.__version__}, with the interface of h5py {version} and the format of HDF5 {hdf5_version}
Python {sys.version}
numpy {numpy.__version__}
"""
