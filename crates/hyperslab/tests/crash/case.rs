//! One crash, and the check of the files that it leaves.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hyperslab::{Durability, File, OpenOptions};
use hyperslab_check::CheckOptions;
use hyperslab_vfd::simulated::{Crash, Files, Replay, SimulatedDisk};

use crate::accident::Accident;
use crate::content::{self, Content};
use crate::record::{Dice, FILE, JOURNAL, Recording, Step};

/// A crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) crash: Crash,
    /// The number of disk operations before the crash.
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
    /// Parses the printed form of a case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next().flatten();
        let (point, crash, seed) = (number()? as usize, number()? as usize, number()?);
        Some(Self { crash: *Crash::ALL.get(crash)?, point, seed })
    }
}

/// The result of a case.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The bytes of the file after it was opened for writing and closed. Empty if there was no file
    /// yet.
    pub(crate) bytes: Option<Vec<u8>>,
    /// True if the recovery also crashed; true if the file was changed after the recovery, with
    /// crashes during the changes.
    pub(crate) crashed_again: bool,
    pub(crate) went_on: bool,
    /// True if an accident happened between the crash and the next opening of the file.
    pub(crate) accident: bool,
}

/// Tests a case. Returns the fault of the files that the crash left, if there is one.
pub(crate) fn run(recording: &Recording, replay: &mut Replay<'_>, case: Case) -> Result<Recovered, String> {
    replay.go_to(case.point);
    let mut files = replay.crash(case.crash, case.seed);
    files.entry(FILE.to_owned()).or_default();
    let disk = || left(recording, case, files.clone());
    let outcome = catch_unwind(AssertUnwindSafe(|| recover(recording, case, disk)));
    outcome.unwrap_or_else(|panic| Err(format!("panic: {}", text_of(&*panic))))
}

/// Tests two crashes. The process ends after a number of operations, and a second process
/// continues. If the second process crashes at any operation, no commit of the two processes is
/// lost.
pub(crate) fn run_twice(recording: &Recording, point: usize) -> Result<(), String> {
    let case = Case { crash: Crash::ProcessEnd, point, seed: 0 };
    let disk = || left(recording, case, Files::new());
    let Some(found) = settle(recording, point, &disk())? else { return Ok(()) };
    second_life(recording, case, &disk(), found, true)
}

/// Returns the message of a panic.
pub(crate) fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

/// Returns the disk after a crash. If only the process ended, the unsynced writes stay unsynced.
fn left(recording: &Recording, case: Case, files: Files) -> SimulatedDisk {
    let history = &recording.history;
    if case.crash == Crash::ProcessEnd && case.seed == 0 {
        SimulatedDisk::after(history.until(case.point))
    } else {
        SimulatedDisk::holding(files)
    }
}

fn recover(recording: &Recording, case: Case, left: impl Fn() -> SimulatedDisk) -> Result<Recovered, String> {
    let disk = left();
    let Some(found) = settle(recording, case.point, &disk)? else {
        return Ok(Recovered { bytes: None, crashed_again: false, went_on: false, accident: false });
    };
    let crashed_again = case.seed % 3 == 1;
    if crashed_again {
        crash_again(recording, case, &disk, &found)?;
    }
    let went_on = (case.seed ^ case.point as u64) % 4 == 2;
    if went_on {
        second_life(recording, case, &left(), found, false)
            .map_err(|why| format!("in the next life: {why}"))?;
    }
    let accident = match Accident::of(case.seed ^ case.point as u64) {
        Some(accident) => accident.happen(recording, case.point, &left())?,
        None => false,
    };
    Ok(Recovered { bytes: disk.files().remove(FILE), crashed_again, went_on, accident })
}

/// Opens the file that the crash left, for reading and for writing. Its content must be one of the
/// allowed contents. Returns the content, or nothing if there was no file yet.
fn settle(recording: &Recording, point: usize, disk: &SimulatedDisk) -> Result<Option<Content>, String> {
    let (allowed, promised) = recording.allowed(point);
    let before = disk.operations();
    let found = match read(disk) {
        Ok(found) => found,
        Err(_) if !promised => return Ok(None),
        Err(why) => return Err(format!("cannot be read: {why}")),
    };
    if disk.operations() > before {
        return Err(format!("a reader did {:?}", &disk.history().operations()[before..]));
    }
    if !recording.steps[allowed.clone()].iter().any(|step| *step.content == found) {
        let all = recording.steps.iter().enumerate();
        let close = all.map(|(number, step)| (number, content::difference(&found, &step.content)));
        let (step, close) = close.min_by_key(|(_, difference)| difference.len()).unwrap_or_default();
        return Err(format!("content of none of the steps {allowed:?}; closest is step {step}: {close:#?}"));
    }
    write(recording, disk, &found)?;
    Ok(Some(found))
}

