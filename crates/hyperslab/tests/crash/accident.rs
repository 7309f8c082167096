//! Accidents between a crash and the next opening: another program writes to the file, or a backup takes its place.

use hyperslab::{Durability, OpenOptions};
use hyperslab_vfd::simulated::{Crash, SimulatedDisk};

use crate::case::{check, read};
use crate::content::{self, Content};
use crate::record::{FILE, JOURNAL, Recording};

/// The name of a journal that only the other program reads.
const ELSEWHERE: &str = "journal of another program";

/// An accident that happens to some of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accident {
    OtherProgram,
    Backup,
}

impl Accident {
    /// Returns the accident of a case: every sixth has one.
    pub(crate) fn of(seed: u64) -> Option<Self> {
        match seed % 12 {
            5 => Some(Self::OtherProgram),
            11 => Some(Self::Backup),
            _ => None,
        }
    }

    /// Applies the accident to the files that a crash left. Returns true if the accident was
    /// possible.
    pub(crate) fn happen(
        self,
        recording: &Recording,
        point: usize,
        disk: &SimulatedDisk,
    ) -> Result<bool, String> {
        match self {
            Self::OtherProgram => other_program(recording, point, disk),
            Self::Backup => backup(recording, point, disk),
        }
        .map_err(|why| format!("{self:?}: {why}"))
    }
}

/// Tests a change by another program. The program does not know journals, and changes the file if
/// the file is sound. Its changes stay.
fn other_program(recording: &Recording, point: usize, disk: &SimulatedDisk) -> Result<bool, String> {
    let options = || OpenOptions::new().journal(disk.side_file(ELSEWHERE));
    let alone = options().open_driver(disk.file(FILE)).and_then(|file| content::of_file(&file));
    let (allowed, _) = recording.allowed(point);
    let is_whole =
        alone.is_ok_and(|found| recording.steps[allowed].iter().any(|step| *step.content == found));
    if !is_whole || check(disk).is_err() {
        return Ok(false);
    }
    let change = || {
        let file = options()
            .write(true)
            .libver(recording.bounds)
            .durability(Durability::None)
            .open_driver(disk.file(FILE))?;
        file.set_attribute("of another program", vec![7_i32; 40])?;
        let first = file.links()?.first().map(hyperslab::Link::name_lossy);
        first.map_or(Ok(()), |name| file.remove(&name))?;
        file.new_dataset("of another program").write(&vec![3_i32; 20_000])?;
        let theirs = content::of_file(&file)?;
        file.close()?;
        Ok(theirs)
    };
    let theirs = change().map_err(|error: hyperslab::Error| format!("the other program: {error:?}"))?;
    expect(recording, disk, &[&theirs])?;
    Ok(true)
}

/// Tests a restored backup. An early version replaces the file: it stays, or the file has a
/// committed content.
fn backup(recording: &Recording, point: usize, disk: &SimulatedDisk) -> Result<bool, String> {
    let mut replay = recording.history.replay();
    let mut left_after = |operations: usize| {
        replay.go_to(operations);
        replay.crash(Crash::ProcessEnd, 0)
    };
    // The first step after which there was a file without a journal.
    let before = recording.steps.iter().map(|step| step.after).filter(|after| *after < point);
    let mut closed = before.map(&mut left_after).filter(|files| !files.contains_key(JOURNAL));
    let Some(bytes) = closed.find_map(|mut files| files.remove(FILE)) else { return Ok(false) };
    let alone = SimulatedDisk::holding([(FILE.to_owned(), bytes.clone())].into());
    let Ok(old) = read(&alone) else { return Ok(false) };
    let file = disk.file(FILE);
    let failed = |error: hyperslab::vfd::DriverError| format!("{error:?}");
    file.set_len(0).and_then(|()| file.write_at(0, &bytes)).map_err(failed)?;
    let mut contents: Vec<&Content> = recording.steps.iter().map(|step| &*step.content).collect();
    contents.push(&old);
    expect(recording, disk, &contents)?;
    Ok(true)
}

/// Reads the file and opens it for writing. Both times it must have one of the given contents.
/// After the close, it must be sound.
fn expect(recording: &Recording, disk: &SimulatedDisk, contents: &[&Content]) -> Result<(), String> {
    let found = read(disk)?;
    if !contents.contains(&&found) {
        let difference =
            contents.iter().map(|content| content::difference(&found, content)).min_by_key(Vec::len);
        return Err(format!("another content: {difference:#?}"));
    }
    let file = recording.options(disk).open_driver(disk.file(FILE)).map_err(|error| format!("{error:?}"))?;
    let written = content::of_file(&file).map_err(|error| format!("opened for writing: {error:?}"))?;
    if written != found {
        return Err(format!("opened for writing: {:#?}", content::difference(&written, &found)));
    }
    file.close().map_err(|error| format!("closing: {error:?}"))?;
    check(disk)
}
