//! Runs of the library's examples. Each example must succeed and write sound files.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::workspace;

use crate::corpus::COMMAND;
use crate::shell;

/// The examples and their arguments. An example comes after the examples that write its input.
const CALLS: &[(&str, &[&str])] = &[
    ("beamline_run", &[]),
    ("read", &[]),
    ("inspect", &["run42.h5"]),
    ("append", &[]),
    ("append", &[]), // appends to the output of the first call
    ("sparse", &[]),
    ("threads", &[]),
    ("virtual_dataset", &[]),
    ("copy_and_repack", &[]),
    ("index_lists", &["256"]),
];
/// The example that draws a picture of the documentation.
const DRAWS: &str = "sparse_chunk_picture";

pub(super) fn run() -> Result<()> {
    let root = workspace::root();
    shell::run(&mut shell::cargo(&["build", "--package", "hyperslab", "--examples"]))?;
    for entry in fs::read_dir(root.join("crates/hyperslab/examples"))? {
        let path = entry?.path();
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let is_called = name == DRAWS || CALLS.iter().any(|(called, _)| *called == name);
        ensure!(is_called, "the example `{name}` is missing in `CALLS`");
    }
    let folder = tempfile::tempdir()?;
    for (name, arguments) in CALLS {
        let program = root.join("target/debug/examples").join(name);
        let output = Command::new(program).args(*arguments).current_dir(folder.path()).output();
        let output = output.with_context(|| format!("the example `{name}`"))?;
        let reported = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the example `{name}`: {}\n{reported}", output.status);
    }
    let drawn = Command::new(root.join("target/debug/examples").join(DRAWS)).output().context(DRAWS)?;
    let current = fs::read(root.join("docs/sparse-chunk.svg"))?;
    ensure!(
        drawn.stdout == current,
        "docs/sparse-chunk.svg differs from the output of the example `{DRAWS}`"
    );
    for entry in fs::read_dir(folder.path())? {
        let path = entry?.path();
        let output = Command::new(root.join(COMMAND)).arg("check").arg(&path).output()?;
        let reported = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success(),
            "an example wrote {}, which is not sound:\n{reported}",
            path.display()
        );
    }
    println!("examples: {} run, all output files are sound", CALLS.len() + 1);
    Ok(())
}
