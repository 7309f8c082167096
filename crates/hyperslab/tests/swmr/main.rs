//! One process writes, and other processes read at the same time. hyperslab and libhdf5 take both
//! roles.
//!
//! `HYPERSLAB_SWMR_SECONDS` is the run time of each pair.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "in a test a panic is the report, and all numbers are small"
)]

mod reader;
mod rules;
mod writer;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use hyperslab_testkit::referee;

/// The environment variable with the role of this process. The process that starts the others does
/// not have it.
const ROLE: &str = "HYPERSLAB_SWMR_ROLE";

fn seconds() -> f64 {
    std::env::var("HYPERSLAB_SWMR_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2.0)
}

/// One of the programs of a pair.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Hyperslab,
    Libhdf5,
}

/// A process that has reported that it is ready.
struct Started {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Started {
    fn new(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "it ended before it was ready");
        }
        Self { child, out }
    }

    /// Returns the output of the process after the report that it is ready.
    fn end(mut self, subject: &str) -> String {
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{subject} failed: {text}");
        let words = ["appends", "refreshes"];
        let line = text.lines().find(|line| words.iter().any(|word| line.starts_with(word)));
        line.unwrap_or_else(|| panic!("{subject}: {text}")).to_owned()
    }
}

/// Starts a process with a role. `arguments` are the file, the end of the run, and a seed.
fn command(who: Who, role: &str, arguments: [&str; 3]) -> Command {
    if who == Who::Libhdf5 {
        let python = referee::python().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/swmr").join(format!("{role}.py"));
        let mut command = Command::new(python.python());
        command.arg(script).args(arguments).env_remove("HDF5_USE_FILE_LOCKING");
        return command;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "runs_one_of_the_processes", "--nocapture"]);
    command.env(ROLE, format!("{role}\n{}", arguments.join("\n"))).env_remove("HDF5_USE_FILE_LOCKING");
    command
}

