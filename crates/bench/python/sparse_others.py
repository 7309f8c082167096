"""Other storage formats for a sparse matrix, measured one operation at a time for the `sparse` benchmark.

    sparse_others.py FOLDER CODEC

FOLDER has the matrix as CSR arrays (indptr.npy, indices.npy, values.npy) and the requests (boxes, rows, columns,
append_rows, append_columns, append_values). CODEC is gzip or zstd. The program first prints a line for each column, then a blank line:

    column NAME DESCRIPTION
    missing NAME REASON

After that, the answer to a line `NAME OPERATION` on standard input is `ok WALL CPU COUNT SUM SIZE`: seconds, the number
of values in the result and their sum (`- -` if only a part was read and the times are extrapolated), and the bytes in
the file system. The answer `error MESSAGE` means that the operation failed.
"""
import importlib
import os
import shutil
import sys
import time

import numpy as np

SIDE = 256  # of a box, and of two-dimensional tiles and chunks
DENSE_ROWS, DENSE_COLUMNS = 10, 1  # rows and columns that are read from the dense array


class Requests:
    """The requests for all columns."""

    def __init__(self, folder):
        def load(name):
            return np.load(os.path.join(folder, name + ".npy"))

        self.indptr, self.indices, self.values = load("indptr"), load("indices"), load("values")
        self.boxes, self.rows, self.columns = load("boxes"), load("rows"), load("columns")
        self.append = load("append_rows"), load("append_columns"), load("append_values")
        self.side = len(self.indptr) - 1
        self.matrix = sparse.csr_matrix(
            (self.values, self.indices.astype(np.int32), self.indptr.astype(np.int64)), shape=(self.side, self.side)
        )


class Csr:
    """Three arrays in a container that `open` returns. Each requested part is a slice of them."""

    def matrix(self, group, side):
        parts = group["values"][...], group["indices"][...], group["indptr"][...]
        return sparse.csr_matrix(parts, shape=(side, side))

    def read(self, asked):
        with self.open() as group:
            return [self.matrix(group, asked.side).data]

    def boxes(self, asked):
        found = []
        with self.open() as group:
            indptr, indices, values = group["indptr"][...], group["indices"], group["values"]
            for row, column in asked.boxes:
                starts = indptr[row : row + SIDE + 1]
                inside = indices[starts[0] : starts[-1]]
                part = values[starts[0] : starts[-1]]
                kept = (inside >= column) & (inside < column + SIDE)
                box = np.zeros((SIDE, SIDE), np.float32)
                box[np.repeat(np.arange(SIDE), np.diff(starts))[kept], inside[kept] - column] = part[kept]
                found.append(box)
        return found

    def rows(self, asked):
        with self.open() as group:
            indptr, indices, values = group["indptr"][...], group["indices"], group["values"]
            return [
                (indices[indptr[row] : indptr[row + 1]], values[indptr[row] : indptr[row + 1]])[1]
                for row in asked.rows
            ]

    def columns(self, asked):
        # Each column is a separate request, so columns are read one by one.
        found = []
        with self.open() as group:
            for column in asked.columns:
                at = np.flatnonzero(group["indices"][...] == column)
                found.append(group["values"][...][at])
        return found

    def add(self, asked):
        with self.open() as group:
            matrix = self.matrix(group, asked.side)
        rows, columns, values = asked.append
        self.store(matrix + sparse.csr_matrix((values, (rows, columns)), shape=matrix.shape))
        return [values]

    def write(self, asked):
        self.store(asked.matrix)
        return [asked.matrix.data]


class CsrHdf5(Csr):
    def __init__(self, folder, name, **filters):
        self.path, self.filters = os.path.join(folder, name + ".h5"), filters

    def open(self):
        return h5py.File(self.path, "r")

    def store(self, matrix):
        with h5py.File(self.path, "w") as file:
            file["indptr"] = matrix.indptr
            for name, data in ("indices", matrix.indices), ("values", matrix.data):
                chunk = (min(65536, len(data)),)
                file.create_dataset(name, data=data, chunks=chunk, maxshape=(None,), **self.filters)


class CsrZarr(Csr):
    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)

    def open(self):
        return Opened(zarr.open_group(self.path, mode="r"))

    def store(self, matrix):
        remove(self.path)
        group = zarr.open_group(self.path, mode="w")
        for name, data in ("indptr", matrix.indptr), ("indices", matrix.indices), ("values", matrix.data):
            chunk = (min(65536, len(data)),)
            group.create_array(name, shape=data.shape, dtype=data.dtype, chunks=chunk)[...] = data


class Opened:
    """A Zarr group for `with`, which needs no closing."""

    def __init__(self, group):
        self.group = group

    def __enter__(self):
        return self.group

    def __exit__(self, *_):
        pass


