//! `cargo xtask features`: builds of every crate by itself, with the fewest and the most features,
//! with each feature alone, and with the oldest supported Rust. Features that are off by default
//! must pass their tests, and so must the builds without `parallel` and `ndarray`.
//!
//! CI runs a sample: the builds that have failed before. The tests of the workspace in CI have the
//! features that are off by default. The whole takes more than half an hour, because nearly every
//! build compiles its dependencies again.

use anyhow::{Context, Result, ensure};

use crate::shell;
use crate::tidy::manifest::{self, Package};

/// Features that are off by default, whose tests run here.
const TESTED_FEATURES: &[(&str, &str)] = &[("hyperslab", "sprs")];

/// Unit tests that run without default features, as arguments of `cargo test`.
const UNIT_TESTS_WITHOUT_FEATURES: &[&[&str]] = &[&["--package", "hyperslab-engine", "--lib"]];

/// Other tests that run without default features.
const TESTED_WITHOUT_FEATURES: &[&[&str]] = &[
    &["--package", "hyperslab", "--test", "small_reader"],
    &["--package", "hyperslab-cli", "--test", "missing_feature"],
];

/// The crate whose features are also checked one by one.
const FACADE: &str = "hyperslab";

/// Features of the façade that CI checks alone: both reach into the code of several crates.
const SAMPLED_FEATURES: &[&str] = &["parallel", "ndarray"];

/// Checks the builds that CI checks: the façade with no feature and with two features alone, all
/// features, and the tests of the smallest build.
pub(crate) fn sample() -> Result<()> {
    let packages = manifest::packages()?;
    let facade = packages.iter().find(|package| package.name == FACADE).context("no façade")?;
    check(facade, &["--no-default-features"])?;
    check(facade, &["--all-features"])?;
    for feature in SAMPLED_FEATURES {
        check(facade, &["--no-default-features", "--features", feature])?;
    }
    test_without_features(TESTED_WITHOUT_FEATURES)
}

pub(crate) fn run(_: &[String]) -> Result<()> {
    for package in manifest::packages()? {
        check(&package, &["--no-default-features"])?;
        if !package.features.is_empty() {
            check(&package, &["--all-features"])?;
        }
        if package.name == FACADE {
            for feature in package.features.iter().filter(|feature| *feature != "default") {
                check(&package, &["--no-default-features", "--features", feature])?;
            }
        }
    }
    test_without_features(UNIT_TESTS_WITHOUT_FEATURES)?;
    test_without_features(TESTED_WITHOUT_FEATURES)?;
    test_features()?;
    oldest_rust()
}

fn test_without_features(tests: &[&[&str]]) -> Result<()> {
    for test in tests {
        let without = [&["test", "--quiet", "--no-default-features"], *test].concat();
        shell::run(&mut shell::cargo(&without))?;
    }
    Ok(())
}

/// Tests the features that are off by default.
fn test_features() -> Result<()> {
    for (package, feature) in TESTED_FEATURES {
        let with = ["test", "--quiet", "--package", package, "--features", feature];
        shell::run(&mut shell::cargo(&[&with[..], &["--test", feature]].concat()))?;
        // The examples of the feature's documentation are in a file with the feature's name.
        shell::run(&mut shell::cargo(&[&with[..], &["--doc", feature]].concat()))?;
    }
    Ok(())
}

fn check(package: &Package, features: &[&str]) -> Result<()> {
    let check = ["check", "--quiet", "--package", &package.name];
    shell::run(&mut shell::cargo(&[&check[..], features].concat()))
}

fn oldest_rust() -> Result<()> {
    let packages = manifest::packages()?;
    let stated = &packages.first().context("no packages")?.rust_version;
    ensure!(
        packages.iter().all(|package| package.rust_version == *stated),
        "crates state different Rust versions; use rust-version.workspace = true"
    );
    let line = shell::output(&mut shell::command("rustc", &["--version"])).context("no rustc")?;
    let running = line.split_whitespace().nth(1).context("cannot parse the output of `rustc --version`")?;
    let (promised, here) = (minor(stated)?, minor(running)?);
    ensure!(here >= promised, "rustc {running} is older than the stated rust-version {stated}");
    if here == promised {
        println!("rust-version {stated}: checked by the running toolchain ({running})");
        return Ok(());
    }
    let toolchain = format!("+{stated}");
    if !shell::is_installed("cargo", &[&toolchain, "--version"]) {
        println!(
            "skipped: rust-version {stated} is not installed (this is {running}); rustup toolchain install {stated}"
        );
        return Ok(());
    }
    // `$CARGO` is the `cargo` of the running toolchain; rustup's `cargo` understands `+VERSION`.
    let check = [&toolchain, "check", "--workspace", "--all-targets", "--target-dir", "target/oldest"];
    let args = [&check[..], &shell::FULL].concat();
    shell::run(shell::command("cargo", &args).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN"))
}

/// Returns the minor version `NN` of `1.NN.PP`.
fn minor(version: &str) -> Result<u32> {
    let part = version.split('.').nth(1).with_context(|| format!("not a Rust version: `{version}`"))?;
    part.parse().with_context(|| format!("not a Rust version: `{version}`"))
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn versions_are_compared_by_their_minor_number() {
        assert_eq!(minor("1.95").unwrap(), 95);
        assert_eq!(minor("1.97.0-nightly").unwrap(), 97);
        assert!(minor("nightly").is_err());
    }
}
