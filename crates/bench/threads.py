"""Reads or writes distinct parts of datasets with threads of one process and h5py. Prints wall-clock and processor seconds."""

import sys
import threading
import time

import h5py
import numpy as np

path, operation, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
ROWS, COLUMNS, CHUNK = 4096, 4096, 256


def values(rows):
    row = (np.arange(COLUMNS, dtype=np.uint32) * 7919 % 1013).astype(np.float32)
    return np.tile(row, (rows, 1))


def read(dataset, start, end):
    for row in range(start, end, CHUNK):
        assert dataset[row : row + CHUNK].shape == (CHUNK, COLUMNS)


def write(dataset, slab, start, end):
    for row in range(start, end, CHUNK):
        dataset[row : row + CHUNK] = slab


if operation.startswith("read"):
    file = h5py.File(path, "r")
    parts = [(read, (file[operation],))] * threads
else:
    file = h5py.File(path + ".h5py", "w", libver="latest")
    kind = {"dtype": "f4", "chunks": (CHUNK, CHUNK), "compression": "gzip", "compression_opts": 4}
    names = ["a", "b"] if operation == "two" else ["a"]
    rows = ROWS // len(names)
    made = [file.create_dataset(name, (rows, COLUMNS), **kind) for name in names]
    parts = [(write, (made[number % len(made)], values(CHUNK))) for number in range(max(threads, len(made)))]

rows = ROWS // len(parts)
local = operation == "two"
jobs = []
for number, (function, what) in enumerate(parts):
    start = 0 if local else number * rows
    jobs.append(lambda function=function, what=what, start=start: function(*what, start, start + rows))

wall, cpu = time.perf_counter(), time.process_time()
if threads == 1:
    for job in jobs:
        job()
else:
    running = [threading.Thread(target=job) for job in jobs]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
file.close()
print(time.perf_counter() - wall, time.process_time() - cpu)
