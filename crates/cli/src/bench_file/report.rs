//! The report of `bench-file`, with its measurements and estimates.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use hyperslab::Dataset;
use serde_json::{Value as Json, json};

use super::access::Access;
use super::estimate::{Candidate, Layout, Model};
use super::measure::{Measurement, Request};
use crate::ls::dataset::{layout_name, shape, sizes};
use crate::output::{self, DATASET, DATATYPE, FAINT, PLAIN, VALUE, bytes, escape, heading, styled};
use crate::sections::{filter_name, share};

/// The smallest improvement for which `bench-file` recommends another layout: the present cost
/// divided by the cost of the other layout.
const MIN_IMPROVEMENT: f64 = 1.3;

/// The largest number of alternative layouts in a report of `bench-file`.
const MAX_OTHERS: usize = 4;

/// The report of `bench-file` on one dataset: its storage, measurements and estimates.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) path: String,
    pub(super) about: String,
    pub(super) datatype: String,
    pub(super) rank: usize,
    pub(super) stored: u64,
    pub(super) logical: u64,
    pub(super) element: u64,
    pub(super) measurements: Vec<Measurement>,
    pub(super) accesses: Vec<Access>,
    pub(super) present: Option<Candidate>,
    /// Other layouts, by ascending cost.
    pub(super) others: Vec<Candidate>,
}

impl Report {
    /// Creates the report of `bench-file` on a dataset, without measurements.
    pub(super) fn new(path: &str, dataset: &Dataset, stored: u64, wanted: &[Access]) -> Self {
        let dims = dataset.dataspace().dims().to_vec();
        let element = u64::from(dataset.datatype().size);
        let accesses = Access::all(dims.len());
        let chunked = |chunking: hyperslab::Chunking| Layout::Chunked(chunking.shape);
        let present = match dataset.layout() {
            hyperslab::Layout::Chunked(chunking) => Some(chunked(chunking)),
            hyperslab::Layout::Contiguous { .. } if dataset.external_files().is_empty() => {
                Some(Layout::Contiguous)
            }
            _ => None,
        };
        let present = present.filter(|_| !dims.is_empty() && dataset.size().is_ok_and(|count| count > 0));
        // The best chunks for single points are so small that no other access profits from them.
        let usual: Vec<Access> = accesses.iter().copied().filter(|access| *access != Access::Point).collect();
        let wanted = if wanted.is_empty() { &usual } else { wanted };
        let model = Model { dims: &dims, size: element, accesses: &accesses, wanted };
        let mut others = if present.is_some() { model.ranked() } else { Vec::new() };
        others.retain(|other| Some(&other.layout) != present.as_ref());
        let present = present.map(|layout| model.candidate(layout));
        others.truncate(MAX_OTHERS);
        Self {
            path: format!("/{}", path.trim_matches('/')),
            about: about(dataset),
            datatype: escape(output::cut(&dataset.datatype().to_string(), 36).as_bytes()),
            rank: dims.len(),
            stored,
            // Saturates, because the size is only printed.
            logical: dataset.size().unwrap_or(u64::MAX).saturating_mul(element),
            element,
            measurements: Vec::new(),
            accesses,
            present,
            others,
        }
    }

    /// Returns the best alternative layout of the report if its cost is low enough for a
    /// recommendation.
    fn better(&self) -> Option<&Candidate> {
        let present = self.present.as_ref()?;
        self.others.first().filter(|best| best.cost * MIN_IMPROVEMENT < present.cost)
    }

    /// Returns the `hyperslab repack` command that stores the dataset with the recommended layout.
    fn command(&self, file: &Path) -> Option<String> {
        let Layout::Chunked(shape) = &self.better()?.layout else { return None };
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        let pattern: String = self.path.chars().flat_map(pattern).collect();
        let layout = quoted(&format!("{pattern}=chunked:{}", shape.join("x")));
        Some(format!("hyperslab repack {} new.h5 --layout {layout}", quoted(&file.display().to_string())))
    }

