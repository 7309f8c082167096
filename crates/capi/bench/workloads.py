"""Workloads of h5py that `cargo xtask bench-capi` times with two HDF5 libraries.

    workloads.py list               prints the names and descriptions of the workloads
    workloads.py prepare FOLDER     writes the files that the workloads read
    workloads.py run NAME FOLDER    runs one workload; prints times and a digest of the result
    workloads.py digest NAME FOLDER prints a digest of the file that a workload wrote
    workloads.py threads read FILE N reads the datasets of `threads.c` with N threads

A workload that writes makes `FOLDER/NAME.h5`, which both libraries read afterwards.
"""
import hashlib
import json
import pathlib
import sys
import time

import h5py
import numpy as np

SHAPE = (4096, 4096)
CHUNK = (512, 512)
READ = {}
WRITTEN = {}
DESCRIPTIONS = {}


def reads(description):
    """Registers a workload that reads `inputs.h5` and returns the values that it read."""
    def add(function):
        READ[function.__name__] = function
        DESCRIPTIONS[function.__name__] = description
        return function
    return add


def writes(description):
    """Registers a workload that writes a new file."""
    def add(function):
        WRITTEN[function.__name__] = function
        DESCRIPTIONS[function.__name__] = description
        return function
    return add


def noise():
    """Returns 64 MiB of smooth values with noise in the low bits, which gzip halves at best."""
    random = np.random.default_rng(1)
    rows = np.linspace(0, 20, SHAPE[0])[:, None]
    smooth = np.sin(rows) * 100 + np.cos(np.linspace(0, 9, SHAPE[1]))[None, :]
    return np.round(smooth + random.normal(0, 0.5, SHAPE), 2).astype("f4")


def prepare(folder):
    """Writes the inputs with the library that is loaded."""
    data = noise()
    with h5py.File(folder / "inputs.h5", "w", libver=("earliest", "v110")) as file:
        file.create_dataset("gzip", data=data, chunks=CHUNK, compression="gzip", compression_opts=4)
        file.create_dataset("shuffled", data=data, chunks=CHUNK, compression="gzip", shuffle=True)
        file.create_dataset("chunked", data=data, chunks=CHUNK)
        file.create_dataset("contiguous", data=data)
        file.create_dataset("records", data=records(200_000), chunks=(10_000,), compression="gzip")
        file.create_dataset("small", data=np.arange(100_000, dtype="f8"))
        group = file.create_group("attributes")
        for number in range(1000):
            group.attrs["number %d" % number] = number
    with h5py.File(folder / "objects.h5", "w") as file:
        objects_of(file)
    with h5py.File(folder / "strings.h5", "w") as file:
        file.create_dataset("strings", data=strings(), dtype=h5py.string_dtype(), chunks=(50_000,))


def records(count):
    random = np.random.default_rng(2)
    table = np.zeros(count, dtype=[("id", "i8"), ("x", "f4"), ("y", "f4"), ("kind", "i2")])
    table["id"] = np.arange(count)
    table["x"] = random.normal(size=count)
    table["y"] = table["x"] * 2
    table["kind"] = np.arange(count) % 7
    return table


def strings():
    return ["string %d of the column" % (number * 7919 % 1_000_003) for number in range(1_000_000)]


