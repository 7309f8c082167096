//! Tasks of this workspace: `cargo xtask TASK`. CI runs the same tasks.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "tasks print their results")]

mod alternate;
mod api;
mod architecture;
mod bench_capi;
mod bench_cloud;
mod bench_compare;
mod bench_growth;
mod bench_peers;
mod bench_python;
mod bench_serve;
mod book;
mod capi;
mod capi_suites;
mod check_corpus;
mod checks;
mod cloud;
mod cloud_corpus;
mod corpus;
mod crash;
mod differential;
mod drive;
mod feature_cost;
mod features;
mod fixtures;
mod fuzz;
mod model;
mod package;
mod page;
mod page_part;
mod python;
mod references;
mod release;
mod repack_corpus;
mod sanitize;
mod serve_suites;
mod shell;
mod submodules;
mod swmr;
mod targets;
mod test;
mod tidy;
mod tool_cases;
mod tools_compare;
mod wasm;

use std::process::ExitCode;

use anyhow::Result;

type Task = fn(&[String]) -> Result<()>;

const TASKS: &[(&str, Task, &str)] = &[
    (
        "ci",
        checks::ci,
        "all checks that a change must pass: fmt, tidy, api, clippy, doc, features, package, corpus, check-corpus, repack-corpus, tool-cases, test, capi, capi-suites (a sample), python, book, fuzz (10 minutes, if cargo-fuzz is there) [STEP…: only these]",
    ),
    ("test", test::run, "all tests; first prepares the referee (Python with h5py) if possible"),
    ("api", api::run, "the list of the public API of the crate hyperslab in docs/public-api.txt [--update]"),
    ("tidy", tidy::run, "structural checks: levels, module order, names, lengths, headers, unsafe"),
    (
        "page",
        page::run,
        "the page of the viewer, built by npm from viewer/ and compared with crates/serve/page [--update]",
    ),
    (
        "wasm",
        wasm::run,
        "the WebAssembly module of the page without a server, and its tests by Node.js; needs the target wasm32-unknown-unknown, or Debian's rustc-web, cargo-web, rust-web-src and lld [--update: in crates/serve/page]",
    ),
    (
        "drive",
        drive::run,
        "the page in Chromium and Firefox: values, pictures, dropped files, files at URLs; needs Node.js and a browser [--binary PROGRAM: instead of a new build] [--update: the pictures of the book]",
    ),
    (
        "bench-cloud",
        bench_cloud::run,
        "requests, bytes and times of reads from a web server with a delay, compared with h5py, pyfive and zarr [DELAY…] [--debug] [--binary PROGRAM: instead of a new build] [--update]",
    ),
    (
        "cloud",
        cloud::run,
        "tests of the crate hyperslab-cloud against moto, s3s-fs and nginx, which it installs [--no-install]",
    ),
    (
        "cloud-corpus",
        cloud_corpus::run,
        "every file of the corpus has the same contents through the driver and AsyncFile of hyperslab-cloud as from disk [--binary PROGRAM: instead of a new build]",
    ),
    (
        "references",
        references::run,
        "zarr and xarray over the references of each file of the corpus give the values of the file; the HDF5 tests of kerchunk and VirtualiZarr with our references [--corpus | --suites] [--binary PROGRAM: instead of a new build]",
    ),
    (
        "substitutes",
        tidy::substitutes::run,
        "counts of saturating arithmetic and default values in shipped code, by crate; tidy checks their ceilings",
    ),
    (
        "submodules",
        submodules::run,
        "uses of a higher submodule by a lower one, and cycles of submodules, with their lines",
    ),
    (
        "corpus",
        corpus::run,
        "results on the corpus beside the checkout, compared with the baseline [--update] [--only NAME]",
    ),
    (
        "check-corpus",
        check_corpus::run,
        "`hyperslab check` on the corpus: all files are sound except those in docs/check-exceptions.md; checks of damaged files end in time",
    ),
    (
        "repack-corpus",
        repack_corpus::run,
        "`hyperslab repack` of a sample of the corpus in four formats, without change of the contents [--all: every file]",
    ),
    (
        "tool-cases",
        tool_cases::run,
        "the tools' output is that of the C library's tools, except for the cases in docs/tools-exceptions.md [TOOL…]",
    ),
    (
        "tools-compare",
        tools_compare::run,
        "the tools' output for all files of the corpus, compared with the C tools of the newest release (minutes) [TOOL…] [--every N: each N-th file] [--again: only the runs that differed before] [--binary PROGRAM: instead of a new build] [--update: into docs/tools-comparison.md]",
    ),
    (
        "book",
        book::run,
        "the book: output of commands, pictures and links are up to date; mdBook builds it [--update] [PAGE…]",
    ),
    (
        "python",
        python::run,
        "the Python package: builds and installs the wheel, runs its tests, mypy, and the tests of h5py that have passed before [--suites: also those of h5netcdf, xarray, anndata] [--update: the lists]",
    ),
    (
        "differential",
        differential::run,
        "random reads of random datasets, compared with libhdf5 [CASES, default 2000 for each layout and filter] [ONLY]",
    ),
    (
        "model",
        model::run,
        "random operations on files, compared with a model [SEQUENCES, default 10000], and all types, layouts and filters, compared with libhdf5",
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
        "one SWMR writer and two SWMR readers, each of hyperslab and libhdf5 [SECONDS for each pair, default 120]",
    ),
    (
        "bench-compare",
        bench_compare::run,
        "benchmarks of time, memory and file size, compared with libhdf5 and rust-hdf5, into docs/benchmarks.md [ROUNDS, default 5] [only=TEXT: into target/bench/compare/]",
    ),
    (
        "bench-growth",
        bench_growth::run,
        "time and memory for an item from 10,000 to 1,000,000 objects, links, attributes or chunks, compared with libhdf5 [only=TEXT] [alone: without libhdf5] [--update: into docs/benchmarks/growth.md]",
    ),
    (
        "bench-capi",
        bench_capi::run,
        "workloads of h5py over the C interface, compared with its libhdf5 [ROUNDS, default 5] [WORKLOAD…] [--library FILE] [--update: into docs/benchmarks.md] [--clients: workloads of PyTables and netCDF4-python instead]",
    ),
    (
        "bench-python",
        bench_python::run,
        "workloads of the Python package, compared with h5py, pyfive, zarr-python and tensorstore [ROUNDS, default 5] [--update: into docs/benchmarks.md]",
    ),
    (
        "bench-peers",
        bench_peers::run,
        "arrays in compressed chunks, compared with rust-hdf5, hdf5-pure, zarrs and TileDB [ROUNDS, default 5] [only=TEXT: only chunks and filters that contain this, such as `zstd 256`] [--update: into docs/benchmarks/peers.md]",
    ),
    (
        "bench-serve",
        bench_serve::run,
        "speed and memory of `hyperslab serve`, compared with h5grove; needs wrk [--update: into docs/benchmarks/serve.md]",
    ),
    (
        "serve-suites",
        serve_suites::run,
        "the tests of h5grove and H5Web against `hyperslab serve` and the WebAssembly module; needs their checkouts in target/serve-suites/ [--corpus: also the comparison with h5grove over the corpus] [--binary PROGRAM: instead of a new build]",
    ),
    (
        "feature-cost",
        feature_cost::run,
        "the processor time that each feature of the library adds to a build [--update]",
    ),
    (
        "features",
        features::run,
        "builds of each crate by itself, without features and with all, and with the oldest supported Rust",
    ),
    (
        "targets",
        targets::run,
        "the library and the command compile for Windows and macOS, where rustup has installed their standard libraries",
    ),
    (
        "package",
        package::run,
        "the metadata of the published crates, and their packages without a build; needs no network after the first build",
    ),
    (
        "release",
        release::run,
        "archives of the command with completions and manual pages, a Debian package and checksums, in target/archives/ [--binary PROGRAM: packs this program instead of a new build]",
    ),
    (
        "capi",
        capi::run,
        "the C interface as an installed library with headers, in target/capi/ [--debug | --release: without the optimization of the whole program] [--library FILE: takes this library instead of a new build] [--hdf5-1-10: also the library for programs of HDF5 1.10, such as those of Debian 12] [--package: an archive, a Debian package and checksums of both libraries, in target/archives/] [--debian: runs programs of Debian 12 on it] [--wheels: runs the wheels of h5py, netCDF4 and tables on it]",
    ),
    (
        "capi-suites",
        capi_suites::run,
        "the suites of clients of the C library on libhdf5.so: tests that have passed must pass [--suite NAME,…, default h5py,api; netcdf-c: nc_test4 and h5_test of netCDF-C on the library for programs of HDF5 1.10, alone] [--sample: h5py, at most 10 minutes] [--update] [--library FILE]",
    ),
    ("fixtures", fixtures::run, "writes fixtures/ again with the referee's Python"),
    (
        "fuzz",
        fuzz::run,
        "runs each fuzz target for some seconds [SECONDS, default 60; 0: only write the seeds] [TARGET…]; or smoke [SECONDS for all targets together, default 600]",
    ),
    (
        "sanitize",
        sanitize::run,
        "tests of threads under ThreadSanitizer, and of `unsafe` code under miri, if nightly has them [threads|miri]",
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
