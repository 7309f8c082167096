//! Rule 9: files of at most 500 lines before their tests. (Functions are clippy's `too_many_lines`.)

use super::Finding;
use super::source::Tree;

const MOST: usize = 500;

/// Files that may be longer, and how long. Keep it empty; shorten, do not raise.
const EXCEPTIONS: &[(&str, usize)] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        if file.path.contains("/tests/") {
            continue; // nothing but tests
        }
        let lines = file.tests_from() - 1;
        let most = EXCEPTIONS.iter().find(|(path, _)| *path == file.path).map_or(MOST, |(_, most)| *most);
        if lines > most {
            let message = format!("{lines} lines before the tests, at most {most}: make two rooms of it");
            findings.push(Finding::new(&file.path, most + 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count() {
        let short = format!("//! x\n{}#[cfg(test)]\n{}", "\n".repeat(499), "\n".repeat(300));
        let long = format!("//! x\n{}", "\n".repeat(500));
        let tree = Tree::of(&[("crates/a/src/short.rs", &short), ("crates/a/src/long.rs", &long)]);
        let lines: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["crates/a/src/long.rs:501: 501 lines before the tests, at most 500: make two rooms of it"]
        );
    }
}
