//! The two copies of h5py: as published, and with the library of this project in place of its
//! libhdf5.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{referee, workspace};
use serde_json::Value;

use crate::shell;

/// The packages whose published binaries are measured.
const PACKAGES: [&str; 2] = ["h5py==3.16.0", "numpy==2.4.6"];

pub(crate) const PROGRAM: &str = "crates/capi/bench/workloads.py";

/// The parts of h5py that are copied.
const PARTS: [&str; 2] = ["h5py", "h5py.libs"];

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
    /// The folder with h5py.
    pub(crate) modules: PathBuf,
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
        let mut command = shell::command(&self.python, &[PROGRAM]);
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
    pub(crate) fn prepare(folder: &Path, library: &Path) -> Result<Self> {
        let venv = folder.join("venv");
        let python = referee::python_in(&venv);
        let stamp = venv.join("installed.txt");
        let wanted = PACKAGES.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) && python.exists() {
            println!("{} has {}", venv.display(), PACKAGES.join(", "));
        } else {
            let mut create = shell::command("python3", &["-m", "venv", "--clear"]);
            shell::run(create.arg(&venv))?;
            let install =
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
            shell::run(shell::command(&python, &install).args(PACKAGES))?;
            std::fs::write(&stamp, &wanted)?;
        }
        let packages = packages_of(&python)?;
        let modules = folder.join("swapped");
        swap(&packages, &modules, library)?;
        let stock = Client { name: "stock", python: python.clone(), modules: packages };
        Ok(Self { stock, ours: Client { name: "ours", python, modules } })
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

/// Copies h5py and replaces its libhdf5.
fn swap(packages: &Path, modules: &Path, library: &Path) -> Result<()> {
    if modules.exists() {
        std::fs::remove_dir_all(modules)?;
    }
    for part in PARTS {
        copy(&packages.join(part), &modules.join(part))?;
    }
    let libraries = modules.join("h5py.libs");
    let mut replaced = 0;
    for entry in std::fs::read_dir(&libraries)? {
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
