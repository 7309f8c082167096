//! Several readers or one writer can open a file, in any combination of programs.
#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hyperslab::vfd::{Access, Driver as _, LockKind, Sec2};
use hyperslab::{ErrorKind, File, FileLocking, FileOptions, OpenOptions};
use hyperslab_testkit::referee;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> (Self, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared.h5");
        let file = File::create(&path).unwrap();
        file.new_dataset("a").write(&[1, 2, 3]).unwrap();
        file.close().unwrap();
        (Self(folder), path)
    }
}

/// A process with libhdf5, which keeps the file open until the value is dropped.
struct Holder(Child);

impl Holder {
    fn new(python: &referee::Referee, path: &Path, mode: &str) -> Self {
        let code = "import sys, h5py\n\
                    file = h5py.File(sys.argv[1], sys.argv[2])\n\
                    print('open', flush=True)\n\
                    sys.stdin.readline()\n\
                    file.close()";
        let mut child = Command::new(python.python())
            .args(["-c", code, path.to_str().unwrap(), mode])
            .env_remove("HDF5_USE_FILE_LOCKING")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "open");
        Self(child)
    }

    fn number(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // If the process has already ended, the write fails, and the error is ignored.
        let _ = self.0.stdin.take().unwrap().write_all(b"\n");
        self.0.wait().unwrap();
    }
}

/// Returns the result of opening the file with h5py in another process.
fn h5py(python: &referee::Referee, path: &Path, mode: &str, locking: Option<&str>) -> Result<(), String> {
    let mut command = Command::new(python.python());
    command.args(["-c", "import sys, h5py; h5py.File(sys.argv[1], sys.argv[2])"]);
    command.args([path.to_str().unwrap(), mode]).env_remove("HDF5_USE_FILE_LOCKING");
    if let Some(locking) = locking {
        command.env("HDF5_USE_FILE_LOCKING", locking);
    }
    let output = command.output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn locking(how: FileLocking) -> OpenOptions {
    OpenOptions::new().locking(how)
}

fn kind<T>(result: hyperslab::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn a_file_that_libhdf5_has_open_for_writing_is_refused() {
    let Some(python) = referee::python() else { return };
    let (_folder, path) = Folder::new();
    let holder = Holder::new(&python, &path, "r+");
    let before = std::fs::read(&path).unwrap();
    let error = locking(FileLocking::On).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let text = error.to_string();
    assert!(
        text.contains("shared.h5") && text.contains("for reading") && text.contains("FileLocking::Off"),
        "{text}"
    );
    if Path::new("/proc/locks").exists() {
        let who = format!("process {} (`", holder.number());
        assert!(
            text.contains(&who) && text.contains("import sys, h5py") && text.contains("for writing"),
            "{text}"
        );
    }
    let best = FileLocking::BestEffort;
    assert_eq!(kind(locking(best).write(true).open(&path)), Some(ErrorKind::Locked));
    assert_eq!(kind(FileOptions::new().locking(best).create(&path)), Some(ErrorKind::Locked));
    assert!(std::fs::read(&path).unwrap() == before, "what is refused changes nothing");
    assert_eq!(kind(locking(best).find_driver(&path)), Some(ErrorKind::Locked));
    locking(FileLocking::Off).open(&path).unwrap();
    drop(holder);
    locking(FileLocking::On).open(&path).unwrap();
}

#[test]
fn several_readers_share_a_file() {
    let Some(python) = referee::python() else { return };
    let (_folder, path) = Folder::new();
    let holders = [Holder::new(&python, &path, "r"), Holder::new(&python, &path, "r")];
    let reader = locking(FileLocking::On).open(&path).unwrap();
    let error = locking(FileLocking::On).write(true).open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    if Path::new("/proc/locks").exists() {
        let text = error.to_string();
        assert!(text.contains("for writing: ") && text.contains("and 2 more processes"), "{text}");
    }
    drop((holders, reader));
    locking(FileLocking::On).write(true).open(&path).unwrap();
}

#[test]
fn libhdf5_refuses_files_that_hyperslab_has_open_for_writing() {
    let Some(python) = referee::python() else { return };
    let (_folder, path) = Folder::new();
    let refused = |mode| {
        let error = h5py(&python, &path, mode, None).unwrap_err();
        assert!(error.contains("unable to lock file"), "{error}");
    };
    let writer = locking(FileLocking::On).write(true).open(&path).unwrap();
    refused("r");
    refused("r+");
    h5py(&python, &path, "r", Some("FALSE")).unwrap();
    writer.close().unwrap();
    let reader = locking(FileLocking::On).open(&path).unwrap();
    h5py(&python, &path, "r", None).unwrap();
    refused("r+");
    drop(reader);
    h5py(&python, &path, "r+", None).unwrap();
    let _unlocked = locking(FileLocking::Off).write(true).open(&path).unwrap();
    h5py(&python, &path, "r", None).unwrap();
}

#[test]
fn a_second_writer_of_the_same_process_is_refused() {
    let (_folder, path) = Folder::new();
    let on = || locking(FileLocking::On);
    let (one, other) = (on().open(&path).unwrap(), on().open(&path).unwrap());
    assert_eq!(kind(on().write(true).open(&path)), Some(ErrorKind::Locked));
    drop((one, other));
    let writer = on().write(true).open(&path).unwrap();
    let error = on().open(&path).unwrap_err().to_string();
    assert!(error.contains("this process") || !Path::new("/proc/locks").exists(), "{error}");
    // After the close, all programs can read the file. A remaining handle can no longer change the
    // file.
    let dataset = writer.dataset("a").unwrap();
    writer.close().unwrap();
    on().open(&path).unwrap();
    assert_eq!(kind(on().write(true).open(&path)), Some(ErrorKind::Locked));
    assert_eq!(kind(dataset.write(.., &[4, 5, 6])), Some(ErrorKind::Misuse));
    assert_eq!(dataset.read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    drop(dataset);
    on().write(true).open(&path).unwrap();
}

#[test]
fn external_links_to_the_open_file_are_followed() {
    let (folder, path) = Folder::new();
    let other = folder.0.path().join("other.h5");
    let file = FileOptions::new().locking(FileLocking::On).create(&other).unwrap();
    file.link_external("there", "shared.h5", "a").unwrap();
    file.link_external("back", "shared.h5", "other").unwrap();
    file.close().unwrap();
    let file = locking(FileLocking::On).write(true).open(&path).unwrap();
    file.link_external("self", "shared.h5", "a").unwrap();
    file.link_external("other", "other.h5", "there").unwrap();
    file.flush().unwrap();
    assert_eq!(file.dataset("self").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    let around = file.dataset("other").unwrap();
    assert_eq!(around.read_raw::<i32>(..).unwrap(), [1, 2, 3]);
    // hyperslab opens the intermediate file for reading: other programs may read it, but not write
    // it.
    let way = Sec2::open(&other, Access::ReadOnly).unwrap();
    way.lock(LockKind::Shared).unwrap();
}

#[test]
fn a_file_that_cannot_be_opened_is_not_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.h5");
    std::fs::write(&path, vec![7; 5000]).unwrap();
    let on = || locking(FileLocking::On).write(true);
    on().open(&path).unwrap_err();
    assert_eq!(kind(on().open(&path)), Some(ErrorKind::Corrupt));
    on().find_driver(&path).unwrap().lock(LockKind::Exclusive).unwrap();
}
