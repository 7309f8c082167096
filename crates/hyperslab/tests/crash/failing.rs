//! Disk operations that fail: the call that needs the operation returns an error, and the file has
//! the state before or after the change.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperslab::{Durability, ErrorKind, File, FileOptions, IxDyn, LibraryVersion, LibverBounds, OpenOptions};
use hyperslab_vfd::simulated::{Crash, Fault, FaultKind, SimulatedDisk};
use rayon::prelude::*;

use crate::case::{check, read, text_of};
use crate::content;
use crate::matrix::{number_of, threads};
use crate::record::{self, FILE, JOURNAL, Recording, Sequence};

/// The default number of tested faults.
const FEW: usize = 900;
/// The largest number of faults in one sequence if the total number is small.
const OF_ONE: usize = 60;

/// The kind of fault.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Fault(Fault),
    /// The disk has only this number of bytes until one operation has failed.
    Capacity(u64),
}

/// The state of a file after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// No call returned an error, and the content is complete.
    NotNoticed,
    /// The file could be flushed, and the content is complete.
    WentOn,
    /// The handle refuses further writes, and the committed content is present.
    GaveUp,
    /// The error happened while the file was created or closed.
    NoFile,
}

/// Executes a sequence until an operation fails, and checks the remaining file.
fn run(sequence: &Sequence, good: &Recording, trouble: Trouble) -> Result<After, String> {
    let disk = SimulatedDisk::new();
    disk.file(FILE);
    match trouble {
        Trouble::Fault(fault) => disk.fail(fault),
        Trouble::Capacity(bytes) => disk.set_capacity(Some(bytes)),
    }
    let mut world = match catch_unwind(AssertUnwindSafe(|| sequence.world(&disk, false))) {
        Ok(world) => world,
        Err(panic) => {
            is_clear(&text_of(&*panic), trouble)?;
            disk.clear_faults();
            disk.set_capacity(None);
            return sequence_anew(sequence, &disk, good);
        }
    };
    for (step, operation) in sequence.all_operations().iter().enumerate() {
        let step = step + 1;
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| world.perform(operation))) else { continue };
        is_clear(&text_of(&*panic), trouble).map_err(|why| format!("step {step}: {why}"))?;
        let file = world.take_file();
        drop(world);
        return aftermath(good, &disk, file, step, trouble)
            .map_err(|why| format!("after step {step}: {why}"));
    }
    drop(world);
    disk.clear_faults();
    disk.set_capacity(None);
    let last = good.steps.len() - 1;
    settled(good, &disk, last..=last)?;
    Ok(After::NotNoticed)
}

/// Asserts that creating a file succeeds when the disk works again.
fn sequence_anew(sequence: &Sequence, disk: &SimulatedDisk, good: &Recording) -> Result<After, String> {
    disk.file(FILE).set_len(0).unwrap();
    let again = catch_unwind(AssertUnwindSafe(|| drop(sequence.world(disk, false))));
    again.map_err(|panic| format!("made again: {}", text_of(&*panic)))?;
    settled(good, disk, 0..=0)?;
    Ok(After::NoFile)
}

/// Asserts that the error is an error of the disk and names the file.
fn is_clear(text: &str, trouble: Trouble) -> Result<(), String> {
    let expected = text.starts_with("called `Result::unwrap()` on an `Err` value: Io: ");
    let named = text.contains(&format!("{FILE}: ")) || text.contains(&format!("{JOURNAL}: "));
    let full = !matches!(trouble, Trouble::Capacity(_)) || text.contains("no space left");
    if expected && named && full { Ok(()) } else { Err(format!("no clear error: {text}")) }
}

/// Checks the file after a step that failed.
fn aftermath(
    good: &Recording,
    disk: &SimulatedDisk,
    file: Option<File>,
    step: usize,
    trouble: Trouble,
) -> Result<After, String> {
    let committed = good.steps[..step].iter().rposition(|step| step.commits).unwrap_or(0);
    let begun = good.steps[..step].iter().any(|step| step.commits);
    // The process may end here.
    let left = SimulatedDisk::holding(disk.files());
    // Before the first completed flush, the file may not exist.
    let settled = |disk: &SimulatedDisk| match settled(good, disk, committed..=step) {
        Err(why) if begun => Err(why),
        _ => Ok(()),
    };
    settled(&left).map_err(|why| format!("if the process ended: {why}"))?;
    disk.clear_faults();
    disk.set_capacity(None);
    let Some(file) = file else {
        settled(disk)?;
        return Ok(After::NoFile);
    };
    let outcome = goes_on(good, disk, &file, step);
    match outcome {
        Ok(expected) => {
            drop(file);
            self::settled(good, disk, expected..=expected)?;
            Ok(After::WentOn)
        }
        Err(error) if matches!(trouble, Trouble::Capacity(_)) => Err(format!("with more room: {error}")),
        Err(error) => {
            drop(file);
            settled(disk).map_err(|why| format!("given up ({error}): {why}"))?;
            Ok(After::GaveUp)
        }
    }
}

