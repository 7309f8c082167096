"""Runs the benchmark cases with h5py, as the C programs run them with libhdf5:  serve.py read|write|metadata

Each line on standard input is one case. The answer is one line: seconds, processor seconds and a sum, or `unsupported`
and the reason. For a line that begins with `peak`, the answer is bytes of memory in place of seconds. The program uses
h5py as its users do: slices, attributes as dictionaries, and arrays that numpy allocates.
"""
import os
import sys
import time

import h5py
import hdf5plugin  # noqa: F401 - the import registers filters
import numpy as np

MASK = 2**64 - 1
BLOCK = 1 << 16
LOWS = ("earliest", "v108", "v110")
measures_memory = False


class Unsupported(Exception):
    pass


def memory_of(heading):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(heading)) * 1024


class Clock:
    """Wall-clock and processor time since the clock was created, or the peak memory since then."""

    def __init__(self):
        if measures_memory:
            with open("/proc/self/clear_refs", "w") as refs:
                refs.write("5")
            self.before = memory_of("VmRSS:")
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def took(self):
        wall, cpu = time.perf_counter() - self.wall, time.process_time() - self.cpu
        return (max(memory_of("VmHWM:") - self.before, 0), 0) if measures_memory else (wall, cpu)


def powers(count):
    """Returns 31 to the powers of count - 1 down to 0, modulo 2 to the 64."""
    each = np.full(count, 31, np.uint64)
    each[0] = 1
    return np.cumprod(each, dtype=np.uint64)[::-1].copy()


POWERS = powers(BLOCK)


def polynomial(sum, numbers):
    """Continues a sum: multiplies the sum by 31 and adds the number, for each number."""
    for at in range(0, len(numbers), BLOCK):
        part = numbers[at : at + BLOCK].astype(np.uint64)
        added = int(np.dot(POWERS[BLOCK - len(part) :], part))
        sum = (sum * pow(31, len(part), 2**64) + added) & MASK
    return sum


def sum_of(array):
    return polynomial(array.nbytes, np.ascontiguousarray(array).reshape(-1).view(np.uint8).view(np.uint32))


def bytes_of(parts):
    return int(np.frombuffer(b"".join(parts), np.uint8).sum(dtype=np.uint64))


