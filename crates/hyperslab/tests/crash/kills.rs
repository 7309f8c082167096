//! Processes that write and are killed at random moments. The number of the last flush determines
//! the content of the file. libhdf5 does the same work in the same loop, for comparison.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hyperslab::filter::FilterSpec;
use hyperslab::{Durability, File, FileOptions, LibraryVersion, LibverBounds, OpenOptions, Region, Result};
use hyperslab_testkit::referee::{self, Referee};
use serde_json::{Value, json};

use crate::content::{self, Content};
use crate::matrix::number_of;
use crate::record::Dice;

/// The default number of kills, and the number of kills of hyperslab for each kill of libhdf5.
const FEW: usize = 16;
const SCRIPT: &str = include_str!("kills.py");
/// The environment variable with the path of the file. A process with this variable is the writer.
const PATH: &str = "HYPERSLAB_KILLS_FILE";
const SEED: &str = "HYPERSLAB_KILLS_SEED";
/// The number of files in one run of Python.
const BATCH: usize = 50;
/// The longest lifetime of a process after its first flush, in microseconds.
const LONGEST: u64 = 120_000;

fn bounds(seed: u64) -> LibverBounds {
    let low = if seed.is_multiple_of(2) { LibraryVersion::V110 } else { LibraryVersion::V18 };
    LibverBounds::new(low, LibraryVersion::LATEST).unwrap()
}

fn durability(seed: u64) -> Durability {
    if seed % 4 < 2 { Durability::Full } else { Durability::Ordered }
}

/// Creates the datasets, which are filled later.
fn begin(file: &File) -> Result<()> {
    let series = file.new_dataset("series").of::<i32>().shape(&[0]).max_shape(&[None]).chunks(&[64]);
    series.filter(FilterSpec::deflate(1)).create()?;
    file.new_dataset("image").of::<f64>().shape(&[64, 64]).chunks(&[16, 16]).create()?;
    file.new_dataset("table").write(&vec![0_u16; 1000])?;
    file.create_group("groups")?;
    Ok(())
}

/// Makes the changes before the flush with this number.
fn work(file: &File, number: u64) -> Result<()> {
    let series = file.dataset("series")?;
    for part in 0..4 {
        let first = (number - 1) * 40 + part * 10;
        let values: Vec<i32> = (first..first + 10).map(|at| (at * 7 + 3) as i32).collect();
        series.append(0, &ndarray::Array1::from(values))?;
    }
    let corner = [number % 16 / 4 * 16, number % 4 * 16];
    let chunk = Region::new(&corner, &[16, 16]).unwrap();
    file.dataset("image")?.write(&chunk, &vec![number as f64; 256])?;
    let part = Region::new(&[number * 37 % 900], &[100]).unwrap();
    file.dataset("table")?.write(&part, &[number as u16; 100])?;
    let group = file.create_group(&format!("groups/g{number}"))?;
    group.set_attribute("number", number as i64)?;
    group.new_dataset("d").write(&vec![number as i32; 20])?;
    if number > 8 {
        file.remove(&format!("groups/g{}", number - 8))?;
    }
    let name = format!("a{}", number % 10);
    if !number.is_multiple_of(7) {
        series.set_attribute(&name, vec![number as i32; number as usize % 50 + 1])?;
    } else if series.attribute_names()?.contains(&name) {
        series.remove_attribute(&name)?;
    }
    file.set_attribute("last", number as i64)
}

/// The expected contents of the file after each number of flushes, computed with a new file in
/// memory.
#[derive(Debug)]
struct Model {
    file: File,
    number: u64,
}

impl Model {
    fn new() -> Self {
        let file = FileOptions::new().create_in_memory().unwrap();
        begin(&file).unwrap();
        Self { file, number: 0 }
    }

    fn content(&mut self, number: u64) -> Content {
        if number < self.number {
            *self = Self::new();
        }
        while self.number < number {
            self.number += 1;
            work(&self.file, self.number).unwrap();
        }
        content::of_file(&self.file).unwrap()
    }
}

