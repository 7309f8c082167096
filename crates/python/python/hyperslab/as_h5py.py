"""Run a program with this package in the place of h5py.

``python -m hyperslab.as_h5py script.py ARGUMENT…`` or ``python -m hyperslab.as_h5py -m module ARGUMENT…``
"""

from __future__ import annotations

import os
import runpy
import sys

from .compat import install_as_h5py


def main(arguments: list[str]) -> int:
    """Run the program that the arguments name."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        print(__doc__, file=sys.stderr)
        return 2
    install_as_h5py()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
