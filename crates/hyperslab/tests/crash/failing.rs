//! Operations of the disk that fail: the call that meets it says so, and the file stays what it was, or becomes what it should be.

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

/// Faults that are tried unless the environment says otherwise.
const FEW: usize = 900;
/// Of a sequence, so many at most if few are tried at all.
const OF_ONE: usize = 60;

/// What is to go wrong.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Fault(Fault),
    /// The disk has no more room than this until it has failed once.
    Capacity(u64),
}

/// How a file went on after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// No call said anything; all is well.
    NotNoticed,
    /// It could be flushed, and all is there.
    WentOn,
    /// It says that it cannot be written any more; what was committed is there.
    GaveUp,
    /// It was being made, or closed.
    NoFile,
}

/// Carries out a sequence until something fails, and looks at what is left.
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

/// A file that could not be made can be made when the disk is well.
fn sequence_anew(sequence: &Sequence, disk: &SimulatedDisk, good: &Recording) -> Result<After, String> {
    disk.file(FILE).set_len(0).unwrap();
    let again = catch_unwind(AssertUnwindSafe(|| drop(sequence.world(disk, false))));
    again.map_err(|panic| format!("made again: {}", text_of(&*panic)))?;
    settled(good, disk, 0..=0)?;
    Ok(After::NoFile)
}

/// The error is one of the disk, and names the file.
fn is_clear(text: &str, trouble: Trouble) -> Result<(), String> {
    let expected = text.starts_with("called `Result::unwrap()` on an `Err` value: Io: ");
    let named = text.contains(&format!("{FILE}: ")) || text.contains(&format!("{JOURNAL}: "));
    let full = !matches!(trouble, Trouble::Capacity(_)) || text.contains("no space left");
    if expected && named && full { Ok(()) } else { Err(format!("no clear error: {text}")) }
}

/// The file after a step that failed.
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
    // Before anything was promised there may be no file.
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

/// Flushes a file whose disk is well again, if it lets itself be; gives the step whose content it has.
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

/// A file that is opened again is sound, and holds what it held after one of the steps.
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

/// All troubles of a sequence.
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

/// A file in which a number stands in the root group, and one in a group some sectors away.
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

/// The disk fails from the end of a commit on, until the next one has failed: that was not the beginning of a new journal, and what is
/// flushed later is not undone by the old one.
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
        // One sector is left to be changed, which needs no journal if there is none; and it becomes what it was before the commit.
        set(&file, 0, 1);
        file.flush().unwrap();
        assert_eq!(number_after_restart(&disk), 0, "{kind:?}");
    }
}

/// Attributes wait in memory after the call that set them; a full disk, when they are to be stored, takes nothing of them away.
#[test]
fn deferred_attributes_survive_a_full_disk() {
    let disk = SimulatedDisk::new();
    let file = numbers(&disk);
    let group = file.group("group").unwrap();
    disk.set_capacity(Some(disk.files().values().map(|bytes| bytes.len() as u64).sum()));
    let long: Vec<i32> = (0..50_000).collect();
    file.set_attribute("long", &long).unwrap();
    // Now it has to be stored.
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

/// A write of new space fails and is done again; the commit relies on the bytes that are there, also where the program ends before the
/// commit is in the file.
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
