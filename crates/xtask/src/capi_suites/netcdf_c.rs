//! The tests of netCDF-C that use HDF5. They are compiled for Debian's C library, and run on the
//! library of the interface of HDF5 1.10.

use std::path::Path;

use anyhow::{Context as _, Result};
use hyperslab_testkit::workspace;
use serde_json::{Map, Value, json};

use crate::shell;

/// The name of the suite.
pub(super) const NAME: &str = "netcdf-c";
/// The script that compiles and runs the tests.
const SCRIPT: &str = "crates/capi/tests/installed/netcdf-c.sh";
/// The number of tests: 26 of `h5_test` and 74 of `nc_test4`.
const TESTS: usize = 100;

/// Runs the suite on a library. Returns the results in the form of the runner of the other suites.
pub(super) fn run(library: &Path) -> Result<Value> {
    let target = workspace::root().join("target");
    // The programs look for the name of the library in a folder.
    let folder = tempfile::tempdir()?;
    std::fs::copy(library, folder.path().join("libhdf5_serial.so.103"))
        .with_context(|| library.display().to_string())?;
    let mut script = shell::command("sh", &[SCRIPT]);
    script.arg(folder.path()).arg(target.join("capi-debian")).arg(target.join("netcdf-c"));
    let text = shell::output(&mut script).with_context(|| format!("{SCRIPT} failed"))?;
    Ok(results(&text))
}

/// Returns the results that the script printed.
fn results(text: &str) -> Value {
    let mut tests = Map::new();
    for line in text.lines() {
        let (result, id) = match line.split_once(' ') {
            Some(("PASS", id)) => ("passed", id),
            Some(("FAIL" | "ERROR" | "SKIP", id)) => ("failed", id),
            Some(_) => {
                println!("{line}");
                continue;
            }
            None => continue,
        };
        tests.insert(id.to_owned(), json!({"r": result}));
    }
    let proved = if text.lines().any(|line| line == "PROVED") { "yes" } else { "NO" };
    let missing = TESTS.saturating_sub(tests.len()); // More tests than known are none missing.
    json!({"summary": {"expected": TESTS, "missing": missing, "proved": proved}, "tests": tests})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_script_are_results() {
        let found = results("PASS h5_test/a\nFAIL nc_test4/b\nPROVED\n");
        assert_eq!(found["tests"]["h5_test/a"]["r"], "passed");
        assert_eq!(found["tests"]["nc_test4/b"]["r"], "failed");
        assert_eq!((&found["summary"]["missing"], &found["summary"]["proved"]), (&json!(98), &json!("yes")));
        assert_eq!(results("skipped: no network\n")["summary"]["missing"], 100);
    }
}
