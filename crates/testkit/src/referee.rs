//! The referee: libhdf5, used through h5py, which decides whether hyperslab reads and writes
//! correctly.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// The environment variable with the path of a Python that replaces the one in `.venv/`. The Python
/// must have h5py.
pub const PYTHON_VARIABLE: &str = "HYPERSLAB_REFEREE_PYTHON";

/// A Python interpreter with h5py.
#[derive(Debug, Clone)]
pub struct Referee {
    python: PathBuf,
}

/// Returns the referee. If there is none, prints a line to stderr and returns `None`. `cargo xtask
/// test` installs the referee.
#[must_use]
pub fn python() -> Option<Referee> {
    static FOUND: OnceLock<std::result::Result<Referee, String>> = OnceLock::new();
    match FOUND.get_or_init(find) {
        Ok(referee) => Some(referee.clone()),
        Err(why) => {
            workspace::skip("referee tests", why);
            None
        }
    }
}

/// Returns the folder in which `cargo xtask test` creates the virtual environment.
#[must_use]
pub fn venv() -> PathBuf {
    workspace::root().join(".venv")
}

/// Returns the path of the Python in a virtual environment.
#[must_use]
pub fn python_in(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") }
}

/// Finds a Python, and checks that it has the required modules.
fn find() -> std::result::Result<Referee, String> {
    let named = std::env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let python = named.clone().unwrap_or_else(|| python_in(&venv()));
    if named.is_none() && !python.exists() {
        return Err(format!("{} does not exist (`cargo xtask test` creates it)", python.display()));
    }
    let referee = Referee { python };
    match referee.run_script("import h5py, hdf5plugin; print('ready')", [""; 0]) {
        Ok(_) => Ok(referee),
        Err(error) => Err(format!("{error:#}")),
    }
}

impl Referee {
    /// Returns the path of the interpreter.
    #[must_use]
    pub fn python(&self) -> &Path {
        &self.python
    }

    /// Runs `code` with `args` in `sys.argv[1:]`, and returns its standard output.
    ///
    /// # Errors
    /// An error if Python cannot be started or ends with a non-zero status. The message contains
    /// its standard error.
    pub fn run_script<A: AsRef<OsStr>>(
        &self,
        code: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Result<String> {
        let output = Command::new(&self.python)
            .args(["-c", code])
            .args(args)
            .env("HDF5_USE_FILE_LOCKING", "FALSE")
            .output()
            .with_context(|| format!("cannot run {}", self.python.display()))?;
        let text = String::from_utf8(output.stdout).context("the referee's output is not UTF-8")?;
        if !output.status.success() {
            bail!(
                "{}: {}\n{}",
                self.python.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_referee_reads_the_showcase() {
        let Some(referee) = python() else { return };
        let code = "import h5py, sys; print(len(h5py.File(sys.argv[1])['series/temperature']))";
        let answer = referee.run_script(code, [fixtures::path("weather_station.h5")]).unwrap();
        assert_eq!(answer.trim(), "8760");
    }

    #[test]
    fn a_failing_script_is_an_error_with_its_reason() {
        let Some(referee) = python() else { return };
        let error = referee.run_script("raise SystemExit('because')", [""; 0]).unwrap_err();
        assert!(error.to_string().contains("because"), "{error}");
    }
}