/// The process that writes until the test kills it.
#[test]
#[ignore = "run by the test that kills it"]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let seed = number_of(SEED).unwrap() as u64;
    let file = FileOptions::new().libver(bounds(seed)).durability(durability(seed)).create(path).unwrap();
    begin(&file).unwrap();
    for number in 1..100_000 {
        work(&file, number).unwrap();
        file.flush().unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nflush {number}").unwrap();
        out.flush().unwrap();
    }
}

fn writer_process(path: &Path, seed: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "kills::writer", "--nocapture", "--test-threads=1"]);
    command.env(PATH, path).env(SEED, seed.to_string());
    command
}

fn libhdf5_process(python: &Referee, path: &Path) -> Command {
    let mut command = Command::new(python.python());
    command.args(["-c", SCRIPT, "write"]).arg(path).env("HDF5_USE_FILE_LOCKING", "FALSE");
    command
}

/// Starts a process that writes, and kills it some time after its first flush. Returns the number
/// of the last flush that the process reported.
fn kill(mut command: Command, dice: &mut Dice) -> u64 {
    let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut reported = BufReader::new(child.stdout.take().unwrap());
    let (mut text, mut line) = (String::new(), String::new());
    while !line.starts_with("flush ") {
        line.clear();
        assert!(reported.read_line(&mut line).unwrap() > 0, "it ended by itself: {text}");
        text.push_str(&line);
    }
    std::thread::sleep(Duration::from_micros(dice.below(LONGEST)));
    child.kill().unwrap();
    child.wait().unwrap();
    reported.read_to_string(&mut text).unwrap();
    // An incomplete line does not count as a report.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let numbers = whole.lines().filter_map(|line| line.strip_prefix("flush ")?.parse().ok());
    numbers.max().unwrap_or(0)
}

/// Opens the file that the process left, for reading and for writing. Returns the number of the
/// flush whose content it holds, or the fault.
fn recover(path: &Path, seed: u64, reported: u64, model: &mut Model) -> Value {
    match outcome(path, seed, reported, model) {
        Ok(number) => Value::from(number),
        Err((fate, why)) => {
            eprintln!("{}, {:?}: {fate}: {why}", path.display(), durability(seed));
            json!({"fate": fate, "why": why})
        }
    }
}

fn outcome(path: &Path, seed: u64, reported: u64, model: &mut Model) -> Result<u64, (&'static str, String)> {
    let unreadable = |error: hyperslab::Error| ("unreadable", format!("{error:?}"));
    let damaged = |error: hyperslab::Error| ("damaged", format!("{error:?}"));
    let wrong = |why: String| ("mixed", why);
    let read = |file: &File| {
        let number: u64 = file.attribute("last")?.read_scalar()?;
        Ok((number, content::of_file(file)?))
    };
    let (number, found) = read(&File::open(path).map_err(unreadable)?).map_err(damaged)?;
    if number != reported && number != reported + 1 {
        return Err(wrong(format!("flush {reported} was told, {number} is there")));
    }
    let difference = content::difference(&found, &model.content(number));
    if !difference.is_empty() {
        return Err(wrong(format!("not the content of flush {number}: {difference:#?}")));
    }
    let options = OpenOptions::new().write(true).libver(bounds(seed)).durability(durability(seed));
    let file = options.open(path).map_err(unreadable)?;
    if read(&file).map_err(damaged)? != (number, found) {
        return Err(wrong("other content when it is opened for writing".into()));
    }
    let more = u64::from(seed.is_multiple_of(3));
    if more > 0 {
        work(&file, number + 1).map_err(damaged)?;
    }
    file.close().map_err(damaged)?;
    let report = hyperslab_check::check_path(path).map_err(unreadable)?;
    if report.faults == 0 { Ok(number + more) } else { Err(wrong(format!("{:#?}", report.findings))) }
}

/// Returns the output of Python, one word for each file: the number of the flush whose content the
/// file has, or the fault.
fn verdicts(python: &Referee, paths: &[PathBuf]) -> Vec<Value> {
    let arguments = std::iter::once(Path::new("judge")).chain(paths.iter().map(PathBuf::as_path));
    let reported = python.run_script(SCRIPT, arguments).unwrap();
    let verdicts: Vec<Value> = reported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), paths.len());
    verdicts
}

