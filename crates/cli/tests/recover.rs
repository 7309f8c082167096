//! `hyperslab recover`, run as people run it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use hyperslab::vfd::{Access, Driver as _, LockKind, Sec2};
use hyperslab::{File, FileOptions, LibverBounds};
use hyperslab_testkit::program::{Program, Run};
use hyperslab_testkit::{referee, workspace};
use serde_json::Value;

fn recover(arguments: &[&str]) -> Run {
    let hyperslab = Program::new(env!("CARGO_BIN_EXE_hyperslab")).with("recover");
    hyperslab.without_colour_variables().run(arguments)
}

/// Creates a file whose superblock has version 3.
fn make(path: &Path) {
    let file = FileOptions::new().libver(LibverBounds::LATEST).create(path).unwrap();
    file.new_dataset("numbers").chunks(&[100]).write(&(0..1000).collect::<Vec<i32>>()).unwrap();
    file.close().unwrap();
}

/// A script that leaves the status flag "open for SWMR writing" in the file, like a killed writer.
const LEAVE: &str = r#"
import os, sys, h5py
f = h5py.File(sys.argv[1], "a", libver="latest")
f.swmr_mode = True
f.flush()
os._exit(0)
"#;

#[test]
fn status_flags_are_cleared_in_place() {
    let Some(python) = referee::python() else {
        workspace::skip("status_flags_are_cleared_in_place", "no h5py");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unclosed.h5");
    make(&path);
    python.run_script(LEAVE, [&path]).unwrap();
    assert!(File::open(&path).is_err());
    let output = recover(&[path.to_str().unwrap()]);
    let reported = output.out();
    assert_eq!(output.code(), 0, "{reported}");
    assert!(reported.contains("a SWMR writer: cleared"), "{reported}");
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().size().unwrap(), 1000);
}

#[test]
fn the_end_is_corrected_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unclosed.h5");
    let name = path.to_str().unwrap();
    make(&path);
    let output = recover(&[name]);
    assert_eq!(output.code(), 0);
    assert_eq!(output.out(), "nothing to repair\nsound\n");
    let longer = std::fs::metadata(&path).unwrap().len() + 100;
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(longer).unwrap();
    let output = recover(&[name]);
    let reported = output.out();
    assert_eq!(output.code(), 0, "{reported}");
    assert!(reported.contains(": corrected\nsound"), "{reported}");
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().size().unwrap(), 1000);
    let output = recover(&["--format", "json", name]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&document["status_flags"], &document["end"], &document["faults"]),
        (&Value::Null, &Value::Null, &0.into())
    );
}

#[test]
fn missing_bytes_are_reported_and_not_invented() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.h5");
    let saved = folder.path().join("saved.h5");
    make(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    let all = bytes.len();
    bytes.truncate(all / 2);
    std::fs::write(&path, &bytes).unwrap();
    let output = recover(&[path.to_str().unwrap()]);
    assert_eq!(output.code(), 1, "{}", output.out());
    assert!(output.out().contains("bytes are missing"), "{}", output.out());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let output = recover(&[path.to_str().unwrap(), "--into", saved.to_str().unwrap(), "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.code(), if document["outcome"] == "partly" { 1 } else { 2 });
    assert!(document["objects"].as_array().unwrap().iter().any(|object| object["state"] != "whole"));
    assert!(File::open(&saved).is_ok());
}

#[test]
fn a_file_that_is_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("used.h5");
    make(&path);
    let before = std::fs::read(&path).unwrap();
    let driver = Sec2::open(&path, Access::ReadWrite).unwrap();
    driver.lock(LockKind::Shared).unwrap();
    let output = recover(&[path.to_str().unwrap()]);
    assert_eq!(output.code(), 2);
    assert!(output.error().contains("lock"), "{}", output.error());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_journal_is_replayed_or_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.h5");
    let journal = folder.path().join("journal.h5.hjournal");
    make(&path);
    // The header of an incomplete journal.
    let other = folder.path().join("other.h5");
    make(&other);
    let writer = File::open_rw(&other).unwrap();
    let far = writer.new_dataset("far").write(&vec![1; 5000]).unwrap();
    writer.flush().unwrap();
    far.set_attribute("values", vec![7; 500]).unwrap();
    writer.create_group("new").unwrap();
    writer.flush().unwrap();
    let mut header = std::fs::read(folder.path().join("other.h5.hjournal")).unwrap();
    header.truncate(64);
    drop((far, writer));
    for discard in [false, true] {
        std::fs::write(&journal, &header).unwrap();
        let mut arguments = vec![path.to_str().unwrap()];
        arguments.extend(discard.then_some("--discard-journal"));
        let output = recover(&arguments);
        let reported = output.out();
        assert_eq!(output.code(), 0, "{reported}");
        assert!(reported.contains(if discard { "discarded" } else { "removed" }), "{reported}");
        assert!(!journal.exists());
    }
    // If the file with the name of the journal is not a journal, the command does not change it.
    std::fs::write(&journal, b"notes of the user").unwrap();
    for arguments in [vec![path.to_str().unwrap()], vec![path.to_str().unwrap(), "--discard-journal"]] {
        let output = recover(&arguments);
        assert!(!output.out().contains("journal"), "{}", output.out());
        assert_eq!(std::fs::read(&journal).unwrap(), b"notes of the user");
    }
}

#[test]
fn files_beyond_repair_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.h5");
    let saved = folder.path().join("saved.h5");
    assert_eq!(recover(&[path.to_str().unwrap()]).code(), 2);
    std::fs::write(&path, b"no HDF5 file").unwrap();
    let output = recover(&[path.to_str().unwrap()]);
    assert_eq!(output.code(), 2);
    assert!(output.error().contains("none.h5"), "{}", output.error());
    let output = recover(&[path.to_str().unwrap(), "--into", saved.to_str().unwrap()]);
    assert_eq!(output.code(), 2, "{}", output.out());
}
