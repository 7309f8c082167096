//! One crash, and what is left after it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hyperslab::vfd::simulated::{Crash, Files, Replay, SimulatedDisk};
use hyperslab::{File, OpenOptions};
use hyperslab_check::CheckOptions;

use crate::content::{self, Content};
use crate::record::{FILE, JOURNAL, Recording};

/// A crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) crash: Crash,
    /// After so many operations of the disk.
    pub(crate) point: usize,
    pub(crate) seed: u64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let crash = Crash::ALL.iter().position(|crash| *crash == self.crash).unwrap_or(0);
        write!(f, "{},{crash},{}", self.point, self.seed)
    }
}

impl Case {
    /// As it is printed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next().flatten();
        let (point, crash, seed) = (number()? as usize, number()? as usize, number()?);
        Some(Self { crash: *Crash::ALL.get(crash)?, point, seed })
    }
}

/// What became of a file.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The bytes after it was opened for writing and closed, or nothing if there was no file yet.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether the recovery was crashed, too, and whether the file was changed again.
    pub(crate) crashed_again: bool,
    pub(crate) changed: bool,
}

/// Tries a case; gives what is wrong with what is left.
pub(crate) fn run(recording: &Recording, replay: &mut Replay<'_>, case: Case) -> Result<Recovered, String> {
    replay.go_to(case.point);
    let mut files = replay.crash(case.crash, case.seed);
    files.entry(FILE.to_owned()).or_default();
    let outcome = catch_unwind(AssertUnwindSafe(|| recover(recording, case, files)));
    outcome.unwrap_or_else(|panic| Err(format!("panic: {}", text_of(&*panic))))
}

/// What a panic says.
pub(crate) fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

fn recover(recording: &Recording, case: Case, files: Files) -> Result<Recovered, String> {
    let (allowed, promised) = recording.allowed(case.point);
    let disk = SimulatedDisk::holding(files.clone());
    let found = match read(&disk) {
        Ok(found) => found,
        Err(_) if !promised => return Ok(Recovered { bytes: None, crashed_again: false, changed: false }),
        Err(why) => return Err(format!("cannot be read: {why}")),
    };
    if disk.operations() > 0 {
        return Err(format!("a reader did {:?}", disk.history().operations()));
    }
    if !recording.steps[allowed.clone()].iter().any(|step| *step.content == found) {
        let close = allowed.map(|step| (step, content::difference(&found, &recording.steps[step].content)));
        let (step, close) = close.min_by_key(|(_, difference)| difference.len()).unwrap_or_default();
        return Err(format!("neither the old nor the new content; closest is step {step}: {close:#?}"));
    }
    write(recording, &disk, &found)?;
    let twice = case.seed % 3 == 1;
    if twice {
        crash_again(recording, case, &disk, &found)?;
    }
    let bytes = disk.files().remove(FILE);
    let changed = case.seed % 4 == 2;
    if changed {
        change(recording, &disk)?;
    }
    Ok(Recovered { bytes, crashed_again: twice, changed })
}

/// What a reader finds.
pub(crate) fn read(disk: &SimulatedDisk) -> Result<Content, String> {
    let options = OpenOptions::new().journal(disk.side_file(JOURNAL));
    let file = options.open_driver(disk.file(FILE)).map_err(|error| format!("{error:?}"))?;
    content::of_file(&file).map_err(|error| format!("{error:?}"))
}

fn open(recording: &Recording, disk: &SimulatedDisk) -> Result<File, String> {
    recording
        .options(disk)
        .open_driver(disk.file(FILE))
        .map_err(|error| format!("opening for writing: {error:?}"))
}

/// Opens the file for writing: it is the same, and sound when it is closed.
fn write(recording: &Recording, disk: &SimulatedDisk, expected: &Content) -> Result<(), String> {
    let file = open(recording, disk)?;
    let found = content::of_file(&file).map_err(|error| format!("opened for writing: {error:?}"))?;
    if found != *expected {
        return Err(format!("opened for writing: {:#?}", content::difference(&found, expected)));
    }
    file.close().map_err(|error| format!("closing: {error:?}"))?;
    if disk.files().contains_key(JOURNAL) {
        return Err("the journal is there after closing".into());
    }
    check(disk)
}

pub(crate) fn check(disk: &SimulatedDisk) -> Result<(), String> {
    let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
    let report =
        hyperslab_check::check(disk.file(FILE), &options).map_err(|error| format!("check: {error:?}"))?;
    if report.faults == 0 { Ok(()) } else { Err(format!("check: {:#?}", report.findings)) }
}

/// The recovery crashes, too: the next one finds the same.
fn crash_again(
    recording: &Recording,
    case: Case,
    disk: &SimulatedDisk,
    expected: &Content,
) -> Result<(), String> {
    let history = disk.history();
    let mut replay = history.replay();
    let point = (case.seed as usize / 3) % (history.len() + 1);
    replay.go_to(point);
    let crash = if case.crash == Crash::ProcessEnd { case.crash } else { Crash::Torn };
    let left = SimulatedDisk::holding(replay.crash(crash, case.seed));
    let again = |why| format!("after a crash of the recovery at {point} of {}: {why}", history.len());
    let found = read(&left).map_err(again)?;
    if found != *expected {
        return Err(again(format!("{:#?}", content::difference(&found, expected))));
    }
    write(recording, &left, expected).map_err(again)
}

/// The file can be changed as if nothing had been.
fn change(recording: &Recording, disk: &SimulatedDisk) -> Result<(), String> {
    let file = open(recording, disk)?;
    let work = || {
        let group = file.create_group("after the crash")?;
        group.new_dataset("numbers").write(&[7_i32; 100])?;
        (0..4).try_for_each(|number| group.link_soft(&format!("link {number}"), "/somewhere"))?;
        file.flush()?;
        group.remove("numbers")?;
        content::of_file(&file)
    };
    let expected = work().map_err(|error| format!("changing: {error:?}"))?;
    file.close().map_err(|error| format!("closing what was changed: {error:?}"))?;
    check(disk).map_err(|why| format!("changed: {why}"))?;
    let found = read(disk)?;
    if found == expected {
        Ok(())
    } else {
        Err(format!("changed: {:#?}", content::difference(&found, &expected)))
    }
}
