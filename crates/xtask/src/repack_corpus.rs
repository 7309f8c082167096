//! `cargo xtask repack-corpus`: repacks every file that libhdf5 reads in four formats. The contents
//! must stay the same.

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

/// Without `--all`, the task repacks one of this many files.
const FILES_PER_SAMPLE: usize = 25;

/// The name of each format, and the arguments of `hyperslab repack`.
const FORMATS: &[(&str, &[&str])] = &[
    ("earliest", &["--libver", "earliest", "--layout", "**=contiguous", "--filter", "**=none"]),
    ("latest", &["--libver", "latest", "--layout", "**=chunked", "--filter", "**=gzip=4"]),
    ("paged", &["--libver", "v110", "--fs-strategy", "page", "--fs-persist"]),
    ("sparse", &["--layout", "**=sparse", "--filter", "**=shuffle,gzip=4"]),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let all = args.iter().any(|arg| arg == "--all");
    if let Some(unknown) = args.iter().find(|arg| *arg != "--all") {
        bail!("unknown argument `{unknown}`, expected --all");
    }
    let Some(dir) = corpus::dir() else { return Ok(()) };
    shell::build_command()?;
    let mut cases = corpus::cases(&dir)?;
    cases.retain(|case| case.truth().is_ok_and(|truth| truth.get("open_error").is_none()));
    let step = if all { 1 } else { FILES_PER_SAMPLE };
    let chosen: Vec<&Case> = cases.iter().step_by(step).collect();
    // Files refer to other files, so the task writes the new files beside copies of all files.
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
    println!(
        "repack-corpus: {same} of {} files have the same contents in all {} formats",
        chosen.len(),
        FORMATS.len()
    );
    let text = fs::read_to_string(workspace::root().join(EXCEPTIONS)).context(EXCEPTIONS)?;
    let listed = listed(&text);
    let new: Vec<String> = faults
        .iter()
        .filter(|(name, ..)| !listed.contains(name.as_str()))
        .map(|(name, format, why)| format!("{name} ({format}): {why}"))
        .collect();
    ensure!(new.is_empty(), "the contents of {} files differ:\n{}", new.len(), new.join("\n"));
    if all {
        let known: BTreeSet<&str> = faults.iter().map(|(name, ..)| name.as_str()).collect();
        let gone: Vec<&&str> = listed.iter().filter(|name| !known.contains(*name)).collect();
        ensure!(gone.is_empty(), "{EXCEPTIONS} lists files that do not differ or do not exist: {gone:?}");
    }
    Ok(())
}

/// The file, the format, and the message of a failure.
type Fault = (String, &'static str, String);

fn repack_all(work: &Path, cases: &[&Case]) -> Result<Vec<Fault>> {
    let next = AtomicUsize::new(0);
    let faults = Mutex::new(Vec::new());
    let worker = || -> Result<()> {
        loop {
            let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            for (format, arguments) in FORMATS {
                if let Some(why) = repack(&work.join(&case.name), format, arguments)?
                    && let Ok(mut faults) = faults.lock()
                {
                    faults.push((case.name.clone(), *format, why));
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

/// Repacks one file and checks the result. Returns a message if something is wrong.
fn repack(file: &Path, format: &str, arguments: &[&str]) -> Result<Option<String>> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let new = file.with_file_name(format!(".{format}-{name}"));
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
