//! `hyperslab h5diff`, run as people run `h5diff`. The output in `expected/` is refreshed with
//! `HYPERSLAB_UPDATE=1`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod deep_file;

use hyperslab::datatype::{EnumerationMember, StringPadding};
use hyperslab::{CharacterSet, Datatype, File, FileOptions, H5Type};
use hyperslab_testkit::program::{Program, Run, Scratch};
use hyperslab_testkit::{expected, fixtures};

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

    fn run(&self, arguments: &[&str]) -> Run {
        self.scratch.run([&["h5diff"], arguments].concat())
    }

    /// Returns the standard output and the exit code of a run without warnings.
    fn diff(&self, arguments: &[&str]) -> (String, i32) {
        let run = self.run(arguments).without_warnings();
        (run.out().to_owned(), run.code())
    }

    fn check(&self, name: &str, arguments: &[&str], code: i32) {
        let (printed, got) = self.diff(arguments);
        expected::check(env!("CARGO_MANIFEST_DIR"), name, &printed);
        assert_eq!(got, code, "{arguments:?}");
    }
}

fn colors(names: [&str; 2]) -> Datatype {
    let member = |(value, name): (u8, &str)| EnumerationMember { name: name.into(), value: vec![value] };
    Datatype::enumeration(u8::datatype(), (0..).zip(names).map(member).collect())
}

/// Writes elements of each class.
fn classes(file: &File, is_second: bool) {
    let either = |one: i32, other: i32| if is_second { other } else { one };
    let number = f64::from(either(3, 4));
    file.new_dataset("integers").write(&[1, either(2, -5), 3]).unwrap();
    file.new_dataset("doubles").write(&[0.1, number, f64::NAN, 1e300 * number]).unwrap();
    let grid = file.new_dataset("grid").of::<u16>().shape(&[2, 2]).create().unwrap();
    grid.write(.., &[1_u16, 2, 3, if is_second { 9 } else { 4 }]).unwrap();
    file.new_dataset("scalar").write_scalar(number).unwrap();
    file.new_dataset("texts")
        .write_strings(if is_second { &["ab", "xyz"] } else { &["abcd", "xbz"] })
        .unwrap();
    let stored = |name: &str, datatype: Datatype, bytes: &[u8]| {
        let count = u64::try_from(bytes.len()).unwrap() / u64::from(datatype.size);
        let dataset = file.new_dataset(name).datatype(datatype).shape(&[count]).create().unwrap();
        dataset.write_stored(.., bytes).unwrap();
    };
    let fixed = Datatype::fixed_string(4, StringPadding::NullPadded, CharacterSet::Ascii);
    stored("fixed", fixed, if is_second { b"ab\0\0wxyz" } else { b"ac\0\0wx\ny" });
    stored("opaque", Datatype::opaque(2, "tag"), if is_second { b"abcd" } else { b"abce" });
    stored("colors", colors(["red", "green"]), if is_second { &[0, 1, 7] } else { &[0, 0, 1] });
    let record = Datatype::packed([("x", i32::datatype()), ("c", u8::datatype())]);
    stored("records", record, &[1, 0, 0, 0, if is_second { 8 } else { 5 }]);
    let array = Datatype::array([2], u8::datatype());
    stored("arrays", array, if is_second { &[1, 2, 3, 4] } else { &[1, 9, 3, 9] });
}

#[test]
fn elements_of_each_class() {
    let pair = Pair::new(classes);
    pair.check("h5diff_classes.txt", &["-v", "a.h5", "b.h5"], 1);
    pair.check("h5diff_relative.txt", &["-r", "-p", "0.3", "a.h5", "b.h5"], 1);
    pair.check("h5diff_counts.txt", &["-n", "2", "a.h5", "b.h5"], 1);
    assert_eq!(pair.diff(&["-q", "a.h5", "b.h5"]), (String::new(), 1));
    assert_eq!(pair.diff(&["a.h5", "a.h5"]), (String::new(), 0));
    assert_eq!(pair.diff(&["-d", "5", "a.h5", "b.h5", "grid"]), (String::new(), 0));
}

