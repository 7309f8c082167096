//! Interoperability with libhdf5 and its plug-ins: chunks of either side are decoded by the other.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "these are tests: a failure is meant to panic"
)]

use hyperslab_filter::{FilterContext, FilterId, Produced, Registry};
use hyperslab_testkit::referee;

/// A chunk that libhdf5 encoded.
struct Case {
    name: String,
    id: FilterId,
    client_data: Vec<u32>,
    raw: Vec<u8>,
    /// The encoded chunk; [`None`] if libhdf5 skipped the filter, because the chunk did not become
    /// smaller.
    stored: Option<Vec<u8>>,
    /// The decoded chunk: `raw`, except for bits that the filter drops.
    back: Vec<u8>,
}

const MAIN: &str = include_str!("referee.py");

/// The required relation between our encoded chunks and those of libhdf5.
#[derive(Clone, Copy, PartialEq)]
enum Stored {
    Equal,
    /// Equal, except for a last byte without bits, which libhdf5 leaves uninitialised.
    EqualExceptLastByte,
    /// Equal, except for additional zeros up to a multiple of 8 bytes.
    EqualExceptPadding,
    Differ,
    /// Not compared, because the filter only decodes.
    NotEncoded,
}

/// Encodes the cases with libhdf5, decodes and encodes them with our filter, and decodes the result
/// with libhdf5.
fn compare(cases: &str, stored: Stored) {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let code = format!("{MAIN}\n\n{cases}\nmain()\n");
    let file = folder.path().join("file.h5");
    let cases: Vec<Case> = referee.run_script(&code, [&file]).unwrap().lines().map(parse).collect();
    assert!(cases.iter().any(|case| case.stored.is_some()));
    if stored == Stored::NotEncoded {
        let differs = |case: &&Case| decode(case, case.stored.as_ref().unwrap()) != case.back;
        let wrong: Vec<_> = cases.iter().filter(differs).map(|case| &case.name).collect();
        assert!(
            wrong.is_empty(),
            "{} of {} chunks are decoded differently: {wrong:?}",
            wrong.len(),
            cases.len()
        );
        return;
    }
    let mut chunks = String::new();
    for case in &cases {
        let encoded = encode(case);
        if let Some(chunk) = &case.stored {
            let decoded = decode(case, chunk);
            assert!(
                decoded == case.back,
                "{}: decoded\n{}\nnot\n{}",
                case.name,
                hex(&decoded),
                hex(&case.back)
            );
            check_stored(case, &encoded, chunk, stored);
        }
        assert!(decode(case, &encoded) == case.back, "{}: our own round trip", case.name);
        chunks += &format!("{} {}\n", case.name, hex(&encoded));
    }
    let list = folder.path().join("chunks");
    std::fs::write(&list, chunks).unwrap();
    let read = referee.run_script(&code, [&file, &list]).unwrap();
    for (case, line) in cases.iter().zip(read.lines()) {
        assert_eq!(line.split_once(' ').unwrap().0, case.name);
        assert!(
            line.ends_with(&format!(" {}", hex(&case.back))),
            "{}: libhdf5 decodes our chunk differently",
            case.name
        );
    }
    assert_eq!(read.lines().count(), cases.len());
}

fn check_stored(case: &Case, encoded: &[u8], chunk: &[u8], stored: Stored) {
    if stored == Stored::Differ {
        return;
    }
    if stored == Stored::EqualExceptPadding {
        let padding = encoded.get(chunk.len()..).unwrap_or_else(|| panic!("{}: too short", case.name));
        assert!(padding.len() < 8 && padding.iter().all(|byte| *byte == 0), "{}", case.name);
        assert!(encoded.starts_with(chunk), "{}: encoded\n{}\nnot\n{}", case.name, hex(encoded), hex(chunk));
        return;
    }
    let compared = chunk.len() - usize::from(stored == Stored::EqualExceptLastByte);
    assert_eq!(encoded.len(), chunk.len(), "{}", case.name);
    let equal = encoded[..compared] == chunk[..compared];
    assert!(equal, "{}: encoded\n{}\nnot\n{}", case.name, hex(encoded), hex(chunk));
}

