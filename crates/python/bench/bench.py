"""Compare hyperslab with h5py, pyfive, zarr-python and tensorstore.

    python bench.py [--rounds N] [--scale F] [--json FILE] [WORKLOAD…]

All libraries run in one process, in turns. The figures are medians of rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np

import hyperslab

try:
    import pyfive
except ImportError:
    pyfive = None
try:
    import tensorstore
except ImportError:
    tensorstore = None
try:
    import zarr
except ImportError:
    zarr = None

# The bar of each workload: the largest ratio of hyperslab to h5py.
BARS = {
    "open and close": 1.0, "get a dataset": 1.0, "slice of 10 x 10 from the cache": 1.0, "one element": 1.0,
    "slice of 100, contiguous": 1.0, "attribute, a number": 1.0, "attribute, a text": 1.0, "1,000 names": 0.5,
    "whole dataset, contiguous": 1.0, "whole dataset, gzip": 0.5, "four threads, four gzip datasets": 0.3,
    "100 of 1,000,000 chunks by number": 0.05, "1,000,000 texts as objects": 0.8, "1,000,000 texts as StringDType": 0.5,
    "1,000,000 texts to Arrow": 0.25, "write, contiguous": 1.0, "write, contiguous, no sync": 1.0, "write, gzip": 1.0,
    "write 1,000,000 texts": 1.0,
    "sparse matrix, write": 0.7, "sparse matrix, read": 0.7, "import": 1.0,
}  # fmt: skip

Calls = dict[str, Callable[[], Any]]


def calls_of(function: Callable[[Any], Callable[[], Any]], *libraries: Any) -> Calls:
    """Return the calls of a workload for libraries with the interface of h5py."""
    return {library.__name__: function(library) for library in libraries}


def repeated(call: Callable[[], Any], count: int) -> Callable[[], Any]:
    """Return a call that repeats a call."""

    def run() -> None:
        for _ in range(count):
            call()

    return run


def prepare(folder: str, scale: float) -> dict[str, Any]:
    """Write the files of all workloads with h5py."""
    path = os.path.join(folder, "input.h5")
    random = np.random.default_rng(1)
    rows = max(int(4000 * scale), 200)
    steps = random.integers(-3, 4, (rows, 5000)).cumsum(axis=1).astype("i4")
    texts = [f"sample {number}" for number in range(max(int(1_000_000 * scale), 1000))]
    with h5py.File(path, "w") as file:
        file.create_dataset("chunked", data=random.random((1000, 1000), dtype="f4"), chunks=(100, 100))
        file.create_dataset("contiguous", data=random.random((rows, 5000)))
        file.create_dataset("gzip", data=steps, chunks=(200, 500), compression="gzip")
        for number in range(4):
            file.create_dataset(f"gzip{number}", data=steps[: rows // 2], chunks=(200, 500), compression="gzip")
        file.create_dataset("texts", data=texts)
        file.attrs["number"], file.attrs["text"] = 3, "text"
        group = file.create_group("names")
        for number in range(1000):
            group.create_group(f"name {number:04}")
    many = os.path.join(folder, "many.h5")
    with hyperslab.File(many, "w") as file:
        dataset = file.create_dataset("a", (max(int(1_000_000 * scale), 1000),), "u1", chunks=(1,))
        dataset[...] = 1
    stores = {}
    if zarr is not None:
        stores["zarr"] = zarr.create_array(os.path.join(folder, "gzip.zarr"), data=steps, chunks=(200, 500),
                                           compressors=zarr.codecs.GzipCodec(level=4), zarr_format=3)  # fmt: skip
    return {"path": path, "many": many, "steps": steps, "texts": texts, "folder": folder, "stores": stores, "scale": scale}


def calls(inputs: dict[str, Any]) -> dict[str, tuple[int, Calls]]:
    """Return the number of repetitions and the calls of each workload that reads."""
    path = inputs["path"]
    both = (h5py, hyperslab)
    files = {library: library.File(path, "r") for library in both}
    many = {library: library.File(inputs["many"], "r")["a"] for library in both}
    step = max(len(many[hyperslab]) // 100, 1)
    get = lambda name: {library: files[library][name] for library in both}  # noqa: E731
    chunked, contiguous, texts, names = get("chunked"), get("contiguous"), get("texts"), get("names")

    def small(function: Callable[[Any], Any], count: int) -> tuple[int, Calls]:
        return count, calls_of(lambda library: repeated(lambda: function(library), count), *both)

    def whole(name: str) -> tuple[int, Calls]:
        found = calls_of(lambda library: lambda: files[library][name][...], *both)
        if pyfive is not None:
            reader = pyfive.File(path)
            found["pyfive"] = lambda: reader[name][...]
        return 1, found

    gzip = whole("gzip")
    if zarr is not None:
        gzip[1]["zarr"] = lambda: inputs["stores"]["zarr"][...]
    if tensorstore is not None and zarr is not None:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.join(inputs["folder"], "gzip.zarr")}}
        opened = tensorstore.open(spec).result()
        gzip[1]["tensorstore"] = lambda: opened.read().result()
    result = {
        "open and close": small(lambda library: library.File(path, "r").close(), 50),
        "get a dataset": small(lambda library: files[library]["chunked"], 500),
        "slice of 10 x 10 from the cache": small(lambda library: chunked[library][0:10, 0:10], 2000),
        "one element": small(lambda library: chunked[library][5, 7], 2000),
        "slice of 100, contiguous": small(lambda library: contiguous[library][5, 1000:1100], 2000),
        "attribute, a number": small(lambda library: files[library].attrs["number"], 500),
        "attribute, a text": small(lambda library: files[library].attrs["text"], 500),
        "1,000 names": small(lambda library: list(names[library]), 20),
        "whole dataset, contiguous": whole("contiguous"),
        "whole dataset, gzip": gzip,
        "four threads, four gzip datasets": (1, calls_of(lambda library: lambda: four_threads(files[library]), *both)),
        "100 of 1,000,000 chunks by number": (
            1, calls_of(lambda library: lambda: [many[library].id.get_chunk_info(number * step) for number in range(100)], *both),
        ),
        "1,000,000 texts as objects": (1, calls_of(lambda library: lambda: texts[library][...], *both)),
        "1,000,000 texts as StringDType": (1, calls_of(lambda library: lambda: texts[library].astype("T")[...], *both)),
    }  # fmt: skip
    from hyperslab import arrow

    result["1,000,000 texts to Arrow"] = (
        1, {"h5py": lambda: texts[h5py].astype("T")[...], "hyperslab": lambda: arrow.to_arrow(texts[hyperslab])},
    )  # fmt: skip
    return result


def four_threads(file: Any) -> None:
    """Read four datasets in four threads."""
    threads = [threading.Thread(target=lambda name=f"gzip{number}": file[name][...]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def writes(inputs: dict[str, Any]) -> dict[str, tuple[int, Calls]]:
    """Return the calls of each workload that writes a new file."""
    import scipy.sparse

    from hyperslab import sparse

    size = max(int(20_000 * inputs["scale"] ** 0.5), 500)
    # A generator chooses the elements without a permutation of all of them.
    matrix = scipy.sparse.random(size, size, density=0.01, format="csr", random_state=np.random.default_rng(1))
    target = os.path.join(inputs["folder"], "output")

    def to_file(work: Callable[[Any, Any], Any], **options: Any) -> Calls:
        def of(library: Any) -> Callable[[], Any]:
            own = options if library is hyperslab else {}

            def run() -> None:
                with library.File(f"{target}-{library.__name__}.h5", "w", **own) as file:
                    work(library, file)

            return run

        return calls_of(of, h5py, hyperslab)

    def parts(file: Any) -> None:
        for name in ("data", "indices", "indptr"):
            file.create_dataset(name, data=getattr(matrix, name), compression="gzip")

    def of_parts(file: Any) -> Any:
        return scipy.sparse.csr_matrix((file["data"][...], file["indices"][...], file["indptr"][...]), shape=matrix.shape)

    stored = {"h5py": f"{target}-matrix-h5py.h5", "hyperslab": f"{target}-matrix-hyperslab.h5"}

    def write_parts() -> None:
        with h5py.File(stored["h5py"], "w") as file:
            parts(file)

    def write_sparse() -> None:
        with hyperslab.File(stored["hyperslab"], "w") as file:
            sparse.create(file, "m", matrix, filters="gzip=4")

    def read_parts() -> None:
        with h5py.File(stored["h5py"]) as file:
            of_parts(file)

    def read_sparse() -> None:
        with hyperslab.File(stored["hyperslab"]) as file:
            sparse.read_matrix(file["m"])

    write_parts()
    write_sparse()
    steps, texts = inputs["steps"], inputs["texts"]
    return {
        "write, contiguous": (1, to_file(lambda _, file: file.create_dataset("a", data=steps))),
        "write, contiguous, no sync": (
            1, to_file(lambda _, file: file.create_dataset("a", data=steps), durability="none"),
        ),
        "write, gzip": (
            1, to_file(lambda _, file: file.create_dataset("a", data=steps, chunks=(200, 500), compression="gzip")),
        ),
        "write 1,000,000 texts": (1, to_file(lambda _, file: file.create_dataset("a", data=texts))),
        "sparse matrix, write": (1, {"h5py": write_parts, "hyperslab": write_sparse}),
        "sparse matrix, read": (1, {"h5py": read_parts, "hyperslab": read_sparse}),
    }  # fmt: skip


def import_time(library: str) -> float:
    """Return the seconds of an import after that of NumPy, in a new process."""
    code = f"import numpy, time; t = time.perf_counter(); import {library}; print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def peak(library: str, path: str) -> float:
    """Return the peak memory of a read of a gzip dataset above the array, in MiB, in a new process of Linux."""
    code = (
        f"import numpy, {library} as l; f = l.File({path!r}, 'r'); d = f['gzip']; d[0:1, 0:1]\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"  # The peak begins again.
        "peak = lambda: int(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
        "before = peak()\na = d[...]\nprint((peak() - before) / 1024 - a.nbytes / 2**20)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def speed_beside(work: Callable[[], Any]) -> float:
    """Return the speed of a thread that counts in Python while another thread does some work."""
    stop, found = threading.Event(), []

    def count() -> None:
        number, start = 0, time.perf_counter()
        while not stop.is_set():
            number += 1
        found.append(number / (time.perf_counter() - start))

    counter = threading.Thread(target=count)
    counter.start()
    work()
    stop.set()
    counter.join()
    return float(found[0])


def busy_processes() -> None:
    """Wait while as many other processes as the machine has cores compute for half a second."""
    code = "import time; end = time.perf_counter() + 0.5\nwhile time.perf_counter() < end: pass"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    for process in processes:
        process.wait()


def free_interpreter(path: str, *libraries: Any) -> dict[str, float]:
    """Return the speed of a counting thread while another thread reads, relative to its speed alone.

    A library that uses all cores leaves the thread a share of them, even if the interpreter is free: the entry
    "processes" is the speed beside other processes that use all cores.
    """
    found: dict[str, list[float]] = {name: [] for name in ("alone", "processes", *(it.__name__ for it in libraries))}
    for _ in range(5):
        found["alone"].append(speed_beside(lambda: time.sleep(0.5)))
        found["processes"].append(speed_beside(busy_processes))
        for library in libraries:
            with library.File(path, "r") as file:
                found[library.__name__].append(speed_beside(lambda file=file: [file["gzip"][...] for _ in range(5)]))
    alone = statistics.median(found.pop("alone"))
    return {name: statistics.median(speeds) / alone for name, speeds in found.items()}


def free_with_one_thread(path: str) -> float:
    """Return the speed of a counting thread while hyperslab decodes in one thread: a core is left for the counting thread."""
    code = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\nimport bench, hyperslab; print(bench.free_interpreter({path!r}, hyperslab)['hyperslab'])"
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout)


def measure(repeats: int, found: Calls, rounds: int, writes: bool = False) -> dict[str, float]:
    """Return the median seconds of one call of each library.

    Before a call that writes, the system stores what earlier calls wrote: otherwise, the call would wait for their data.
    """
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        for name, call in found.items():
            if writes:
                os.sync()
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) / repeats)
    return {name: statistics.median(values) for name, values in times.items()}


def shown(seconds: float) -> str:
    """Return a time with a unit."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main() -> None:
    """Run the workloads and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json")
    choices = parser.parse_args()
    unknown = set(choices.workload) - set(BARS)
    if unknown:
        parser.error(f"no workload has the name {', '.join(sorted(unknown))}; the names: {', '.join(BARS)}")
    folder = tempfile.mkdtemp(prefix="hyperslab-bench-")
    try:
        run(choices, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(choices: argparse.Namespace, folder: str) -> None:
    """Run the workloads with files in a folder."""
    inputs = prepare(folder, choices.scale)
    rows = {}
    print("| workload | h5py | hyperslab | ratio | bar | others |\n|---|---:|---:|---:|---:|---|")
    reading, writing = calls(inputs), writes(inputs)
    for name, (repeats, found) in {**reading, **writing}.items():
        if choices.workload and name not in choices.workload:
            continue
        rows[name] = measure(repeats, found, choices.rounds, name in writing)
        print(line(name, rows[name]), flush=True)
    if not choices.workload:
        rows["import"] = {library: statistics.median(import_time(library) for _ in range(5)) for library in ("h5py", "hyperslab")}
        print(line("import", rows["import"]))
        memory = {library: peak(library, inputs["path"]) for library in ("h5py", "hyperslab")}
        print(f"\nPeak memory of a read of a gzip dataset, above the array: h5py {memory['h5py']:.0f} MiB, "
              f"hyperslab {memory['hyperslab']:.0f} MiB (bar 64 MiB).")  # fmt: skip
        free = free_interpreter(inputs["path"], h5py, hyperslab)
        one = free_with_one_thread(inputs["path"])
        print(f"Speed of a counting thread during reads, relative to its speed alone: h5py {free['h5py']:.0%}, "
              f"hyperslab {free['hyperslab']:.0%} on {os.cpu_count()} cores, and {one:.0%} with one thread that decodes (bar 90 %). "
              f"Beside as many busy processes as cores: {free['processes']:.0%}.")  # fmt: skip
    if choices.json:
        with open(choices.json, "w") as file:
            json.dump(rows, file, indent=1)


def line(name: str, times: dict[str, float]) -> str:
    """Return one line of the table."""
    ratio = times["hyperslab"] / times["h5py"]
    bar = BARS[name]
    mark = "" if ratio <= bar else " (missed)"
    others = ", ".join(f"{library} {shown(value)}" for library, value in times.items() if library not in ("h5py", "hyperslab"))
    return f"| {name} | {shown(times['h5py'])} | {shown(times['hyperslab'])} | {ratio:.2f} | {bar}{mark} | {others} |"


if __name__ == "__main__":
    main()
