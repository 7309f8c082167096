"""What libhdf5 makes of the files that a manifest names: `verify`, `change` and `dump`, `copy`.

A manifest says {file: {path: {kind, dims, hex, attributes, links}}}.
"""

import json
import os
import sys

import h5py
import hdf5plugin  # noqa: F401  (lzf is h5py's; others come with it)
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t


def bound(low):
    return "v108" if low == "v18" else low


def raw(dataset):
    kind, count = dataset.id.get_type(), dataset.id.get_space().get_simple_extent_npoints()
    data = np.zeros(count * kind.get_size(), "u1")
    if data.size:
        try:
            dataset.id.read(h5s.ALL, h5s.ALL, data, mtype=kind)
        except OSError as error:
            raise RuntimeError(f"{dataset.file.filename}:{dataset.name}: {dataset.shape}") from error
    return data


def attribute(identifier):
    kind, count = identifier.get_type(), identifier.get_space().get_simple_extent_npoints()
    data = np.zeros(count * kind.get_size(), "u1")
    if data.size:
        identifier.read(data, mtype=kind)
    return data.tobytes().hex()


def attributes(thing):
    return {name: attribute(h5a.open(thing.id, name.encode())) for name in thing.attrs}


def describe(thing):
    said = {"attributes": attributes(thing)}
    if isinstance(thing, h5py.Dataset):
        return said | {"kind": "dataset", "dims": list(thing.shape), "hex": raw(thing).tobytes().hex()}
    if isinstance(thing, h5py.Datatype):
        return said | {"kind": "datatype"}
    return said | {"kind": "group", "links": sorted(thing, key=lambda name: name.encode())}


def objects(file):
    """Every path of hard links."""
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        try:
            thing = file[path]
        except KeyError as error:
            raise RuntimeError(f"{file.filename}:{path}") from error
        yield path, thing
        if isinstance(thing, h5py.Group):
            for name in thing:
                if isinstance(thing.get(name, getlink=True), h5py.HardLink):
                    waiting.append(path.rstrip("/") + "/" + name)


def verify(manifest):
    for name, expected in manifest.items():
        with h5py.File(name, "r") as file:
            found = {path: describe(thing) for path, thing in objects(file)}
        assert set(found) == set(expected), (name, set(found) ^ set(expected))
        for path, said in expected.items():
            for key, value in said.items():
                assert found[path][key] == value, f"{name}:{path}: {key}\n{found[path][key]}\n{value}"


def write(dataset, data):
    if data.size:
        dataset.id.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(data), mtype=dataset.id.get_type())


def rolled(dataset, steps):
    return np.roll(raw(dataset), steps * dataset.id.get_type().get_size())


