//! Comparison of the filter pipelines of new datasets with those that libhdf5 and its plug-ins
//! store, for many types and chunk shapes. libhdf5 also decodes our chunks.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "these are tests: a failure is meant to panic"
)]

use std::fmt::Write;

use hyperslab_datatype::{
    ByteOrder::{BigEndian as BE, LittleEndian as LE},
    CharacterSet, Datatype, DatatypeClass, EnumerationMember, StringPadding,
};
use hyperslab_filter::{
    ChunkTarget, DatasetFacts, DatasetFill, FilterId, FilterSpec, Pipeline, Registry, Stage,
};
use hyperslab_testkit::referee;

const PROGRAM: &str = include_str!("prepared.py");

/// Returns an integer type that uses only some of its bits.
fn bits(mut datatype: Datatype, precision: u16, offset: u16) -> Datatype {
    if let DatatypeClass::FixedPoint(number) = &mut datatype.class {
        (number.precision, number.bit_offset) = (precision, offset);
    }
    datatype
}

/// Returns the datatypes of the referee's program, by name.
fn types() -> Vec<(&'static str, Datatype)> {
    let text = |bytes| Datatype::fixed_string(bytes, StringPadding::NullPadded, CharacterSet::Ascii);
    let member =
        |name: &str, value: u32| EnumerationMember { name: name.into(), value: value.to_le_bytes().to_vec() };
    let members = vec![member("a", 0), member("b", 1)];
    let pair = Datatype::packed([("x", Datatype::f64(BE)), ("y", Datatype::u8())]);
    let triple = Datatype::array([3], Datatype::i16(LE));
    let record = [("n", bits(Datatype::i32(LE), 19, 2)), ("s", text(3)), ("p", pair), ("a", triple)];
    vec![
        ("i8", Datatype::i8()),
        ("u16", Datatype::u16(LE)),
        ("i32be", Datatype::i32(BE)),
        ("u32", Datatype::u32(LE)),
        ("i64", Datatype::i64(LE)),
        ("u64be", Datatype::u64(BE)),
        ("f16", Datatype::f16(LE)),
        ("f32", Datatype::f32(LE)),
        ("f64", Datatype::f64(LE)),
        ("f64be", Datatype::f64(BE)),
        ("i20of32", bits(Datatype::i32(LE), 20, 3)),
        ("u9of16be", bits(Datatype::u16(BE), 9, 0)),
        ("i40of64", bits(Datatype::i64(LE), 40, 0)),
        ("string5", text(5)),
        ("opaque3", Datatype::opaque(3, "")),
        ("opaque300", Datatype::opaque(300, "")),
        ("bool", Datatype::bool()),
        ("bitfield", Datatype::bitfield(2, LE)),
        ("reference", Datatype::object_reference(8)),
        ("enum", Datatype::enumeration(Datatype::i32(LE), members)),
        ("pairs", Datatype::array([2], Datatype::i32(LE))),
        ("triples", Datatype::array([3], Datatype::i32(LE))),
        ("arrays", Datatype::array([2, 3], Datatype::array([2], Datatype::i16(BE)))),
        ("strings", Datatype::array([2], text(3))),
        ("complex", Datatype::complex_compound(Datatype::f32(LE))),
        ("record", Datatype::packed(record)),
    ]
}

const CHUNKS: [&[u64]; 7] =
    [&[40], &[4, 10], &[2, 1, 5, 7, 3], &[1], &[1500], &[2, 700], &[2, 2, 2, 2, 2, 2, 2, 2, 2]];

const BUILT_IN: &str = "gzip=0 gzip=9! shuffle shuffle! fletcher32 fletcher32? nbit nbit! szip=nn:8 szip=ec:8! \
                        szip=nn:32 szip=ec:32! scaleoffset=int scaleoffset=int:7! scaleoffset=float:2 \
                        scaleoffset=float:-1! lzf lzf!";

struct Case {
    line: String,
    name: String,
    datatype: Datatype,
    chunk: &'static [u64],
    fill: Option<Vec<u8>>,
    spec: FilterSpec,
}

