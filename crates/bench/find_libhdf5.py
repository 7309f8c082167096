"""Prints the libhdf5 that comes with h5py, and its version."""
import glob
import os

import h5py

folder = os.path.join(os.path.dirname(os.path.dirname(h5py.__file__)), "h5py.libs")
found = [path for path in sorted(glob.glob(os.path.join(folder, "libhdf5*.so*"))) if "_hl" not in os.path.basename(path)]
print(found[0] if found else "")
print(h5py.version.hdf5_version)
