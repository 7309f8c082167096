//! Rules for source text: every module has a doc comment, no code is left for later, and every
//! silenced lint has a reason.

use super::Finding;
use super::source::{File, Tree};

/// Forbidden code, and the alternative.
const REFUSED: &[(&str, &str)] = &[
    ("#[allow", "use `#[expect(lint, reason = \"…\")]`"),
    ("#![allow", "use `#![expect(lint, reason = \"…\")]`"),
    ("todo!(", "build it, or return a clear `Unsupported` error"),
    ("unimplemented!(", "build it, or return a clear `Unsupported` error"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        if file.source_of().is_some() && !file.text.starts_with("//!") {
            findings.push(Finding::new(
                &file.path,
                1,
                "the module lacks a `//!` comment at the start that describes it",
            ));
        }
        findings.extend(refused(file));
    }
    findings
}

fn refused(file: &File) -> impl Iterator<Item = Finding> {
    REFUSED.iter().flat_map(move |(subject, instead)| {
        let places = file.code.match_indices(subject);
        places
            .map(move |(at, _)| Finding::new(&file.path, file.line_of(at), format!("`{subject}`: {instead}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_found_in_code_only() {
        let text = "//! x\n#[allow(dead_code)]\nfn f() { todo!() } // todo!(\nconst S: &str = \"#[allow\";\n";
        let lines: Vec<String> =
            check(&Tree::of(&[("crates/a/src/b.rs", text)])).iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].starts_with("crates/a/src/b.rs:2: ") && lines[1].starts_with("crates/a/src/b.rs:3: ")
        );
    }

    #[test]
    fn a_module_without_a_word_is_found() {
        assert_eq!(check(&Tree::of(&[("crates/a/src/b.rs", "fn f() {}")])).len(), 1);
        assert!(check(&Tree::of(&[("crates/a/tests/b.rs", "fn f() {}")])).is_empty());
    }
}