impl Case {
    fn new(
        name: &str,
        datatype: &Datatype,
        chunk: &'static [u64],
        fill: Option<i64>,
        spec: &FilterSpec,
    ) -> Self {
        let list = |numbers: &mut dyn Iterator<Item = u64>| {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",")
        };
        let shape = list(&mut chunk.iter().copied());
        let data = list(&mut spec.client_data().iter().map(|value| u64::from(*value)));
        let text = fill.map(|fill| fill.to_string()).unwrap_or_default();
        let line = format!("{name};{text};{shape};{};{};{data}", spec.id().0, spec.flags());
        let fill = fill.map(|fill| element(datatype, fill));
        Self {
            line,
            name: format!("{name} {chunk:?} {spec}"),
            datatype: datatype.clone(),
            chunk,
            fill,
            spec: spec.clone(),
        }
    }

    fn pipeline(&self, registry: &Registry) -> hyperslab_filter::Result<Pipeline> {
        let fill = self.fill.as_ref().map_or(DatasetFill::Default, |fill| DatasetFill::Element(fill));
        let facts = DatasetFacts::new(&self.datatype, self.chunk).with_fill(fill);
        Pipeline::for_dataset(std::slice::from_ref(&self.spec), &facts, registry)
    }

    /// Returns true if hyperslab may refuse the filter although libhdf5 creates the dataset,
    /// because libhdf5 then loses the values or stores all chunks without the filter.
    fn may_be_refused(&self) -> bool {
        let (id, data) = (self.spec.id(), self.spec.client_data());
        let (is_float, is_big) = match &self.datatype.class {
            DatatypeClass::FloatingPoint(_) => (true, self.datatype == Datatype::f64(BE)),
            DatatypeClass::FixedPoint(number) => (false, number.order == BE),
            _ => return false,
        };
        match id {
            FilterId::SCALEOFFSET => is_float != (data[0] == 0),
            FilterId::ZFP => is_big || data[0] == 3 && !is_float,
            _ => false,
        }
    }
}

