//! The table `functions.tsv` has one row for each exported function, and the library exports each.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may fail or report a skip")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the folder of the suites; the default is beside the checkout.
const SUITES_VARIABLE: &str = "HYPERSLAB_CAPI_SUITES";

/// Macros that define functions by their names alone. The names are the words at the start of the
/// rows, or all words of a name's form.
const LISTS: &[&str] = &["not_yet!", "initializers!", "transfers!", "values!"];

fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the state and the note of each function.
fn table() -> BTreeMap<String, (String, String)> {
    let text = std::fs::read_to_string(crate_folder().join("functions.tsv")).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let [name, state, note] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("`{line}` has not three columns");
        };
        let before = rows.insert(name.to_owned(), (state.to_owned(), note.to_owned()));
        assert!(before.is_none(), "{name} has two rows");
    }
    rows
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(OLDER) {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The folder of the interface of HDF5 1.10, whose names are in `abi-103.tsv`.
const OLDER: &str = "older";

/// Returns the source of a file before its unit tests, without comments.
fn source(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let shipped = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    let lines = shipped.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the names of functions in a text: words that begin with `H5` and a capital letter.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .filter(|word| word.starts_with("H5") && !word.ends_with("_t"))
}

/// Returns the text of the first use of a macro, up to the bracket at the start of a line.
fn invocation<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("\n{name} {{\n"))?;
    text.get(start..)?.split("\n}").next()
}

/// Returns the functions that the source exports, and those that only fail.
fn exported() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut all, mut failing) = (BTreeSet::new(), BTreeSet::new());
    let mut paths = Vec::new();
    files(&crate_folder().join("src"), &mut paths);
    for path in paths {
        let text = source(&path);
        for line in text.lines().map(str::trim_start) {
            let declared =
                line.strip_prefix("fn ").or_else(|| line.strip_prefix("pub unsafe extern \"C\" fn "));
            let first = declared.unwrap_or(line).split([' ', '(']).next().unwrap_or_default();
            let is_forwarded = first.ends_with("_async") && line.contains(" H5") && line.contains('(');
            if first.starts_with("H5") && (declared.is_some() || is_forwarded) {
                all.insert(first.to_owned());
            }
        }
        for list in LISTS {
            let found = invocation(&text, list).unwrap_or_default();
            all.extend(names(found).map(str::to_owned));
            if *list == "not_yet!" {
                failing.extend(names(found).map(str::to_owned));
            }
        }
    }
    (all, failing)
}

#[test]
fn the_table_has_the_functions_of_the_source() {
    let (table, (exported, failing)) = (table(), exported());
    let rows: BTreeSet<String> = table.keys().cloned().collect();
    let missing: Vec<_> = exported.difference(&rows).collect();
    let gone: Vec<_> = rows.difference(&exported).collect();
    assert!(missing.is_empty() && gone.is_empty(), "without a row: {missing:?}; only in the table: {gone:?}");
    for (name, (state, note)) in &table {
        assert!(["done", "partial", "not yet"].contains(&state.as_str()), "{name}: {state}");
        assert_eq!(state == "done", note.is_empty(), "{name}: a note states what is missing, and only that");
    }
    for name in failing {
        assert_eq!(table[&name].0, "not yet", "{name} only fails");
    }
}

#[test]
fn the_table_has_the_public_functions_of_hdf5() {
    let beside = crate_folder().join("../../../shared/capi/suites");
    let folder = std::env::var_os(SUITES_VARIABLE).map_or(beside, PathBuf::from);
    let Ok(list) = std::fs::read_to_string(folder.join("abi/exports.tsv")) else {
        eprintln!("skipped: the public functions of HDF5: no folder of suites");
        return;
    };
    let table = table();
    let functions = list.lines().filter_map(|line| line.strip_prefix("F\t")?.split('\t').next());
    let missing: Vec<_> = functions.filter(|name| !table.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_library_exports_the_functions_of_the_table() {
    // Cargo builds the library beside the programs of the tests.
    let library = std::env::current_exe().unwrap().with_file_name("libhdf5.so");
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(&library).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        eprintln!("skipped: the exports of the library: no `nm`, or no {}", library.display());
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let exports: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let table = table();
    let missing: Vec<_> = table.keys().filter(|name| !exports.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
