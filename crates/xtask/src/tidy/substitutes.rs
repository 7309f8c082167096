//! Substitutes for errors in shipped code: saturating arithmetic and default values hide a wrong
//! index or length.
//!
//! `CEILINGS` holds the counts of each crate. A count must equal its ceiling, so that a ceiling
//! only goes down.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use hyperslab_testkit::workspace;

use super::Finding;
use super::source::{File, Tree};

/// Crates that are not shipped.
const NOT_SHIPPED: &[&str] = &["bench", "book", "testkit", "xtask"];

/// The path of this file, for findings.
const THIS_FILE: &str = "crates/xtask/src/tidy/substitutes.rs";

/// The largest counts of each crate, by folder: calls of `saturating_*`, of
/// `try_from(…).unwrap_or*`, and of `unwrap_or_default()`. A crate without an entry has none. Lower
/// these numbers, never raise them.
const CEILINGS: &[(&str, [usize; 3])] = &[
    // Many functions of C return empty texts for missing ones.
    ("capi", [43, 1, 27]),
    ("check", [36, 2, 5]),
    ("cli", [40, 0, 0]),
    ("cloud", [4, 0, 0]),
    ("dataspace", [17, 1, 1]),
    ("datatype", [6, 2, 3]),
    ("engine", [20, 0, 9]),
    ("filter", [35, 5, 17]),
    ("format", [7, 0, 0]),
    ("hyperslab", [6, 0, 2]),
    ("python", [14, 1, 9]),
    ("serve", [2, 0, 0]),
    ("vfd", [5, 0, 3]),
];

const NAMES: [&str; 3] = ["saturating_*", "try_from(…).unwrap_or*", "unwrap_or_default()"];

type Counts = BTreeMap<String, [usize; 3]>;

/// Prints the counts of each crate.
pub(crate) fn run(_: &[String]) -> Result<()> {
    let counts = counts(&Tree::read(&workspace::root())?);
    println!("{:<12} {:>14} {:>24} {:>21}", "crate", NAMES[0], NAMES[1], NAMES[2]);
    let mut total = [0; 3];
    for (folder, [saturating, converted, default]) in &counts {
        println!("{folder:<12} {saturating:>14} {converted:>24} {default:>21}");
        for (sum, count) in total.iter_mut().zip([saturating, converted, default]) {
            *sum += count;
        }
    }
    println!("{:<12} {:>14} {:>24} {:>21}", "total", total[0], total[1], total[2]);
    Ok(())
}

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, CEILINGS)
}

fn check_with(tree: &Tree, ceilings: &[(&str, [usize; 3])]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, counts) in counts(tree) {
        let ceiling =
            ceilings.iter().find(|(name, _)| *name == folder).map_or([0; 3], |(_, maximum)| *maximum);
        for ((name, count), maximum) in NAMES.iter().zip(counts).zip(ceiling) {
            let message = match count.cmp(&maximum) {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Less => {
                    format!("`{folder}` has {count} `{name}`: lower its ceiling of {maximum}")
                }
                std::cmp::Ordering::Greater => format!(
                    "`{folder}` has {count} `{name}`, {maximum} are allowed: check the value, or return an error"
                ),
            };
            findings.push(Finding::new(THIS_FILE, 1, message));
        }
    }
    findings
}

fn counts(tree: &Tree) -> Counts {
    let tests = test_files(tree);
    let mut counts = Counts::new();
    for file in tree.rust() {
        let Some((folder, _)) = file.source_of() else { continue };
        if NOT_SHIPPED.iter().any(|crates| folder.split('/').next() == Some(crates)) {
            continue;
        }
        let sums = counts.entry(folder.to_owned()).or_default();
        if !is_test(&file.path, &tests) {
            for (sum, count) in sums.iter_mut().zip(of_code(&without_tests(&file.code).0)) {
                *sum += count;
            }
        }
    }
    counts
}

