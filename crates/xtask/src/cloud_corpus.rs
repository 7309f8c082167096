//! `cargo xtask cloud-corpus`: reads every file of the corpus from disk, through the blocking
//! driver of hyperslab-cloud, and through its `AsyncFile`. The contents must be the same.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{corpus, workspace};

use crate::corpus::listed;
use crate::shell;

const EXCEPTIONS: &str = "docs/cloud-exceptions.md";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let binary = match args {
        [] => None,
        [option, binary] if option == "--binary" => Some(PathBuf::from(binary)),
        _ => bail!("cargo xtask cloud-corpus [--binary PROGRAM]"),
    };
    let Some(dir) = corpus::dir() else { return Ok(()) };
    let program = match binary {
        Some(binary) => std::path::absolute(binary)?,
        None => build()?,
    };
    let mut found = Vec::new();
    let cases = corpus::cases(&dir)?;
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let whole = compare(&program, &dir.join("files"), &names, &mut found)?;
    println!("cloud-corpus: {} of {} files have the same contents", whole - found.len(), whole);
    let text = std::fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let known = listed(&text);
    let new: Vec<&String> = found.iter().filter(|line| !known.contains(name_of(line))).collect();
    ensure!(new.is_empty(), "the contents of {} files differ: {new:#?}", new.len());
    let gone: Vec<&&str> =
        known.iter().filter(|name| !found.iter().any(|line| name_of(line) == **name)).collect();
    ensure!(gone.is_empty(), "{EXCEPTIONS} lists files that do not differ or do not exist: {gone:?}");
    Ok(())
}

/// Builds the program that compares files, and returns its path.
fn build() -> Result<PathBuf> {
    let build = ["build", "--release", "--package", "hyperslab-cloud", "--example", "cloud_digest"];
    shell::run(&mut shell::cargo(&build))?;
    Ok(workspace::root().join("target/release/examples/cloud_digest"))
}

/// Returns the name of the file in a line about a difference.
fn name_of(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(name, _)| name)
}

/// Compares files, adds a line for each difference, and returns the number of files.
fn compare(program: &Path, folder: &Path, names: &[&str], found: &mut Vec<String>) -> Result<usize> {
    let list = workspace::root().join("target/cloud-corpus.txt");
    std::fs::write(&list, names.join("\n"))?;
    let output = shell::command(program, &[]).arg(folder).arg(&list).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "cloud_digest: {}", String::from_utf8_lossy(&output.stderr));
    let mut lines: Vec<&str> = printed.lines().collect();
    let last = lines.pop().context("cloud_digest printed nothing")?;
    ensure!(last.ends_with(&format!(" of {} files are the same", names.len())), "{last}");
    found.extend(lines.into_iter().map(str::to_owned));
    Ok(names.len())
}
