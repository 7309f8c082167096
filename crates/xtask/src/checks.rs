//! `cargo xtask ci`: all checks. The checks that fail fastest run first.

use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{
    api, book, capi, capi_suites, check_corpus, corpus, features, fuzz, package, repack_corpus, shell, test,
    tidy, tool_cases,
};

type Step = fn() -> Result<()>;

const STEPS: &[(&str, Step)] = &[
    ("fmt", || shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]))),
    ("tidy", || tidy::run(&[])),
    ("api", || api::run(&[])),
    ("clippy", clippy),
    ("doc", doc),
    ("features", || features::sample()),
    ("package", || package::run(&[])),
    ("corpus", || corpus::run(&[])),
    ("check-corpus", || check_corpus::run(&[])),
    ("repack-corpus", || repack_corpus::run(&[])),
    ("tool-cases", || tool_cases::run(&[])),
    ("test", || test::run(&[])),
    ("capi", || capi::run(&[])),
    ("capi-suites", || capi_suites::run(&["--sample".to_owned()])),
    ("book", || book::run(&[])),
    ("fuzz", fuzz::smoke),
];

/// Runs all steps in order, or only the steps that `names` has.
pub(crate) fn ci(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|(step, _)| step == name)) {
        bail!("no step of CI has the name `{unknown}`");
    }
    let mut spent = Vec::new();
    for (name, step) in STEPS.iter().filter(|(step, _)| names.is_empty() || names.iter().any(|n| n == step)) {
        println!("\n== {name}");
        let start = Instant::now();
        step().with_context(|| format!("step `{name}`"))?;
        let seconds = start.elapsed().as_secs();
        println!("== {name}: {seconds} s");
        spent.push(format!("{name} {seconds} s"));
    }
    println!("\nci: these steps passed: {}", spent.join(", "));
    Ok(())
}

fn clippy() -> Result<()> {
    let all = ["clippy", "--workspace", "--all-targets"];
    let deny = ["--", "-D", "warnings"];
    shell::run(&mut shell::cargo(&[&all[..], &shell::FULL, &deny].concat()))?;
    // The build without optional parts has code that no other build has: the errors that name the
    // missing part.
    shell::run(&mut shell::cargo(
        &[&["clippy", "--package", "hyperslab-cli", "--all-targets"], &deny[..]].concat(),
    ))
}

fn doc() -> Result<()> {
    shell::run(
        shell::cargo(&[&["doc", "--workspace", "--no-deps"], &shell::FULL[..]].concat())
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}
