//! Threads of a C program, and of h5py, that read different datasets of one file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hyperslab_testkit::workspace;

use super::clients::{Client, Clients};
use crate::shell;

const PROGRAM: &str = "crates/capi/bench/threads.c";

/// The name by which programs ask for the library of this project.
const SONAME: &str = "libhdf5.so.320";

/// The numbers of threads that are compared. The C program runs only with one thread over the
/// libhdf5 of h5py, which is not built for threads: with more threads, its reads fail.
const THREADS: [&str; 3] = ["1", "2", "8"];

/// The variable that limits the threads with which hyperslab decodes the chunks of one read.
const DECODING_THREADS: &str = "RAYON_NUM_THREADS";

/// A program and the library that serves it.
struct Reader {
    name: &'static str,
    /// The program, and the arguments before the file and the number of threads.
    command: Vec<PathBuf>,
    environment: Vec<(&'static str, PathBuf)>,
    /// True if the library serves several threads of the program.
    serves_threads: bool,
}

/// The times of one reader with each number of threads, in seconds.
pub(crate) struct Scaling {
    name: &'static str,
    /// The median for each of [`THREADS`], as far as the library serves them.
    seconds: Vec<f64>,
}

/// Measures all readers in turns. Returns medians.
pub(crate) fn measure(clients: &Clients, folder: &Path, rounds: usize) -> Result<Vec<Scaling>> {
    let readers = readers(clients, folder)?;
    let input = folder.join("inputs/threads.h5");
    let first = readers.first().context("a reader")?;
    if !input.exists() {
        call(first, &["write", path(&input)?])?;
    }
    let mut samples = vec![vec![Vec::new(); THREADS.len()]; readers.len()];
    let mut sums: Vec<String> = Vec::new();
    for _ in 0..rounds {
        for (reader, samples) in readers.iter().zip(&mut samples) {
            let count = if reader.serves_threads { THREADS.len() } else { 1 };
            for (threads, list) in THREADS.into_iter().zip(samples).take(count) {
                let output = call(reader, &["read", path(&input)?, threads])?;
                let words: Vec<&str> = output.split_whitespace().collect();
                let [seconds, _, sum] = words.as_slice() else { anyhow::bail!("the output `{output}`") };
                list.push(seconds.parse::<f64>()?);
                sums.push((*sum).to_owned());
            }
        }
    }
    sums.dedup();
    ensure!(sums.len() == 1, "the readers read different values");
    let scaling = |(reader, samples): (Reader, Vec<Vec<f64>>)| Scaling {
        name: reader.name,
        seconds: samples.into_iter().filter(|all| !all.is_empty()).map(super::report::middle).collect(),
    };
    Ok(readers.into_iter().zip(samples).map(scaling).collect())
}

/// Returns the table of the page.
pub(crate) fn table(scalings: &[Scaling]) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "\nThreads that read 8 gzip datasets of 16 MiB of one file, without a lock of their own:\n"
    )?;
    writeln!(
        text,
        "| program and library | 1 thread, ms | 2 threads, ms | 8 threads, ms | speedup by 2 | speedup by 8 |"
    )?;
    writeln!(text, "|---|---:|---:|---:|---:|---:|")?;
    for Scaling { name, seconds } in scalings {
        match seconds.as_slice() {
            [one, two, eight] => {
                let times = format!("{:.0} | {:.0} | {:.0}", one * 1e3, two * 1e3, eight * 1e3);
                writeln!(text, "| {name} | {times} | {:.2} | {:.2} |", one / two, one / eight)?;
            }
            [one, ..] => writeln!(text, "| {name} | {:.0} | fails | fails | | |", one * 1e3)?,
            [] => {}
        }
    }
    Ok(text)
}

/// Compiles the C program for both libraries. Returns the readers, the first of which also writes
/// the file.
fn readers(clients: &Clients, folder: &Path) -> Result<Vec<Reader>> {
    let [stock, ours] = [program(&clients.stock, folder)?, program(&clients.ours, folder)?];
    let python = |name, client: &Client| Reader {
        name,
        command: vec![client.python.clone(), super::clients::H5PY.program.into(), "threads".into()],
        environment: vec![("PYTHONPATH", client.modules.clone())],
        serves_threads: true,
    };
    let c = |name, program, environment, serves_threads| Reader {
        name,
        command: vec![program],
        environment,
        serves_threads,
    };
    let one_decoder = (DECODING_THREADS, PathBuf::from("1"));
    Ok(vec![
        c("C, libhdf5", stock, Vec::new(), false),
        c("C, hyperslab", ours.clone(), Vec::new(), true),
        c("C, hyperslab, one decoding thread", ours, vec![one_decoder], true),
        python("h5py, libhdf5", &clients.stock),
        python("h5py, hyperslab", &clients.ours),
    ])
}

/// Compiles the C program for the library of a client.
fn program(client: &Client, folder: &Path) -> Result<PathBuf> {
    let libraries = workspace::root().join(client.modules.join("h5py.libs"));
    let file = std::fs::read_dir(&libraries)?.filter_map(Result::ok).map(|entry| entry.path());
    let is_library =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libhdf5-"));
    let mut files = file.filter(is_library);
    let library = files.next().with_context(|| format!("no libhdf5 in {}", libraries.display()))?;
    let program = folder.join(format!("threads-{}", client.name));
    // The program asks for the library by its SONAME, which is not always the name of the file.
    let sonames = folder.join(format!("sonames-{}", client.name));
    std::fs::create_dir_all(&sonames)?;
    std::fs::copy(&library, sonames.join(SONAME))?;
    let mut compiler =
        shell::command("cc", &["-std=c11", "-O2", "-pthread", "-I", "crates/capi/include", PROGRAM]);
    compiler.arg(&library).arg(format!("-Wl,-rpath,{}:{}", libraries.display(), sonames.display()));
    // The wheel's libhdf5 finds its own libraries when it is loaded.
    compiler.args(["-Wl,--unresolved-symbols=ignore-in-shared-libs", "-o"]).arg(&program);
    shell::run(&mut compiler)?;
    Ok(program)
}

fn call(reader: &Reader, args: &[&str]) -> Result<String> {
    let (program, first) = reader.command.split_first().context("a program")?;
    let mut command = shell::command(program, &[]);
    command.args(first).args(args).envs(reader.environment.iter().map(|(name, value)| (*name, value)));
    shell::output(&mut command).with_context(|| reader.name)
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().context("the path is not UTF-8")
}
