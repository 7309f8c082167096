//! All crashes of many sequences.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

use hyperslab::{Durability, FileOptions, OpenOptions};
use hyperslab_vfd::simulated::{Crash, SimulatedDisk};
use rayon::prelude::*;

use crate::case::{self, Case, Recovered};
use crate::outside::Outside;
use crate::record::{self, Recording, Sequence, Step};
use crate::sparse;

/// The default number of tested crashes.
const FEW: usize = 2000;
/// The largest number of crashes in one sequence if the total number is small.
const OF_ONE: usize = 80;
/// The number of failures after which the test ends.
const ENOUGH: usize = 10;

pub(crate) fn number_of(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().map(|number| number.parse().unwrap())
}

/// Suppresses the messages of panics during a case, because the test catches these panics.
pub(crate) fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some_and(|name| name.starts_with("matrix")) {
                return;
            }
            usual(info);
        }));
    });
}

/// Returns a pool of threads whose panics print no message.
pub(crate) fn threads() -> rayon::ThreadPool {
    silence();
    rayon::ThreadPoolBuilder::new().thread_name(|number| format!("matrix {number}")).build().unwrap()
}

/// The tested cases and their results.
#[derive(Debug, Default)]
struct Tried {
    kinds: [AtomicUsize; 3],
    crashed_again: AtomicUsize,
    went_on: AtomicUsize,
    accidents: AtomicUsize,
    no_file: AtomicUsize,
    failures: Mutex<Vec<String>>,
    outside: Outside,
}

impl Tried {
    fn all(&self) -> usize {
        self.kinds.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    fn count(&self, recording: &Recording, case: Case, outcome: Result<Recovered, String>) {
        let add = |counter: &AtomicUsize, yes: bool| counter.fetch_add(usize::from(yes), Ordering::Relaxed);
        add(&self.kinds[Crash::ALL.iter().position(|crash| *crash == case.crash).unwrap()], true);
        match outcome {
            Ok(recovered) => {
                add(&self.crashed_again, recovered.crashed_again);
                add(&self.went_on, recovered.went_on);
                add(&self.accidents, recovered.accident);
                add(&self.no_file, recovered.bytes.is_none());
                if let Some(bytes) = recovered.bytes.filter(|_| recording.common) {
                    self.outside.offer(&format!("{} {case}", recording.name), bytes);
                }
            }
            Err(why) => {
                let mut failures = self.failures.lock().unwrap();
                let name = format!("HYPERSLAB_CRASH_CASE={}:{case}", recording.name);
                eprintln!("{name}: {}", why.lines().next().unwrap_or_default());
                failures.push(format!("{name}\n  {:?}: {why}", recording.durability));
            }
        }
    }

    fn enough(&self) -> bool {
        self.failures.lock().unwrap().len() >= ENOUGH
    }

    fn finish(self, sequences: usize) {
        let [process, power, torn] = self.kinds.map(AtomicUsize::into_inner);
        eprintln!("{} crashes of {sequences} sequences:", process + power + torn);
        eprintln!("  {process:>8} process ended");
        eprintln!("  {power:>8} power lost");
        eprintln!("  {torn:>8} power lost, writes torn and reordered");
        eprintln!("  {:>8} of them crashed again while they were recovered", self.crashed_again.into_inner());
        eprintln!("  {:>8} of them changed after it, with crashes in that", self.went_on.into_inner());
        eprintln!(
            "  {:>8} of them met another program, or a backup, before the next opening",
            self.accidents.into_inner()
        );
        eprintln!("  {:>8} before there was a file", self.no_file.into_inner());
        let failures = self.failures.into_inner().unwrap();
        eprintln!("  {:>8} failed", failures.len());
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
        eprintln!("  {:>8} of the recovered files read by libhdf5", self.outside.finish());
    }
}

/// Returns the cases of a recording: several kinds of crash at each operation.
fn cases(recording: &Recording, sparse: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for point in 1..=recording.history.len() {
        let seed = |number: u64| (point as u64).wrapping_mul(0x9e37_79b9).wrapping_add(number * 7919);
        cases.push(Case { crash: Crash::ProcessEnd, point, seed: 0 });
        cases.push(Case { crash: Crash::ProcessEnd, point, seed: seed(1) });
        if recording.durability == Durability::Full {
            let ways = |crash, count| (0..count).map(move |number| Case { crash, point, seed: seed(number) });
            cases.extend(ways(Crash::PowerLoss, 3));
            cases.extend(ways(Crash::Torn, 4));
        }
    }
    let step = if sparse { cases.len().div_ceil(OF_ONE).max(1) } else { 1 };
    cases.into_iter().step_by(step | 1).collect()
}

fn try_all(recording: &Recording, tried: &Tried, sparse: bool) {
    let mut replay = recording.history.replay();
    for case in cases(recording, sparse) {
        if tried.enough() {
            return;
        }
        tried.count(recording, case, case::run(recording, &mut replay, case));
    }
}

/// Tests crashes until the requested number is reached.
fn run_matrix(record: impl Fn(u64) -> Option<Recording> + Sync, wanted: usize) {
    let sparse = wanted < 50_000;
    let first = number_of("HYPERSLAB_CRASH_FIRST").unwrap_or(0);
    let (tried, next) = (Tried::default(), AtomicUsize::new(first));
    let work = || {
        while tried.all() < wanted && !tried.enough() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| record(number as u64))) {
                Ok(Some(recording)) => try_all(&recording, &tried, sparse),
                Ok(None) => return,
                Err(panic) => {
                    let why = format!("sequence {number} without a crash: {}", case::text_of(&*panic));
                    eprintln!("{why}");
                    tried.failures.lock().unwrap().push(why);
                }
            }
        }
    };
    threads().install(|| (0..rayon::current_num_threads()).into_par_iter().for_each(|_| work()));
    tried.finish(next.into_inner() - first);
}

