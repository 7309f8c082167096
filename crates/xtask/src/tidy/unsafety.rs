//! Rule 4: only the modules that UNSAFE.md lists contain `unsafe`, and every block has a comment
//! with the reason why it is sound.

use super::Finding;
use super::source::{File, Tree, is_word};

/// The modules that may contain `unsafe`: files, or folders with a closing `/`.
const MODULES: &[&str] = &["crates/dataspace/src/scatter/", "crates/vfd/src/mmap.rs"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, MODULES)
}

fn check_with(tree: &Tree, modules: &[&str]) -> Vec<Finding> {
    let listed = tree.files.iter().find(|file| file.path == "UNSAFE.md").map_or("", |file| &file.text);
    let missing = modules.iter().filter(|module| !listed.contains(**module));
    let mut findings: Vec<Finding> = missing
        .map(|module| Finding::new("UNSAFE.md", 1, format!("the module `{module}` is missing")))
        .collect();
    for file in tree.rust() {
        let allowed = modules.iter().any(|module| file.path.starts_with(module));
        for at in blocks(file) {
            let line = file.line_of(at);
            if !allowed {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    "`unsafe` outside the modules that UNSAFE.md lists",
                ));
            } else if !has_reason(file, line) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    "`unsafe` without a `// SAFETY:` comment above it",
                ));
            }
        }
    }
    findings
}

/// Returns the offsets of the keyword (not of `unsafe_code` and similar words).
fn blocks(file: &File) -> impl Iterator<Item = usize> {
    let bytes = file.code.as_bytes();
    let free = move |at: Option<usize>| !at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_word(*byte));
    let places = file.code.match_indices("unsafe").map(|(at, _)| at);
    places.filter(move |&at| free(at.checked_sub(1)) && free(Some(at + 6)))
}

/// Returns true if the line, or the comment and attribute lines right above it, hold `SAFETY:` or
/// `# Safety`.
fn has_reason(file: &File, line: usize) -> bool {
    let lines: Vec<&str> = file.text.lines().take(line).collect();
    let above = |text: &&&str| text.trim_start().starts_with("//") || text.trim_start().starts_with("#[");
    let says = |text: &str| text.contains("SAFETY:") || text.contains("# Safety");
    lines.last().is_some_and(|text| says(text))
        || lines.iter().rev().skip(1).take_while(above).any(|text| says(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "//! x\n#![deny(unsafe_code)]\n// SAFETY: it is\nunsafe { f() }\nfn g() { unsafe { h() } }\n";

    #[test]
    fn outside_of_listed_modules_it_is_refused() {
        let tree = Tree::of(&[("crates/a/src/b.rs", TEXT)]);
        let lines: Vec<usize> = check_with(&tree, &[]).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [4, 5]);
    }

    #[test]
    fn inside_it_needs_a_reason_and_a_line_in_the_list() {
        let files = [("UNSAFE.md", "- `crates/a/src/b.rs`: because"), ("crates/a/src/b.rs", TEXT)];
        let lines: Vec<String> =
            check_with(&Tree::of(&files), &["crates/a/src/b.rs"]).iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["crates/a/src/b.rs:5: `unsafe` without a `// SAFETY:` comment above it"]);
        assert_eq!(check_with(&Tree::of(&[("UNSAFE.md", "none")]), &["crates/c/"]).len(), 1);
    }
}
