//! Threads of one process that read or write distinct parts: the speed-up of two threads over one.
//! Each run is in a process of its own.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::arithmetic_side_effects,
    reason = "the workloads are the constants of this file"
)]

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hyperslab::{Dataset, Durability, File, FileOptions, IxDyn, Region};

use crate::clock::Clock;
use crate::libhdf5::{self, Libhdf5};
use crate::noise::Noise;
use crate::table::median;

const ROW_COUNT: u64 = 4096;
const COLUMN_COUNT: u64 = 4096;
const CHUNK_SIDE_ELEMENTS: u64 = 256;

/// The measured operations: name, argument, and the target speed-up by two threads.
const OPERATIONS: &[(&str, &str, f64)] = &[
    ("read slabs of one gzip dataset, 64 MiB of measured numbers", "read-noisy", 1.8),
    ("the same of numbers that repeat", "read", 1.8),
    ("write to two gzip datasets of 32 MiB", "two", 1.6),
    ("write chunks of one gzip dataset, 64 MiB", "one", 1.6),
    ("write halves of chunks of one, 64 MiB", "halves", 1.6),
];

/// The cost of one run.
#[derive(Debug, Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
    /// The peak memory, if the process reports it.
    peak: f64,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    if let [command, rest @ ..] = args
        && command == "child"
    {
        return child(rest);
    }
    let rounds: usize = args.first().map_or(Ok(7), |rounds| rounds.parse())?;
    let path = libhdf5::folder()?.join("threads.h5");
    make(&path)?;
    let library = Libhdf5::find().ok();
    println!(
        "{rounds} rounds; h5py with {}\n",
        library.as_ref().map_or("nothing", |library| &library.version)
    );
    println!(
        "| threads that | alone in each thread: 1, 2, ms | speed-up | aim | processor, 2 to 1 | on all threads: 1, 2, ms | \
         h5py: 1, 2, ms | speed-up | peak, MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, operation, aim) in OPERATIONS {
        let mut ours: [Vec<Run>; 4] = Default::default();
        let mut theirs: [Vec<Run>; 2] = Default::default();
        for _ in 0..rounds {
            for (runs, (threads, alone)) in
                ours.iter_mut().zip([(1, true), (2, true), (1, false), (2, false)])
            {
                runs.push(process(&path, operation, threads, alone)?);
            }
            if let Some(library) = library.as_ref().filter(|_| *operation != "halves") {
                for (runs, threads) in theirs.iter_mut().zip(["1", "2"]) {
                    let file = path.to_str().context("the path is not UTF-8")?;
                    let answer =
                        library.script(include_str!("../threads.py"), &[file, operation, threads])?;
                    runs.push(parse(&answer)?);
                }
            }
        }
        let middle = |runs: &[Run], of: fn(&Run) -> f64| median(&runs.iter().map(of).collect::<Vec<f64>>());
        let wall = |runs: &[Run]| middle(runs, |run| run.wall) * 1e3;
        let [one, two, shared_one, shared_two] = &ours;
        let [their_one, their_two] = &theirs;
        let faster = wall(one) / wall(two);
        println!(
            "| {name} | {:.1}, {:.1} | {faster:.2} | {aim}{} | {:.2} | {:.1}, {:.1} | {:.1}, {:.1} | {:.2} | {:.0} |",
            wall(one),
            wall(two),
            if faster < *aim { " *" } else { "" },
            middle(two, |run| run.cpu) / middle(one, |run| run.cpu),
            wall(shared_one),
            wall(shared_two),
            wall(their_one),
            wall(their_two),
            wall(their_one) / wall(their_two),
            middle(two, |run| run.peak) / f64::from(1 << 20),
        );
    }
    Ok(())
}

/// Runs one operation in a process of its own. With `alone`, a read or write uses no additional
/// threads.
fn process(path: &Path, operation: &str, threads: u64, alone: bool) -> Result<Run> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["threads", "child"]).arg(path).args([operation, &threads.to_string()]);
    if alone {
        command.env("RAYON_NUM_THREADS", "1");
    }
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    parse(&String::from_utf8(output.stdout)?)
}

fn parse(answer: &str) -> Result<Run> {
    let mut numbers = answer.split_whitespace().map(str::parse::<f64>);
    let mut next = || numbers.next().unwrap_or(Ok(0.0));
    Ok(Run { wall: next()?, cpu: next()?, peak: next()? })
}

/// Returns a slab of detector-like numbers: a background and its noise. Gzip halves their size.
fn measured(rows: u64) -> Vec<f32> {
    let mut noise = Noise(6);
    (0..rows * COLUMN_COUNT).map(|at| (at % COLUMN_COUNT / 64 + (noise.next() >> 58)) as f32).collect()
}