def write_part(dataset):
    """The first half along each dimension gets the last elements."""
    if not dataset.shape or 0 in dataset.shape:
        return
    count = tuple((size + 1) // 2 for size in dataset.shape)
    size = dataset.id.get_type().get_size()
    places = dataset.id.get_space()
    places.select_hyperslab((0,) * len(count), count)
    data = np.ascontiguousarray(raw(dataset)[-int(np.prod(count)) * size :])
    dataset.id.write(h5s.create_simple(count), places, data, mtype=dataset.id.get_type())


def resize(dataset, by):
    most = dataset.maxshape
    # libhdf5 forgets to say in the header that the only chunk there may be is gone.
    least = 1 if dataset.chunks == most else 0
    shape = [max(least, size + by) for size in dataset.shape]
    shape = tuple(size if limit is None else min(size, limit) for size, limit in zip(shape, most))
    dataset.id.set_extent(shape)


def change_dataset(dataset, number):
    write(dataset, rolled(dataset, 1))
    write_part(dataset)
    if dataset.chunks:
        for by in [(7, -4, 2), (-6, 11, -1), (1, 1, -9)][number % 3]:
            resize(dataset, by)
            write(dataset, rolled(dataset, 3))
        resize(dataset, 3)
    few = number % 3 == 0
    for at in range(3 if few else 14):
        name = f"by libhdf5 {at}"
        dataset.attrs[name] = np.arange(at * number % 50 + 1)
    for at in range(1 if few else 9):
        del dataset.attrs[f"by libhdf5 {at}"]


def change_links(group, number):
    first = len(group)
    while f"by libhdf5 {first}" in group or any(f"soft {first} {at}" in group.keys() for at in range(25)):
        first += 1
    for at in range(25):
        group[f"soft {first} {at}"] = h5py.SoftLink("/somewhere")
    for at in range(5 * (number % 5)):
        del group[f"soft {first} {at}"]
    group.create_group(f"by libhdf5 {first}")


def change(manifest, low):
    """Changes each file, and gives what is in it then."""
    after = {}
    for name in manifest:
        with h5py.File(name, "r+", libver=(bound(low.get(name.replace(".libhdf5", ""), "v18")), "latest")) as file:
            things = list(objects(file))
            gone = set()
            for number, (path, thing) in enumerate(things):
                if path in gone or path.rpartition("/")[0] in gone:
                    gone.add(path)
                    continue
                if isinstance(thing, h5py.Group):
                    try:
                        change_links(thing, number)
                    except OSError as error:
                        print(f"{name}:{path}: {error}", file=sys.stderr)
                        raise
                    continue
                if number % 7 == 3:
                    # Where lengths have 4 bytes, "unlimited" comes back as a number: too many chunks for the file.
                    if not thing.external and 0xFFFFFFFF not in (thing.maxshape or ()):
                        again(thing, file, path + " again")
                    gone.add(path)
                    del file[path]
                    continue
                try:
                    change_dataset(thing, number)
                except OSError as error:
                    raise RuntimeError(f"{name}:{path}: {error}") from error
        try:
            with h5py.File(name, "r") as file:
                after[name] = {path: describe(thing) for path, thing in objects(file)}
        except RuntimeError as error:
            raise RuntimeError(f"{name}, changed: {sys.exc_info()[1]}") from error
    return after


def again(dataset, file, path):
    """Makes a dataset with the same properties in a file, and writes the same to it."""
    links = h5p.create(h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    properties = dataset.id.get_create_plist()
    # Those that remember where the other dataset shares them make a damaged header.
    kind, space = dataset.id.get_type(), h5s.decode(dataset.id.get_space().encode())
    kind = kind if kind.committed() else h5t.decode(kind.encode())
    made = h5d.create(file.id, path.encode(), kind, space, properties, lcpl=links)
    made = h5py.Dataset(made)
    write(made, raw(dataset))
    return made


def said(properties, dataset):
    """What a creation property list says."""
    filters = [properties.get_filter(at)[:3] for at in range(properties.get_nfilters())]
    filters = [(number, flags, tuple(values)) for number, flags, values in filters]
    fill = np.zeros((), dataset.dtype)
    defined = properties.fill_value_defined()
    try:
        properties.get_fill_value(fill)
    except RuntimeError:  # no conversion to numpy's type; elements tell
        pass
    layout = properties.get_layout()
    return {
        "filters": filters,
        "layout": layout,
        "chunk": properties.get_chunk() if layout == h5d.CHUNKED else None,
        "fill": (defined, fill.tobytes()),
        "fill time": properties.get_fill_time(),
        "allocation": properties.get_alloc_time(),
        "order": properties.get_attr_creation_order(),
        "phases": properties.get_attr_phase_change(),
        "times": properties.get_obj_track_times(),
        "max": dataset.maxshape,
    }


def copy(manifest, low):
    """Makes files like those of the manifest beside them, and compares the properties with libhdf5's own."""
    after = {}
    for name in manifest:
        other = name.replace(".h5", ".libhdf5.h5")
        with h5py.File(name, "r") as old, h5py.File(other, "w", libver=(bound(low[name]), "latest")) as new:
            for path, thing in objects(old):
                if not isinstance(thing, h5py.Dataset):
                    continue
                if thing.external:
                    continue
                made = again(thing, new, path)
                new.flush()
                one, two = said(thing.id.get_create_plist(), thing), said(made.id.get_create_plist(), made)
                assert one == two, f"{name}:{path}\n{one}\n{two}"
        with h5py.File(other, "r") as file:
            after[other] = {path: describe(thing) for path, thing in objects(file)}
    return after


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    os.chdir(os.path.dirname(sys.argv[1]))
    manifest, low = request["manifest"], request["low"]
    answer = {}
    for task in request["tasks"]:
        if task == "verify":
            verify(manifest)
        if task == "copy":
            answer["copied"] = copy(manifest, low)
        if task == "change":
            answer["changed"] = change(manifest | answer.get("copied", {}), low)
    with open(sys.argv[1] + ".answer", "w") as file:
        json.dump(answer, file)


main()