fn of_code(code: &str) -> [usize; 3] {
    let converted = code.match_indices("try_from(").filter(|(at, word)| {
        let arguments = code.get(at + word.len()..).unwrap_or_default();
        let after = closing(arguments, b'(', b')').and_then(|end| arguments.get(end..));
        after.is_some_and(|after| after.trim_start().starts_with(".unwrap_or"))
    });
    [code.matches("saturating_").count(), converted.count(), code.matches("unwrap_or_default()").count()]
}

/// Returns the offset after the bracket that closes one opened before the start of `code`.
fn closing(code: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, byte) in code.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Splits code into the shipped part, and the names of modules in files that are compiled for tests
/// only.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let mut shipped = String::new();
    let mut modules = Vec::new();
    let mut rest = code;
    while let Some((before, item)) = rest.split_once("#[cfg(test)]") {
        shipped.push_str(before);
        let end = item.find([';', '{']).unwrap_or(item.len());
        let (head, body) = item.split_at(end);
        if let Some((_, name)) = head.rsplit_once("mod ").filter(|_| body.starts_with(';')) {
            modules.push(name.trim().to_owned());
        }
        let body = body.get(1..).unwrap_or_default();
        let length = if item[end..].starts_with('{') { closing(body, b'{', b'}') } else { Some(0) };
        rest = body.get(length.unwrap_or(body.len())..).unwrap_or_default();
    }
    shipped.push_str(rest);
    (shipped, modules)
}

/// Returns the paths, without `.rs`, of modules that are compiled for tests only.
fn test_files(tree: &Tree) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for file in tree.rust() {
        let folder = folder_of_modules(file);
        paths.extend(without_tests(&file.code).1.iter().map(|name| format!("{folder}/{name}")));
    }
    paths
}

/// Returns the folder of a file's submodules.
fn folder_of_modules(file: &File) -> &str {
    let path = file.path.trim_end_matches(".rs");
    match path.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        _ => path,
    }
}

fn is_test(path: &str, tests: &BTreeSet<String>) -> bool {
    let path = path.trim_end_matches(".rs");
    let parts = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
    parts.chain([path]).any(|part| tests.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = "//! saturating_add\nfn f() { a.saturating_add(1); u8::try_from(g(x))\n .unwrap_or(2); }\n\
                           #[cfg(test)]\nmod tests;\nfn g() { b.get(..).unwrap_or_default() }\n\
                           #[cfg(test)]\nmod more { fn h() { a.saturating_sub(1); } }\nfn i() { u8::try_from(x)?.unwrap_or(1) }\n";

    #[test]
    fn code_of_tests_does_not_count() {
        let tests = "fn t() { a.saturating_mul(2); }";
        let tree = Tree::of(&[
            ("crates/a/src/b.rs", SHIPPED),
            ("crates/a/src/b/tests.rs", tests),
            ("crates/a/src/b/tests/deep.rs", tests),
            ("crates/a/tests/c.rs", tests),
            ("crates/xtask/src/d.rs", tests),
        ]);
        assert_eq!(counts(&tree).into_iter().collect::<Vec<_>>(), [("a".to_owned(), [1, 1, 1])]);
    }

    #[test]
    fn a_count_differs_from_its_ceiling_in_neither_direction() {
        let tree = Tree::of(&[("crates/a/src/b.rs", SHIPPED)]);
        assert_eq!(check_with(&tree, &[("a", [1, 1, 1])]), []);
        let lines: Vec<String> =
            check_with(&tree, &[("a", [2, 0, 1])]).iter().map(ToString::to_string).collect();
        assert!(lines[0].ends_with("`a` has 1 `saturating_*`: lower its ceiling of 2"), "{lines:?}");
        assert!(lines[1].contains("`a` has 1 `try_from(…).unwrap_or*`, 0 are allowed"), "{lines:?}");
        assert_eq!(lines.len(), 2);
    }
}
