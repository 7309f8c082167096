//! `cargo xtask ci`: all checks. The checks that fail fastest run first.
//!
//! The programs of the later steps are built during the first steps: most builds wait for one crate
//! after the other and leave a core idle.

use std::fs::File;
use std::process::{Child, Command};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::{
    api, book, capi, capi_suites, check_corpus, corpus, features, fuzz, package, page, python, repack_corpus,
    shell, test, tidy, tool_cases,
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
    (PROGRAMS, programs),
    ("corpus", || corpus::run(&[])),
    ("check-corpus", || check_corpus::run(&[])),
    ("repack-corpus", || repack_corpus::run(&[])),
    ("tool-cases", || tool_cases::run(&[])),
    ("test", || test::run(&[])),
    ("capi", || capi::run(&["--release".to_owned()])),
    ("capi-suites", || capi_suites::run(&["--sample".to_owned()])),
    ("python", || python::run(&["--dev".to_owned()])),
    ("page", || page::run(&[])),
    ("book", || book::run(&[])),
    ("fuzz", fuzz::smoke),
];

/// The step that builds optimized programs.
const PROGRAMS: &str = "programs";

/// The output of the builds during the first steps.
const PROGRAMS_LOG: &str = "target/ci-programs.log";

/// Runs all steps in order, or only the steps that `names` has.
pub(crate) fn ci(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|(step, _)| step == name)) {
        bail!("no step of CI has the name `{unknown}`");
    }
    let mut early = if names.is_empty() { Some(EarlyBuilds::start()?) } else { None };
    let mut spent = Vec::new();
    for (name, step) in STEPS.iter().filter(|(step, _)| names.is_empty() || names.iter().any(|n| n == step)) {
        println!("\n== {name}");
        let start = Instant::now();
        match early.take_if(|_| *name == PROGRAMS) {
            Some(builds) => builds.finish(),
            None => step(),
        }
        .with_context(|| format!("step `{name}`"))?;
        let seconds = start.elapsed().as_secs();
        println!("== {name}: {seconds} s");
        spent.push(format!("{name} {seconds} s"));
    }
    println!("\nci: these steps passed: {}", spent.join(", "));
    Ok(())
}

/// Builds the optimized programs that later steps run: the command and the C interface.
fn programs() -> Result<()> {
    shell::build_command()?;
    capi::build_release().map(drop)
}

/// A process that runs the step `programs` beside other steps.
struct EarlyBuilds(Child);

impl EarlyBuilds {
    fn start() -> Result<Self> {
        let log = workspace::root().join(PROGRAMS_LOG);
        let (output, errors) = File::create(&log)
            .and_then(|file| Ok((file.try_clone()?, file)))
            .with_context(|| log.display().to_string())?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["ci", PROGRAMS]).stdout(output).stderr(errors);
        Ok(Self(command.spawn().context("the early builds")?))
    }

    /// Waits for the builds, prints their output and returns their result.
    fn finish(mut self) -> Result<()> {
        let status = self.0.wait()?;
        print!("{}", std::fs::read_to_string(workspace::root().join(PROGRAMS_LOG))?);
        ensure!(status.success(), "the builds of the programs: {status}");
        Ok(())
    }
}

impl Drop for EarlyBuilds {
    fn drop(&mut self) {
        let _ = self.0.kill(); // An error means that the builds have ended.
    }
}

fn clippy() -> Result<()> {
    let all = ["clippy", "--workspace", "--all-targets"];
    let deny = ["--", "-D", "warnings"];
    shell::run(&mut shell::cargo(&[&all[..], &shell::EVERYTHING, &deny].concat()))?;
    // The build without optional parts has code that no other build has: the errors that name the
    // missing part.
    shell::run(&mut shell::cargo(
        &[&["clippy", "--package", "hyperslab-cli", "--all-targets"], &deny[..]].concat(),
    ))?;
    // The interface of HDF5 1.10 has other structures and functions.
    let older = ["clippy", "--package", "hyperslab-capi", "--all-targets", "--features", "hdf5-1-10"];
    shell::run(&mut shell::cargo(&[&older[..], &deny].concat()))
}

fn doc() -> Result<()> {
    shell::run(
        shell::cargo(&[&["doc", "--workspace", "--no-deps"], &shell::EVERYTHING[..]].concat())
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}
