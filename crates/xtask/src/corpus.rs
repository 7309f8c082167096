//! `cargo xtask corpus`: compares the values that the command reads from real files with the values
//! that libhdf5 reads. A result that is worse than the baseline is an error.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::{corpus, workspace};
use serde_json::{Value, json};

use crate::shell;

const BASELINE: &str = "crates/testkit/corpus-baseline.json";
const EXCEPTIONS: &str = "docs/corpus-exceptions.md";
pub(crate) const COMMAND: &str = "target/release/hyperslab";
/// The program that ends a command after five seconds, or when it takes too much memory for the
/// file's size.
pub(crate) const BOUNDED: &[&str] = &["python3", "crates/testkit/bounded.py", "5", "{file}"];

/// The results of compare.py over all files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    pass: u64,
    partial: u64,
    fail: u64,
    wrong_objects: u64,
}

impl Tally {
    fn of(results: &Value) -> Result<Self> {
        let files = results.as_object().context("compare.py wrote no results")?;
        let mut tally = Self::default();
        for result in files.values() {
            match result["status"].as_str() {
                Some("pass") => tally.pass += 1,
                Some("partial") => tally.partial += 1,
                _ => tally.fail += 1,
            }
            tally.wrong_objects += result["wrong"].as_u64().unwrap_or(0);
        }
        Ok(tally)
    }

    /// Returns a message for each count that is worse than in the baseline.
    fn worse_than(&self, baseline: &Value) -> Vec<String> {
        let limit = |key: &str, otherwise: u64| baseline[key].as_u64().unwrap_or(otherwise);
        let mut worse = Vec::new();
        if self.pass < limit("min_pass", 0) {
            worse.push(format!("{} files pass, expected at least {}", self.pass, limit("min_pass", 0)));
        }
        if self.fail > limit("max_fail", u64::MAX) {
            worse.push(format!("{} files fail, expected at most {}", self.fail, limit("max_fail", 0)));
        }
        if self.wrong_objects > limit("max_wrong_objects", u64::MAX) {
            let before = limit("max_wrong_objects", 0);
            worse.push(format!("{} objects are wrong, expected at most {before}", self.wrong_objects));
        }
        worse
    }
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let Some(dir) = corpus::dir() else { return Ok(()) };
    if !workspace::root().join("crates/cli").is_dir() {
        workspace::skip("corpus", "there is no command yet (crates/cli)");
        return Ok(());
    }
    if !shell::is_installed("python3", &["--version"]) {
        workspace::skip("corpus", "compare.py needs python3");
        return Ok(());
    }
    let update = args.iter().any(|arg| arg == "--update");
    let chosen: Vec<&str> = args.iter().map(String::as_str).filter(|arg| *arg != "--update").collect();
    shell::build_command()?;

    let results = workspace::root().join("target/corpus.json");
    let mut compare =
        compare_py(&dir, &["--quiet", "--json", "target/corpus.json"], &chosen, &[], &["digest"]);
    println!("$ {compare:?}");
    let status = compare.status()?; // 1 where some file does not pass whole: the baseline decides about that
    ensure!(matches!(status.code(), Some(0 | 1)), "compare.py: {status}");
    let text = std::fs::read_to_string(&results).context("compare.py wrote no results")?;
    let results = serde_json::from_str(&text)?;
    let tally = Tally::of(&results)?;
    // bounded.py ends a command that takes too much time or memory; the timeout of compare.py is a
    // second safeguard.
    let malformed =
        shell::run(&mut compare_py(&dir, &["--malformed", "--timeout", "15"], &chosen, BOUNDED, &["digest"]));
    if chosen.is_empty() {
        hold_against_baseline(&tally, update)?;
        hold_against_exceptions(&results)?;
    }
    malformed.context("a malformed file crashes the command, or takes too long or too much memory")
}

/// Returns a call of compare.py that runs `hyperslab COMMAND FILE` on each file.
pub(crate) fn compare_py(
    dir: &Path,
    options: &[&str],
    chosen: &[&str],
    around: &[&str],
    command_line: &[&str],
) -> Command {
    let mut command = shell::command("python3", &[]);
    command.arg(dir.join("compare.py")).arg(dir.join("truth")).args(options).args(chosen);
    command.arg("--").args(around).arg(COMMAND).args(command_line).arg("{file}");
    command
}

