//! Conversions between random datatypes, compared with libhdf5.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use hyperslab::datatype::convert::Conversion;
use hyperslab::{Dataset, Datatype, DatatypeClass, File, H5Type};
use hyperslab_testkit::{referee, workspace};

/// A program that writes a file of random pairs of types: `N/from` holds random elements, and
/// `N/to` the result of `H5Dread` into memory that held bytes 0xA5.
const SCRIPT: &str = r#"
import ctypes, sys
import h5py, numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

path, seed, kind, pairs = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
# What h5py does not offer: any number of unused bits in a file, and the properties of bit fields.
library = ctypes.CDLL(h5t.__file__)
hid = ctypes.c_int64
relax = library.H5Pset_relax_file_integrity_checks
relax.argtypes = [hid, ctypes.c_uint64]
for name in ("set_order", "set_size", "set_precision", "set_offset"):
    getattr(library, "H5T" + name).argtypes = [hid, ctypes.c_size_t]
library.H5Tset_pad.argtypes = [hid, ctypes.c_int, ctypes.c_int]
rng = np.random.default_rng(seed)
pick = lambda *options: options[rng.integers(len(options))]
ORDERS = (h5t.ORDER_LE, h5t.ORDER_BE)


def call(name, t, *values):
    assert getattr(library, "H5T" + name)(t.id, *(int(value) for value in values)) >= 0, name


def padded(t):
    call("set_pad", t, pick(h5t.PAD_ZERO, h5t.PAD_ONE), pick(h5t.PAD_ZERO, h5t.PAD_ONE))
    return t


def placed(t, size, most):
    whole = min(most, 8 * size)
    precision = rng.integers(1, whole + 1) if rng.random() < 0.6 else whole
    call("set_size", t, max(size, t.get_size()))
    call("set_precision", t, precision)
    call("set_offset", t, rng.integers(0, 8 * size - precision + 1))
    call("set_size", t, size)
    return padded(t)


def integer(most=8, unsigned=0.5, odd=0.5):
    t = (h5t.STD_U64LE if rng.random() < unsigned else h5t.STD_I64LE).copy()
    t.set_order(pick(*ORDERS))
    if rng.random() >= odd:
        t.set_size(int(pick(1, 2, 4, 8)))
        return t
    return placed(t, int(rng.integers(1, most + 1)), 8 * most)


def bits():
    t = h5t.STD_B64LE.copy()
    call("set_order", t, pick(*ORDERS))
    return placed(t, int(rng.integers(1, 9)), 64)


def machine_float(shortest=2):
    t = pick(*(t for t in (h5t.IEEE_F16LE, h5t.IEEE_F32LE, h5t.IEEE_F64LE) if t.get_size() >= shortest)).copy()
    t.set_order(pick(*ORDERS))
    return t


