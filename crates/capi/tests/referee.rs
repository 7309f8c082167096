//! Files that h5py writes over the C interface are those that it writes over its own libhdf5, and
//! each library reads the files of both. `referee.py` writes and describes the files.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use hyperslab_testkit::{referee, workspace};

/// The release of h5py whose published binary is used.
const RELEASE: &str = "3.16.0";

/// The differences that a failure shows.
const SHOWN: usize = 40;

/// A Python with one of the two libraries.
struct Client {
    python: PathBuf,
    /// The folder with h5py, if not that of the Python.
    modules: Option<PathBuf>,
}

impl Client {
    /// Runs `referee.py` in a folder, because virtual datasets and external files have relative
    /// names, and returns its output.
    fn run(&self, action: &str, folder: &Path) -> String {
        let mut command = Command::new(&self.python);
        command.arg("-W").arg("ignore").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee.py"));
        command.arg(action).arg(folder).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        if let Some(modules) = &self.modules {
            command.env("PYTHONPATH", modules);
        }
        let output = command.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{action}: {}\n{messages}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns the library that was built with this test.
fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().unwrap();
    let folders = program.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join("libhdf5.so")).find(|file| file.exists())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Copies h5py and replaces its libhdf5. Returns `None` if h5py is not of the release, or if it is
/// not a published binary, which brings its own libhdf5.
fn swapped(python: &Path, folder: &Path) -> Option<Client> {
    let library = library().or_else(|| skip("the test was built without libhdf5.so"))?;
    let code = "import h5py, pathlib; print(h5py.__version__, pathlib.Path(h5py.__file__).parent.parent)";
    let output = Command::new(python).args(["-c", code]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (version, packages) = text.trim().split_once(' ').or_else(|| skip("h5py has no version"))?;
    if version != RELEASE {
        return skip(&format!("h5py {version} is not {RELEASE}"));
    }
    let packages = Path::new(packages);
    if !packages.join("h5py.libs").is_dir() {
        return skip("h5py does not bring its own libhdf5");
    }
    for part in ["h5py", "h5py.libs"] {
        copy(&packages.join(part), &folder.join(part));
    }
    let mut replaced = 0;
    for entry in std::fs::read_dir(folder.join("h5py.libs")).unwrap() {
        let file = entry.unwrap().path();
        if file.file_name().unwrap().to_str().unwrap().starts_with("libhdf5-") {
            std::fs::copy(&library, file).unwrap();
            replaced += 1;
        }
    }
    assert_eq!(replaced, 1, "the library of h5py");
    Some(Client { python: python.to_owned(), modules: Some(folder.to_owned()) })
}

fn skip<T>(why: &str) -> Option<T> {
    workspace::skip("h5py over the C interface", why);
    None
}

/// Returns the lines in which two descriptions differ.
fn differences(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let missing = expected.iter().filter(|line| !found.contains(line)).map(|line| ('-', line));
    let surplus = found.iter().filter(|line| !expected.contains(line)).map(|line| ('+', line));
    let mut text = String::new();
    for (sign, line) in missing.chain(surplus).take(SHOWN) {
        let start: String = line.chars().take(400).collect();
        writeln!(text, "{sign} {start}").unwrap();
    }
    text
}

#[test]
fn both_libraries_write_and_read_equal_files() {
    let Some(referee) = referee::python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let stock = Client { python: referee.python().to_owned(), modules: None };
    let Some(ours) = swapped(referee.python(), &folder.path().join("modules")) else { return };
    let mut faults = String::new();
    let mut expected = None;
    for (writer, written_by) in [(&stock, "libhdf5"), (&ours, "hyperslab")] {
        let files = folder.path().join(written_by);
        std::fs::create_dir(&files).unwrap();
        write!(faults, "{}", writer.run("write", &files)).unwrap();
        for (reader, read_by) in [(&stock, "libhdf5"), (&ours, "hyperslab")] {
            let found = reader.run("describe", &files);
            let expected = expected.get_or_insert_with(|| found.clone());
            if *expected != found {
                let lines = differences(expected, &found);
                writeln!(faults, "files of {written_by}, read by {read_by}:\n{lines}").unwrap();
            }
        }
    }
    assert!(!expected.unwrap().contains("exception"), "libhdf5 reads and writes all");
    assert!(faults.is_empty(), "{faults}");
}
