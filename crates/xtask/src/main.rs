//! The one door to everything that is done with this workspace: `cargo xtask TASK`. CI goes through it too.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a task talks to the person who runs it")]

mod alternate;
mod api;
mod architecture;
mod bench_compare;
mod book;
mod check_corpus;
mod checks;
mod corpus;
mod crash;
mod differential;
mod features;
mod fixtures;
mod fuzz;
mod model;
mod repack_corpus;
mod rooms;
mod sanitize;
mod shell;
mod swmr;
mod test;
mod tidy;
mod tool_cases;

use std::process::ExitCode;

use anyhow::Result;

type Task = fn(&[String]) -> Result<()>;

const TASKS: &[(&str, Task, &str)] = &[
    (
        "ci",
        checks::ci,
        "everything below that a change must pass: fmt, tidy, api, clippy, doc, features, test, corpus, check-corpus, repack-corpus, tool-cases, book, fuzz (10 minutes, if cargo-fuzz is there)",
    ),
    ("test", test::run, "all tests; prepares the referee (Python with h5py) first where it can"),
    ("api", api::run, "docs/public-api.txt lists the public API of the crate hyperslab [--update]"),
    ("tidy", tidy::run, "structural checks: floors, module order, names, lengths, headers, unsafe"),
    (
        "substitutes",
        tidy::substitutes::run,
        "counts of saturating arithmetic and default values in shipped code, by crate; tidy holds them to their ceilings",
    ),
    ("rooms", rooms::run, "arrows between rooms that go up, and cycles of rooms, with their lines"),
    ("corpus", corpus::run, "the corpus beside the checkout against its baseline [--update] [--only NAME]"),
    (
        "check-corpus",
        check_corpus::run,
        "`hyperslab check` on the corpus: sound but for what docs/check-exceptions.md lists; damaged files end in time",
    ),
    (
        "repack-corpus",
        repack_corpus::run,
        "files of the corpus written anew in three ways hold what they held [--all]; a sample if not all are asked for",
    ),
    (
        "tool-cases",
        tool_cases::run,
        "the tools print what those of the C library print, but for what docs/tools-exceptions.md lists [TOOL…]",
    ),
    (
        "book",
        book::run,
        "the book: its commands' output, pictures and links are as they are now; mdBook builds it [--update] [PAGE…]",
    ),
    (
        "differential",
        differential::run,
        "random reads of random datasets against libhdf5 [CASES, default 2000 for each layout and filter] [ONLY]",
    ),
    (
        "model",
        model::run,
        "random operations on files against a model [SEQUENCES, default 10000], all types, layouts and filters in turn with libhdf5",
    ),
    (
        "alternate",
        alternate::run,
        "random programs that libhdf5 and hyperslab execute in turns on one file [PROGRAMS, default 2000] [SEED] [--clients: first makes a Python with PyTables, netCDF4, anndata, pandas]",
    ),
    (
        "crash",
        crash::run,
        "crashes and failures of a simulated disk at every operation of random histories [CRASHES, default 100000] [--kills PROCESSES]",
    ),
    (
        "swmr",
        swmr::run,
        "one process writes and two read, hyperslab and libhdf5 on either side [SECONDS for each pair, default 120]",
    ),
    (
        "bench-compare",
        bench_compare::run,
        "times, memory and sizes against libhdf5 and rust-hdf5, into docs/benchmarks.md [ROUNDS, default 5] [only=TEXT: into target/bench/compare/]",
    ),
    (
        "features",
        features::run,
        "each crate by itself, without and with all features; the stated Rust version",
    ),
    ("fixtures", fixtures::run, "write fixtures/ anew with the referee's Python"),
    (
        "fuzz",
        fuzz::run,
        "each fuzz target for some seconds [SECONDS, default 60; 0 only cuts seeds] [TARGET…]; or smoke [SECONDS, default 600], which is for all together",
    ),
    (
        "sanitize",
        sanitize::run,
        "tests of threads under ThreadSanitizer, of `unsafe` code under miri, where nightly has them [threads|miri]",
    ),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let Some((_, task, _)) = TASKS.iter().find(|(task, ..)| *task == name) else {
        println!("cargo xtask TASK\n");
        for (task, _, help) in TASKS {
            println!("  {task:<12} {help}");
        }
        let asked_for_help = matches!(name.as_str(), "help" | "--help" | "-h");
        return if asked_for_help { ExitCode::SUCCESS } else { ExitCode::from(2) };
    };
    match task(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: cargo xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
