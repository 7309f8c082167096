//! `cargo xtask swmr`: one writes and two read at the same time, hyperslab and libhdf5 on either side; the tests do it for seconds.

use anyhow::{Result, bail};

use crate::{shell, test};

/// How long each pair runs.
const SECONDS: &str = "120";

/// Seconds for each pair.
pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    let seconds = match args {
        [] => SECONDS,
        [seconds] if seconds.parse::<f64>().is_ok() => seconds,
        _ => bail!("cargo xtask swmr [SECONDS]"),
    };
    let tests = ["test", "--release", "--package", "hyperslab", "--test", "swmr"];
    let one_by_one = ["--", "--nocapture", "--test-threads=1"];
    shell::run(shell::cargo(&[&tests[..], &one_by_one[..]].concat()).env("HYPERSLAB_SWMR_SECONDS", seconds))
}
