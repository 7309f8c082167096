//! `cargo xtask fixtures`: writes the fixtures and their expected contents again.

use anyhow::{Context, Result};
use hyperslab_testkit::{corpus, fixtures, referee};

use crate::{shell, test};

pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    let referee = referee::python().context("needs Python with h5py")?;
    let mut command = shell::command(referee.python(), &[]);
    command.arg(fixtures::path("generate.py"));
    if let Some(truth) = corpus::dir().map(|dir| dir.join("truth.py")).filter(|program| program.exists()) {
        command.arg("--truth").arg(truth);
    } else {
        println!("truth.py needs the corpus, which is missing: fixtures/expected/ is unchanged.");
    }
    shell::run(command.args(args).env("PYTHONDONTWRITEBYTECODE", "1"))
}
