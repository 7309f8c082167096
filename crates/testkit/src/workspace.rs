//! The folder of the checkout, and the report of skipped tests.

use std::path::{Path, PathBuf};

/// Returns the root folder of the checkout that this crate was built from.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Prints to stderr that the tests `subject` are skipped, with the reason `why`.
#[expect(clippy::print_stderr, reason = "a test cannot report in another way that it did not run")]
pub fn skip(subject: &str, why: &str) {
    eprintln!("skipped: {subject}: {why}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }
}
