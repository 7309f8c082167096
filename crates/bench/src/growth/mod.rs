//! The growth of processor time and memory with the number of objects, links, attributes and
//! chunks. Each measurement runs in a process of its own.

mod workload;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::clock::{Clock, PeakMemory};
use crate::libhdf5::{self, Libhdf5};
use crate::reader::MAX_CASE_TIME;
use workload::{Step, WORKLOADS, Workload};

/// The largest accepted ratio of the time per item of the largest file to that of the smallest.
const BAR: f64 = 1.2;

/// Measurements of one size end after this many rounds, or after this many seconds of processor
/// time.
const MAX_ROUNDS: usize = 7;
const ENOUGH_SECONDS: f64 = 1.0;

/// Measures all workloads and prints a table. The arguments are `only=TEXT`, which selects
/// workloads by name, and `alone`, which omits libhdf5.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let [command, rest @ ..] = args
        && command == "child"
    {
        return child(rest);
    }
    let (mut only, mut alone) = ("", false);
    for arg in args {
        match arg.strip_prefix("only=") {
            Some(text) => only = text,
            None if arg == "alone" => alone = true,
            None => bail!("growth [only=TEXT] [alone]"),
        }
    }
    let library = if alone { None } else { Some(Libhdf5::find()?) };
    print_head(library.as_ref());
    let mut missed = Vec::new();
    for (number, workload) in WORKLOADS.iter().enumerate().filter(|(_, one)| one.name.contains(only)) {
        let measured = Measured::of(number, workload, library.as_ref())
            .with_context(|| format!("the workload `{}`", workload.name))?;
        for (step, costs) in [(Step::Create, &measured.create), (Step::Read, &measured.read)] {
            let theirs: &[Option<f64>] = if step == Step::Create { &measured.theirs } else { &[] };
            let factor = print_row(workload, step, costs, theirs);
            if factor > BAR {
                missed.push(format!("{}, {} ({factor:.2})", workload.name, step.word()));
            }
        }
    }
    let missed = if missed.is_empty() { "none".to_owned() } else { missed.join("; ") };
    println!("\nmissed bars: {missed}");
    Ok(())
}

/// The cost of a step for one size.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Seconds of processor time, the least of all rounds.
    seconds: f64,
    /// Bytes of peak memory above the memory at the start, the largest of all rounds.
    bytes: f64,
}

impl Cost {
    fn join(self, other: Self) -> Self {
        Self { seconds: self.seconds.min(other.seconds), bytes: self.bytes.max(other.bytes) }
    }
}

/// The costs of a workload, by size.
#[derive(Debug, Default)]
struct Measured {
    create: Vec<Cost>,
    read: Vec<Cost>,
    /// Seconds of processor time in which libhdf5 creates the file.
    theirs: Vec<Option<f64>>,
}

impl Measured {
    fn of(number: usize, workload: &Workload, library: Option<&Libhdf5>) -> Result<Self> {
        let mut measured = Self::default();
        let path = libhdf5::folder()?.join("growth.h5");
        for count in workload.sizes() {
            let (mut create, mut read): (Option<Cost>, Option<Cost>) = (None, None);
            let mut spent = 0.0;
            for _ in 0..MAX_ROUNDS {
                for (step, cost) in [(Step::Create, &mut create), (Step::Read, &mut read)] {
                    let one = measure(number, step, count, &path)?;
                    spent += one.seconds;
                    *cost = Some(cost.map_or(one, |cost| cost.join(one)));
                }
                if spent > ENOUGH_SECONDS {
                    break;
                }
            }
            measured.create.push(create.context("no round")?);
            measured.read.push(read.context("no round")?);
            let too_long = measured
                .theirs
                .last()
                .is_some_and(|last| last.is_none_or(|seconds| seconds * 10.0 > MAX_CASE_TIME.as_secs_f64()));
            measured.theirs.push(match (library, workload.request) {
                (Some(library), Some(request)) if !too_long => theirs(library, request, count)?,
                _ => None,
            });
        }
        std::fs::remove_file(&path)?;
        Ok(measured)
    }
}