fn decode(case: &Case, bytes: &[u8]) -> Vec<u8> {
    let registry = Registry::default();
    let filter = registry.get(case.id).unwrap();
    let context = FilterContext {
        expected_output: Some(case.back.len()),
        ..FilterContext::new(&case.client_data, case.back.len())
    };
    let mut output = Vec::new();
    let produced = filter.decode(&context, bytes, &mut output);
    match produced.unwrap_or_else(|error| panic!("{}: {error}; {}", case.name, hex(bytes))) {
        Produced::Output => output,
        Produced::Input(range) => bytes[range].to_vec(),
    }
}

fn encode(case: &Case) -> Vec<u8> {
    let registry = Registry::default();
    let mut output = Vec::new();
    let context = FilterContext::new(&case.client_data, usize::MAX);
    let produced = registry.get(case.id).unwrap().encode(&context, &case.raw, &mut output);
    match produced.unwrap_or_else(|error| panic!("{}: {error}", case.name)) {
        Produced::Output => output,
        Produced::Input(range) => case.raw[range].to_vec(),
    }
}

fn parse(line: &str) -> Case {
    let parts: Vec<&str> = line.split(';').collect();
    let [name, id, client_data, raw, stored, back] = parts.try_into().unwrap();
    Case {
        name: name.to_owned(),
        id: FilterId(id.parse().unwrap()),
        client_data: client_data.split(',').filter(|v| !v.is_empty()).map(|v| v.parse().unwrap()).collect(),
        raw: unhex(raw),
        stored: (stored != "-").then(|| unhex(stored)),
        back: unhex(back),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn nbit() {
    let cases = "
def number(base, precision, offset):
    tid = base.copy()
    tid.set_precision(precision)
    tid.set_offset(offset)
    return tid

def float16(base):
    tid = base.copy()
    tid.set_fields(26, 20, 6, 7, 13)
    tid.set_offset(7)
    tid.set_precision(20)
    return tid

def compound(size, *members):
    tid = h5t.create(h5t.COMPOUND, size)
    for at, (offset, member) in enumerate(members):
        tid.insert(b'm%d' % at, offset, member)
    return tid

i, I = h5t.STD_I32LE, h5t.STD_U32BE
types = {f'n{base.get_size()}.{at}.{precision}.{offset}': number(base, precision, offset)
    for at, base in enumerate([h5t.STD_I8LE, h5t.STD_I16BE, h5t.STD_U32LE, h5t.STD_I32BE, h5t.STD_U64LE, h5t.STD_I64BE])
    for precision in [1, 3, 7, 8, 9, 16, 17, 31, 33, 63]
    for offset in [0, 1, 5, 8, 23]
    # libhdf5 refuses to create types of which less than half is used.
    if 4 * base.get_size() < precision <= 8 * base.get_size() - offset}
types['full'] = h5t.STD_I32BE
types['float'] = float16(h5t.IEEE_F32LE)
types['floatbe'] = float16(h5t.IEEE_F32BE)
types['long'] = h5t.NATIVE_LDOUBLE
string = h5t.C_S1.copy(); string.set_size(3)
types['strings'] = string
types['array'] = h5t.array_create(number(i, 19, 2), (3, 2))
types['array of arrays'.replace(' ', '_')] = h5t.array_create(h5t.array_create(number(I, 19, 2), (3,)), (2,))
types['array_of_strings'] = h5t.array_create(string, (3,))
inner = compound(9, (0, string), (3, number(h5t.STD_I16BE, 9, 3)), (5, number(i, 20, 0)))
types['inner'] = inner
# libhdf5 2.0 does not read members that follow an array of compounds.
types['outer'] = compound(64, (30, number(I, 25, 1)), (40, inner), (50, types['array_of_strings']), (60, h5t.STD_I8LE), (1, h5t.array_create(inner, (3,))))
cases = [(name, tid, (n,), lambda p: p.set_filter(h5z.FILTER_NBIT, 0, ()), noise(n * tid.get_size()), None)
    for name, tid in types.items() for n in [37]]
";
    compare(cases, Stored::Equal);
}

#[test]
fn scaleoffset() {
    let cases = "
cases = []
def case(name, dtype, values, scale, fill=None):
    values = np.array(values, dtype)
    tid = h5t.py_create(values.dtype)
    fill = None if fill is None else np.array(fill, values.dtype.newbyteorder('='))
    cases.append((name, tid, values.shape, lambda p: p.set_scaleoffset(*scale), values.tobytes(), fill))

walk = np.random.default_rng(3).integers(-9, 9, 301).cumsum()
for dtype in ['i1', 'u1', '<i2', '>u2', '>i4', '<u4', '>i8', '<i8', '<u8']:
    info = np.iinfo(dtype)
    ramp = np.clip(walk, info.min, info.max)
    case(dtype + '.walk', dtype, ramp, (2, 0))
    case(dtype + '.fill', dtype, ramp, (2, 0), ramp[5])
    case(dtype + '.bits', dtype, np.arange(60) % 5 + 3, (2, 3), 100)
    case(dtype + '.few', dtype, np.arange(60) % 50, (2, 3), 3)
    case(dtype + '.all', dtype, ramp, (2, info.bits))
    case(dtype + '.flat', dtype, [7] * 33, (2, 0), 3)
    case(dtype + '.filled', dtype, [7] * 33, (2, 0), 7)
    case(dtype + '.wide', dtype, [info.min, info.max, 3, 4], (2, 0), 3)
    case(dtype + '.wide1', dtype, [info.min, info.max - 1, 3, 4], (2, 0), 3)
    case(dtype + '.wide2', dtype, [info.min + 1, info.max - 1, 3, 4], (2, 0))
    case(dtype + '.wide3', dtype, [info.min + 1, info.max - 2, 3, 4], (2, 0))
    case(dtype + '.one', dtype, [info.min], (2, 0))
    case(dtype + '.none', dtype, walk[:20] % 6, (2, 0))
for dtype in ['<f4', '>f4', '<f8']:
    for digits in [0, 1, 3, 5]:
        case(f'{dtype}.{digits}', dtype, walk / 7.3, (0, digits))
        case(f'{dtype}.{digits}.fill', dtype, walk / 7.3, (0, digits), (walk / 7.3)[9])
    case(dtype + '.wide', dtype, [1e30, -1e30, 2], (0, 3))
    case(dtype + '.edge', dtype, [0, 2.0 ** 31, 2], (0, 0), -1)
    case(dtype + '.same', dtype, [2.5] * 9, (0, 3), -1)
    case(dtype + '.sames', dtype, [2.5] * 9, (0, 3), 2.5)
";
    compare(cases, Stored::EqualExceptLastByte);
}

#[test]
fn szip() {
    let cases = "
cases = []
def case(name, values, shape, block):
    tid = h5t.py_create(values.dtype)
    values = values.reshape(shape)
    for coding, option in [('nn', h5z.SZIP_NN_OPTION_MASK), ('ec', h5z.SZIP_EC_OPTION_MASK)]:
        setup = lambda p, option=option: p.set_szip(option, block)
        cases.append((f'{name}.{coding}.{block}', tid, shape, setup, values.tobytes(), None))

rng = np.random.default_rng(3)
walk = rng.integers(-3, 4, 6000).cumsum() + 120
for dtype in ['u1', 'i1', '<i2', '>u2', '<i4', '>i4', '<i8', '>u8', '<f4', '>f8']:
    for shape, block in [((600,), 8), ((40, 33), 16), ((20, 7), 10), ((4200,), 32), ((2, 2500), 2)]:
        values = walk[:np.prod(shape)].astype(dtype)
        case(f'{dtype}.{len(cases)}', values, shape, block)
        # Some that hardly change, in which runs of zeros are long.
        values = (values.astype('f8') // 20).astype(dtype)
        case(f'{dtype}.{len(cases)}.few', values, shape, block)
        values[50:] = 1
        case(f'{dtype}.{len(cases)}.flat', values, shape, block)
case('zeros', np.zeros(5000, 'i4'), (5000,), 8)
odd = h5t.STD_U32LE.copy()
odd.set_precision(20)
values = (walk * 100).clip(0).astype('<u4')
for block in [4, 16]:
    for option in [h5z.SZIP_NN_OPTION_MASK, h5z.SZIP_EC_OPTION_MASK]:
        setup = lambda p, block=block, option=option: p.set_szip(option, block)
        cases.append((f'odd.{block}.{option}', odd, (6000,), setup, values.tobytes(), None))
";
    compare(cases, Stored::Differ);
}

/// Chunks for filters that accept any bytes. `filters` contains pairs of a name and a function that
/// sets up the filter.
const ANY_BYTES: &str = "
rng = np.random.default_rng(3)
def chunks():
    walk = rng.integers(-3, 4, 40000).cumsum()
    yield 'walk', walk.astype('<i4')
    yield 'reals', (walk / 7).astype('<f8')[:5003]
    yield 'shorts', (walk // 10).astype('>i2')[:20001]
    yield 'few', (walk[:9999] // 50 % 3).astype('u1')
    yield 'zeros', np.zeros(5001, '<i8')
    yield 'noise', np.frombuffer(noise(9000), '<u4')
    yield 'small', np.arange(9, dtype='<i4')
    yield 'one', np.ones(1, '<i2')
    yield 'wide', np.frombuffer((walk % 5).astype('u1').tobytes()[:13 * 1500], 'V13')
    yield 'text', np.frombuffer(b'to be or not to be that is the question ' * 900, 'u1')

cases = []
for chunk, values in chunks():
    for name, setup in filters:
        cases.append((f'{chunk}.{name}', h5t.py_create(values.dtype), values.shape, setup, values.tobytes(), None))
";

/// Compares the plug-in filter `id` with each of `client_data`.
fn compare_any(id: FilterId, client_data: &[&[u32]]) {
    let filters: String = client_data
        .iter()
        .map(|data| {
            let name: Vec<String> = data.iter().map(u32::to_string).collect();
            let name = name.join("_");
            format!("('{name}', lambda p: p.set_filter({}, h5z.FLAG_OPTIONAL, tuple({data:?}))), ", id.0)
        })
        .collect();
    compare(&format!("filters = [{filters}]\n{ANY_BYTES}"), Stored::Differ);
}

#[test]
fn lzf() {
    compare_any(FilterId::LZF, &[&[]]);
}

#[cfg(feature = "lz4")]
#[test]
fn lz4() {
    compare_any(FilterId::LZ4, &[&[], &[0], &[1000], &[4096]]);
}

#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
#[test]
fn zstd() {
    compare_any(FilterId::ZSTD, &[&[], &[1], &[9], &[22]]);
}

#[cfg(feature = "bzip2")]
#[test]
fn bzip2() {
    compare_any(FilterId::BZIP2, &[&[9], &[1]]);
}

#[test]
fn bitshuffle() {
    compare_any(FilterId::BITSHUFFLE, &[&[0, 0], &[128, 0]]);
}

#[cfg(feature = "lz4")]
#[test]
fn bitshuffle_with_lz4() {
    compare_any(FilterId::BITSHUFFLE, &[&[0, 2], &[128, 2], &[8, 2]]);
}

#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
#[test]
fn bitshuffle_with_zstd() {
    compare_any(FilterId::BITSHUFFLE, &[&[0, 3, 5], &[512, 3, 1]]);
}

/// Compares Blosc with all levels and shuffles for one compressor.
fn compare_blosc(compressor: u32) {
    let data = [[5, 1], [5, 0], [9, 2], [1, 2], [0, 1]]
        .map(|[level, shuffle]| [0, 0, 0, 0, level, shuffle, compressor]);
    compare_any(FilterId::BLOSC, &data.each_ref().map(|data| &data[..]));
}

#[test]
fn blosc_with_blosclz() {
    compare_blosc(0);
}

#[cfg(feature = "lz4")]
#[test]
fn blosc_with_lz4() {
    compare_blosc(1);
    compare_blosc(2);
}

#[cfg(feature = "snappy")]
#[test]
fn blosc_with_snappy() {
    compare_blosc(3);
}

#[test]
fn blosc_with_zlib() {
    compare_blosc(4);
}

#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
#[test]
fn blosc_with_zstd() {
    compare_blosc(5);
}

/// Chunks with 1 to 4 dimensions, some of size 1, for each of `modes`: pairs of a name and options
/// of the plug-in.
#[cfg(feature = "zfp")]
const ZFP: &str = "
rng = np.random.default_rng(3)
cases = []
for dtype in ['<i4', '<i8', '<f4', '<f8']:
    for shape in [(3,), (64,), (8, 12), (1, 7, 1, 9), (5, 6, 11), (3, 6, 5, 9)]:
        walk = rng.integers(-900, 900, np.prod(shape)).cumsum()
        smooth = np.sin(np.arange(np.prod(shape)) / 9) * 5e5
        for chunk, values in [('walk', walk), ('smooth', smooth), ('zeros', walk * 0), ('part', np.where(walk % 900 > 5, 0, smooth))]:
            values = (values / (7 if dtype[1] == 'f' else 1)).astype(dtype).reshape(shape)
            for mode, options in modes:
                if mode.startswith('accuracy') and dtype[1] == 'i':
                    continue
                setup = lambda p, options=options: p.set_filter(32013, h5z.FLAG_MANDATORY, options)
                name = f'{dtype}.{shape}.{chunk}.{mode}'.replace(' ', '')
                cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
";

#[cfg(feature = "zfp")]
#[test]
fn zfp_of_fixed_rate() {
    let modes = "
modes = [(f'rate{rate}', hdf5plugin.Zfp(rate=rate).filter_options) for rate in [3, 8, 12.3, 16, 32]]
";
    compare(&format!("{modes}{ZFP}"), Stored::Equal);
}

#[cfg(feature = "zfp")]
#[test]
fn zfp_of_varying_rate() {
    let modes = "
modes = [('reversible', hdf5plugin.Zfp(reversible=True).filter_options), ('default', ())]
modes += [(f'precision{n}', hdf5plugin.Zfp(precision=n).filter_options) for n in [1, 11, 30, 64]]
modes += [(f'accuracy{n}', hdf5plugin.Zfp(accuracy=n).filter_options) for n in [1e-6, 0.1, 100]]
modes += [(f'expert{a}_{b}', hdf5plugin.Zfp(minbits=a, maxbits=b, maxprec=40, minexp=-20).filter_options) for a, b in [(1, 200), (30, 4000)]]
";
    compare(&format!("{modes}{ZFP}"), Stored::EqualExceptPadding);
}

/// Checks that our client data equal those of the plug-in.
#[cfg(feature = "zfp")]
#[test]
fn client_data_of_zfp() {
    use hyperslab_filter::zfp::{Mode, ZfpNumber, ZfpParameters};

    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let code = "
import sys
import h5py, hdf5plugin
modes = [dict(rate=7.5), dict(precision=13), dict(accuracy=1e-3), dict(reversible=True),
         dict(minbits=20, maxbits=4000, maxprec=40, minexp=-20)]
with h5py.File(sys.argv[1], 'w') as file:
    for at, mode in enumerate(modes):
        for dtype in ['f4', 'f8']:
            for shape in [(9,), (3, 1, 5), (300, 2, 7), (2, 3, 4, 5)]:
                dataset = file.create_dataset(None, shape, dtype, chunks=shape, **hdf5plugin.Zfp(**mode))
                print(*dataset.id.get_create_plist().get_filter(0)[2])
";
    let printed = referee.run_script(code, [&folder.path().join("file.h5")]).unwrap();
    let mut lines = printed.lines();
    let expert = Mode::Expert { min_bits: 20, max_bits: 4000, max_precision: 40, min_exponent: -20 };
    for mode in [Mode::Rate(7.5), Mode::Precision(13), Mode::Accuracy(1e-3), Mode::Reversible, expert] {
        for number in [ZfpNumber::F32, ZfpNumber::F64] {
            for chunk in [&[9][..], &[3, 1, 5], &[300, 2, 7], &[2, 3, 4, 5]] {
                let data = ZfpParameters::for_chunks(number, chunk, mode).unwrap().client_data();
                let line: Vec<String> = data.iter().map(u32::to_string).collect();
                assert_eq!(line.join(" "), lines.next().unwrap(), "{mode:?} {number:?} {chunk:?}");
            }
        }
    }
}

/// Compares Blosc2 with all levels, block sizes and transforms for one compressor.
fn compare_blosc2(compressor: u32) {
    let data = [[0, 5, 1], [0, 5, 0], [4160, 9, 2], [0, 1, 2], [0, 0, 1], [0, 5, 3], [1040, 3, 3]]
        .map(|[block, level, transform]| [1, block, 0, 0, level, transform, compressor]);
    compare_any(FilterId::BLOSC2, &data.each_ref().map(|data| &data[..]));
    let cases = format!(
        "
rng = np.random.default_rng(3)
cases = []
for dtype in ['u1', '<i2', '>f4', '<f8', 'V13']:
    for shape in [(7, 11), (1, 300), (300, 1), (100, 90), (9, 8, 30), (3, 4, 5, 6), (2, 3, 2, 3, 2, 3, 2, 3), (2,) * 9]:
        count = np.prod(shape)
        walk = rng.integers(-3, 4, count).cumsum()
        if dtype == 'V13':
            values = np.frombuffer((rng.integers(0, 3, 13 * count)).astype('u1').tobytes(), dtype).reshape(shape)
        else:
            values = walk.astype(dtype).reshape(shape)
        for block, level, transform in [(0, 5, 1), (0, 1, 2), (256, 5, 1), (1000, 9, 0), (64, 5, 3), (0, 0, 1)]:
            options = (1, block, 0, 0, level, transform, {compressor})
            setup = lambda p, options=options: p.set_filter(32026, h5z.FLAG_OPTIONAL, options)
            name = f'{{dtype}}.{{shape}}.{{block}}.{{level}}.{{transform}}'.replace(' ', '')
            cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
"
    );
    compare(&cases, Stored::Differ);
}

#[test]
fn blosc2_with_blosclz() {
    compare_blosc2(0);
}

#[cfg(feature = "lz4")]
#[test]
fn blosc2_with_lz4() {
    compare_blosc2(1);
    compare_blosc2(2);
}

#[test]
fn blosc2_with_zlib() {
    compare_blosc2(4);
}

#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
#[test]
fn blosc2_with_zstd() {
    compare_blosc2(5);
}

#[test]
fn fcidecomp() {
    let cases = "
cases = []
rng = np.random.default_rng(3)
def case(name, values, bits=0, turns=0, near=0, preset=(0, 0, 0, 0, 0)):
    options = (bits, 0, turns, near) + preset
    setup = lambda p: p.set_filter(32018, h5z.FLAG_OPTIONAL, options)
    values = np.ascontiguousarray(values)
    name = f'{len(cases)}.{name}.{values.dtype.str[1:]}.{values.shape}.{turns}.{near}'.replace(' ', '')
    cases.append((name, h5t.py_create(values.dtype), values.shape, setup, values.tobytes(), None))

y, x = np.mgrid[:50, :70]
for dtype, top in [('u1', 255), ('i1', 100), ('<u2', 65535), ('<i2', 3000), ('>u2', 5000)]:
    smooth = (np.sin(x / 9) * np.cos(y / 7) * 0.4 + 0.5) * top
    for name, image in [('smooth', smooth), ('steps', smooth // 40 * 40), ('noise', rng.integers(0, top, x.shape)),
                        ('flat', x * 0 + 7), ('patches', np.where(x % 20 > 9, smooth, 3)), ('small', smooth[:9, :11])]:
        case(name, image.astype(dtype))
        for turns in [0, 1, 2]:
            case(name, np.array([image, image / 2, image[::-1]]).astype(dtype), turns=turns)
        # Where runs of four samples end, the plug-in's encoder does not look at the fourth.
        case(name, np.repeat(image.astype(dtype).ravel(), 4).reshape(4, *image.shape), turns=2)
        if dtype in ['u1', '<u2']:
            case(name, image.astype(dtype), near=2)
            for turns in [0, 1, 2]:
                case(name, np.array([image, image / 2, image[::-1]]).astype(dtype), turns=turns, near=3)
case('12bits', (smooth[:40] / 2).astype('<u2'), bits=12)
case('preset', (smooth[:40] / 2).astype('<u2'), bits=14, preset=(16383, 20, 50, 500, 32))
";
    compare(cases, Stored::Differ);
}

#[test]
fn sperr() {
    let cases = "
cases = []
rng = np.random.default_rng(3)
modes = dict(rate=dict(rate=3.3), fine=dict(rate=30), psnr=dict(peak_signal_to_noise_ratio=70), error=dict(absolute=0.02))
for dtype in ['<f4', '<f8']:
    for shape in [(9, 9), (10, 33), (100, 70), (1, 17, 1, 40), (9, 10, 11), (12, 18, 33), (70, 9, 13)]:
        axes = np.meshgrid(*[np.linspace(0, 3, n) for n in shape], indexing='ij')
        smooth = 5 + sum(np.sin(axis * (3 + at)) for at, axis in enumerate(axes))
        kinds = dict(smooth=smooth, noise=rng.normal(size=shape), same=smooth * 0 + 7.5,
                     spikes=smooth + (rng.random(shape) > 0.99) * 900)
        for kind, values in kinds.items():
            for mode, options in modes.items():
                for swap in [False, True]:
                    values = values.astype(dtype)
                    options = hdf5plugin.Sperr(swap=swap, **modes[mode]).filter_options
                    setup = lambda p, options=options: p.set_filter(32028, h5z.FLAG_MANDATORY, options)
                    name = f'{dtype}.{shape}.{kind}.{mode}.{swap}'.replace(' ', '')
                    cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
        # The plug-in has too little memory for what is missing of few values.
        for missing, value in [(1, np.nan), (2, 1e36)] if np.prod(shape) > 900 else []:
            for part in [0.01, 0.97]:
                values = smooth.astype(dtype)
                values[rng.random(shape) < part] = value
                values[:5] = value
                options = hdf5plugin.Sperr(absolute=0.1, missing_value_mode=missing).filter_options
                setup = lambda p, options=options: p.set_filter(32028, h5z.FLAG_MANDATORY, options)
                name = f'{dtype}.{shape}.missing{missing}.{part}'.replace(' ', '')
                cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
";
    compare(cases, Stored::NotEncoded);
}

#[test]
fn sz3() {
    let cases = "
cases = []
rng = np.random.default_rng(4)
modes = dict(coarse=dict(absolute=0.05), fine=dict(absolute=1e-5), relative=dict(relative=1e-3),
             tiny=dict(relative=1e-7), norm2=dict(norm2=0.7), psnr=dict(peak_signal_to_noise_ratio=60), none=dict(absolute=0))
shapes = [(7,), (20,), (257,), (3000,), (9, 9), (10, 33), (130, 70), (1, 50), (50, 1), (9, 10, 11), (1, 40, 50),
          (13, 34, 41), (5, 6, 7, 8), (1, 17, 1, 40), (3, 18, 9, 21)]
for dtype in ['<f4', '<f8', '<i1', '<u1', '<i2', '<u2', '<i4', '<i8']:
    for shape in shapes:
        # The plug-in has too little memory for few small values.
        if dtype[1] != 'f' and 7 < np.prod(shape) < 200:
            continue
        if dtype[1] != 'f' and np.prod(shape) > 2500:
            continue
        axes = np.meshgrid(*[np.linspace(0, 3, n) for n in shape], indexing='ij')
        smooth = 5 + sum(np.sin(axis * (3 + at)) for at, axis in enumerate(axes))
        kinds = dict(smooth=smooth, noise=smooth + rng.normal(size=shape) / 9, same=smooth * 0 + 7.5,
                     walk=rng.normal(size=int(np.prod(shape))).cumsum().reshape(shape),
                     spikes=smooth + (rng.random(shape) > 0.97) * 1e6)
        for kind, values in kinds.items():
            for mode, options in modes.items():
                scale = 1 if dtype[1] == 'f' else 7 if dtype[2] == '1' else 900
                if dtype[1] == 'f':
                    values = values.astype(dtype)
                else:
                    values = np.clip(np.rint(values * scale), *[getattr(np.iinfo(dtype), m) / 2 for m in ('min', 'max')]).astype(dtype)
                options = dict(options)
                if 'absolute' in options:
                    options['absolute'] *= 40 if dtype[1] != 'f' else 1
                options = hdf5plugin.SZ3(**options).filter_options
                setup = lambda p, options=options: p.set_filter(32024, h5z.FLAG_MANDATORY, options)
                name = f'{dtype}.{shape}.{kind}.{mode}'.replace(' ', '')
                cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
";
    compare(cases, Stored::NotEncoded);
}

#[test]
fn sz() {
    let cases = "
cases = []
rng = np.random.default_rng(5)
modes = dict(absolute=hdf5plugin.SZ(absolute=0.01), fine=hdf5plugin.SZ(absolute=1e-6), relative=hdf5plugin.SZ(relative=0.001),
             coarse=hdf5plugin.SZ(relative=0.1), pointwise=hdf5plugin.SZ(pointwise_relative=1e-3),
             logarithm=hdf5plugin.SZ(pointwise_relative=1e-6))
shapes = [(19,), (21,), (3000,), (10, 33), (100, 70), (1, 17, 1, 40), (12, 18, 33), (3, 7, 8, 9)]

def add(name, values, filter):
    options = filter.filter_options
    setup = lambda p: p.set_filter(32017, h5z.FLAG_MANDATORY, options)
    cases.append((name.replace(' ', ''), h5t.py_create(values.dtype), values.shape, setup, values.tobytes(), None))

for shape in shapes:
    axes = np.meshgrid(*[np.linspace(0, 3, n) for n in shape], indexing='ij')
    smooth = sum(np.sin(axis * (3 + at)) for at, axis in enumerate(axes))
    noise = rng.normal(size=shape)
    kinds = dict(smooth=smooth, positive=smooth + 5, noise=noise, same=smooth * 0 + 7.5, linear=sum(axes), large=noise * 1e30,
                 spikes=smooth + (rng.random(shape) > 0.99) * 900, mostly=(rng.random(shape) > 0.9) * noise)
    for kind, values in kinds.items():
        for mode, filter in modes.items():
            for dtype in ['<f4', '<f8']:
                add(f'{dtype}.{shape}.{kind}.{mode}', values.astype(dtype), filter)
    for dtype in ['i1', 'u1', '<i2', '<u2', '<i4', '<u4', '<i8', '<u8']:
        for mode in ['absolute', 'relative', 'coarse', 'wide']:
            for kind in ['smooth', 'noise', 'same', 'limits', 'mostly']:
                info = np.iinfo(dtype)
                values = np.clip(kinds.get(kind, smooth) * 30 + (60 if info.min == 0 else 0), 0 if info.min == 0 else -128, 127)
                if kind == 'limits':
                    values = rng.choice(np.array([info.min, info.max], dtype), shape)
                add(f'{dtype}.{shape}.{kind}.{mode}', values.astype(dtype), modes.get(mode, hdf5plugin.SZ(absolute=3.4)))
# Once it has computed with logarithms, the plug-in does so for all proportional errors.
cases.sort(key=lambda case: 'logarithm' in case[0])
";
    compare(cases, Stored::NotEncoded);
}

#[test]
fn sz3_of_values_that_are_hard_to_predict() {
    let cases = "
cases = []
rng = np.random.default_rng(5)
modes = dict(fine=dict(absolute=1e-5), relative=dict(relative=1e-3), norm2=dict(norm2=50))
for dtype in ['<u4', '<u8', '<i4', '<i8', '<f4', '<f8']:
    for shape in [(257,), (20, 33), (9, 10, 11), (5, 6, 7, 8)]:
        noise = rng.normal(size=shape) * 900 + 1e6
        kinds = dict(noise=noise, steps=np.rint(noise / 500) * 500 + rng.integers(0, 2, size=shape))
        if dtype[1] == 'f':
            kinds['huge'] = np.where(rng.random(shape) > 0.95, 1e30, noise)
        for kind, values in kinds.items():
            for mode, options in modes.items():
                if kind == 'huge' and mode == 'relative':
                    continue
                values = values.astype(dtype)
                options = hdf5plugin.SZ3(**options).filter_options
                setup = lambda p, options=options: p.set_filter(32024, h5z.FLAG_MANDATORY, options)
                name = f'{dtype}.{shape}.{kind}.{mode}'.replace(' ', '')
                cases.append((name, h5t.py_create(values.dtype), shape, setup, values.tobytes(), None))
";
    compare(cases, Stored::NotEncoded);
}
