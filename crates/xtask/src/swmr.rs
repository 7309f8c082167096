//! `cargo xtask swmr`: one SWMR writer and two SWMR readers at the same time, in all pairs of
//! hyperslab and libhdf5. The tests run each pair for seconds.

use anyhow::{Result, bail};

use crate::{shell, test};

/// Default run time of each pair, in seconds.
const SECONDS: &str = "120";

/// Runs all pairs. The argument is the number of seconds for each pair.
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
