"""Workloads of PyTables and netCDF4-python that `cargo xtask bench-capi --clients` times with two HDF5 libraries.

    clients.py list               prints the names and descriptions of the workloads
    clients.py prepare FOLDER     writes the files that the workloads read
    clients.py run NAME FOLDER    runs one workload; prints times and a digest of the result
    clients.py digest NAME FOLDER prints a digest of the file that a workload wrote

The variable `HYPERSLAB_BENCH_SCALE` divides the sizes, for a trial. A workload that writes makes `FOLDER/NAME.h5` or
`FOLDER/NAME.nc`, which both libraries read afterwards.
"""
import hashlib
import json
import os
import pathlib
import sys
import time

import netCDF4
import numpy as np
import tables

SCALE = int(os.environ.get("HYPERSLAB_BENCH_SCALE", "1"))
ROWS = 1_000_000 // SCALE
STEPS = 240 // SCALE
SIDE = 4096 // SCALE
NODES = 2000 // SCALE
BLOSC = tables.Filters(complevel=5, complib="blosc", shuffle=True)
READ, WRITTEN, DESCRIPTIONS = {}, {}, {}


class Particle(tables.IsDescription):
    """A row of the tables."""
    number = tables.Int64Col(pos=0)
    energy = tables.Float64Col(pos=1)
    charge = tables.Int8Col(pos=2)
    name = tables.StringCol(8, pos=3)


def reads(description):
    """Registers a workload that reads an open file and returns what it read. The first part of its name is the file's."""
    def add(function):
        READ[function.__name__] = function
        DESCRIPTIONS[function.__name__] = description
        return function
    return add


def writes(description):
    """Registers a workload that writes a new file from values that are made before."""
    def add(function):
        WRITTEN[function.__name__] = function
        DESCRIPTIONS[function.__name__] = description
        return function
    return add


def particles(count):
    random = np.random.default_rng(2)
    rows = np.zeros(count, dtype=[("number", "i8"), ("energy", "f8"), ("charge", "i1"), ("name", "S8")])
    rows["number"] = np.arange(count)
    rows["energy"] = np.round(random.gamma(2.0, 30.0, count), 3)
    rows["charge"] = random.integers(-1, 2, count)
    rows["name"] = np.char.add("p", (rows["number"] % 997).astype("S5").astype(str)).astype("S8")
    return rows


def field(steps):
    """Returns smooth fields for time steps, with noise in the low bits."""
    random = np.random.default_rng(3)
    wave = np.sin(np.linspace(0, 9, 180))[:, None] * np.cos(np.linspace(0, 18, 360))[None, :]
    return np.stack([wave * np.cos(step / 20) * 30 + random.normal(0, 0.05, wave.shape) for step in range(steps)]).astype("f4")


def matrix():
    rows = np.linspace(0, 20, SIDE)[:, None]
    return np.round(np.sin(rows) * 100 + np.cos(np.linspace(0, 9, SIDE))[None, :], 2).astype("f4")


