"""The work of the writers that are killed, by libhdf5, and a judge of what is in the files.

`write FILE` writes until it is killed, and prints the number of each flush. `judge FILE…` prints a line for each file: the number of
the flush whose content it has, or what is wrong, as JSON.
"""

import json
import sys

import h5py
import numpy as np


def begin(file):
    file.create_dataset("series", (0,), "i4", maxshape=(None,), chunks=(64,), compression="gzip", compression_opts=1)
    file.create_dataset("image", (64, 64), "f8", chunks=(16, 16))
    file.create_dataset("table", data=np.zeros(1000, "u2"))
    file.create_group("groups")


def work(file, number):
    series = file["series"]
    for part in range(4):
        first = (number - 1) * 40 + part * 10
        series.resize((first + 10,))
        series[first:] = np.arange(first, first + 10) * 7 + 3
    row, column = number % 16 // 4 * 16, number % 4 * 16
    file["image"][row : row + 16, column : column + 16] = number
    start = number * 37 % 900
    file["table"][start : start + 100] = number % 65536
    group = file.create_group(f"groups/g{number}")
    group.attrs["number"] = number
    group["d"] = np.full(20, number, "i4")
    if number > 8:
        del file[f"groups/g{number - 8}"]
    name = f"a{number % 10}"
    if number % 7:
        series.attrs[name] = np.full(number % 50 + 1, number, "i4")
    elif name in series.attrs:
        del series.attrs[name]
    file.attrs["last"] = number


def write(path):
    file = h5py.File(path, "w")
    begin(file)
    number = 0
    while True:
        number += 1
        work(file, number)
        file.flush()
        print(f"\nflush {number}", flush=True)


class Other(Exception):
    """What can be read is not what belongs together."""


def same(what, found, expected):
    if not np.array_equal(found, expected):
        raise Other(f"{what}: {found} in place of {expected}")


def judge_attributes(series, number):
    expected = {}
    for one in range(1, number + 1):
        name = f"a{one % 10}"
        expected.pop(name, None)
        if one % 7:
            expected[name] = one
    same("attributes", sorted(series.attrs), sorted(expected))
    for name, one in expected.items():
        same(name, series.attrs[name], np.full(one % 50 + 1, one))


def judge_content(file):
    number = int(file.attrs["last"])
    series = file["series"]
    same("series", series[()], np.arange(40 * number) * 7 + 3)
    judge_attributes(series, number)
    image, table = np.zeros((64, 64)), np.zeros(1000)
    for one in range(1, number + 1):
        row, column = one % 16 // 4 * 16, one % 4 * 16
        image[row : row + 16, column : column + 16] = one
        start = one * 37 % 900
        table[start : start + 100] = one % 65536
    same("image", file["image"][()], image)
    same("table", file["table"][()], table)
    groups = range(max(1, number - 7), number + 1)
    same("groups", sorted(file["groups"]), sorted(f"g{one}" for one in groups))
    for one in groups:
        same("group", file[f"groups/g{one}"].attrs["number"], one)
        same("small dataset", file[f"groups/g{one}/d"][()], np.full(20, one))
    same("members", sorted(file), ["groups", "image", "series", "table"])
    return number


def judge(path):
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        return {"fate": "unreadable", "why": str(error)}
    try:
        with file:
            return judge_content(file)
    except Other as error:
        return {"fate": "mixed", "why": str(error)}
    except Exception as error:  # noqa: BLE001  (whatever a damaged file leads to)
        return {"fate": "damaged", "why": f"{type(error).__name__}: {error}"}


if sys.argv[1] == "write":
    write(sys.argv[2])
for name in sys.argv[2:]:
    print(json.dumps(judge(name)))
