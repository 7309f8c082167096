//! `cargo xtask serve-suites`: the tests of h5grove and H5Web against `hyperslab serve` and against
//! the WebAssembly module of the page, and the comparison with h5grove over the corpus.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{corpus, workspace};

use crate::shell;

const SUITES: &str = "crates/serve/suites";
/// The folder of the checkouts, of the packages and of the files that the task makes.
const FOLDER: &str = "target/serve-suites";
/// The checkouts of h5grove 4.0.0 and of H5Web 17 in this folder.
const H5GROVE: &str = "h5grove";
const H5WEB: &str = "h5web";
/// The packages of the Python that runs the suites.
const PACKAGES: [&str; 7] =
    ["h5py==3.16.0", "numpy==1.26.4", "orjson", "pytest", "requests", "tifffile", "typing-extensions"];

/// A handler of requests.
struct Handler {
    name: &'static str,
    /// The program, or the script of a server that runs the WebAssembly module.
    program: PathBuf,
}

/// Runs the suites. With `--corpus`, also compares the answers for all files of the corpus.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut with_corpus, mut binary) = (false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--corpus" => with_corpus = true,
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary PROGRAM")?)),
            _ => bail!("cargo xtask serve-suites [--corpus] [--binary PROGRAM]"),
        }
    }
    let folder = workspace::root().join(FOLDER);
    std::fs::create_dir_all(&folder)?;
    let python = python(&folder)?;
    let program = if let Some(program) = binary {
        program
    } else {
        shell::build_command()?;
        workspace::root().join("target/release/hyperslab")
    };
    let mut handlers = vec![Handler { name: "hyperslab serve", program }];
    if shell::is_installed("node", &["--version"]) {
        let program = workspace::root().join(SUITES).join("wasm_server.mjs");
        handlers.push(Handler { name: "the WebAssembly module", program });
    } else {
        println!("skipped: the suites of the WebAssembly module need Node.js");
    }
    let mut failed = Vec::new();
    for handler in &handlers {
        failed.extend(suites(handler, &folder, &python)?);
    }
    if with_corpus && let (Some(corpus), Some(checkout)) = (corpus::dir(), checkout(&folder, H5GROVE)) {
        let mut command = shell::command(&python, &[&format!("{SUITES}/differential.py")]);
        let program = handlers.first().map(|handler| &handler.program).context("no program")?;
        command.arg(checkout).arg(program).arg(corpus.join("files"));
        if shell::run(&mut command).is_err() {
            failed.push("differences from h5grove".to_owned());
        }
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Runs the suites of both projects. Returns the names of those that failed.
fn suites(handler: &Handler, folder: &Path, python: &Path) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    if let Some(checkout) = checkout(folder, H5GROVE) {
        let mut command = shell::command(python, &[&format!("{SUITES}/h5grove_cases.py")]);
        if shell::run(command.arg(checkout).arg(&handler.program).arg("-q")).is_err() {
            failed.push(format!("h5grove's cases with {}", handler.name));
        }
    }
    if let Some(checkout) = checkout(folder, H5WEB) {
        if !shell::is_installed("npm", &["--version"]) {
            println!("skipped: the test of H5Web needs Node.js and npm");
            return Ok(failed);
        }
        let mut command = shell::command(python, &[&format!("{SUITES}/h5web_snapshot.py")]);
        command.arg(checkout).arg(&handler.program).arg(folder.join("h5web-test"));
        if shell::run(&mut command).is_err() {
            failed.push(format!("H5Web's snapshot with {}", handler.name));
        }
    }
    Ok(failed)
}

/// Returns the path of a checkout; `None` after a message if it does not exist.
fn checkout(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {FOLDER}/{name} must be a git checkout of {name}, or a link to one");
    None
}

/// Returns a Python with the packages of the suites.
fn python(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("python/bin/python");
    if !python.exists() {
        shell::run(shell::command("python3", &["-m", "venv"]).arg(folder.join("python")))?;
    }
    let install =
        [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], &PACKAGES[..]].concat();
    shell::run(&mut shell::command(&python, &install))?;
    Ok(python)
}
