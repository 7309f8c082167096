//! `cargo xtask test`: prepares the referee if Python is installed, then runs all tests.

use std::path::Path;

use anyhow::Result;
use hyperslab_testkit::{referee, workspace};

use crate::shell;

const REQUIREMENTS: &str = "crates/testkit/requirements.txt";

pub(crate) fn run(args: &[String]) -> Result<()> {
    prepare_referee();
    let extra: Vec<&str> = args.iter().map(String::as_str).collect();
    if shell::is_installed("cargo-nextest", &["nextest", "--version"]) {
        let with =
            [&["nextest", "run", "--workspace", "--no-tests=warn"], &shell::EVERYTHING[..], extra.as_slice()]
                .concat();
        shell::run(&mut shell::cargo(&with))?;
    } else {
        println!("cargo-nextest is not installed: running `cargo test`");
        let tests = ["test", "--workspace", "--lib", "--bins", "--tests"];
        let with = [&tests, &shell::EVERYTHING[..], extra.as_slice()].concat();
        shell::run(&mut shell::cargo(&with))?;
    }
    shell::run(&mut shell::cargo(&[&["test", "--doc", "--workspace"], &shell::EVERYTHING[..]].concat()))?;
    if referee::python().is_none() {
        println!("\nNote: the referee tests (against libhdf5) were skipped, see above.");
    }
    Ok(())
}

/// Prepares `.venv/` with the locked packages. If this fails, prints the reason; the tests then
/// skip the referee.
pub(crate) fn prepare_referee() {
    if std::env::var_os(referee::PYTHON_VARIABLE).is_some() {
        return; // somebody brought their own
    }
    let locked = std::fs::read_to_string(workspace::root().join(REQUIREMENTS)).unwrap_or_default();
    let venv = referee::venv();
    let stamp = venv.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == locked)
        && referee::python_in(&venv).exists()
    {
        return;
    }
    if let Err(error) = make_venv(&venv).and_then(|()| Ok(std::fs::write(&stamp, locked)?)) {
        println!("Referee tests will be skipped: no Python with h5py could be prepared: {error:#}");
    }
}

fn make_venv(venv: &Path) -> Result<()> {
    let name = if cfg!(windows) { "python" } else { "python3" };
    let mut create = shell::command(name, &["-m", "venv"]);
    shell::run(create.arg(venv))?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS];
    shell::run(&mut shell::command(referee::python_in(venv), &install))
}
