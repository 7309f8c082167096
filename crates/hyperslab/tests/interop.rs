//! Other programs read and change files of hyperslab. They also write structures that the
//! specification does not describe.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use hyperslab::datatype::ByteOrder::{BigEndian, LittleEndian};
use hyperslab::filter::{FilterSpec, SzipCoding};
use hyperslab::{
    CharacterSet, Dataspace, Datatype, FileOptions, FileSpace, FileSpaceStrategy, IxDyn, Layout,
    LibverBounds, OpenOptions, Region, Selection, Value, s,
};
use hyperslab_check::{CheckOptions, Report};
use hyperslab_testkit::{referee, workspace};

fn check(path: &Path, data: bool) -> Report {
    let driver = OpenOptions::new().find_driver(path).unwrap();
    let options = CheckOptions { decode_chunks: data, ..CheckOptions::default() };
    hyperslab_check::check(driver, &options).unwrap()
}

fn assert_sound(path: &Path) {
    let report = check(path, true);
    assert!(report.is_sound() && report.unchecked == 0, "{}: {report}", path.display());
}

/// A generator of pseudo-random numbers.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 8) % end
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// A script that replaces parts of chunks by zeros, so that many chunks become as long as without
/// filters, and prints the values that it then reads.
const REWRITE: &str = r#"
import sys
import h5py, numpy as np
path, names = sys.argv[1], sys.argv[2:]
model = {}
with h5py.File(path, "r+") as f:
    for n in names:
        d = f[n]
        a = d[...]
        for c in range(0, len(a), d.chunks[0]):
            zeros = (c // d.chunks[0]) % (d.chunks[0] + 1)
            if zeros:
                d[c:c + zeros] = 0
                a[c:c + zeros] = 0
        model[n] = a
with h5py.File(path) as f:
    for n in names:
        bad = np.flatnonzero(f[n][...] != model[n])
        assert not len(bad), (n, bad[:5], len(bad))
for n in names:
    model[n].tofile(path + "." + n)
"#;

#[test]
fn libhdf5_rewrites_chunks_that_a_filter_does_not_make_smaller() {
    let Some(python) = referee::python() else {
        workspace::skip("libhdf5_rewrites_chunks_that_a_filter_does_not_make_smaller", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.h5");
    let mut noise = Noise(88_172_645_463_325_252);
    let values: Vec<u8> = (0..40 * 900).map(|_| noise.byte()).collect();
    for bounds in [LibverBounds::EARLIEST, LibverBounds::LATEST] {
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        let mut names = Vec::new();
        let filters: [(&str, &[FilterSpec]); 5] = [
            ("deflate", &[FilterSpec::deflate(6).optional()]),
            ("shuffled", &[FilterSpec::shuffle().optional(), FilterSpec::deflate(1).optional()]),
            ("lzf", &[FilterSpec::lzf().optional()]),
            ("summed", &[FilterSpec::deflate(9).optional(), FilterSpec::fletcher32()]),
            ("szip", &[FilterSpec::szip(SzipCoding::NearestNeighbour, 8).optional()]),
        ];
        for (name, filters) in filters {
            for chunk in [24_u64, 40] {
                let name = format!("{name}{chunk}");
                let mut builder = file.new_dataset(&name).chunks(&[chunk]);
                for filter in filters {
                    builder = builder.filter(filter.clone());
                }
                let dataset = builder.write(&values).unwrap();
                let skipped =
                    dataset.chunks().list().unwrap().iter().filter(|chunk| chunk.filter_mask != 0).count();
                assert_eq!(skipped, 0, "{name}: every chunk passes every filter");
                names.push(name);
            }
        }
        file.close().unwrap();
        assert_sound(&path);
        let arguments: Vec<&str> =
            [path.to_str().unwrap()].into_iter().chain(names.iter().map(String::as_str)).collect();
        python.run_script(REWRITE, arguments).unwrap();
        let file = hyperslab::File::open(&path).unwrap();
        for name in &names {
            let expected = std::fs::read(format!("{}.{name}", path.display())).unwrap();
            assert!(file.dataset(name).unwrap().read_raw::<u8>(..).unwrap() == expected, "{name}");
        }
    }
}

/// Returns a zlib stream of one stored block.
fn zlib_stream(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    let header = [0x78, 0x01, 0x01];
    [&header[..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes, &(b << 16 | a).to_be_bytes()]
        .concat()
}

/// Creates a dataset of 35 numbers in chunks of 10 numbers. The chunks, with and without the
/// filter, store only 5 numbers.
#[test]
fn missing_elements_of_a_short_chunk_have_the_fill_value() {
    let folder = tempfile::tempdir().unwrap();
    for bounds in [LibverBounds::EARLIEST, LibverBounds::LATEST] {
        let path = folder.path().join("short.h5");
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        let numbers = |from: i32| (from..from + 5).flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
        for name in ["whole", "edge"] {
            let builder = file.new_dataset(name).of::<i32>().shape(&[35]).chunks(&[10]).fill(-7_i32);
            let dataset = builder.deflate(6).create().unwrap();
            if name == "whole" {
                dataset.chunks().write(&[10], &numbers(10), 1).unwrap();
                // A partly stored element counts as missing.
                let cut = [numbers(20), vec![1, 2]].concat();
                dataset.chunks().write(&[20], &zlib_stream(&cut), 0).unwrap();
            }
            dataset.chunks().write(&[30], &numbers(30), 1).unwrap();
        }
        file.close().unwrap();
        let expected: Vec<i32> = (0..35).map(|at| if at >= 10 && at % 10 < 5 { at } else { -7 }).collect();
        let file = hyperslab::File::open(&path).unwrap();
        let dataset = file.dataset("whole").unwrap();
        assert_eq!(dataset.read_raw::<i32>(..).unwrap(), expected);
        assert_eq!(dataset.read::<i32, IxDyn>(s![12..28]).unwrap().as_slice().unwrap(), &expected[12..28]);
        let points = Selection::Points(hyperslab::Points { rank: 1, coordinates: vec![27, 12, 3, 34] });
        assert_eq!(dataset.read_raw::<i32>(&points).unwrap(), [-7, 12, -7, 34]);
        drop((file, dataset));
        let report = check(&path, true);
        let faults: Vec<String> = report.fault_findings().map(ToString::to_string).collect();
        assert!(faults.len() == 2 && faults.iter().all(|fault| fault.contains("/whole")), "{faults:?}");
        // A salvage stores such chunks with all elements. Other copies copy encoded chunks without
        // decoding, so a filtered chunk stays short.
        let (salvaged, repacked) = (folder.path().join("salvaged.h5"), folder.path().join("repacked.h5"));
        hyperslab::Recovery::new().salvage(&path, &salvaged).unwrap();
        hyperslab::Repack::new().run(&hyperslab::File::open(&path).unwrap(), &repacked).unwrap();
        for (copy, faults) in [(&salvaged, 0), (&repacked, 1)] {
            assert_eq!(check(copy, true).faults, faults, "{}", copy.display());
            let dataset = hyperslab::File::open(copy).unwrap().dataset("whole").unwrap();
            assert_eq!(dataset.read_raw::<i32>(..).unwrap(), expected, "{}", copy.display());
            std::fs::remove_file(copy).unwrap();
        }
        // A write to a part of such a chunk stores the complete chunk.
        let file = hyperslab::File::open_rw(&path).unwrap();
        let dataset = file.dataset("whole").unwrap();
        dataset.write(Region::new(&[16], &[8]).unwrap(), &[1_i32; 8]).unwrap();
        drop(dataset);
        file.close().unwrap();
        let mut after = expected.clone();
        after[16..24].fill(1);
        let file = hyperslab::File::open(&path).unwrap();
        assert_eq!(file.dataset("whole").unwrap().read_raw::<i32>(..).unwrap(), after);
        assert_eq!(check(&path, true).faults, 0, "what is missing at the edge is not");
    }
}

#[test]
fn bit_fields_are_read_and_written_as_unsigned_integers() {
    let file = FileOptions::new().create_in_memory().unwrap();
    for (name, order) in [("little", LittleEndian), ("big", BigEndian)] {
        let dataset =
            file.new_dataset(name).datatype(Datatype::bitfield(2, order)).shape(&[3]).create().unwrap();
        dataset.write(.., &[1_u16, 0xff00, 7]).unwrap();
        assert_eq!(dataset.read_raw::<u16>(..).unwrap(), [1, 0xff00, 7]);
        assert_eq!(dataset.read_raw::<u64>(..).unwrap(), [1, 0xff00, 7]);
        assert_eq!(dataset.read_raw::<i16>(..).unwrap(), [1, i16::MAX, 7]);
    }
}

#[test]
fn dense_attributes_have_an_order_only_where_it_is_tracked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attributes.h5");
    let file = FileOptions::new().libver(LibverBounds::LATEST).create(&path).unwrap();
    for (name, tracked) in [("untracked", false), ("tracked", true)] {
        let dataset = file.new_dataset(name).track_order(tracked).write(&[1_u8]).unwrap();
        for number in 0..20_u8 {
            dataset.set_attribute(&format!("a{number:02}"), number).unwrap();
        }
        let order = |attribute: &str| dataset.attribute(attribute).unwrap().creation_order();
        assert_eq!((order("a00"), order("a19")), (tracked.then_some(0), tracked.then_some(19)));
    }
    file.close().unwrap();
    assert_sound(&path);
    let Some(python) = referee::python() else { return };
    let code = r#"
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    for n in ("untracked", "tracked"):
        for a in ("a00", "a19"):
            i = h5py.h5a.get_info(f[n].id, a.encode())
            print(bool(i.corder_valid), i.corder if i.corder_valid else "-", end=" ")
"#;
    let answer = python.run_script(code, [path.to_str().unwrap()]).unwrap();
    assert_eq!(answer.trim(), "False - False - True 0 True 19");
}

/// Blocks of all kinds and lengths in files with small pages: each block is inside one page, or
/// begins at the start of a page.
#[test]
fn blocks_do_not_cross_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.h5");
    for (number, page_size) in (0_u64..).zip([512, 1000, 4096, 5000, 16_384, 20_000, 65_536, 100_000]) {
        for persist in [false, true] {
            let mut noise = Noise(number * 2 + u64::from(persist) + 1);
            let strategy = FileSpaceStrategy::Page;
            let space = FileSpace { strategy, persist, threshold: 1, page_size };
            let file =
                FileOptions::new().libver(LibverBounds::LATEST).file_space(space).create(&path).unwrap();
            file.close().unwrap();
            for round in 0..4 {
                let file = hyperslab::File::open_rw(&path).unwrap();
                for step in 0..12 {
                    change(&file, &mut noise, &format!("{round}-{step}"));
                }
                file.close().unwrap();
                let report = check(&path, false);
                assert!(report.is_sound(), "pages of {page_size}, round {round}: {report}");
            }
        }
    }
}

fn change(file: &hyperslab::File, noise: &mut Noise, name: &str) {
    let long = |noise: &mut Noise, maximum: u64| "x".repeat(usize::try_from(noise.below(maximum)).unwrap());
    match noise.below(8) {
        0 => {
            let count = 1 + noise.below(300);
            let texts: Vec<String> = (0..count).map(|_| long(noise, 700)).collect();
            file.new_dataset(name).write_strings(&texts).unwrap();
        }
        1 => {
            let texts: Vec<String> = (0..1 + noise.below(4)).map(|_| long(noise, 90_000)).collect();
            let dataset = file.new_dataset(name).write_strings(&texts).unwrap();
            dataset
                .write_strings(.., &texts.iter().rev().map(|text| format!("{text}!")).collect::<Vec<_>>())
                .unwrap();
        }
        2 => {
            let values: Vec<u16> =
                (0..noise.below(4000)).map(|value| u16::try_from(value).unwrap()).collect();
            file.new_dataset(name)
                .unlimited()
                .chunks(&[1 + noise.below(400)])
                .deflate(3)
                .write(&values)
                .unwrap();
        }
        3 => {
            let dataset =
                file.new_dataset(name).of::<u32>().shape(&[0]).unlimited().chunks(&[16]).create().unwrap();
            (0..noise.below(60)).for_each(|value| {
                dataset.append(0, &[u32::try_from(value).unwrap(); 5]).unwrap();
            });
        }
        4 => {
            let group = file.create_group(name).unwrap();
            for number in 0..noise.below(60) {
                group.set_attribute(&format!("a{number}"), long(noise, 600).as_str()).unwrap();
            }
        }
        5 => {
            let dataset = file.new_dataset(name).datatype(Datatype::sequence(Datatype::u8(), 8)).shape(&[40]);
            let dataset = dataset.create().unwrap();
            for _ in 0..1 + noise.below(3) {
                let sequences: Vec<Vec<u8>> =
                    (0..40).map(|_| vec![7; usize::try_from(noise.below(3000)).unwrap()]).collect();
                dataset.write_sequences(.., &sequences).unwrap();
            }
        }
        6 => {
            let group = file.create_group(name).unwrap();
            for number in 0..noise.below(80) {
                group.create_group(&format!("{number}{}", long(noise, 40))).unwrap();
            }
        }
        _ => {
            let names = file.root().member_names().unwrap();
            if let Some(name) = names.get(usize::try_from(noise.below(names.len().max(1) as u64)).unwrap()) {
                file.root().remove(name).unwrap();
            }
        }
    }
}

#[test]
fn the_only_chunk_without_filters_has_no_edges() {
    let file = FileOptions::new().libver(LibverBounds::LATEST).create_in_memory().unwrap();
    for (name, filtered, chunk, expected) in
        [("a", false, 9, false), ("b", true, 9, true), ("c", false, 4, true), ("d", true, 4, true)]
    {
        let builder = file.new_dataset(name).chunks(&[chunk]).unfiltered_edges();
        let builder = if filtered { builder.deflate(1) } else { builder };
        let dataset = builder.write(&[7_u8; 9]).unwrap();
        let Layout::Chunked(chunking) = dataset.layout() else { panic!("{name}") };
        assert_eq!(chunking.edges_unfiltered, expected, "{name}");
    }
}

fn run(name: &str, counts: &[i128], inner: &[&str]) -> Value {
    Value::Compound(vec![
        ("name".into(), Value::Text(name.into())),
        ("weight".into(), Value::Float(0.5)),
        ("counts".into(), Value::Sequence(counts.iter().map(|count| Value::Integer(*count)).collect())),
        (
            "places".into(),
            Value::Sequence(
                inner
                    .iter()
                    .map(|text| {
                        Value::Compound(vec![
                            ("id".into(), Value::Integer(3)),
                            ("text".into(), Value::Text((*text).into())),
                        ])
                    })
                    .collect(),
            ),
        ),
        ("pair".into(), Value::Array(vec![2], vec![Value::Text("left".into()), Value::Text(String::new())])),
    ])
}

/// A script that reads the records of the next test.
const RECORDS: &str = r#"
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    for n in ("contiguous", "compact", "chunked", "filtered"):
        # h5py reads no sequences of records with strings.
        name, weight, counts, pair = (f[n].fields(m)[...] for m in ("name", "weight", "counts", "pair"))
        for k in range(60):
            if k in (5, 6):
                continue
            assert name[k].decode() == "é" * k and weight[k] == 0.5, (n, k, name[k])
            assert counts[k].tolist() == list(range(k % 5)), (n, k, counts[k])
            assert pair[k].tolist() == [b"left", b""], (n, k, pair[k])
        assert name[5] == b"new" and counts[5].tolist() == [-1] and name[6] == b"newer"
"#;

#[test]
fn records_with_members_of_variable_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.h5");
    let text = || Datatype::variable_string(CharacterSet::Utf8, 8);
    let place = Datatype::packed([("id", Datatype::u8()), ("text", text())]);
    let record = Datatype::packed([
        ("name", text()),
        ("weight", Datatype::f64(LittleEndian)),
        ("counts", Datatype::sequence(Datatype::i16(LittleEndian), 8)),
        ("places", Datatype::sequence(place, 8)),
        ("pair", Datatype::array([2], text())),
    ]);
    let values: Vec<Value> = (0..60)
        .map(|number| {
            let counts: Vec<i128> = (0..number % 5).collect();
            run(
                &"é".repeat(usize::try_from(number).unwrap()),
                &counts,
                &["x", ""][..usize::try_from(number % 3).unwrap()],
            )
        })
        .collect();
    for bounds in [LibverBounds::EARLIEST, LibverBounds::LATEST] {
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        let new = |name: &str| file.new_dataset(name).datatype(record.clone()).shape(&[60]);
        let datasets = [
            ("contiguous", new("contiguous")),
            ("compact", new("compact").compact()),
            ("chunked", new("chunked").chunks(&[7])),
            ("filtered", new("filtered").chunks(&[7]).shuffle().deflate(4).fletcher32()),
        ];
        for (name, builder) in datasets {
            let dataset = builder.create().unwrap();
            dataset.write_values(.., &values).unwrap();
            let replaced = Selection::region(&Region::new(&[5], &[2]).unwrap());
            dataset.write_values(&replaced, &[run("new", &[-1], &["y"]), run("newer", &[], &[])]).unwrap();
            assert!(
                dataset.write_values(&replaced, &values[..1]).is_err(),
                "{name}: another number of values"
            );
            assert!(dataset.write_values(&replaced, &[Value::Integer(1), Value::Integer(2)]).is_err());
        }
        let some = Dataspace::simple(&[3]);
        file.root().set_attribute_values("runs", &record, &some, &values[..3]).unwrap();
        assert!(file.root().set_attribute_values("runs", &record, &some, &values[..2]).is_err());
        file.close().unwrap();
        assert_sound(&path);
        let file = hyperslab::File::open(&path).unwrap();
        let mut expected = values.clone();
        expected[5] = run("new", &[-1], &["y"]);
        expected[6] = run("newer", &[], &[]);
        for name in ["contiguous", "compact", "chunked", "filtered"] {
            let read = file.dataset(name).unwrap().read_dyn(..).unwrap();
            let read: Vec<Value> = (0..60).map(|at| read.get(&[at]).unwrap()).collect();
            assert_eq!(read, expected, "{name}");
        }
        let read = file.attribute("runs").unwrap().read_dyn().unwrap();
        assert_eq!(read.get(&[2]), Some(values[2].clone()));
        let Some(python) = referee::python() else { continue };
        python.run_script(RECORDS, [path.to_str().unwrap()]).unwrap();
    }
}