/// Runs a step of a workload in a new process.
fn measure(number: usize, step: Step, count: u64, path: &Path) -> Result<Cost> {
    let output = Command::new(std::env::current_exe()?)
        .args(["growth", "child", step.word(), &number.to_string(), &count.to_string()])
        .arg(path)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let (seconds, bytes) = text.trim().split_once(' ').context("expected two numbers")?;
    Ok(Cost { seconds: seconds.parse()?, bytes: bytes.parse()? })
}

/// Runs one step, and prints its processor time in seconds and its peak memory in bytes.
fn child(args: &[String]) -> Result<()> {
    let [step, number, count, path] = args else { bail!("expected four arguments") };
    let (number, count): (usize, u64) = (number.parse()?, count.parse()?);
    let (workload, path) = (WORKLOADS.get(number).context("no such workload")?, PathBuf::from(path));
    let step = Step::of(step)?;
    if step == Step::Create && path.exists() {
        std::fs::remove_file(&path)?;
    }
    let (memory, clock) = (PeakMemory::start(), Clock::start());
    let items = match step {
        Step::Create => workload.create(&path, count)?,
        Step::Read => workload.read(&path, count)?,
    };
    let took = clock.took();
    ensure!(items == count, "{items} items instead of {count}");
    println!("{:.9} {}", took.cpu, memory.bytes());
    Ok(())
}

/// Returns the processor time of libhdf5 for the same file, or `None` if it takes too long.
fn theirs(library: &Libhdf5, request: &str, count: u64) -> Result<Option<f64>> {
    let path = libhdf5::folder()?.join("growth_libhdf5.h5");
    let mut peer = library.serve("write_files")?;
    let (kind, low) = request.split_once(' ').context("no version")?;
    let (low, rest) = low.split_once(' ').unwrap_or((low, ""));
    let took = peer.ask(&format!("{kind} {} {low} {count} {rest}", path.display()));
    drop(peer);
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    Ok(took.ok().map(|(took, _)| took.cpu))
}

fn print_head(library: Option<&Libhdf5>) {
    let version = library.map_or("–", |library| library.version.as_str());
    println!("Processors: {}; libhdf5: {version}; bar: {BAR}.\n", crate::contest::threads());
    println!(
        "| workload | step | items | µs for an item, at 1/100 | at 1/10 | at all | factor | peak MiB, at 1/100 | at 1/10 | at all | \
         libhdf5: µs for an item, at 1/100 | at 1/10 | at all |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

/// Prints the row of a step. Returns its factor.
fn print_row(workload: &Workload, step: Step, costs: &[Cost], theirs: &[Option<f64>]) -> f64 {
    let micros =
        |seconds: f64, count: u64| seconds * 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let times: Vec<f64> =
        costs.iter().zip(workload.sizes()).map(|(cost, count)| micros(cost.seconds, count)).collect();
    let factor = match times.as_slice() {
        [first, .., last] => last / first,
        _ => f64::NAN,
    };
    let mut cells: Vec<String> = times.iter().map(|time| format!("{time:.2}")).collect();
    let mark = if factor > BAR { "**" } else { "" };
    cells.push(format!("{mark}{factor:.2}{mark}"));
    cells.extend(costs.iter().map(|cost| format!("{:.1}", cost.bytes / f64::from(1 << 20))));
    let mut of_libhdf5 = theirs.iter().zip(workload.sizes());
    cells.extend((0..costs.len()).map(|_| match of_libhdf5.next() {
        Some((Some(seconds), count)) => format!("{:.2}", micros(*seconds, count)),
        _ => String::new(),
    }));
    println!("| {} | {} | {} | {} |", workload.name, step.word(), workload.count, cells.join(" | "));
    factor
}
