"""Compares the answers of `hyperslab serve` with those of h5grove, for every object of many files.

    python differential.py CHECKOUT HYPERSLAB FOLDER [--only TEXT] [--every N] [--files N] [--show N]

CHECKOUT is a git checkout of h5grove 4.0.0, HYPERSLAB the program, or `wasm_server.mjs` for the
WebAssembly module of the page, FOLDER a folder with HDF5 files.
The Python needs h5py, numpy, orjson, tifffile and typing_extensions. For each object below each
group, the script asks for /meta and /attr, and for datasets for /data in several formats and
/stats. h5grove runs without a server in a process for each file, so that a crash of libhdf5 ends
only this file. The exit code is 1 if an answer differs and no exception explains it.
"""

import argparse
import collections
import http.client
import io
import json
import math
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import urllib.parse
import warnings

os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"

# Objects of one file, elements of one dataset, and seconds for one file.
MAX_OBJECTS = 3000
MAX_ELEMENTS = 20_000
# Bytes of an element; a larger one is compared in one format only.
MAX_ELEMENT_BYTES = 1 << 20
SECONDS = 120


class Ours:
    """A connection to the server of hyperslab."""

    def __init__(self, address):
        self.host = address.removeprefix("http://").rstrip("/")
        self.connection = http.client.HTTPConnection(self.host, timeout=60)

    def get(self, endpoint, **parameters):
        query = urllib.parse.urlencode({k: v for k, v in parameters.items() if v is not None})
        for is_last in (False, True):
            try:
                self.connection.request("GET", f"/api/{endpoint}?{query}")
                response = self.connection.getresponse()
                return response.status, response.read()
            except (http.client.HTTPException, OSError) as error:
                # A server may close a connection that is idle; a new one must work.
                self.connection.close()
                self.connection = http.client.HTTPConnection(self.host, timeout=60)
                if is_last:
                    return None, repr(error).encode()
        return None, b""


class Theirs:
    """The answers of h5grove for one file."""

    def __init__(self, path):
        import h5py

        self.file = h5py.File(path, "r")

    def get(self, endpoint, **parameters):
        from h5grove.encoders import encode

        try:
            content = getattr(self, endpoint)(**parameters)
            return 200, encode(content, parameters.get("format", "json")).content
        except Exception as error:  # noqa: BLE001
            return status_of(error), f"{type(error).__name__}: {error}".encode()

    def content(self, path, resolve_links="only_valid"):
        from h5grove.content import create_content
        from h5grove.utils import LinkResolution, parse_link_resolution_arg

        links = parse_link_resolution_arg(resolve_links, LinkResolution.ONLY_VALID)
        return create_content(self.file, path, links)

    def meta(self, path, resolve_links="only_valid"):
        return self.content(path, resolve_links).metadata()

    def attr(self, path, attr_keys=None):
        return self.content(path).attributes(attr_keys and [attr_keys])

    def data(self, path, selection=None, flatten=None, dtype="origin", **_):
        return self.content(path).data(selection, flatten == "true", dtype)

    def stats(self, path, selection=None):
        return self.content(path).data_stats(selection)

    def paths(self, path):
        from h5grove.utils import hdf_path_join

        names = [path]

        def add(name):
            full = hdf_path_join(path, name.decode())
            self.content(full)
            names.append(full)

        group = self.content(path)._h5py_entity
        group.id.links.visit(add)
        return names


def status_of(error):
    """Returns the status that h5grove's servers send for an exception."""
    from h5grove.utils import NotFoundError, QueryArgumentError

    if isinstance(error, NotFoundError):
        return 404
    return 422 if isinstance(error, QueryArgumentError) else 500


