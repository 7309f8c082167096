//! Damaged and malicious files from other projects: every command ends with a result or an error,
//! in bounded time and memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hyperslab::{ErrorKind, Object, ObjectKind, OpenOptions};
use hyperslab_testkit::corpus;
use hyperslab_testkit::program::{Program, Run};

/// The time limit of one command in seconds, which is sufficient on a busy machine.
const SECONDS: u64 = 60;
/// The limit of the address space in KiB. Threads and their stacks take most of it.
const KIBIBYTES: u64 = 2_097_152;
/// The exit code of `timeout` if the time is over.
const TIME_IS_OVER: i32 = 124;
/// The largest number of datasets that the test prints of one file.
const MOST_DATASETS: usize = 12;

fn malformed(corpus: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus.join("malformed")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && file.extension().is_none_or(|extension| extension != "tsv"));
    files.sort();
    files
}

/// Runs the command with bounds of time and memory.
fn run(arguments: &[&str]) -> Run {
    let hyperslab = Program::new(env!("CARGO_BIN_EXE_hyperslab"));
    hyperslab.within_kibibytes(KIBIBYTES).within_seconds(SECONDS).run(arguments)
}

/// Returns the reason why the end of the command is wrong, if it is.
fn judge(arguments: &[&str]) -> Option<String> {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    let why = match (output.status.code(), output.status.signal()) {
        (Some(TIME_IS_OVER | 137), _) => "not done in time".to_owned(),
        (Some(code), _) if code > 3 => format!("exit code {code}"),
        (None, signal) => format!("signal {signal:?}"),
        _ if errors.contains("panicked") => "a panic".to_owned(),
        _ => return None,
    };
    Some(format!("{}: {why}: {errors}", arguments.join(" ")))
}

/// Returns the paths of all datasets that the command finds.
fn datasets(file: &Path) -> Vec<String> {
    let Ok(file) = OpenOptions::new().ignore_status_flags(true).open(file) else { return Vec::new() };
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut pending: Vec<(String, Object)> = vec![(String::new(), (**file.root()).clone())];
    while let Some((path, object)) = pending.pop() {
        if !seen.insert(object.token()) || found.len() >= MOST_DATASETS {
            continue;
        }
        match object.kind() {
            Some(ObjectKind::Dataset) => found.push(path),
            Some(ObjectKind::Group) => {
                let Ok(group) = object.into_group() else { continue };
                for link in group.links().unwrap_or_default() {
                    let name = link.name_lossy();
                    match group.object(&name) {
                        Ok(object) => pending.push((format!("{path}/{name}"), object)),
                        Err(error) => assert_ne!(error.kind(), ErrorKind::Exists),
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_command_ends_on_every_file() {
    let Some(files) = corpus::dir().map(|dir| malformed(&dir)) else { return };
    assert!(!files.is_empty(), "the corpus has no malformed files");
    let folder = tempfile::tempdir().unwrap();
    let (pending, failures) = (Mutex::new(files), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let target = folder.path().join(format!("{worker}.h5"));
            let (pending, failures) = (&pending, &failures);
            scope.spawn(move || {
                loop {
                    let Some(file) = pending.lock().unwrap().pop() else { break };
                    let found = of_file(&file, target.to_str().unwrap());
                    failures.lock().unwrap().extend(found);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn of_file(file: &Path, target: &str) -> Vec<String> {
    let name = file.to_str().unwrap();
    // Commands that compare receive a second file.
    let copy = format!("{target}.copy");
    std::fs::copy(file, &copy).unwrap();
    let mut commands = vec![
        vec!["check", "--data", "--quiet", name],
        vec!["ls", "-r", "-v", name],
        vec!["ls", "--json", name],
        vec!["stat", name],
        vec!["tree", "--attrs", name],
        vec!["find", "--attr", "units", "--type", "float", "-l", name],
        vec!["bench-file", "--seconds", "0.05", name],
        vec!["h5dump", "-p", name],
        vec!["h5diff", "-v2", "--follow-symlinks", name, &copy],
        vec!["diff", "--storage", name, &copy],
        vec!["h5ls", "-rvda", name],
        vec!["h5stat", name],
        vec!["digest", name],
        vec!["repack", name, target],
        vec!["recover", name, "--into", target],
    ];
    let paths = datasets(file);
    for path in &paths {
        commands.push(vec!["head", name, path]);
        commands.push(vec!["cat", name, path]);
        commands.push(vec!["plot", name, path]);
        commands.push(vec!["plot", "--occupied", name, path]);
        commands.push(vec!["bench-file", "--seconds", "0.05", name, path]);
    }
    let failures = commands.iter().filter_map(|command| judge(command)).collect();
    // The next file has another path.
    let _ = std::fs::remove_file(target);
    let _ = std::fs::remove_file(copy);
    failures
}