/// Returns the content that a reader finds.
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

/// Opens the file for writing. The content must be the same, and the file must be sound after the
/// close.
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
    // A power loss before the first commit of a journal may destroy the first sector of the
    // journal, so its content is unknown.
    let is_blank = |bytes: &[u8]| bytes.iter().take(512).all(|byte| *byte == 0);
    let set_aside = |(name, bytes): &(&String, &Vec<u8>)| name.contains(".stale-") && !is_blank(bytes);
    if let Some((name, _)) = disk.files().iter().find(set_aside) {
        return Err(format!("a journal of this very file was set aside as `{name}`"));
    }
    check(disk)
}

pub(crate) fn check(disk: &SimulatedDisk) -> Result<(), String> {
    let options = CheckOptions { decode_chunks: true, ..CheckOptions::default() };
    let report =
        hyperslab_check::check(disk.file(FILE), &options).map_err(|error| format!("check: {error:?}"))?;
    if report.faults == 0 { Ok(()) } else { Err(format!("check: {:#?}", report.findings)) }
}

/// Tests a crash of the recovery. The next recovery must find the same content.
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

/// Tests a crash of a second writer, which changes the recovered file: at one operation, or at each
/// operation in turn.
fn second_life(
    first: &Recording,
    case: Case,
    disk: &SimulatedDisk,
    found: Content,
    everywhere: bool,
) -> Result<(), String> {
    let step = |subject: &str, before, commits, content: Content| {
        let (subject, content) = (subject.to_owned(), Arc::new(content));
        Step { subject, before, after: disk.operations(), commits, content }
    };
    let begin = disk.operations();
    // The commit that ran when the process ended may be present or absent, until the file is opened
    // for writing.
    let before = first.steps.iter().filter(|step| begin > 0 && step.before <= begin);
    let ended = |step: &Step| Step { commits: step.commits && step.after <= begin, ..step.clone() };
    let mut steps: Vec<Step> = before.map(ended).collect();
    let file = open(first, disk)?;
    steps.push(step("open", begin, begin == 0, found));
    let groups: Vec<String> = (0..2).map(|number| format!("after the crash {number}")).collect();
    let changes: [&dyn Fn() -> hyperslab::Result<()>; 5] = [
        &|| file.set_attribute("life", 1_i32),
        &|| file.set_attribute("life", 2_i32),
        &|| file.create_group(&groups[0])?.new_dataset("numbers").write(&[7_i32; 200]).map(|_| ()),
        &|| file.set_attribute("life", 3_i32),
        &|| {
            (1..9)
                .try_for_each(|number| file.link_soft(&format!("{}/link {number}", groups[0]), "/somewhere"))
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let before = disk.operations();
        let work = || {
            change()?;
            file.flush()?;
            content::of_file(&file)
        };
        let content = work().map_err(|error| format!("change {number}: {error:?}"))?;
        steps.push(step("change", before, true, content));
    }
    let before = disk.operations();
    file.close().map_err(|error| format!("closing: {error:?}"))?;
    let last = Content::clone(&steps[steps.len() - 1].content);
    steps.push(step("close", before, true, last.clone()));
    let history = disk.history();
    let name = format!("{} {case}, next life", first.name);
    let Recording { durability, bounds, common, .. } = *first;
    let second = Recording { name, durability, bounds, common, steps, history };
    let end = second.history.len();
    settle(&second, end, disk).map_err(|why| format!("closed: {why}"))?;
    let mut dice = Dice(case.seed ^ case.point as u64);
    let mut replay = second.history.replay();
    for number in 0..if everywhere { 3 * (end - begin + 1) } else { 4 } {
        let anywhere = dice.below((end - begin + 1) as u64) as usize;
        let point = begin + if everywhere { number / 3 } else { anywhere };
        let power = number % 3 > 0 && first.durability == Durability::Full;
        let crash = if power { [Crash::PowerLoss, Crash::Torn][number % 3 - 1] } else { Crash::ProcessEnd };
        let case = Case { crash, point, seed: if power { dice.below(1 << 30) } else { 0 } };
        replay.go_to(point);
        let left = left(&second, case, replay.crash(crash, case.seed));
        settle(&second, point, &left).map_err(|why| {
            let operations = &second.history.operations()[begin..];
            let reported: Vec<String> = operations.iter().map(ToString::to_string).collect();
            format!("{case:?}: {why}\noperations from {begin} on: {reported:#?}")
        })?;
    }
    Ok(())
}