class Dense:
    """A two-dimensional dataset of chunks with gzip; chunks without values are not written."""

    scaled = {"rows": DENSE_ROWS, "columns": DENSE_COLUMNS}

    def __init__(self, folder, name, **filters):
        self.path, self.filters = os.path.join(folder, name + ".h5"), filters

    def write(self, asked):
        side = asked.side
        with h5py.File(self.path, "w", libver="latest") as file:
            shape, chunk = (side, side), (min(SIDE, side), min(SIDE, side))
            x = file.create_dataset("x", shape, "f4", chunks=chunk, **self.filters)
            for top in range(0, side, SIDE):
                band = asked.matrix[top : top + SIDE]
                used = np.unique(band.indices // SIDE)
                if len(used) == 0:
                    continue
                dense = band.toarray()
                if len(used) * SIDE > 0.9 * side:
                    x[top : top + SIDE] = dense
                    continue
                for tile in used:
                    left = tile * SIDE
                    x[top : top + SIDE, left : left + SIDE] = dense[:, left : left + SIDE]
        return [asked.matrix.data]

    def parts(self, of):
        with h5py.File(self.path, "r") as file:
            x = file["x"]
            return [x[part] for part in of]

    def read(self, asked):
        return self.parts([...])

    def boxes(self, asked):
        return self.parts([np.s_[row : row + SIDE, column : column + SIDE] for row, column in asked.boxes])

    def rows(self, asked):
        return self.parts(list(asked.rows[:DENSE_ROWS]))

    def columns(self, asked):
        return self.parts([np.s_[:, column] for column in asked.columns[:DENSE_COLUMNS]])

    def add(self, asked):
        rows, columns, values = asked.append
        with h5py.File(self.path, "r+") as file:
            x = file["x"]
            for point in np.lexsort((columns // SIDE, rows // SIDE)):  # chunk by chunk, which is kind
                x[rows[point], columns[point]] = values[point]
        return [values]


class TileDb:
    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)

    def write(self, asked):
        remove(self.path)
        side, zstd = asked.side, tiledb.FilterList([tiledb.ZstdFilter(3)])
        dimensions = [
            tiledb.Dim(name=name, domain=(0, side - 1), tile=min(SIDE, side), dtype=np.uint32, filters=zstd)
            for name in ("row", "column")
        ]
        value = tiledb.Attr("value", dtype=np.float32, filters=zstd)
        schema = tiledb.ArraySchema(tiledb.Domain(*dimensions), attrs=[value], sparse=True, capacity=10000)
        tiledb.Array.create(self.path, schema)
        points = asked.matrix.tocoo()
        self.put(points.row, points.col, points.data)
        return [points.data]

    def put(self, rows, columns, values):
        with tiledb.open(self.path, "w") as array:
            array[rows.astype(np.uint32), columns.astype(np.uint32)] = values

    def read(self, asked):
        with tiledb.open(self.path) as array:
            every = array[:]
        points = every["value"], (every["row"].astype(np.int32), every["column"].astype(np.int32))
        return [sparse.csr_matrix(points, shape=(asked.side, asked.side)).data]

    def boxes(self, asked):
        found = []
        with tiledb.open(self.path) as array:
            for row, column in asked.boxes:
                inside = array[row : row + SIDE, column : column + SIDE]
                box = np.zeros((SIDE, SIDE), np.float32)
                box[inside["row"] - row, inside["column"] - column] = inside["value"]
                found.append(box)
        return found

    def rows(self, asked):
        with tiledb.open(self.path) as array:
            return [array[row, :]["value"] for row in asked.rows]

    def columns(self, asked):
        with tiledb.open(self.path) as array:
            return [array[:, column]["value"] for column in asked.columns]

    def add(self, asked):
        self.put(*asked.append)
        return [asked.append[2]]


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def measure(column, operation, asked):
    """Returns the answer to a request."""
    if operation == "write":
        remove(column.path)
    wall, cpu = time.perf_counter(), time.process_time()
    parts = getattr(column, operation)(asked)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count, total = "-", "-"
    part = getattr(column, "scaled", {}).get(operation)
    if part:
        times = len(getattr(asked, operation)) / part
        wall, cpu = wall * times, cpu * times
    else:
        count = sum(int(np.count_nonzero(part)) for part in parts)
        total = sum(float(part.sum(dtype=np.float64)) for part in parts)
    return f"ok {wall:.9f} {cpu:.9f} {count} {total} {size(column.path)}"


def main():
    global h5py, sparse, tiledb, zarr
    import h5py
    import scipy.sparse as sparse

    folder, codec = sys.argv[1:]
    filters, level = {"compression": "gzip", "compression_opts": 4}, "gzip 4"
    if codec == "zstd":
        import hdf5plugin

        filters, level = dict(hdf5plugin.Zstd(clevel=3)), "zstd 3"
    stored = os.path.join(folder, "others")
    os.makedirs(stored, exist_ok=True)
    columns = {
        "csr": (CsrHdf5(stored, "csr"), f"CSR arrays in HDF5, chunks of 65536, h5py {h5py.__version__}"),
        f"csr_{codec}": (
            CsrHdf5(stored, f"csr_{codec}", shuffle=True, **filters),
            f"the same with shuffle and {level}",
        ),
        f"dense_{codec}": (
            Dense(stored, f"dense_{codec}", **filters),
            f"a dense dataset, chunks of 256 x 256 with {level}",
        ),
    }
    for name, make, what in (
        ("tiledb", TileDb, "a sparse TileDB array, tiles of 256 x 256, zstd 3"),
        ("zarr", CsrZarr, "CSR arrays in Zarr, chunks of 65536, zstd"),
    ):
        try:
            globals()[name] = module = importlib.import_module(name)
            columns[name] = make(stored, name), f"{what}, {module.__version__}"
        except ImportError as error:
            print("missing", name, str(error).splitlines()[0])
    for name, (_, what) in columns.items():
        print("column", name, what)
    print(flush=True)
    asked = Requests(folder)
    for line in sys.stdin:
        name, operation = line.split()
        try:
            answer = measure(columns[name][0], operation, asked)
        except Exception as error:  # whatever it is, the next request may succeed
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, flush=True)


main()
