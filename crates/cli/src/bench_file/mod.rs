//! `hyperslab bench-file`: how fast is a file read, and would other chunks serve better?

mod access;
mod estimate;
mod measure;
mod report;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use hyperslab::{File, ObjectKind};
use indicatif::ProgressBar;
use serde_json::json;

use self::access::Access;
use self::measure::{Bench, What};
use self::report::Report;
use crate::lookup;
use crate::open::OpenArguments;
use crate::output::{self, FAINT, styled};

/// Datasets that are measured if none is named.
const DATASETS: usize = 3;

/// What `bench-file` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is measured is this library on this machine, with what the system has of the file in memory; but for the whole, each \
    request for itself, without chunks that were decoded before. What is estimated counts bytes: all chunks that a request \
    touches are decoded whole, and each costs as much as 16 KiB more; the cost is the mean over the ways of reading.

Examples:
  hyperslab bench-file data.h5
  hyperslab bench-file data.h5 frames --seconds 30
  hyperslab bench-file data.h5 frames --for 0 --for points   frames and pixels"
)]
pub(crate) struct BenchFileArguments {
    /// How long all of it takes, about
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// How the dataset is read, for the estimate: whole, points, or a dimension of which one coordinate is wanted at once
    /// [default: whole and by each dimension]
    #[arg(long = "for", value_name = "ACCESS")]
    wanted: Vec<Access>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The dataset [default: the three that take most]
    dataset: Option<String>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.parse();
    number
        .ok()
        .filter(|number| (0.0..=86_400.0).contains(number))
        .ok_or_else(|| format!("`{text}` is no number of seconds"))
}

/// Measures and estimates.
pub(crate) fn run(arguments: &BenchFileArguments) -> Result<ExitCode> {
    let shown = arguments.file.display().to_string();
    let file = arguments.open.open(&arguments.file)?;
    let paths = match &arguments.dataset {
        Some(path) => vec![path.clone()],
        None => largest(&file),
    };
    if paths.is_empty() {
        bail!("no dataset of `{shown}` has elements in it");
    }
    let mut reports = Vec::new();
    for path in &paths {
        let dataset = lookup::dataset(&file, &shown, path)?;
        for access in &arguments.wanted {
            if let Access::Slab(dimension) = access
                && *dimension >= dataset.ndim()
            {
                bail!("`{path}` has no dimension {dimension}; they count from 0");
            }
        }
        let mut report = Report::new(path, &dataset, dataset.storage_size()?, &arguments.wanted);
        measure(arguments, path, paths.len(), &mut report)?;
        reports.push(report);
    }
    let mut out = output::stdout();
    if arguments.json {
        let document = json!({
            "format": "hyperslab bench-file 1",
            "file": arguments.file.to_string_lossy(),
            "size": file.info().length,
            "datasets": reports.iter().map(|report| report.json(&arguments.file)).collect::<serde_json::Value>(),
        });
        serde_json::to_writer_pretty(&mut out, &document).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        for (number, report) in reports.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            report.print(&arguments.file, &mut out)?;
        }
        writeln!(out)?;
        styled(
            &mut out,
            FAINT,
            "Measured with what the system has of the file in memory, each request but the whole without a chunk cache.",
        )?;
        writeln!(out)?;
    }
    out.flush()?;
    arguments.open.report();
    Ok(ExitCode::SUCCESS)
}

/// Measures one of so many datasets.
fn measure(arguments: &BenchFileArguments, path: &str, datasets: usize, report: &mut Report) -> Result<()> {
    let ways: Vec<What> = report.accesses.iter().copied().map(What::Access).chain([What::Chunk]).collect();
    let parts = ways.len().saturating_mul(datasets);
    let parts = u32::try_from(parts).unwrap_or(u32::MAX).max(1);
    let budget = Duration::from_secs_f64(arguments.seconds / f64::from(parts));
    let bench = Bench { open: &arguments.open, file: &arguments.file, dataset: path, budget };
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(100));
    bar.set_message(output::escape(path.as_bytes()));
    for way in ways {
        report.cells.extend(bench.run(way)?);
    }
    bar.finish_and_clear();
    Ok(())
}

/// The paths of the datasets that take most in the file. What cannot be read is passed over.
fn largest(file: &File) -> Vec<String> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for visited in file.walk() {
        let Ok(object) = visited.object else { continue };
        let Some(path) =
            String::from_utf8(visited.path).ok().filter(|_| object.kind() == Some(ObjectKind::Dataset))
        else {
            continue;
        };
        let Ok(dataset) = object.into_dataset() else { continue };
        let (Ok(stored), Ok(count)) = (dataset.storage_size(), dataset.size()) else { continue };
        if count > 0 && stored > 0 {
            found.push((stored, path));
            found.sort_by_key(|(stored, _)| std::cmp::Reverse(*stored));
            found.truncate(DATASETS);
        }
    }
    found.into_iter().map(|(_, path)| path).collect()
}
