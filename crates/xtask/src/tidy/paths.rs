//! A checkout works wherever it lies: no file names a place of one machine.

use super::Finding;
use super::source::Tree;

/// Beginnings of such paths, in two parts so that this file does not name them itself.
const PLACES: &[(&str, &str)] =
    &[("/ho", "me/"), ("/ro", "ot/"), ("/Us", "ers/"), ("/wo", "rk/"), ("/t", "mp/"), ("C:", "\\")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let places: Vec<String> = PLACES.iter().map(|(a, b)| [*a, *b].concat()).collect();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(place) = places.iter().find(|place| names(line, place)) {
                let message = format!("names a place of one machine (`{place}…`)");
                findings.push(Finding::new(&file.path, number + 1, message));
            }
        }
    }
    findings
}

/// Whether `place` begins a path in `line` (and is not the end of a longer path or of an address).
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !"/._-~}".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_addresses() {
        let place = ["/ho", "me/"].concat();
        assert!(names(&format!("see \"{place}me/x\""), &place));
        assert!(!names(&format!("see https://example.org{place}x"), &place));
    }
}
