//! `hyperslab demo`: the simulated stream of an X-ray detector, stored in three ways, read again
//! and compared.

mod answer;
mod picture;
mod report;
mod scene;
mod storage;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::builder::RangedU64ValueParser;

use self::answer::Answer;
use self::picture::{Look, Picture};
use self::report::{Measured, Report};
use self::scene::Scene;
use self::storage::{Storage, StreamRegion, Writer};
use crate::output;

/// The largest number of times that the command `demo` reads a region. The shortest time counts.
const MAX_READS: u32 = 3;
/// The limit for repetitions in the command `demo`. A read that takes longer is not repeated.
const LONG_READ: Duration = Duration::from_secs(1);

/// The arguments of the command `demo`, which compares the storage of sparse detector frames.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArguments {
    /// The number of frames
    #[arg(long, default_value_t = 200, value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    frames: u32,
    /// The number of rows and of columns in a frame
    #[arg(long, default_value_t = 512, value_parser = RangedU64ValueParser::<u32>::new().range(16..=8192))]
    size: u32,
    /// The share of the pixels of a frame that photons hit, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.3, value_parser = percent)]
    occupancy: f64,
    /// The number of frames after which the files are flushed
    #[arg(long, value_name = "FRAMES", default_value_t = 16, value_parser = RangedU64ValueParser::<u32>::new().range(1..))]
    flush: u32,
    /// The seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for the files [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Keep the files after the demonstration
    #[arg(long)]
    keep: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.001..=50.0).contains(&number) { Ok(number) } else { Err("the range is 0.001 to 50".to_owned()) }
}

/// Runs the command `demo`: writes, reads and compares demonstration files, and prints the report.
pub(crate) fn run(arguments: &DemoArguments) -> Result<()> {
    let folder = Folder::make(arguments)?;
    let scene = Scene::new(arguments.size, arguments.occupancy / 100.0, arguments.seed);
    let parts = parts(arguments, &scene);
    let (expected, writing) = write(arguments, &scene, &parts, &folder)?;
    let mut storages = Vec::new();
    for (storage, write) in Storage::ALL.into_iter().zip(writing) {
        let path = folder.file(storage);
        let mut reads = [Duration::ZERO; 4];
        for ((part, expected), time) in parts.iter().zip(&expected).zip(&mut reads) {
            let (found, shortest) = read(storage, &path, arguments.size, *part)?;
            ensure!(found == *expected, "`{}` does not return the data that were written", path.display());
            *time = shortest;
        }
        let bytes = std::fs::metadata(&path).with_context(|| format!("`{}`", path.display()))?.len();
        storages.push(Measured { storage, bytes, write, reads });
    }
    let [whole, ..] = expected;
    let [whole_stream, ..] = parts;
    let picture = Picture::read(&folder.file(Storage::Sparse), arguments.size, whole_stream)?;
    let kept = folder.keep(arguments.keep)?;
    let report = Report {
        frames: arguments.frames,
        size: arguments.size,
        seed: arguments.seed,
        whole,
        parts,
        storages,
        kept,
    };
    let mut out = output::stdout();
    if arguments.json {
        return report.json(&mut out);
    }
    picture.draw(Look::of_output(), &mut out)?;
    report.gain(&mut out)?;
    report.table(&mut out)
}

/// Returns the regions that the command `demo` reads: the whole stream, one frame, a square of all
/// frames, one pixel of all frames.
fn parts(arguments: &DemoArguments, scene: &Scene) -> [StreamRegion; 4] {
    let (frames, size) = (u64::from(arguments.frames), u64::from(arguments.size));
    let (row, column) = scene.brightest();
    let square = size / 8;
    let corner = |at: u32| (u64::from(at).max(square / 2) - square / 2).min(size - square);
    [
        StreamRegion { start: [0; 3], count: [frames, size, size] },
        StreamRegion { start: [frames / 2, 0, 0], count: [1, size, size] },
        StreamRegion { start: [0, corner(row), corner(column)], count: [frames, square, square] },
        StreamRegion { start: [0, row.into(), column.into()], count: [frames, 1, 1] },
    ]
}

/// Writes all frames of the demonstration to all files, frame by frame. Returns the expected
/// summary of each region, and the write time of each file.
fn write(
    arguments: &DemoArguments,
    scene: &Scene,
    parts: &[StreamRegion; 4],
    folder: &Folder,
) -> Result<([Answer; 4], [Duration; 3])> {
    let (mut expected, mut times) = ([Answer::default(); 4], [Duration::ZERO; 3]);
    let mut writers = Vec::new();
    for storage in Storage::ALL {
        writers.push(Writer::create(storage, &folder.file(storage), arguments.size)?);
    }
    let size = u64::from(arguments.size);
    for number in 0..arguments.frames {
        let frame = scene.frame(number);
        for (part, answer) in parts.iter().zip(&mut expected) {
            for (pixel, count) in frame.pixels.iter().zip(&frame.counts) {
                if part.contains(number.into(), *pixel, size) {
                    answer.add(number.into(), u64::from(*pixel), *count);
                }
            }
        }
        for (writer, time) in writers.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            writer.append(&frame)?;
            if (number + 1) % arguments.flush == 0 {
                writer.flush()?;
            }
            *time += begin.elapsed();
        }
    }
    for (writer, time) in writers.into_iter().zip(&mut times) {
        let begin = Instant::now();
        writer.close()?;
        *time += begin.elapsed();
    }
    Ok((expected, times))
}

/// Reads a region of a demonstration file several times, and opens the file for each read. Returns
/// the summary of the photons and the shortest time.
fn read(storage: Storage, path: &Path, size: u32, part: StreamRegion) -> Result<(Answer, Duration)> {
    let mut shortest = Duration::MAX;
    let mut answer = Answer::default();
    for _ in 0..MAX_READS {
        let begin = Instant::now();
        answer = storage::read(storage, path, size, part)?;
        shortest = shortest.min(begin.elapsed());
        if shortest > LONG_READ {
            break;
        }
    }
    Ok((answer, shortest))
}

/// The folder of the demonstration's files. When this value is dropped, the folder is removed,
/// unless `keep` was called before.
struct Folder(tempfile::TempDir);

impl Folder {
    /// Creates a new folder for the demonstration's files, so that no existing file is overwritten.
    fn make(arguments: &DemoArguments) -> Result<Self> {
        let parent = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
        std::fs::create_dir_all(&parent).with_context(|| format!("`{}`", parent.display()))?;
        let folder = tempfile::Builder::new().prefix("hyperslab-demo-").tempdir_in(&parent);
        Ok(Self(folder.with_context(|| format!("`{}`", parent.display()))?))
    }

    fn file(&self, storage: Storage) -> PathBuf {
        self.0.path().join(format!("{}.h5", storage.key()))
    }

    /// Keeps or removes the folder of the demonstration's files. Returns the path if the folder is
    /// kept.
    fn keep(self, keep: bool) -> Result<Option<PathBuf>> {
        if keep {
            return Ok(Some(self.0.keep()));
        }
        self.0.close().context("the temporary folder cannot be removed")?;
        Ok(None)
    }
}
