//! `cargo xtask bench-python`: workloads of the Python package, compared with h5py, pyfive,
//! zarr-python and tensorstore.

use anyhow::{Context, Result, bail, ensure};

use crate::{page_part, python, shell};

const SCRIPT: &str = "crates/python/bench/bench.py";
const REQUIREMENTS: &str = "crates/python/bench/requirements.txt";
const PAGE: &str = "docs/benchmarks.md";
const START: &str = "<!-- `cargo xtask bench-python` writes the lines from here to its end marker -->\n";
const END: &str = "<!-- end marker of bench-python -->";

/// Runs the benchmark, or only the workloads whose names follow. With `--update`, writes the table
/// of all workloads into the page of benchmarks.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut update, mut rounds, mut workloads) = (false, "5", Vec::new());
    for arg in args {
        match arg.as_str() {
            "--update" => update = true,
            number if number.parse::<usize>().is_ok() => rounds = number,
            option if option.starts_with('-') => {
                bail!("cargo xtask bench-python [ROUNDS] [--update | WORKLOAD…]")
            }
            workload => workloads.push(workload),
        }
    }
    ensure!(!update || workloads.is_empty(), "--update writes the table of all workloads");
    let Some(interpreter) = python::prepare()? else { return Ok(()) };
    python::install(&interpreter, python::WHEEL)?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS];
    if let Err(error) = shell::run(&mut shell::command(&interpreter, &install)) {
        println!("bench-python: without pyfive, zarr and tensorstore, which cannot be installed: {error:#}");
    }
    let mut bench = shell::command(&interpreter, &[&[SCRIPT, "--rounds", rounds], &workloads[..]].concat());
    let table = shell::output(&mut bench).context("the benchmark failed")?;
    println!("{table}");
    if update {
        page_part::replace(PAGE, [START, END], &table)?;
    }
    Ok(())
}
