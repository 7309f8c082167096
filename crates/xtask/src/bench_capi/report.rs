//! Medians, ratios, and the section in `docs/benchmarks.md`.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use hyperslab_testkit::workspace;
use serde_json::Value;

use super::clients::Workload;
use crate::shell;

const PAGE: &str = "docs/benchmarks.md";

/// A section of the page, between its markers, and the goal of its rows.
#[derive(Debug)]
pub(crate) struct Section {
    first: &'static str,
    last: &'static str,
    /// The goal of the geometric mean of the ratios.
    mean_goal: f64,
}

/// The section of h5py.
pub(crate) const H5PY: Section = Section {
    first: "<!-- `cargo xtask bench-capi` writes the lines from here to its end marker -->\n",
    last: "<!-- end marker of bench-capi -->",
    mean_goal: 0.65,
};

/// The section of PyTables and netCDF4-python.
pub(crate) const CLIENTS: Section = Section {
    first: "<!-- `cargo xtask bench-capi --clients` writes the lines from here to its end marker -->\n",
    last: "<!-- end marker of bench-capi --clients -->",
    mean_goal: 0.8,
};

/// The goal of each ratio.
const ROW_GOAL: f64 = 1.05;

/// The measurement of one process.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The time on the clock, in seconds.
    wall: f64,
    /// The time of all threads on processors, in seconds.
    processor: f64,
    /// The digest of the values that were read.
    pub(crate) digest: String,
    /// The size of the written file.
    bytes: u64,
}

impl Sample {
    /// Returns the measurement in the output of the program.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(Self {
            wall: value.get("wall")?.as_f64()?,
            processor: value.get("processor")?.as_f64()?,
            digest: value.get("digest")?.as_str()?.to_owned(),
            bytes: value.get("bytes")?.as_u64()?,
        })
    }
}

/// The measurements of one workload.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) workload: Workload,
    pub(crate) stock: Vec<Sample>,
    pub(crate) ours: Vec<Sample>,
    /// True if all results are equal.
    pub(crate) same: bool,
}

fn median(samples: &[Sample], part: fn(&Sample) -> f64) -> f64 {
    middle(samples.iter().map(part).collect())
}

/// Returns the median of values.
pub(crate) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    if values.len().is_multiple_of(2) { (at(middle.wrapping_sub(1)) + at(middle)) / 2.0 } else { at(middle) }
}

impl Row {
    fn ratio(&self, part: fn(&Sample) -> f64) -> f64 {
        median(&self.ours, part) / median(&self.stock, part)
    }

    /// Returns the ratio of times on the clock.
    pub(crate) fn wall(&self) -> f64 {
        self.ratio(|sample| sample.wall)
    }

    fn cells(&self) -> [f64; 6] {
        [
            median(&self.ours, |sample| sample.wall) * 1e3,
            median(&self.stock, |sample| sample.wall) * 1e3,
            self.wall(),
            median(&self.ours, |sample| sample.processor) * 1e3,
            median(&self.stock, |sample| sample.processor) * 1e3,
            self.ratio(|sample| sample.processor),
        ]
    }

    fn file_ratio(&self) -> Option<f64> {
        let size = |samples: &[Sample]| samples.first().map_or(0, |sample| sample.bytes);
        let (ours, stock) = (size(&self.ours), size(&self.stock));
        #[expect(clippy::cast_precision_loss, reason = "a ratio of two digits")]
        (stock > 0).then(|| ours as f64 / stock as f64)
    }

    /// Returns the line that a run prints.
    pub(crate) fn line(&self) -> String {
        let [ours, stock, ratio, our_processor, processor, processor_ratio] = self.cells();
        let mark = if self.same { "" } else { "  WRONG" };
        format!(
            "{:<50} {ours:>8.1} / {stock:>8.1} ms = {ratio:.2}   processor {our_processor:>8.1} / {processor:>8.1} ms = {processor_ratio:.2}{mark}",
            self.workload.text
        )
    }
}

/// Returns the geometric mean of the ratios, and the rows beyond the goal.
pub(crate) fn summary(section: &Section, rows: &[Row]) -> String {
    let count = f64::from(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let mean =
        |part: fn(&Sample) -> f64| (rows.iter().map(|row| row.ratio(part).ln()).sum::<f64>() / count).exp();
    let slower: Vec<String> = rows
        .iter()
        .filter(|row| row.wall() > ROW_GOAL)
        .map(|row| format!("{} ({:.2})", row.workload.text, row.wall()))
        .collect();
    let slower = if slower.is_empty() { "none".to_owned() } else { slower.join(", ") };
    format!(
        "geometric mean {:.2} (goal {}), of processor time {:.2}; above {ROW_GOAL}: {slower}",
        mean(|sample| sample.wall),
        section.mean_goal,
        mean(|sample| sample.processor)
    )
}

/// Writes the table into the page.
pub(crate) fn update(section: &Section, rows: &[Row], threads: &str, rounds: usize) -> Result<()> {
    let file = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&file)?;
    let (before, rest) =
        page.split_once(section.first).context("docs/benchmarks.md lacks the first marker")?;
    let (_, after) = rest.split_once(section.last).context("docs/benchmarks.md lacks the end marker")?;
    std::fs::write(
        &file,
        format!(
            "{before}{}{}{threads}\n{}{after}",
            section.first,
            table(section, rows, rounds)?,
            section.last
        ),
    )?;
    Ok(())
}

fn table(section: &Section, rows: &[Row], rounds: usize) -> Result<String> {
    let word = |program: &str, args: &[&str]| {
        shell::output(&mut shell::command(program, args)).unwrap_or_default().trim().to_owned()
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (date, commit) = (word("date", &["+%Y-%m-%d"]), word("git", &["rev-parse", "--short=12", "HEAD"]));
    let mut text = String::new();
    writeln!(text, "\n- date: {date}, commit {commit}; {processors} processors, {rounds} rounds")?;
    writeln!(text, "- {}\n", summary(section, rows))?;
    writeln!(
        text,
        "| workload | hyperslab, ms | libhdf5, ms | ratio | processor time, ms: hyperslab, libhdf5 | ratio | file size, ratio |"
    )?;
    writeln!(text, "|---|---:|---:|---:|---:|---:|---:|")?;
    for row in rows {
        let [ours, stock, ratio, our_processor, processor, processor_ratio] = row.cells();
        let ratio = if ratio > 1.0 { format!("**{ratio:.2}**") } else { format!("{ratio:.2}") };
        let wrong = if row.same { "" } else { " (wrong)" };
        let size = row.file_ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        writeln!(
            text,
            "| {}{wrong} | {ours:.0} | {stock:.0} | {ratio} | {our_processor:.0}, {processor:.0} | {processor_ratio:.2} | {size} |",
            row.workload.text
        )?;
    }
    Ok(text)
}
