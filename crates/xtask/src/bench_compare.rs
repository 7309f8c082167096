//! `cargo xtask bench-compare`: benchmarks of hyperslab, libhdf5 and `rust-hdf5` in one run. The
//! results are a table and plots.

use anyhow::Result;

use crate::{bench_peers, shell, test};

/// Runs the comparison. The arguments are the number of rounds, and `only=TEXT` to select cases by
/// name.
pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    let fixed = ["run", "--profile", shell::DIST, "--quiet", "--package", "hyperslab-bench", "--", "compare"];
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut bench = shell::cargo(&[&fixed, args.as_slice()].concat());
    bench_peers::choose_python(&mut bench);
    shell::run(&mut bench)
}
