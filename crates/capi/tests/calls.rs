//! Random sequences of valid and invalid calls of the C interface, with fixed seeds. The fuzz target
//! `calls` makes the same calls under a sanitizer.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![expect(
    unsafe_code,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::host_endian_bytes,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail, and calls functions of C with words"
)]

#[path = "calls/mod.rs"]
mod calls;

use std::collections::BTreeSet;
use std::path::Path;

use hdf5 as _;

use calls::Conditions;
use calls::names::FUNCTIONS;

/// The number of runs, and the number of decisions of each.
const RUNS: u64 = 30;
const DECISIONS: usize = 6000;

/// The variable that states one seed, whose calls are printed.
const SEED_VARIABLE: &str = "HYPERSLAB_CALLS_SEED";

/// The variable that states the number of runs.
const RUNS_VARIABLE: &str = "HYPERSLAB_CALLS_RUNS";

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Returns the decisions of a run: numbers of the generator `splitmix64`.
fn decisions(seed: u64) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as u8
    };
    (0..DECISIONS).map(|_| next()).collect()
}

/// Returns the names of all exported functions.
fn exported() -> BTreeSet<String> {
    let table = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("functions.tsv"));
    let table = table.expect("the table of the functions");
    let rows = table.lines().filter(|line| line.starts_with("H5"));
    rows.filter_map(|row| Some(row.split_once('\t')?.0.to_owned())).collect()
}

#[test]
fn the_runs_know_all_functions() {
    let known: BTreeSet<String> = FUNCTIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let missing: Vec<String> = exported().difference(&known).cloned().collect();
    assert_eq!(missing, ["H5Epush2"], "a variadic function is not called through words");
}

#[test]
fn no_sequence_of_calls_panics_or_leaves_objects() {
    calls::state::watch_panics();
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixture = std::fs::read(root.join("../../fixtures/layouts_latest.h5")).expect("a fixture");
    let one = number(SEED_VARIABLE);
    let seeds = one.map_or(0..number(RUNS_VARIABLE).unwrap_or(RUNS), |seed| seed..seed + 1);
    let (mut called, mut calls, mut successes, mut failures) = (BTreeSet::new(), 0, 0, Vec::new());
    for seed in seeds {
        let conditions = Conditions {
            include: &root.join("include"),
            folder: folder.path(),
            fixture: &fixture,
            guard: if std::env::var_os("ASAN_OPTIONS").is_some() { 0 } else { 32 },
            trace: one.is_some(),
            part: Some(((seed % RUNS) as usize, RUNS as usize)),
        };
        let report = calls::run(&decisions(seed), &conditions);
        called.extend(report.called);
        calls += report.calls;
        successes += report.successes;
        failures
            .extend(report.failures.into_iter().map(|failure| format!("{SEED_VARIABLE}={seed}: {failure}")));
    }
    let exported = exported();
    eprintln!("{calls} calls, {successes} succeeded, {} of {} functions", called.len(), exported.len());
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
    if one.is_none() {
        let missing: Vec<&String> = exported.iter().filter(|name| !called.contains(name.as_str())).collect();
        let expected: &[&str] = if cfg!(target_arch = "x86_64") { &[] } else { &["H5Epush2"] };
        assert_eq!(missing, expected, "functions that no run calls");
    }
}
