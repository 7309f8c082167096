//! Times hyperslab against libhdf5, side by side in the same run: `cargo run --release -p hyperslab-bench -- BENCHMARK`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a benchmark talks to the person who runs it")]

mod arrays;
mod behind;
mod case;
mod clock;
mod compare;
mod contest;
mod durability;
mod instructions;
mod libhdf5;
mod limits;
mod memory;
mod metadata;
mod models;
mod noise;
mod objects;
mod outcome;
mod peer;
mod plot;
mod reader;
mod report;
mod rfc;
mod serve;
mod sparse;
mod sum;
mod table;
mod threads;
mod writes;

use std::process::ExitCode;

use anyhow::Result;

type Benchmark = fn(&[String]) -> Result<()>;

const BENCHMARKS: &[(&str, Benchmark, &str)] = &[
    (
        "objects",
        objects::run,
        "opens many small datasets with two attributes each and reads them whole [COUNT, default 10000] [ROUNDS, default 15]",
    ),
    (
        "compare",
        compare::run,
        "all of it against libhdf5 and rust-hdf5, with limits and peak memory, into docs/ [ROUNDS, default 5] [only=TEXT: into target/bench/]",
    ),
    (
        "arrays",
        arrays::run,
        "reads raw data: layouts, filters, selections, conversions [ROUNDS, default 7] [ONLY names that contain this] [alone: without libhdf5, for a profiler]",
    ),
    (
        "writes",
        writes::run,
        "makes files: arrays, objects, attributes, links, appends, strings [ROUNDS, default 5] [ONLY] [alone]",
    ),
    (
        "durability",
        durability::run,
        "what it costs that a file survives: Full, Ordered, None, libhdf5 with and without a sync [ROUNDS, default 5] [ONLY]",
    ),
    (
        "sparse",
        sparse::run,
        "sparse matrices as others store them [DENSITIES, default 0.0001 0.001 0.01 0.1] [rounds=5] [pattern=random|banded|clustered] [columns=a,b] [side=20000]",
    ),
    (
        "sparse-rfc",
        rfc::run,
        "sizes of sparse and variable-length data beside those that the authors of structured chunks published",
    ),
    (
        "threads",
        threads::run,
        "tells what two threads that read or write at once do in the time of one, and h5py's [ROUNDS, default 7]",
    ),
    ("serve", serve::run, "does the work that standard input asks for: read, write or metadata"),
    ("memory", memory::run, "tells the peak memory of reading parts of a dataset of 4 GiB"),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let Some((_, benchmark, _)) = BENCHMARKS.iter().find(|(benchmark, ..)| *benchmark == name) else {
        println!("cargo run --release -p hyperslab-bench -- BENCHMARK\n");
        for (benchmark, _, help) in BENCHMARKS {
            println!("  {benchmark:<10} {help}");
        }
        return ExitCode::from(2);
    };
    match benchmark(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
