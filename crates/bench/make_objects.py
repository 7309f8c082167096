"""Writes the input of the `objects` benchmark: COUNT small datasets with two attributes each.

    make_objects.py default|latest COUNT FILE
"""
import os
import sys

import h5py
import numpy as np

bound, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(7)
with h5py.File(path + ".part", "w", libver=None if bound == "default" else "latest") as f:
    for i in range(count):
        d = f.create_dataset(f"d{i:06d}", data=rng.standard_normal(16))
        d.attrs["scale"] = np.float64(i) / 7
        d.attrs["index"] = np.int32(i)
os.replace(path + ".part", path)  # a file that is there is whole
