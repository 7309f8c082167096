//! `hyperslab h5clear`, run as people run `h5clear`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use hyperslab::{LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{referee, workspace};

fn hyperslab() -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab"))
}

fn run(arguments: &[&str], file: &Path) -> Run {
    let h5clear = hyperslab().with("h5clear");
    h5clear.run(arguments.iter().map(AsRef::as_ref).chain([file.as_os_str()]))
}

fn printed(arguments: &[&str], file: &Path) -> String {
    run(arguments, file).succeeds().out().to_owned()
}

fn is_sound(file: &Path) -> bool {
    hyperslab().with("check").run([file]).is_success()
}

/// Writes a file whose superblock has status flags. Returns the path and the length of the file.
fn new_file(folder: &Path) -> (PathBuf, u64) {
    let path = folder.join("file.h5");
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = hyperslab::FileOptions::new().libver(bounds).create(&path).unwrap();
    file.new_dataset("a").write(&[1, 2, 3]).unwrap();
    file.close().unwrap();
    let length = path.metadata().unwrap().len();
    (path, length)
}

fn judge(file: &Path) {
    let Some(referee) = referee::python() else { return };
    let code = "import h5py, sys\nassert list(h5py.File(sys.argv[1])['a']) == [1, 2, 3]";
    referee.run_script(code, [file]).unwrap();
}

#[test]
fn status_flags_are_cleared_and_the_end_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (path, length) = new_file(folder.path());
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    // A writer that ends without closing the file leaves its status flags.
    let file = OpenOptions::new().write(true).libver(bounds).swmr_write(true).open(&path).unwrap();
    let marked = std::fs::read(&path).unwrap();
    drop(file);
    std::fs::write(&path, &marked).unwrap();
    assert_ne!(marked[11], 0, "the flags of the superblock");
    assert!(!is_sound(&path));
    assert_eq!(printed(&["-s"], &path), "");
    assert!(is_sound(&path));
    judge(&path);
    let stated = format!("EOA is {length}; EOF is {length} \n");
    assert_eq!(printed(&["--filesize"], &path), stated);
}

#[test]
fn the_end_of_the_file_is_printed_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, length) = new_file(folder.path());
    let set_len = |length| std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length);
    set_len(length - 10).unwrap();
    let reported = |stated: u64, real: u64| format!("EOA is {stated}; EOF is {real} \n");
    assert_eq!(printed(&["--filesize"], &path), reported(length, length - 10));
    assert_eq!(printed(&["--increment=0"], &path), "");
    assert_eq!(printed(&["--filesize"], &path), reported(length, length));
    set_len(length + 100).unwrap();
    assert_eq!(printed(&["-s"], &path), "");
    assert_eq!(printed(&["--filesize"], &path), reported(length, length + 100));
    printed(&["--increment=512"], &path);
    assert_eq!(printed(&["--filesize"], &path), reported(length + 612, length + 612));
    printed(&["--increment"], &path);
    let end = length + 612 + (1 << 20);
    assert_eq!(printed(&["--filesize"], &path), reported(end, end));
    assert!(is_sound(&path));
    let output = run(&[&format!("--increment={}", u64::MAX)], &path);
    assert_eq!(output.code(), 1);
    assert_eq!(path.metadata().unwrap().len(), end);
}

#[test]
fn cache_images_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, length) = new_file(folder.path());
    let before = std::fs::read(&path).unwrap();
    let output = run(&["-m"], &path);
    assert!(output.is_success());
    assert_eq!(output.error(), "h5clear warning: No cache image in the file\n");
    assert_eq!((std::fs::read(&path).unwrap(), path.metadata().unwrap().len()), (before, length));
    let with_image = workspace::root().join("../shared/corpus/files/hdf5__h5clear_mdc_image.h5");
    if !with_image.is_file() {
        workspace::skip("a file with a metadata cache image", "../shared/corpus is not there");
        return;
    }
    let path = folder.path().join("image.h5");
    std::fs::write(&path, std::fs::read(with_image).unwrap()).unwrap();
    assert!(hyperslab::File::open(&path).unwrap().info().cache_image.is_some());
    assert_eq!(printed(&["-m"], &path), "");
    assert!(hyperslab::File::open(&path).unwrap().info().cache_image.is_none());
    assert!(is_sound(&path));
    if let Some(referee) = referee::python() {
        let code = "import h5py, sys\nassert h5py.File(sys.argv[1])['DSET'][49, 99] == 4851";
        referee.run_script(code, [&path]).unwrap();
    }
}

#[test]
fn unsupported_requests_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = new_file(folder.path());
    let nowhere = folder.path().join("nowhere.h5");
    for (arguments, file, reported) in [
        (&[][..], &path, "no task is given"),
        (&["-s"], &nowhere, "nowhere.h5"),
        (&["-m"], &nowhere, "nowhere.h5"),
        (&["--filesize"], &nowhere, "nowhere.h5"),
        (&["--increment=-1"], &path, "must be a number of bytes"),
        (&["-x"], &path, "lists the options"),
    ] {
        let output = run(arguments, file);
        assert_eq!(output.code(), 1, "{arguments:?}");
        let error = output.error().to_owned();
        assert!(error.contains(reported), "{arguments:?}: {error}");
    }
    std::fs::write(&nowhere, b"no HDF5 file").unwrap();
    for arguments in [["-s"], ["-m"], ["--filesize"], ["--increment"]] {
        assert_eq!(run(&arguments, &nowhere).code(), 1, "{arguments:?}");
        assert_eq!(std::fs::read(&nowhere).unwrap(), b"no HDF5 file");
    }
}
