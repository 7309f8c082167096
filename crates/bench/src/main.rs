//! Benchmarks of hyperslab and libhdf5, measured in turn in the same run:
//! `cargo run --profile dist -p hyperslab-bench -- BENCHMARK`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod arrays;
mod builds;
mod case;
mod clock;
mod compare;
mod contest;
mod durability;
mod growth;
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
mod peers;
mod plot;
mod reader;
mod report;
mod rfc;
mod serve;
mod slower;
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
        "many small datasets with two attributes each, opened and read whole [COUNT, default 10000] [ROUNDS, default 15]",
    ),
    (
        "compare",
        compare::run,
        "all cases, compared with libhdf5 and rust-hdf5, with limits and peak memory, into docs/ [ROUNDS, default 5] [only=TEXT: into target/bench/]",
    ),
    (
        "builds",
        builds::run,
        "all cases, compared with another build of hyperslab: PROGRAM, its hyperslab-bench [ROUNDS, default 7] [only=TEXT]",
    ),
    (
        "arrays",
        arrays::run,
        "reading of raw data: layouts, filters, selections, conversions [ROUNDS, default 7] [ONLY cases whose names contain this] [alone: without libhdf5, for a profiler]",
    ),
    (
        "writes",
        writes::run,
        "writing of files: arrays, objects, attributes, links, appends, strings [ROUNDS, default 5] [ONLY] [alone]",
    ),
    (
        "durability",
        durability::run,
        "cost of durability: Full, Ordered, None, libhdf5 with and without a sync [ROUNDS, default 5] [ONLY]",
    ),
    (
        "growth",
        growth::run,
        "time and memory for an item as the number of objects, links, attributes or chunks grows [only=TEXT] [alone: without libhdf5]",
    ),
    (
        "sparse",
        sparse::run,
        "sparse matrices, compared with other storage formats [DENSITIES, default 0.0001 0.001 0.01 0.1] [rounds=5] [pattern=random|banded|clustered] [columns=a,b] [side=20000]",
    ),
    (
        "sparse-rfc",
        rfc::run,
        "sizes of sparse and variable-length data, compared with those published by the authors of structured chunks",
    ),
    (
        "peers",
        peers::run,
        "arrays in compressed chunks, written and read by hyperslab, rust-hdf5, hdf5-pure, zarrs and TileDB [ROUNDS, default 5] [only=TEXT]",
    ),
    (
        "threads",
        threads::run,
        "speed-up by two threads that read or write at the same time, compared with h5py [ROUNDS, default 7]",
    ),
    ("serve", serve::run, "runs the cases on standard input: read, write or metadata"),
    ("memory", memory::run, "peak memory of reading parts of a dataset of 4 GiB"),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let Some((_, benchmark, _)) = BENCHMARKS.iter().find(|(benchmark, ..)| *benchmark == name) else {
        println!("cargo run --profile dist -p hyperslab-bench -- BENCHMARK\n");
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
