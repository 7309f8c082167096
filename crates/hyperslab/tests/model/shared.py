"""Files whose objects share messages, made and changed by libhdf5: `make FOLDER` or `change FILE...`."""

import ctypes
import os
import sys

import h5py
import numpy as np
from h5py import h5a, h5f, h5p

DATASPACE, DATATYPE, FILL, PIPELINE, ATTRIBUTE = 0x2, 0x8, 0x20, 0x800, 0x1000
ALL = DATASPACE | DATATYPE | FILL | PIPELINE | ATTRIBUTE
LOW = {"earliest": h5f.LIBVER_EARLIEST, "v18": h5f.LIBVER_V18, "v110": h5f.LIBVER_V110, "v200": h5f.LIBVER_LATEST}

# h5py has no names for these functions; its modules are linked with them.
library = ctypes.CDLL(h5p.__file__)


def call(name, *arguments):
    number = ctypes.c_uint
    status = getattr(library, name)(ctypes.c_int64(arguments[0]), *(number(one) for one in arguments[1:]))
    assert status >= 0, name


def make(path, indexes, phases, low):
    create = h5p.create(h5p.FILE_CREATE)
    call("H5Pset_shared_mesg_nindexes", create.id, len(indexes))
    for at, (types, least) in enumerate(indexes):
        call("H5Pset_shared_mesg_index", create.id, at, types, least)
    call("H5Pset_shared_mesg_phase_change", create.id, *phases)
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    access.set_libver_bounds(LOW[low], h5f.LIBVER_LATEST)
    with h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, create, access)) as file:
        file["type"] = np.dtype([("a", "<i4"), ("b", "<f8")])
        for at in range(3):
            fill(file, f"by libhdf5 {at}", tracked=at == 1)


def fill(file, name, tracked=False):
    """A group of objects that are like those of other such groups."""
    group = file.create_group(name, track_order=tracked)
    for at in range(3):
        dataset = group.create_dataset(
            f"chunked {at}", (10, 4), "<i4", maxshape=(None, 4), chunks=(5, 4), fillvalue=7, compression="gzip"
        )
        dataset[:5] = at
        attributes(dataset, at)
    group.create_dataset("whole", data=np.arange(20, dtype="<i2"))
    group["typed"] = np.zeros(3, "<f8")
    group["typed"].attrs.create("of a type", np.zeros(2, file["type"].dtype), dtype=file["type"])
    attributes(group, 12)


def attributes(thing, count):
    for at in range(count):
        thing.attrs.create(f"n {at}", np.arange(at * 3), dtype="<i4")
    thing.attrs.create("unit", np.bytes_("metre"))
    thing.attrs.create("long", np.zeros(300), dtype="<f8")


def change(path):
    # Under other bounds libhdf5 encodes messages anew, and does not find what it is to give up.
    low = os.path.splitext(path)[0].split()[-1].replace("v18", "v108").replace("v200", "latest")
    # What comes into a header where shared attributes were removed in the same session may damage it.
    for step in (add_attributes, rename_attributes, remove, add, resize):
        with h5py.File(path, "r+", libver=(low, "latest")) as file:
            step(file)


def groups(file):
    return [file[name] for name in file if isinstance(file[name], h5py.Group)]


def things(file):
    return [thing for group in groups(file) for thing in [group, *group.values()]]


def add_attributes(file):
    for thing in things(file):
        thing.attrs.create(f"added {len(thing.attrs)}", np.arange(5), dtype="<i4")
        if "long" in thing.attrs and thing.attrs["long"].size == 300:
            thing.attrs.modify("long", np.ones(300))


def rename_attributes(file):
    for thing in things(file):
        if "unit" in thing.attrs:
            h5a.rename(thing.id, b"unit", f"unit of measure {len(thing.attrs)}".encode())


def remove(file):
    for thing in things(file):
        if len(thing.attrs) > 1:
            del thing.attrs[next(iter(thing.attrs))]
    for group in groups(file):
        group.pop("chunked 1", None)
    del file[groups(file)[0].name]


def add(file):
    number = len(file)
    while f"by libhdf5 {number}" in file:
        number += 1
    fill(file, f"by libhdf5 {number}", tracked=number % 2 == 0)
    # Of attributes that it copies libhdf5 counts the types and shapes once more than they are used.
    first = groups(file)[0]
    file.copy(first["whole"], first, f"copied {number}", without_attrs=True)


def resize(file):
    # Those of others than hyperslab may share their shapes, which libhdf5 then writes over what stands behind.
    for group in groups(file):
        if group.name.startswith("/by hyperslab") and "chunked 0" in group:
            for rows in (17, 3, 12):
                group["chunked 0"].resize((rows, 4))


def main():
    task, arguments = sys.argv[1], sys.argv[2:]
    if task == "change":
        for path in arguments:
            change(path)
        return
    number = 0
    rest = FILL | PIPELINE
    for indexes in [[(ALL, 1)], [(ATTRIBUTE, 40), (DATASPACE | DATATYPE, 1), (rest, 9)], [(ALL & ~ATTRIBUTE, 1)]]:
        for phases, low in [((50, 40), "v18"), ((0, 0), "earliest"), ((6, 4), "v110"), ((6, 7), "v200")]:
            # libhdf5 does not find again what it left in old headers.
            low = "v18" if low == "earliest" and not indexes[0][0] & ATTRIBUTE else low
            make(os.path.join(arguments[0], f"{number} {low}.h5"), indexes, phases, low)
            number += 1


main()