def objects_of(file):
    for number in range(10_000):
        dataset = file.create_dataset("group %d/dataset %d" % (number // 1000, number), data=np.arange(8) + number)
        dataset.attrs["unit"] = "mm"
        dataset.attrs["scale"] = number * 0.5


@reads("gzip, 64 MiB whole")
def gzip_whole(file):
    return file["gzip"][...]


@reads("shuffle + gzip, 64 MiB whole")
def shuffled_whole(file):
    return file["shuffled"][...]


@reads("chunked, 64 MiB whole")
def chunked_whole(file):
    return file["chunked"][...]


@reads("contiguous, 64 MiB whole")
def contiguous_whole(file):
    return file["contiguous"][...]


@reads("gzip, 200 000 records whole")
def records_whole(file):
    return file["records"][...]


@reads("gzip, 1000 random boxes of 16 x 16")
def gzip_boxes(file):
    random = np.random.default_rng(3)
    dataset = file["gzip"]
    corners = random.integers(0, SHAPE[0] - 16, (1000, 2))
    return np.stack([dataset[x:x + 16, y:y + 16] for x, y in corners])


@reads("contiguous, every 4th row and column")
def contiguous_strided(file):
    return file["contiguous"][::4, ::4]


@reads("10 000 reads of 10 elements")
def small_reads(file):
    dataset = file["small"]
    return np.stack([dataset[start:start + 10] for start in range(0, 100_000, 10)])


@reads("1000 attributes of one group, 5 times")
def attribute_reads(file):
    group = file["attributes"]
    return np.array([[group.attrs["number %d" % number] for number in range(1000)] for _ in range(5)])


@reads("list of 1000 attributes, 5 times")
def attribute_list(file):
    group = file["attributes"]
    return [sorted((name, int(value)) for name, value in group.attrs.items()) for _ in range(5)]


@reads("10 000 datasets with 2 attributes opened and read")
def objects_read(file):
    result = []
    for name, group in file.items():
        for name, dataset in group.items():
            result.append((name, dataset[...].tolist(), dataset.attrs["unit"], float(dataset.attrs["scale"])))
    return result


@reads("10 000 datasets visited")
def objects_visited(file):
    result = []
    file.visititems(lambda name, item: result.append((name, item.shape if hasattr(item, "shape") else None)))
    return result


@reads("1 M variable-length strings read")
def strings_read(file):
    return file["strings"][...]


INPUTS = {"objects_read": "objects.h5", "objects_visited": "objects.h5", "strings_read": "strings.h5"}


@writes("gzip level 4, 64 MiB written")
def gzip_written(file, data):
    file.create_dataset("gzip", data=data, chunks=CHUNK, compression="gzip", compression_opts=4)


@writes("contiguous, 64 MiB written")
def contiguous_written(file, data):
    file.create_dataset("contiguous", data=data)


@writes("10 000 datasets with 2 attributes created")
def objects_created(file, _):
    objects_of(file)


@writes("100 000 appends of one row")
def rows_appended(file, _):
    dataset = file.create_dataset("rows", shape=(0, 8), maxshape=(None, 8), chunks=(1024, 8), dtype="f8")
    row = np.arange(8, dtype="f8")
    for number in range(100_000):
        dataset.resize(number + 1, axis=0)
        dataset[number] = row
        row += 1


@writes("1000 appends of 1000 rows")
def batches_appended(file, _):
    dataset = file.create_dataset("rows", shape=(0, 8), maxshape=(None, 8), chunks=(1024, 8), dtype="f8")
    rows = np.arange(8000, dtype="f8").reshape(1000, 8)
    for number in range(0, 1_000_000, 1000):
        dataset.resize(number + 1000, axis=0)
        dataset[number:number + 1000] = rows


@writes("1 M variable-length strings written")
def strings_written(file, data):
    file.create_dataset("strings", data=data, dtype=h5py.string_dtype(), chunks=(50_000,))


DATA = {"gzip_written": noise, "contiguous_written": noise, "strings_written": strings}


def digest(value):
    """Returns a digest of values: arrays, lists, numbers and texts."""
    state = hashlib.blake2b(digest_size=16)
    if isinstance(value, np.ndarray) and value.dtype != object:
        state.update(repr((value.shape, value.dtype.descr)).encode())
        state.update(np.ascontiguousarray(value).data)
    elif isinstance(value, np.ndarray):
        state.update(repr(value.shape).encode())
        for item in value.ravel():
            state.update(b"%d:" % len(item) + item)
    else:
        state.update(repr(value).encode())
    return state.hexdigest()


def digest_of_file(path):
    """Returns a digest of the values, names and attributes of a file."""
    state = hashlib.blake2b(digest_size=16)

    def add(name, item):
        attributes = sorted((key, repr(value)) for key, value in item.attrs.items())
        state.update(repr((name, attributes)).encode())
        if isinstance(item, h5py.Dataset):
            state.update(repr((item.chunks, item.maxshape, item.compression)).encode())
            state.update(digest(item[...]).encode())

    with h5py.File(path, "r") as file:
        file.visititems(add)
    return state.hexdigest()


def threads_read(path, count):
    """Reads the datasets of a file with threads. Prints the seconds, the processor time, and a sum over all values, as
    `threads.c` does."""
    from concurrent.futures import ThreadPoolExecutor
    wall, processor = time.perf_counter(), time.process_time()
    with h5py.File(path, "r") as file, ThreadPoolExecutor(count) as pool:
        arrays = list(pool.map(lambda name: file[name][...], ["dataset %d" % number for number in range(8)]))
    print("%.4f %.4f" % (time.perf_counter() - wall, time.process_time() - processor), end=" ")
    total = 0
    for values in arrays:
        weights = np.concatenate((np.ones(1, "u8"), np.cumprod(np.full(values.size - 1, 31, "u8"))))[::-1]
        total = (total * 1000003 + int((values.ravel().astype("u8") * weights).sum(dtype="u8"))) % 2**64
    print(total)


def run(name, folder):
    data = DATA[name]() if name in DATA else None
    if name in READ:
        path, mode = folder / INPUTS.get(name, "inputs.h5"), "r"
    else:
        path, mode = folder / (name + ".h5"), "w"
    wall, processor = time.perf_counter(), time.process_time()
    with h5py.File(path, mode) as file:
        value = READ[name](file) if name in READ else WRITTEN[name](file, data)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    result = digest(value) if name in READ else ""
    size = path.stat().st_size if name in WRITTEN else 0
    print(json.dumps({"wall": wall, "processor": processor, "digest": result, "bytes": size}))


def main(arguments):
    match arguments:
        case ["list"]:
            print(json.dumps([[name, text, name in WRITTEN] for name, text in DESCRIPTIONS.items()]))
        case ["prepare", folder]:
            prepare(pathlib.Path(folder))
        case ["run", name, folder]:
            run(name, pathlib.Path(folder))
        case ["digest", name, folder]:
            print(json.dumps(digest_of_file(pathlib.Path(folder) / (name + ".h5"))))
        case ["threads", "read", path, count]:
            threads_read(path, int(count))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
