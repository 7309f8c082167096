//! Writes to a virtual dataset go to its source datasets.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::path::Path;

use hyperslab::{
    Dataset, ErrorKind, ExternalFiles, File, H5Type, OpenOptions, Points, Region, Selection, VirtualMapping,
    s,
};
use hyperslab_testkit::{referee, workspace};

/// A script that creates `outer.h5` with a virtual dataset, whose sources are in `outer.h5`, in
/// `one.h5`, and in a file that does not exist.
const MAKE: &str = r#"
import sys
import h5py, numpy as np

folder = sys.argv[1] + "/"
unlimited = h5py.h5s.UNLIMITED


def virtual(f, name, dims, maps, kind="<i4"):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_fill_value(np.array(-1, kind))
    for space, file, path, source in maps:
        p.set_virtual(space, file, path, source)
    limits = tuple(unlimited if n is None else n for n in dims)
    space = h5py.h5s.create_simple(tuple(n or 0 for n in dims), limits)
    h5py.h5d.create(f.id, name, h5py.h5t.py_create(np.dtype(kind)), space, p)


def space(dims, start=None, count=None, stride=None, block=None):
    limits = tuple(unlimited if n is None else n for n in dims)
    made = h5py.h5s.create_simple(tuple(n or 1 for n in dims), limits)
    if start:
        made.select_hyperslab(start, count, stride, block)
    return made


with h5py.File(folder + "one.h5", "w", libver="latest") as f:
    f.create_dataset("a", (6, 4), ">i2", chunks=(4, 3), compression="gzip", shuffle=True)
    f["flat"] = np.zeros(5, "f8")
    f.create_dataset("log", (4, 3), "<i4", maxshape=(None, 3), chunks=(2, 3))
    virtual(f, b"inside", (6, 4), [(space((6, 4)), b".", b"a", space((6, 4)))], "<i8")
    for n in range(4):
        f[f"block-{n}"] = np.zeros((2, 3), "<u2")
with h5py.File(folder + "outer.h5", "w", libver="latest") as f:
    f.create_dataset("own", (6, 4), "<i8", chunks=(2, 2))
    words = f.create_dataset("words", (3,), h5py.string_dtype())
    words[:] = ["one", "two", "three"]
    layout = h5py.VirtualLayout((12, 5), "<i4")
    layout[:6, :4] = h5py.VirtualSource(".", "own", (6, 4))
    layout[6:, :4] = h5py.VirtualSource("one.h5", "a", (6, 4))
    layout[:5, 4] = h5py.VirtualSource("one.h5", "flat", (5,))
    layout[5, 4:] = h5py.VirtualSource("missing.h5", "flat", (1,))
    f.create_virtual_dataset("joined", layout, fillvalue=-1)
    layout = h5py.VirtualLayout((6, 8), "<f4")
    layout[:, ::2] = h5py.VirtualSource("outer.h5", "own", (6, 4))
    layout[:, 1::2] = h5py.VirtualSource("one.h5", "inside", (6, 4))
    f.create_virtual_dataset("woven", layout)
    layout = h5py.VirtualLayout((3,), h5py.string_dtype())
    layout[:] = h5py.VirtualSource(".", "words", (3,))
    f.create_virtual_dataset("texts", layout)
    virtual(f, b"log", (None, 3), [(space((None, 3), (0, 0), (unlimited, 1), (1, 1), (1, 3)),
                                    b"one.h5", b"log",
                                    space((None, 3), (0, 0), (unlimited, 1), (1, 1), (1, 3)))])
    virtual(f, b"blocks", (None, 3), [(space((None, 3), (0, 0), (unlimited, 1), (2, 1), (2, 3)),
                                       b"one.h5", b"block-%b", space((2, 3)))])
"#;

const PRINT: &str = r#"
import json, sys
import h5py
with h5py.File(sys.argv[1]) as f:
    value = f[sys.argv[2]][()]
    flat = value.ravel().tolist()
    print(json.dumps([v.decode() if isinstance(v, bytes) else v for v in flat]))
"#;

struct Files {
    folder: tempfile::TempDir,
    python: referee::Referee,
}

