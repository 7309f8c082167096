//! `hyperslab demo`: the stream of an X-ray detector, kept in three ways, read back and compared.

mod answer;
mod report;
mod scene;
mod ways;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::builder::RangedU64ValueParser;

use self::answer::Answer;
use self::report::{Measured, Report};
use self::scene::Scene;
use self::ways::{StreamRegion, Way, Writer};
use crate::output;

/// What is read again to have its shortest time, if it does not take long.
const REPEATS: u32 = 3;
const LONG: Duration = Duration::from_secs(1);

/// What `demo` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArguments {
    /// How many frames the detector takes
    #[arg(long, default_value_t = 200, value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    frames: u32,
    /// Rows, and columns, of a frame
    #[arg(long, default_value_t = 512, value_parser = RangedU64ValueParser::<u32>::new().range(16..=8192))]
    size: u32,
    /// Percent of the pixels of a frame that get photons
    #[arg(long, value_name = "PERCENT", default_value_t = 0.3, value_parser = percent)]
    occupancy: f64,
    /// Frames after which they are brought into the files
    #[arg(long, value_name = "FRAMES", default_value_t = 16, value_parser = RangedU64ValueParser::<u32>::new().range(1..))]
    flush: u32,
    /// Another number, another stream
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the files are written; in a temporary folder if nothing is said
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Keep the files
    #[arg(long)]
    keep: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.001..=50.0).contains(&number) { Ok(number) } else { Err("it is not from 0.001 to 50".to_owned()) }
}

/// Writes, reads, compares and reports.
pub(crate) fn run(arguments: &DemoArguments) -> Result<()> {
    let folder = Folder::make(arguments)?;
    let scene = Scene::new(arguments.size, arguments.occupancy / 100.0, arguments.seed);
    let parts = parts(arguments, &scene);
    let (expected, writing) = write(arguments, &scene, &parts, &folder)?;
    let mut ways = Vec::new();
    for (way, write) in Way::ALL.into_iter().zip(writing) {
        let path = folder.file(way);
        let mut reads = [Duration::ZERO; 4];
        for ((part, expected), time) in parts.iter().zip(&expected).zip(&mut reads) {
            let (found, shortest) = read(way, &path, arguments.size, *part)?;
            ensure!(found == *expected, "`{}` does not give back what was written", path.display());
            *time = shortest;
        }
        let bytes = std::fs::metadata(&path).with_context(|| format!("`{}`", path.display()))?.len();
        ways.push(Measured { way, bytes, write, reads });
    }
    let [whole, ..] = expected;
    let kept = folder.keep(arguments.keep)?;
    let report = Report {
        frames: arguments.frames,
        size: arguments.size,
        seed: arguments.seed,
        whole,
        parts,
        ways,
        kept,
    };
    let mut out = output::stdout();
    if arguments.json { report.json(&mut out) } else { report.table(&mut out) }
}

/// What is read: everything, one frame, a square over all frames, one pixel over all frames.
fn parts(arguments: &DemoArguments, scene: &Scene) -> [StreamRegion; 4] {
    let (frames, size) = (u64::from(arguments.frames), u64::from(arguments.size));
    let (row, column) = scene.brightest();
    let square = size / 8;
    let corner = |at: u32| u64::from(at).saturating_sub(square / 2).min(size - square);
    [
        StreamRegion { start: [0; 3], count: [frames, size, size] },
        StreamRegion { start: [frames / 2, 0, 0], count: [1, size, size] },
        StreamRegion { start: [0, corner(row), corner(column)], count: [frames, square, square] },
        StreamRegion { start: [0, row.into(), column.into()], count: [frames, 1, 1] },
    ]
}

/// Writes all frames in all ways, one frame after the other; what the parts hold, and the time of each way.
fn write(
    arguments: &DemoArguments,
    scene: &Scene,
    parts: &[StreamRegion; 4],
    folder: &Folder,
) -> Result<([Answer; 4], [Duration; 3])> {
    let (mut expected, mut times) = ([Answer::default(); 4], [Duration::ZERO; 3]);
    let mut writers = Vec::new();
    for way in Way::ALL {
        writers.push(Writer::create(way, &folder.file(way), arguments.size)?);
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

/// A part, and the shortest time of some tries, each with the file opened anew.
fn read(way: Way, path: &Path, size: u32, part: StreamRegion) -> Result<(Answer, Duration)> {
    let mut shortest = Duration::MAX;
    let mut answer = Answer::default();
    for _ in 0..REPEATS {
        let begin = Instant::now();
        answer = ways::read(way, path, size, part)?;
        shortest = shortest.min(begin.elapsed());
        if shortest > LONG {
            break;
        }
    }
    Ok((answer, shortest))
}

/// Where the files are; they go with it unless they are kept.
struct Folder(tempfile::TempDir);

impl Folder {
    /// A new folder, so that nothing is overwritten.
    fn make(arguments: &DemoArguments) -> Result<Self> {
        let parent = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
        std::fs::create_dir_all(&parent).with_context(|| format!("`{}`", parent.display()))?;
        let folder = tempfile::Builder::new().prefix("hyperslab-demo-").tempdir_in(&parent);
        Ok(Self(folder.with_context(|| format!("`{}`", parent.display()))?))
    }

    fn file(&self, way: Way) -> PathBuf {
        self.0.path().join(format!("{}.h5", way.key()))
    }

    /// The folder, if it is kept.
    fn keep(self, keep: bool) -> Result<Option<PathBuf>> {
        if keep {
            return Ok(Some(self.0.keep()));
        }
        self.0.close().context("the temporary folder cannot be removed")?;
        Ok(None)
    }
}
