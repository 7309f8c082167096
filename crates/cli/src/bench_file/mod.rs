//! `hyperslab bench-file`: the speed of reading a file, and better chunk shapes.

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
use hyperslab_exact::to_u64;
use indicatif::ProgressBar;
use serde_json::json;

use self::access::Access;
use self::estimate::float;
use self::measure::{Bench, Request};
use self::report::Report;
use crate::lookup;
use crate::open::OpenArguments;
use crate::output::{self, FAINT, styled};
use crate::progress;

/// The number of datasets that `bench-file` measures if the arguments name no dataset.
const DEFAULT_DATASETS: usize = 3;

/// The arguments of `bench-file`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The measurements show this library on this machine, with the parts of the file that the system has cached. Only reads of the \
    whole dataset use a chunk cache. The estimates count bytes: a request decodes all chunks that it touches, and each chunk \
    costs as much as 16 KiB in addition. The cost is the mean over the kinds of access.

Examples:
  hyperslab bench-file data.h5
  hyperslab bench-file data.h5 frames --seconds 30
  hyperslab bench-file data.h5 frames --for 0 --for points   frames and pixels"
)]
pub(crate) struct BenchFileArguments {
    /// The approximate time of all measurements
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// The access to optimize for: whole, points, or a dimension that is read one coordinate at a
    /// time [default: whole and each dimension]
    #[arg(long = "for", value_name = "ACCESS")]
    wanted: Vec<Access>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The HDF5 file
    file: PathBuf,
    /// The dataset to measure [default: the three datasets with the most bytes in the file]
    dataset: Option<String>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number: Result<f64, _> = text.parse();
    number
        .ok()
        .filter(|number| (0.0..=86_400.0).contains(number))
        .ok_or_else(|| format!("`{text}` is not a number of seconds from 0 to 86400"))
}

/// Runs the command `bench-file`: measures the access to datasets, and estimates the cost of other
/// layouts.
pub(crate) fn run(arguments: &BenchFileArguments) -> Result<ExitCode> {
    let shown = arguments.file.display().to_string();
    let file = arguments.open.open(&arguments.file)?;
    let paths = match &arguments.dataset {
        Some(path) => vec![path.clone()],
        None => largest(&file),
    };
    if paths.is_empty() {
        bail!("`{shown}` has no dataset with stored elements");
    }
    let mut reports = Vec::new();
    for path in &paths {
        let dataset = lookup::dataset(&file, &shown, path)?;
        for access in &arguments.wanted {
            if let Access::Slice(dimension) = access
                && *dimension >= dataset.ndim()
            {
                bail!("`{path}` has no dimension {dimension}; dimensions count from 0");
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
            "Measured with the parts of the file that the system has cached. Only reads of the whole dataset use a chunk cache.",
        )?;
        writeln!(out)?;
    }
    out.flush()?;
    arguments.open.report();
    Ok(ExitCode::SUCCESS)
}

/// Measures the read requests on one dataset for `bench-file`. `datasets` is the number of datasets
/// that share the time limit.
fn measure(arguments: &BenchFileArguments, path: &str, datasets: usize, report: &mut Report) -> Result<()> {
    let requests: Vec<Request> =
        report.accesses.iter().copied().map(Request::Access).chain([Request::Chunk]).collect();
    let parts = to_u64(requests.len()) * to_u64(datasets);
    let budget = Duration::from_secs_f64(arguments.seconds / float(parts.max(1)));
    let bench = Bench { open: &arguments.open, file: &arguments.file, dataset: path, budget };
    let bar = progress::delayed(ProgressBar::new_spinner());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar.set_message(output::escape(path.as_bytes()));
    for request in requests {
        report.measurements.extend(bench.run(request)?);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Returns the paths of the datasets with the most bytes in the file. Datasets that cannot be read
/// are skipped.
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
            found.truncate(DEFAULT_DATASETS);
        }
    }
    found.into_iter().map(|(_, path)| path).collect()
}
