"""Compares the speed and the memory of `hyperslab serve` with those of h5grove.

    python compare.py HYPERSLAB FOLDER [ROUNDS]

HYPERSLAB is an optimized build, FOLDER gets the files. The Python needs `h5grove[fastapi]` 4.0.0 and
uvicorn; `wrk` sends the requests for small answers, and `client.py` those for large ones. h5grove runs
with one worker, as its documentation shows it. The script prints a table in Markdown, and whether each
bar is met. The servers take turns, and the table has the medians of the rounds.
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

import client

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

    def seconds(self):
        """Returns the processor time of the server so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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


def measure(server, case):
    """Returns the answers in a second, and the processor time of the server for one answer in ms."""
    urls = [server.url(case.endpoint, **parameters) for parameters in case.requests]
    before, start = server.seconds(), time.perf_counter()
    if case.is_large:
        answers = client.rate(urls, case.clients, SECONDS)
    else:
        answers = rate(urls[0], case.clients, SECONDS)
    count = max(answers * (time.perf_counter() - start), 1)
    return answers, (server.seconds() - before) * 1000 / count


def own_server(program, folder, *options):
    ours = Server("hyperslab", [program, "serve", str(folder), "--no-token", *options], "/api")
    return ours.wait(ours.process.stdout.readline().strip())


def their_server(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Server("h5grove", [sys.executable, "-c", APPLICATION, str(folder), str(port)]).wait(f"http://127.0.0.1:{port}")


class Case:
    """Requests of one kind, and the bar of the ratio of times."""

    def __init__(self, name, endpoint, requests, clients=1, bar=None, is_large=False, options=()):
        self.name = name if clients == 1 else f"{name}, {clients} clients"
        self.endpoint, self.requests, self.clients, self.bar = endpoint, requests, clients, bar
        self.is_large, self.options = is_large, options


MANY = [{"file": "many.h5", "path": "/"}]
SMALL = [{"file": "chunks.h5", "path": "/small"}]
FRAMES = {"file": "chunks.h5", "path": "/frames", "format": "bin"}
ONE = [{**FRAMES, "selection": "3"}]
HALVES = [{**FRAMES, "selection": f"{frame},{rows}"} for frame in range(16) for rows in (":512", "512:")]

CASES = [
    Case("`/meta` of 1000 children", "meta", MANY, bar=0.1),
    Case("slice of 4 MiB in gzip chunks, `bin`", "data", ONE, bar=0.5, is_large=True),
    Case("small dataset, JSON", "data", SMALL),
    Case("`/meta` of 1000 children", "meta", MANY, CLIENTS, bar=0.125),
    Case("slice of 4 MiB", "data", ONE, CLIENTS, bar=0.125, is_large=True),
    Case("another slice of 2 MiB for each client", "data", HALVES, CLIENTS, bar=0.125, is_large=True),
    Case("the same, `--cache 0`", "data", HALVES, CLIENTS, is_large=True, options=("--cache", "0")),
    Case("small dataset", "data", SMALL, CLIENTS, bar=0.125),
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
    print("| | answers in a second, hyperslab | h5grove | time, h5grove = 1 | bar | ms of the server for one answer, hyperslab | h5grove |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        ours, theirs = own_server(program, folder, *case.options), their_server(folder)
        try:
            for parameters in case.requests:
                urls = [server.url(case.endpoint, **parameters) for server in (ours, theirs)]
                bodies = [urllib.request.urlopen(url).read() for url in urls]
                same = bodies[0] == bodies[1] or json.loads(bodies[0]) == json.loads(bodies[1])
                assert same, f"{case.name}: the answers differ"
            rounds_of = [[measure(server, case) for server in (ours, theirs)] for _ in range(rounds)]
        finally:
            stop(ours, theirs)
        (one, own_ms), (two, their_ms) = ([statistics.median(column) for column in zip(*server)] for server in zip(*rounds_of))
        ratio = statistics.median(theirs[0] / ours[0] for ours, theirs in rounds_of)
        row = [case.name, f"{one:.0f}", f"{two:.0f}", f"{ratio:.3f}", f"{case.bar or ''}", f"{own_ms:.2f}", f"{their_ms:.2f}"]
        print(f"| {' | '.join(row)} |", flush=True)
        if case.bar and ratio > case.bar:
            missed.append(case.name)
    return missed


def stop(*servers):
    for server in servers:
        server.process.terminate()
        server.process.wait()


def growth(program, folder):
    """Prints the table of the memory. Returns the names of the missed bars."""
    missed = []
    print("\n| growth of the memory | hyperslab | h5grove | bar |\n|---|---|---|---|")
    for path, bar in (("/large", 64), ("/chunked", 64 + CACHE)):
        ours, theirs = own_server(program, folder, "--cache", f"{CACHE}MiB"), their_server(folder)
        try:
            one, two = memory(ours, path), memory(theirs, path)
        finally:
            stop(ours, theirs)
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
