//! Rule for paths: no file names a folder of one machine, so that a checkout works anywhere.

use super::Finding;
use super::source::Tree;

/// Beginnings of paths to folders of one machine. Each is in two parts, so that this file does not
/// contain it.
const PREFIXES: &[(&str, &str)] =
    &[("/ho", "me/"), ("/ro", "ot/"), ("/Us", "ers/"), ("/wo", "rk/"), ("/t", "mp/"), ("C:", "\\")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let prefixes: Vec<String> = PREFIXES.iter().map(|(a, b)| [*a, *b].concat()).collect();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(prefix) = prefixes.iter().find(|prefix| names(line, prefix)) {
                let message = format!("the path `{prefix}…` exists on one machine only");
                findings.push(Finding::new(&file.path, number + 1, message));
            }
        }
    }
    findings
}

/// Returns true if `prefix` begins a path in `line`, and is not the end of a longer path or of an
/// address.
fn names(line: &str, prefix: &str) -> bool {
    line.match_indices(prefix).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !"/._-~}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_addresses() {
        let prefix = ["/ho", "me/"].concat();
        assert!(names(&format!("see \"{prefix}me/x\""), &prefix));
        assert!(!names(&format!("see https://example.org{prefix}x"), &prefix));
    }
}
