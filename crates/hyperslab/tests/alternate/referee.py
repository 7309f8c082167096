"""The side of libhdf5 in the alternating tests: reads one request a line from standard input, answers one line each.

A request names a file, says how to open it, and lists operations; the answer is the content of the file as a reader finds it
after it was closed. `content.rs` describes the same content as hyperslab reads it.
"""

import ctypes
import json
import sys

import h5py
import numpy as np
from h5py import h5, h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5r, h5s, h5t, h5z

LIBRARY = ctypes.CDLL(next(line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line))
LIBRARY.H5Pset_fapl_multi.restype = ctypes.c_int
LIBRARY.H5Pset_fapl_multi.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * 4 + [ctypes.c_bool]
LIBRARY.H5Pset_fill_value.restype = ctypes.c_int
LIBRARY.H5Pset_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p]

VERSIONS = {
    "earliest": h5f.LIBVER_EARLIEST, "v18": h5f.LIBVER_V18, "v110": h5f.LIBVER_V110,
    "v112": h5f.LIBVER_V112, "v114": h5f.LIBVER_V114, "v200": h5f.LIBVER_V200,
}
STRATEGIES = {
    "fsm": h5f.FSPACE_STRATEGY_FSM_AGGR, "page": h5f.FSPACE_STRATEGY_PAGE,
    "aggregate": h5f.FSPACE_STRATEGY_AGGR, "none": h5f.FSPACE_STRATEGY_NONE,
}
TRACKED = h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED
VARIABLE = {
    "vstr": h5py.string_dtype(), "vseq": h5py.vlen_dtype(np.dtype("<i4")), "objref": h5py.ref_dtype,
    "cvar": np.dtype([("a", "<i4"), ("s", h5py.string_dtype())]),
}


def access(request):
    fapl = h5p.create(h5p.FILE_ACCESS)
    fapl.set_fclose_degree(h5f.CLOSE_STRONG)
    fapl.set_libver_bounds(VERSIONS[request["low"]], VERSIONS[request["high"]])
    driver = request["driver"]
    if driver == "core":
        fapl.set_fapl_core(1 << 16, True)
    elif driver == "family":
        fapl.set_fapl_family(request["member_size"], h5p.create(h5p.FILE_ACCESS))
    elif driver == "split":
        fapl.set_fapl_split(b"-m.h5", h5p.create(h5p.FILE_ACCESS), b"-r.h5", h5p.create(h5p.FILE_ACCESS))
    elif driver == "multi":
        assert LIBRARY.H5Pset_fapl_multi(fapl.id, None, None, None, None, True) >= 0
    return fapl


def creation(made):
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_userblock(made["userblock"])
    if made["strategy"] is not None:
        fcpl.set_file_space_strategy(STRATEGIES[made["strategy"]], made["persist"], made["threshold"])
        fcpl.set_file_space_page_size(made["page_size"])
    if made["track"]:
        fcpl.set_link_creation_order(TRACKED)
        fcpl.set_attr_creation_order(TRACKED)
    return fcpl


def type_of(kind):
    """The type in the file of a kind of element; `kinds.rs` has the same."""
    simple = {"u1": h5t.STD_U8LE, "i2": h5t.STD_I16LE, "i4be": h5t.STD_I32BE, "i8": h5t.STD_I64LE,
              "f4": h5t.IEEE_F32LE, "f8": h5t.IEEE_F64LE, "bits": h5t.STD_B16LE, "objref": h5t.STD_REF_OBJ}
    if kind in simple:
        return simple[kind].copy()
    if kind in ("text", "vstr"):
        made = h5t.C_S1.copy()
        made.set_size(5 if kind == "text" else h5t.VARIABLE)
        made.set_strpad(h5t.STR_NULLPAD if kind == "text" else h5t.STR_NULLTERM)
        made.set_cset(h5t.CSET_ASCII if kind == "text" else h5t.CSET_UTF8)
    elif kind == "opaque":
        made = h5t.create(h5t.OPAQUE, 7)
        made.set_tag(b"tag")
    elif kind == "record":
        made = h5t.create(h5t.COMPOUND, 9)
        made.insert(b"a", 0, h5t.STD_U8LE)
        made.insert(b"b", 1, h5t.IEEE_F64LE)
    elif kind == "array":
        made = h5t.array_create(h5t.STD_U16LE, (3,))
    elif kind == "enum":
        made = h5t.enum_create(h5t.STD_I8LE)
        for value in range(8):
            made.enum_insert(b"v%d" % value, value)
    elif kind == "vseq":
        made = h5t.vlen_create(h5t.STD_I32LE)
    else:
        assert kind == "cvar", kind
        text = type_of("vstr")
        made = h5t.create(h5t.COMPOUND, 4 + text.get_size())
        made.insert(b"a", 0, h5t.STD_I32LE)
        made.insert(b"s", 4, text)
    return made