def odd_float():
    exponent, mantissa = int(rng.integers(3, 12)), int(rng.integers(3, 53))
    used = 1 + exponent + mantissa
    size = -(-used // 8) + int(rng.integers(0, 3))
    offset = int(rng.integers(0, 8 * size - used + 1))
    t = h5t.IEEE_F64LE.copy()
    t.set_size(16)
    t.set_precision(128)
    t.set_fields(used - 1, mantissa, exponent, 0, mantissa)
    t.set_precision(used)
    t.set_offset(offset)
    t.set_fields(offset + used - 1, offset + mantissa, exponent, offset, mantissa)
    t.set_ebias((1 << (exponent - 1)) - 1)
    t.set_size(size)
    t.set_order(pick(*ORDERS))
    return padded(t)


def string():
    t = h5t.C_S1.copy()
    t.set_size(int(rng.integers(1, 12)))
    t.set_strpad(pick(h5t.STR_NULLTERM, h5t.STR_NULLPAD, h5t.STR_SPACEPAD))
    return t


def enumerations():
    """Two with the same names: where there are others too, libhdf5 2.0 takes some names for others."""
    names, made = [b"a", b"b", b"c", b"d", b"e", b"f"][:rng.integers(1, 7)], []
    for _ in range(2):
        t = h5t.enum_create(pick(h5t.STD_I8LE, h5t.STD_I16BE, h5t.STD_I32LE, h5t.STD_U8LE))
        values = rng.permutation(8)
        for at, name in enumerate(rng.permutation(names)):
            t.enum_insert(bytes(name), int(values[at]))
        made.append(t)
    return made


def signed():
    return integer(unsigned=0, odd=0)


def plain():
    return pick(signed, string)()


def same_class(t):
    return string() if t.get_class() == h5t.STRING else pick(signed, lambda: machine_float(4))()


def compounds(depth=0):
    """Two types with some members in common."""
    sides = ([], [])
    for at in range(int(rng.integers(1, 6))):
        roll = rng.random()
        if roll < 0.25 and depth < 2:
            one, two = compounds(depth + 1)
        elif roll < 0.45:
            dims, base = tuple(int(n) for n in rng.integers(1, 4, rng.integers(1, 3))), plain()
            one, two = h5t.array_create(base, dims), h5t.array_create(same_class(base), dims)
        else:
            one = plain()
            two = one if rng.random() < 0.3 else same_class(one)
        where = rng.integers(6) if at else 5
        if where != 0:
            sides[0].append((f"m{at}".encode(), one))
        if where != 1:
            sides[1].append((f"m{at}".encode(), two))
    made = []
    # There are gaps on one side only: where one type begins with the other, libhdf5 copies them too.
    for gap, members in zip((1, 3), sides):
        members = [members[at] for at in rng.permutation(len(members))]
        offset, places = 0, []
        for name, t in members:
            offset += int(rng.integers(0, gap))
            places.append((name, offset, t))
            offset += t.get_size()
        whole = h5t.create(h5t.COMPOUND, offset + int(rng.integers(0, gap)))
        for place in places:
            whole.insert(*place)
        made.append(whole)
    return made


def numbers(of):
    return {"integers": lambda: (integer(16), integer(16)),
            "bits": lambda: (bits(), bits()),
            "floats": lambda: (machine_float(), machine_float()),
            "odd floats": lambda: (pick(machine_float, odd_float)(), odd_float()),
            "mixed": lambda: pick(lambda: (integer(), machine_float()), lambda: (machine_float(), integer(odd=0)))(),
            "strings": lambda: (string(), string()),
            "enums": enumerations,
            "compounds": compounds}[of]()


def holds_text(t):
    return t.get_class() == h5t.STRING


def elements(t, count):
    size = t.get_size()
    data = rng.integers(0, 256, count * size, dtype=np.uint8)
    if holds_text(t):
        data = rng.choice(np.frombuffer(b"ab  \0", np.uint8), count * size)
    if t.get_class() == h5t.ENUM:
        values = rng.integers(0, 9, count)
        order = "big" if t.get_super().get_order() == h5t.ORDER_BE else "little"
        data = np.frombuffer(b"".join(int(v).to_bytes(size, order) for v in values), np.uint8).copy()
    elif t.get_class() in (h5t.INTEGER, h5t.FLOAT):
        # Many numbers are near zero, or near the ends.
        rows = data.reshape(count, size)
        fill = rng.integers(0, 3, count)
        keep = rng.integers(0, size + 1, count)
        for row, how, left in zip(rows, fill, keep):
            if how < 2:
                where = slice(left, None) if t.get_order() == h5t.ORDER_LE else slice(None, size - left)
                row[where] = 0 if how == 0 else 255
    return data


def store(group, name, t, data, count):
    space = h5s.create_simple((count,))
    made = h5d.create(group.id, name, t, space)
    made.write(h5s.ALL, h5s.ALL, data.copy(), t)
    return made


COUNT = 60
fapl = h5p.create(h5p.FILE_ACCESS)
assert relax(fapl.id, 1) >= 0
f = h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, fapl=fapl))
for number in range(pairs):
    source, destination = numbers(kind)
    group = f.create_group(str(number))
    data = elements(source, COUNT)
    made = store(group, b"from", source, data, COUNT)
    buffer = np.full(COUNT * destination.get_size(), 0xA5, np.uint8)
    made.read(h5s.ALL, h5s.ALL, buffer, destination)
    store(group, b"to", destination, buffer, COUNT)
f.close()
"#;

fn stored(dataset: &Dataset) -> Vec<u8> {
    dataset.read_stored(..).unwrap().bytes().to_vec()
}

/// Returns the value of an element of a number type.
fn number(datatype: &Datatype, element: &[u8]) -> Option<f64> {
    let to_double = Conversion::new(datatype, &f64::datatype()).ok().filter(|_| datatype.is_number())?;
    let mut value = [0.0];
    f64::read_slice(&mut value, |out| to_double.convert(element, out, 1)).unwrap();
    Some(value[0])
}

