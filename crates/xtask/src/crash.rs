//! `cargo xtask crash`: accidents of files whose writer was killed at any instant, a simulated disk
//! that crashes or fails at every operation of many random histories, and killed processes. The
//! tests run only a few of these accidents.

use anyhow::{Result, bail};

use crate::{shell, test};

/// Default number of crashes, and number of crashes for each failing operation.
const CRASHES: u64 = 100_000;
const CRASHES_PER_FAULT: u64 = 5;

/// Runs the tests. The arguments are the number of crashes, and `--kills` with the number of killed
/// processes.
pub(crate) fn run(args: &[String]) -> Result<()> {
    test::prepare_referee();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (crashes, kills) = match words.as_slice() {
        [] => (CRASHES, None),
        ["--kills", kills] => (0, Some(kills.parse::<u64>()?)),
        [crashes] => (crashes.parse()?, None),
        [crashes, "--kills", kills] => (crashes.parse()?, Some(kills.parse()?)),
        _ => bail!("cargo xtask crash [CRASHES] [--kills KILLS]"),
    };
    if crashes > 0 {
        let faults = crashes.div_ceil(CRASHES_PER_FAULT);
        shell::run(tests_of("accidents", &[]).env("HYPERSLAB_ACCIDENTS", "all"))?;
        let mut command = tests(&["--skip", "kills::"]);
        command.env("HYPERSLAB_CRASH", crashes.to_string()).env("HYPERSLAB_FAULTS", faults.to_string());
        shell::run(&mut command)?;
    }
    let Some(kills) = kills else { return Ok(()) };
    shell::run(tests(&["kills::"]).env("HYPERSLAB_KILLS", kills.to_string()))
}

fn tests(args: &[&str]) -> std::process::Command {
    tests_of("crash", args)
}

fn tests_of(target: &str, args: &[&str]) -> std::process::Command {
    // The tests run one after the other, because each uses all processors.
    let fixed = [
        "test",
        "--release",
        "--package",
        "hyperslab",
        "--test",
        target,
        "--",
        "--nocapture",
        "--test-threads=1",
    ];
    shell::cargo(&[&fixed, args].concat())
}