def space_of(dims, most=None):
    if dims is None:
        return h5s.create(h5s.NULL)
    if not dims:
        return h5s.create(h5s.SCALAR)
    most = None if most is None else tuple(h5s.UNLIMITED if size is None else size for size in most)
    return h5s.create_simple(tuple(dims), most)


def elements(fid, kind, data):
    """The elements as an array, and their type in memory (None where the array knows it)."""
    if kind not in VARIABLE:
        made = type_of(kind)
        return np.frombuffer(bytes.fromhex("".join(data)), dtype=f"V{made.get_size()}"), made
    array = np.empty(len(data), dtype=VARIABLE[kind])
    for at, value in enumerate(data):
        if kind == "vstr":
            array[at] = value.encode()
        elif kind == "vseq":
            array[at] = np.array(value, dtype="<i4")
        elif kind == "cvar":
            array[at] = (value[0], value[1].encode())
        else:
            array[at] = h5r.Reference() if value is None else h5r.create(fid, value.encode(), h5r.OBJECT)
    return array, None


def select(space, said):
    if said == "all":
        space.select_all()
    elif "points" in said:
        space.select_elements(np.array(said["points"], dtype=np.uint64))
    else:
        start, stride, count, block = (tuple(part) for part in said["slab"])
        space.select_hyperslab(start, count, stride, block)


def filters(dcpl, listed):
    for name, *numbers in listed:
        if name == "deflate":
            dcpl.set_deflate(numbers[0])
        elif name == "shuffle":
            dcpl.set_shuffle()
        elif name == "fletcher32":
            dcpl.set_fletcher32()
        elif name == "lzf":
            dcpl.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL)
        elif name == "nbit":
            dcpl.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL)
        elif name == "scaleoffset":
            dcpl.set_scaleoffset(h5z.SO_INT, numbers[0])
        else:
            assert name == "szip", name
            dcpl.set_szip(h5z.SZIP_NN_OPTION_MASK if numbers[0] == "nn" else h5z.SZIP_EC_OPTION_MASK, numbers[1])


def make_dataset(fid, op):
    dcpl = h5p.create(h5p.DATASET_CREATE)
    layouts = {"compact": h5d.COMPACT, "contiguous": h5d.CONTIGUOUS, "chunked": h5d.CHUNKED}
    dcpl.set_layout(layouts[op["layout"]])
    if op["layout"] == "chunked":
        dcpl.set_chunk(tuple(op["chunk"]))
    filters(dcpl, op["filters"])
    tid = type_of(op["kind"]) if op["committed"] is None else h5t.open(fid, op["committed"].encode())
    if op["fill"] is not None:
        memory = type_of(op["kind"])
        assert LIBRARY.H5Pset_fill_value(dcpl.id, memory.id, bytes.fromhex(op["fill"])) >= 0
    times = {"early": h5d.ALLOC_TIME_EARLY, "late": h5d.ALLOC_TIME_LATE, "incremental": h5d.ALLOC_TIME_INCR}
    if op["alloc"] != "default":
        dcpl.set_alloc_time(times[op["alloc"]])
    dcpl.set_fill_time({"alloc": h5d.FILL_TIME_ALLOC, "ifset": h5d.FILL_TIME_IFSET}[op["fill_time"]])
    dcpl.set_obj_track_times(op["times"])
    if op["track"]:
        dcpl.set_attr_creation_order(TRACKED)
    h5d.create(fid, op["path"].encode(), tid, space_of(op["dims"], op["max"]), dcpl)


def make_group(fid, op):
    gcpl = h5p.create(h5p.GROUP_CREATE)
    if op["track"]:
        gcpl.set_link_creation_order(TRACKED)
        gcpl.set_attr_creation_order(TRACKED)
    h5g.create(fid, op["path"].encode(), gcpl=gcpl)


def write(fid, op):
    dataset = h5d.open(fid, op["path"].encode())
    array, memory = elements(fid, op["kind"], op["data"])
    space = dataset.get_space()
    if space.get_simple_extent_type() == h5s.SCALAR:
        dataset.write(h5s.create(h5s.SCALAR), h5s.ALL, array.reshape(()), memory)
        return
    select(space, op["sel"])
    dataset.write(h5s.create_simple((len(array),)), space, array, memory)
    pipeline = dataset.get_create_plist()
    optional = {pipeline.get_filter(at)[0] for at in range(pipeline.get_nfilters())} & {h5z.FILTER_SZIP, h5z.FILTER_LZF}
    if optional and is_plain(dataset.get_type()):
        # The close of the dataset empties the chunk cache.
        del dataset
        h5f.flush(fid)
        found = np.empty_like(array)
        h5d.open(fid, op["path"].encode()).read(h5s.create_simple((len(array),)), space, found, memory)
        if found.tobytes() != array.tobytes():
            raise RuntimeError("known fault of libhdf5: a rewritten chunk keeps its old filter mask")


