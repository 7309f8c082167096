//! `cargo xtask bench-serve`: speed and memory of `hyperslab serve`, beside those of h5grove.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::{page_part, shell};

const SCRIPT: &str = "crates/serve/bench/compare.py";
const PAGE: &str = "docs/benchmarks/serve.md";
const START: &str = "<!-- `cargo xtask bench-serve` writes the lines from here to its end marker -->\n";
const END: &str = "<!-- end marker of bench-serve -->";
/// The packages of the peer.
const PACKAGES: [&str; 3] = ["h5grove[fastapi]==4.0.0", "h5py==3.16.0", "uvicorn"];

/// Runs the benchmark. With `--update`, writes its table to the page of the book.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut update, mut binary) = (false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--update" => update = true,
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary PROGRAM")?)),
            _ => bail!("cargo xtask bench-serve [--binary PROGRAM] [--update]"),
        }
    }
    if !shell::is_installed("wrk", &["--version"]) && !shell::is_installed("sh", &["-c", "command -v wrk"]) {
        println!("skipped: the benchmark of the server needs `wrk`");
        return Ok(());
    }
    let python = python()?;
    let program = if let Some(program) = binary { program } else { shell::build_dist_command()? };
    let folder = workspace::root().join("target/bench/serve");
    let mut command = shell::command(python, &[SCRIPT]);
    let table = shell::output(command.arg(program).arg(folder)).context("the benchmark failed")?;
    print!("{table}");
    if !update {
        return Ok(());
    }
    page_part::replace(PAGE, [START, END], &table)
}

/// Returns a Python with the packages of the peer.
fn python() -> Result<PathBuf> {
    let folder = workspace::root().join("target/bench/serve-python");
    let python = folder.join("bin/python");
    if !python.exists() {
        shell::run(shell::command("python3", &["-m", "venv"]).arg(&folder))?;
    }
    let install =
        [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], &PACKAGES[..]].concat();
    shell::run(&mut shell::command(&python, &install))?;
    ensure!(python.exists(), "{} does not exist", python.display());
    Ok(python)
}
