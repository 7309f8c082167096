//! `cargo xtask capi`: the C interface as an installed library. The prefix `target/capi/` has the
//! shared libraries, the headers, and the files by which pkg-config, CMake and makefiles find them.
//! A copy of the folder works at any place.

mod installed;
mod prefix;

use std::path::PathBuf;

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use self::prefix::Prefix;
use crate::shell;

/// The package that makes the library.
const PACKAGE: &str = "hyperslab-capi";
/// The package that makes the high-level library.
const HIGH_LEVEL: &str = "hyperslab-capi-hl";

/// Builds the library, or takes a built one, writes the prefix, and tries it with a C program.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let library = match words.as_slice() {
        [] => build(&[HIGH_LEVEL], &["--release"], "release")?,
        ["--debug"] => build(&[HIGH_LEVEL], &[], "debug")?,
        ["--library", file] => PathBuf::from(file),
        _ => bail!("cargo xtask capi [--debug | --library FILE]"),
    };
    let root = workspace::root();
    let headers = vec![root.join("crates/capi/include"), root.join("crates/capi-hl/include")];
    let prefix = Prefix { folder: root.join("target/capi"), headers };
    let high_level = library.with_file_name(prefix::HIGH_LEVEL.built);
    let notes = prefix.write(&library, high_level.is_file().then_some(high_level.as_path()))?;
    for note in notes {
        println!("note: {note}");
    }
    println!("{}", prefix.folder.display());
    installed::check(&prefix.folder)
}

/// Builds the library with optimization. Returns its file.
pub(crate) fn build_release() -> Result<PathBuf> {
    build(&[], &["--release"], "release")
}

/// Builds the library and other packages. Returns the file of the library.
fn build(others: &[&str], options: &[&str], profile: &str) -> Result<PathBuf> {
    let packages: Vec<&str> = [PACKAGE].iter().chain(others).flat_map(|name| ["--package", name]).collect();
    shell::run(&mut shell::cargo(&[&["build"], packages.as_slice(), options].concat()))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(workspace::root().join(target).join(profile).join(prefix::MAIN.built))
}
