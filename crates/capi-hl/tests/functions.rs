//! The table `functions.tsv`, the headers, the source and the shared library have the same
//! functions.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail or report a skip")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the rows of the table: name, state, note.
fn table() -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(crate_folder().join("functions.tsv")).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 3, "`{line}` has not three columns");
        (cells[0].to_owned(), cells[1].to_owned(), cells[2].to_owned())
    });
    rows.collect()
}

fn names() -> BTreeSet<String> {
    table().into_iter().map(|(name, ..)| name).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Returns the names of functions that stand before an opening bracket, after `before`.
fn calls(folder: &str, before: &str) -> BTreeSet<String> {
    let mut paths = Vec::new();
    files(&crate_folder().join(folder), &mut paths);
    let mut names = BTreeSet::new();
    for path in paths {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let Some((start, _)) = line.split_once('(') else { continue };
            let mut words = start.split_whitespace().rev();
            let name = words.next().unwrap_or_default();
            if name.starts_with("H5") && line.trim_start().starts_with(before) {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn the_table_has_the_functions_of_the_source_and_of_the_headers() {
    for (name, state, note) in table() {
        assert!(["done", "partial", "not yet"].contains(&state.as_str()), "{name}: {state}");
        assert_eq!(state == "done", note.is_empty(), "{name}: a note states what is missing, and only that");
    }
    assert_eq!(calls("src", "fn H5"), names());
    assert_eq!(calls("include", "H5HL_DLL "), names());
    assert!(names().len() > 100, "{}", names().len());
}

#[test]
fn the_library_exports_the_functions_of_the_table_and_needs_the_main_library() {
    let library = std::env::current_exe().unwrap().with_file_name("libhdf5_hl.so");
    let read = |program: &str, options: &[&str]| {
        let output = Command::new(program).args(options).arg(&library).output();
        let output = output.ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (Some(exports), Some(dynamic)) =
        (read("nm", &["-D", "--defined-only"]), read("readelf", &["--dynamic"]))
    else {
        eprintln!("skipped: no `nm`, no `readelf`, or no {}", library.display());
        return;
    };
    let exports: BTreeSet<String> =
        exports.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect();
    assert_eq!(exports, names());
    let line = |kind: &str, name: &str| {
        dynamic.lines().any(|line| line.contains(kind) && line.contains(&format!("[{name}]")))
    };
    assert!(line("(SONAME)", "libhdf5_hl.so.320") && line("(NEEDED)", "libhdf5.so.320"), "{dynamic}");
}