/// Flushes a file whose disk works again, if the handle permits it. Returns the step whose content
/// the file has.
fn goes_on(good: &Recording, disk: &SimulatedDisk, file: &File, step: usize) -> Result<usize, String> {
    let clear = |error: hyperslab::Error| match error.kind() {
        ErrorKind::Io | ErrorKind::Misuse => error.to_string(),
        _ => panic!("no clear refusal: {error:?}"),
    };
    file.flush().map_err(clear)?;
    let live = content::of_file(file).map_err(clear)?;
    let same = [step, step - 1].into_iter().find(|step| *good.steps[*step].content == live);
    let Some(same) = same else {
        panic!("half of it is done: {:#?}", content::difference(&live, &good.steps[step].content))
    };
    let left = SimulatedDisk::holding(disk.files());
    settled(good, &left, same..=same).unwrap_or_else(|why| panic!("flushed again: {why}"));
    Ok(same)
}

/// Opens a file again. It must be sound, and must have the content after one of the steps.
fn settled(
    good: &Recording,
    disk: &SimulatedDisk,
    steps: std::ops::RangeInclusive<usize>,
) -> Result<(), String> {
    let found = read(disk)?;
    if !good.steps[steps.clone()].iter().any(|step| *step.content == found) {
        let last = &good.steps[*steps.end()].content;
        return Err(format!(
            "content of none of the steps {steps:?}: {:#?}",
            content::difference(&found, last)
        ));
    }
    let file =
        good.options(disk).open_driver(disk.file(FILE)).map_err(|error| format!("opening: {error:?}"))?;
    file.close().map_err(|error| format!("closing: {error:?}"))?;
    if read(disk)? != found {
        return Err("opening for writing changes the content".into());
    }
    check(disk)
}

/// Tests all faults of a sequence.
fn troubles(good: &Recording, few: bool) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for after in 0..good.history.len() {
        let fault = |kind, lasting| Trouble::Fault(Fault { after, kind, lasting });
        troubles.extend(FaultKind::ALL.map(|kind| fault(kind, false)));
        troubles.push(fault(FaultKind::ALL[after % 3], true));
    }
    let mut replay = good.history.replay();
    let mut size = |at| {
        replay.go_to(at);
        let files = replay.crash(Crash::ProcessEnd, 0);
        files.values().map(|bytes| bytes.len() as u64).sum::<u64>()
    };
    let mut sizes: Vec<u64> = (0..=good.history.len()).map(&mut size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    troubles
        .extend(sizes.windows(2).flat_map(|two| [two[0], two[0].midpoint(two[1])]).map(Trouble::Capacity));
    let step = if few { troubles.len().div_ceil(OF_ONE).max(1) } else { 1 };
    troubles.into_iter().step_by(step | 1).collect()
}

