//! `hyperslab diff`, run as people run it. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test a panic is the report")]

use hyperslab::{Dataset, File, FileOptions, H5Type, Points, Region};
use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::{expected, fixtures};
use serde_json::{Value, json};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
}

/// A folder with two files.
struct Pair {
    scratch: Scratch,
}

impl Pair {
    /// Writes two files. `fill` receives each file and its number.
    fn new(fill: impl Fn(&File, bool)) -> Self {
        let scratch = Scratch::new(hyperslab());
        for (name, is_second) in [("a.h5", false), ("b.h5", true)] {
            let file = FileOptions::new().create(scratch.path(name)).unwrap();
            fill(&file, is_second);
            file.close().unwrap();
        }
        Self { scratch }
    }

    fn run(&self, line: &str) -> Run {
        self.scratch.run(std::iter::once("diff").chain(line.split(' ')))
    }

    /// Returns the standard output and the exit code of a run without warnings.
    fn diff(&self, line: &str) -> (String, i32) {
        let run = self.run(line).without_warnings();
        (run.out().to_owned(), run.code())
    }

    fn document(&self, line: &str) -> Value {
        serde_json::from_str(&self.diff(&format!("--json {line}")).0).unwrap()
    }
}

/// Writes one element.
fn put<T: H5Type>(dataset: &Dataset, at: [u64; 2], value: T) {
    dataset.write(Region::new(&at, &[1, 1]).unwrap(), &[value]).unwrap();
}

fn path(name: &str) -> String {
    fixtures::path(name).display().to_string()
}

