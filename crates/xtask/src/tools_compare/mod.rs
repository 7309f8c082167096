//! `cargo xtask tools-compare`: the output of the tools for all files of the corpus, compared with
//! the output of the C tools of a newer release.

mod c_tools;
mod differences;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::{corpus, workspace};

use self::c_tools::CTools;
use self::differences::Class;
use self::report::Report;
use crate::corpus::COMMAND;
use crate::shell;

/// The tools and options that run for each file.
const RUNS: [(&str, &[&str]); 7] = [
    ("h5dump", &[]),
    ("h5dump", &["-H"]),
    ("h5dump", &["-p", "-H"]),
    ("h5dump", &["-A"]),
    ("h5ls", &["-r"]),
    ("h5ls", &["-r", "-v"]),
    ("h5stat", &[]),
];
/// The smallest accepted share of equal runs, in tenths of a percent. Runs without a stable output
/// of the C tool do not count.
const MIN_EQUAL: usize = 990;
/// The table of the calls with other output, which the task writes.
const LIST: &str = "target/tools-compare.tsv";
/// The number of runs at the same time.
const THREADS: usize = 2;

/// A call of a tool: its name, its options and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    tool: &'static str,
    options: Vec<&'static str>,
    files: Vec<String>,
}

impl Call {
    fn arguments(&self) -> impl Iterator<Item = &str> {
        self.options.iter().copied().chain(self.files.iter().map(String::as_str))
    }

    /// Returns the whole call as text.
    fn line(&self) -> String {
        format!("{} {}", self.kind(), self.files.join(" "))
    }

    /// Returns the tool with its options.
    fn kind(&self) -> String {
        [&[self.tool][..], &self.options].concat().join(" ")
    }
}

/// The arguments of the task.
#[derive(Debug, Default)]
struct Options {
    update: bool,
    /// The distance between two chosen files.
    every: usize,
    only: Vec<String>,
    /// True if only the calls run that differed in the previous comparison. The others count as
    /// equal.
    again: bool,
    /// The program that runs instead of a new build.
    binary: Option<PathBuf>,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = options(args)?;
    let Some(dir) = corpus::dir() else { return Ok(()) };
    let Some(c_tools) = CTools::find()? else { return Ok(()) };
    let command = if let Some(binary) = &options.binary {
        binary.clone()
    } else {
        shell::build_command()?;
        workspace::root().join(COMMAND)
    };
    let files = dir.join("files");
    let calls = calls(&files, &options)?;
    println!("{} runs, compared with the C tools of HDF5 {}", calls.len(), c_tools.version);
    let list = workspace::root().join(LIST);
    let chosen = if options.again { Some(report::listed(&list)?) } else { None };
    let is_chosen = |call: &Call| chosen.as_ref().is_none_or(|chosen| chosen.contains(&call.line()));
    let results = results(&calls, &is_chosen, |call| differences::class(call, &files, &command, &c_tools))?;
    let report = Report::of(&calls, &results, &c_tools.version);
    print!("{}", report.text());
    report.write_list(&list)?;
    if options.update {
        report.update()?;
    }
    let share = report.equal_share();
    let whole = options.only.is_empty() && options.every == 1;
    ensure!(!whole || share >= MIN_EQUAL, "{} % of the runs are equal", f(share));
    Ok(())
}

/// Returns tenths of a percent as text.
fn f(share: usize) -> String {
    format!("{}.{}", share / 10, share % 10)
}

fn options(args: &[String]) -> Result<Options> {
    let mut options = Options { every: 1, ..Options::default() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--update" => options.update = true,
            "--again" => options.again = true,
            "--binary" => options.binary = Some(args.next().context("--binary needs a program")?.into()),
            "--every" => {
                let number = args.next().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
                options.every = number.context("--every needs a number of files")?;
            }
            tool if tool.starts_with('-') => bail!("unknown option `{tool}`"),
            tool => options.only.push(tool.to_owned()),
        }
    }
    ensure!(!options.update || options.every == 1 && options.only.is_empty(), "--update needs all runs");
    Ok(options)
}

/// Returns the calls for the files of the corpus. `h5diff` compares each file with itself and with
/// the next file.
fn calls(files: &Path, options: &Options) -> Result<Vec<Call>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(files).with_context(|| files.display().to_string())? {
        let entry = entry?;
        // Sets of files are folders, which the tools cannot open.
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    let mut calls = Vec::new();
    for (number, name) in names.iter().enumerate().step_by(options.every) {
        for (tool, options) in RUNS {
            calls.push(Call { tool, options: options.to_vec(), files: vec![name.clone()] });
        }
        calls.push(Call { tool: "h5diff", options: vec!["-v"], files: vec![name.clone(), name.clone()] });
        if let Some(next) = names.get(number + 1) {
            calls.push(Call { tool: "h5diff", options: vec!["-r"], files: vec![name.clone(), next.clone()] });
        }
    }
    calls.retain(|call| options.only.is_empty() || options.only.iter().any(|only| only == call.tool));
    Ok(calls)
}

/// Classifies the chosen calls on several threads. Returns the class of the difference for each
/// call, or `None` for equal output.
fn results(
    calls: &[Call],
    is_chosen: &(dyn Fn(&Call) -> bool + Sync),
    class: impl Fn(&Call) -> Result<Option<Class>> + Sync,
) -> Result<Vec<Option<Class>>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; calls.len()]);
    let worker = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(call) = calls.get(number) else { return Ok(()) };
            let found = if is_chosen(call) { class(call)? } else { None };
            let mut results = results.lock().ok().context("a thread failed")?;
            if let Some(result) = results.get_mut(number) {
                *result = found;
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().ok().context("a thread failed")?)
    })?;
    results.into_inner().ok().context("a thread failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_file_and_of_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.h5", "a.h5"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        std::fs::create_dir(folder.path().join("set")).unwrap();
        let all = calls(folder.path(), &options(&[]).unwrap()).unwrap();
        assert_eq!(all.len(), 2 * RUNS.len() + 3);
        let last = all.last().unwrap();
        assert_eq!((last.kind(), &last.files), ("h5diff -v".into(), &vec!["b.h5".to_owned(), "b.h5".into()]));
        let only = options(&["h5stat".into(), "--every".into(), "2".into()]).unwrap();
        assert_eq!(calls(folder.path(), &only).unwrap().len(), 1);
        options(&["--every".into(), "0".into()]).unwrap_err();
        options(&["--update".into(), "h5ls".into()]).unwrap_err();
    }
}
