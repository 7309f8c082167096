//! `cargo xtask sanitize`: the tests of threads under ThreadSanitizer, and the tests of `unsafe`
//! code under miri. Both need a nightly compiler. If a component is missing, the task prints a
//! message and skips the tests.

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use crate::shell;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests in which several threads run at the same time.
const THREADED: &[&str] = &["threads", "threads_writing", "threads_stress"];

/// Part of the names of the engine's unit tests with several threads.
const THREADED_UNITS: &str = "threads_tests";

/// Tests of crates with `unsafe` code that miri can run: the crate, and a part of the tests' names.
const INTERPRETED: &[(&str, &str)] = &[("hyperslab-dataspace", "scatter")];

/// Runs the tests. The argument is `threads` or `miri`. Without an argument, the task runs both.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (threads, miri) = match words.as_slice() {
        [] => (true, true),
        ["threads"] => (true, false),
        ["miri"] => (false, true),
        _ => bail!("cargo xtask sanitize [threads|miri]"),
    };
    if threads {
        under_thread_sanitizer()?;
    }
    if miri { under_miri() } else { Ok(()) }
}

fn has_component(name: &str) -> bool {
    let arguments = ["component", "list", "--toolchain", "nightly", "--installed"];
    let installed = shell::output(&mut shell::command("rustup", &arguments));
    installed.is_some_and(|list| list.lines().any(|line| line.starts_with(name)))
}

fn under_thread_sanitizer() -> Result<()> {
    if !has_component("rust-src") {
        println!("skipped: ThreadSanitizer needs `rustup component add rust-src --toolchain nightly`");
        return Ok(());
    }
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        println!("skipped: ThreadSanitizer runs on {TARGET} only");
        return Ok(());
    }
    let mut tests = vec!["--package", "hyperslab"];
    tests.extend(THREADED.iter().flat_map(|test| ["--test", test]));
    run_under_thread_sanitizer(&tests)?;
    run_under_thread_sanitizer(&["--package", "hyperslab-engine", "--lib", THREADED_UNITS])
}

fn run_under_thread_sanitizer(tests: &[&str]) -> Result<()> {
    let words = ["run", "nightly", "cargo", "test", "-Zbuild-std", "--target", TARGET];
    let mut command = shell::command("rustup", &[&words, tests].concat());
    command.env("RUSTFLAGS", "-Zsanitizer=thread").env("RUSTDOCFLAGS", "-Zsanitizer=thread");
    // A target folder of its own, because the compiler flags differ from those of other builds.
    command.env("CARGO_TARGET_DIR", workspace::root().join("target/sanitize"));
    command.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("CARGO_PROFILE_TEST_DEBUG", "1");
    command.env("HYPERSLAB_STRESS", std::env::var("HYPERSLAB_STRESS").unwrap_or_else(|_| "4".into()));
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    shell::run(&mut command)
}

fn under_miri() -> Result<()> {
    if !has_component("miri") {
        println!("skipped: miri needs `rustup component add miri rust-src --toolchain nightly`");
        return Ok(());
    }
    for (package, tests) in INTERPRETED {
        let words = ["run", "nightly", "cargo", "miri", "test", "--package", package, "--lib", tests];
        let mut command = shell::command("rustup", &words);
        // An interpreter is too slow for many random cases, and the tests need the system's files.
        command.env("PROPTEST_CASES", "4").env("MIRIFLAGS", "-Zmiri-disable-isolation");
        command.env("CARGO_TARGET_DIR", workspace::root().join("target/miri"));
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
        shell::run(&mut command)?;
    }
    Ok(())
}
