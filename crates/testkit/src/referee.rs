//! The referee: libhdf5 itself, asked through h5py, about what hyperslab reads and writes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// Names the Python to use instead of the one in `.venv/`; it must have h5py.
pub const PYTHON_VARIABLE: &str = "HYPERSLAB_REFEREE_PYTHON";

/// A Python that has h5py.
#[derive(Debug, Clone)]
pub struct Referee {
    python: PathBuf,
}

/// The referee, or `None` after a line on stderr. `cargo xtask test` makes it.
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

/// Where `cargo xtask test` puts the virtual environment.
#[must_use]
pub fn venv() -> PathBuf {
    workspace::root().join(".venv")
}

/// The Python inside a virtual environment.
#[must_use]
pub fn python_in(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") }
}

fn find() -> std::result::Result<Referee, String> {
    let named = std::env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let python = named.clone().unwrap_or_else(|| python_in(&venv()));
    if named.is_none() && !python.exists() {
        return Err(format!("no {} (`cargo xtask test` makes it)", python.display()));
    }
    let referee = Referee { python };
    match referee.run_script("import h5py, hdf5plugin; print('ready')", [""; 0]) {
        Ok(_) => Ok(referee),
        Err(error) => Err(format!("{error:#}")),
    }
}

impl Referee {
    /// The interpreter.
    #[must_use]
    pub fn python(&self) -> &Path {
        &self.python
    }

    /// Runs `code` with `args` in `sys.argv[1:]` and gives its standard output.
    ///
    /// # Errors
    /// Python cannot be started, or ends with a non-zero status: its standard error is in the message.
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
        let text = String::from_utf8(output.stdout).context("the referee's output is no UTF-8")?;
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
