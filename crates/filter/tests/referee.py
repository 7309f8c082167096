"""The referee's side of `against_libhdf5.rs`: the chunks that libhdf5 stores, and the values that
libhdf5 reads from chunks of hyperslab.

`cases` returns a list of (name, element type, shape of the only chunk, function that sets up the
filter, raw bytes, fill value or None). With one argument, the program prints for each case: the name,
the number of the filter, the client data, and in hexadecimal the written bytes, the stored chunk (or
`-` if libhdf5 skipped the filter) and the bytes read back. A second argument is a file with lines
"name chunk": then the program stores these chunks instead and prints the name and the bytes read
back for each case.
"""
import sys

import h5py
import hdf5plugin  # registers its filters
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z


def noise(count, seed=1):
    return np.random.default_rng(seed).integers(0, 256, count, dtype='u1').tobytes()


def cast(tid):
    """Returns the NumPy type of one opaque element."""
    return 'V%d' % tid.get_size()


def create(file, name, tid, shape, setup, fill):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(shape)
    setup(plist)
    if fill is not None:
        plist.set_fill_value(np.array(fill))
    return h5d.create(file.id, name.encode(), tid, h5s.create_simple(shape), plist)


def read(file, name, tid, shape):
    values = np.zeros(shape, cast(tid))
    h5d.open(file.id, name.encode()).read(h5s.ALL, h5s.ALL, values, mtype=tid)
    return values.tobytes()


def main():
    path = sys.argv[1]
    chunks = None
    if len(sys.argv) > 2:
        chunks = dict(line.split() for line in open(sys.argv[2]))
    with h5py.File(path, 'w') as file:
        for name, tid, shape, setup, raw, fill in cases:
            dataset = create(file, name, tid, shape, setup, fill)
            if chunks:
                dataset.write_direct_chunk((0,) * len(shape), bytes.fromhex(chunks[name]), 0)
            else:
                values = np.frombuffer(raw, cast(tid)).reshape(shape).copy()
                dataset.write(h5s.ALL, h5s.ALL, values, mtype=tid)
    with h5py.File(path) as file:
        for name, tid, shape, setup, raw, fill in cases:
            try:
                back = read(file, name, tid, shape).hex()
            except OSError as error:
                raise OSError(name) from error
            if chunks:
                print(name, back)
                continue
            dataset = h5d.open(file.id, name.encode())
            number, _, data, _ = dataset.get_create_plist().get_filter(0)
            mask, stored = dataset.read_direct_chunk((0,) * len(shape))
            stored = '-' if mask else bytes(stored).hex()
            print(name, number, ','.join(map(str, data)), raw.hex(), stored, back, sep=';')
