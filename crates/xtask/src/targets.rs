//! `cargo xtask targets`: checks that the library and the command compile for other systems.

use anyhow::{Context as _, Result, bail, ensure};

use crate::shell;

/// The targets of other operating systems.
const TARGETS: [&str; 3] = ["x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu", "aarch64-apple-darwin"];
/// The packages that other operating systems need. Their default features need no C compiler.
const PACKAGES: [&str; 4] = ["--package", "hyperslab", "--package", "hyperslab-cli"];

/// Compiles the packages for each target whose standard library is installed, without linking.
pub(crate) fn run(args: &[String]) -> Result<()> {
    ensure!(args.is_empty(), "cargo xtask targets");
    let list = shell::output(&mut shell::command("rustup", &["target", "list", "--installed"]))
        .context("the list of installed targets needs rustup")?;
    let mut failed = Vec::new();
    for target in TARGETS {
        if !list.lines().any(|line| line == target) {
            println!("skipped: {target}: `rustup target add {target}` installs its standard library");
            continue;
        }
        let mut check = shell::cargo(&[&["check", "--target", target], &PACKAGES[..]].concat());
        match shell::run(check.env("RUSTFLAGS", "-D warnings")) {
            Ok(()) => println!("{target}: compiles"),
            Err(_) => failed.push(target),
        }
    }
    if !failed.is_empty() {
        bail!("the library or the command does not compile for {}", failed.join(", "));
    }
    Ok(())
}
