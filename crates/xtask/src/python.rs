//! `cargo xtask python`: builds the wheel of the Python package, installs it into a Python of its
//! own, and runs the package's tests, the checks of its types, and the tests of h5py on it.
//!
//! CI builds the wheel without optimization (`--dev`): the build of the tests has compiled nearly
//! all of that wheel, while an optimized wheel takes some minutes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{referee, workspace};
use serde_json::Value;

use crate::shell;

const CRATE: &str = "crates/python";
const REQUIREMENTS: &str = "crates/python/requirements.txt";
/// The lists of the tests of other packages that have passed.
const PASSED: &str = "crates/python/tests/passed";
/// The suites that run in CI; `--suites` adds the others.
const SAMPLE: [&str; 1] = ["h5py"];
const OTHERS: [&str; 4] = ["h5netcdf", "xarray", "xarray-engine", "anndata"];
/// The profile of the wheel that users install.
pub(crate) const WHEEL: &str = shell::DIST;
/// The interpreters that can build and run the package, best first.
const PYTHONS: [&str; 4] = ["python3", "python3.13", "python3.12", "python3.11"];

/// Runs the task.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut all, mut update, mut check, mut profile) = (false, false, true, WHEEL);
    for arg in args {
        match arg.as_str() {
            "--suites" => all = true,
            "--update" => update = true,
            "--only-suites" => (all, check) = (true, false),
            "--dev" => profile = "dev",
            _ => bail!("cargo xtask python [--suites | --only-suites] [--update] [--dev]"),
        }
    }
    let Some(python) = prepare()? else { return Ok(()) };
    install(&python, profile)?;
    if check {
        checks(&python)?;
    }
    let mut lost = suites(&python, &SAMPLE, update)?;
    if all {
        lost += suites(&python, &OTHERS, update)?;
    }
    ensure!(lost == 0, "{lost} tests of other packages have passed before and do not pass");
    Ok(())
}

/// Returns the folder of the task's files.
fn work() -> PathBuf {
    workspace::root().join("target/python")
}

/// Prepares a Python with the locked packages. Returns `None` after it has printed why the task is
/// skipped.
pub(crate) fn prepare() -> Result<Option<PathBuf>> {
    let venv = work().join("venv");
    let python = referee::python_in(&venv);
    let locked = std::fs::read_to_string(workspace::root().join(REQUIREMENTS)).context(REQUIREMENTS)?;
    let stamp = venv.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == locked) && python.exists() {
        return Ok(Some(python));
    }
    let is_new = ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"];
    let Some(base) = PYTHONS.iter().find(|name| shell::is_installed(name, &is_new)) else {
        println!("python: skipped: no Python from 3.11 on is installed");
        return Ok(None);
    };
    std::fs::create_dir_all(work())?;
    let made = shell::run(shell::command(*base, &["-m", "venv", "--clear"]).arg(&venv)).and_then(|()| {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        shell::run(shell::command(&python, &install).arg(REQUIREMENTS))
    });
    if let Err(error) = made {
        println!("python: skipped: the packages of {REQUIREMENTS} cannot be installed: {error:#}");
        return Ok(None);
    }
    std::fs::write(&stamp, locked)?;
    Ok(Some(python))
}

/// Builds the wheel with a profile of Cargo and installs it.
pub(crate) fn install(python: &Path, profile: &str) -> Result<PathBuf> {
    let wheels = work().join("wheels");
    let _ = std::fs::remove_dir_all(&wheels); // It is missing at the first build.
    let build = ["-m", "maturin", "build", "--locked", "--quiet", "--profile", profile];
    let mut command = shell::command(python, &build);
    command
        .arg("--manifest-path")
        .arg(format!("{CRATE}/Cargo.toml"))
        .arg("--out")
        .arg(&wheels)
        .arg("--interpreter")
        .arg(python);
    shell::run(&mut command)?;
    let wheel = std::fs::read_dir(&wheels)?.filter_map(Result::ok).map(|entry| entry.path());
    let wheel = wheel.into_iter().next().context("maturin built no wheel")?;
    let bytes = std::fs::metadata(&wheel)?.len();
    println!("python: {} has {:.1} MB", wheel.display(), bytes as f64 / 1e6);
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    shell::run(shell::command(python, &install).arg(&wheel))?;
    Ok(wheel)
}

/// Runs the package's own tests and the checks of its types.
fn checks(python: &Path) -> Result<()> {
    let folder = workspace::root().join(CRATE);
    let here = |args: &[&str]| {
        let mut command = Command::new(python);
        // The sources lie in `python/`, so that Python finds the installed package, not them.
        command.args(args).current_dir(&folder);
        command
    };
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "300"];
    shell::run(&mut here(&[&pytest[..], &["-n", "2", "tests"]].concat()))?;
    shell::run(&mut here(&[&pytest[..], &["--doctest-modules", "--pyargs", "hyperslab"]].concat()))?;
    // The cache does not belong between the sources.
    let mut mypy = here(&["-m", "mypy", "--strict", "-p", "hyperslab", "--cache-dir"]);
    shell::run(mypy.arg(work().join("mypy")))?;
    // The check writes its cache into the current folder.
    shell::run(here(&["-m", "mypy.stubtest", "hyperslab._hyperslab"]).current_dir(work()))
}

/// Runs suites of other packages. Returns the number of tests that have passed before and fail.
fn suites(python: &Path, names: &[&str], update: bool) -> Result<usize> {
    let results = work().join("suites.json");
    let mut command = shell::command(python, &["crates/python/suites/run.py"]);
    command.args(names).arg("--work").arg(work().join("suites")).arg("--json").arg(&results);
    shell::run(&mut command)?;
    let text = std::fs::read_to_string(&results).with_context(|| results.display().to_string())?;
    let found: Value = serde_json::from_str(&text)?;
    let mut lost = 0;
    for name in names {
        let tests =
            found.get(*name).and_then(Value::as_object).with_context(|| format!("{name}: no results"))?;
        let passed: BTreeSet<&str> =
            tests.iter().filter(|(_, result)| *result == "passed").map(|(id, _)| id.as_str()).collect();
        let list = workspace::root().join(PASSED).join(format!("{name}.txt"));
        if update {
            std::fs::create_dir_all(workspace::root().join(PASSED))?;
            let head = "# Tests that pass with hyperslab in the place of h5py. `cargo xtask python --suites --update` writes the list.";
            let lines: Vec<&str> = std::iter::once(head).chain(passed.iter().copied()).collect();
            std::fs::write(&list, lines.join("\n") + "\n").with_context(|| list.display().to_string())?;
        }
        let before = std::fs::read_to_string(&list).unwrap_or_default(); // A suite without a list has no claim.
        let before = before.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for id in before.filter(|id| !passed.contains(id)) {
            println!("no longer passes: {id}");
            lost += 1;
        }
    }
    Ok(lost)
}
