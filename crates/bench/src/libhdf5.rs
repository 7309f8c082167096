//! The libhdf5 of the referee, and the C programs that call it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::reader::Reader;
use hyperslab_testkit::referee::Referee;
use hyperslab_testkit::{referee, workspace};

/// The libhdf5 inside the referee's h5py.
#[derive(Debug)]
pub(crate) struct Libhdf5 {
    referee: Referee,
    pub(crate) library: PathBuf,
    /// The version of the library.
    pub(crate) version: String,
    /// The folder in which h5py finds filters.
    plugins: OnceCell<String>,
    /// The compiled C programs, by name.
    programs: RefCell<HashMap<String, PathBuf>>,
}

/// The time of one reading, and totals of the values. Two programs with equal totals read the same
/// values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) seconds: f64,
    pub(crate) totals: Totals,
}

/// Counts and a sum over the objects that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    pub(crate) datasets: u64,
    pub(crate) attributes: u64,
    pub(crate) bytes: u64,
    pub(crate) sum: u64,
}

impl Totals {
    /// Adds the bytes of native values.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }
}

/// Returns the folder for inputs and programs, which later runs reuse.
pub(crate) fn folder() -> Result<PathBuf> {
    let folder = workspace::root().join("target/bench");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

impl Libhdf5 {
    /// Finds the library.
    pub(crate) fn find() -> Result<Self> {
        let referee = referee::python().context("needs the referee, which `cargo xtask test` prepares")?;
        let answer = referee.run_script(include_str!("../find_libhdf5.py"), [""; 0])?;
        let mut lines = answer.lines();
        let library = PathBuf::from(lines.next().unwrap_or_default());
        ensure!(library.is_file(), "h5py has no shared libhdf5 of its own");
        let version = lines.next().unwrap_or_default().to_owned();
        Ok(Self { referee, library, version, plugins: OnceCell::new(), programs: RefCell::default() })
    }

    /// Runs a Python program of this crate.
    pub(crate) fn script(&self, code: &str, args: &[&str]) -> Result<String> {
        self.referee.run_script(code, args)
    }

    /// Returns the version of another libhdf5.
    pub(crate) fn version_of(&self, library: &Path) -> Result<String> {
        let name = library.to_str().context("the path is not UTF-8")?;
        Ok(self.script(include_str!("../version_of.py"), &[name])?.trim().to_owned())
    }

    /// Returns the command that starts a C program of this crate with a given libhdf5.
    pub(crate) fn command(&self, program: &str, library: &Path) -> Result<Command> {
        let plugins = if let Some(found) = self.plugins.get() {
            found
        } else {
            let found = self.script("import hdf5plugin\nprint(hdf5plugin.PLUGIN_PATH)", &[])?;
            self.plugins.get_or_init(|| found.trim().to_owned())
        };
        let mut command = Command::new(self.compiled(program)?);
        command.arg(library).env("HDF5_PLUGIN_PATH", plugins);
        Ok(command)
    }

    /// Returns the command that starts the program for h5py.
    pub(crate) fn python(&self, mode: &str) -> Command {
        let mut command = Command::new(self.referee.python());
        command.arg(workspace::root().join("crates/bench/python/serve.py")).arg(mode);
        command.env("HDF5_USE_FILE_LOCKING", "FALSE");
        command
    }

    fn compiled(&self, program: &str) -> Result<PathBuf> {
        if let Some(binary) = self.programs.borrow().get(program) {
            return Ok(binary.clone());
        }
        let binary = compile(program)?;
        self.programs.borrow_mut().insert(program.to_owned(), binary.clone());
        Ok(binary)
    }

    /// Compiles a C program of this crate, and starts the program with the library and a file.
    pub(crate) fn start(&self, program: &str, file: &Path) -> Result<Reader> {
        Reader::start(Command::new(self.compiled(program)?).arg(&self.library).arg(file))
    }

    /// Compiles and starts a C program that receives the files in its requests.
    pub(crate) fn serve(&self, program: &str) -> Result<Reader> {
        self.serve_with(program, &self.library, &[])
    }

    /// Compiles and starts a C program with the given libhdf5 and further arguments.
    pub(crate) fn serve_with(&self, program: &str, library: &Path, words: &[&str]) -> Result<Reader> {
        Reader::start(self.command(program, library)?.args(words))
    }
}

/// Compiles a C program of this crate. Returns the path of the binary.
fn compile(program: &str) -> Result<PathBuf> {
    let source = workspace::root().join("crates/bench/c").join(program).with_extension("c");
    let binary = folder()?.join(program);
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-O2", "-Wall", "-o"]).arg(&binary).arg(&source).arg("-ldl");
    let status = compiler.status().context("needs a C compiler (`cc`, or $CC)")?;
    ensure!(status.success(), "{}: the C compiler failed", source.display());
    Ok(binary)
}
