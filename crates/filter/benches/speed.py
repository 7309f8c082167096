"""The referee's side of `speed.rs`: the CPU time of libhdf5 for the same chunks.

Arguments: an output folder, and a part of the names of the cases to run (may be empty). The program
writes the raw chunk of each case to `NAME.raw` and the stored chunk to `NAME.chunk`. For each case
it prints the name, the number and client data of each filter, and the seconds of CPU time that
libhdf5 needs to read and to write one chunk.
"""
import os
import sys
import time

import h5py
import hdf5plugin  # registers its filters
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

CHUNK = 1 << 20
CHUNKS = 8
folder, wanted = sys.argv[1:3]


def number(base, precision, offset=0):
    tid = base.copy()
    tid.set_precision(precision)
    tid.set_offset(offset)
    return tid


def float20():
    tid = h5t.IEEE_F32LE.copy()
    tid.set_fields(26, 20, 6, 7, 13)
    tid.set_offset(7)
    tid.set_precision(20)
    return tid


def compound(size, *members):
    tid = h5t.create(h5t.COMPOUND, size)
    for at, (offset, member) in enumerate(members):
        tid.insert(b'm%d' % at, offset, member)
    return tid


rng = np.random.default_rng(7)
walk = rng.integers(-9, 10, CHUNK).cumsum() + 20000
smooth = np.sin(np.arange(CHUNK) / 3000) * 40 + rng.normal(0, 0.01, CHUNK)
frame = rng.poisson(1.5 + 40 * (rng.random(CHUNK) < 0.01))
noise = rng.integers(0, 256, CHUNK, dtype='u1').tobytes()


def plain(*filters):
    """Returns a function that sets up filters, given as (number, client data)."""
    return lambda plist: [plist.set_filter(id, h5z.FLAG_OPTIONAL, data) for id, data in filters]


def cases():
    nbit = lambda plist: plist.set_filter(h5z.FILTER_NBIT, 0, ())
    yield 'nbit.i2.12', number(h5t.STD_I16LE, 12), noise, nbit
    yield 'nbit.i4.17', number(h5t.STD_I32LE, 17), noise, nbit
    yield 'nbit.i4be.17.3', number(h5t.STD_I32BE, 17, 3), noise, nbit
    yield 'nbit.i4.24', number(h5t.STD_I32LE, 24), noise, nbit
    yield 'nbit.i8.33', number(h5t.STD_I64LE, 33), noise, nbit
    yield 'nbit.float20', float20(), noise, nbit
    yield 'nbit.array', h5t.array_create(number(h5t.STD_I32LE, 19, 2), (4,)), noise, nbit
    record = compound(16, (0, number(h5t.STD_I32LE, 19, 2)), (4, number(h5t.STD_I16BE, 9)), (8, number(h5t.STD_I64LE, 40)))
    yield 'nbit.compound', record, noise, nbit

    for dtype in ['i1', '<i2', '<i4', '>i4', '<i8']:
        values = (walk % 100).astype(dtype) if dtype == 'i1' else walk.astype(dtype)
        yield 'scaleoffset.' + dtype, dtype, values, lambda p: p.set_scaleoffset(2, 0)
    for dtype in ['<f4', '<f8', '>f8']:
        yield 'scaleoffset.' + dtype, dtype, smooth.astype(dtype), lambda p: p.set_scaleoffset(0, 3)

    for dtype in ['u1', '<i2', '<i4', '<f4', '<f8']:
        values = smooth.astype(dtype) if 'f' in dtype else walk.astype(dtype)
        yield f'szip.nn.{dtype}', dtype, values, lambda p: p.set_szip(h5z.SZIP_NN_OPTION_MASK, 16)
        small = rng.geometric(0.05, CHUNK).clip(0, 255).astype(dtype)
        yield f'szip.ec.{dtype}', dtype, small, lambda p: p.set_szip(h5z.SZIP_EC_OPTION_MASK, 16)

    for size in [2, 4, 8, 12, 16]:
        yield f'shuffle.{size}', f'V{size}', noise, lambda p: p.set_shuffle()
    yield 'fletcher32', 'u1', noise, lambda p: p.set_fletcher32()
    yield 'lzf.i4', '<i4', walk.astype('<i4'), plain((32000, ()))
    yield 'lzf.shuffled', '<i4', walk.astype('<i4'), plain((2, ()), (32000, ()))
    for dtype in ['<i2', '<f4', '<f8']:
        yield f'bitshuffle.{dtype}', dtype, smooth.astype(dtype), plain((32008, (0, 0)))
        yield f'bitshuffle.lz4.{dtype}', dtype, smooth.astype(dtype), plain((32008, (0, 2)))
    for dtype in ['<u2', '<u4']:
        yield f'bitshuffle.lz4.counts.{dtype}', dtype, frame.astype(dtype), plain((32008, (0, 2)))
    for name, id, data in [('deflate', 1, (4,)), ('zstd', 32015, (3,)), ('lz4', 32004, ())]:
        for dtype in ['<f4', '<f8', '<i4']:
            values = (smooth if 'f' in dtype else walk).astype(dtype)
            yield f'{name}.{dtype}', dtype, values, plain((id, data))
            yield f'{name}.shuffled.{dtype}', dtype, values, plain((2, ()), (id, data))


def least(times, run):
    best = float('inf')
    for _ in range(times):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best / CHUNKS


def measure(name, tid, raw, setup):
    if isinstance(tid, str):
        tid = h5t.py_create(np.dtype(tid))
    raw = (raw if isinstance(raw, bytes) else raw.tobytes())
    raw = raw[:CHUNK // tid.get_size() * tid.get_size()]
    count = len(raw) // tid.get_size()
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fapl_core(backing_store=False)
    file = h5f.create(b'memory', h5f.ACC_TRUNC, fapl=access)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((count,))
    plist.set_fill_time(h5d.FILL_TIME_NEVER)
    setup(plist)
    uncached = h5p.create(h5p.DATASET_ACCESS)
    uncached.set_chunk_cache(0, 0, 1)
    dataset = h5d.create(file, b'x', tid, h5s.create_simple((count * CHUNKS,)), plist, dapl=uncached)
    values = np.frombuffer(raw * CHUNKS, 'V%d' % tid.get_size()).copy()
    write = least(3, lambda: dataset.write(h5s.ALL, h5s.ALL, values, mtype=tid))
    mask, stored = dataset.read_direct_chunk((0,))
    assert mask == 0, name
    read = least(7, lambda: dataset.read(h5s.ALL, h5s.ALL, values, mtype=tid))
    filters = dataset.get_create_plist()
    parts = []
    for at in range(filters.get_nfilters()):
        id, _, data, _ = filters.get_filter(at)
        parts.append(' '.join(map(str, [id, *data])))
    open(os.path.join(folder, name + '.raw'), 'wb').write(values[:count].tobytes())
    open(os.path.join(folder, name + '.chunk'), 'wb').write(stored)
    print(name, '|'.join(parts), read, write, sep=';')


for name, tid, raw, setup in cases():
    if wanted in name:
        measure(name, tid, raw, setup)
