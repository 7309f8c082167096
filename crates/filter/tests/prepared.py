"""The referee's side of `prepared.rs`: the filters that libhdf5 stores, and the values that libhdf5
reads from chunks of hyperslab.

Arguments: an output file, and a file with lines `type;fill;chunk;filter number;flags;client data`, in
which commas separate numbers. The program creates a dataset for each line and prints `error` or
`number;flags;client data;name;raw bytes`. A third argument is a file with lines `chunk mask`: then
the program stores these chunks instead and prints the bytes that libhdf5 reads. It skips lines `-`.
"""
import sys

import h5py
import hdf5plugin  # registers its filters
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z


def numbers(text):
    return tuple(int(word) for word in text.split(',') if word)


def integer(base, precision, offset):
    tid = base.copy()
    tid.set_precision(precision)
    tid.set_offset(offset)
    return tid


def record(*members):
    size = sum(member.get_size() for member in members)
    tid, offset = h5t.create(h5t.COMPOUND, size), 0
    for at, member in enumerate(members):
        tid.insert(b'm%d' % at, offset, member)
        offset += member.get_size()
    return tid


def of(dtype):
    return h5t.py_create(np.dtype(dtype), logical=True)


TYPES = {
    'i8': of('i1'), 'u16': of('<u2'), 'i32be': of('>i4'), 'u32': of('<u4'), 'i64': of('<i8'), 'u64be': of('>u8'),
    'f16': of('<f2'), 'f32': of('<f4'), 'f64': of('<f8'), 'f64be': of('>f8'),
    'i20of32': integer(h5t.STD_I32LE, 20, 3), 'u9of16be': integer(h5t.STD_U16BE, 9, 0), 'i40of64': integer(h5t.STD_I64LE, 40, 0),
    'string5': of('S5'), 'opaque3': of('V3'), 'opaque300': of('V300'), 'bool': of('?'), 'bitfield': h5t.STD_B16LE,
    'reference': of(h5py.ref_dtype), 'enum': of(h5py.enum_dtype({'a': 0, 'b': 1}, '<i4')),
    'pairs': h5t.array_create(h5t.STD_I32LE, (2,)), 'triples': h5t.array_create(h5t.STD_I32LE, (3,)),
    'arrays': h5t.array_create(h5t.array_create(h5t.STD_I16BE, (2,)), (2, 3)), 'strings': h5t.array_create(of('S3'), (2,)),
    'complex': record(h5t.IEEE_F32LE, h5t.IEEE_F32LE),
    'record': record(integer(h5t.STD_I32LE, 19, 2), of('S3'), record(h5t.IEEE_F64BE, h5t.STD_U8LE), h5t.array_create(h5t.STD_I16LE, (3,))),
}


def create(file, name, line):
    type_name, fill, chunk, number, flags, data = line.split(';')
    tid, chunk = TYPES[type_name], numbers(chunk)
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    if fill:
        plist.set_fill_value(np.array(int(fill), 'i8' if int(fill) < 0 else 'u8'))
    plist.set_filter(int(number), int(flags), numbers(data))
    dataset = h5d.create(file.id, name, tid, h5s.create_simple(chunk), plist)
    return dataset, tid, chunk


def values(tid, chunk, seed):
    """Returns values that only use the significant bits of the type, which nbit keeps, and no NaN."""
    count = int(np.prod(chunk))
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 90, count)
    memory = np.zeros(count, 'V%d' % tid.get_size())
    if tid.get_class() in (h5t.INTEGER, h5t.FLOAT):
        wide = small.astype('<f8' if tid.get_class() == h5t.FLOAT else '<i8')
        room = np.zeros(count * max(8, tid.get_size()), 'u1')
        room[:8 * count] = wide.view('u1')
        h5t.convert(of(wide.dtype), tid, count, room)
        return room[:count * tid.get_size()].tobytes()
    return memory.tobytes()


def make(path, lines):
    with h5py.File(path, 'w') as file:
        for at, line in enumerate(lines):
            try:
                dataset, tid, chunk = create(file, b'%d' % at, line)
            except (ValueError, OSError):
                print('error')
                continue
            number, flags, data, name = dataset.get_create_plist().get_filter(0)
            raw = values(tid, chunk, at).hex()
            print(number, flags, ','.join(map(str, data)), name.decode().replace(' ', '_'), raw, sep=';')


def read(path, lines, stored):
    with h5py.File(path, 'w') as file:
        for at, line in enumerate(lines):
            if len(stored[at]) == 2:
                dataset, _, chunk = create(file, b'%d' % at, line)
                dataset.write_direct_chunk((0,) * len(chunk), bytes.fromhex(stored[at][0]), int(stored[at][1]))
    # libhdf5 only sees the filter masks after the file has been reopened.
    with h5py.File(path) as file:
        for at, line in enumerate(lines):
            if len(stored[at]) != 2:
                print('-')
                continue
            dataset = h5d.open(file.id, b'%d' % at)
            tid = TYPES[line.split(';')[0]]
            back = np.zeros(dataset.shape, 'V%d' % tid.get_size())
            try:
                dataset.read(h5s.ALL, h5s.ALL, back, mtype=tid)
                print(back.tobytes().hex())
            except OSError as error:
                print(str(error).replace(' ', '_'))


lines = open(sys.argv[2]).read().split()
if len(sys.argv) > 3:
    read(sys.argv[1], lines, [line.split() for line in open(sys.argv[3])])
else:
    make(sys.argv[1], lines)
