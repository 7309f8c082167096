"""Writes the missing inputs of the `arrays` benchmark:  make_arrays.py FOLDER NAME...

Every file has one dataset, `x`. Formulas generate the data, so that every run writes the same.
"""
import os
import sys

import h5py
import hdf5plugin
import numpy as np

folder, names = sys.argv[1], sys.argv[2:]
SIDE = 4096


def smooth():
    i, j = np.arange(SIDE)[:, None], np.arange(SIDE)[None, :]
    noise = np.random.default_rng(1).standard_normal((SIDE, SIDE))
    a = 280 + 20 * np.sin(i * 0.004) * np.cos(j * 0.006) + 5 * np.sin(i * 0.05 + j * 0.03) + 0.05 * noise
    return (np.round(a * 1024) / 1024).astype("<f4")


def counts():
    i, j = np.arange(SIDE)[:, None], np.arange(SIDE)[None, :]
    light = 20 + 15 * np.sin(i * 0.01) * np.sin(j * 0.013)
    return np.random.default_rng(2).poisson(np.maximum(light, 0)).astype("<i4")


def big():
    return (np.arange(8192 * 16384, dtype=np.uint64) * 2654435761 % 2**32).astype("<f4").reshape(8192, 16384)


def ramp(kind):
    return (np.arange(32 << 20) % 30000).astype(kind)


def records():
    count = 2_000_000
    packed = np.dtype([("id", "<i4"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("e", "<f4"), ("flag", "<i2")])
    r = np.zeros(count, packed)
    r["id"] = np.arange(count)
    r["x"], r["y"], r["z"] = r["id"] * 0.5, r["id"] * 0.25, r["id"]
    return r


def words():
    rng = np.random.default_rng(9)
    lengths = rng.integers(5, 26, 1_000_000)
    letters = rng.integers(97, 123, int(lengths.sum()), dtype=np.uint8).tobytes().decode()
    ends = np.cumsum(lengths)
    return [letters[end - length : end] for length, end in zip(lengths, ends)]


def nbit(f):
    """Returns a type with twelve significant bits of 32."""
    space = h5py.h5s.create_simple((SIDE, SIDE))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((256, 256))
    plist.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
    kind = h5py.h5t.STD_I32LE.copy()
    kind.set_precision(12)
    kind.set_offset(0)
    dataset = h5py.h5d.create(f.id, b"x", kind, space, plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(counts()), h5py.h5t.NATIVE_INT32)


def chunked(data, **filters):
    return lambda f: f.create_dataset("x", data=data(), chunks=(256, 256), **filters)


def million(f, maxshape):
    values = (np.arange(16_000_000) % 1000).astype("<f4")
    f.create_dataset("x", data=values, chunks=(16,), maxshape=maxshape)


def tall(f):
    """Writes 4 GiB in chunks of 1 MiB, slab by slab."""
    x = f.create_dataset("x", (1 << 15, 1 << 15), "<f4", chunks=(512, 512), compression="gzip", compression_opts=1)
    row = (np.arange(1 << 15) % 1000).astype("<f4")
    for at in range(0, 1 << 15, 512):
        x[at : at + 512] = row[None, :] + np.arange(at, at + 512, dtype="<f4")[:, None]


SOURCES, ROW = 1000, 16384


def virtual(f):
    """Writes a virtual dataset, whose rows are datasets in files of their own."""
    sources = os.path.join(folder, "virtual_sources")
    os.makedirs(sources, exist_ok=True)
    layout = h5py.VirtualLayout((SOURCES, ROW), "<f4")
    for number in range(SOURCES):
        name = f"virtual_sources/{number:04}.h5"
        with h5py.File(os.path.join(folder, name), "w") as source:
            source["row"] = (np.arange(ROW) + number).astype("<f4")
        layout[number] = h5py.VirtualSource(name, "row", (ROW,), "<f4")
    f.create_virtual_dataset("x", layout)


def indexed(f, maxshape):
    """Writes 100 000 encoded chunks of 512 bytes."""
    count, size = 100_000, 64
    x = f.create_dataset("x", (count, size), "<f8", chunks=(1, size), maxshape=maxshape)
    row = (np.arange(size) % 1000).astype("<f8")
    for number in range(count):
        x.id.write_direct_chunk((number, 0), (row + number).tobytes())


latest = {"libver": "latest"}
MAKERS = {
    "contiguous": (lambda f: f.create_dataset("x", data=big()), {}),
    "chunked": (chunked(big), {}),
    "none": (chunked(smooth), {}),
    "gzip": (chunked(smooth, compression="gzip", compression_opts=4), {}),
    "shuffle_gzip": (chunked(smooth, compression="gzip", compression_opts=4, shuffle=True), {}),
    "zstd": (chunked(smooth, **hdf5plugin.Zstd(clevel=3)), {}),
    "blosc_lz4": (chunked(smooth, **hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=1)), {}),
    "lzf": (chunked(smooth, compression="lzf"), {}),
    "fletcher32": (chunked(smooth, fletcher32=True), {}),
    "bitshuffle_lz4": (chunked(counts, **hdf5plugin.Bitshuffle(cname="lz4")), {}),
    "nbit": (nbit, {"libver": "v110"}),
    "scaleoffset": (chunked(counts, scaleoffset=0), {}),
    "scaleoffset_f32": (chunked(smooth, scaleoffset=2), {}),
    "szip": (chunked(counts, compression="szip", compression_opts=("nn", 16)), {}),
    "i16": (lambda f: f.create_dataset("x", data=ramp("<i2")), {}),
    "f64": (lambda f: f.create_dataset("x", data=ramp("<f8")), {}),
    "f32be": (lambda f: f.create_dataset("x", data=ramp(">f4")), {}),
    "records": (lambda f: f.create_dataset("x", data=records()), {}),
    "records_chunked": (lambda f: f.create_dataset("x", data=records(), chunks=(8192,)), {}),
    "strings": (lambda f: f.create_dataset("x", data=words(), dtype=h5py.string_dtype(), chunks=(4096,)), {}),
    "million_btree1": (lambda f: million(f, None), {}),
    "million_fixed": (lambda f: million(f, None), latest),
    "million_extensible": (lambda f: million(f, (None,)), latest),
    "virtual": (virtual, {"libver": ("earliest", "v110")}),
    "index_btree1": (lambda f: indexed(f, (None, 64)), {}),
    "index_fixed": (lambda f: indexed(f, None), latest),
    "index_extensible": (lambda f: indexed(f, (None, 64)), latest),
    "index_btree2": (lambda f: indexed(f, (None, None)), latest),
    "tall": (tall, {}),
}
for name in names:
    path = os.path.join(folder, f"array_{name}.h5")
    if not os.path.exists(path):
        make, options = MAKERS[name]
        with h5py.File(path + ".part", "w", **options) as f:
            make(f)
        os.replace(path + ".part", path)  # a file that is there is whole
