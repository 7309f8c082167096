//! `cargo xtask references`: the references of `hyperslab export kerchunk` and of the Python
//! package against the files of the corpus, and in the suites of kerchunk and VirtualiZarr.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{corpus, referee, workspace};

use crate::corpus::{COMMAND, listed};
use crate::{python, shell};

const FOLDER: &str = "crates/references/suites";
const EXCEPTIONS: &str = "docs/references-exceptions.md";
/// The projects, and the variables with the folders of their sources. Their packages lack tests.
const PROJECTS: [(&str, &str); 2] =
    [("kerchunk", "HYPERSLAB_KERCHUNK_SOURCE"), ("virtualizarr", "HYPERSLAB_VIRTUALIZARR_SOURCE")];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut compares, mut suites, mut binary, mut profile) = (true, true, None, "release");
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        match arg.as_str() {
            "--corpus" => suites = false,
            "--suites" => compares = false,
            "--dev" => profile = "dev",
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary PROGRAM")?)),
            _ => bail!("cargo xtask references [--corpus | --suites] [--binary PROGRAM] [--dev]"),
        }
    }
    let Some(python) = prepare()? else { return Ok(()) };
    let text = std::fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let known = listed(&text);
    let mut found = BTreeSet::new();
    if compares && let Some(dir) = corpus::dir() {
        let program = if let Some(binary) = binary {
            std::path::absolute(binary)?
        } else {
            shell::build_command()?;
            workspace::root().join(COMMAND)
        };
        let differ = compare(&python, &program, &dir)?;
        let is_gone = |name: &&&str| !name.contains("::") && !differ.iter().any(|found| found == **name);
        let gone: Vec<&&str> = known.iter().filter(is_gone).collect();
        ensure!(gone.is_empty(), "{EXCEPTIONS} lists files that do not differ: {gone:?}");
        found.extend(differ);
    }
    if suites {
        python::install(&python, profile)?;
        for (project, variable) in PROJECTS {
            match std::env::var_os(variable) {
                Some(folder) => found.extend(suite(&python, project, Path::new(&folder))?),
                None => workspace::skip(project, &format!("{variable} names no folder with its sources")),
            }
        }
    }
    let new: Vec<&String> = found.iter().filter(|name| !known.contains(name.as_str())).collect();
    ensure!(new.is_empty(), "{EXCEPTIONS} lacks {new:#?}");
    Ok(())
}

/// Prepares a Python with the packages. Returns `None` after it has printed why the task is
/// skipped.
fn prepare() -> Result<Option<PathBuf>> {
    let venv = workspace::root().join("target/references/venv");
    let python = referee::python_in(&venv);
    let requirements = workspace::root().join(FOLDER).join("requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).context("requirements.txt")?;
    let stamp = venv.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(Some(python));
    }
    let made = shell::run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).and_then(|()| {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        shell::run(Command::new(&python).args(install).arg(&requirements))
    });
    if let Err(error) = made {
        workspace::skip("references", &format!("their Python cannot be prepared: {error:#}"));
        return Ok(None);
    }
    std::fs::write(&stamp, wanted)?;
    Ok(Some(python))
}

/// Compares the references of all files of the corpus with the files. Returns the names of the
/// files that differ.
fn compare(python: &Path, program: &Path, dir: &Path) -> Result<Vec<String>> {
    let files = dir.join("files");
    let mut command = shell::command(python, &[]);
    command.arg(workspace::root().join(FOLDER).join("compare.py")).arg(program);
    let output = command.arg(&files).output().context("compare.py")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(printed.contains(" HDF5 files, "), "compare.py did not end");
    let folder = format!("{}/", files.display());
    // A line about a file that was not exported is no difference.
    let differs = |line: &&str| line.starts_with(&folder) && !line.contains(": not exported");
    let names = printed.lines().filter(differs).map(|line| {
        let name = line.trim_start_matches(&folder);
        name.split_once(": ").map_or(name, |(name, _)| name).to_owned()
    });
    Ok(names.collect())
}

/// Runs the HDF5 tests of a project. Returns the names of the tests that fail.
fn suite(python: &Path, project: &str, folder: &Path) -> Result<Vec<String>> {
    let mut command = shell::command(python, &[]);
    command.arg(workspace::root().join(FOLDER).join("others.py")).arg(project);
    command.arg(folder).args(["--timeout=300", "-rfE"]);
    let output = command.output().context("others.py")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(printed.contains(" passed"), "no test of {project} passed");
    let failed = printed.lines().filter_map(|line| {
        let test = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
        let test = test.split_once(" - ").map_or(test, |(test, _)| test);
        Some(test.rsplit('/').next().unwrap_or(test).to_owned())
    });
    Ok(failed.collect())
}