def set_attribute(fid, op):
    owner = h5o.open(fid, op["path"].encode())
    name = op["name"].encode()
    if h5a.exists(owner, name):
        h5a.delete(owner, name)
    attribute = h5a.create(owner, name, type_of(op["kind"]), space_of(op["dims"]))
    if op["dims"] is not None and op["data"]:
        array, memory = elements(fid, op["kind"], op["data"])
        attribute.write(array.reshape(tuple(op["dims"])), memory)


def rename_attribute(fid, op):
    owner = h5o.open(fid, op["path"].encode())
    h5a.rename(owner, op["name"].encode(), op["to"].encode())


def root(fid):
    return h5g.open(fid, b"/")


# What `links` gives does not keep the group open.
def rename(fid, op):
    group = root(fid)
    group.links.move(op["path"].encode(), group, op["to"].encode())


def link_hard(fid, op):
    group = root(fid)
    group.links.create_hard(op["path"].encode(), group, op["to"].encode())


def link_soft(fid, op):
    group = root(fid)
    group.links.create_soft(op["path"].encode(), op["to"].encode())


def rewrite(fid, op):
    dataset = h5d.open(fid, op["path"].encode())
    tid = dataset.get_type()
    array = np.empty(tuple(dims_of(dataset)), dtype=f"V{tid.get_size()}")
    dataset.read(h5s.ALL, h5s.ALL, array, tid)
    dataset.write(h5s.ALL, h5s.ALL, array, tid)


OPERATIONS = {
    "rewrite": rewrite,
    "group": make_group,
    "dataset": make_dataset,
    "write": write,
    "resize": lambda fid, op: h5d.open(fid, op["path"].encode()).set_extent(tuple(op["dims"])),
    "attr": set_attribute,
    "remove_attr": lambda fid, op: h5a.delete(h5o.open(fid, op["path"].encode()), op["name"].encode()),
    "rename_attr": rename_attribute,
    "remove": lambda fid, op: root(fid).unlink(op["path"].encode()),
    "rename": rename,
    "hard": link_hard,
    "soft": link_soft,
    "commit": lambda fid, op: type_of(op["kind"]).commit(fid, op["path"].encode()),
    "copy": lambda fid, op: h5o.copy(fid, op["path"].encode(), fid, op["to"].encode()),
    "flush": lambda fid, op: h5f.flush(fid),
}


def is_plain(tid):
    kind = tid.get_class()
    if kind == h5t.COMPOUND:
        return all(is_plain(tid.get_member_type(at)) for at in range(tid.get_nmembers()))
    if kind == h5t.ARRAY:
        return is_plain(tid.get_super())
    return not (kind in (h5t.VLEN, h5t.REFERENCE) or kind == h5t.STRING and tid.is_variable_str())


def described(tid):
    kind = tid.get_class()
    if kind == h5t.COMPOUND:
        members = (f"{tid.get_member_name(at).decode()}={described(tid.get_member_type(at))}"
                   for at in range(tid.get_nmembers()))
        return "{" + ";".join(members) + "}"
    if kind == h5t.ARRAY:
        return f"({'x'.join(map(str, tid.get_array_dims()))} {described(tid.get_super())})"
    if kind == h5t.VLEN:
        return f"[{described(tid.get_super())}]"
    if kind == h5t.STRING and tid.is_variable_str():
        return "string"
    if kind == h5t.REFERENCE:
        return "region" if tid.equal(h5t.STD_REF_DSETREG) else "reference"
    return f"{kind}:{tid.get_size()}"


def said(value, tid, names):
    """One element in words; stored bytes as they are wherever they lead nowhere."""
    kind = tid.get_class()
    if is_plain(tid):
        return np.asarray(value, dtype=tid.dtype).tobytes().hex()
    if kind == h5t.COMPOUND:
        members = (said(value[at], tid.get_member_type(at), names) for at in range(tid.get_nmembers()))
        return "{" + ";".join(members) + "}"
    if kind == h5t.ARRAY:
        return "(" + ",".join(said(item, tid.get_super(), names) for item in np.asarray(value).ravel()) + ")"
    if kind == h5t.VLEN:
        return "[" + ",".join(said(item, tid.get_super(), names) for item in value) + "]"
    if kind == h5t.REFERENCE:
        if not value:
            return "r"
        return "r" + names.at(h5r.dereference(value, names.fid))
    if isinstance(value, str):
        value = value.encode()
    return "s" + (value or b"").split(b"\0")[0].hex()


