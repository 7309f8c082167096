//! The program that runs the same cases with the crate `rust-hdf5`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hyperslab_testkit::workspace;

use crate::case::Program;

/// The built program.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    binary: PathBuf,
    /// The version of the crate.
    pub(crate) version: String,
}

impl Peer {
    /// Builds the program, in a workspace of its own, so that no other crate depends on the peer.
    /// With `mapped`, the program maps every file that it reads into memory.
    pub(crate) fn build(mapped: bool) -> Result<Self> {
        let folder = workspace::root().join("crates/bench/peer");
        let target = workspace::root().join("target/peer");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--release", "--quiet", "--locked", "--target-dir"]).arg(&target);
        cargo.args(mapped.then_some("--features=mapped"));
        let status = cargo.current_dir(&folder).status().context("needs cargo")?;
        ensure!(status.success(), "{}: cargo failed", folder.display());
        let lock = std::fs::read_to_string(folder.join("Cargo.lock"))?;
        let version = lock.split("name = \"rust-hdf5\"\nversion = \"").nth(1);
        let version = version.and_then(|rest| rest.split('"').next()).unwrap_or("of an unknown version");
        // Both variants are built in the same folder.
        let binary = target.join(if mapped { "mapped" } else { "plain" });
        std::fs::copy(target.join("release/hyperslab-bench-peer"), &binary)?;
        Ok(Self { binary, version: version.to_owned() })
    }

    /// Returns the command that starts the program. The program uses as many threads as there are
    /// processors, more than its default.
    pub(crate) fn command(&self, program: Program) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg(program.word()).env("RUST_HDF5_IO_THREADS", crate::contest::threads().to_string());
        command
    }
}
