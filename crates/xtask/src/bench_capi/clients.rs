//! The two copies of the packages: as published, and with the library of this project in place of
//! their libhdf5.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{referee, workspace};
use serde_json::Value;

use crate::shell;

/// The packages that a run measures, and their program.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The packages with their versions, whose published binaries are measured.
    packages: &'static [&'static str],
    pub(crate) program: &'static str,
    /// The packages that are copied, each with the folder of its libraries.
    parts: &'static [[&'static str; 2]],
    /// The name of the folder in `target/bench/`.
    pub(crate) folder: &'static str,
}

/// The workloads of h5py.
pub(crate) const H5PY: Suite = Suite {
    packages: &["h5py==3.16.0", "numpy==2.4.6"],
    program: "crates/capi/bench/workloads.py",
    parts: &[["h5py", "h5py.libs"]],
    folder: "capi",
};

/// The workloads of PyTables and netCDF4-python.
pub(crate) const CLIENTS: Suite = Suite {
    packages: &["tables==3.11.1", "netCDF4==1.7.5.1.post1", "numpy==2.4.6"],
    program: "crates/capi/bench/clients.py",
    parts: &[["tables", "tables.libs"], ["netCDF4", "netcdf4.libs"]],
    folder: "capi-clients",
};

/// A workload of the Python program.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) writes: bool,
}

/// One of the two libraries.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) python: PathBuf,
    /// The folder with the packages.
    pub(crate) modules: PathBuf,
    program: &'static str,
}

/// Both libraries.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) stock: Client,
    pub(crate) ours: Client,
}

impl Client {
    /// Runs the program and returns its output.
    pub(crate) fn call(&self, args: &[&str]) -> Result<Value> {
        let mut command = shell::command(&self.python, &[self.program]);
        command.args(args).env("PYTHONPATH", &self.modules).env("PYTHONDONTWRITEBYTECODE", "1");
        // NumPy's own threads would disturb the measurement.
        command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
        let output = command.output().with_context(|| format!("cannot run {}", self.python.display()))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            bail!("{} with {}: {}\n{message}", args.join(" "), self.name, output.status);
        }
        if output.stdout.is_empty() {
            return Ok(Value::Null);
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

impl Clients {
    /// Makes the environment, unless it exists, and the copy with the library.
    pub(crate) fn prepare(suite: &Suite, folder: &Path, library: &Path) -> Result<Self> {
        let venv = folder.join("venv");
        let python = referee::python_in(&venv);
        let stamp = venv.join("installed.txt");
        let wanted = suite.packages.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && python.exists() {
            println!("{} has {}", venv.display(), suite.packages.join(", "));
        } else {
            let mut create = shell::command("python3", &["-m", "venv", "--clear"]);
            shell::run(create.arg(&venv))?;
            let install =
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
            shell::run(shell::command(&python, &install).args(suite.packages))?;
            std::fs::write(&stamp, &wanted)?;
        }
        let packages = packages_of(&python)?;
        let modules = folder.join("swapped");
        swap(suite, &packages, &modules, library)?;
        let program = suite.program;
        let stock = Client { name: "stock", python: python.clone(), modules: packages, program };
        Ok(Self { stock, ours: Client { name: "ours", python, modules, program } })
    }

    /// Returns the workloads of the program.
    pub(crate) fn workloads(&self) -> Result<Vec<Workload>> {
        let list = self.ours.call(&["list"])?;
        let workload = |entry: &Value| {
            let name = entry.get(0)?.as_str()?.to_owned();
            let text = entry.get(1)?.as_str()?.to_owned();
            Some(Workload { name, text, writes: entry.get(2)?.as_bool()? })
        };
        let list = list.as_array().context("a list of workloads")?;
        list.iter().map(|entry| workload(entry).context("a workload")).collect()
    }
}

/// Returns the folder of the installed packages.
fn packages_of(python: &Path) -> Result<PathBuf> {
    let code = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let output = shell::output(&mut shell::command(python, &["-c", code])).context("Python does not run")?;
    Ok(output.trim().into())
}

/// Copies the packages and replaces the libhdf5 of each.
fn swap(suite: &Suite, packages: &Path, modules: &Path, library: &Path) -> Result<()> {
    if modules.exists() {
        std::fs::remove_dir_all(modules)?;
    }
    for [package, libraries] in suite.parts {
        copy(&packages.join(package), &modules.join(package))?;
        copy(&packages.join(libraries), &modules.join(libraries))?;
        replace(&modules.join(libraries), library)?;
    }
    Ok(())
}

/// Replaces the libhdf5 in a folder of libraries.
fn replace(libraries: &Path, library: &Path) -> Result<()> {
    let mut replaced = 0;
    for entry in std::fs::read_dir(libraries)? {
        let file = entry?.path();
        // The name of the high-level library begins with `libhdf5_hl`.
        if file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libhdf5-")) {
            std::fs::copy(library, workspace::root().join(&file))
                .with_context(|| format!("cannot copy {}", library.display()))?;
            replaced += 1;
        }
    }
    ensure!(replaced == 1, "{} has {replaced} files libhdf5-*", libraries.display());
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
