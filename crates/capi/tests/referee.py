"""Files with all that h5py can write, and a description of all that it reads.

    referee.py write FOLDER       writes the files
    referee.py describe FOLDER    prints one line for each fact about the files

The test runs both with the C interface of hyperslab and with the libhdf5 of h5py. The descriptions of the files of
both writers, by both readers, are equal.
"""
import hashlib
import pathlib
import sys
import traceback

import h5py
import numpy as np

FILES = {}


def file(name, **options):
    """Registers a function that fills a file."""
    def add(function):
        FILES[name] = (function, options)
        return function
    return add


SCALARS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">u2", ">f8", ">f4", "<i8", "c8", "c16",
           "?", "S1", "S7", "V5"]
COLOURS = h5py.enum_dtype({"red": 0, "green": 5, "blue": -3}, basetype="i2")
RECORD = np.dtype([("id", "<u4"), ("at", ">f8", (2,)), ("name", "S5"), ("flag", "?"), ("inner", [("x", "f4"), ("y", "i2")])])


def values(dtype, count):
    dtype = np.dtype(dtype)
    if dtype.kind in "SV":
        return np.array([(b"%x" % (number * 7))[:dtype.itemsize].ljust(dtype.itemsize, b".") for number in range(count)]).astype(dtype)
    if dtype.kind == "c":
        return (np.arange(count) * (1 + 0.5j)).astype(dtype)
    if dtype.kind == "b":
        return np.arange(count) % 3 == 0
    return (np.arange(count) * 3 % 101).astype(dtype)


def records(count):
    table = np.zeros(count, RECORD)
    table["id"] = np.arange(count)
    table["at"] = np.arange(count * 2).reshape(count, 2) / 4
    table["name"] = [b"n%d" % (number % 90) for number in range(count)]
    table["flag"] = np.arange(count) % 2 == 1
    table["inner"]["x"] = np.arange(count) * 1.5
    table["inner"]["y"] = -np.arange(count)
    return table


@file("datatypes.h5")
def datatypes(f):
    for dtype in SCALARS:
        name = dtype.replace(">", "big ").replace("<", "little ").replace("?", "bool")
        data = values(dtype, 24).reshape(4, 6)
        f.create_dataset("contiguous/" + name, data=data)
        f.create_dataset("chunked/" + name, data=data, chunks=(3, 4), compression="gzip")
        f.create_dataset("scalar/" + name, data=data[1, 1])
        f.attrs[name] = data[2]
    f["compound"] = records(20)
    f["compound scalar"] = records(3)[2]
    f.create_dataset("compound chunked", data=records(50), chunks=(7,), compression="gzip", shuffle=True)
    f.create_dataset("enum", data=np.array([0, 5, -3, 5], "i2"), dtype=COLOURS)
    f.create_dataset("array", dtype=np.dtype(("i4", (3,))), shape=(2, 2))
    f["array"][...] = np.arange(12, dtype="i4").reshape(2, 2, 3)
    f["empty"] = h5py.Empty("f4")
    f.create_dataset("no elements", shape=(0, 3), dtype="f8", maxshape=(None, 3))
    f["opaque time"] = np.array(["2020-01-01", "2021-02-03"], "M8[D]").astype(h5py.opaque_dtype("M8[D]"))
    f["named type"] = RECORD
    f["named enum"] = COLOURS
    f["named type"].attrs["about"] = "a committed datatype"
    f.create_dataset("of named type", data=records(4), dtype=f["named type"])
    f.attrs.create("of named enum", np.array([0, 5], "i2"), dtype=f["named enum"])


@file("variable.h5")
def variable(f):
    texts = ["", "one", "größer", "日本語" * 20, "x" * 5000]
    f.create_dataset("strings", data=texts, dtype=h5py.string_dtype())
    f.create_dataset("strings chunked", data=texts * 9, dtype=h5py.string_dtype(), chunks=(4,), compression="gzip")
    f.create_dataset("ascii", data=[b"a", b"bcd", b""], dtype=h5py.string_dtype("ascii"))
    f.create_dataset("fixed utf8", data=["é".encode(), b"abc"], dtype=h5py.string_dtype("utf-8", 6))
    f["scalar string"] = "a text"
    ragged = np.empty(4, object)
    for number in range(4):
        ragged[number] = np.arange(number * 3, dtype="i4")
    f.create_dataset("ragged", data=ragged, dtype=h5py.vlen_dtype("i4"))
    f.create_dataset("ragged chunked", data=ragged, dtype=h5py.vlen_dtype("i4"), chunks=(3,), maxshape=(None,))
    f.create_dataset("never written", shape=(3,), dtype=h5py.string_dtype())
    mixed = np.dtype([("name", h5py.string_dtype()), ("data", h5py.vlen_dtype("f4")), ("n", "i4")])
    table = np.empty(3, mixed)
    for number in range(3):
        table[number] = ("name %d" % number, np.arange(number, dtype="f4"), number)
    f.create_dataset("mixed", data=table, dtype=mixed)
    f.attrs["text"] = "äöü"
    f.attrs["texts"] = texts
    f.attrs["bytes"] = np.bytes_(b"fixed")
    f.attrs.create("ragged", ragged, dtype=h5py.vlen_dtype("i4"))
    f["strings"][1] = "one, written again"
    f["strings chunked"][3:40:5] = "striped"