fn wanted() -> usize {
    number_of("HYPERSLAB_CRASH").unwrap_or(FEW)
}

fn recording(number: u64) -> Recording {
    Sequence::draw(number).record(number.to_string())
}

#[test]
fn a_crash_loses_at_most_uncommitted_changes() {
    if let Ok(text) = std::env::var("HYPERSLAB_CRASH_CASE") {
        return alone(&text);
    }
    run_matrix(|number| Some(recording(number)), wanted());
}

#[test]
fn sparse_datasets_survive_crashes() {
    if std::env::var_os("HYPERSLAB_CRASH_CASE").is_none() {
        run_matrix(sparse::recording, wanted().div_ceil(5));
    }
}

/// Short sequences: the process ends after each operation in turn. A second process continues, and
/// also ends after each operation in turn.
#[test]
fn a_second_crash_loses_no_commit() {
    let short = |recording: &Recording| {
        recording.durability == Durability::Full && (20..60).contains(&recording.history.len())
    };
    let short: Vec<Recording> = (0..100).map(recording).filter(short).take(1).collect();
    assert_eq!(short.len(), 1);
    for recording in short {
        for point in (2..=recording.history.len()).step_by(7) {
            let outcome = case::run_twice(&recording, point);
            assert!(outcome.is_ok(), "{} ended at {point}: {}", recording.name, outcome.unwrap_err());
        }
    }
}

/// A failing case can be repeated: a sequence makes the same disk operations in each run (sequences
/// of sparse datasets may write chunks in another order).
#[test]
fn equal_seeds_record_equal_sequences() {
    let reported = |recording: &Recording| -> Vec<String> {
        recording.history.operations().iter().map(ToString::to_string).collect()
    };
    for number in 0..25 {
        assert_eq!(reported(&recording(number)), reported(&recording(number)), "sequence {number}");
    }
}

/// Runs one case, and prints all details.
fn alone(text: &str) {
    let (name, case) = text.split_once(':').unwrap();
    let case = Case::parse(case).unwrap();
    let recording = name.parse().map_or_else(|_| sparse::named(name).unwrap(), recording);
    for (number, step) in recording.steps.iter().enumerate() {
        let Step { subject, before, after, .. } = step;
        eprintln!(
            "step {number}, operations {before} to {after}: {}",
            subject.chars().take(300).collect::<String>()
        );
        for (number, operation) in
            recording.history.operations().iter().enumerate().take(*after).skip(*before)
        {
            eprintln!(
                "  {number} {operation}{}",
                if number + 1 == case.point { " <- the last before the crash" } else { "" }
            );
        }
    }
    eprintln!("{case:?}: steps {:?}", recording.allowed(case.point));
    let outcome = case::run(&recording, &mut recording.history.replay(), case);
    if let Err(why) = outcome {
        panic!("{why}");
    }
}

/// New blocks of mostly zeros are not in the journal and, after a power loss, not in the file.
#[test]
fn blocks_of_zeros_are_readable_after_a_crash() {
    let disk = SimulatedDisk::new();
    let medium = record::medium(&disk, Durability::Full);
    let file = medium.create(FileOptions::new()).create_driver(medium.driver.clone()).unwrap();
    file.flush().unwrap();
    file.create_group("small").unwrap();
    file.flush().unwrap();
    // A collection of the global heap has 4096 bytes. The commit is small, so it syncs only the
    // journal.
    file.new_dataset("words").write_strings(&["few", "words"]).unwrap();
    file.flush().unwrap();
    let history = disk.history();
    let mut replay = history.replay();
    replay.go_to(history.len());
    let mut shorter = 0;
    for seed in 0..20 {
        let files = replay.crash(Crash::PowerLoss, seed);
        shorter += usize::from(files[record::FILE].len() < 4096);
        let left = SimulatedDisk::holding(files);
        let options = OpenOptions::new().journal(left.side_file(record::JOURNAL));
        let words = options.open_driver(left.file(record::FILE)).unwrap().dataset("words").unwrap();
        assert_eq!(
            words.read_strings::<hyperslab::IxDyn>(..).unwrap().as_slice().unwrap(),
            ["few", "words"],
            "{seed}"
        );
    }
    assert!(shorter > 0);
}
