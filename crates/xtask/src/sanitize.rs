//! `cargo xtask sanitize`: the tests of threads under ThreadSanitizer, and those of `unsafe` code under miri. Both need a nightly
//! compiler; where it lacks what they need they are left out, and it is said.

use anyhow::{Result, bail};
use hyperslab_testkit::workspace;

use crate::shell;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests in which threads meet.
const THREADED: &[&str] = &["threads", "threads_writing", "threads_stress"];

/// The same among the unit tests of the engine: names that contain this.
const THREADED_UNITS: &str = "tests_pages";

/// Tests of crates with `unsafe` code that miri can run: crate, and names that contain this.
const INTERPRETED: &[(&str, &str)] = &[("hyperslab-dataspace", "scatter")];

/// `threads`, `miri`, or both if nothing is said.
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
        println!("left out: ThreadSanitizer needs `rustup component add rust-src --toolchain nightly`");
        return Ok(());
    }
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        println!("left out: ThreadSanitizer is tried on {TARGET} only");
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
    // A build of its own: the flags are not those of any other one.
    command.env("CARGO_TARGET_DIR", workspace::root().join("target/sanitize"));
    command.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("CARGO_PROFILE_TEST_DEBUG", "1");
    command.env("HYPERSLAB_STRESS", std::env::var("HYPERSLAB_STRESS").unwrap_or_else(|_| "4".into()));
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    shell::run(&mut command)
}

fn under_miri() -> Result<()> {
    if !has_component("miri") {
        println!("left out: miri needs `rustup component add miri rust-src --toolchain nightly`");
        return Ok(());
    }
    for (package, tests) in INTERPRETED {
        let words = ["run", "nightly", "cargo", "miri", "test", "--package", package, "--lib", tests];
        let mut command = shell::command("rustup", &words);
        // Random cases are many for an interpreter, and files of the system are none of its business.
        command.env("PROPTEST_CASES", "4").env("MIRIFLAGS", "-Zmiri-disable-isolation");
        command.env("CARGO_TARGET_DIR", workspace::root().join("target/miri"));
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
        shell::run(&mut command)?;
    }
    Ok(())
}