#[test]
fn a_failing_disk_is_reported_and_destroys_no_committed_data() {
    let wanted = number_of("HYPERSLAB_FAULTS").unwrap_or(FEW);
    let first = number_of("HYPERSLAB_CRASH_FIRST").unwrap_or(0);
    let next = AtomicUsize::new(first);
    let counts: [AtomicUsize; 4] = Default::default();
    let failures = Mutex::new(Vec::new());
    let tried = || counts.iter().map(|count| count.load(Ordering::Relaxed)).sum::<usize>();
    let enough = || failures.lock().unwrap().len() >= 10;
    let work = || {
        while tried() < wanted && !enough() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let sequence = Sequence::draw(number as u64);
            let good = sequence.record(number.to_string());
            for trouble in troubles(&good, wanted < 20_000) {
                let outcome = catch_unwind(AssertUnwindSafe(|| run(&sequence, &good, trouble)));
                match outcome.unwrap_or_else(|panic| Err(text_of(&*panic))) {
                    Ok(after) => _ = counts[after as usize].fetch_add(1, Ordering::Relaxed),
                    Err(why) => {
                        let why = format!("sequence {number}, {:?}, {trouble:?}: {why}", sequence.durability);
                        eprintln!("{}", why.lines().next().unwrap_or_default());
                        failures.lock().unwrap().push(why);
                    }
                }
                if enough() {
                    return;
                }
            }
        }
    };
    threads().install(|| (0..rayon::current_num_threads()).into_par_iter().for_each(|_| work()));
    let [unnoticed, on, up, none] = counts.map(AtomicUsize::into_inner);
    let failures = failures.into_inner().unwrap();
    eprintln!("{} faults in {} sequences:", unnoticed + on + up + none, next.into_inner() - first);
    eprintln!("  {on:>8} files went on\n  {up:>8} files gave up, and were opened again");
    eprintln!("  {none:>8} while a file was made or closed\n  {unnoticed:>8} without an error");
    eprintln!("  {:>8} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Creates a file with one number in the root group, and one number in a group that is several
/// sectors away.
fn numbers(disk: &SimulatedDisk) -> File {
    let options =
        FileOptions::new().libver(LibverBounds::new(LibraryVersion::V110, LibraryVersion::LATEST).unwrap());
    let medium = record::medium(disk, Durability::Ordered);
    let file = medium.create(options).create_driver(medium.driver.clone()).unwrap();
    file.set_attribute("number", 0).unwrap();
    file.new_dataset("between").compact().write(&[7_u8; 2000]).unwrap();
    file.create_group("group").unwrap().set_attribute("number", 0).unwrap();
    file.flush().unwrap();
    file
}

fn number_after_restart(disk: &SimulatedDisk) -> i32 {
    let left = SimulatedDisk::holding(disk.files());
    let options = OpenOptions::new().journal(left.side_file(JOURNAL));
    let file = options.open_driver(left.file(FILE)).unwrap();
    file.attribute("number").unwrap().read_scalar().unwrap()
}

/// The disk fails from the end of a commit until the next commit has failed. The failed commit must
/// not start a new journal, and the old journal must not undo later flushes.
#[test]
fn a_journal_that_cannot_be_started_is_kept() {
    let set = |file: &File, near: i32, far: i32| {
        file.set_attribute("number", near).unwrap();
        file.group("group").unwrap().set_attribute("number", far).unwrap();
    };
    let disk = SimulatedDisk::new();
    let file = numbers(&disk);
    let before = disk.operations();
    set(&file, 1, 1);
    file.flush().unwrap();
    let all = disk.operations() - before;
    for kind in FaultKind::ALL {
        let disk = SimulatedDisk::new();
        let file = numbers(&disk);
        disk.fail(Fault { after: all, kind, lasting: true });
        set(&file, 1, 1);
        file.flush().unwrap();
        set(&file, 0, 2);
        file.flush().unwrap_err();
        disk.clear_faults();
        // Only one sector changes, so that no journal is needed. The sector returns to its content
        // before the commit.
        set(&file, 0, 1);
        file.flush().unwrap();
        assert_eq!(number_after_restart(&disk), 0, "{kind:?}");
    }
}

/// Attributes stay dirty in memory after the call that set them. If the disk is full when they are
/// stored, no attribute is lost.
#[test]
fn deferred_attributes_survive_a_full_disk() {
    let disk = SimulatedDisk::new();
    let file = numbers(&disk);
    let group = file.group("group").unwrap();
    disk.set_capacity(Some(disk.files().values().map(|bytes| bytes.len() as u64).sum()));
    let long: Vec<i32> = (0..50_000).collect();
    file.set_attribute("long", &long).unwrap();
    // Now the attributes must be stored.
    let other = group.set_attribute("other", 1);
    assert!(other.is_err() || file.flush().is_err());
    disk.set_capacity(None);
    file.flush().unwrap();
    let left = SimulatedDisk::holding(disk.files());
    let options = OpenOptions::new().journal(left.side_file(JOURNAL));
    let found = options.open_driver(left.file(FILE)).unwrap();
    assert_eq!(found.attribute("long").unwrap().read::<i32, IxDyn>().unwrap().as_slice().unwrap(), long);
    check(&left).unwrap();
}

/// A flush of sparse chunks fails on a full disk. The chunks stay dirty, and the next flush stores
/// them.
#[test]
fn sparse_chunks_survive_a_full_disk() {
    let disk = SimulatedDisk::new();
    let file = numbers(&disk);
    let sparse =
        file.new_dataset("sparse").of::<i32>().shape(&[1 << 20]).sparse(&[1 << 16]).create().unwrap();
    file.flush().unwrap();
    disk.set_capacity(Some(disk.files().values().map(|bytes| bytes.len() as u64).sum()));
    let values: Vec<i32> = (0..200_000).collect();
    let points = hyperslab::Points { rank: 1, coordinates: (0..200_000).map(|at| at * 5).collect() };
    let written = sparse.sparse().write(&points, &values);
    assert!(written.is_err() || file.flush().is_err());
    disk.set_capacity(None);
    if written.is_err() {
        sparse.sparse().write(&points, &values).unwrap();
    }
    file.flush().unwrap();
    let left = SimulatedDisk::holding(disk.files());
    let options = OpenOptions::new().journal(left.side_file(JOURNAL));
    let found = options.open_driver(left.file(FILE)).unwrap().dataset("sparse").unwrap();
    assert_eq!(found.sparse().read::<i32>(..).unwrap().1, values);
    check(&left).unwrap();
}

/// A flush of partly written filtered chunks fails on a full disk. The chunks stay dirty, and the
/// next flush stores them.
#[test]
fn filtered_chunks_survive_a_full_disk() {
    let disk = SimulatedDisk::new();
    let file = numbers(&disk);
    let builder = file.new_dataset("filtered").of::<u32>().shape(&[64, 40_000]).chunks(&[2, 40_000]);
    let data = builder.deflate(1).create().unwrap();
    file.flush().unwrap();
    disk.set_capacity(Some(disk.files().values().map(|bytes| bytes.len() as u64).sum()));
    let row = |row: u32| (0..40_000).map(move |at: u32| (at * 64 + row).wrapping_mul(0x9e37_79b1));
    let mut written = Vec::new();
    for number in 0..32_u32 {
        let values: Vec<u32> = row(number).collect();
        if data.write((u64::from(2 * number), ..), &values).is_ok() {
            written.push(number);
        }
    }
    assert!(written.len() < 32 || file.flush().is_err());
    assert!(written.len() > 1, "{}", written.len());
    disk.set_capacity(None);
    file.flush().unwrap();
    let left = SimulatedDisk::holding(disk.files());
    let options = OpenOptions::new().journal(left.side_file(JOURNAL));
    let found = options.open_driver(left.file(FILE)).unwrap().dataset("filtered").unwrap();
    for number in written {
        let values = found.read_raw::<u32>((u64::from(2 * number), ..)).unwrap();
        assert!(values.iter().copied().eq(row(number)), "row {number}");
    }
    check(&left).unwrap();
}

/// A write of new space fails and is repeated. The commit relies on the repeated write, also if the
/// program ends before the commit is in the file.
#[test]
fn a_failed_write_of_new_space_does_not_spoil_the_next_commit() {
    for (kind, after) in FaultKind::ALL.into_iter().flat_map(|kind| (0..4).map(move |after| (kind, after))) {
        let disk = SimulatedDisk::new();
        let file = numbers(&disk);
        let values: Vec<i32> = (0..20_000).collect();
        let data = file.new_dataset("data").of::<i32>().shape(&[20_000]).create().unwrap();
        disk.fail(Fault { after, kind, lasting: false });
        if data.write(.., &values).is_err() {
            data.write(.., &values).unwrap();
        }
        disk.clear_faults();
        file.set_attribute("number", 1).unwrap();
        let before = disk.operations();
        file.flush().unwrap();
        let history = disk.history();
        let mut replay = history.replay();
        for point in before..=history.len() {
            replay.go_to(point);
            let left = SimulatedDisk::holding(replay.crash(Crash::ProcessEnd, 0));
            let options = OpenOptions::new().write(true).journal(left.side_file(JOURNAL));
            let found = options.open_driver(left.file(FILE)).unwrap();
            let outcome = found.journal_outcome().map(ToString::to_string).unwrap_or_default();
            assert!(!left.files().keys().any(|name| name.contains("stale")), "{kind:?} {after}: {outcome}");
            if found.attribute("number").unwrap().read_scalar::<i32>().unwrap() == 1 {
                assert_eq!(found.dataset("data").unwrap().read_raw::<i32>(..).unwrap(), values);
            } else {
                assert!(point < history.len());
            }
        }
    }
}
