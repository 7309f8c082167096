//! Files that require more memory than the process may use: the command returns an error and does
//! not abort.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use hyperslab::FileOptions;
use hyperslab_testkit::program::{Program, Run};

/// The size of the chunk in bytes.
const LARGE: u64 = 1 << 30;

/// Creates a file of some MiB with a chunk of one GiB.
fn bomb(path: &Path) {
    let file = FileOptions::new().create(path).unwrap();
    let dataset = file.new_dataset("d").of::<u8>().shape(&[LARGE]).chunks(&[LARGE]).deflate(9);
    let dataset = dataset.create().unwrap();
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    (0..LARGE >> 20).for_each(|_| encoder.write_all(&zeros).unwrap());
    dataset.chunks().write(&[0], &encoder.finish().unwrap(), 0).unwrap();
    file.close().unwrap();
    assert!(path.metadata().unwrap().len() < 16 << 20);
}

/// Runs the command with this many KiB of address space.
fn run(kibibytes: u64, arguments: &[&str]) -> Run {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).within_kibibytes(kibibytes).run(arguments)
}

#[test]
fn a_chunk_that_memory_cannot_hold_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.h5");
    bomb(&path);
    let path = path.to_str().unwrap();
    for arguments in [
        vec!["head", path, "d"],
        vec!["cat", "--select", "5:9", path, "d"],
        vec!["export", path, "d", "/dev/null", "--format", "raw"],
        vec!["plot", path, "d"],
        vec!["digest", path],
        vec!["check", "--data", path],
        vec!["h5dump", "-d", "/d", "-s", "0", "-c", "4", path],
        vec!["diff", path, path],
        vec!["bench-file", "--seconds", "0.01", path],
    ] {
        let output = run(900_000, &arguments);
        let errors = output.error();
        assert_eq!(output.status.signal(), None, "{arguments:?}: {errors}");
        assert!(
            !errors.contains("memory allocation of") && !errors.contains("panicked"),
            "{arguments:?}: {errors}"
        );
    }
    let output = run(900_000, &["head", path, "d"]);
    assert!(!output.is_success());
    let errors = output.error();
    assert!(errors.contains("not enough memory for 1073741824 bytes"), "{errors}");
}

/// A read of a chunk needs memory for the decoded and the stored bytes, but not for several copies.
#[test]
fn reading_a_chunk_takes_memory_for_one_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.h5");
    bomb(&path);
    let output = run(1_500_000, &["head", path.to_str().unwrap(), "d"]);
    assert!(output.is_success(), "{}", output.error());
}
