//! Clients of the C library on the installed library: programs of Debian 12, and the wheels of
//! Python packages, whose library `hyperslab adopt` replaces. Scripts download them into `target/`
//! and run them.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use hyperslab_testkit::workspace;

use crate::shell;

/// The folder of the scripts.
const SCRIPTS: &str = "crates/capi/tests/installed";

/// Runs the programs of Debian 12 on the library of the interface of HDF5 1.10.
pub(super) fn debian(prefix: &Path) -> Result<()> {
    let mut script = shell::command("sh", &[&format!("{SCRIPTS}/debian.sh")]);
    script.arg(prefix.join("lib")).arg(workspace::root().join("target/capi-debian"));
    shell::run(&mut script)
}

/// Runs the wheels of h5py, netCDF4 and tables with the library.
pub(super) fn wheels(prefix: &Path) -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--package", "hyperslab-cli"]))?;
    let command = super::target_folder().join("debug/hyperslab");
    let mut script = shell::command("sh", &[&format!("{SCRIPTS}/wheels.sh")]);
    script.arg(command).arg(prefix.join("lib")).arg(workspace::root().join("target/capi-wheels"));
    shell::run(&mut script)
}

/// The page whose listings run with the library.
const PAGE: &str = "docs/guide/from-libhdf5.md";

/// A file that the listings read as `run42.h5`.
const FILE: &str = "fixtures/layouts_earliest.h5";

/// Runs the commands of the page in a folder with the file and the program that they use. Needs the
/// environments of the other two functions.
pub(super) fn guide(prefix: &Path) -> Result<()> {
    let target = workspace::root().join("target");
    let (wheels, debian) = (target.join("capi-wheels/venv"), target.join("capi-debian"));
    if !wheels.join("ready").exists() || !debian.join("ready").exists() {
        println!("skipped: the listings of {PAGE}: they need the wheels and the programs of Debian");
        return Ok(());
    }
    let text = fs::read_to_string(workspace::root().join(PAGE))?;
    let (script, program) = listings(&text);
    ensure!(script.lines().count() > 5, "{PAGE} has no listings");
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("program.c"), program)?;
    fs::copy(workspace::root().join(FILE), folder.path().join("run42.h5")).context(FILE)?;
    let mut paths =
        vec![super::target_folder().join("debug"), wheels.join("bin"), debian.join("root/usr/bin")];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut shell_command = shell::command("sh", &["-eu", "-c", &script]);
    shell_command.current_dir(folder.path()).env("PREFIX", prefix);
    shell::run(shell_command.env("PATH", std::env::join_paths(paths)?))
}

/// Returns the commands of a page as a script, and its program in C.
fn listings(text: &str) -> (String, String) {
    let (mut script, mut program) = (String::new(), String::new());
    let mut block = "";
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            block = if block.is_empty() { fence } else { "" };
        } else if block.starts_with("console") {
            script.extend(line.strip_prefix("$ ").map(|command| format!("{command}\n")));
        } else if block == "c" {
            program.push_str(&format!("{line}\n"));
        }
    }
    (script, program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_commands_and_a_program() {
        let text = fs::read_to_string(workspace::root().join(PAGE)).unwrap();
        let (script, program) = listings(&text);
        assert!(script.contains("\nhyperslab adopt --undo h5py\n"), "{script}");
        assert!(program.starts_with("#include <hdf5.h>") && program.ends_with("}\n"), "{program}");
    }
}
