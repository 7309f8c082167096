//! Nested groups with a depth of ten thousand. No command needs memory in proportion to the square
//! of the depth, and no command runs for minutes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[expect(dead_code, reason = "other tests use other ends")]
mod deep_file;

use std::os::unix::process::ExitStatusExt as _;

use deep_file::{End, chain};
use hyperslab_testkit::program::Program;

/// The paths of all groups together would take 1 GB.
const LEVELS: u64 = 8_000;
const NAME: &[u8] = b"a name of thirty bytes, or so.";
/// The limit of the address space in KiB. The stacks of the threads count too.
const KIBIBYTES: u64 = 600_000;

#[test]
fn deep_files_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep.h5");
    std::fs::write(&file, chain(LEVELS, NAME, End::Empty)).unwrap();
    std::fs::copy(&file, folder.path().join("copy.h5")).unwrap();
    for arguments in [
        &["digest", "deep.h5"][..],
        &["repack", "--quiet", "deep.h5", "repacked.h5"],
        &["recover", "deep.h5", "--into", "recovered.h5"],
        &["recover", "--json", "deep.h5", "--into", "again.h5"],
        &["recover", "copy.h5"],
        &["check", "deep.h5"],
        &["check", "--data", "deep.h5"],
        &["tree", "deep.h5"],
        &["ls", "-r", "deep.h5"],
        &["ls", "-r", "--json", "deep.h5"],
        &["find", "--type", "float", "deep.h5"],
        &["stat", "deep.h5"],
        &["diff", "deep.h5", "copy.h5"],
        &["bench-file", "--seconds", "0.01", "deep.h5"],
        &["h5ls", "-r", "deep.h5"],
        &["h5dump", "deep.h5"],
        &["h5dump", "-n", "deep.h5"],
        &["h5diff", "deep.h5", "copy.h5"],
        &["h5stat", "deep.h5"],
        &["h5repack", "deep.h5", "repacked2.h5"],
        &["h5copy", "-i", "deep.h5", "-o", "copied.h5", "-s", "/", "-d", "/g"],
    ] {
        let hyperslab = Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_folder(folder.path());
        let output = hyperslab.within_kibibytes(KIBIBYTES).within_seconds(120).run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let shown: String = errors.chars().take(300).collect();
        assert_eq!(output.status.signal(), None, "{arguments:?}: {shown}");
        assert!(output.status.code() < Some(128), "{arguments:?}: {shown}");
        assert!(!errors.contains("memory") && !errors.contains("panicked"), "{arguments:?}: {shown}");
    }
    // The command copied all groups.
    let copied = hyperslab::File::open(folder.path().join("repacked.h5")).unwrap();
    assert_eq!(copied.walk().count() as u64, LEVELS + 1);
    let saved = hyperslab::File::open(folder.path().join("recovered.h5")).unwrap();
    assert_eq!(saved.walk().count() as u64, LEVELS + 1);
}
