//! `cargo xtask capi-suites`: the test suites of unmodified clients (h5py, PyTables, netCDF4, the C
//! tools) run on the library `libhdf5.so`. A test that has passed must pass again: the lists in
//! `crates/capi/tests/passed/` name the tests of each suite.

mod netcdf_c;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;
use serde_json::{Value, json};

use crate::{capi, shell};

/// The variable that names the runner or its folder; the default is beside the checkout.
const SUITES_VARIABLE: &str = "HYPERSLAB_CAPI_SUITES";
/// The folder of the lists of tests that have passed.
const PASSED: &str = "crates/capi/tests/passed";
/// The results of the last run.
const RESULTS: &str = "target/capi-suites.json";
/// The suites that run without `--suite`: those with a list.
const DEFAULT_SUITES: &str = "h5py,api";
/// The suite that `--sample` runs.
const SAMPLE_SUITE: &str = "h5py";
/// The seconds after which the sample stops.
const SAMPLE_SECONDS: &str = "480";

/// The choices of a run.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    suites: String,
    sample: bool,
    update: bool,
    /// The library, instead of a new build.
    library: Option<PathBuf>,
}

/// Runs the suites and compares their results with the lists.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let request = parse(args)?;
    if request.suites == netcdf_c::NAME {
        let library = request.library.clone().map_or_else(capi::build_older_release, Ok)?;
        return report(&request, &json!({netcdf_c::NAME: netcdf_c::run(&library)?}));
    }
    let Some(runner) = runner() else { return Ok(()) };
    let library = match &request.library {
        Some(library) => library.clone(),
        None => capi::build_release()?,
    };
    let results = workspace::root().join(RESULTS);
    let _ = std::fs::remove_file(&results); // It is missing at the first run.
    let mut command = Command::new("python3");
    command.current_dir(workspace::root()).arg(&runner).arg("--lib").arg(&library);
    command.args(["--suite", &request.suites]).arg("--json").arg(&results);
    if request.sample {
        command.args(["--total", SAMPLE_SECONDS]);
    }
    // The status is an error as long as one expected test fails; the lists decide here.
    let status = command.status().context("python3")?;
    let Ok(text) = std::fs::read_to_string(&results) else {
        println!("capi-suites: skipped: the runner ended with {status} and without results; see its output");
        return Ok(());
    };
    let found: Value = serde_json::from_str(&text).with_context(|| results.display().to_string())?;
    report(&request, &found)
}

/// Compares the results of the suites with the lists.
fn report(request: &Request, found: &Value) -> Result<()> {
    let mut lost = Vec::new();
    for suite in request.suites.split(',') {
        let of_suite = found.get(suite).unwrap_or(&Value::Null);
        lost.extend(compare(&workspace::root().join(PASSED), suite, of_suite, request.update)?);
    }
    for id in &lost {
        println!("no longer passes: {id}");
    }
    ensure!(lost.is_empty(), "{} tests have passed before and do not pass", lost.len());
    Ok(())
}

fn parse(args: &[String]) -> Result<Request> {
    let mut request =
        Request { suites: DEFAULT_SUITES.to_owned(), sample: false, update: false, library: None };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match (arg.as_str(), rest.len()) {
            ("--sample", _) => {
                request.sample = true;
                SAMPLE_SUITE.clone_into(&mut request.suites);
            }
            ("--update", _) => request.update = true,
            ("--suite", 1..) => request.suites = rest.next().cloned().unwrap_or_default(),
            ("--library", 1..) => request.library = rest.next().map(PathBuf::from),
            _ => bail!("cargo xtask capi-suites [--suite NAME,…] [--sample] [--update] [--library FILE]"),
        }
    }
    Ok(request)
}