/// Returns a slab of repeating numbers, which gzip compresses to almost nothing, so that memory
/// bandwidth limits the speed.
fn values(rows: u64) -> Vec<f32> {
    (0..rows * COLUMN_COUNT).map(|at| (at % COLUMN_COUNT * 7919 % 1013) as f32).collect()
}

fn make(path: &Path) -> Result<()> {
    let file = FileOptions::new().durability(Durability::None).create(path)?;
    for (name, values) in [("read", values(ROW_COUNT)), ("read-noisy", measured(ROW_COUNT))] {
        let dataset = file
            .new_dataset(name)
            .of::<f32>()
            .shape(&[ROW_COUNT, COLUMN_COUNT])
            .chunks(&[CHUNK_SIDE_ELEMENTS, CHUNK_SIDE_ELEMENTS]);
        dataset.deflate(4).create()?.write(.., &values)?;
    }
    Ok(file.close()?)
}

/// Runs one operation, and prints wall-clock seconds, processor seconds and the peak memory.
fn child(args: &[String]) -> Result<()> {
    let [path, operation, threads] = args else {
        anyhow::bail!("expected a file, an operation and a number of threads")
    };
    let threads: u64 = threads.parse()?;
    let clock;
    let before = processor_seconds()?;
    if operation.starts_with("read") {
        let dataset = File::open(path)?.dataset(operation)?;
        clock = Clock::start();
        let rows = ROW_COUNT / threads;
        on_threads(threads, threads, |thread| read(&dataset, thread * rows, (thread + 1) * rows))?;
    } else {
        let file = FileOptions::new().durability(Durability::None).create(format!("{path}.written"))?;
        let datasets = if operation == "two" { 2 } else { 1 };
        let made: Result<Vec<Dataset>> = (0..datasets)
            .map(|number| {
                let dataset = file.new_dataset(&format!("{number}")).of::<f32>();
                let dataset = dataset
                    .shape(&[ROW_COUNT / datasets, COLUMN_COUNT])
                    .chunks(&[CHUNK_SIDE_ELEMENTS, CHUNK_SIDE_ELEMENTS]);
                Ok(dataset.deflate(4).create()?)
            })
            .collect();
        let made = made?;
        let step = if operation == "halves" { CHUNK_SIDE_ELEMENTS / 2 } else { CHUNK_SIDE_ELEMENTS };
        let slab = values(step);
        clock = Clock::start();
        if operation == "two" {
            let write = |thread: u64| match made.get(thread as usize) {
                Some(dataset) => write(dataset, &slab, step, 0, ROW_COUNT / 2),
                None => Ok(()),
            };
            on_threads(2, threads, write)?;
        } else {
            let dataset = made.first().context("no dataset")?;
            let rows = ROW_COUNT / threads;
            on_threads(threads, threads, |thread| {
                write(dataset, &slab, step, thread * rows, (thread + 1) * rows)
            })?;
        }
        file.close()?;
    }
    let (took, cpu) = (clock.took(), processor_seconds()? - before);
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
    let kib: f64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    println!("{} {cpu} {}", took.wall, kib * 1024.0);
    Ok(())
}

/// Returns the processor time of the process, including threads that have ended, in hundredths of a
/// second.
fn processor_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let ticks: Result<Vec<f64>, _> = fields.split_whitespace().skip(11).take(2).map(str::parse).collect();
    Ok(ticks?.iter().sum::<f64>() / 100.0)
}

/// Runs jobs, each on a thread of its own, or one after the other for one thread.
fn on_threads(jobs: u64, threads: u64, job: impl Fn(u64) -> Result<()> + Sync) -> Result<()> {
    if threads == 1 {
        return (0..jobs).try_for_each(job);
    }
    let job = &job;
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..jobs).map(|number| scope.spawn(move || job(number))).collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a thread failed")))
    })
}

fn slab(start: u64, rows: u64) -> Result<Region> {
    Ok(Region::new(&[start, 0], &[rows, COLUMN_COUNT])?)
}

fn read(dataset: &Dataset, start: u64, end: u64) -> Result<()> {
    for row in (start..end).step_by(CHUNK_SIDE_ELEMENTS as usize) {
        let values = dataset.read::<f32, IxDyn>(&slab(row, CHUNK_SIDE_ELEMENTS)?)?;
        ensure!(
            values.len() as u64 == CHUNK_SIDE_ELEMENTS * COLUMN_COUNT,
            "the read returned another number of elements"
        );
    }
    Ok(())
}

fn write(dataset: &Dataset, values: &[f32], step: u64, start: u64, end: u64) -> Result<()> {
    for row in (start..end).step_by(step as usize) {
        dataset.write(&slab(row, step)?, values)?;
    }
    Ok(())
}
