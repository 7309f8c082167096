//! `cargo xtask fuzz`: every target in `fuzz/` for a while.

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use crate::shell;

const DEFAULT_SECONDS: u64 = 60;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (seconds, wanted) = match args.split_first() {
        Some((first, rest)) if first.parse::<u64>().is_ok() => (first.parse()?, rest),
        _ => (DEFAULT_SECONDS, args),
    };
    if !workspace::root().join("fuzz/Cargo.toml").exists() {
        workspace::skip("fuzzing", "there are no targets in fuzz/");
        return Ok(());
    }
    if !shell::is_installed("cargo", &["+nightly", "fuzz", "--version"]) {
        workspace::skip("fuzzing", "needs `rustup toolchain install nightly` and `cargo install cargo-fuzz`");
        return Ok(());
    }
    let list = shell::output(&mut rustup_cargo(&["+nightly", "fuzz", "list"]))
        .context("`cargo fuzz list` failed")?;
    let limit = format!("-max_total_time={seconds}");
    for target in list.lines().filter(|name| wanted.is_empty() || wanted.iter().any(|want| want == name)) {
        let args = ["+nightly", "fuzz", "run", target, "--", &limit, "-timeout=5", "-rss_limit_mb=1024"];
        shell::run(&mut rustup_cargo(&args)).with_context(|| format!("fuzz target {target}"))?;
    }
    Ok(())
}

/// The `cargo` that understands `+nightly`, free of what the running one has set.
fn rustup_cargo(args: &[&str]) -> std::process::Command {
    let mut command = shell::command("cargo", args);
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}
