//! Rule for the straight lines in ARCHITECTURE.md, which name the functions of an operation from
//! the top to the bottom: each function exists.

use super::Finding;
use super::source::{File, Tree};

const PAGE: &str = "ARCHITECTURE.md";

/// The section with the straight lines, and the operations that it describes.
const SECTION: &str = "## Paths through the code";
const OPERATIONS: &[&str] = &["Read", "Write", "Sparse write", "Commit"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut counts = vec![0_usize; OPERATIONS.len()];
    let mut operation = None;
    for (number, line) in section(&page.text) {
        if let Some(title) = line.strip_prefix("### ") {
            operation = OPERATIONS.iter().position(|known| *known == title.trim());
        }
        for (path, function) in functions(line) {
            if let Some(count) = operation.and_then(|operation| counts.get_mut(operation)) {
                *count += 1;
            }
            let whole = format!("crates/{path}");
            let exists = tree.files.iter().any(|file| file.path == whole && defines(file, function));
            if !exists {
                let message = format!("{whole} has no function `{function}`");
                findings.push(Finding::new(PAGE, number, message));
            }
        }
    }
    for (name, _) in OPERATIONS.iter().zip(&counts).filter(|(_, count)| **count == 0) {
        findings.push(Finding::new(PAGE, 1, format!("`{SECTION}` names no function of `{name}`")));
    }
    findings
}

/// Returns the lines of the section, counted from 1 on the page.
fn section(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let inside = lines.skip_while(|(_, line)| !line.starts_with(SECTION)).skip(1);
    inside.take_while(|(_, line)| !line.starts_with("## "))
}

/// Returns the functions that a line names in the form `path/to/file.rs: Type::function`.
fn functions(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.split_once(": ")).filter(|(path, _)| path.ends_with(".rs"))
}

/// Returns true if the file has the function: in an `impl` or trait of the named type, or outside
/// of both if no type is named.
fn defines(file: &File, function: &str) -> bool {
    let (owner, name) = match function.split_once("::") {
        Some((owner, name)) => (Some(owner), name),
        None => (None, function),
    };
    let declaration = format!("fn {name}");
    let mut block: Option<&str> = None;
    for line in file.code.lines() {
        if line.starts_with("impl") || line.starts_with("pub trait") || line.starts_with("trait") {
            block = Some(line);
        } else if line.starts_with('}') {
            block = None;
        }
        let is_declared = line.match_indices(&declaration).any(|(at, found)| {
            let next = line.get(at + found.len()..).and_then(|rest| rest.chars().next());
            next.is_some_and(|next| next == '(' || next == '<')
        });
        if is_declared && has(block, owner) {
            return true;
        }
    }
    false
}

fn has(block: Option<&str>, owner: Option<&str>) -> bool {
    let words =
        |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word);
    match (block, owner) {
        (Some(block), Some(owner)) => words(block, owner),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "impl Dataset {\n    pub fn read<T>(&self) {}\n}\n\nfn free() {}\nimpl Sink for Writer {\n    fn write(&mut self) {}\n}\n";

    fn lines(page: &str) -> Vec<String> {
        let tree = Tree::of(&[(PAGE, page), ("crates/a/src/b.rs", CODE)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn functions_that_exist_are_found() {
        let page = "# x\n## Paths through the code\n### Read\n1. `a/src/b.rs: Dataset::read`\n### Write\n`a/src/b.rs: free`\n\
                    ### Sparse write\n1. `a/src/b.rs: Writer::write`\n### Commit\n1. `a/src/b.rs: free`\n## Rules\n";
        assert!(lines(page).is_empty(), "{:?}", lines(page));
    }

    #[test]
    fn functions_that_do_not_exist_are_said() {
        let page = "## Paths through the code\n### Read\n1. `a/src/b.rs: Dataset::rea`\n### Write\n1. `a/src/b.rs: read`\n\
                    ### Sparse write\n1. `a/src/c.rs: free`\n### Commit\n1. `a/src/b.rs: Dataset::free`\n";
        let found = lines(page);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(
            found[0].starts_with("ARCHITECTURE.md:3: crates/a/src/b.rs has no function `Dataset::rea`"),
            "{found:?}"
        );
        assert_eq!(lines("## Paths through the code\n### Read\n1. `a/src/b.rs: free`\n").len(), 3);
    }
}
