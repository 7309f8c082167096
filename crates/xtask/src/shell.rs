//! Calls of other programs, which print the command first.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::workspace;

/// Returns a command that runs in the root of the checkout.
pub(crate) fn command(program: impl Into<PathBuf>, args: &[&str]) -> Command {
    let mut command = Command::new(program.into());
    command.args(args).current_dir(workspace::root());
    command
}

/// Returns a call of the `cargo` that runs this task.
pub(crate) fn cargo(args: &[&str]) -> Command {
    command(std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from), args)
}

/// Arguments of `cargo` that select all parts of the command: tables, pictures, the browser.
pub(crate) const FULL: [&str; 2] = ["--features", "hyperslab-cli/full"];

/// Arguments of `cargo` that select all features that tests and lints of the workspace need. One
/// set of features for all of them saves builds.
pub(crate) const EVERYTHING: [&str; 2] = ["--features", "hyperslab-cli/full,hyperslab/sprs"];

/// The profile of programs that users install or that benchmarks measure, and the name of its
/// folder in the folder of the target.
pub(crate) const DIST: &str = "dist";

/// Builds the `hyperslab` command with all parts into `target/release`.
pub(crate) fn build_command() -> Result<()> {
    let build = ["build", "--release", "--package", "hyperslab-cli"];
    run(&mut cargo(&[&build[..], &FULL].concat()))
}

/// Builds the `hyperslab` command with all parts as users install it. Returns the program.
pub(crate) fn build_dist_command() -> Result<PathBuf> {
    let build = ["build", "--profile", DIST, "--package", "hyperslab-cli"];
    run(&mut cargo(&[&build[..], &FULL].concat()))?;
    Ok(workspace::root().join("target").join(DIST).join("hyperslab"))
}

/// Prints the command and runs it. A non-zero status is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    ensure!(status.success(), "`{line}`: {status}");
    Ok(())
}

/// Returns the command's standard output, or `None` if the command does not run or fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

/// Returns true if `program` runs successfully with `args`.
pub(crate) fn is_installed(program: &str, args: &[&str]) -> bool {
    output(&mut command(program, args)).is_some()
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}
