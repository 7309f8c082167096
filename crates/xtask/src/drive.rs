//! `cargo xtask drive`: drives the page in real browsers: the page of a server, and the page
//! without a server, on which a file is dropped.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use hyperslab_testkit::workspace;

use crate::shell;

/// The folder of the files that the task makes.
const FOLDER: &str = "target/drive";
/// The pictures of the book.
const PICTURES: &str = "docs/guide/pictures/viewer";
/// The pictures that the book shows, and their places in the folder of all pictures.
const SHOWN: [(&str, &str); 3] =
    [("image.png", "image.png"), ("matrix.png", "matrix.png"), ("drop.png", "chromium/drop.png")];
/// The size of the large file in gigabytes, nearly all of which the disk does not store.
const LARGE_GIGABYTES: &str = "100";

/// The program that writes the file.
const EXAMPLE: [&str; 6] = ["run", "--package", "hyperslab-serve", "--example", "shown", "--"];

/// A program that runs until the value is dropped.
struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // An error means that the program has ended.
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts a server, which prints its address.
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("a server cannot be started")?;
        let mut address = String::new();
        let output = child.stdout.take().context("no standard output")?;
        BufReader::new(output).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }
}

/// Drives the pages. With `--update`, replaces the pictures of the book.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut update, mut binary) = (false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--update" => update = true,
            "--binary" => binary = Some(PathBuf::from(words.next().context("--binary PROGRAM")?)),
            _ => bail!("cargo xtask drive [--binary PROGRAM] [--update]"),
        }
    }
    if !shell::is_installed("npm", &["--version"]) {
        println!("skipped: the tests in browsers need Node.js and npm");
        return Ok(());
    }
    if !["chromium", "firefox-esr"].iter().any(|program| shell::is_installed(program, &["--version"])) {
        println!("skipped: the tests in browsers need `chromium` or `firefox-esr`");
        return Ok(());
    }
    let folder = workspace::root().join(FOLDER);
    std::fs::create_dir_all(&folder)?;
    shell::run(&mut shell::command("npm", &["ci", "--prefix", "viewer", "--no-audit", "--no-fund"]))?;
    let program = if let Some(program) = binary {
        program
    } else {
        shell::run(&mut shell::cargo(&["build", "--package", "hyperslab-cli", "--features", "serve"]))?;
        workspace::root().join("target/debug/hyperslab")
    };
    let file = folder.join("shown.h5");
    shell::run(shell::cargo(&EXAMPLE).arg(&file))?;
    with_server(&program, &file, &folder)?;
    without_server(&program, &file, &folder)?;
    if update {
        let pictures = workspace::root().join(PICTURES);
        std::fs::create_dir_all(&pictures)?;
        for (name, made) in SHOWN {
            let to = pictures.join(name);
            std::fs::copy(folder.join("pictures").join(made), &to)
                .with_context(|| to.display().to_string())?;
        }
    }
    Ok(())
}

/// Drives the page of `hyperslab serve`.
fn with_server(program: &Path, file: &Path, folder: &Path) -> Result<()> {
    let mut serve = shell::command(program, &["serve", "--no-token"]);
    let server = Running::start(serve.arg(file))?;
    let mut drive = shell::command("node", &["viewer/drive/drive.mjs", "chromium", &server.address]);
    shell::run(drive.arg("--pictures").arg(folder.join("pictures")))?;
    let guarded = Running::start(shell::command(program, &["serve"]).arg(file))?;
    shell::run(&mut shell::command("node", &["viewer/drive/attacks.mjs", &guarded.address]))
}

/// Returns a call of Node.js for a browser. Firefox shows pictures only with a display.
fn node(browser: &str, arguments: &[&str]) -> Command {
    if browser == "firefox" && shell::is_installed("xvfb-run", &["--help"]) {
        return shell::command("xvfb-run", &[&["--auto-servernum", "node"], arguments].concat());
    }
    shell::command("node", arguments)
}

/// Drives the page of `hyperslab serve --export-page` in two browsers, and with a file at a URL.
fn without_server(program: &Path, file: &Path, folder: &Path) -> Result<()> {
    let page = folder.join("page");
    shell::run(shell::command(program, &["serve", "--export-page"]).arg(&page))?;
    std::fs::copy(file, page.join("shown.h5")).context("the file at a URL")?;
    let server = Running::start(shell::command("node", &["viewer/drive/static.mjs"]).arg(&page))?;
    for browser in ["chromium", "firefox"] {
        let mut drive = node(browser, &["viewer/drive/drive.mjs", browser, &server.address]);
        drive.arg("--file").arg(file).arg("--pictures").arg(folder.join("pictures").join(browser));
        shell::run(&mut drive)?;
        let mut remote = node(browser, &["viewer/drive/remote.mjs", browser, &server.address]);
        remote.arg(file).arg("--pictures").arg(folder.join("pictures").join(browser));
        shell::run(&mut remote)?;
    }
    let address = format!("{}?url={}shown.h5", server.address, server.address);
    shell::run(&mut shell::command("node", &["viewer/drive/drive.mjs", "chromium", &address]))?;
    if !shell::is_installed("chromium", &["--version"]) {
        return Ok(());
    }
    let large = page.join("large.h5");
    shell::run(shell::cargo(&EXAMPLE).arg(&large).arg(LARGE_GIGABYTES))?;
    let mut measure = shell::command("node", &["viewer/drive/large.mjs", &server.address]);
    let measured = shell::run(measure.arg(&large).arg("large.h5"));
    std::fs::remove_file(&large)?;
    measured
}
