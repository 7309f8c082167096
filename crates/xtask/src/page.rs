//! `cargo xtask page`: tests the sources of the page in `viewer/`, builds the page, and compares it
//! with the page in the checkout, which the server contains.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::{shell, wasm};

/// The page that the server contains, and the folder with its sources.
pub(crate) const PAGE: &str = "crates/serve/page";
const SOURCES: &str = "viewer";

/// The folder of the page that is compared.
const BUILT: &str = "target/page";

/// Builds the page, and compares it with the page in the checkout. With `--update`, replaces the
/// page in the checkout.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let update = match arguments {
        [] => false,
        [word] if word == "--update" => true,
        _ => bail!("cargo xtask page [--update]"),
    };
    if !shell::is_installed("npm", &["--version"]) {
        ensure!(!update, "the build of the page needs Node.js and npm");
        println!("skipped: the comparison of the page needs Node.js and npm");
        return Ok(());
    }
    install()?;
    shell::run(&mut shell::command("npm", &["test", "--prefix", SOURCES]))?;
    let target = workspace::root().join(BUILT);
    if target.exists() {
        std::fs::remove_dir_all(&target).with_context(|| format!("cannot remove {}", target.display()))?;
    }
    let target_name = target.to_str().context("the path of the checkout is not UTF-8")?;
    shell::run(&mut shell::command("node", &["viewer/build.mjs", target_name]))?;
    let page = workspace::root().join(PAGE);
    if update { replace(&page, &target) } else { compare(&page, &target) }
}

/// Installs the packages of the page and of its tests: the exact versions of the lock file, and no
/// scripts of packages.
pub(crate) fn install() -> Result<()> {
    shell::run(&mut shell::command("npm", &["ci", "--prefix", SOURCES, "--no-audit", "--no-fund"]))
}

/// Returns the sorted names of the files in a folder, without those that `cargo xtask wasm` makes.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !wasm::MADE.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Replaces the files of the page by those that were built.
fn replace(page: &Path, built: &Path) -> Result<()> {
    for name in names(page)? {
        std::fs::remove_file(page.join(&name)).with_context(|| format!("cannot remove {name}"))?;
    }
    for name in names(built)? {
        std::fs::copy(built.join(&name), page.join(&name)).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

/// Compares the contents of two folders. The compressed bytes depend on the version of Node.js, so
/// the comparison is of the files before compression.
fn compare(committed: &Path, built: &Path) -> Result<()> {
    let (one, two) = (names(committed)?, names(built)?);
    ensure!(one == two, "the page has the files {one:?}, its sources give {two:?}");
    for name in &one {
        let text = |folder: &Path| unpacked(&folder.join(name));
        let same = text(committed)? == text(built)?;
        ensure!(same, "{name} differs from its sources: run `cargo xtask page --update`");
    }
    println!("the page equals its sources: {}", one.join(", "));
    Ok(())
}

fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}
