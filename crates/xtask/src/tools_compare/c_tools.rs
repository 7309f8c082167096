//! The C tools of a release of HDF5: a folder of programs, or packages of Debian.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use crate::shell;

/// The environment variable that names a folder with the C tools.
const VARIABLE: &str = "HYPERSLAB_C_TOOLS";
/// The folder of the downloaded packages, from the root of the checkout.
const FOLDER: &str = "target/c-tools";
/// The release of Debian with the newest HDF5.
const RELEASE: &str = "sid";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The program that ends a run after this many seconds.
pub(super) const SECONDS: &str = "60";
/// The exit status of `timeout` if the time is over.
pub(super) const TOO_LONG: i32 = 124;

/// The C tools, and their release.
#[derive(Debug)]
pub(super) struct CTools {
    place: Place,
    pub(super) version: String,
}

/// The location of the C tools.
#[derive(Debug)]
enum Place {
    /// A folder of programs that run on this machine.
    Folder(PathBuf),
    /// Unpacked packages with their own C library and loader.
    Packages { loader: PathBuf, libraries: PathBuf, programs: PathBuf },
}

/// The memory that the C library gives to a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Memory {
    Plain,
    /// Memory at other addresses, filled with a pattern.
    Other,
}

impl CTools {
    /// Returns the C tools. If there are none, prints the reason and returns `None`.
    pub(super) fn find() -> Result<Option<Self>> {
        let place = match std::env::var_os(VARIABLE) {
            Some(folder) => Place::Folder(folder.into()),
            None => match downloaded()? {
                Ok(place) => place,
                Err(why) => {
                    let why = format!("{why} (set {VARIABLE} to a folder with h5dump, h5diff, h5ls, h5stat)");
                    workspace::skip("comparison of the tools", &why);
                    return Ok(None);
                }
            },
        };
        let mut tools = Self { place, version: String::new() };
        let mut call = tools.command("h5dump");
        call.arg("--version");
        let said = shell::output(&mut call).context("the C tool h5dump does not run")?;
        tools.version = said.split_whitespace().last().unwrap_or("unknown").to_owned();
        Ok(Some(tools))
    }

    fn command(&self, tool: &str) -> Command {
        let mut command = Command::new("timeout");
        command.arg(SECONDS);
        match &self.place {
            Place::Folder(folder) => command.arg(folder.join(tool)),
            Place::Packages { loader, libraries, programs } => {
                let all = format!("{0}:{0}/hdf5/serial", libraries.display());
                command.arg(loader).arg("--library-path").arg(all).arg(programs.join(tool))
            }
        };
        command
    }

    /// Runs a C tool in a folder.
    pub(super) fn run<'a>(
        &self,
        tool: &str,
        arguments: impl Iterator<Item = &'a str>,
        folder: &Path,
        memory: Memory,
    ) -> Result<Output> {
        let mut call = self.command(tool);
        if matches!(memory, Memory::Other) {
            call.env("GLIBC_TUNABLES", "glibc.malloc.perturb=170:glibc.malloc.mmap_threshold=512");
        }
        finish(call.args(arguments), folder)
    }
}

/// Runs a program in a folder, without input. The time zone and the language are the same for all
/// tools.
pub(super) fn finish(call: &mut Command, folder: &Path) -> Result<Output> {
    call.env("TZ", "UTC").env("LC_ALL", "C").stdin(Stdio::null()).current_dir(folder);
    call.output().with_context(|| format!("{call:?}"))
}

/// Returns the tools in Debian's packages, which it downloads once. Returns a reason if it cannot.
fn downloaded() -> Result<Result<Place, String>> {
    let folder = workspace::root().join(FOLDER);
    let root = folder.join("root");
    if !root.join("usr/bin/h5dump").is_file() {
        let architecture = shell::output(&mut shell::command("dpkg", &["--print-architecture"]));
        if architecture.as_deref().map(str::trim) != Some("amd64") {
            return Ok(Err("the packages need a Debian system on x86-64".into()));
        }
        let Some(mirror) = mirror() else {
            return Ok(Err("apt knows no mirror of Debian (run `apt-get update` first)".into()));
        };
        if download(&folder, &mirror).is_err() {
            return Ok(Err(format!("the packages of Debian {RELEASE} cannot be downloaded")));
        }
        unpack(&folder, &root)?;
    }
    let libraries = root.join("usr/lib/x86_64-linux-gnu");
    let loader = libraries.join("ld-linux-x86-64.so.2");
    Ok(Ok(Place::Packages { loader, libraries, programs: root.join("usr/bin") }))
}

/// Returns the address of the Debian mirror of this machine.
fn mirror() -> Option<String> {
    let format = "$(ORIGIN)|$(LABEL)|$(REPO_URI)";
    let sites = shell::output(&mut shell::command("apt-get", &["indextargets", "--format", format]))?;
    sites.lines().find_map(|line| line.strip_prefix("Debian|Debian|")).map(str::to_owned)
}

/// Downloads the tools with all packages that they need, as if nothing was installed.
fn download(folder: &Path, mirror: &str) -> Result<()> {
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(folder.join(part))?;
    }
    fs::write(folder.join("status"), "")?;
    let sources = format!("deb [signed-by={KEYS}] {mirror} {RELEASE} main\n");
    fs::write(folder.join("sources.list"), sources)?;
    let options = [
        ("Dir::Etc::sourcelist", "sources.list"),
        ("Dir::State::lists", "lists"),
        ("Dir::State::status", "status"),
        ("Dir::Cache", "cache"),
    ];
    let mut private: Vec<String> = options
        .iter()
        .flat_map(|(name, path)| ["-o".into(), format!("{name}={}", folder.join(path).display())])
        .collect();
    private
        .extend(["-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User=root", "-qq"].map(str::to_owned));
    let get = ["install", "-y", "--download-only", "--no-install-recommends", "hdf5-tools"];
    for arguments in [&["update"][..], &get] {
        let mut call = shell::command("apt-get", &[]);
        let status = call.args(&private).args(arguments).stdin(Stdio::null()).status()?;
        anyhow::ensure!(status.success(), "apt-get {}: {status}", arguments.join(" "));
    }
    Ok(())
}

fn unpack(folder: &Path, root: &Path) -> Result<()> {
    fs::create_dir_all(root)?;
    for entry in fs::read_dir(folder.join("cache/archives"))? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            let mut call = shell::command("dpkg-deb", &["-x"]);
            shell::run(call.arg(&package).arg(root))?;
        }
    }
    Ok(())
}
