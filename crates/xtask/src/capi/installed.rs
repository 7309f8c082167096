//! A C program that pkg-config, the compiler and the prefix make, and that runs with the library.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::workspace;

use crate::shell;

/// The program, which gets the path of a file.
const PROGRAM: &str = "crates/capi/tests/c/installed.c";

/// Compiles the program with the flags of pkg-config and runs it. Without a C compiler or
/// pkg-config, prints a message.
pub(super) fn check(prefix: &Path) -> Result<()> {
    for program in ["cc", "pkg-config"] {
        if !shell::is_installed(program, &["--version"]) {
            println!("skipped: a C program with the installed library: no {program}");
            return Ok(());
        }
    }
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "hdf5"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = shell::output(&mut ask).context("pkg-config does not find hdf5")?;
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("installed");
    let mut compile = Command::new("cc");
    compile.args(["-std=c99", "-Wall", "-Werror", "-o"]).arg(&program).arg(workspace::root().join(PROGRAM));
    ensure!(compile.args(flags.split_whitespace()).status()?.success(), "{PROGRAM} does not compile");
    let mut run = Command::new(&program);
    run.arg(folder.path().join("x.h5")).env("LD_LIBRARY_PATH", prefix.join("lib"));
    let status = run.status()?;
    ensure!(status.success(), "{PROGRAM}: {status}");
    println!("a C program compiles with pkg-config and runs with the library");
    Ok(())
}
