//! `cargo xtask repack-corpus`: every file that libhdf5 reads, written anew in four ways, holds what it held.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use hyperslab_testkit::corpus::{self, Case};
use hyperslab_testkit::workspace;

use crate::corpus::{COMMAND, listed};
use crate::shell;

const EXCEPTIONS: &str = "docs/repack-exceptions.md";

/// One of so many files is written anew if not all are asked for.
const SAMPLE: usize = 25;

/// The ways, and their arguments.
const TARGETS: &[(&str, &[&str])] = &[
    ("earliest", &["--libver", "earliest", "--layout", "**=contiguous", "--filter", "**=none"]),
    ("latest", &["--libver", "latest", "--layout", "**=chunked", "--filter", "**=gzip=4"]),
    ("paged", &["--libver", "v110", "--fs-strategy", "page", "--fs-persist"]),
    ("sparse", &["--layout", "**=sparse", "--filter", "**=shuffle,gzip=4"]),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let all = args.iter().any(|arg| arg == "--all");
    if let Some(unknown) = args.iter().find(|arg| *arg != "--all") {
        bail!("`{unknown}` is no argument: there is --all");
    }
    let Some(dir) = corpus::dir() else { return Ok(()) };
    shell::run(&mut shell::cargo(&["build", "--release", "--package", "hyperslab-cli"]))?;
    let mut cases = corpus::cases(&dir)?;
    cases.retain(|case| case.truth().is_ok_and(|truth| truth.get("open_error").is_none()));
    let step = if all { 1 } else { SAMPLE };
    let chosen: Vec<&Case> = cases.iter().step_by(step).collect();
    // Files lead to others: the new ones are made beside copies of all.
    let work = workspace::root().join("target/repack-corpus");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    copy_folder(&dir.join("files"), &work)?;
    let faults = repack_all(&work, &chosen)?;
    fs::remove_dir_all(&work)?;
    let same = chosen
        .len()
        .saturating_sub(faults.iter().map(|fault| fault.0.as_str()).collect::<BTreeSet<_>>().len());
    println!("repack-corpus: {same} of {} files hold the same in all {} ways", chosen.len(), TARGETS.len());
    let text = fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let listed = listed(&text);
    let new: Vec<String> = faults
        .iter()
        .filter(|(name, ..)| !listed.contains(name.as_str()))
        .map(|(name, way, why)| format!("{name} ({way}): {why}"))
        .collect();
    ensure!(new.is_empty(), "{} files are not the same:\n{}", new.len(), new.join("\n"));
    if all {
        let known: BTreeSet<&str> = faults.iter().map(|(name, ..)| name.as_str()).collect();
        let gone: Vec<&&str> = listed.iter().filter(|name| !known.contains(*name)).collect();
        ensure!(gone.is_empty(), "{EXCEPTIONS} lists files that are the same, or not there: {gone:?}");
    }
    Ok(())
}

/// File, way, and what went wrong.
type Fault = (String, &'static str, String);

fn repack_all(work: &Path, cases: &[&Case]) -> Result<Vec<Fault>> {
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    let worker = || -> Result<()> {
        loop {
            let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            for (way, arguments) in TARGETS {
                if let Some(why) = repack(&work.join(&case.name), way, arguments)?
                    && let Ok(mut faults) = faults.lock()
                {
                    faults.push((case.name.clone(), *way, why));
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(outcome) => outcome,
            Err(_) => bail!("a thread failed"),
        })
    })?;
    let mut faults = faults.into_inner().unwrap_or_default();
    faults.sort();
    Ok(faults)
}

/// Writes one file anew and checks that it is sound; gives what is wrong.
fn repack(file: &Path, way: &str, arguments: &[&str]) -> Result<Option<String>> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let new = file.with_file_name(format!(".{way}-{name}"));
    let mut command = shell::command(PathBuf::from(COMMAND), &["repack", "--quiet"]);
    let output = command.args(arguments).arg(file).arg(&new).output()?;
    if !output.status.success() {
        return Ok(Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let check = shell::command(PathBuf::from(COMMAND), &["check"]).arg(&new).output()?;
    fs::remove_file(&new)?;
    let unsound = !check.status.success();
    Ok(unsound.then(|| format!("not sound: {}", String::from_utf8_lossy(&check.stdout).trim())))
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
