//! `cargo xtask book`: the check of the book in `docs/`. The task runs the book's commands and
//! compares their output, runs the Python listings if h5py is installed, checks the links, runs the
//! examples, and builds the book with mdBook into `target/book/`. (The Rust listings are tests of
//! the crate `hyperslab-book`.)

mod examples;
mod links;
mod listings;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hyperslab_testkit::workspace;

use crate::{architecture, shell};

/// The version of mdBook to install if none is installed.
const MDBOOK: &str = "0.5.4";

pub(crate) fn run(args: &[String]) -> Result<()> {
    if args.iter().any(|arg| arg == "--picture") {
        return architecture::check(true).map(drop);
    }
    let update = args.iter().any(|arg| arg == "--update");
    let only: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    let root = workspace::root();
    shell::build_command()?;
    let run_file = root.join("target/tmp/run42.h5");
    fs::create_dir_all(root.join("target/tmp"))?;
    let mut example =
        shell::cargo(&["run", "--quiet", "--package", "hyperslab", "--example", "beamline_run", "--"]);
    shell::run(example.arg(&run_file))?;
    crate::test::prepare_referee();

    let mut differences = Vec::new();
    for page in pages(&root.join("docs"))? {
        let name = page.strip_prefix(&root).unwrap_or(&page).display().to_string();
        if only.is_empty() || only.iter().any(|only| name.contains(only.as_str())) {
            differences.extend(listings::check(&page, &run_file, update).with_context(|| name)?);
        }
    }
    if only.is_empty() {
        examples::run()?;
    }
    differences.extend(architecture::check(update)?);
    differences.extend(speed::check(&root, update)?);
    differences.extend(links::check(&root)?);
    for difference in &differences {
        println!("{difference}");
    }
    if !differences.is_empty() {
        bail!(
            "{} differences in the book; `cargo xtask book --update` rewrites the output of commands",
            differences.len()
        );
    }
    build(&root)
}

/// Returns the pages of a folder and its subfolders, sorted by path.
fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            pages.extend(self::pages(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

fn build(root: &Path) -> Result<()> {
    let mut mdbook = PathBuf::from("mdbook");
    if !shell::is_installed("mdbook", &["--version"]) {
        mdbook = root.join("target/tools/bin/mdbook");
        if !mdbook.exists() {
            let features = ["--no-default-features", "--features", "search", "--debug", "--quiet"];
            let place = ["install", "mdbook", "--locked", "--version", MDBOOK, "--root", "target/tools"];
            shell::run(shell::cargo(&place).args(features))?;
        }
    }
    shell::run(&mut shell::command(mdbook, &["build", "docs"]))
}
