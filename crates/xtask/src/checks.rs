//! `cargo xtask ci`: all checks. Those that fail fastest come first.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::{api, book, check_corpus, corpus, features, fuzz, repack_corpus, shell, test, tidy, tool_cases};

type Step = fn() -> Result<()>;

const STEPS: &[(&str, Step)] = &[
    ("fmt", || shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]))),
    ("tidy", || tidy::run(&[])),
    ("api", || api::run(&[])),
    ("clippy", clippy),
    ("doc", doc),
    ("features", || features::sample()),
    ("corpus", || corpus::run(&[])),
    ("check-corpus", || check_corpus::run(&[])),
    ("repack-corpus", || repack_corpus::run(&[])),
    ("tool-cases", || tool_cases::run(&[])),
    ("test", || test::run(&[])),
    ("book", || book::run(&[])),
    ("fuzz", fuzz::smoke),
];

pub(crate) fn ci(_: &[String]) -> Result<()> {
    let mut spent = Vec::new();
    for (name, step) in STEPS {
        println!("\n== {name}");
        let start = Instant::now();
        step().with_context(|| format!("step `{name}`"))?;
        let seconds = start.elapsed().as_secs();
        println!("== {name}: {seconds} s");
        spent.push(format!("{name} {seconds} s"));
    }
    println!("\nci: all steps passed ({})", spent.join(", "));
    Ok(())
}

fn clippy() -> Result<()> {
    shell::run(&mut shell::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn doc() -> Result<()> {
    shell::run(shell::cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}
