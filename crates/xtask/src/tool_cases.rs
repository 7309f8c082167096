//! `cargo xtask tool-cases`: the tools must print the output of the C library's tools, except for a
//! list with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::workspace;

use crate::corpus::{COMMAND, listed};
use crate::shell;

const EXCEPTIONS: &str = "docs/tools-exceptions.md";
/// Files and folders of files that the cases need but do not contain: the folder and the names. In
/// the corpus, a prefix of the project precedes the names.
const CORPUS: &str = "../shared/corpus/files";
const SHARED_FILES: [&str; 6] = [
    "hdf5__set-tsplit",
    "hdf5__set-vds1",
    "hdf5__set-vds2",
    "hdf5__textlinkfar.h5",
    "hdf5__textlinktar.h5",
    "hdf5__trefer_ext1.h5",
];
/// The tools whose cases run.
const TOOLS: [&str; 4] = ["h5diff", "h5dump", "h5ls", "h5stat"];
/// The text before the status, in an expectation whose last line states the status.
const STATUS: &[u8] = b"EXIT CODE: ";

/// A call of a tool and the expected output: one of several files, if the output depends on the
/// machine.
#[derive(Debug, PartialEq)]
struct Case {
    expected: Vec<PathBuf>,
    status: Option<i32>,
    name: String,
    arguments: Vec<String>,
}

pub(crate) fn run(only: &[String]) -> Result<()> {
    let dir = workspace::root().join("../shared/tools");
    if !dir.is_dir() {
        workspace::skip("cases of the tools", "../shared/tools does not exist");
        return Ok(());
    }
    shell::build_command()?;
    let mut missed = BTreeMap::new();
    for tool in TOOLS.into_iter().filter(|tool| only.is_empty() || only.iter().any(|only| only == tool)) {
        let cases = cases(&dir.join(tool))?;
        let failed = failed(tool, &dir.join(tool).join("files"), &cases)?;
        println!("{tool}: {} of {} cases", cases.len() - failed.len(), cases.len());
        missed.extend(failed);
    }
    let text = fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let listed = listed(&text);
    let new = missed.iter().filter(|(name, _)| !listed.contains(name.as_str()));
    let faults: Vec<String> = new.map(|(name, why)| format!("{name}: {why}")).collect();
    ensure!(faults.is_empty(), "failed cases that {EXCEPTIONS} does not list: {}", faults.join("; "));
    let gone: BTreeSet<&&str> = listed.iter().filter(|name| !missed.contains_key(**name)).collect();
    ensure!(gone.is_empty() || !only.is_empty(), "cases that {EXCEPTIONS} lists but that pass: {gone:?}");
    Ok(())
}

fn cases(dir: &Path) -> Result<Vec<Case>> {
    let table = dir.join("cases.tsv");
    let text = fs::read_to_string(&table).with_context(|| table.display().to_string())?;
    let tool = dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().skip(1) {
        let [expected, status, arguments] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            bail!("{}: `{line}`", table.display())
        };
        let name = format!("{tool} {}", arguments.split_whitespace().collect::<Vec<_>>().join(" "));
        let expected = dir.join("expected").join(expected);
        match cases.iter_mut().find(|case| case.name == name) {
            Some(case) => case.expected.push(expected),
            None => cases.push(Case {
                expected: vec![expected],
                status: status.parse().ok(),
                name,
                arguments: words(arguments),
            }),
        }
    }
    Ok(cases)
}

/// Runs all cases in a copy of the files, because the tools may write beside them. Returns the
/// failed cases, with the first line that differs.
fn failed(tool: &str, files: &Path, cases: &[Case]) -> Result<BTreeMap<String, String>> {
    let folder = tempfile::tempdir()?;
    let corpus = workspace::root().join(CORPUS);
    for shared in SHARED_FILES.map(|name| corpus.join(name)) {
        copy(&shared, folder.path())?;
    }
    copy(files, folder.path())?;
    let command = workspace::root().join(COMMAND);
    let mut failed = BTreeMap::new();
    for case in cases {
        let mut call = shell::command(&command, &[tool]);
        let output = call.args(&case.arguments).current_dir(folder.path()).output().context("a tool")?;
        let faults = case.expected.iter().map(|expected| fault(expected, case.status, &output));
        // A case passes if one of the expectations has no difference.
        let faults: Option<Vec<String>> = faults.collect::<Result<Vec<_>>>()?.into_iter().collect();
        if let Some(first) = faults.and_then(|faults| faults.into_iter().next()) {
            failed.insert(case.name.clone(), first);
        }
    }
    Ok(failed)
}

/// Copies a file, or the files of a folder, if they exist.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    } else if let Some(name) = from.file_name().and_then(|name| name.to_str()).filter(|_| from.is_file()) {
        fs::copy(from, to.join(name.trim_start_matches("hdf5__")))?;
    }
    Ok(())
}

/// Returns the first difference from the expectation.
fn fault(expected: &Path, status: Option<i32>, output: &Output) -> Result<Option<String>> {
    let text = fs::read(expected).with_context(|| expected.display().to_string())?;
    let (text, stated) = split_status(&text);
    let (status, got) = (stated.or(status), output.status.code());
    Ok(if output.stdout != text {
        Some(difference(text, &output.stdout))
    } else if status.is_some() && status != got {
        Some(format!("status {got:?} instead of {status:?}"))
    } else {
        None
    })
}

/// Returns the expected output, and the status if the last line states one.
fn split_status(expected: &[u8]) -> (&[u8], Option<i32>) {
    let text = expected.trim_ascii_end();
    let start = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (output, last) = text.split_at(start);
    let status = last.strip_prefix(STATUS).and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
    if status.is_some() { (output, status) } else { (expected, None) }
}

fn difference(expected: &[u8], got: &[u8]) -> String {
    let (expected, got) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(got));
    let lines = expected.lines().zip(got.lines()).zip(1..).find(|((one, other), _)| one != other);
    match lines {
        Some(((expected, got), line)) => format!("line {line}: `{got}` instead of `{expected}`"),
        None => format!("{} lines instead of {}", got.lines().count(), expected.lines().count()),
    }
}

/// Splits text into words as a shell does: at spaces outside quotes.
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
            // A backslash outside quotes keeps the next character. Between quotes, a backslash
            // stays.
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
    fn the_last_line_may_tell_the_status() {
        assert_eq!(split_status(b"a\nEXIT CODE: 2\n"), (b"a\n".as_slice(), Some(2)));
        assert_eq!(split_status(b"EXIT CODE: 0"), (b"".as_slice(), Some(0)));
        assert_eq!(split_status(b"a\nb\n"), (b"a\nb\n".as_slice(), None));
    }

    #[test]
    fn the_first_difference_is_told() {
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), "line 2: `c` instead of `b`");
        assert_eq!(difference(b"a\nb\n", b"a\n"), "1 lines instead of 2");
    }
}
