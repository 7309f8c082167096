//! Rules for modules: a module with submodules is `NAME/mod.rs`, and the submodules of the command
//! form no cycle.

use super::Finding;
use super::source::Tree;
use crate::submodules::graph::{self, Modules};

/// Modules that may still be `NAME.rs` beside a folder `NAME`. An entry that is no longer needed is
/// a finding.
const EXCEPTIONS: &[&str] = &[];

/// The crate whose submodules must form no cycle. (The order of the submodules of `engine` is
/// stricter; see `order.rs`.)
const WITHOUT_CYCLES: &str = "cli";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = style(tree, EXCEPTIONS);
    findings.extend(cycles(tree));
    findings
}

/// Finds modules `NAME.rs` beside a folder `NAME` with Rust files.
fn style(tree: &Tree, exceptions: &[&str]) -> Vec<Finding> {
    let with_folder = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches(".rs"));
        tree.rust().any(|file| file.path.starts_with(&folder))
    };
    let is_module = |path: &str| path.contains("/src/") && with_folder(path);
    let found: Vec<&str> =
        tree.rust().map(|file| file.path.as_str()).filter(|path| is_module(path)).collect();
    let wrong = found.iter().filter(|path| !exceptions.contains(path)).map(|path| {
        let message = format!("a module with submodules is `{}/mod.rs`", path.trim_end_matches(".rs"));
        Finding::new(path, 1, message)
    });
    let unneeded = exceptions.iter().filter(|path| !found.contains(path)).map(|path| {
        Finding::new(
            path,
            1,
            "needs no exception from the style of modules; remove it from `tidy/modules.rs`",
        )
    });
    wrong.chain(unneeded).collect()
}

/// Finds the arrows of cycles between submodules.
fn cycles(tree: &Tree) -> Vec<Finding> {
    let arrows = graph::arrows(&Modules::read(tree, WITHOUT_CYCLES).uses(), &[]);
    let mut findings = Vec::new();
    for group in graph::cycles(&arrows) {
        for arrow in arrows.iter().filter(|arrow| group.contains(&arrow.from) && group.contains(&arrow.to)) {
            let message =
                format!("`{0}` uses `{1}`, which uses `{0}`: submodules form no cycle", arrow.from, arrow.to);
            findings
                .extend(arrow.places.iter().map(|(file, line)| Finding::new(file, *line, message.clone())));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_submodules_is_mod_rs() {
        let tree = Tree::of(&[
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/b/c.rs", ""),
            ("crates/a/src/d/mod.rs", ""),
            ("crates/a/src/d/e.rs", ""),
            ("crates/a/src/f.rs", ""),
            ("crates/a/src/f/table.txt", ""),
            ("crates/a/tests/cases.rs", ""),
            ("crates/a/tests/cases/one.rs", ""),
        ]);
        let lines = |exceptions: &[&str]| -> Vec<String> {
            style(&tree, exceptions).iter().map(ToString::to_string).collect()
        };
        assert_eq!(lines(&[]), ["crates/a/src/b.rs:1: a module with submodules is `crates/a/src/b/mod.rs`"]);
        assert_eq!(lines(&["crates/a/src/b.rs"]), [""; 0]);
        assert_eq!(lines(&["crates/a/src/b.rs", "crates/a/src/f.rs"]).len(), 1);
    }

    #[test]
    fn cycles_between_rooms_are_found() {
        let tree = Tree::of(&[
            ("crates/cli/src/main.rs", "mod a; use crate::a;"),
            ("crates/cli/src/a/mod.rs", "use crate::b::{x, y};\nuse crate::d;"),
            ("crates/cli/src/a/inner.rs", "use super::x; use crate::a::x;"),
            ("crates/cli/src/b.rs", "\nfn f() { crate::c::g() }"),
            ("crates/cli/src/c/mod.rs", ""),
            ("crates/cli/src/c/deep.rs", "use super::super::a;"),
            ("crates/cli/src/d.rs", "// use crate::a;"),
            ("crates/other/src/x.rs", "use crate::y;"),
            ("crates/other/src/y.rs", "use crate::x;"),
        ]);
        let lines: Vec<String> = cycles(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "crates/cli/src/a/mod.rs:1: `a` uses `b`, which uses `a`: submodules form no cycle",
                "crates/cli/src/a/inner.rs:1: `a` uses `b`, which uses `a`: submodules form no cycle",
                "crates/cli/src/b.rs:2: `b` uses `c`, which uses `b`: submodules form no cycle",
                "crates/cli/src/c/deep.rs:1: `c` uses `a`, which uses `c`: submodules form no cycle",
            ]
        );
    }
}