/// Returns the runner, or `None` after it has printed why the suites are skipped.
fn runner() -> Option<PathBuf> {
    let beside = workspace::root().join("../shared/capi/suites");
    let named = std::env::var_os(SUITES_VARIABLE).map_or(beside, PathBuf::from);
    let runner = if named.is_dir() { named.join("run.py") } else { named };
    if !runner.is_file() {
        println!("capi-suites: skipped: no {} ({SUITES_VARIABLE} names another)", runner.display());
        return None;
    }
    if !shell::is_installed("python3", &["--version"]) {
        println!("capi-suites: skipped: no python3");
        return None;
    }
    Some(runner)
}

/// Prints the numbers of a suite and returns the tests of its list that do not pass. With `update`,
/// writes the list first.
fn compare(folder: &Path, suite: &str, found: &Value, update: bool) -> Result<Vec<String>> {
    let summary = &found["summary"];
    let path = folder.join(format!("{suite}.txt"));
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let before = || before.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    // A client that cannot be installed, or that cannot load the library, has no results at all.
    if !summary["expected"].is_u64() || summary["missing"] == summary["expected"] {
        let count = before().count();
        ensure!(count == 0, "{suite}: no test ran, and {count} tests have passed before");
        println!("capi-suites: {suite}: skipped: no test ran; the output of the runner has the reason");
        return Ok(Vec::new());
    }
    ensure!(summary["proved"] == "yes", "{suite}: the client did not use the given library");
    let passed: BTreeSet<String> = found["tests"]
        .as_object()
        .with_context(|| format!("{suite}: no results"))?
        .iter()
        .filter(|(_, result)| result["r"] == "passed")
        .map(|(id, _)| id.clone())
        .collect();
    println!("capi-suites: {suite}: {} of {} expected tests pass", passed.len(), summary["expected"]);
    if update {
        std::fs::write(&path, list(suite, &passed)).with_context(|| path.display().to_string())?;
        return Ok(Vec::new());
    }
    Ok(before().filter(|id| !passed.contains(*id)).map(str::to_owned).collect())
}

/// Returns the text of a list.
fn list(suite: &str, passed: &BTreeSet<String>) -> String {
    let mut text = format!(
        "# Tests of the suite {suite} that pass. `cargo xtask capi-suites --suite {suite} --update` writes the list.\n"
    );
    for id in passed {
        text.push_str(id);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(second: &str) -> Value {
        json!({
            "summary": {"expected": 3, "missing": 0, "proved": "yes"},
            "tests": {"a": {"r": "passed"}, "b": {"r": second}, "c": {"r": "failed"}},
        })
    }

    #[test]
    fn a_test_that_has_passed_must_pass_again() {
        let folder = tempfile::tempdir().unwrap();
        let lost = |second, update| compare(folder.path(), "x", &results(second), update).unwrap();
        assert!(lost("failed", false).is_empty(), "no list yet");
        assert!(lost("passed", true).is_empty());
        assert_eq!(lost("crashed", false), ["b"]);
        assert!(lost("crashed", true).is_empty(), "an update accepts the loss");
        assert!(lost("crashed", false).is_empty());
    }

    #[test]
    fn a_library_that_was_not_used_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = results("passed");
        found["summary"]["proved"] = json!("NO");
        assert!(compare(folder.path(), "x", &found, false).is_err());
        found["summary"]["missing"] = json!(3);
        assert!(
            compare(folder.path(), "x", &found, false).unwrap().is_empty(),
            "no test ran, and no list yet"
        );
        compare(folder.path(), "x", &results("passed"), true).unwrap();
        assert!(compare(folder.path(), "x", &found, false).is_err(), "the tests of the list are lost");
    }

    #[test]
    fn arguments_choose_the_suites() {
        let parse = |args: &[&str]| parse(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(parse(&[]).unwrap().suites, "h5py,api");
        assert_eq!(parse(&["--sample"]).unwrap().suites, "h5py");
        assert_eq!(parse(&["--suite", "tools"]).unwrap().suites, "tools");
        assert!(parse(&["--suite"]).is_err());
    }
}
