//! Programs whose first version of the file comes from another package. `cargo xtask alternate
//! --clients` prepares a Python with these packages.

use std::path::{Path, PathBuf};

use hyperslab_testkit::referee::{self, Referee};
use hyperslab_testkit::workspace;
use serde_json::json;

use crate::content::Content;
use crate::draw::Program;
use crate::program::{self, Beginning};
use crate::theirs::Theirs;
use crate::world::World;

/// The packages that create files, by their import names in Python.
const PACKAGES: [&str; 4] = ["tables", "netCDF4", "anndata", "pandas"];
/// The environment variable with the path of a Python that has the packages. It replaces the Python
/// of `cargo xtask alternate --clients`.
const PYTHON: &str = "HYPERSLAB_ALTERNATE_CLIENTS";
const FEW: u64 = 2;

/// A file that a package created.
struct Made {
    file: PathBuf,
    content: Content,
}

impl Beginning for Made {
    fn world(&self, _: &Program) -> World {
        World::of(&self.content)
    }

    fn place(&self, path: &Path) {
        std::fs::copy(&self.file, path).unwrap();
    }
}

fn python() -> PathBuf {
    let named = std::env::var_os(PYTHON).map(PathBuf::from);
    named.unwrap_or_else(|| referee::python_in(&workspace::root().join("target/alternate-clients")))
}

/// Creates or reads a file with the package. Returns false if the package is missing.
fn client(task: &str, package: &str, path: &Path) -> Result<bool, String> {
    let output = std::process::Command::new(python())
        .args(["-c", include_str!("clients.py"), task, package])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match (output.status.success(), text.as_str()) {
        (true, "done") => Ok(true),
        (true, "missing") => Ok(false),
        _ => Err(format!("{task} by {package}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Runs a program on a file of the package, which reads its file afterwards.
fn try_one(package: &str, made: &Made, seed: u64, theirs: &mut Theirs) -> Result<usize, String> {
    let program = Program::draw_on(seed, World::of(&made.content));
    let folder = tempfile::tempdir().unwrap();
    let named = |words: String| format!("{package}, seed {seed}: {words}");
    let count = program::run_in(&program, made, theirs, folder.path()).map_err(|fault| {
        let (small, fault) = program::shrink(&program, &fault, made, theirs);
        named(format!("{}: {}\n{}", fault.test, fault.words, program::told(&small)))
    })?;
    let Err(words) = client("verify", package, &folder.path().join("file.h5")) else { return Ok(count) };
    // Packages do not support all features of the format. If a package fails, the test runs the
    // same program with libhdf5 alone.
    let control = tempfile::tempdir().unwrap();
    program::run_in(&program.by_libhdf5(), made, theirs, control.path())
        .map_err(|fault| named(format!("by libhdf5 alone: {}: {}", fault.test, fault.words)))?;
    if client("verify", package, &control.path().join("file.h5")).is_err() {
        return Ok(0);
    }
    let words = format!("the package cannot read its file any more: {words}");
    Err(named(format!("{words}\n{}", program::told(&program))))
}

fn try_package(python: &Referee, package: &str, count: u64, base: u64) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.h5");
    if !client("make", package, &file).unwrap() {
        workspace::skip("turns on files of other packages", &format!("no Python package {package}"));
        return (0, Vec::new());
    }
    let mut theirs = Theirs::new(python);
    let to_read = json!({"path": file, "driver": "sec2", "low": "earliest", "high": "v200"});
    let made = Made { content: theirs.ask(&to_read).unwrap(), file };
    let (mut operations, mut beyond, mut failures) = (0, 0, Vec::new());
    for seed in (0..count).map(|number| crate::seed_of(base, number)) {
        match try_one(package, &made, seed, &mut theirs) {
            Ok(0) => beyond += 1,
            Ok(count) => operations += count,
            Err(failure) => failures.push(failure),
        }
    }
    println!(
        "{package}: {count} programs, {operations} operations, {} failures; {beyond} beyond the package",
        failures.len()
    );
    (operations, failures)
}

#[test]
fn files_of_other_packages_in_turns() {
    let Some(referee) = referee::python() else { return };
    if !python().exists() {
        let why = format!("no {} (`cargo xtask alternate --clients` makes it)", python().display());
        workspace::skip("files_of_other_packages_in_turns", &why);
        return;
    }
    let count = crate::setting("HYPERSLAB_ALTERNATE").map_or(FEW, |count| count.div_ceil(20));
    let base = crate::setting("HYPERSLAB_ALTERNATE_SEED").unwrap_or(1);
    let tried = PACKAGES.map(|package| try_package(&referee, package, count, base));
    let failures: Vec<String> = tried.into_iter().flat_map(|(_, failures)| failures).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
