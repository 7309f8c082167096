"""Compares the speed and the memory of `hyperslab serve` with those of h5grove.

    python compare.py HYPERSLAB FOLDER [ROUNDS]

HYPERSLAB is an optimized build, FOLDER gets the files. The Python needs `h5grove[fastapi]` 4.0.0 and
uvicorn; `wrk` sends the requests. h5grove runs with one worker, as its documentation shows it. The
script prints a table in Markdown, and whether each bar is met. The servers take turns, and the table
has the medians of the rounds.
"""

import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request

SECONDS = 2
ROUNDS = 5
CLIENTS = 32
# The bytes of the slice of a large dataset, and the memory for decoded chunks meanwhile, in MiB.
SLICE = 200 << 20
CACHE = 32

APPLICATION = """
import os, sys
os.environ["HDF5_USE_FILE_LOCKING"] = "FALSE"
import uvicorn
from fastapi import FastAPI
from h5grove.fastapi_utils import router, settings
application = FastAPI()
application.include_router(router)
settings.base_dir = sys.argv[1]
uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
"""


def make(folder):
    """Writes the files: many children, compressed chunks, and a dataset of 10 GiB."""
    import h5py
    import numpy as np

    with h5py.File(folder / "many.h5", "w") as file:
        for number in range(1000):
            file[f"child{number:04}"] = np.arange(4)
            file[f"child{number:04}"].attrs["units"] = "mm"
    numbers = np.random.default_rng(1).integers(0, 200, (16, 1024, 1024)).cumsum(axis=2).astype("i4")
    with h5py.File(folder / "chunks.h5", "w") as file:
        file.create_dataset("frames", data=numbers, chunks=(1, 256, 1024), compression="gzip", compression_opts=4)
        file["small"] = np.arange(1000)
    with h5py.File(folder / "large.h5", "w") as file:
        large = file.create_dataset("large", (10 << 30,), "u1")
        large[-1] = 1
        chunked = file.create_dataset("chunked", (10 << 30,), "u1", chunks=(1 << 20,), compression="gzip", compression_opts=1)
        part = np.arange(1 << 20, dtype="u1") % 11
        for number in range(SLICE >> 20):
            chunked[number << 20 : (number + 1) << 20] = part + number % 7


class Server:
    """A running server."""

    def __init__(self, name, command, prefix=""):
        self.name, self.prefix = name, prefix
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def wait(self, address):
        self.address = address.rstrip("/") + self.prefix
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.address}/meta?file=chunks.h5", timeout=60).read()
                return self
            except OSError:
                time.sleep(0.1)
        sys.exit(f"{self.name} does not answer")

    def url(self, endpoint, **parameters):
        return f"{self.address}/{endpoint}?{urllib.parse.urlencode(parameters)}"

    def mebibytes(self, field):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s*(\d+) kB", text)[1]) / 1024


def rate(url, clients, seconds):
    """Returns the requests of some clients in a second."""
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "60s", url]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        sys.exit(f"{url}: {text}")
    return float(re.search(r"Requests/sec:\s*([\d.]+)", text)[1])


def own_server(program, folder, *options):
    ours = Server("hyperslab", [program, "serve", str(folder), "--no-token", *options], "/api")
    return ours.wait(ours.process.stdout.readline().strip())


def their_server(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Server("h5grove", [sys.executable, "-c", APPLICATION, str(folder), str(port)]).wait(f"http://127.0.0.1:{port}")


CASES = [
    # name, endpoint, parameters, clients, the bar of the ratio of times
    ("`/meta` of 1000 children", "meta", {"file": "many.h5", "path": "/"}, 1, 0.1),
    ("slice of 4 MiB in gzip chunks, `bin`", "data", {"file": "chunks.h5", "path": "/frames", "selection": "3", "format": "bin"}, 1, 0.5),
    ("small dataset, JSON", "data", {"file": "chunks.h5", "path": "/small"}, 1, None),
    (f"`/meta` of 1000 children, {CLIENTS} clients", "meta", {"file": "many.h5", "path": "/"}, CLIENTS, 0.125),
    (f"slice of 4 MiB, {CLIENTS} clients", "data", {"file": "chunks.h5", "path": "/frames", "selection": "3", "format": "bin"}, CLIENTS, 0.125),
    (f"small dataset, {CLIENTS} clients", "data", {"file": "chunks.h5", "path": "/small"}, CLIENTS, 0.125),
]


def memory(server, path):
    """Returns the growth of the memory by a slice of a large dataset, in MiB."""
    before = server.mebibytes("VmRSS")
    url = server.url("data", file="large.h5", path=path, selection=f"0:{SLICE}", format="bin")
    with urllib.request.urlopen(url, timeout=600) as response:
        count = 0
        while part := response.read(1 << 16):
            count += len(part)
    assert count == SLICE, count
    return server.mebibytes("VmHWM") - before


def speed(program, folder, rounds):
    """Prints the table of the rates. Returns the names of the missed bars."""
    missed = []
    ours, theirs = own_server(program, folder), their_server(folder)
    try:
        print("| requests in a second | hyperslab | h5grove | time, h5grove = 1 | bar |\n|---|---|---|---|---|")
        for name, endpoint, parameters, clients, bar in CASES:
            urls = [server.url(endpoint, **parameters) for server in (ours, theirs)]
            bodies = [urllib.request.urlopen(url).read() for url in urls]
            assert bodies[0] == bodies[1] or json.loads(bodies[0]) == json.loads(bodies[1]), f"{name}: the answers differ"
            rates = [[rate(url, clients, SECONDS) for url in urls] for _ in range(rounds)]
            one, two = (statistics.median(column) for column in zip(*rates))
            ratio = statistics.median(theirs / ours for ours, theirs in rates)
            print(f"| {name} | {one:.0f} | {two:.0f} | {ratio:.3f} | {bar or ''} |", flush=True)
            if bar and ratio > bar:
                missed.append(name)
    finally:
        for server in (ours, theirs):
            server.process.terminate()
            server.process.wait()
    return missed


def growth(program, folder):
    """Prints the table of the memory. Returns the names of the missed bars."""
    missed = []
    print("\n| growth of the memory | hyperslab | h5grove | bar |\n|---|---|---|---|")
    for path, bar in (("/large", 64), ("/chunked", 64 + CACHE)):
        ours, theirs = own_server(program, folder, "--cache", f"{CACHE}MiB"), their_server(folder)
        try:
            one, two = memory(ours, path), memory(theirs, path)
        finally:
            for server in (ours, theirs):
                server.process.terminate()
                server.process.wait()
        what = "contiguous" if path == "/large" else f"in gzip chunks (`--cache {CACHE}MiB`)"
        print(f"| slice of {SLICE >> 20} MiB of a dataset of 10 GiB, {what} | {one:.0f} MiB | {two:.0f} MiB | {bar} MiB |")
        if one > bar:
            missed.append(f"memory of {path}")
    return missed


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    folder.mkdir(parents=True, exist_ok=True)
    make(folder)
    missed = speed(program, folder, rounds) + growth(program, folder)
    print(f"\nmissed bars: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
