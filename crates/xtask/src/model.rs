//! `cargo xtask model`: random sequences of operations, and the matrix of types, layouts and
//! filters compared with libhdf5. The tests run only a few sequences.

use anyhow::Result;

use crate::{shell, test};

const SEQUENCES: &str = "10000";

pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    let sequences = args.first().map_or(SEQUENCES, String::as_str);
    let mut command =
        shell::cargo(&["test", "--package", "hyperslab", "--test", "model", "--", "--nocapture"]);
    command.env("HYPERSLAB_MODEL", sequences).env("HYPERSLAB_MATRIX", "1");
    shell::run(&mut command)
}
