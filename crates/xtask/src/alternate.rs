//! `cargo xtask alternate`: all random programs that libhdf5 and hyperslab execute in turns on one
//! file. The tests run only a few programs.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use hyperslab_testkit::{referee, workspace};

use crate::{shell, test};

const PROGRAMS: u64 = 2000;
/// Packages that write the first version of some files.
const CLIENTS: [&str; 4] = ["tables", "netCDF4", "anndata", "pandas"];

/// Runs the programs. The arguments are the number of programs and the seed, or `--clients`, which
/// first prepares a Python environment with the packages that write files.
pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    referee::python().context("needs Python with h5py")?;
    let clients = args.iter().any(|arg| arg == "--clients");
    let numbers: Vec<u64> =
        match args.iter().filter(|arg| *arg != "--clients").map(|arg| arg.parse()).collect() {
            Ok(numbers) => numbers,
            Err(_) => bail!("cargo xtask alternate [PROGRAMS] [SEED] [--clients]"),
        };
    let (programs, seed) = match numbers.as_slice() {
        [] => (PROGRAMS, 1),
        [programs] => (*programs, 1),
        [programs, seed] => (*programs, *seed),
        _ => bail!("cargo xtask alternate [PROGRAMS] [SEED] [--clients]"),
    };
    if clients {
        make_clients()?;
    }
    let mut command =
        shell::cargo(&["test", "--package", "hyperslab", "--test", "alternate", "--", "--nocapture"]);
    command.env("HYPERSLAB_ALTERNATE", programs.to_string());
    shell::run(command.env("HYPERSLAB_ALTERNATE_SEED", seed.to_string()))
}

fn venv() -> PathBuf {
    workspace::root().join("target/alternate-clients")
}

fn make_clients() -> Result<()> {
    let name = if cfg!(windows) { "python" } else { "python3" };
    shell::run(shell::command(name, &["-m", "venv"]).arg(venv()))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    shell::run(shell::command(referee::python_in(&venv()), &install).args(CLIENTS))
}