impl Files {
    fn make(test: &str) -> Option<Self> {
        let Some(python) = referee::python() else {
            workspace::skip(test, "no h5py");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        python.run_script(MAKE, [folder.path().to_str().unwrap()]).unwrap();
        Some(Self { folder, python })
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn outer(&self) -> File {
        File::open_rw(self.path("outer.h5")).unwrap()
    }

    /// Returns the values that libhdf5 reads.
    fn told(&self, file: &str, dataset: &str) -> Vec<serde_json::Value> {
        let printed = self.python.run_script(PRINT, [self.path(file).to_str().unwrap(), dataset]).unwrap();
        serde_json::from_str(&printed).unwrap()
    }

    fn numbers(&self, file: &str, dataset: &str) -> Vec<i64> {
        let whole = |value: &serde_json::Value| value.to_string().trim_end_matches(".0").parse().unwrap();
        self.told(file, dataset).iter().map(whole).collect()
    }

    fn check(&self) {
        for name in ["one.h5", "outer.h5"] {
            let report = hyperslab_check::check_path(&self.path(name)).unwrap();
            assert!(report.findings.is_empty(), "{name}: {:?}", report.findings);
        }
    }
}

fn region(start: &[u64], count: &[u64]) -> Selection {
    Selection::region(&Region::new(start, count).unwrap())
}

#[test]
fn elements_are_written_to_their_sources() {
    let Some(files) = Files::make("elements_are_written_to_their_sources") else { return };
    let file = files.outer();
    let joined = file.dataset("joined").unwrap();
    assert_eq!(joined.read_raw::<i32>(..).unwrap()[..5], [0; 5]);
    // The selection covers both files, and the elements are converted.
    let values: Vec<i64> = (0..16).map(|n| 100 + n).collect();
    joined.write(region(&[4, 0], &[4, 4]), &values).unwrap();
    joined.write(s![1, ..], &[1_u8, 2, 3, 4, 5]).unwrap();
    let points = Points { rank: 2, coordinates: vec![11, 3, 0, 0, 0, 4, 11, 3] };
    joined.write(Selection::Points(points), &[7, 8, 9, 10]).unwrap();
    let mut expected = vec![0; 60];
    for row in 0..4 {
        for column in 0..4 {
            expected[(4 + row) * 5 + column] = 100 + (row * 4 + column) as i64;
        }
    }
    expected[5..10].copy_from_slice(&[1, 2, 3, 4, 5]);
    (expected[0], expected[4], expected[11 * 5 + 3]) = (8, 9, 10);
    for row in 5..12 {
        expected[row * 5 + 4] = -1;
    }
    assert_eq!(joined.read_raw::<i64>(..).unwrap(), expected);
    file.close().unwrap();
    assert_eq!(files.numbers("outer.h5", "joined"), expected);
    let own: Vec<i64> = expected[..30].chunks(5).flat_map(|row| row[..4].to_vec()).collect();
    assert_eq!(files.numbers("outer.h5", "own"), own);
    let other: Vec<i64> = expected[30..].chunks(5).flat_map(|row| row[..4].to_vec()).collect();
    assert_eq!(files.numbers("one.h5", "a"), other);
    assert_eq!(files.numbers("one.h5", "flat"), [9, 5, 0, 0, 0]);
    files.check();
}

#[test]
fn elements_without_a_source_are_refused_before_anything_is_written() {
    let Some(files) = Files::make("elements_without_a_source") else { return };
    let file = files.outer();
    let joined = file.dataset("joined").unwrap();
    for (selection, count, missing) in [
        (Selection::All, 60, "7 of 60"),
        (region(&[5, 0], &[1, 5]), 5, "1 of 5"),
        (region(&[3, 4], &[4, 1]), 4, "2 of 4"),
    ] {
        let error = joined.write(&selection, &vec![3; count]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse);
        assert!(format!("{error:?}").contains(missing), "{error:?}");
    }
    let error = file.dataset("log").unwrap().append(0, &ndarray::arr2(&[[1, 2, 3]])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(joined.write(region(&[0, 0], &[1, 4]), &[1, 2]).is_err());
    drop((joined, file));
    // A file must also not be changed if it is not allowed as a source, or if the outer file is
    // read-only.
    let refusing = OpenOptions::new().write(true).external_files(ExternalFiles::Refuse);
    let file = refusing.open(files.path("outer.h5")).unwrap();
    let across = region(&[5, 0], &[2, 4]);
    assert!(file.dataset("joined").unwrap().write(&across, &[5; 8]).is_err());
    drop(file);
    let file = File::open(files.path("outer.h5")).unwrap();
    assert!(file.dataset("joined").unwrap().write(&across, &[5; 8]).is_err());
    drop(file);
    assert!(files.numbers("outer.h5", "own").iter().chain(&files.numbers("one.h5", "a")).all(|n| *n == 0));
    files.check();
}

#[test]
fn nested_virtual_datasets_and_sources_in_the_same_file() {
    let Some(files) = Files::make("virtual_datasets_within_others") else { return };
    let file = files.outer();
    let woven = file.dataset("woven").unwrap();
    let values: Vec<f64> = (0..48).map(f64::from).collect();
    woven.write(.., &values).unwrap();
    woven.write(s![2, 1..=2], &[-5_i16, -6]).unwrap();
    let mut expected: Vec<i64> = (0..48).collect();
    (expected[17], expected[18]) = (-5, -6);
    assert_eq!(woven.read_raw::<i64>(..).unwrap(), expected);
    file.close().unwrap();
    assert_eq!(files.numbers("outer.h5", "woven"), expected);
    let every = |first: usize| expected.iter().skip(first).step_by(2).copied().collect::<Vec<i64>>();
    assert_eq!(files.numbers("outer.h5", "own"), every(0));
    assert_eq!(files.numbers("one.h5", "a"), every(1));
    files.check();
}

#[test]
fn unlimited_mappings() {
    let Some(files) = Files::make("unlimited_mappings") else { return };
    let file = files.outer();
    let (log, blocks) = (file.dataset("log").unwrap(), file.dataset("blocks").unwrap());
    assert_eq!((log.shape(), blocks.shape()), (vec![4, 3], vec![8, 3]));
    log.write(.., &(0..12).collect::<Vec<i32>>()).unwrap();
    blocks.write(.., &(0..24).collect::<Vec<i32>>()).unwrap();
    blocks.write(s![3..5, 1], &[90, 91]).unwrap();
    file.close().unwrap();
    assert_eq!(files.numbers("one.h5", "log"), (0..12).collect::<Vec<i64>>());
    assert_eq!(files.numbers("one.h5", "block-1"), [6, 7, 8, 9, 90, 11]);
    assert_eq!(files.numbers("one.h5", "block-2"), [12, 91, 14, 15, 16, 17]);
    files.check();
}

#[test]
fn text_of_variable_length_in_the_same_file() {
    let Some(files) = Files::make("text_of_variable_length") else { return };
    let file = files.outer();
    let texts = file.dataset("texts").unwrap();
    texts.write_strings(.., &["a", "Wärme", &"x".repeat(500)]).unwrap();
    texts.write_strings(region(&[0], &[1]), &["first"]).unwrap();
    assert_eq!(file.dataset("words").unwrap().read_strings::<hyperslab::IxDyn>(..).unwrap()[1], "Wärme");
    file.close().unwrap();
    assert_eq!(files.told("outer.h5", "words"), ["first", "Wärme", &"x".repeat(500)]);
    files.check();
}

/// Dirty chunks and shapes that are not stored yet are used, too.
#[test]
fn sources_that_were_just_changed() {
    let file = hyperslab::FileOptions::new().create_in_memory().unwrap();
    let source =
        file.new_dataset("s").of::<i32>().shape(&[4]).unlimited().chunks(&[4]).deflate(3).create().unwrap();
    let mapping = VirtualMapping {
        file: ".".into(),
        dataset: "s".into(),
        selection: region(&[0], &[8]),
        source_selection: region(&[0], &[8]),
    };
    let shown = file.new_dataset("v").of::<i64>().shape(&[8]).virtual_sources(&[mapping]).create().unwrap();
    source.write(.., &[1, 2, 3, 4]).unwrap();
    source.resize(&[8]).unwrap();
    shown.write(s![3..6], &[10, 11, 12]).unwrap();
    assert_eq!(source.read_raw::<i32>(..).unwrap(), [1, 2, 3, 10, 11, 12, 0, 0]);
    assert_eq!(shown.read_raw::<u8>(..).unwrap(), [1, 2, 3, 10, 11, 12, 0, 0]);
}

#[derive(Debug, Clone, Copy, PartialEq, H5Type)]
struct Point {
    x: f64,
    y: i32,
}

/// A write of one member keeps the other members, and elements that the virtual dataset does not
/// show.
#[test]
fn single_members() {
    let file = hyperslab::FileOptions::new().create_in_memory().unwrap();
    let point = |x, y| Point { x, y };
    let source = file.new_dataset("s").write(&[point(1.0, 1), point(2.0, 2)]).unwrap();
    let all = |dataset: &str| VirtualMapping {
        file: ".".into(),
        dataset: dataset.into(),
        selection: Selection::All,
        source_selection: Selection::All,
    };
    let new = |name: &str| file.new_dataset(name).shape(&[2]).virtual_sources(&[all("s")]);
    let shown = new("v").of::<Point>().create().unwrap();
    shown.field("y").unwrap().write(.., &[7_u8, 8]).unwrap();
    assert_eq!(source.read_raw::<Point>(..).unwrap(), [point(1.0, 7), point(2.0, 8)]);
    let only = hyperslab::Datatype::packed([("x", f64::datatype())]);
    let narrow = new("x").datatype(only).create().unwrap();
    narrow.field("x").unwrap().write(region(&[1], &[1]), &[0.5]).unwrap();
    assert_eq!(source.read_raw::<Point>(..).unwrap(), [point(1.0, 7), point(0.5, 8)]);
}

/// libhdf5 writes to virtual datasets that hyperslab created.
#[test]
fn libhdf5_writes_through_virtual_datasets_of_hyperslab() {
    let Some(python) = referee::python() else {
        workspace::skip("libhdf5_writes_through_virtual_datasets_of_hyperslab", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("parts.h5"), &path("whole.h5"));
    let script = "import sys, h5py, numpy as np\n\
                  with h5py.File(sys.argv[1], 'r+') as f: f['v'][...] = np.arange(8, dtype='i4')";
    python.run_script(script, [path("whole.h5").to_str().unwrap()]).unwrap();
    let parts = File::open(path("parts.h5")).unwrap();
    let read = |dataset: Dataset| dataset.read_raw::<i32>(..).unwrap();
    assert_eq!(read(parts.dataset("low").unwrap()), [0, 1, 2, 3]);
    assert_eq!(read(parts.dataset("high").unwrap()), [4, 5, 6, 7]);
}

fn make(parts: &Path, whole: &Path) {
    let file = File::create(parts).unwrap();
    file.new_dataset("low").write(&[0_i32; 4]).unwrap();
    file.new_dataset("high").chunks(&[3]).write(&[0_i32; 4]).unwrap();
    file.close().unwrap();
    let file = File::create(whole).unwrap();
    let mapping = |dataset: &str, start| VirtualMapping {
        file: "parts.h5".into(),
        dataset: dataset.into(),
        selection: region(&[start], &[4]),
        source_selection: Selection::All,
    };
    let both = [mapping("low", 0), mapping("high", 4)];
    let shown = file.new_dataset("v").of::<i32>().shape(&[8]).virtual_sources(&both).create().unwrap();
    shown.write(.., &[9; 8]).unwrap();
    file.close().unwrap();
    assert_eq!(File::open(parts).unwrap().dataset("high").unwrap().read_raw::<i32>(..).unwrap(), [9; 4]);
}

/// Returns a pseudo-random number below `bound`.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Random selections of a dataset that shows two others alternately, compared with an array in
/// memory.
#[test]
fn selections_are_written_as_into_an_array() {
    let file = hyperslab::FileOptions::new().create_in_memory().unwrap();
    file.new_dataset("even").of::<i64>().shape(&[4, 9]).chunks(&[3, 2]).deflate(1).create().unwrap();
    file.new_dataset("odd").of::<i32>().shape(&[9, 4]).create().unwrap();
    let rows = |first| {
        let rows = hyperslab::RegularHyperslab {
            start: [first, 0].into_iter().collect(),
            stride: [2, 1].into_iter().collect(),
            count: [4, 1].into_iter().collect(),
            block: [1, 9].into_iter().collect(),
        };
        Selection::Hyperslab(hyperslab::Hyperslab::Regular(rows))
    };
    let mapping = |dataset: &str, first| VirtualMapping {
        file: ".".into(),
        dataset: dataset.into(),
        selection: rows(first),
        source_selection: Selection::All,
    };
    let both = [mapping("even", 0), mapping("odd", 1)];
    let shown = file.new_dataset("v").of::<i16>().shape(&[8, 9]).virtual_sources(&both).create().unwrap();
    let mut expected = vec![0_i16; 72];
    let mut state = 7;
    for round in 0..400_i16 {
        let points = below(&mut state, 3) == 0;
        let selection = if points {
            let count = 1 + below(&mut state, 12);
            let coordinates = (0..count * 2)
                .map(|at| below(&mut state, if at.is_multiple_of(2) { 8 } else { 9 }))
                .collect();
            Selection::Points(Points { rank: 2, coordinates })
        } else {
            let (row, column) = (below(&mut state, 8), below(&mut state, 9));
            let mut along = |start: u64, size: u64| {
                let stride = 1 + below(&mut state, 3);
                let block = 1 + below(&mut state, stride).min(size - start - 1);
                let maximum = (size - start - block) / stride + 1;
                (stride, 1 + below(&mut state, maximum), block)
            };
            let (a, b) = (along(row, 8), along(column, 9));
            let slab = hyperslab::RegularHyperslab {
                start: [row, column].into_iter().collect(),
                stride: [a.0, b.0].into_iter().collect(),
                count: [a.1, b.1].into_iter().collect(),
                block: [a.2, b.2].into_iter().collect(),
            };
            Selection::Hyperslab(hyperslab::Hyperslab::Regular(slab))
        };
        let places: Vec<u64> = selection
            .linear_runs(&[8, 9])
            .unwrap()
            .flat_map(|run| run.offset..run.offset + run.length)
            .collect();
        let values: Vec<i16> = (0..places.len()).map(|at| round * 80 + i16::try_from(at).unwrap()).collect();
        shown.write(&selection, &values).unwrap();
        for (place, value) in places.iter().zip(&values) {
            expected[usize::try_from(*place).unwrap()] = *value;
        }
        assert_eq!(shown.read_raw::<i16>(&selection).unwrap().len(), values.len());
        assert_eq!(shown.read_raw::<i16>(..).unwrap(), expected, "{round}: {selection:?}");
    }
    let odd = file.dataset("odd").unwrap().read_raw::<i16>(..).unwrap();
    let rows: Vec<i16> = expected.chunks(9).skip(1).step_by(2).flatten().copied().collect();
    assert_eq!(odd, rows);
}

/// Mappings in any order, with overlaps and gaps, some with one run and some with several.
#[test]
fn elements_without_a_source_are_fill_values() {
    let file = hyperslab::FileOptions::new().create_in_memory().unwrap();
    let numbers: Vec<i32> = (100..112).collect();
    file.new_dataset("s").write(numbers.as_slice()).unwrap();
    let slab = |start: u64, count: u64, stride: u64| {
        let slab = hyperslab::RegularHyperslab::strided(&[start], &[stride], &[count]);
        Selection::Hyperslab(hyperslab::Hyperslab::Regular(slab))
    };
    let shown = [(6, 0, 4, 1), (2, 4, 2, 1), (8, 5, 2, 3), (3, 6, 4, 1), (17, 11, 1, 1)];
    let mapping = |&(at, from, count, stride): &(u64, u64, u64, u64)| VirtualMapping {
        file: ".".into(),
        dataset: "s".into(),
        selection: slab(at, count, stride),
        source_selection: slab(from, count, 1),
    };
    let mappings: Vec<VirtualMapping> = shown.iter().map(mapping).collect();
    let builder = file.new_dataset("v").of::<i32>().shape(&[20]).fill(-5);
    let dataset = builder.virtual_sources(&mappings).create().unwrap();
    let mut expected = vec![-5; 20];
    for (at, from, count, stride) in shown {
        for step in 0..count {
            expected[usize::try_from(at + step * stride).unwrap()] =
                numbers[usize::try_from(from + step).unwrap()];
        }
    }
    let mut found = vec![77; 20];
    dataset.read_into(.., &mut found).unwrap();
    assert_eq!(found, expected);
    for (start, length) in [(1, 18), (3, 4), (4, 10), (0, 1), (12, 6)] {
        let mut found = vec![77_i64; length];
        dataset.read_into(slab(start, length as u64, 1), &mut found).unwrap();
        let part = &expected[usize::try_from(start).unwrap()..][..length];
        assert!(
            found.iter().zip(part).all(|(found, expected)| *found == i64::from(*expected)),
            "{start} {length}"
        );
    }
}