/// Writes objects that differ in properties other than the elements, or that cannot be compared.
fn structure(file: &File, is_second: bool) {
    let group = file.create_group("group").unwrap();
    group.set_attribute("same", 1_i32).unwrap();
    group.set_attribute("other", if is_second { 2_i32 } else { 1 }).unwrap();
    group.set_attribute(if is_second { "second" } else { "first" }, 1_i32).unwrap();
    file.link_hard("group/loop", file.root()).unwrap();
    file.create_group("group-b").unwrap();
    if is_second {
        file.new_dataset("class").write(&[1.5_f64, 2.0]).unwrap();
        file.new_dataset("shape").write(&[1_i32, 2, 3]).unwrap();
        file.new_dataset("sign").write(&[1_u32]).unwrap();
        file.new_dataset("size").write(&[1_i64]).unwrap();
        file.new_dataset("kind").write(&[1_i64]).unwrap();
        file.commit_datatype("type", &i32::datatype()).unwrap();
    } else {
        file.new_dataset("class").write(&[1_i32, 2]).unwrap();
        file.new_dataset("shape").write(&[1_i32, 2]).unwrap();
        file.new_dataset("sign").write(&[1_i32]).unwrap();
        file.new_dataset("size").write(&[1_i32]).unwrap();
        file.create_group("kind").unwrap();
        file.new_dataset("only").write(&[1_i32]).unwrap();
        file.commit_datatype("type", &i64::datatype()).unwrap();
    }
    file.new_dataset("empty").of::<i32>().shape(&[3]).create().unwrap();
    file.link_soft("soft", if is_second { "/size" } else { "/sign" }).unwrap();
    file.link_soft("to_group", "/group").unwrap();
    file.link_soft("again", "/group").unwrap();
    file.link_soft("nowhere", if is_second { "/size" } else { "/gone" }).unwrap();
    file.link_external("external", "nowhere.h5", "/x").unwrap();
}

#[test]
fn missing_objects_are_reported() {
    let pair = Pair::new(structure);
    pair.check("h5diff_structure.txt", &["-v2", "a.h5", "b.h5"], 1);
    pair.check("h5diff_listed.txt", &["-c", "a.h5", "b.h5"], 1);
    pair.check("h5diff_followed.txt", &["-v", "--follow-symlinks", "a.h5", "b.h5"], 1);
    pair.check("h5diff_group.txt", &["-v", "-E", "/loop", "a.h5", "b.h5", "/group"], 1);
    let (printed, code) = pair.diff(&["-v", "-l", "-x", "a.h5", "b.h5", "nowhere", "nowhere"]);
    assert_eq!((printed.as_str(), code), ("Warning: </nowhere> is a dangling link.\n", 2));
    let excluded = ["--exclude-attribute", "/group/other", "a.h5", "b.h5", "group-b", "group-b"];
    assert_eq!(pair.diff(&excluded), (String::new(), 0));
}

#[test]
fn selections() {
    let pair = Pair::new(|file, is_second| {
        let values: Vec<i32> = (0..2000).map(|value| value + i32::from(is_second && value == 1234)).collect();
        let dataset = file.new_dataset("x").of::<i32>().shape(&[50, 40]).chunks(&[7, 7]).create().unwrap();
        dataset.write(.., &values).unwrap();
    });
    let row = "[ 30 34 ]          1234            1235            1              \n1 differences found\n";
    for (selection, found) in [
        ("x", true),
        ("x[30,34;;1,1]", true),
        ("x[0,0;2,2;25,20]", true),
        ("x[1,0;2,2;24,20]", false),
        ("x[0,4;10,10;5,3;2,6]", false),
        ("x[0,4;10,10;5,3;2,6]", false),
        ("x[0,4;10,20;5,2;1,11]", true),
    ] {
        let (printed, code) = pair.diff(&["-r", "a.h5", "b.h5", selection, selection]);
        assert_eq!(code, i32::from(found), "{selection}: {printed}");
        assert_eq!(printed.ends_with(row), found, "{selection}: {printed}");
    }
    let output = pair.run(&["a.h5", "b.h5", "x[0,0;1,1;60,1]"]);
    assert_eq!(output.code(), 2);
}

