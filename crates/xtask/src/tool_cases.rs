//! `cargo xtask tool-cases`: the tools print what those of the C library print, but for a list with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::corpus::{COMMAND, listed};
use crate::shell;

const EXCEPTIONS: &str = "docs/tools-exceptions.md";
/// The tools whose cases are run.
const TOOLS: &[&str] = &["h5dump", "h5stat"];

/// A call of a tool and what it prints.
struct Case {
    expected: PathBuf,
    name: String,
    arguments: Vec<String>,
}

pub(crate) fn run(only: &[String]) -> Result<()> {
    let dir = workspace::root().join("../shared/tools");
    if !dir.is_dir() {
        workspace::skip("cases of the tools", "../shared/tools is not there");
        return Ok(());
    }
    shell::run(&mut shell::cargo(&["build", "--release", "--package", "hyperslab-cli"]))?;
    let mut missed = BTreeMap::new();
    for tool in TOOLS.iter().filter(|tool| only.is_empty() || only.iter().any(|only| only == *tool)) {
        let cases = cases(&dir.join(tool))?;
        let failed = failed(tool, &dir.join(tool).join("files"), &cases)?;
        println!("{tool}: {} of {} cases", cases.len() - failed.len(), cases.len());
        missed.extend(failed);
    }
    let text = fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let listed = listed(&text);
    let new = missed.iter().filter(|(name, _)| !listed.contains(name.as_str()));
    let faults: Vec<String> = new.map(|(name, why)| format!("{name}: {why}")).collect();
    ensure!(faults.is_empty(), "cases that are not listed in {EXCEPTIONS}: {}", faults.join("; "));
    let gone: BTreeSet<&&str> = listed.iter().filter(|name| !missed.contains_key(**name)).collect();
    ensure!(gone.is_empty() || !only.is_empty(), "cases listed in {EXCEPTIONS} that pass: {gone:?}");
    Ok(())
}

fn cases(dir: &Path) -> Result<Vec<Case>> {
    let table = dir.join("cases.tsv");
    let text = fs::read_to_string(&table).with_context(|| table.display().to_string())?;
    let tool = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut cases = Vec::new();
    for line in text.lines().skip(1) {
        let Some((expected, rest)) = line.split_once('\t') else { bail!("{}: `{line}`", table.display()) };
        let arguments = rest.rsplit_once('\t').map_or(rest, |(_, arguments)| arguments);
        let name = format!("{tool} {}", arguments.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected = dir.join("expected").join(expected);
        cases.push(Case { expected, name, arguments: words(arguments) });
    }
    Ok(cases)
}

/// Runs all cases in a copy of the files, which the tools may write beside; gives those that print something else, with
/// the first line that differs.
fn failed(tool: &str, files: &Path, cases: &[Case]) -> Result<BTreeMap<String, String>> {
    let folder = tempfile::tempdir()?;
    for entry in fs::read_dir(files)? {
        let entry = entry?;
        fs::copy(entry.path(), folder.path().join(entry.file_name()))?;
    }
    let command = workspace::root().join(COMMAND);
    let mut failed = BTreeMap::new();
    for case in cases {
        let mut call = shell::command(&command, &[tool]);
        let output = call.args(&case.arguments).current_dir(folder.path()).output().context("a tool")?;
        let expected = fs::read(&case.expected).with_context(|| case.expected.display().to_string())?;
        if output.stdout != expected {
            failed.insert(case.name.clone(), difference(&expected, &output.stdout));
        }
    }
    Ok(failed)
}

fn difference(expected: &[u8], got: &[u8]) -> String {
    let (expected, got) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(got));
    let lines = expected.lines().zip(got.lines()).zip(1..).find(|((one, other), _)| one != other);
    match lines {
        Some(((expected, got), line)) => format!("line {line}: `{got}` instead of `{expected}`"),
        None => format!("{} lines instead of {}", got.lines().count(), expected.lines().count()),
    }
}

/// Words as a shell splits them: at spaces that stand in no quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            // Between double quotes a backslash stays, but before some letters.
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_a_shell_has_them() {
        assert_eq!(
            words(r#"-a "/\/attr1" -d "x y[0]"  -m %.7f"#),
            ["-a", r"/\/attr1", "-d", "x y[0]", "-m", "%.7f"]
        );
        assert_eq!(words("'' a\\ b"), ["", "a b"]);
    }

    #[test]
    fn the_first_difference_is_told() {
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), "line 2: `c` instead of `b`");
        assert_eq!(difference(b"a\nb\n", b"a\n"), "1 lines instead of 2");
    }
}