def read(source, tid, names):
    """All elements of a dataset or attribute: their bytes, or one text each."""
    space = source.get_space()
    if space.get_simple_extent_type() == h5s.NULL:
        return None
    shape = space.get_simple_extent_dims() if space.get_simple_extent_type() == h5s.SIMPLE else ()
    plain = is_plain(tid)
    array = np.empty(shape, dtype=f"V{tid.get_size()}" if plain else source.dtype)
    if array.size == 0:
        return "" if plain else []
    memory = tid if plain else None
    if isinstance(source, h5a.AttrID):
        source.read(array, memory)
    else:
        source.read(h5s.ALL, h5s.ALL, array, memory)
    if plain:
        return array.tobytes().hex()
    base = 0 if not array.dtype.shape else len(array.dtype.shape)
    assert base == 0
    items = array.reshape((-1,) + array.shape[len(shape):])
    return [said(items[at], tid, names) for at in range(len(items))]


def dims_of(source):
    space = source.get_space()
    kind = space.get_simple_extent_type()
    return None if kind == h5s.NULL else list(space.get_simple_extent_dims()) if kind == h5s.SIMPLE else []


def most_of(source):
    space = source.get_space()
    if space.get_simple_extent_type() != h5s.SIMPLE:
        return []
    return [None if size == h5s.UNLIMITED else size for size in space.get_simple_extent_dims(True)]


class Names:
    """The first path of every object, in the order of names."""

    def __init__(self, fid):
        self.fid = fid
        self.found = {}
        self.visit(h5g.open(fid, b"/"), "/")

    def visit(self, group, path):
        self.found[h5o.get_info(group).addr] = path
        for name in members(group):
            if group.links.get_info(name).type != h5l.TYPE_HARD:
                continue
            one = h5o.open(group, name)
            inner = path.rstrip("/") + "/" + name.decode()
            if h5o.get_info(one).addr in self.found:
                continue
            if isinstance(one, h5g.GroupID):
                self.visit(one, inner)
            else:
                self.found[h5o.get_info(one).addr] = inner

    def at(self, one):
        return self.found.get(h5o.get_info(one).addr, "?")


def members(group, order=h5.INDEX_NAME):
    names = []
    group.links.iterate(lambda name: names.append(name), idx_type=order)
    return names


def link(group, name, names):
    info = group.links.get_info(name)
    if info.type == h5l.TYPE_HARD:
        return ["hard", names.at(h5o.open(group, name))]
    return ["soft", group.links.get_val(name).decode()] if info.type == h5l.TYPE_SOFT else ["external"]


def attributes(one, names):
    found = {}
    for number in range(h5a.get_num_attrs(one)):
        attribute = h5a.open(one, index=number, index_type=h5.INDEX_NAME, order=h5.ITER_INC)
        tid = attribute.get_type()
        found[attribute.name.decode()] = {
            "type": described(tid), "dims": dims_of(attribute), "data": read(attribute, tid, names)}
    return found


def content(fid):
    names, found = Names(fid), {}
    for path in sorted(names.found.values()):
        one = h5o.open(fid, path.encode())
        if isinstance(one, h5g.GroupID):
            told = {"kind": "group", "links": {name.decode(): link(one, name, names) for name in members(one)}}
            if one.get_create_plist().get_link_creation_order():
                told["order"] = [name.decode() for name in members(one, h5.INDEX_CRT_ORDER)]
        elif isinstance(one, h5d.DatasetID):
            tid = one.get_type()
            told = {"kind": "dataset", "type": described(tid), "dims": dims_of(one), "max": most_of(one),
                    "committed": names.at(tid) if tid.committed() else None, "data": read(one, tid, names)}
        else:
            told = {"kind": "datatype", "type": described(one)}
        told["attributes"] = attributes(one, names)
        found[path] = told
    return found


def answer(request):
    name, fapl = request["path"].encode(), access(request)
    if "ops" in request:
        made = request.get("create")
        fid = h5f.create(name, h5f.ACC_TRUNC, creation(made), fapl) if made else h5f.open(name, h5f.ACC_RDWR, fapl)
        try:
            for number, op in enumerate(request["ops"]):
                try:
                    OPERATIONS[op["op"]](fid, op)
                except Exception as error:
                    raise RuntimeError(f"operation {number} {json.dumps(op)[:300]}: {error!r}") from error
        finally:
            fid.close()
    fid = h5f.open(name, h5f.ACC_RDONLY, fapl)
    try:
        return content(fid)
    finally:
        fid.close()


def main():
    for line in sys.stdin:
        try:
            told = {"content": answer(json.loads(line))}
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


main()