fn hold_against_baseline(tally: &Tally, update: bool) -> Result<()> {
    let path = workspace::root().join(BASELINE);
    if update {
        let baseline = json!({
            "min_pass": tally.pass,
            "max_fail": tally.fail,
            "max_wrong_objects": tally.wrong_objects,
        });
        std::fs::write(&path, format!("{baseline:#}\n"))?;
        println!("wrote {BASELINE}");
        return Ok(());
    }
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("{BASELINE} does not exist: `cargo xtask corpus --update` writes it.");
        return Ok(());
    };
    let baseline: Value = serde_json::from_str(&text).context(BASELINE)?;
    let worse = tally.worse_than(&baseline);
    ensure!(worse.is_empty(), "worse than {BASELINE}: {}", worse.join("; "));
    if *tally != (Tally { partial: tally.partial, ..baseline_tally(&baseline) }) {
        println!("Better than {BASELINE}: `cargo xtask corpus --update` writes the new baseline.");
    }
    Ok(())
}

/// Checks that the exceptions list every file that does not pass, and no other file.
fn hold_against_exceptions(results: &Value) -> Result<()> {
    let text = std::fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let faults = against_exceptions(&listed(&text), results);
    ensure!(faults.is_empty(), "{EXCEPTIONS}: {}", faults.join("; "));
    Ok(())
}

/// Returns the files in the first column of the tables in `text`.
pub(crate) fn listed(text: &str) -> BTreeSet<&str> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(file, _)| file).collect()
}

fn against_exceptions(listed: &BTreeSet<&str>, results: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (file, result) in results.as_object().into_iter().flatten() {
        let (status, wrong) = (result["status"].as_str().unwrap_or(""), result["wrong"].as_u64());
        match (status == "pass", listed.contains(file.as_str())) {
            (true, true) => faults.push(format!("{file} is listed, but passes")),
            (false, false) => faults.push(format!("{file} does not pass ({status}) and is not listed")),
            (false, true) if wrong != Some(0) => faults.push(format!("{file} has wrong values")),
            _ => {}
        }
    }
    for file in listed {
        if results.get(file).is_none() {
            faults.push(format!("{file} is not in the corpus"));
        }
    }
    faults
}

fn baseline_tally(baseline: &Value) -> Tally {
    let number = |key: &str| baseline[key].as_u64().unwrap_or(0);
    Tally {
        pass: number("min_pass"),
        partial: 0,
        fail: number("max_fail"),
        wrong_objects: number("max_wrong_objects"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tally_counts_files_and_wrong_objects() {
        let results = json!({
            "a": {"status": "pass", "wrong": 0},
            "b": {"status": "partial", "wrong": 2},
            "c": {"status": "fail", "wrong": 1},
        });
        let tally = Tally::of(&results).unwrap();
        assert_eq!(tally, Tally { pass: 1, partial: 1, fail: 1, wrong_objects: 3 });
    }

    #[test]
    fn exceptions_are_those_listed() {
        let listed = listed("# Files\n\n| file | reason |\n|---|---|\n| `a.h5` | x `y` |\n| `b.h5` | z |\n");
        assert_eq!(listed, BTreeSet::from(["a.h5", "b.h5"]));
        let results = |a: &str, b: &str, wrong: u64, c: &str| json!({"a.h5": {"status": a, "wrong": 0}, "b.h5": {"status": b, "wrong": wrong}, "c.h5": {"status": c, "wrong": 0}});
        assert!(against_exceptions(&listed, &results("partial", "fail", 0, "pass")).is_empty());
        for wrong in [
            results("pass", "fail", 0, "pass"),
            results("partial", "fail", 0, "partial"),
            results("partial", "partial", 1, "pass"),
            json!({"a.h5": {"status": "partial", "wrong": 0}}),
        ] {
            assert_eq!(against_exceptions(&listed, &wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn the_baseline_only_gets_better() {
        let baseline = json!({"min_pass": 10, "max_fail": 2, "max_wrong_objects": 0});
        let same = Tally { pass: 10, partial: 3, fail: 2, wrong_objects: 0 };
        assert!(same.worse_than(&baseline).is_empty());
        let worse = Tally { pass: 9, partial: 3, fail: 3, wrong_objects: 1 };
        assert_eq!(worse.worse_than(&baseline).len(), 3);
    }
}