#[test]
fn unsupported_requests_are_reported() {
    let pair = Pair::new(classes);
    for (arguments, printed, reported, code) in [
        (
            &["nowhere.h5", "a.h5"][..],
            "h5diff: <nowhere.h5>: unable to open file\n",
            "cannot open `nowhere.h5`",
            2,
        ),
        (&["a.h5", "b.h5", "nothing"], "Object </nothing> could not be found in <a.h5>\n", "", 2),
        (
            &["-q", "-v", "a.h5", "b.h5"],
            "Error: -q (quiet mode) cannot be added to verbose or report modes\n",
            "",
            2,
        ),
        (&["-x", "a.h5", "b.h5"], "Error: --no-dangling-links must be used along with", "", 2),
        (&["-d", "1", "-p", "1", "a.h5", "b.h5"], "h5diff error: -d, -p and --use-system-epsilon", "", 1),
        (&["-n", "0", "a.h5", "b.h5"], "<-n 0> is not a valid option\nusage: h5diff", "", 1),
        (&["--nonsense", "a.h5", "b.h5"], "usage: h5diff", "unknown option `nonsense`", 1),
        (&["a.h5"], "usage: h5diff", "missing file names", 1),
        (&["--vfd-name-1", "onion", "a.h5", "b.h5"], "", "files of revisions (onion) are not supported", 2),
    ] {
        let output = pair.run(arguments);
        let got = output.out().to_owned();
        let error = output.error().to_owned();
        assert!(got.starts_with(printed), "{arguments:?}: {got}");
        assert!(
            error.contains(reported) && error.is_empty() == reported.is_empty(),
            "{arguments:?}: {error}"
        );
        assert_eq!(output.code(), code, "{arguments:?}");
    }
    let (help, code) = pair.diff(&["-h"]);
    assert!(help.starts_with("usage: h5diff [OPTIONS] file1 file2 [obj1[ obj2]]\n") && code == 0);
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
    bytes.get_mut(run + 50).into_iter().for_each(|byte| *byte ^= 0xff);
    std::fs::write(&file, bytes).unwrap();
    let output = pair.run(&["a.h5", "b.h5"]);
    assert_eq!(output.code(), 2);
    assert!(output.error().contains("dataset `"));
    assert_eq!(output.out(), "dataset: </two> and </two>\n1000 differences found\n");
}

#[test]
fn deeply_nested_groups_are_an_error_and_cycles_end() {
    let pair = Pair::new(|_, _| {});
    let compare = |tool: &str, bytes: Vec<u8>| {
        for name in ["a.h5", "b.h5"] {
            std::fs::write(pair.scratch.path(name), &bytes).unwrap();
        }
        pair.scratch.run([tool, "a.h5", "b.h5"])
    };
    for tool in ["h5diff", "diff"] {
        let output = compare(tool, deep_file::chain(5000, b"g", deep_file::End::Empty));
        assert_eq!(output.code(), 2);
        let reported = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8_lossy(&reported).contains("deeper than 1024 levels"), "{tool}");
        let output = compare(tool, deep_file::chain(2, b"g", deep_file::End::Nowhere));
        assert_eq!(output.code(), 2, "{tool}");
        let output = compare(tool, deep_file::chain(2, b"g", deep_file::End::BackToRoot));
        assert_eq!(output.code(), 0, "{tool}");
    }
}

#[test]
fn references_are_followed_and_their_targets_compared() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.h5");
    for name in ["references_earliest.h5", "references_latest.h5", "references_std_latest.h5"] {
        std::fs::copy(fixtures::path(name), &copy).unwrap();
        hyperslab().with("h5diff").with("-v").run([&fixtures::path(name), &copy]).succeeds();
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_with_the_name_of_the_tool_runs_the_tool() {
    let pair = Pair::new(classes);
    let tool = pair.scratch.path("h5diff");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_hyperslab"), &tool).unwrap();
    let output = Program::new(tool).in_folder(pair.scratch.folder()).run(["a.h5", "b.h5", "grid"]);
    assert_eq!(output.out(), "dataset: </grid> and </grid>\n1 differences found\n");
    assert_eq!(output.code(), 1);
}

#[test]
fn compounds_are_compared_despite_other_signs() {
    let pair = Pair::new(|file, is_second| {
        let number = if is_second { u32::datatype() } else { i32::datatype() };
        let record = Datatype::packed([("x", number), ("y", u8::datatype())]);
        let dataset = file.new_dataset("records").datatype(record).shape(&[1]).create().unwrap();
        dataset.write_stored(.., &[1, 0, 0, 0, if is_second { 8 } else { 5 }]).unwrap();
    });
    let (text, code) = pair.diff(&["-r", "a.h5", "b.h5"]);
    assert!(text.contains("[ 0 ]          5               8               3 "), "{text}");
    assert_eq!(code, 1);
}

#[test]
fn the_padding_of_the_larger_text_decides() {
    let pair = Pair::new(|file, is_second| {
        let (padding, size, text) = if is_second {
            (StringPadding::NullPadded, 6, b"uvwxyz".as_slice())
        } else {
            (StringPadding::NullTerminated, 5, b"abcd\0".as_slice())
        };
        let datatype = Datatype::fixed_string(size, padding, CharacterSet::Ascii);
        file.new_dataset("t")
            .datatype(datatype)
            .shape(&[1])
            .create()
            .unwrap()
            .write_stored(.., text)
            .unwrap();
    });
    let (text, _) = pair.diff(&["-r", "a.h5", "b.h5"]);
    assert!(text.contains("[ 0 ]            z            \\000\n6 differences found"), "{text}");
}
