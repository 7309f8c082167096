//! `hyperslab adopt`: gives a Python wheel hyperslab's library in the place of its own libhdf5, and
//! takes the change back.

mod elf;
mod library;
mod replace;
mod wheel;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use self::library::Library;
use self::wheel::Wheel;
use crate::output;

/// The arguments of `adopt`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A wheel of h5py, netCDF4 or tables has a libhdf5 of its own beside the package, in a folder such as h5py.libs. The command puts
hyperslab's library in the place of this file, and keeps the old file beside it as FILE.before-adopt. It changes nothing if the library
lacks a function that the wheel calls, and takes the change back if Python cannot import the package afterwards.

hyperslab's library is searched for beside the command, in ../lib beside it, and in /usr/lib/hyperslab/hdf5/lib.

Examples:
  hyperslab adopt h5py                                    the h5py of the Python that `python3` starts
  hyperslab adopt netCDF4 tables --lib /opt/hdf5          two wheels, with the library of another folder
  hyperslab adopt .venv/lib/python3.12/site-packages/h5py a package by its folder
  hyperslab adopt h5py --undo                             the wheel's own library again")]
pub(crate) struct AdoptArguments {
    /// Put the wheel's own library back
    #[arg(long)]
    undo: bool,
    /// hyperslab's library: the file, or a folder with it
    #[arg(long, value_name = "PATH", conflicts_with = "undo")]
    lib: Option<PathBuf>,
    /// The Python that imports the packages
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Names of packages, or their folders
    #[arg(required = true, value_name = "PACKAGE")]
    packages: Vec<PathBuf>,
}

/// Runs the command `adopt`.
pub(crate) fn run(arguments: &AdoptArguments) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "only wheels for Linux are supported");
    for package in &arguments.packages {
        let name = package.display();
        if arguments.undo {
            undo(arguments, package).with_context(|| format!("cannot undo the change of `{name}`"))?;
        } else {
            adopt(arguments, package).with_context(|| format!("cannot adopt `{name}`"))?;
        }
    }
    Ok(())
}

fn adopt(arguments: &AdoptArguments, package: &Path) -> Result<()> {
    let wheel = Wheel::find(package, &arguments.python)?;
    let library = Library::find(arguments.lib.as_deref(), wheel.interface())?;
    if wheel.is_adopted_from(&library)? {
        return say(&[("unchanged", wheel.target.display().to_string())]);
    }
    wheel.check(&library)?;
    let backup = replace::replace(&wheel.target, &library)?;
    if let Err(error) = import(&arguments.python, &wheel) {
        replace::undo(&wheel.target)?;
        return Err(error.context("the wheel has its own library again"));
    }
    say(&[
        ("replaced", wheel.target.display().to_string()),
        ("by", library.path.display().to_string()),
        ("backup", backup.display().to_string()),
        ("to undo", format!("hyperslab adopt --undo {}", package.display())),
    ])
}

fn undo(arguments: &AdoptArguments, package: &Path) -> Result<()> {
    let wheel = Wheel::find(package, &arguments.python)?;
    let backup = replace::undo(&wheel.target)?;
    say(&[("restored", wheel.target.display().to_string()), ("from", backup.display().to_string())])
}

/// Imports a package that was given by its name in a new Python.
fn import(python: &Path, wheel: &Wheel) -> Result<()> {
    let Some(name) = &wheel.name else { return Ok(()) };
    let output = Command::new(python).arg("-c").arg(format!("import {name}")).output();
    let output = output.with_context(|| python.display().to_string())?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("Python cannot import {name}: {}", errors.lines().last().unwrap_or("no message"));
    }
    Ok(())
}

/// Prints facts with their names.
fn say(facts: &[(&str, String)]) -> Result<()> {
    let mut out = output::stdout();
    for (name, fact) in facts {
        writeln!(out, "{name:<10}{fact}")?;
    }
    Ok(out.flush()?)
}
