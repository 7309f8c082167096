//! Comparison with expected outputs, which are files beside the tests. `HYPERSLAB_UPDATE=1`
//! overwrites the files.
#![expect(clippy::panic, reason = "a panic is the report of a test")]

use std::path::Path;

/// The environment variable that makes [`check`] write the expected file.
pub const UPDATE_VARIABLE: &str = "HYPERSLAB_UPDATE";

/// Asserts that `got` equals the content of the file `tests/expected/NAME` of a package. `package`
/// is the folder of the package: `env!("CARGO_MANIFEST_DIR")`.
///
/// # Panics
/// Panics if the file is missing or has another content. The message names the first different
/// line.
#[track_caller]
pub fn check(package: &str, name: &str, got: &str) {
    let path = &Path::new(package).join("tests/expected").join(name);
    if std::env::var_os(UPDATE_VARIABLE).is_some()
        && let Err(error) = std::fs::write(path, got)
    {
        panic!("cannot write {}: {error}", path.display());
    }
    match std::fs::read_to_string(path) {
        Ok(expected) => assert!(got == expected, "{}", difference(path, &expected, got)),
        Err(error) => panic!("cannot read {}: {error}; the output is\n{got}", path.display()),
    }
}

/// Describes the first different line.
fn difference(path: &Path, expected: &str, got: &str) -> String {
    let same =
        expected.split('\n').zip(got.split('\n')).take_while(|(expected, got)| expected == got).count();
    let line = |text: &str| {
        text.split('\n').nth(same).map_or_else(|| "(the end)".into(), |line| format!("{line:?}"))
    };
    format!(
        "{}:{}: expected {}, got {}; the whole output is\n{got}",
        path.display(),
        same.saturating_add(1),
        line(expected),
        line(got)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let text = |expected: &str, got: &str| difference(Path::new("a.txt"), expected, got);
        assert!(text("a\nb\n", "a\nc\n").starts_with("a.txt:2: expected \"b\", got \"c\";"));
        assert!(text("a", "a\nc").starts_with("a.txt:2: expected (the end), got \"c\";"));
    }

    #[test]
    fn the_content_must_be_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().to_str().unwrap();
        std::fs::create_dir_all(folder.path().join("tests/expected")).unwrap();
        std::fs::write(folder.path().join("tests/expected/a.txt"), "a\n").unwrap();
        check(package, "a.txt", "a\n");
        if std::env::var_os(UPDATE_VARIABLE).is_none() {
            assert!(std::panic::catch_unwind(|| check(package, "a.txt", "b\n")).is_err());
            assert!(std::panic::catch_unwind(|| check(package, "none.txt", "")).is_err());
        }
    }
}