#[test]
fn files_are_the_same_as_themselves() {
    let pair = Pair::new(|_, _| {});
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures::path("")).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "h5") {
            // A copy, so that the command must compare the contents.
            let copy = pair.scratch.path("copy.h5");
            std::fs::copy(&file, &copy).unwrap();
            let (printed, code) = pair.diff(&format!("--storage {} copy.h5", file.display()));
            assert_eq!((printed.as_str(), code), ("", 0), "{}", file.display());
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Writes objects of many kinds.
fn variety(file: &File, is_second: bool) {
    let other = f64::from(u8::from(is_second));
    let group = file.create_group("run").unwrap();
    group.set_attribute("version", if is_second { "2.1" } else { "2.0" }).unwrap();
    group.set_attribute(if is_second { "finished" } else { "draft" }, 1_i32).unwrap();
    let mut values: Vec<f64> = (0..1000_i32).map(f64::from).collect();
    values[10] += other;
    values[700] += other * 0.5;
    values[701] = if is_second { f64::NAN } else { 1.0 };
    values[900] = f64::NAN;
    file.new_dataset("run/signal").of::<f64>().shape(&[1000]).chunks(&[100]).write(&values).unwrap();
    let counts: Vec<i32> = if is_second { vec![1, 2, 3, 4] } else { vec![1, 2, 3] };
    file.new_dataset("run/counts").write(&counts).unwrap();
    let names = if is_second { ["x", "y"] } else { ["x", "z"] };
    file.new_dataset("run/names").write_strings(&names).unwrap();
    if is_second {
        file.new_dataset("run/kind").write(&[1_i64, 2]).unwrap();
        file.create_group("new").unwrap();
    } else {
        file.new_dataset("run/kind").write(&[1_i32, 2]).unwrap();
        file.new_dataset("old").write(&[1_u8]).unwrap();
    }
    file.link_soft("latest", if is_second { "/run/counts" } else { "/run/signal" }).unwrap();
    file.link_hard("again", &file.object("run/names").unwrap()).unwrap();
}

fn check(pair: &Pair, name: &str, line: &str) {
    let (printed, code) = pair.diff(line);
    assert_eq!(code, 1, "{line}");
    expected::check(env!("CARGO_MANIFEST_DIR"), name, &printed);
}

#[test]
fn differences_are_reported() {
    let pair = Pair::new(variety);
    check(&pair, "diff.txt", "a.h5 b.h5");
    check(&pair, "diff_back.txt", "--places 1 --exclude /run/signal --exclude /run@draft b.h5 a.h5");
    check(&pair, "diff_objects.txt", "a.h5 b.h5 /run/signal /run/counts");
    check(&pair, "diff.json", "--json a.h5 b.h5");
    assert_eq!(pair.diff("-q a.h5 b.h5"), (String::new(), 1));
    assert_eq!(pair.diff("-q a.h5 b.h5 /again"), (String::new(), 1));
    assert_eq!(pair.diff("a.h5 a.h5"), (String::new(), 0));
}

#[test]
fn one_element_in_a_million() {
    let pair = Pair::new(|file, is_second| {
        let dataset =
            file.new_dataset("x").of::<i32>().shape(&[1000, 1000]).chunks(&[64, 64]).create().unwrap();
        dataset.write(.., &vec![7_i32; 1_000_000]).unwrap();
        if is_second {
            put(&dataset, [517, 3], 9_i32);
        }
    });
    let tally = pair.document("a.h5 b.h5")["differences"][0]["elements"].clone();
    assert_eq!((&tally["differing"], &tally["count"]), (&json!(1), &json!(1_000_000)));
    assert_eq!(tally["places"], json!([{"at": [517, 3], "a": 7, "b": 9}]));
    assert_eq!(tally["largest"], json!({"value": 2.0, "at": [517, 3]}));
    for (tolerance, code) in
        [("--absolute 2", 0), ("--absolute 1.9", 1), ("--relative 0.3", 0), ("--relative 0.2", 1)]
    {
        assert_eq!(pair.diff(&format!("-q {tolerance} a.h5 b.h5")).1, code, "{tolerance}");
    }
}

#[test]
fn nan_elements_are_compared() {
    let pair = Pair::new(|file, is_second| {
        let values = if is_second { [f64::NAN, 0.0, 1.0] } else { [f64::NAN, -0.0, f64::NAN] };
        file.new_dataset("x").write(&values).unwrap();
    });
    let places = |line: &str| pair.document(line)["differences"][0]["elements"]["places"].clone();
    assert_eq!(places("a.h5 b.h5"), json!([{"at": [2], "a": "nan", "b": 1.0}]));
    assert_eq!(places("--nan-equal false a.h5 b.h5").as_array().unwrap().len(), 2);
    assert_eq!(pair.diff("-q --nan-equal false a.h5 a.h5").1, 1);
    assert_eq!(pair.diff("-q --absolute 10 a.h5 b.h5").1, 1);
}

#[test]
fn vast_datasets_with_few_stored_chunks_are_compared() {
    let million = 1_000_000_u64;
    let pair = Pair::new(|file, is_second| {
        let chunked =
            |name: &str| file.new_dataset(name).of::<f64>().shape(&[million, million]).chunks(&[100, 100]);
        chunked("empty").create().unwrap();
        let some = chunked("some").create().unwrap();
        put(&some, [million / 2, 5], if is_second { 1.0 } else { 2.0 });
        if is_second {
            put(&some, [7, 999_999], 0.0);
        }
        let sparse = file.new_dataset("sparse").of::<f32>().shape(&[million, million]).sparse(&[1000, 1000]);
        let points = if is_second { vec![5, 5, 77, 123_456] } else { vec![5, 5, 999_999, 0] };
        sparse
            .create()
            .unwrap()
            .sparse()
            .write(&Points { rank: 2, coordinates: points }, &[1.0, 0.0])
            .unwrap();
    });
    let document = pair.document("--storage a.h5 b.h5");
    assert_eq!(document["counts"]["changed"], json!(2));
    let [some, sparse] = [0, 1].map(|index| document["differences"][index].clone());
    assert_eq!(some["path"], json!("/some"));
    assert_eq!(some["elements"]["count"], json!(million * million));
    assert_eq!(some["elements"]["places"], json!([{"at": [500_000, 5], "a": 2.0, "b": 1.0}]));
    // The elements are equal, but the sets of defined elements differ.
    assert_eq!(
        sparse,
        json!({"path": "/sparse", "change": "changed", "defined": {"only_a": 1, "only_b": 1}})
    );
    assert_eq!(pair.document("a.h5 b.h5")["counts"]["changed"], json!(1));
}

#[test]
fn how_elements_are_stored() {
    let pair = Pair::new(|file, is_second| {
        let dataset = file.new_dataset("x").of::<i16>().shape(&[100]).fill(i16::from(is_second));
        let dataset = if is_second { dataset.chunks(&[10]).deflate(6) } else { dataset };
        dataset.write(&[5_i16; 100]).unwrap();
    });
    assert_eq!(pair.diff("a.h5 b.h5"), (String::new(), 0));
    let change = pair.document("--storage a.h5 b.h5")["differences"][0].clone();
    assert_eq!(change["layout"], json!({"a": "contiguous", "b": "chunks of 10"}));
    assert_eq!(change["filters"], json!({"a": "none", "b": "deflate(6)"}));
    assert_eq!(change["fill_value"], json!({"a": "0", "b": "1"}));
}

#[test]
fn other_fill_values_are_other_elements() {
    let pair = Pair::new(|file, is_second| {
        let fill = if is_second { 1.5_f32 } else { 0.0 };
        file.new_dataset("x").of::<f32>().shape(&[40, 10]).chunks(&[8, 8]).fill(fill).create().unwrap();
    });
    let tally = pair.document("a.h5 b.h5")["differences"][0]["elements"].clone();
    assert_eq!((&tally["differing"], &tally["count"]), (&json!(400), &json!(400)));
}

#[test]
fn damage_is_reported_and_the_remaining_objects_are_compared() {
    let pair = Pair::new(|file, is_second| {
        for name in ["one", "two"] {
            let dataset = file.new_dataset(name).of::<u8>().shape(&[1000]).chunks(&[1000]).fletcher32();
            dataset.write(&[if is_second { 8_u8 } else { 7 }; 1000]).unwrap();
        }
    });
    let file = pair.scratch.path("a.h5");
    let mut bytes = std::fs::read(&file).unwrap();
    let run = bytes.windows(100).position(|window| window == [7; 100]).unwrap();
    bytes[run + 50] ^= 0xff;
    std::fs::write(&file, bytes).unwrap();
    let (printed, code) = pair.diff("a.h5 b.h5");
    assert_eq!(code, 2, "{printed}");
    assert!(printed.contains("! /one") && printed.contains("≠ /two"), "{printed}");
    assert!(printed.ends_with("1 changed, 1 not read, 1 the same\n"), "{printed}");
    assert_eq!(pair.run("-q a.h5 b.h5").code(), 2);
}

#[test]
fn unsupported_requests_are_reported() {
    let pair = Pair::new(|_, _| {});
    std::fs::write(pair.scratch.path("text"), "no file at all").unwrap();
    for (line, reported) in [
        ("nowhere.h5 a.h5", "cannot open `nowhere.h5`"),
        ("a.h5 text", "cannot open `text`"),
        ("a.h5 b.h5 /nothing", "nothing"),
        ("--absolute=-1 a.h5 b.h5", "not negative"),
        ("a.h5", "<B>"),
    ] {
        let output = pair.run(line);
        assert_eq!(output.code(), 2, "{line}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{line}: {error}");
    }
}

#[test]
fn references_are_compared_by_the_paths_of_their_targets() {
    // The objects are written in another order, so that the addresses differ.
    let pair = Pair::new(|_, _| {});
    let reference = path("references_earliest.h5");
    assert_eq!(pair.diff(&format!("{reference} {reference}")), (String::new(), 0));
    let (repacked, code) = (pair.scratch.path("again.h5"), 0);
    hyperslab().run(["repack", &reference, repacked.to_str().unwrap()]).succeeds();
    assert_eq!(pair.diff(&format!("{reference} again.h5")), (String::new(), code));
}