    pub(super) fn json(&self, file: &Path) -> Json {
        let candidate = |candidate: &Candidate| {
            let read = self.accesses.iter().zip(&candidate.read);
            json!({
                "chunk_shape": match &candidate.layout { Layout::Chunked(shape) => json!(shape), Layout::Contiguous => Json::Null },
                "read_per_byte_wanted": read.map(|(access, read)| json!({ "access": access.json(), "bytes": read })).collect::<Json>(),
                "cost": candidate.cost,
            })
        };
        json!({
            "path": self.path,
            "stored_size": self.stored,
            "logical_size": self.logical,
            "measured": self.measurements.iter().map(Measurement::json).collect::<Json>(),
            "estimated": {
                "present": self.present.as_ref().map(candidate),
                "others": self.others.iter().map(candidate).collect::<Json>(),
            },
            "recommended": self.command(file),
        })
    }

    pub(super) fn print(&self, file: &Path, out: &mut output::Output) -> Result<()> {
        styled(out, DATASET, &escape(self.path.as_bytes()))?;
        write!(out, "  ")?;
        styled(out, DATATYPE, &self.datatype)?;
        let sizes = format!("  {}", self.about);
        styled(out, PLAIN, &sizes)?;
        let kept = format!("  {} in the file, {} of elements", bytes(self.stored), bytes(self.logical));
        styled(out, FAINT, &kept)?;
        writeln!(out)?;
        self.print_measured(out)?;
        self.print_estimated(out)?;
        self.print_recommended(file, out)
    }

