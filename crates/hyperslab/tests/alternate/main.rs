//! The alternating referee: programs of random operations that libhdf5 and hyperslab execute in
//! turns on one file. After each turn, both libraries read the whole file. The contents must equal
//! those of a naive model, and `check` must find no fault.
//!
//! `HYPERSLAB_ALTERNATE=2000` is the number of programs (`cargo xtask alternate`), 50 by default;
//! `HYPERSLAB_ALTERNATE_DRIVER` leaves out the programs of other drivers; `HYPERSLAB_ALTERNATE_SEED` makes others; `HYPERSLAB_ALTERNATE_CASE` runs the one program that a failure named,
//! and `HYPERSLAB_ALTERNATE_KEEP` the folder in which its file stays as the failure left it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "in a test a panic is the report, numbers are small, and the totals are told"
)]

mod clients;
mod content;
mod draw;
mod kinds;
mod numbers;
mod ours;
mod program;
mod selected;
mod theirs;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hyperslab_testkit::referee::{self, Referee};

use draw::Program;
use program::Nothing;
use theirs::Theirs;

const FEW: u64 = 50;
/// The error of a program that ends by a fault of libhdf5 alone: libhdf5 does not read what libhdf5
/// has just written, or hangs.
const KNOWN: &str = "known fault of libhdf5";
/// Number of programs between two progress lines.
const PROGRESS_PROGRAMS: u64 = 100;
/// Number of failures after which no further programs start.
const ENOUGH: usize = 6;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// Returns the seed of a program.
fn seed_of(base: u64, number: u64) -> u64 {
    base.wrapping_mul(1_000_003).wrapping_add(number)
}

/// Runs one program. If it fails, shrinks the program and reports the failure.
fn try_one(seed: u64, theirs: &mut Theirs) -> Result<usize, String> {
    let program = Program::draw(seed);
    if std::env::var("HYPERSLAB_ALTERNATE_DRIVER").is_ok_and(|only| program.setup["driver"] != only) {
        return Ok(0);
    }
    program::run(&program, &Nothing, theirs).map_err(|fault| {
        if std::env::var_os("HYPERSLAB_ALTERNATE_KEEP").is_some() && !fault.words.contains(theirs::HUNG) {
            return format!("turn {}: {}: {}", fault.turn, fault.test, fault.words);
        }
        if fault.words.contains(KNOWN) {
            return format!("{KNOWN}, HYPERSLAB_ALTERNATE_CASE={seed}");
        }
        println!(
            "HYPERSLAB_ALTERNATE_CASE={seed} fails: turn {}: {}: {}",
            fault.turn, fault.test, fault.words
        );
        // Each run of a program in which libhdf5 hangs takes minutes.
        if fault.words.contains(theirs::HUNG) {
            if may_hang(&program.setup) {
                return format!("{KNOWN}: small pages, HYPERSLAB_ALTERNATE_CASE={seed}");
            }
            return format!(
                "HYPERSLAB_ALTERNATE_CASE={seed}: turn {}: {}: {}\n{}",
                fault.turn,
                fault.test,
                fault.words,
                program::told(&program)
            );
        }
        let (small, small_fault) = program::shrink(&program, &fault, &Nothing, theirs);
        format!(
            "HYPERSLAB_ALTERNATE_CASE={seed}: turn {}: {}: {}\nmade small: {}: {}\n{}",
            fault.turn,
            fault.test,
            fault.words,
            small_fault.test,
            small_fault.words,
            program::told(&small)
        )
    })
}

/// Returns true if libhdf5 may hang when it closes a file with this setup, even if libhdf5 wrote
/// the file alone: see `docs/format/alternating.md`.
fn may_hang(setup: &serde_json::Value) -> bool {
    let create = &setup["create"];
    create["strategy"] == "page" && create["persist"] == true && create["page_size"] == 512
}

fn try_all(python: &Referee, count: u64, base: u64) {
    let (next, operations, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let known = AtomicU64::new(0);
    let failures = Mutex::new(Vec::<String>::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut theirs = Theirs::new(python);
                while failures.lock().unwrap().len() < ENOUGH {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= count {
                        break;
                    }
                    match try_one(seed_of(base, number), &mut theirs) {
                        Ok(count) => {
                            operations.fetch_add(count as u64, Relaxed);
                        }
                        Err(failure) if failure.starts_with(KNOWN) => {
                            println!("{failure}");
                            known.fetch_add(1, Relaxed);
                        }
                        Err(failure) => {
                            println!("{failure}\n");
                            failures.lock().unwrap().push(failure);
                        }
                    }
                    let done = done.fetch_add(1, Relaxed) + 1;
                    if done.is_multiple_of(PROGRESS_PROGRAMS) {
                        println!("{done} of {count} programs");
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let (done, operations) = (done.into_inner(), operations.into_inner());
    let known = known.into_inner();
    println!(
        "{done} programs, {operations} operations, {} failures, {known} ended by a known fault of libhdf5",
        failures.len()
    );
    assert!(failures.is_empty(), "{} of {done} programs:\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn in_turns_with_libhdf5() {
    let Some(python) = referee::python() else { return };
    if let Some(seed) = setting("HYPERSLAB_ALTERNATE_CASE") {
        let tried = try_one(seed, &mut Theirs::new(&python));
        println!(
            "{}",
            tried.map_or_else(|failure| panic!("{failure}"), |count| format!("{count} operations"))
        );
        return;
    }
    let count = setting("HYPERSLAB_ALTERNATE").unwrap_or(FEW);
    try_all(&python, count, setting("HYPERSLAB_ALTERNATE_SEED").unwrap_or(1));
}