def is_close(one, two, tolerance=1e-5):
    """Compares statistics: NumPy sums floats in their own precision, and in another order."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(is_close(one[key], two[key], tolerance) for key in one)
    if None in (one, two):
        # The sum of squares of 16-bit floats overflows.
        return one is two or two is None and tolerance > 1e-3
    return math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance / 10)


def compare(endpoint, ours, theirs, format="json"):
    """Returns the class of a pair of answers."""
    (status, mine), (other_status, other) = ours, theirs
    if other_status != 200:
        if status == 200:
            return "h5grove fails, hyperslab answers"
        if other_status == 500:
            return "both fail, h5grove without a reason"
        return "both fail" if status == other_status else "both fail, other status"
    if status != 200:
        return "HYPERSLAB FAILS"
    if mine == other:
        return "equal"
    if format == "json":
        try:
            one, two = json.loads(mine), json.loads(other)
        except ValueError:
            return "DIFFERENT"
        if one == two:
            return "equal values, other text"
        if endpoint == "stats" and is_close(one, two):
            return "equal but for rounding"
        if endpoint == "stats" and is_close(one, two, 2e-3):
            return "equal but for rounding to 16 bits"
    return "DIFFERENT"


def loaded(npy):
    """Returns the array of a file in the format npy."""
    import numpy as np

    return np.load(io.BytesIO(npy))


def explained(theirs, endpoint, path, parameters, mine, other):
    """Returns the exception that explains a difference, or None."""
    import h5py
    import numpy as np

    if endpoint in ("data", "attr") and mine == other.replace(b"region reference (null>", b"region reference (null)>"):
        return "a bracket of null region references"
    if endpoint in ("data", "attr") and mine.replace(b" (null)", b"") == other.replace(b" (null)", b""):
        return "undefined references are null"
    if endpoint == "data" and b"corrupt global heap" in mine and b"region reference" in other:
        return "damaged region references are failures"
    if endpoint == "data" and (mine, other) == (b"", b"\0"):
        return "empty texts have no bytes"
    dtype = getattr(theirs.file[path], "dtype", None)
    items = dtype and h5py.check_vlen_dtype(dtype)
    if endpoint == "data" and items is not None and getattr(items, "byteorder", "") == ">":
        return "sequences of big-endian numbers, whose order of bytes h5py drops"
    if endpoint == "data" and dtype is not None and dtype.kind == "S" and mine.replace(b"\\u0000", b"") == other:
        return "texts of NumPy in opaque data are bytes"
    if endpoint == "data" and dtype is not None and dtype.base.kind == "c" and dtype.base.itemsize == 32:
        return "complex numbers of 256 bits, which h5py does not convert"
    if endpoint == "stats" and dtype is not None and dtype.base.kind == "c":
        return "statistics of the real part only"
    if dtype is not None and dtype.kind == "O" and theirs.file[path].shape == ():
        return "one sequence as an array"
    if dtype is not None and dtype.kind in "mM":
        return "dates of NumPy are bytes"
    if endpoint != "data" or dtype is None:
        return None
    form = parameters.get("format")
    if form == "bin" and (dtype.hasobject or theirs.file[path].shape is None):
        return "memory addresses of h5grove"
    if form == "npy" and dtype.byteorder == ">" and np.array_equal(loaded(mine), loaded(other), equal_nan=dtype.kind == "f"):
        return "one big-endian number, with another order of bytes"
    if len(mine) != len(other) or form not in ("bin", "npy"):
        return None
    if form == "bin" and dtype.byteorder == ">" and len(mine) == dtype.itemsize and mine == other[::-1]:
        return "one big-endian number, with another order of bytes"
    if form == "bin" and dtype.names and np.frombuffer(mine, dtype).tolist() == np.frombuffer(other, dtype).tolist():
        return "padding of compounds"
    if dtype.kind == "f":
        start = 10 + int.from_bytes(other[8:10], "little") if form == "npy" else 0
        kind = np.dtype("f4") if parameters.get("dtype") == "safe" and dtype.itemsize < 4 else dtype
        one, two = np.frombuffer(mine[start:], kind), np.frombuffer(other[start:], kind)
        if np.array_equal(one, two, equal_nan=True):
            return "other bits of NaN"
    return None


def requests_of(theirs, ours, name, found):
    """Compares all answers for one file."""

    def check(endpoint, path, **parameters):
        mine = ours.get(endpoint, file=name, path=path, **parameters)
        other = theirs.get(endpoint, path=path, **parameters)
        kind = compare(endpoint, mine, other, parameters.get("format", "json"))
        if kind.isupper():
            kind = explained(theirs, endpoint, path, parameters, mine[1], other[1]) or kind
        found.append((endpoint, kind, path, parameters, mine[1][:300], other[1][:300], mine[0]))
        return mine

    status, paths = check("paths", "/")
    if status != 200:
        return
    paths = json.loads(paths)
    if len(paths) > MAX_OBJECTS:
        found.append(("files", f"cut after {MAX_OBJECTS} objects", "", {}, b"", b"", 0))
    for path in paths[:MAX_OBJECTS]:
        found.append(("object", "asked for", path, {}, b"", b"", 0))
        status, meta = check("meta", path)
        for links in ("none", "all"):
            check("meta", path, resolve_links=links)
        check("attr", path)
        try:
            meta = json.loads(meta)
        except ValueError:
            continue
        for attribute in meta.get("attributes", [])[:1]:
            check("attr", path, attr_keys=attribute["name"])
        if meta.get("kind") == "dataset":
            datasets(check, path, meta)


def datasets(check, path, meta):
    shape = meta["shape"]
    selection = None
    if meta["type"].get("size", 0) > MAX_ELEMENT_BYTES:
        check("data", path, selection="0" if shape else None, format="bin")
        return
    if shape and math.prod(shape) > MAX_ELEMENTS:
        room = MAX_ELEMENTS
        members = []
        for size in reversed(shape):
            members.append(f"0:{max(1, min(size, room))}")
            room //= max(1, min(size, room))
        selection = ",".join(reversed(members))
    for extra in ({}, {"format": "bin"}, {"format": "bin", "dtype": "safe"}, {"format": "npy"}):
        check("data", path, selection=selection, **extra)
    check("data", path, selection=selection, flatten="true")
    check("stats", path, selection=selection)
    if shape and len(shape) <= 2:
        check("data", path, selection=selection, format="csv")
    if shape and shape[0] > 1:
        rest = ",".join(f"0:{min(size, 50)}" for size in shape[1:])
        check("data", path, selection=f"-1,{rest}" if rest else "-1")
        check("data", path, selection=f"0:20:2,{rest}" if rest else "0:20:2")


def work(path, name, address, results):
    """Runs in a process of its own."""
    signal.alarm(SECONDS)
    found = []
    try:
        theirs = Theirs(path)
    except Exception as error:  # noqa: BLE001
        results.send(("closed", str(error)[:200], Ours(address).get("meta", file=name)))
        return
    requests_of(theirs, Ours(address), name, found)
    results.send(("done", found))


def run_file(path, name, address):
    receive, send = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=work, args=(path, name, address, send), daemon=True)
    process.start()
    send.close()
    try:
        result = receive.recv() if receive.poll(SECONDS + 5) else ("ended", "no answer in time")
    except EOFError:
        result = ("ended", "libhdf5 crashed or took too long")
    process.kill()
    process.join()
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--files", type=int, default=1 << 30)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", type=int, default=40)
    arguments = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(arguments.checkout, "src").absolute()))
    # The processes of the files are copies of this one, and need not import again.
    import h5grove.content  # noqa: F401
    import h5grove.encoders  # noqa: F401

    warnings.simplefilter("ignore")
    folder = pathlib.Path(arguments.folder).absolute()
    if arguments.program.endswith(".mjs"):
        command = ["node", arguments.program, "serve", str(folder)]
    else:
        command = [arguments.program, "serve", str(folder), "--no-token"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    counts = collections.Counter()
    files = collections.Counter()
    shown = collections.Counter()
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and arguments.only in str(path))
    try:
        for path in paths[arguments.first :: arguments.every][: arguments.files]:
            name = str(path.relative_to(folder))
            state, *rest = run_file(path, name, address)
            files[state] += 1
            if server.poll() is not None:
                sys.exit(f"the server ended at {name}")
            if state == "closed" and rest[1][0] == 200:
                files["h5py cannot open, hyperslab can"] += 1
            if state == "ended":
                print(f"not compared: {name}: {rest[0]}")
            if state != "done":
                continue
            for endpoint, kind, object_path, parameters, mine, other, status in rest[0]:
                counts[endpoint, kind] += 1
                if kind.isupper():
                    key = (endpoint, kind)
                    shown[key] += 1
                    if shown[key] <= arguments.show:
                        print(f"{kind} {endpoint} {name} {object_path} {parameters}\n  ours   {status} {mine}\n  theirs {other}")
    finally:
        server.terminate()
    print(f"{sum(files.values())} files: {dict(files)}")
    answers = {key: count for key, count in counts.items() if key[0] not in ("files", "object")}
    differ = sum(count for (_, kind), count in answers.items() if kind.isupper())
    equal = sum(count for (_, kind), count in answers.items() if kind.startswith("equal"))
    print(f"{sum(answers.values())} answers: {equal} equal, {differ} differ without a listed cause")
    for (endpoint, kind), count in sorted(counts.items()):
        print(f"{endpoint:6} {kind:36} {count}")
    return 1 if any(kind.isupper() for _, kind in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