/// The numbers of files by their state.
#[derive(Debug, Default)]
struct Count {
    killed: usize,
    /// Files with exactly the content of the last flush.
    good: usize,
    /// Files that cannot be opened.
    unreadable: usize,
    /// Files that can be opened, but not read completely.
    damaged: usize,
    /// Files with other contents: they have a part of the later changes, or lack a part of the
    /// flushed changes.
    mixed: usize,
}

impl Count {
    fn add(&mut self, verdict: &Value, least: u64, maximum: u64) {
        self.killed += 1;
        let fate = match (verdict.as_u64(), verdict["fate"].as_str()) {
            (Some(number), _) if (least..=maximum).contains(&number) => &mut self.good,
            (_, Some("unreadable")) => &mut self.unreadable,
            (_, Some("damaged")) => &mut self.damaged,
            _ => &mut self.mixed,
        };
        *fate += 1;
    }

    fn line(&self, subject: &str) {
        let Self { killed, good, unreadable, damaged, mixed } = self;
        eprintln!("{subject:<44} {killed:>6} {good:>6} {unreadable:>10} {damaged:>8} {mixed:>6}");
    }
}

#[test]
fn flushed_data_survives_the_kill_of_the_process() {
    let kills = number_of("HYPERSLAB_KILLS").unwrap_or(FEW);
    let python = referee::python();
    let mut dice = Dice(number_of("HYPERSLAB_CRASH_FIRST").unwrap_or(1) as u64);
    let mut model = Model::new();
    let [mut ours, mut theirs, mut after, mut marked, mut unmarked] = <[Count; 5]>::default();
    let folder = tempfile::tempdir().unwrap();
    let mut flushes = 0;
    for first in (0..kills).step_by(BATCH) {
        let seeds = first as u64..kills.min(first + BATCH) as u64;
        let named = |subject: &str, seed: u64| folder.path().join(format!("{subject}{seed}.h5"));
        let mut reported = Vec::new();
        for seed in seeds.clone() {
            let path = named("ours", seed);
            let last = kill(writer_process(&path, seed), &mut dice);
            std::fs::copy(&path, named("before", seed)).unwrap();
            let number = recover(&path, seed, last, &mut model);
            ours.add(&number, last, last + 2);
            flushes += last;
            reported.push((last, number));
        }
        let Some(python) = &python else { continue };
        let all = |subject: &str| seeds.clone().map(|seed| named(subject, seed)).collect::<Vec<_>>();
        for (verdict, (_, number)) in verdicts(python, &all("ours")).iter().zip(&reported) {
            if let Some(number) = number.as_u64() {
                after.add(verdict, number, number);
            }
        }
        for ((verdict, (last, _)), seed) in
            verdicts(python, &all("before")).iter().zip(&reported).zip(seeds.clone())
        {
            let count = if bounds(seed).low() >= LibraryVersion::V110 { &mut marked } else { &mut unmarked };
            count.add(verdict, *last, last + 1);
        }
        let seeds: Vec<u64> = seeds.clone().filter(|seed| kills >= 100 || seed.is_multiple_of(4)).collect();
        let last: Vec<u64> = seeds
            .iter()
            .map(|seed| kill(libhdf5_process(python, &named("theirs", *seed)), &mut dice))
            .collect();
        let paths: Vec<PathBuf> = seeds.iter().map(|seed| named("theirs", *seed)).collect();
        for (verdict, last) in verdicts(python, &paths).iter().zip(last) {
            theirs.add(verdict, last, last + 1);
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
    }
    let (who, columns) = ("writer, and who reads then", ["killed", "good", "unreadable", "damaged", "mixed"]);
    eprintln!(
        "{who:<44} {:>6} {:>6} {:>10} {:>8} {:>6}",
        columns[0], columns[1], columns[2], columns[3], columns[4]
    );
    ours.line("hyperslab, hyperslab");
    after.line("hyperslab, libhdf5 after recovery");
    marked.line("hyperslab, libhdf5 before it (1.10 format)");
    unmarked.line("hyperslab, libhdf5 before it (1.8 format)");
    theirs.line("libhdf5, libhdf5");
    eprintln!("{flushes} flushes of hyperslab");
    assert_eq!((ours.good, after.good), (ours.killed, after.killed));
    assert_eq!((marked.damaged, marked.mixed), (0, 0));
}
