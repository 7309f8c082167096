//! The libraries of the comparison: their programs, versions and options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use hyperslab_testkit::{referee, workspace};

use crate::reader::{Answer, Reader};

/// The environment variable that names a Python with TileDB.
const PYTHON_VARIABLE: &str = "HYPERSLAB_BENCH_PYTHON";

/// The name of hyperslab in the comparison.
pub(super) const OURS: &str = "hyperslab";

/// The files that a library reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// The HDF5 files that hyperslab wrote.
    OfHyperslab,
    /// The files that the library itself wrote.
    OfItself,
}

/// A library, and its running program.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) options: &'static str,
    pub(super) files: Files,
    command: Command,
    running: Option<Reader>,
}

impl Library {
    /// Sends a request. A program that fails is started again for the next request.
    pub(super) fn ask(&mut self, line: &str) -> Result<Answer> {
        if self.running.is_none() {
            self.running = Some(Reader::start(&mut self.command)?);
        }
        let reader = self.running.as_mut().context("the program does not run")?;
        let answer = reader.request(line);
        if answer.is_err() {
            self.running = None;
        }
        Ok(answer.unwrap_or_else(|error| Answer::Cannot(format!("{error:#}"))))
    }
}

/// Returns all libraries, hyperslab first. Without a Python with TileDB, TileDB is absent.
pub(super) fn all(folder: &Path, values: &Path) -> Result<Vec<Library>> {
    let preloaded = no_sync(folder)?;
    let mut ours = Command::new(std::env::current_exe()?);
    ours.args(["peers", "serve"]);
    let mut libraries = vec![Library {
        name: OURS,
        version: commit(),
        options: "its default features and `fast-codecs`: all codecs are in Rust; `Durability::None`",
        files: Files::OfHyperslab,
        command: ours,
        running: None,
    }];
    libraries.extend(crates()?);
    match tiledb() {
        Ok(library) => libraries.push(library),
        Err(error) => println!("TileDB is skipped: {error:#}"),
    }
    for library in &mut libraries {
        library.command.arg(values).env("LD_PRELOAD", &preloaded);
    }
    Ok(libraries)
}

/// The crates of the program in `crates/bench/peers`: the word for the program, the crate, the
/// files that it reads, and its options.
const CRATES: [(&str, &str, Files, &str); 4] = [
    (
        "rust-hdf5",
        "rust-hdf5",
        Files::OfHyperslab,
        "the features `parallel` and `all_filters`; files of HDF5 1.10, without which it encodes on one thread; \
         `RUST_HDF5_IO_THREADS` is the number of processors; `close_no_sync`",
    ),
    (
        "hdf5-pure",
        "hdf5-pure",
        Files::OfHyperslab,
        "its default features, with zlib-rs as the backend of `flate2`; it uses one thread. It reads whole rows only, \
         so a box is a read of 256 rows from which the caller picks the columns",
    ),
    (
        "zarrs",
        "zarrs",
        Files::OfItself,
        "its default features; gzip and `numcodecs.shuffle`, Zstandard (C) without a checksum, Blosc (C); \
         `FilesystemStore`: one file for each chunk",
    ),
    (
        "zarrs-sharded",
        "zarrs",
        Files::OfItself,
        "the same, with shards of 2048 x 2048 elements that contain the chunks; boxes are read with \
         `ArrayShardedReadableExtCache`, which keeps the indexes of shards",
    ),
];

/// Builds the program of the crates, in a workspace of its own, so that no other crate depends on
/// them. Returns its libraries.
fn crates() -> Result<Vec<Library>> {
    let folder = workspace::root().join("crates/bench/peers");
    let target = workspace::root().join("target/peers");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--quiet", "--locked", "--target-dir"]).arg(&target);
    let status = cargo.current_dir(&folder).status().context("needs cargo")?;
    ensure!(status.success(), "{}: cargo failed", folder.display());
    let lock = std::fs::read_to_string(folder.join("Cargo.lock"))?;
    let library = |(word, name, files, options): (&'static str, &str, Files, &'static str)| {
        let mut command = Command::new(target.join("release/hyperslab-bench-peers"));
        command.arg(word).env("RUST_HDF5_IO_THREADS", crate::contest::threads().to_string());
        let version = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
        let version = version.and_then(|rest| rest.split('"').next()).unwrap_or("of an unknown version");
        Library { name: word, version: version.to_owned(), options, files, command, running: None }
    };
    Ok(CRATES.into_iter().map(library).collect())
}

fn tiledb() -> Result<Library> {
    let python = std::env::var_os(PYTHON_VARIABLE)
        .or_else(|| referee::python().map(|referee| OsString::from(referee.python())))
        .context("no Python")?;
    let script = workspace::root().join("crates/bench/python/peers_tiledb.py");
    let output = Command::new(&python).arg(&script).arg("--version").output()?;
    ensure!(output.status.success(), "{} has no TileDB", python.display());
    let versions = String::from_utf8(output.stdout)?;
    let (package, library) = versions.trim().split_once(' ').context("two versions")?;
    let mut command = Command::new(&python);
    command.arg(&script);
    Ok(Library {
        name: "TileDB",
        version: format!("{package} (library {library})"),
        options: "the Python package; a dense array with tiles of the size of the chunks; shuffle and gzip, Zstandard, \
                  shuffle and LZ4 in place of Blosc, which it does not have; the default configuration",
        files: Files::OfItself,
        command,
        running: None,
    })
}

/// Compiles the library that makes `fsync` do nothing. Returns its path.
fn no_sync(folder: &Path) -> Result<PathBuf> {
    let library = folder.join("no_sync.so");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-O2", "-Wall", "-shared", "-fPIC", "-o"]).arg(&library);
    let status = compiler.arg(workspace::root().join("crates/bench/c/no_sync.c")).status();
    ensure!(status.context("needs a C compiler (`cc`, or $CC)")?.success(), "the C compiler failed");
    Ok(library)
}

fn commit() -> String {
    crate::report::output("git", &["rev-parse", "--short=12", "HEAD"])
}
