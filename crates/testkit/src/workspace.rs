//! Where the checkout is, and how a test says that it is skipped.

use std::path::{Path, PathBuf};

/// The root folder of the checkout that this crate was built from.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Says on stderr that `what` is skipped, and why.
#[expect(clippy::print_stderr, reason = "a test has no other way to say that it did not run")]
pub fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
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