    fn print_measured(&self, out: &mut output::Output) -> Result<()> {
        heading(out, "measured")?;
        let names: Vec<String> = self.measurements.iter().map(|measured| self.name(measured)).collect();
        let widest = names.iter().map(|name| output::width(name)).max().unwrap_or(0).max(20);
        let head = format!(
            "    {:widest$}  {:>9}  {:>10}  {:>14}  {:>14}  {:>12}",
            "", "requests", "each", "elements", "of the file", "read/wanted"
        );
        styled(out, FAINT, &head)?;
        writeln!(out)?;
        for (measured, name) in self.measurements.iter().zip(names) {
            let gap = " ".repeat(widest - output::width(&name));
            write!(out, "    {name}{gap}  {:>9}  {:>10}  ", measured.requests, short(measured.each()))?;
            styled(out, VALUE, &format!("{:>12}/s", bytes(measured.rate(measured.wanted))))?;
            let read = format!("{:.2}×", share(measured.read, measured.wanted));
            writeln!(out, "  {:>12}/s  {read:>12}", bytes(measured.rate(measured.read)))?;
        }
        for measured in &self.measurements {
            if let Some(reading) = measured.reading {
                let part = reading.as_secs_f64() / measured.time.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
                let line = format!(
                    "    single chunks: {part:.0} % of the time is reading, the rest is decoding and copying"
                );
                styled(out, FAINT, &line)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn name(&self, measured: &Measurement) -> String {
        match measured.request {
            Request::Chunk => "single chunks".into(),
            Request::Access(Access::Whole) if measured.complete => "whole".into(),
            Request::Access(Access::Whole) => "whole, until time ran out".into(),
            Request::Access(Access::Point) => "single elements".into(),
            Request::Access(access) => format!("slices {}", access.index(self.rank)),
        }
    }

    fn print_estimated(&self, out: &mut output::Output) -> Result<()> {
        let Some(present) = &self.present else { return Ok(()) };
        heading(out, "estimated: bytes read and decoded per wanted byte")?;
        let lines: Vec<(&Candidate, String)> = std::iter::once((present, " (now)"))
            .chain(self.others.iter().map(|other| (other, "")))
            .map(|(candidate, now)| (candidate, format!("{}{now}", name(&candidate.layout))))
            .collect();
        let widest = lines.iter().map(|(_, name)| output::width(name)).max().unwrap_or(0);
        let titles: Vec<String> = self.accesses.iter().map(|access| title(*access, self.rank)).collect();
        let widths: Vec<usize> = titles.iter().map(|title| output::width(title).max(8)).collect();
        write!(out, "    {}", " ".repeat(widest))?;
        let mut head = format!("  {:>10}", "chunk");
        for (title, width) in titles.iter().zip(&widths) {
            head.push_str(&format!("  {title:>width$}"));
        }
        styled(out, FAINT, &format!("{head}  {:>8}", "cost"))?;
        writeln!(out)?;
        for (candidate, name) in lines {
            let gap = " ".repeat(widest - output::width(&name));
            write!(out, "    {name}{gap}  {:>10}", self.chunk_bytes(&candidate.layout))?;
            for (read, width) in candidate.read.iter().zip(&widths) {
                write!(out, "  {:>width$}", times(*read))?;
            }
            writeln!(out, "  {:>8}", times(candidate.cost))?;
        }
        Ok(())
    }

    fn chunk_bytes(&self, layout: &Layout) -> String {
        match layout {
            Layout::Contiguous => String::new(),
            Layout::Chunked(shape) => {
                // Saturates, because the size is only printed.
                bytes(shape.iter().fold(self.element, |bytes, side| bytes.saturating_mul(*side)))
            }
        }
    }

    fn print_recommended(&self, file: &Path, out: &mut output::Output) -> Result<()> {
        let Some(present) = &self.present else { return Ok(()) };
        writeln!(out)?;
        match (self.command(file), self.others.first()) {
            (Some(command), Some(best)) => {
                let times = present.cost / best.cost;
                writeln!(
                    out,
                    "Chunks of {} would be {times:.1} times as fast, by estimate:",
                    name(&best.layout)
                )?;
                write!(out, "    ")?;
                styled(out, VALUE, &escape(command.as_bytes()))?;
                writeln!(out)?;
            }
            _ => writeln!(out, "No layout that was tried is much faster, by estimate.")?,
        }
        Ok(())
    }
}

/// Returns the shape, the layout and the filters of a dataset as text.
fn about(dataset: &Dataset) -> String {
    let layout = dataset.layout();
    let chunk = dataset.sparse().chunking().map(|chunking| chunking.shape);
    let chunk = chunk.or_else(|| dataset.chunking().map(|chunking| chunking.shape));
    let mut words = format!("{} · {}", shape(&dataset.dataspace()), layout_name(&layout));
    if let Some(chunk) = chunk {
        words.push_str(&format!(" {}", sizes(&chunk)));
    }
    for filter in dataset.filters() {
        words.push_str(&format!(" + {}", filter_name(&filter)));
    }
    words
}

fn name(layout: &Layout) -> String {
    match layout {
        Layout::Contiguous => "contiguous".into(),
        Layout::Chunked(shape) => sizes(shape),
    }
}

fn title(access: Access, rank: usize) -> String {
    match access {
        Access::Whole => "whole".into(),
        Access::Point => "element".into(),
        Access::Slice(_) => access.index(rank),
    }
}

/// Returns a cost factor as text with a times sign, such as `1.0×`, `25×` or `3e6×`.
fn times(number: f64) -> String {
    match number {
        number if number < 9.95 => format!("{number:.1}×"),
        number if number < 99_999.5 => format!("{number:.0}×"),
        number => format!("{number:.0e}×"),
    }
}

/// Returns a duration as text in seconds, milliseconds or microseconds.
fn short(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds if seconds >= 1e-3 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{:.1} µs", seconds * 1e6),
    }
}

/// Returns a character of a path, escaped for the path pattern of the option `--layout`. Replaces
/// an equals sign by `?`, because an equals sign ends the pattern.
fn pattern(character: char) -> Vec<char> {
    match character {
        '*' | '?' | '\\' => vec!['\\', character],
        '=' => vec!['?'],
        _ => vec![character],
    }
}

/// Quotes a word for the shell, if necessary.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:=,@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_shell() {
        assert_eq!(quoted("/a/b=chunked:3x4"), "/a/b=chunked:3x4");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        let path: String = "/a*b=c".chars().flat_map(pattern).collect();
        assert_eq!(path, "/a\\*b?c");
    }

    #[test]
    fn numbers() {
        assert_eq!([1.0, 9.94, 9.96, 1234.5, 2.5e6].map(times), ["1.0×", "9.9×", "10×", "1234×", "2e6×"]);
        let times = [3, 4_500, 2_000_000, 1_500_000_000].map(Duration::from_nanos).map(short);
        assert_eq!(times, ["0.0 µs", "4.5 µs", "2.00 ms", "1.50 s"]);
    }
}
