//! `cargo xtask fuzz`: runs of every target in `fuzz/` for a limited time, from seeds that are cut
//! out of the fixtures.

mod seeds;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;

use crate::shell;

const DEFAULT_SECONDS: u64 = 60;
/// Seconds for all targets together before a change is merged.
const SMOKE_SECONDS: u64 = 600;

/// Seed of the random numbers of a smoke run, which makes the run repeatable. Other runs use a new
/// seed each time.
const SMOKE_SEED: u32 = 6;
/// Number of lines of the panic's message that the error at the end repeats.
const MESSAGE_LINES: usize = 12;

/// The time limit of a run.
enum Time {
    EachTarget(u64),
    Together(u64),
}

/// Runs all targets for [`SMOKE_SECONDS`] in total.
pub(crate) fn smoke() -> Result<()> {
    fuzz_targets(&Time::Together(SMOKE_SECONDS), &[])
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (first, rest) = args.split_first().map_or((None, args), |(first, rest)| (Some(first), rest));
    match first.map(|first| (first.as_str(), first.parse::<u64>())) {
        Some(("smoke", _)) => {
            let seconds = rest.first().map(|seconds| seconds.parse()).transpose()?;
            fuzz_targets(&Time::Together(seconds.unwrap_or(SMOKE_SECONDS)), &[])
        }
        Some((_, Ok(seconds))) => fuzz_targets(&Time::EachTarget(seconds), rest),
        _ => fuzz_targets(&Time::EachTarget(DEFAULT_SECONDS), args),
    }
}

fn fuzz_targets(time: &Time, wanted: &[String]) -> Result<()> {
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
    let known: Vec<&str> = list.lines().collect();
    if let Some(unknown) = wanted.iter().find(|want| !known.contains(&want.as_str())) {
        anyhow::bail!("unknown fuzz target `{unknown}`, expected one of: {}", known.join(" "));
    }
    let count = if wanted.is_empty() { known.len() } else { wanted.len() };
    let (seconds, seed) = match time {
        Time::EachTarget(seconds) => (*seconds, None),
        Time::Together(seconds) => (seconds.div_ceil(count.max(1) as u64), Some(SMOKE_SEED)),
    };
    for target in known.into_iter().filter(|name| wanted.is_empty() || wanted.iter().any(|want| want == name))
    {
        fuzz(target, seconds, seed).with_context(|| format!("fuzz target {target}"))?;
    }
    Ok(())
}

fn fuzz(target: &str, seconds: u64, seed: Option<u32>) -> Result<()> {
    let (corpus, seeds) = (folder("fuzz/corpus", target), folder("fuzz/seeds", target));
    std::fs::create_dir_all(root(&corpus)).with_context(|| corpus.display().to_string())?;
    let count = seeds::harvest(target, &root(&corpus))?;
    println!("{target}: {count} seeds from the fixtures");
    if seconds == 0 {
        return Ok(());
    }
    let mut command = rustup_cargo(&["+nightly", "fuzz", "run", target]);
    command.arg(&corpus);
    if root(&seeds).is_dir() {
        command.arg(&seeds);
    }
    command.args(["--", "-timeout=5", "-rss_limit_mb=512", "-max_len=65536", "-print_final_stats=1"]);
    command.args(seed.map(|seed| format!("-seed={seed}")));
    if std::env::var_os("ASAN_OPTIONS").is_none() {
        // Freed memory in the sanitizer's quarantine counts toward the memory limit.
        command.env("ASAN_OPTIONS", "quarantine_size_mb=32");
    }
    let run = run_with_message(command.arg(format!("-max_total_time={seconds}")));
    run.with_context(|| format!("the input lies in fuzz/artifacts/{target}"))
}

/// Runs a target. A long listing of the input and of the fuzzer's stack follows the message of a
/// failure, so the returned error repeats the message.
fn run_with_message(command: &mut Command) -> Result<()> {
    command.stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run `cargo fuzz`")?;
    let lines = BufReader::new(child.stderr.take().context("no standard error")?).lines();
    let mut message = Vec::new();
    for line in lines.map_while(Result::ok) {
        println!("{line}");
        let is_start = line.contains(" panicked at ") || line.contains("ERROR: ");
        if (is_start || !message.is_empty()) && message.len() < MESSAGE_LINES {
            message.push(line);
        }
    }
    let status = child.wait()?;
    anyhow::ensure!(status.success(), "{status}\n{}", message.join("\n"));
    Ok(())
}

fn folder(parent: &str, target: &str) -> PathBuf {
    Path::new(parent).join(target)
}

fn root(path: &Path) -> PathBuf {
    workspace::root().join(path)
}

/// Returns a call of rustup's `cargo`, which understands `+nightly`, without the variables of the
/// running toolchain.
fn rustup_cargo(args: &[&str]) -> Command {
    let mut command = shell::command("cargo", args);
    command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}