/// Returns `true` for a subnormal floating-point number.
fn is_subnormal(datatype: &Datatype, element: &[u8]) -> bool {
    let DatatypeClass::FloatingPoint(float) = &datatype.class else { return false };
    let smallest = 2_f64.powi(1 - i32::try_from(float.exponent_bias).unwrap());
    number(datatype, element).is_some_and(|value| value.abs() < smallest)
}

/// Returns `true` if hyperslab deliberately differs from libhdf5 (see "Conversions of libhdf5 2.0
/// that we do not copy" in `docs/format`).
fn is_excepted(types: (&Datatype, &Datatype), from: &[u8], got: &[u8], wanted: &[u8]) -> bool {
    let is_float = |datatype: &Datatype| matches!(datatype.class, DatatypeClass::FloatingPoint(_));
    let is_nan = |bytes: &[u8]| number(types.1, bytes).is_some_and(f64::is_nan);
    let distance = |to: &[u8]| Some((number(types.1, to)? - number(types.0, from)?).abs());
    let is_middle = || distance(got).is_some() && distance(got) == distance(wanted);
    let becomes_zero = |value: f64| value.is_nan() || value < 0.0;
    let is_infinite = |bytes: &[u8]| number(types.1, bytes).is_some_and(f64::is_infinite);
    let is_largest = |bytes: &[u8]| {
        number(types.1, bytes).is_some_and(|value| [65504.0, f64::from(f32::MAX)].contains(&value.abs()))
    };
    if is_infinite(wanted) && is_largest(got) {
        return true;
    }
    match (is_float(types.0), is_float(types.1)) {
        (true, true) => {
            let is_small = is_subnormal(types.0, from) || is_subnormal(types.1, wanted);
            is_nan(got) && is_nan(wanted) || is_small || is_middle()
        }
        (true, false) => number(types.0, from).is_some_and(becomes_zero) && number(types.1, got) == Some(0.0),
        (false, false) => from.iter().rev().eq(wanted),
        (false, true) => is_infinite(got) && is_nan(wanted),
    }
}

/// Runs random pairs of a kind, and returns the number of compared elements.
fn run(kind: &str, seed: u32, pairs: u32) -> usize {
    let Some(python) = referee::python() else {
        workspace::skip("conversions of libhdf5", "no h5py");
        return usize::MAX;
    };
    let name = format!("hyperslab-conversions-{}-{kind}.h5", std::process::id());
    let path = std::env::temp_dir().join(name);
    python.run_script(SCRIPT, [path.to_str().unwrap(), &seed.to_string(), kind, &pairs.to_string()]).unwrap();
    let file = File::open(&path).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for group in file.members().unwrap() {
        let group = group.into_group().unwrap();
        let (from, to) = (group.dataset("from").unwrap(), group.dataset("to").unwrap());
        let (source, wanted) = (stored(&from), stored(&to));
        let conversion = Conversion::new(from.datatype(), to.datatype()).unwrap();
        let count = usize::try_from(from.size().unwrap()).unwrap();
        let mut got = vec![0xa5; wanted.len()];
        conversion.convert(&source, &mut got, count).unwrap();
        let sizes = (conversion.source_size(), conversion.destination_size());
        let types = (from.datatype(), to.datatype());
        for ((source, to), wanted) in
            source.chunks(sizes.0).zip(got.chunks(sizes.1)).zip(wanted.chunks(sizes.1))
        {
            compared += 1;
            if to != wanted && !is_excepted(types, source, to, wanted) {
                wrong.push(format!("{source:02x?} gives {to:02x?} instead of {wanted:02x?}"));
            }
        }
        assert!(wrong.is_empty(), "{kind} {}: {types:#?}\n{}", group.name(), wrong.join("\n"));
    }
    std::fs::remove_file(&path).unwrap();
    compared
}

macro_rules! as_libhdf5 {
    ($($name:ident: $kind:literal, $pairs:literal;)*) => {$(
        #[test]
        fn $name() {
            assert!(run($kind, 1, $pairs) > 1000);
        }
    )*};
}

as_libhdf5! {
    integers: "integers", 120;
    bit_fields: "bits", 60;
    floating_point_numbers: "floats", 40;
    floating_point_numbers_of_any_layout: "odd floats", 80;
    integers_and_floating_point_numbers: "mixed", 120;
    strings: "strings", 80;
    enumerations: "enums", 60;
    compounds: "compounds", 80;
}
