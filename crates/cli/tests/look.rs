//! Commands for a first look: a file name alone, `info`, `tail`, `attr get` and `list`, attributes in
//! `cat`, the corner in `head`, several files in `ls`, and errors that name files and formats.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use hyperslab::{File, FileOptions};
use hyperslab_testkit::program::{Program, Run};
use serde_json::Value;
use tempfile::TempDir;

/// Creates a folder with the files `a.h5` and `b.h5`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = FileOptions::new().create(folder.path().join("a.h5")).unwrap();
    let cube = file.new_dataset("run/cube").of::<u16>().shape(&[3, 20, 30]).create().unwrap();
    cube.write(.., &(0..1800).collect::<Vec<u16>>()).unwrap();
    cube.set_attribute("units", "K").unwrap();
    cube.set_attribute("range", [1_i32, 2, 3].as_slice()).unwrap();
    file.new_dataset("run/list").write(&[1_u8, 2, 3, 4]).unwrap();
    file.set_attribute("title", "first").unwrap();
    file.close().unwrap();
    File::create(folder.path().join("b.h5")).unwrap().close().unwrap();
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Run {
    let program = Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_folder(folder.path());
    program.without_colour_variables().run(arguments)
}

fn printed(folder: &TempDir, arguments: &[&str]) -> String {
    run(folder, arguments).printed()
}

#[test]
fn a_file_alone_is_drawn() {
    let folder = folder();
    let tree = printed(&folder, &["a.h5"]);
    assert_eq!(tree, printed(&folder, &["tree", "a.h5"]));
    assert!(tree.contains("cube"), "{tree}");
    let error = run(&folder, &["missing.h5"]);
    assert_ne!(error.code(), 0);
    assert!(error.error().contains("cannot open `missing.h5`"), "{}", error.error());
}

#[test]
fn the_help_has_groups() {
    let help = printed(&folder(), &["--help"]);
    for part in ["\nLook:\n  tree ", "\nMeasure:\n", "\nTools of the C library:\n", "--version"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn properties_of_files_and_objects() {
    let folder = folder();
    let file = printed(&folder, &["info", "a.h5"]);
    assert!(file.contains("driver            sec2") && file.contains("1 member"), "{file}");
    let object = printed(&folder, &["info", "a.h5", "run/cube"]);
    assert!(object.contains("shape             3 × 20 × 30"), "{object}");
    let document: Value =
        serde_json::from_str(&printed(&folder, &["info", "--json", "a.h5", "run/cube"])).unwrap();
    assert_eq!(document["shape"], serde_json::json!([3, 20, 30]));
    assert_eq!(document["attributes"], 2);
}

#[test]
fn heads_are_corners_and_tails_are_rows() {
    let folder = folder();
    let head = printed(&folder, &["head", "a.h5", "run/cube"]);
    assert_eq!(head.lines().count(), 11, "{head}");
    assert!(head.ends_with("… [0, :10, :10] of 3 × 20 × 30\n"), "{head}");
    assert!(head.starts_with("[[  0   1 "), "{head}");
    assert_eq!(printed(&folder, &["head", "a.h5", "run/list"]), "[1 2 3 4]\n");
    assert_eq!(printed(&folder, &["head", "-n", "2", "a.h5", "run/list"]), "[1 2]\n… [:2] of 4\n");
    assert_eq!(printed(&folder, &["tail", "-n", "2", "a.h5", "run/list"]), "[3 4]\n");
    assert_eq!(printed(&folder, &["tail", "-n", "2", "-f", "csv", "a.h5", "run/list"]), "3\n4\n");
}

#[test]
fn attributes_are_printed() {
    let folder = folder();
    assert_eq!(printed(&folder, &["cat", "a.h5", "run/cube@range"]), "[1 2 3]\n");
    assert_eq!(printed(&folder, &["attr", "get", "a.h5", "run/cube", "range"]), "[1 2 3]\n");
    let json = printed(&folder, &["cat", "--json", "a.h5", "/@title"]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["data"], "first");
    let list = printed(&folder, &["attr", "list", "a.h5", "run/cube"]);
    assert!(list.contains("units") && list.contains("\"K\"") && list.contains("[1, 2, 3]"), "{list}");
    let list: Value =
        serde_json::from_str(&printed(&folder, &["attr", "list", "--json", "a.h5", "run/cube"])).unwrap();
    assert_eq!(list, serde_json::json!({"units": "K", "range": [1, 2, 3]}));
    let missing = run(&folder, &["cat", "a.h5", "run/cube@missing"]);
    assert!(missing.error().contains("missing"), "{}", missing.error());
    let selected = run(&folder, &["cat", "a.h5", "run/cube@range", "-s", "0"]);
    assert!(selected.error().contains("printed whole"), "{}", selected.error());
}

#[test]
fn several_files_are_listed() {
    let folder = folder();
    let both = printed(&folder, &["ls", "a.h5", "run", "b.h5"]);
    assert!(both.contains("/run/") && both.contains("cube") && both.contains("\n\nb.h5"), "{both}");
    let all = printed(&folder, &["ls", "a.h5", "b.h5"]);
    assert!(all.starts_with("a.h5") && all.contains("b.h5"), "{all}");
}

#[test]
fn other_formats_are_named() {
    let folder = folder();
    for (name, bytes, text) in [
        ("a.csv", &b"x,y\n1,2\n"[..], "text with fields between commas (csv); `hyperslab import`"),
        ("a.nc", b"CDF\x01\0\0\0\0\0\0\0\0", "a netCDF classic file"),
        ("a.gz", b"\x1f\x8b\x08\0\0\0\0\0", "a gzip file"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a PNG image"),
        ("empty.h5", b"", "an empty file"),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let run = run(&folder, &["ls", name]);
        let error = run.error();
        assert!(error.contains("not an HDF5 file, but") && error.contains(text), "{name}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_names_the_file() {
    let folder = folder();
    let full = run(&folder, &["cat", "a.h5", "run/cube", "-o", "/dev/full", "-f", "csv"]);
    assert_eq!(full.code(), 1);
    assert!(full.error().contains("cannot write `/dev/full`"), "{}", full.error());
}
