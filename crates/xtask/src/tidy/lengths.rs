//! Rule 9: files of at most 500 lines before their tests. (The lint `too_many_lines` of clippy
//! limits the length of functions.)

use super::Finding;
use super::source::Tree;

/// The largest number of lines before the tests of a file.
const MAX_LINES: usize = 500;

/// Files that may be longer. A file that no longer needs its entry is a finding.
const EXCEPTIONS: &[&str] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = Vec::new();
    // A folder `tests` contains only tests.
    for file in tree.rust().filter(|file| !file.path.contains("/tests/")) {
        let lines = file.tests_from() - 1;
        if lines <= MAX_LINES {
            continue;
        }
        needed.push(file.path.as_str());
        if !exceptions.contains(&file.path.as_str()) {
            let message =
                format!("{lines} lines before the tests, expected at most {MAX_LINES}: split the file");
            findings.push(Finding::new(&file.path, MAX_LINES + 1, message));
        }
    }
    for exception in exceptions.iter().filter(|exception| !needed.contains(exception)) {
        let message = "the file needs no exception: remove its entry from `tidy/lengths.rs`";
        findings.push(Finding::new(exception, 1, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)], exceptions: &[&str]) -> Vec<String> {
        check_with(&Tree::of(files), exceptions).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tests_do_not_count() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(300));
        let short = format!("//! x\n{}{tests}", "\n".repeat(499));
        let long = format!("//! x\n{}{tests}", "\n".repeat(500));
        assert_eq!(
            lines(&[("crates/a/src/short.rs", &short), ("crates/a/src/long.rs", &long)], &[]),
            ["crates/a/src/long.rs:501: 501 lines before the tests, expected at most 500: split the file"]
        );
    }

    #[test]
    fn a_declaration_of_tests_exempts_nothing() {
        let long = format!("//! x\n\n#[cfg(test)]\nmod tests;\n{}", "fn f() {}\n".repeat(497));
        assert_eq!(
            lines(&[("crates/a/src/b/mod.rs", &long)], &[]),
            ["crates/a/src/b/mod.rs:501: 501 lines before the tests, expected at most 500: split the file"]
        );
    }

    #[test]
    fn an_exception_must_be_needed() {
        let long = format!("//! x\n{}", "\n".repeat(500));
        let exceptions = ["crates/a/src/long.rs", "crates/a/src/short.rs", "crates/a/src/gone.rs"];
        let files = [("crates/a/src/long.rs", long.as_str()), ("crates/a/src/short.rs", "//! x\n")];
        let found = lines(&files, &exceptions);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/short.rs:1: the file needs no exception"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/gone.rs:1: the file needs no exception"), "{found:?}");
    }
}