@file("references.h5")
def references(f):
    group = f.create_group("group")
    target = group.create_dataset("target", data=np.arange(100).reshape(10, 10))
    f.create_dataset("objects", data=np.array([f.ref, group.ref, target.ref, h5py.Reference()], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
    f.create_dataset("regions", shape=(2,), dtype=h5py.regionref_dtype)
    f["regions"][0] = target.regionref[2:5, ::3]
    f["regions"][1] = target.regionref[:, 1]
    f.attrs["object"] = target.ref
    f.attrs["region"] = target.regionref[1:2]
    inside = np.dtype([("to", h5py.ref_dtype), ("n", "i2")])
    f.create_dataset("inside", data=np.array([(target.ref, 1), (group.ref, 2)], inside), dtype=inside)


@file("chunks.h5")
def chunks(f):
    data = np.arange(60 * 50, dtype="i4").reshape(60, 50)
    plain = dict(data=data, chunks=(16, 11))
    f.create_dataset("plain", **plain)
    f.create_dataset("gzip", compression=9, **plain)
    f.create_dataset("shuffle", compression="gzip", shuffle=True, **plain)
    f.create_dataset("fletcher", fletcher32=True, **plain)
    f.create_dataset("all", compression="gzip", shuffle=True, fletcher32=True, **plain)
    f.create_dataset("lzf", compression="lzf", **plain)
    f.create_dataset("scaleoffset", scaleoffset=0, **plain)
    f.create_dataset("scaleoffset float", data=data / 8, chunks=(16, 11), scaleoffset=3)
    f.create_dataset("fill", shape=(40, 40), chunks=(8, 8), dtype="i2", fillvalue=-7)
    f["fill"][10:14, 20:33] = 3
    f.create_dataset("early", shape=(20,), chunks=(6,), dtype="f4", fillvalue=2.5, fill_time="alloc")
    f.create_dataset("one index", data=np.arange(100), chunks=(100,))
    f.create_dataset("extensible", data=np.arange(100), chunks=(7,), maxshape=(None,))
    f.create_dataset("two unlimited", data=data, chunks=(7, 9), maxshape=(None, None))
    f.create_dataset("limited", data=data, chunks=(7, 9), maxshape=(100, 60))
    for name in ["extensible", "two unlimited", "limited"]:
        dataset = f[name]
        dataset.resize(dataset.shape[0] + 13, axis=0)
        dataset[-5:] = 1
        dataset.resize(dataset.shape[0] - 20, axis=0)
        dataset.resize(dataset.shape[0] + 30, axis=0)
    dataset = f.create_dataset("appended", shape=(0, 3), chunks=(5, 3), maxshape=(None, 3), dtype="f8", compression="gzip")
    for number in range(37):
        dataset.resize(number + 1, axis=0)
        dataset[number] = number
    raw = f.create_dataset("raw chunks", shape=(8,), chunks=(4,), dtype="i4")
    raw.id.write_direct_chunk((4,), np.arange(4, dtype="i4").tobytes())
    points = f.create_dataset("points", shape=(20, 20), dtype="f4", fillvalue=-1)
    points[[1, 5, 7], 3:9] = np.full((3, 6), 4)
    points[np.eye(20, dtype=bool)] = np.arange(20)
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    made = h5py.h5d.create(f.id, b"compact", h5py.h5t.NATIVE_INT16, h5py.h5s.create_simple((9,)), compact)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(9, dtype="i2"))


@file("links.h5", track_order=True)
def links(f):
    for name in ["z", "a", "m", "with space", "ünï"]:
        f.create_group(name, track_order=True)
    f["a/data"] = np.arange(5)
    f["hard"] = f["a/data"]
    f["soft"] = h5py.SoftLink("/a/data")
    f["dangling"] = h5py.SoftLink("/nowhere")
    f["external"] = h5py.ExternalLink("chunks.h5", "/plain")
    f["lost"] = h5py.ExternalLink("missing.h5", "/x")
    f["cycle"] = f["/"]
    f.create_group("deep/er/and/deeper")
    for number in range(40):
        f["m"].create_group("child %d" % (number * 17 % 40))
        f["m"].attrs["attribute %d" % (number * 17 % 40)] = number
    for number in range(0, 40, 3):
        del f["m"]["child %d" % number]
        del f["m"].attrs["attribute %d" % number]
    f.move("z", "deep/moved")
    f.copy("a/data", "deep/copy")
    f.copy("m", "copy of m")


@file("attributes.h5")
def attributes(f):
    for number in range(30):
        f.attrs["number %02d" % number] = np.arange(number)
    f.attrs["empty"] = h5py.Empty("i4")
    f.attrs["large"] = np.arange(8000, dtype="f8")[:7000]
    f.attrs["record"] = records(2)
    f.attrs["enum"] = np.array(5, dtype=COLOURS)
    f.attrs["flag"] = True
    f.attrs["flags"] = np.array([True, False])
    f.attrs["number 03"] = "replaced"
    f.attrs.modify("number 04", np.arange(4) * 2)
    del f.attrs["number 05"]
    data = f.create_dataset("data", data=[1, 2])
    data.attrs["complex"] = 1 + 2j
    data.attrs["scale"] = 0.5
    data.make_scale("x")
    other = f.create_dataset("other", data=np.zeros((2, 3)))
    other.dims[0].attach_scale(data)
    other.dims[1].label = "columns"


@file("virtual.h5", libver="latest")
def virtual(f):
    layout = h5py.VirtualLayout(shape=(2, 60, 50), dtype="i4")
    layout[0] = h5py.VirtualSource("chunks.h5", "plain", shape=(60, 50))
    layout[1, :30] = h5py.VirtualSource("chunks.h5", "gzip", shape=(60, 50))[::2]
    f.create_virtual_dataset("stack", layout, fillvalue=-1)
    own = h5py.VirtualLayout(shape=(10,), dtype="f8")
    f["source"] = np.arange(20.0)
    own[:] = h5py.VirtualSource(".", "source", shape=(20,))[5:15]
    f.create_virtual_dataset("own", own)


@file("external.h5")
def external(f):
    f.create_dataset("outside", data=np.arange(24, dtype="i4").reshape(4, 6), external=[("part1.raw", 0, 40), ("part2.raw", 8, h5py.h5f.UNLIMITED)])


@file("latest.h5", libver="latest", track_order=True)
def latest(f):
    chunks(f)
    attributes(f.create_group("attributes"))
    f["deep/er"] = records(30)


@file("paged.h5", fs_strategy="page", fs_persist=True, fs_page_size=4096)
def paged(f):
    for number in range(20):
        f["data %d" % number] = np.arange(number * 50)
    del f["data 7"]


@file("block.h5", userblock_size=512)
def block(f):
    f["data"] = records(5)
    f["sub/text"] = "text"


def shown(value):
    """Returns a text that identifies a value."""
    if isinstance(value, h5py.Empty):
        return "Empty %s" % value.dtype
    if isinstance(value, (h5py.Reference, h5py.RegionReference)):
        return "reference" if value else "null reference"
    value = np.asarray(value) if not isinstance(value, (str, bytes)) else value
    if isinstance(value, np.ndarray) and (value.dtype.hasobject):
        items = [shown_item(item) for item in value.ravel().tolist()]
        text = repr((value.shape, items))
    elif isinstance(value, np.ndarray):
        text = repr((value.shape, str(value.dtype), value.tolist()))
    else:
        text = repr(value)
    if len(text) > 200:
        text = text[:100] + " … " + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return text


def shown_item(item):
    if isinstance(item, (h5py.Reference, h5py.RegionReference)):
        return "reference" if item else "null reference"
    if isinstance(item, tuple):
        return tuple(shown_item(part) for part in item)
    return item.tolist() if isinstance(item, np.ndarray) else item


def type_text(tid):
    """Returns a text that identifies a datatype of a file."""
    kind = tid.get_class()
    parts = [type(tid).__name__, kind, tid.get_size()]
    if kind in (h5py.h5t.INTEGER, h5py.h5t.FLOAT):
        parts += [tid.get_order(), tid.get_precision(), tid.get_offset()]
    if kind == h5py.h5t.INTEGER:
        parts.append(tid.get_sign())
    if kind == h5py.h5t.FLOAT:
        parts += [tid.get_fields(), tid.get_ebias(), tid.get_norm()]
    if kind == h5py.h5t.STRING:
        parts += [tid.is_variable_str(), tid.get_cset(), tid.get_strpad()]
    if kind == h5py.h5t.OPAQUE:
        parts.append(tid.get_tag())
    if kind in (h5py.h5t.ARRAY, h5py.h5t.VLEN, h5py.h5t.ENUM):
        parts.append(type_text(tid.get_super()))
    if kind == h5py.h5t.ARRAY:
        parts.append(tid.get_array_dims())
    if kind == h5py.h5t.ENUM:
        parts += [(tid.get_member_name(at), int(tid.get_member_value(at))) for at in range(tid.get_nmembers())]
    if kind == h5py.h5t.COMPOUND:
        for at in range(tid.get_nmembers()):
            parts += [tid.get_member_name(at), tid.get_member_offset(at), type_text(tid.get_member_type(at))]
    return repr(parts)


def describe_references(f, dataset):
    for reference in dataset[...].ravel():
        for part in reference if isinstance(reference, np.void) else [reference]:
            if isinstance(part, h5py.RegionReference) and part:
                yield "region of %s: %s" % (f[part].name, shown(f[part][part]))
            elif isinstance(part, h5py.Reference) and part:
                yield "object %s" % f[part].name


def describe_attributes(item):
    for name in item.attrs:
        attribute = item.attrs.get_id(name)
        yield "attribute %r %s %s %s" % (name, attribute.shape, type_text(attribute.get_type()), shown(item.attrs[name]))


def describe_dataset(f, item):
    properties = item.id.get_create_plist()
    filters = [properties.get_filter(at) for at in range(properties.get_nfilters())]
    yield "type " + type_text(item.id.get_type())
    yield "shape %s %s chunks %s filters %s" % (item.shape, item.maxshape, item.chunks, filters)
    yield "layout %d fill %d %s times %d %d" % (
        properties.get_layout(), properties.fill_value_defined(), shown(item.fillvalue) if item.shape is not None else "",
        properties.get_fill_time(), properties.get_alloc_time())
    if item.external:
        yield "external %s" % item.external
    if item.is_virtual:
        yield "sources %s" % [(s.file_name, s.dset_name, s.vspace.shape, s.vspace.get_select_bounds()) for s in item.virtual_sources()]
    if h5py.check_ref_dtype(item.dtype) or item.dtype.names and any(h5py.check_ref_dtype(item.dtype[n]) for n in item.dtype.names):
        yield from describe_references(f, item)
    yield "values " + shown(item[()])
    if item.ndim and item.shape[0] > 3:
        yield "slice " + shown(item[1:item.shape[0] - 1:2])
    if item.chunks:
        yield "chunks %d" % item.id.get_num_chunks()


def describe_group(f, group, path, seen):
    address = h5py.h5o.get_info(group.id).addr
    if address in seen:
        yield path, "seen before"
        return
    seen.add(address)
    names = list(group)
    yield path, "names %s, length %d" % (names, len(group))
    for name in names:
        inner = path + "/" + name
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            yield inner, "soft link to %s" % link.path
        elif isinstance(link, h5py.ExternalLink):
            yield inner, "external link to %s in %s" % (link.path, link.filename)
        item = group.get(name)
        if item is None:
            yield inner, "leads nowhere"
            continue
        yield inner, "%s, %d links" % (type(item).__name__, h5py.h5o.get_info(item.id).rc)
        if isinstance(item, h5py.Group):
            yield from ((inner, line) for line in describe_attributes(item))
            yield from describe_group(f, item, inner, seen)
        elif isinstance(item, h5py.Datatype):
            yield inner, type_text(item.id)
            yield from ((inner, line) for line in describe_attributes(item))
        else:
            yield from ((inner, line) for line in describe_attributes(item))
            yield from ((inner, line) for line in describe_dataset(f, item))


def describe(folder):
    """Prints facts. An exception is a fact, too: the other reader may have none."""
    for name in FILES:
        try:
            with h5py.File(folder / name, "r") as f:
                properties = f.id.get_create_plist()
                print(name, "user block", f.userblock_size)
                print(name, "space", properties.get_file_space_strategy()[:3])
                for line in describe_attributes(f):
                    print(name, line)
                for path, line in describe_group(f, f["/"], "", set()):
                    print(name, path, line)
        except Exception:
            print(name, "exception", traceback.format_exc(limit=-3).replace("\n", " | "))


def write(folder):
    for name, (function, options) in FILES.items():
        try:
            with h5py.File(folder / name, "w", **options) as f:
                function(f)
        except Exception:
            print(name, "exception", traceback.format_exc(limit=-3).replace("\n", " | "))


def main(arguments):
    match arguments:
        case ["write", folder]:
            write(pathlib.Path(folder))
        case ["describe", folder]:
            describe(pathlib.Path(folder))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
