//! `cargo xtask differential`: all random reads, compared with libhdf5. The tests run only a few
//! reads.

use anyhow::{Context, Result};
use hyperslab_testkit::referee;

use crate::{shell, test};

const CASES: &str = "2000";

pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    referee::python().context("needs Python with h5py")?;
    let mut args = args.iter().map(String::as_str);
    let (cases, only) = (args.next().unwrap_or(CASES), args.next().unwrap_or_default());
    let mut command =
        shell::cargo(&["test", "--package", "hyperslab", "--test", "differential", "--", "--nocapture"]);
    command.env("HYPERSLAB_DIFFERENTIAL", cases).env("HYPERSLAB_DIFFERENTIAL_ONLY", only);
    shell::run(&mut command)
}
