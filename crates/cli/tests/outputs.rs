//! Files that commands write. An output file never replaces an input file, it appears complete or
//! not at all, and no temporary file remains.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hyperslab::{File, FileOptions, LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_testkit::program::{Program, Run};

fn hyperslab(folder: &Path) -> Program {
    Program::new(env!("CARGO_BIN_EXE_hyperslab")).in_folder(folder).without_env("HDF5_USE_FILE_LOCKING")
}

fn run(folder: &Path, arguments: &[&str]) -> Run {
    hyperslab(folder).run(arguments)
}

fn small(path: &Path) {
    let file = File::create(path).unwrap();
    file.new_dataset("d").write(&[1, 2, 3]).unwrap();
    file.close().unwrap();
}

#[test]
fn no_output_replaces_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    small(&at("d.h5"));
    std::fs::hard_link(at("d.h5"), at("hard.h5")).unwrap();
    std::os::unix::fs::symlink(at("d.h5"), at("soft.h5")).unwrap();
    let before = std::fs::read(at("d.h5")).unwrap();
    for other in ["hard.h5", "soft.h5", "d.h5", "./d.h5"] {
        for arguments in [
            &["recover", "--force", "--locking", "off", "d.h5", "--into", other][..],
            &["recover", "d.h5", "--into", other],
            &["repack", "--locking", "off", "d.h5", other],
            &["h5repack", "d.h5", other],
            &["export", "--format", "raw", "--locking", "off", "d.h5", "d", other],
            &["cat", "--format", "raw", "--locking", "off", "d.h5", "d", "--output", other],
            &["h5dump", "-d", "/d", "-o", other, "-b", "LE", "d.h5"],
            &["h5dump", "-O", other, "d.h5"],
        ] {
            let output = run(folder.path(), arguments);
            assert!(!output.is_success(), "{arguments:?}");
            assert_eq!(std::fs::read(at("d.h5")).unwrap(), before, "{arguments:?}");
        }
    }
    assert_eq!(std::fs::read(at("hard.h5")).unwrap(), before);
    assert!(at("soft.h5").is_symlink());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn recover_replaces_files_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    small(&at("d.h5"));
    std::fs::write(at("precious"), "a thesis").unwrap();
    let output = run(folder.path(), &["recover", "d.h5", "--into", "precious"]);
    assert!(output.error().contains("--force"), "{}", output.error());
    assert_eq!(std::fs::read(at("precious")).unwrap(), b"a thesis");
    // If the command cannot write the output, the old file stays unchanged.
    std::fs::write(at("noise"), "no HDF5 file at all").unwrap();
    assert!(!run(folder.path(), &["recover", "--force", "noise", "--into", "precious"]).is_success());
    assert_eq!(std::fs::read(at("precious")).unwrap(), b"a thesis");
    let output = run(folder.path(), &["recover", "--force", "d.h5", "--into", "precious"]);
    assert!(output.is_success(), "{}", output.error());
    assert_eq!(
        File::open(at("precious")).unwrap().dataset("d").unwrap().read_raw::<i32>(..).unwrap(),
        [1, 2, 3]
    );
}

/// A writer in this process, and `recover` in another process.
#[test]
fn recover_does_not_change_files_of_running_writers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.h5");
    let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
    let file = FileOptions::new().libver(bounds).create(&path).unwrap();
    let dataset = file.new_dataset("d").of::<i32>().shape(&[0]).unlimited().chunks(&[10]).create().unwrap();
    for swmr in [false, true] {
        if swmr {
            file.start_swmr_write().unwrap();
        }
        dataset.append(0, &[1, 2, 3]).unwrap();
        file.flush().unwrap();
        let before = std::fs::read(&path).unwrap();
        for force in [&[][..], &["--force"]] {
            let output = run(folder.path(), &[&["recover", "live.h5"], force].concat());
            assert_eq!(output.code(), 2, "swmr {swmr}");
            assert!(output.error().contains("live.h5"), "{}", output.error());
            assert_eq!(std::fs::read(&path).unwrap(), before, "swmr {swmr}");
        }
        // Without locks, `recover` changes no file unless the user requests it.
        let output = run(folder.path(), &["recover", "--locking", "off", "live.h5"]);
        assert!(
            output.error().contains("locking is off") && output.error().contains("--force"),
            "{}",
            output.error()
        );
        assert_eq!(std::fs::read(&path).unwrap(), before, "swmr {swmr}");
    }
    // SWMR readers and the SWMR writer do not exclude each other.
    let reader = OpenOptions::new().swmr_read(true).open(&path).unwrap();
    assert_eq!(reader.dataset("d").unwrap().shape(), [6]);
    drop(reader);
    drop(dataset);
    file.close().unwrap();
    let output = run(folder.path(), &["recover", "live.h5"]);
    assert!(output.is_success(), "{}", output.error());
}

#[test]
fn interrupted_commands_leave_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.h5");
    let file = File::create(&path).unwrap();
    // The dataset has only fill values: it stores no bytes, but writing its elements would take
    // minutes.
    file.new_dataset("d").of::<f64>().shape(&[1 << 34]).chunks(&[1 << 20]).create().unwrap();
    file.close().unwrap();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut command = hyperslab(folder.path()).command(["export", "large.h5", "d", "out.csv"]);
        command.stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let start = Instant::now();
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        while files() < 2 {
            assert!(start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(10));
        }
        Program::new("kill").run(["-s", signal, &child.id().to_string()]).succeeds();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!(files(), 1, "{signal}");
    }
}

#[test]
fn formulas_are_escaped_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = File::create(folder.path().join("t.h5")).unwrap();
    file.new_dataset("t").write_strings(&["=cmd|calc!A1", "+1", "@x", "-2+3", "a=b", "7"]).unwrap();
    file.new_dataset("n").write(&[-1.5, 2.0]).unwrap();
    file.close().unwrap();
    let csv = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        assert!(output.is_success(), "{}", output.error());
        output.out().to_owned()
    };
    let plain = csv(&["cat", "--format", "csv", "t.h5", "t"]);
    assert_eq!(plain, "=cmd|calc!A1\n+1\n@x\n-2+3\na=b\n7\n");
    let escaped = csv(&["cat", "--format", "csv", "--escape-formulas", "t.h5", "t"]);
    assert_eq!(escaped, "'=cmd|calc!A1\n'+1\n'@x\n'-2+3\na=b\n7\n");
    assert_eq!(csv(&["cat", "--format", "csv", "--escape-formulas", "t.h5", "n"]), "-1.5\n2.0\n");
    csv(&["export", "--escape-formulas", "t.h5", "t", "t.csv"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("t.csv")).unwrap(), escaped);
}
