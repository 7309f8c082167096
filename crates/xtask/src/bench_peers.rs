//! `cargo xtask bench-peers`: arrays in compressed chunks, written and read by hyperslab,
//! `rust-hdf5`, `hdf5-pure`, `zarrs` and TileDB.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use hyperslab_testkit::workspace;

use crate::{page_part, shell};

const PAGE: &str = "docs/benchmarks/peers.md";
const START: &str = "<!-- `cargo xtask bench-peers` writes the lines from here to its end marker -->\n";
const END: &str = "<!-- end marker of bench-peers -->";
/// The table that the benchmark writes.
const TABLE: &str = "target/bench/peers/table.md";
/// The environment variable that names a Python with TileDB, in place of the benchmarks' own.
const PYTHON_VARIABLE: &str = "HYPERSLAB_BENCH_PYTHON";
/// The packages of the benchmarks' own Python.
const PACKAGES: [&str; 6] = ["tiledb", "numpy", "h5py", "hdf5plugin", "scipy", "zarr"];

/// Runs the benchmark. With `--update`, writes its tables to the page of the book.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut update, mut words) = (false, Vec::new());
    for arg in args {
        match arg.as_str() {
            "--update" => update = true,
            option if option.starts_with('-') => {
                bail!("cargo xtask bench-peers [ROUNDS] [only=TEXT | --update]")
            }
            word => words.push(word),
        }
    }
    if update && words.iter().any(|word| word.starts_with("only=")) {
        bail!("--update writes the tables of all chunks and filters");
    }
    let fixed = ["run", "--profile", shell::DIST, "--quiet", "--package", "hyperslab-bench", "--", "peers"];
    let mut bench = shell::cargo(&[&fixed, words.as_slice()].concat());
    choose_python(&mut bench);
    shell::run(&mut bench)?;
    if !update {
        return Ok(());
    }
    let table = std::fs::read_to_string(workspace::root().join(TABLE)).context(TABLE)?;
    page_part::replace(PAGE, [START, END], &table)
}

/// Passes the benchmarks' own Python to a benchmark, if no other Python is chosen.
pub(crate) fn choose_python(bench: &mut Command) {
    if std::env::var_os(PYTHON_VARIABLE).is_some() {
        return;
    }
    match python() {
        Ok(python) => drop(bench.env(PYTHON_VARIABLE, python)),
        Err(error) => {
            println!("the packages of other formats, such as TileDB, cannot be installed: {error:#}");
        }
    }
}

/// Returns a Python with TileDB and other formats, which the first run installs.
fn python() -> Result<PathBuf> {
    let folder = workspace::root().join("target/bench/peers-python");
    let python = folder.join("bin/python");
    if !python.exists() {
        shell::run(shell::command("python3", &["-m", "venv"]).arg(&folder))?;
    }
    let install =
        [&["-m", "pip", "install", "--quiet", "--upgrade", "--disable-pip-version-check"], &PACKAGES[..]]
            .concat();
    shell::run(&mut shell::command(&python, &install))?;
    Ok(python)
}
