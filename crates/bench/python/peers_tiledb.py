"""The work of TileDB in the benchmark `peers`:  peers_tiledb.py VALUES

Each line on standard input is a request, as `src/peers/request.rs` describes it: an operation, a path, a codec and the
side of square tiles. The answer is one line: seconds, processor seconds, and the sum over the values that were read or
the bytes that were written; or `unsupported` and the reason.
"""
import os
import shutil
import sys
import time

import numpy as np
import tiledb

SIDE, BOX_SIDE, BOXES = 4096, 256, 100
MASK = 2**64 - 1
BLOCK = 1 << 16
# TileDB has no Blosc: its blosc row is LZ4 after a shuffle of bytes.
FILTERS = {
    "none": lambda: [],
    "gzip": lambda: [tiledb.ByteShuffleFilter(), tiledb.GzipFilter(4)],
    "zstd": lambda: [tiledb.ZstdFilter(3)],
    "blosc": lambda: [tiledb.ByteShuffleFilter(), tiledb.LZ4Filter(5)],
}


def powers():
    """Returns 31 to the powers of BLOCK - 1 down to 0, modulo 2 to the 64."""
    each = np.full(BLOCK, 31, np.uint64)
    each[0] = 1
    return np.cumprod(each, dtype=np.uint64)[::-1].copy()


POWERS = powers()


def total(arrays):
    """Returns the sum of all programs over the values of some arrays."""
    sum = found = int(np.sum([array.size for array in arrays]))
    expected = SIDE * SIDE if len(arrays) == 1 else BOXES * BOX_SIDE * BOX_SIDE
    assert found == expected, f"{found} values instead of {expected}"
    for array in arrays:
        words = np.ascontiguousarray(array).reshape(-1).view(np.uint32)
        for at in range(0, len(words), BLOCK):
            part = words[at : at + BLOCK].astype(np.uint64)
            sum = (sum * pow(31, len(part), 2**64) + int(np.dot(POWERS[BLOCK - len(part) :], part))) & MASK
    return sum


def starts():
    """Returns the first elements of the boxes."""
    state, numbers = 6, []
    for _ in range(2 * BOXES):
        state ^= state << 13 & MASK
        state ^= state >> 7
        state ^= state << 17 & MASK
        numbers.append(state % (SIDE - BOX_SIDE))
    return list(zip(numbers[::2], numbers[1::2]))


def stored(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def write(path, codec, tile, values):
    dimensions = [tiledb.Dim(name=name, domain=(0, SIDE - 1), tile=tile, dtype=np.uint32) for name in ("row", "column")]
    value = tiledb.Attr("", dtype=np.float32, filters=tiledb.FilterList(FILTERS[codec]()))
    tiledb.Array.create(path, tiledb.ArraySchema(tiledb.Domain(*dimensions), attrs=[value]))
    with tiledb.open(path, "w") as array:
        array[:] = values


def read(path):
    with tiledb.open(path) as array:
        return [array[:]]


def boxes(path, asked):
    with tiledb.open(path) as array:
        return [array[row : row + BOX_SIDE, column : column + BOX_SIDE] for row, column in asked]


def answer(line, values):
    operation, path, codec, tile = line.split()
    asked = starts()
    if operation == "write":
        shutil.rmtree(path, ignore_errors=True)
    wall, cpu = time.perf_counter(), time.process_time()
    found = None
    if operation == "write":
        write(path, codec, int(tile), values)
    elif operation == "read":
        found = read(path)
    else:
        found = boxes(path, asked)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return f"{wall:.9f} {cpu:.9f} {stored(path) if found is None else total(found)}"


def main():
    if sys.argv[1:] == ["--version"]:
        print(tiledb.__version__, ".".join(map(str, tiledb.libtiledb.version())))
        return
    values = np.fromfile(sys.argv[1], "<f4").reshape(SIDE, SIDE)
    for line in sys.stdin:
        try:
            print(answer(line, values), flush=True)
        except Exception as error:  # the next request may succeed
            print("unsupported", " ".join(f"{type(error).__name__}: {error}".split()), flush=True)


main()