def prepare(folder):
    """Writes the inputs with the library that is loaded."""
    with tables.open_file(folder / "tables.h5", "w") as file:
        table = file.create_table("/", "plain", Particle, filters=BLOSC, expectedrows=ROWS)
        table.append(particles(ROWS))
        indexed = file.create_table("/", "indexed", Particle, filters=BLOSC, expectedrows=ROWS)
        indexed.append(particles(ROWS))
        indexed.cols.energy.create_csindex()
        file.create_carray("/", "blosc", obj=matrix(), filters=BLOSC, chunkshape=(SIDE // 8, SIDE // 8))
        for number in range(NODES):
            array = file.create_array(f"/g{number % 20}", f"a{number}", np.arange(10), createparents=True)
            array.attrs.unit = "m"
    with netCDF4.Dataset(folder / "netcdf.nc", "w") as file:
        make_grid(file)
        variable = file.createVariable("t", "f4", ("time", "lat", "lon"), compression="zlib", shuffle=True, chunksizes=(6, 90, 180))
        variable[:] = field(STEPS)
        packed = file.createVariable("p", "i2", ("time", "lat", "lon"), compression="zlib", fill_value=-32768)
        packed.scale_factor, packed.add_offset = 0.01, 5.0
        packed[:] = field(STEPS)
        for number in range(NODES // 4):
            small = file.createVariable(f"v{number}", "f8", ("lat",))
            small.units, small.long_name = "K", f"variable {number}"
            small[:] = number


def make_grid(file):
    file.createDimension("time", None)
    file.createDimension("lat", 180)
    file.createDimension("lon", 360)


@reads("PyTables: in-kernel query of a table of 1 M rows")
def tables_query(file):
    return file.root.plain.read_where("(energy > 200) & (charge == 1)")


@reads("PyTables: 200 queries of an indexed column")
def tables_indexed(file):
    table = file.root.indexed
    return [len(table.read_where("(energy >= low) & (energy < high)", {"low": low, "high": low + 0.05})) for low in range(200)]


@reads("PyTables: one column of 1 M rows, 5 times")
def tables_column(file):
    return [file.root.plain.col("energy").sum() for _ in range(5)]


@reads("PyTables: rows of a table, 20 000 in an iterator")
def tables_rows(file):
    return sum(row["number"] for row in file.root.plain.iterrows(0, 20_000 // SCALE))


@reads("PyTables: CArray with blosc, 64 MiB whole")
def tables_carray(file):
    return file.root.blosc[...]


@reads("PyTables: CArray with blosc, 1000 random boxes of 16 x 16")
def tables_boxes(file):
    random = np.random.default_rng(5)
    starts = random.integers(0, SIDE - 16, (1000 // SCALE, 2))
    return np.stack([file.root.blosc[a:a + 16, b:b + 16] for a, b in starts])


@reads("PyTables: walk over 2000 nodes with their attributes")
def tables_walk(file):
    return [(node._v_name, node.attrs.unit) for node in file.walk_nodes("/", "Array") if "unit" in node.attrs]


@reads("netCDF4: time slices of a variable, one after the other")
def netcdf_slices(file):
    return [float(file["t"][step].sum(dtype="f8")) for step in range(STEPS)]


@reads("netCDF4: time series at 20 points")
def netcdf_series(file):
    return np.stack([file["t"][:, 9 * point, 17 * point] for point in range(20)])


@reads("netCDF4: packed variable with scale factor and fill value, whole")
def netcdf_packed(file):
    return np.ma.filled(file["p"][:], 0)


@reads("netCDF4: names, attributes and values of 500 variables")
def netcdf_metadata(file):
    return [(name, item.units, item.long_name, float(item[0])) for name, item in file.variables.items() if name[0] == "v"]


@writes("PyTables: 200 appends of 5000 rows to a table with blosc")
def tables_append(file, rows):
    table = file.create_table("/", "t", Particle, filters=BLOSC, expectedrows=ROWS)
    for part in np.array_split(rows, 200):
        table.append(part)
        table.flush()


@writes("PyTables: 2000 appends to an EArray")
def tables_earray(file, rows):
    array = file.create_earray("/", "e", tables.Float64Atom(), (0, 100), filters=BLOSC)
    part = rows["energy"][:1000].reshape(10, 100)
    for _ in range(2000 // SCALE):
        array.append(part)


@writes("netCDF4: 240 time steps with zlib and shuffle, one after the other")
def netcdf_steps(file, fields):
    make_grid(file)
    variable = file.createVariable("t", "f4", ("time", "lat", "lon"), compression="zlib", shuffle=True, chunksizes=(1, 180, 360))
    variable.units = "K"
    for step, values in enumerate(fields):
        variable[step] = values


DATA = {"tables_append": lambda: particles(ROWS), "tables_earray": lambda: particles(1000), "netcdf_steps": lambda: field(STEPS)}


def digest(value):
    """Returns a digest of what a workload read."""
    state = hashlib.blake2b(digest_size=16)
    if isinstance(value, np.ndarray):
        state.update(repr((value.shape, value.dtype.descr)).encode())
        state.update(np.ascontiguousarray(value).data)
    else:
        state.update(repr(value).encode())
    return state.hexdigest()


def is_netcdf(name):
    return name.startswith("netcdf")


def open_file(path, mode):
    return netCDF4.Dataset(path, mode) if is_netcdf(path.name) else tables.open_file(path, mode)


def digest_of_file(path):
    """Returns a digest of the values of a file."""
    with open_file(path, "r") as file:
        if is_netcdf(path.name):
            found = [(name, item.dimensions, digest(np.ma.filled(item[:], 0))) for name, item in file.variables.items()]
        else:
            found = [(node._v_pathname, digest(node.read())) for node in file.walk_nodes("/", "Leaf")]
    return digest(found)


def written(name, folder):
    return folder / (name + (".nc" if is_netcdf(name) else ".h5"))


def run(name, folder):
    values = DATA[name]() if name in DATA else None
    if name in READ:
        path, mode = folder / ("netcdf.nc" if is_netcdf(name) else "tables.h5"), "r"
    else:
        path, mode = written(name, folder), "w"
    wall, processor = time.perf_counter(), time.process_time()
    with open_file(path, mode) as file:
        value = READ[name](file) if name in READ else WRITTEN[name](file, values)
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
            print(json.dumps(digest_of_file(written(name, pathlib.Path(folder)))))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
