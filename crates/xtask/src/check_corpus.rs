//! `cargo xtask check-corpus`: `hyperslab check` on every file that libhdf5 reads. Each file must
//! be sound, except for a list with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::{corpus, workspace};
use serde_json::Value;

use crate::corpus::{BOUNDED, COMMAND, compare_py, listed};
use crate::shell;

const EXCEPTIONS: &str = "docs/check-exceptions.md";
/// Number of files in one run of the command.
const BATCH_FILES: usize = 100;

pub(crate) fn run(_: &[String]) -> Result<()> {
    let Some(dir) = corpus::dir() else { return Ok(()) };
    shell::build_command()?;
    let mut cases = corpus::cases(&dir)?;
    // Files that libhdf5 does not open need not be sound.
    cases.retain(|case| case.truth().is_ok_and(|truth| truth.get("open_error").is_none()));
    let mut unsound = BTreeMap::new();
    for batch in cases.chunks(BATCH_FILES) {
        let files: Vec<&Path> = batch.iter().map(|case| case.file.as_path()).collect();
        for (case, report) in batch.iter().zip(check(&files)?) {
            if let Some(fault) = fault(&report) {
                unsound.insert(case.name.as_str(), fault);
            }
        }
    }
    println!("check-corpus: {} of {} files are sound", cases.len() - unsound.len(), cases.len());
    let text = std::fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let faults = against_exceptions(&listed(&text), &unsound);
    ensure!(faults.is_empty(), "{EXCEPTIONS}: {}", faults.join("; "));
    if !shell::is_installed("python3", &["--version"]) {
        workspace::skip("malformed files", "compare.py needs python3");
        return Ok(());
    }
    let arguments = ["check", "--json", "--data"];
    let mut malformed = compare_py(&dir, &["--malformed", "--timeout", "15"], &[], BOUNDED, &arguments);
    shell::run(&mut malformed)
        .context("a malformed file crashes the check, or takes too long or too much memory")
}

/// Returns the reports on the given files, in the same order.
fn check(files: &[&Path]) -> Result<Vec<Value>> {
    let mut command = shell::command(PathBuf::from(COMMAND), &["check", "--json"]);
    let output = command.args(files).output().with_context(|| format!("cannot run {COMMAND}"))?;
    let reports: Vec<Value> = serde_json::from_slice(&output.stdout).context("`hyperslab check --json`")?;
    ensure!(reports.len() == files.len(), "{} reports on {} files", reports.len(), files.len());
    Ok(reports)
}

/// Returns the first fault of a report, or the reason why there is no report.
fn fault(report: &Value) -> Option<String> {
    if report["sound"] == true && report["unchecked"] == 0 {
        return None;
    }
    let findings = report["findings"].as_array().map_or(&[][..], Vec::as_slice);
    let text = findings.first().unwrap_or(report);
    Some(text["text"].as_str().or_else(|| text["error"].as_str()).unwrap_or("no report").to_owned())
}

fn against_exceptions(listed: &BTreeSet<&str>, unsound: &BTreeMap<&str, String>) -> Vec<String> {
    let new = unsound.iter().filter(|(file, _)| !listed.contains(*file));
    let new = new.map(|(file, fault)| format!("{file} is not sound ({fault}) and not listed"));
    let gone = listed.iter().filter(|file| !unsound.contains_key(*file));
    new.chain(gone.map(|file| format!("{file} is listed, but is sound or missing"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exceptions_are_those_listed() {
        let unsound = BTreeMap::from([("a.h5", "x".to_owned()), ("b.h5", "y".to_owned())]);
        assert!(against_exceptions(&BTreeSet::from(["a.h5", "b.h5"]), &unsound).is_empty());
        assert_eq!(
            against_exceptions(&BTreeSet::from(["a.h5"]), &unsound),
            ["b.h5 is not sound (y) and not listed"]
        );
        let more = BTreeSet::from(["a.h5", "b.h5", "c.h5"]);
        assert_eq!(against_exceptions(&more, &unsound), ["c.h5 is listed, but is sound or missing"]);
    }

    #[test]
    fn what_counts_as_a_fault() {
        assert_eq!(fault(&json!({"sound": true, "unchecked": 0})), None);
        let finding = json!({"sound": false, "unchecked": 0, "findings": [{"text": "why"}]});
        assert_eq!(fault(&finding).as_deref(), Some("why"));
        assert_eq!(fault(&json!({"error": "no file"})).as_deref(), Some("no file"));
    }
}
