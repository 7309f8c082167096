//! The comparison with other libraries for arrays in compressed chunks: `rust-hdf5`, `hdf5-pure`,
//! `zarrs` and TileDB write and read the same array.

mod libraries;
mod ours;
mod report;
mod request;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::libhdf5;
use crate::outcome::Outcome;
use crate::reader::Answer;
use libraries::{Files, Library};
use request::{Codec, SIDE};

const ROUNDS: usize = 5;

/// Sides of the square chunks: 256 KiB and 1 MiB.
const CHUNKS: [u64; 2] = [256, 512];

/// Operations, with their words in requests.
const OPERATIONS: [&str; 3] = ["write", "read", "boxes"];

/// The results of one operation on arrays of one kind, in the order of the libraries.
#[derive(Debug)]
struct Row {
    operation: &'static str,
    chunk: u64,
    codec: Codec,
    outcomes: Vec<Outcome>,
}

/// Runs the comparison, or with the arguments `serve VALUES` the work of hyperslab in it.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut rounds, mut only) = (ROUNDS, "");
    if let [word, values] = args
        && word == "serve"
    {
        return request::serve(&mut ours::Ours, Path::new(values));
    }
    for arg in args {
        match arg.strip_prefix("only=") {
            Some(text) => only = text,
            None => rounds = arg.parse().with_context(|| format!("`{arg}` is not a number of rounds"))?,
        }
    }
    ensure!(rounds > 0, "no rounds");
    let folder = libhdf5::folder()?.join("peers");
    std::fs::create_dir_all(&folder)?;
    let values = folder.join("values");
    std::fs::write(&values, values_of_the_array())?;
    let mut contest = Contest { libraries: libraries::all(&folder, &values)?, folder, rounds };
    let mut rows = Vec::new();
    for chunk in CHUNKS {
        for (codec, word) in Codec::ALL {
            if format!("{word} {chunk}").contains(only) {
                rows.extend(contest.measure(chunk, codec, word)?);
            }
        }
    }
    ensure!(!rows.is_empty(), "no row has this name");
    let text = report::text(&contest.libraries, &rows, rounds);
    let page = contest.folder.join("table.md");
    std::fs::write(&page, &text)?;
    println!("\n{text}\n{}", page.display());
    let failed = |row: &Row| !matches!(row.outcomes.first(), Some(Outcome::Done { .. }));
    ensure!(!rows.iter().any(failed), "hyperslab failed");
    Ok(())
}

/// Returns the elements of the array as little-endian bytes: a smooth field with noise, in steps of
/// 1/1024.
fn values_of_the_array() -> Vec<u8> {
    let mut state = 1_u64;
    let mut bytes = Vec::new();
    for row in 0..SIDE {
        for column in 0..SIDE {
            bytes.extend(element(row, column, &mut state).to_le_bytes());
        }
    }
    bytes
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "indexes below 4096, and values that need no more digits than f32 has"
)]
fn element(row: u64, column: u64, state: &mut u64) -> f32 {
    let (row, column) = (row as f64, column as f64);
    // The sum of four numbers has nearly a normal distribution.
    let noise: f64 =
        (0..4).map(|_| (crate::arrays::next(state) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5).sum();
    let smooth = 20.0 * (row * 0.004).sin() * (column * 0.006).cos();
    let wave = 5.0 * (row * 0.05 + column * 0.03).sin();
    (((280.0 + smooth + wave + 0.08 * noise) * 1024.0).round() / 1024.0) as f32
}

/// The libraries that take part, and their files.
#[derive(Debug)]
struct Contest {
    libraries: Vec<Library>,
    folder: PathBuf,
    rounds: usize,
}

impl Contest {
    /// Measures all operations on arrays of one kind. Returns a row for each operation.
    fn measure(&mut self, chunk: u64, codec: Codec, word: &str) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            let lines: Vec<String> = self
                .libraries
                .iter()
                .map(|library| {
                    let name = if operation != "write" && library.files == Files::OfHyperslab {
                        libraries::OURS
                    } else {
                        library.name
                    };
                    format!(
                        "{operation} {} {word} {chunk}",
                        self.folder.join(name).with_extension("array").display()
                    )
                })
                .collect();
            let mut outcomes = self.compare(&lines)?;
            if operation == "write" {
                self.check(&lines, &mut outcomes, word, chunk)?;
            }
            let times: Vec<String> = outcomes.iter().map(report::time).collect();
            println!("{operation} {word} {chunk}: {}", times.join(", "));
            rows.push(Row { operation, chunk, codec, outcomes });
        }
        for library in &self.libraries {
            request::remove(&self.folder.join(library.name).with_extension("array"))?;
        }
        Ok(rows)
    }

    /// Sends each library its line: once without timing, then in rounds, each of which starts with
    /// another library.
    fn compare(&mut self, lines: &[String]) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for (library, line) in self.libraries.iter_mut().zip(lines) {
            outcomes.push(match library.ask(line)? {
                Answer::Done(_, sum) => Outcome::Done { times: Vec::new(), sum, peak: None },
                Answer::Cannot(why) => Outcome::Cannot(why),
                Answer::TimedOut => Outcome::TimedOut,
            });
        }
        let expected = outcomes.first().and_then(Outcome::sum);
        let reads = lines.first().is_some_and(|line| !line.starts_with("write"));
        for outcome in &mut outcomes {
            if reads && outcome.sum().is_some() && outcome.sum() != expected {
                *outcome = Outcome::Wrong("the sum of the values differs".to_owned());
            }
        }
        let count = lines.len();
        for round in 0..self.rounds {
            for at in (0..count).map(|turn| (turn + round) % count) {
                let (Some(Outcome::Done { times, .. }), Some(library), Some(line)) =
                    (outcomes.get_mut(at), self.libraries.get_mut(at), lines.get(at))
                else {
                    continue;
                };
                match library.ask(line)? {
                    Answer::Done(took, _) => times.push(took),
                    Answer::Cannot(why) => bail!("{}: {why}", library.name),
                    Answer::TimedOut => bail!("{}: more time than before", library.name),
                }
            }
        }
        Ok(outcomes)
    }

    /// Reads the HDF5 files of other libraries with hyperslab, and compares their values with those
    /// of hyperslab's own file.
    fn check(&mut self, lines: &[String], outcomes: &mut [Outcome], word: &str, chunk: u64) -> Result<()> {
        let mut expected = None;
        for (at, (line, outcome)) in lines.iter().zip(outcomes).enumerate() {
            let hdf5 = self.libraries.get(at).is_some_and(|library| library.files == Files::OfHyperslab);
            if !hdf5 || outcome.sum().is_none() {
                continue;
            }
            let path = line.split_whitespace().nth(1).context("no path")?;
            let ours = self.libraries.first_mut().context("no libraries")?;
            match ours.ask(&format!("read {path} {word} {chunk}"))? {
                Answer::Done(_, sum) if *expected.get_or_insert(sum) == sum => {}
                Answer::Done(..) => *outcome = Outcome::Wrong("hyperslab reads other values".to_owned()),
                Answer::Cannot(why) => {
                    *outcome = Outcome::Wrong(format!("hyperslab cannot read the file: {why}"));
                }
                Answer::TimedOut => bail!("hyperslab: too long"),
            }
        }
        Ok(())
    }
}
