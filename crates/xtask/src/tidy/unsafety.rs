//! Rule 4: only the modules that UNSAFE.md lists contain `unsafe`, and every block, implementation,
//! function and attribute (`#[unsafe(no_mangle)]`) has a comment with the reason why it is sound.
//! Types of function pointers (`unsafe extern "C" fn(…)`) do not count, because they run nothing.

use super::Finding;
use super::source::{File, Tree, is_word};

/// The modules that may contain `unsafe`: files, or folders with a closing `/`.
const MODULES: &[&str] = &[
    "crates/dataspace/src/scatter/",
    "crates/python/src/dataset/buffer.rs",
    "crates/python/src/elements/memory.rs",
    "crates/python/src/elements/numpy_strings.rs",
    "crates/vfd/src/mmap.rs",
    "crates/capi/src/asynchronous.rs",
    "crates/capi/src/convert/heap.rs",
    "crates/capi/src/convert/reclaim.rs",
    "crates/capi/src/convert/user.rs",
    "crates/capi/src/driver/user.rs",
    "crates/capi/src/driver/plain.rs",
    "crates/capi/src/epush2.rs",
    "crates/capi/src/error/automatic.rs",
    "crates/capi/src/error/codes.rs",
    "crates/capi/src/export.rs",
    "crates/capi/src/filter/class.rs",
    "crates/capi/src/filter/plugin.rs",
    "crates/capi/src/h5g_links.rs",
    "crates/capi/src/h5l.rs",
    "crates/capi/src/init.rs",
    "crates/capi/src/linked.rs",
    "crates/capi/src/memory.rs",
    "crates/capi/src/older/",
    "crates/capi/src/plist/callbacks.rs",
    "crates/capi/src/plist/classes.rs",
    "crates/capi/src/pointer.rs",
    "crates/capi/src/symbols/",
    "crates/capi/tests/calls/",
    "crates/capi-hl/src/export.rs",
    "crates/capi-hl/src/pointer.rs",
    "crates/capi-hl/src/sys.rs",
    "crates/wasm/src/export.rs",
    "fuzz/targets/calls.rs",
];

/// Folders whose inline unit tests may contain `unsafe`: they call exported functions.
const TESTED: &[&str] = &["crates/capi/src/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_with(tree, MODULES, TESTED)
}

fn check_with(tree: &Tree, modules: &[&str], tested: &[&str]) -> Vec<Finding> {
    let listed = tree.files.iter().find(|file| file.path == "UNSAFE.md").map_or("", |file| &file.text);
    let missing =
        modules.iter().chain(tested).filter(|module| !listed.contains(&format!("`{module}`") as &str));
    let mut findings: Vec<Finding> = missing
        .map(|module| Finding::new("UNSAFE.md", 1, format!("the module `{module}` is missing")))
        .collect();
    for file in tree.rust() {
        let allowed = modules.iter().any(|module| file.path.starts_with(module));
        let allowed_in_tests = tested.iter().any(|folder| file.path.starts_with(folder));
        let tests_from = file.tests_from();
        for at in blocks(file) {
            let line = file.line_of(at);
            if !(allowed || allowed_in_tests && line >= tests_from) {
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

/// Returns the offsets of the keyword (not of `unsafe_code` and similar words), except in types of
/// function pointers.
fn blocks(file: &File) -> impl Iterator<Item = usize> {
    let bytes = file.code.as_bytes();
    let free = move |at: Option<usize>| !at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_word(*byte));
    let places = file.code.match_indices("unsafe").map(|(at, _)| at);
    places
        .filter(move |&at| free(at.checked_sub(1)) && free(Some(at + 6)))
        .filter(|&at| !file.code.get(at..).is_some_and(is_pointer_type))
}

/// Returns true if code begins with the type of a function pointer: `unsafe extern "C" fn(`. The
/// contents of strings are already blanked.
fn is_pointer_type(code: &str) -> bool {
    let words = code.trim_start_matches("unsafe").trim_start();
    let after_abi = words.strip_prefix("extern").and_then(|rest| {
        let rest = rest.trim_start_matches(|character: char| character == '"' || character.is_whitespace());
        rest.strip_prefix("fn")
    });
    after_abi.or_else(|| words.strip_prefix("fn")).is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// Returns true if the line, or the comment and attribute lines right above it, hold `SAFETY:` or
/// `# Safety`.
fn has_reason(file: &File, line: usize) -> bool {
    let lines: Vec<&str> = file.text.lines().take(line).collect();
    let above = |text: &&&str| ["//", "#[", "$(#["].iter().any(|start| text.trim_start().starts_with(start));
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
        let lines: Vec<usize> = check_with(&tree, &[], &[]).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [4, 5]);
    }

    #[test]
    fn inside_it_needs_a_reason_and_a_line_in_the_list() {
        let files = [("UNSAFE.md", "- `crates/a/src/b.rs`: because"), ("crates/a/src/b.rs", TEXT)];
        let found = check_with(&Tree::of(&files), &["crates/a/src/b.rs"], &[]);
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["crates/a/src/b.rs:5: `unsafe` without a `// SAFETY:` comment above it"]);
        assert_eq!(check_with(&Tree::of(&[("UNSAFE.md", "none")]), &["crates/c/"], &[]).len(), 1);
    }

    #[test]
    fn types_of_function_pointers_do_not_count() {
        let text = "//! x\ntype A = unsafe extern \"C\" fn(i32) -> i32;\nstruct B(Option<unsafe fn()>);\n\
                    unsafe extern \"C\" fn f() {}\nunsafe impl Send for B {}\n#[unsafe(no_mangle)]\nfn g() {}\n";
        let tree = Tree::of(&[("crates/a/src/b.rs", text)]);
        let lines: Vec<usize> = check_with(&tree, &[], &[]).iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [4, 5, 6]);
    }

    #[test]
    fn the_tests_of_a_folder_may_call_unsafe_functions() {
        let tests = "//! x\nfn f() { unsafe { g() } }\n#[cfg(test)]\nmod tests {\n    // SAFETY: it is\n    unsafe {}\n}\n";
        let files = [("UNSAFE.md", "`crates/a/src/`"), ("crates/a/src/b.rs", tests)];
        let found = check_with(&Tree::of(&files), &[], &["crates/a/src/"]);
        let lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [2]);
    }
}