fn element(datatype: &Datatype, value: i64) -> Vec<u8> {
    #[expect(clippy::cast_precision_loss, reason = "values are small")]
    let mut bytes = match (&datatype.class, datatype.size) {
        (DatatypeClass::FloatingPoint(_), 4) => (value as f32).to_le_bytes().to_vec(),
        (DatatypeClass::FloatingPoint(_), _) => (value as f64).to_le_bytes().to_vec(),
        (_, size) => value.to_le_bytes()[..usize::try_from(size).unwrap()].to_vec(),
    };
    let is_big = matches!(&datatype.class, DatatypeClass::FixedPoint(number) if number.order == BE);
    if is_big || *datatype == Datatype::f64(BE) {
        bytes.reverse();
    }
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn shown(stage: &Stage) -> String {
    let data: Vec<String> = stage.client_data.iter().map(u32::to_string).collect();
    let name = stage.name.clone().unwrap_or_default().replace(' ', "_");
    format!("{};{};{};{name}", stage.id.0, stage.flags, data.join(","))
}

/// Compares the stored pipelines for the filters in `specs`, and decodes our chunks with libhdf5.
fn compare(specs: &str) {
    let specs: Vec<FilterSpec> = specs.split_whitespace().map(|text| text.parse().unwrap()).collect();
    let mut cases = Vec::new();
    for (name, datatype) in types() {
        for chunk in CHUNKS {
            if datatype.size < 100 || chunk.iter().product::<u64>() < 1000 {
                cases.extend(specs.iter().map(|spec| Case::new(name, &datatype, chunk, None, spec)));
            }
        }
        let has_fill = datatype.is_number() && matches!(datatype.size, 1 | 2 | 4 | 8) && !name.contains("of");
        for spec in specs.iter().filter(|spec| has_fill && spec.id() == FilterId::SCALEOFFSET) {
            cases.push(Case::new(name, &datatype, &[40], Some(7), spec));
            if !name.starts_with('u') {
                cases.push(Case::new(name, &datatype, &[40], Some(-3), spec));
            }
        }
    }
    run(&cases);
}

fn run(cases: &[Case]) {
    let Some(referee) = referee::python() else { return };
    let (folder, registry) = (tempfile::tempdir().unwrap(), Registry::default());
    let (file, list, chunks) =
        (folder.path().join("file.h5"), folder.path().join("cases"), folder.path().join("chunks"));
    let lines: Vec<&str> = cases.iter().map(|case| case.line.as_str()).collect();
    std::fs::write(&list, lines.join("\n")).unwrap();
    let stored = referee.run_script(PROGRAM, [&file, &list]).unwrap();
    assert_eq!(stored.lines().count(), cases.len());
    let (mut encoded, mut decoded, mut equal) = (String::new(), Vec::new(), 0);
    for (case, line) in cases.iter().zip(stored.lines()) {
        let pipeline = match case.pipeline(&registry) {
            Ok(pipeline) => pipeline,
            Err(error) => {
                assert!(line == "error" || case.may_be_refused(), "{}: {error}, but {line}", case.name);
                encoded += "-\n";
                decoded.push("-".to_owned());
                continue;
            }
        };
        let (stage, raw) = line.rsplit_once(';').unwrap_or_else(|| panic!("{}: {line}", case.name));
        assert_eq!(shown(&pipeline.stages[0]), stage, "{}", case.name);
        let raw = unhex(raw);
        let target = ChunkTarget::of_length(raw.len());
        let chunk = pipeline.encode_chunk(&registry, &raw[..], &target);
        let (chunk, mask) = chunk.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        decoded.push(hex(&pipeline.decode_chunk(&registry, mask, &chunk[..], &target).unwrap()));
        writeln!(encoded, "{} {mask}", hex(&chunk)).unwrap();
        equal += 1;
    }
    assert!(equal > cases.len() / 3, "only {equal} of {} pipelines are equal", cases.len());
    std::fs::write(&chunks, encoded).unwrap();
    let read = referee.run_script(PROGRAM, [&file, &list, &chunks]).unwrap();
    assert_eq!(read.lines().count(), cases.len());
    let pairs = cases.iter().zip(&decoded).zip(read.lines());
    let differ: Vec<_> = pairs
        .filter(|((_, ours), theirs)| *ours != theirs)
        .map(|((case, _), theirs)| (&case.name, theirs))
        .collect();
    assert!(differ.is_empty(), "libhdf5 reads {} of {} otherwise: {differ:.200?}", differ.len(), cases.len());
}

#[test]
fn filters_of_libhdf5_and_h5py() {
    compare(BUILT_IN);
}

#[test]
fn blosc_and_bitshuffle() {
    compare(
        "blosc=blosclz blosc=zlib:9:bits! blosc2=blosclz blosc2=zlib:1:none! blosc2=blosclz:9:delta 32026 32001",
    );
    compare("bitshuffle=none:0 bitshuffle=none:64! 32008");
}

#[cfg(feature = "lz4")]
#[test]
fn lz4() {
    compare("lz4 lz4=2048! 32004 bitshuffle=lz4 bitshuffle=lz4:64! blosc=lz4:5 blosc2=lz4:7");
}

#[cfg(any(feature = "zstd-rs", feature = "zstd"))]
#[test]
fn zstd() {
    compare("zstd zstd=9! bitshuffle=zstd:4 blosc=zstd:5:bits blosc2=zstd:5");
}

#[cfg(feature = "bzip2")]
#[test]
fn bzip2() {
    compare("bzip2 bzip2=1!");
}

#[cfg(feature = "zfp")]
#[test]
fn zfp() {
    compare(
        "zfp=rate:8 zfp=rate:8! zfp=precision:13 zfp=accuracy:1e-3 zfp=reversible zfp=reversible! zfp=expert:20:4000:40:-20 32013",
    );
}