/// The test function that the started processes run.
#[test]
fn runs_one_of_the_processes() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let parts: Vec<&str> = role.lines().collect();
    let [role, path, until, seed] = parts.as_slice() else { panic!("{role}") };
    let (path, seed) = (Path::new(path), seed.parse().unwrap());
    match *role {
        "writer" => writer::run(path, until.parse().unwrap(), seed),
        _ => reader::run(path, Path::new(until), seed),
    }
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn of(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[expect(clippy::print_stderr, reason = "the figures are the point of long runs")]
fn together(name: &str, writer: Who, readers: [Who; 2]) {
    if (writer == Who::Libhdf5 || readers.contains(&Who::Libhdf5)) && referee::python().is_none() {
        return;
    }
    let place = Place::new();
    let (path, stop) = (place.of("log.h5"), place.of("stop"));
    let (path, stop_at) = (path.to_str().unwrap(), stop.to_str().unwrap());
    let length = seconds().to_string();
    let writing = Started::new(command(writer, "writer", [path, &length, "1"]));
    let reading: Vec<Started> = readers
        .iter()
        .zip(["2", "3"])
        .map(|(who, seed)| Started::new(command(*who, "reader", [path, stop_at, seed])))
        .collect();
    let wrote = writing.end("the writer");
    std::fs::write(&stop, b"").unwrap();
    eprintln!("{name}: {wrote}");
    let mut shapes = Vec::new();
    for (reader, who) in reading.into_iter().zip(readers) {
        let read = reader.end("a reader");
        let kind = if who == Who::Hyperslab { "hyperslab" } else { "libhdf5" };
        eprintln!("{name}: {kind} {read}");
        shapes.push(read.split(' ').next_back().unwrap().to_owned());
    }
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(shapes[0], rules::shapes_of(Path::new(path)));
    if writer == Who::Hyperslab {
        check(Path::new(path), &[]);
    }
}

/// Asserts that `check` finds no fault, except findings that contain the given words.
fn check(path: &Path, but: &[&str]) {
    let report = hyperslab_check::check_path(path).unwrap();
    let faults: Vec<String> = report.fault_findings().map(ToString::to_string).collect();
    let faults: Vec<&String> =
        faults.iter().filter(|fault| !but.iter().any(|known| fault.contains(known))).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn hyperslab_writes_while_both_libraries_read() {
    together("hyperslab writes", Who::Hyperslab, [Who::Hyperslab, Who::Libhdf5]);
}

#[test]
fn libhdf5_writes_while_both_libraries_read() {
    together("libhdf5 writes", Who::Libhdf5, [Who::Hyperslab, Who::Libhdf5]);
}

#[test]
fn hyperslab_writes_and_reads() {
    together("hyperslab alone", Who::Hyperslab, [Who::Hyperslab, Who::Hyperslab]);
}

#[test]
#[cfg(unix)]
fn flushed_data_survives_a_killed_writer() {
    for seed in ["4", "5", "6"] {
        let place = Place::new();
        let path = place.of("log.h5");
        let mut writing =
            Started::new(command(Who::Hyperslab, "writer", [path.to_str().unwrap(), "60", seed]));
        std::thread::sleep(Duration::from_millis(700));
        writing.child.kill().unwrap();
        writing.child.wait().unwrap();
        let mut text = String::new();
        writing.out.read_to_string(&mut text).unwrap();
        // The last line may be incomplete.
        let flushed = text.rsplit_once('\n').and_then(|(lines, _)| {
            lines.lines().rev().find_map(|line| line.strip_prefix("flushed ").map(str::to_owned))
        });
        check(&path, &["marked as open for writing"]);
        rules::holds_at_least(&path, flushed.as_deref().unwrap());
    }
}

mod refused {
    use hyperslab::{ErrorKind, File, FileOptions, LibraryVersion, LibverBounds, OpenOptions};

    use super::Place;

    #[test]
    fn a_swmr_writer_changes_only_elements() {
        let place = Place::new();
        let path = place.of("log.h5");
        let old = File::create(&path).unwrap();
        assert_eq!(old.start_swmr_write().unwrap_err().kind(), ErrorKind::Misuse, "superblock 2");
        old.close().unwrap();
        let bounds = LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap();
        let file = FileOptions::new().libver(bounds).create(&path).unwrap();
        let log = file.new_dataset("log").of::<i32>().shape(&[4]).max_shape(&[None]).chunks(&[3]).create();
        let log = log.unwrap();
        let words = file.new_dataset("words").write_strings(&["a", "b"]).unwrap();
        log.set_attribute("unit", "m").unwrap();
        file.start_swmr_write().unwrap();
        file.start_swmr_write().unwrap();
        let misuse = |outcome: hyperslab::Result<()>| {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
            assert!(format!("{error:?}").contains("SWMR"), "{error:?}");
        };
        misuse(file.create_group("new").map(drop));
        misuse(file.remove("log"));
        misuse(file.new_dataset("new").write(&[1, 2]).map(drop));
        misuse(log.set_attribute("unit", "km").map(drop));
        misuse(log.resize(&[2]));
        misuse(log.prepend(0, &[1, 2]));
        assert_eq!(words.write_strings(.., &["c", "d"]).unwrap_err().kind(), ErrorKind::Unsupported);
        log.write(.., &[1, 2, 3, 4]).unwrap();
        log.append(0, &[5, 6]).unwrap();
        // Only SWMR readers can open the file.
        let strange = OpenOptions::new().open(&path).unwrap_err();
        assert!(strange.to_string().contains("SWMR"), "{strange}");
        file.close().unwrap();
        drop((log, words));
        let file = OpenOptions::new().swmr_write(true).open(&path).unwrap();
        file.dataset("log").unwrap().append(0, &[7]).unwrap();
        file.close().unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(file.dataset("log").unwrap().read_raw::<i32>(..).unwrap(), [1, 2, 3, 4, 5, 6, 7]);
        super::check(&path, &[]);
    }
}