class Numbers:
    """Returns pseudo-random numbers."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        state = self.state
        state ^= state << 13 & MASK
        state ^= state >> 7
        state ^= state << 17 & MASK
        self.state = state
        return state % end


def room(shape, kind, kept={}):
    """Buffers that are already mapped, so that page faults are not timed."""
    if kept.get("is") != (shape, kind):
        kept.clear()
        array = np.empty(shape, kind)
        array.view(np.uint8).fill(1)
        kept["array"], kept["is"] = array, (shape, kind)
    return kept["array"]


def shape_of(path):
    with h5py.File(path, "r") as file:
        return file["x"].shape


def read(kind, path, words):
    if kind == "strings":
        return read_strings(path)
    if kind == "records":
        with h5py.File(path, "r") as file:
            out = room(file["x"].shape, file["x"].dtype)
        clock = Clock()
        with h5py.File(path, "r") as file:
            file["x"].read_direct(out)
        return clock.took(), sum_of(out)
    if kind == "field":
        clock = Clock()
        with h5py.File(path, "r") as file:
            values = file["x"][words[0]]
        return clock.took(), sum_of(values)
    dtype, numbers = {"f32": "<f4", "f64": "<f8", "i32": "<i4"}[words[0]], [int(word) for word in words[1:]]
    if kind == "points":
        raise Unsupported("h5py does not accept a list of points as an index")
    if kind == "whole":
        out = room(shape_of(path), dtype)
        clock = Clock()
        with h5py.File(path, "r") as file:
            file["x"].read_direct(out)
    elif kind == "slab":
        rank = numbers[0]
        starts, counts, strides = (numbers[1 + at * rank : 1 + (at + 1) * rank] for at in range(3))
        out = room(tuple(counts), dtype)
        each = zip(starts, counts, strides)
        slices = tuple(slice(start, start + (count - 1) * stride + 1, stride) for start, count, stride in each)
        clock = Clock()
        with h5py.File(path, "r") as file:
            file["x"].read_direct(out, slices)
    else:
        count, side, random = numbers[0], numbers[1], Numbers(numbers[2])
        dims = shape_of(path)
        if kind == "rows":
            out = room((count, side), dtype)
            starts = [random.below(dims[0] // side) * side for _ in range(count)]
            slices = [slice(at, at + side) for at in starts]
        else:
            ends = [numbers[3]] * 2 if kind == "near" else dims
            out = room((count, side, side), dtype)
            corners = [(random.below(ends[0] - side), random.below(ends[1] - side)) for _ in range(count)]
            slices = [(slice(row, row + side), slice(column, column + side)) for row, column in corners]
        clock = Clock()
        with h5py.File(path, "r") as file:
            dataset = file["x"]
            for at, part in enumerate(slices):
                out[at] = dataset[part]
    return clock.took(), sum_of(out)


def read_strings(path):
    clock = Clock()
    with h5py.File(path, "r") as file:
        texts = file["x"].asstr()[...]
    wall, cpu = clock.took()
    count = len(texts)
    each = np.fromiter((len(text) + ord(text[0]) if text else 0 for text in texts), np.uint64, count)
    clock = Clock()
    del texts
    freed = clock.took()
    return (wall + freed[0], cpu + freed[1]), polynomial(count, each)


def metadata(kind, path, words):
    numbers, parts, sum = [int(word) for word in words], [], 0
    if kind == "lookup":
        random = Numbers(numbers[2])
        names = [f"link_{random.below(numbers[1]):06}" for _ in range(numbers[0])]
    elif kind == "chunks":
        random, rows = Numbers(numbers[1]), shape_of(path)[0]
        places = [(random.below(rows), 0) for _ in range(numbers[0])]
    if kind == "sizes":
        raise Unsupported("h5py visits all chunks to find the size of one chunk")
    clock = Clock()
    with h5py.File(path, "r") as file:
        if kind == "list":
            for name, dataset in file.items():
                sum += dataset.dtype.itemsize
                for dim in dataset.shape:
                    sum += dim
                parts.append(name.encode())
                parts.extend(attribute.encode() for attribute in dataset.attrs)
        elif kind == "visit":
            def visit(name, thing):
                parts.append(name.encode())

            file.visititems(visit)
        elif kind == "objects":
            for dataset in file.values():
                parts.append(dataset[...].tobytes())
                parts.extend(value.tobytes() for value in dataset.attrs.values())
        elif kind == "attributes":
            for name, value in file["g"].attrs.items():
                parts.extend((name.encode(), value.tobytes()))
        elif kind == "links":
            parts.extend(name.encode() for name in file["g"])
        elif kind == "lookup":
            group = file["g"]
            for name in names:
                group[name]
            sum = numbers[0]
        elif kind == "chunks":
            dataset = file["x"].id
            for place in places:
                stored = dataset.read_direct_chunk(place)[1]
                sum += len(stored)
                parts.append(stored)
        elif kind == "walk":
            found = []
            file["x"].id.chunk_iter(found.append)
        else:
            raise Unsupported(f"`{kind}`: what is that?")
    took = clock.took()
    if kind == "walk":
        sum = np.sum([(one.chunk_offset[0], one.byte_offset, one.size) for one in found], dtype=np.uint64)
    return took, (int(sum) + bytes_of(parts)) & MASK


def made(kind, words, numbers, kept={}):
    """Data to write, made before the clock starts."""
    is_of = (kind, *words)
    if kept.get("is") != is_of:
        kept.clear()
        kept["made"], kept["is"] = make(kind, words, numbers), is_of
    return kept["made"]


def f32(count):
    at = np.arange(count, dtype=np.uint64)
    noise = (at * np.uint64(2654435761) >> np.uint64(7)) % np.uint64(16)
    return (at % np.uint64(1000)).astype("<f4") * np.float32(0.25) + noise.astype("<f4")


def make(kind, words, numbers):
    if kind == "arrays" and words[0] == "f32":
        return f32(numbers[0] * numbers[1]).reshape(numbers[:2])
    if kind == "arrays":
        at = np.arange(numbers[0] * numbers[1], dtype=np.uint64)
        noise = (at * np.uint64(2654435761) >> np.uint64(9)) % np.uint64(64)
        return ((at // np.uint64(7) + noise) % np.uint64(4096)).astype("<i4").reshape(numbers[:2])
    if kind == "slabs":
        rows, columns = numbers[4], numbers[5] // numbers[6]
        return f32(rows * columns).reshape(rows, columns)
    if kind == "strings":
        return [f"string number {at * 7919 % numbers[0]}" for at in range(numbers[0])]
    if kind in ("records", "packed"):
        packed = np.dtype(list(zip(RECORD, FORMATS)))
        padded = np.dtype({"names": RECORD, "formats": FORMATS, "offsets": [0, 8, 16], "itemsize": 24})
        records = np.zeros(numbers[0], packed if kind == "packed" else padded)
        at = np.arange(numbers[0])
        records["number"], records["value"], records["kind"] = at, at * 0.5, at % 100
        return records
    return None


RECORD, FORMATS = ["number", "value", "kind"], ["<i4", "<f8", "<i2"]


def write(kind, path, words):
    low, words = LOWS[int(words[0])], words[1:]
    numbers = [int(word) for word in words if word.isdigit()]
    values = made(kind, words, numbers)
    if os.path.exists(path):
        os.remove(path)
    clock = Clock()
    with h5py.File(path, "w", libver=(low, "v110")) as file:
        if kind not in WRITERS:
            raise Unsupported(f"`{kind}`: what is that?")
        WRITERS[kind](file, words, numbers, values)
    return clock.took(), os.path.getsize(path)


def arrays(file, words, numbers, values):
    how = words[1]
    chunks = (numbers[2], numbers[3]) if numbers[2] else None
    if how == "nbit":
        return nbit(file, chunks, values)
    dtype = {"i16": "<i2", "f64": "<f8", "f32be": ">f4"}.get(how, values.dtype)
    filters = {"compression": "gzip", "compression_opts": 4} if "gzip" in how else {}
    if how == "shuffle_gzip":
        filters["shuffle"] = True
    file.create_dataset("x", values.shape, dtype, chunks=chunks, **filters)[...] = values


def nbit(file, chunks, values):
    """Returns a type with twelve significant bits, which only the low-level interface of h5py offers."""
    properties, kind = h5py.h5p.create(h5py.h5p.DATASET_CREATE), h5py.h5t.STD_I32LE.copy()
    properties.set_chunk(chunks)
    properties.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL, ())
    kind.set_precision(12)
    dataset = h5py.h5d.create(file.id, b"x", kind, h5py.h5s.create_simple(values.shape), properties)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values, h5py.h5t.NATIVE_INT32)


def slabs(file, words, numbers, values):
    rows, columns, chunk_rows, chunk_columns, height, width, stride = numbers
    dataset = file.create_dataset("x", (rows, columns), "<f4", chunks=(chunk_rows, chunk_columns) if chunk_rows else None)
    for row in range(0, rows, height):
        for column in range(0, columns, width):
            dataset[row : row + height, column : column + width : stride] = values


def records(file, words, numbers, values):
    packed = np.dtype(list(zip(RECORD, FORMATS)))
    file.create_dataset("x", (numbers[0],), packed).write_direct(values)


def objects(file, words, numbers, values):
    first = np.arange(12.0).reshape(3, 4)
    for number in range(numbers[0]):
        dataset = file.create_dataset(f"dataset_{number:05}", data=first + number)
        dataset.attrs["scale"] = 0.5
        dataset.attrs["number"] = np.int32(number)


def attributes(file, words, numbers, values):
    attributes = file.create_group("g").attrs
    for number in range(numbers[0]):
        attributes[f"attr_{number:05}"] = float(number)


def links(file, words, numbers, values):
    count = numbers[0]
    target, group = file.create_group("t"), file.create_group("g")
    for number in range(count):
        group[f"link_{number * 7919 % count:06}"] = target


def rows(file, now, numbers):
    """Creates the dataset `x` with chunks of one row, and with 0, 1 or 2 unlimited dimensions."""
    count, size, unlimited = numbers[:3]
    most = (None if unlimited else count, None if unlimited > 1 else size)
    return file.create_dataset("x", (now, size), "<f8", chunks=(1, size), maxshape=most)


def append(file, words, numbers, values):
    dataset, row = rows(file, 0, numbers), np.arange(float(numbers[1]))
    for number in range(numbers[0]):
        dataset.resize(number + 1, axis=0)
        dataset[number] = row + number


def insert(file, words, numbers, values):
    count, size, _, step = numbers
    dataset, chunk = rows(file, count, numbers).id, bytes([7]) * (size * 8)
    for number in range(count):
        dataset.write_direct_chunk((number * step % count, 0), chunk)


def strings(file, words, numbers, values):
    file.create_dataset("x", data=values, dtype=h5py.string_dtype())


WRITERS = {
    "arrays": arrays,
    "slabs": slabs,
    "records": records,
    "packed": records,
    "objects": objects,
    "attributes": attributes,
    "links": links,
    "append": append,
    "insert": insert,
    "strings": strings,
}


def main():
    global measures_memory
    operation = {"read": read, "write": write, "metadata": metadata}[sys.argv[1]]
    for line in sys.stdin:
        words = line.split()
        measures_memory = words[0] == "peak"
        kind, path, *rest = words[1:] if measures_memory else words
        try:
            (wall, cpu), sum = operation(kind, path, rest)
            answer = f"{wall:.9f} {cpu:.9f} {sum}"
        except Exception as error:  # after any error, the next case may succeed
            answer = "unsupported " + " ".join(f"{error}".split())
        print(answer, flush=True)


main()
