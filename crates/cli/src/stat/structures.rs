//! The bytes of a file by structure, and unused bytes.

use std::io::Write as _;

use anyhow::Result;
use hyperslab_check::{BlockKind, Report};
use hyperslab_exact::to_u64;
use serde_json::{Map, Value as Json, json};

use super::sizes::sum;
use crate::output::{self, ERROR, FAINT, bytes, styled};
use crate::sections::share;

/// The width of the bar column in the table of a file's structures.
const BAR_COLUMNS: usize = 24;

/// The bytes of a file by structure, such as object headers and raw data.
#[derive(Debug)]
pub(super) struct Structures {
    report: Report,
    /// The names of the structures, with their blocks and bytes, in descending order of bytes.
    lines: Vec<(&'static str, u64, u64)>,
}

/// The unused bytes of a file, by cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waste {
    /// The bytes that free-space managers track. `None` without a check.
    pub(super) free: Option<u64>,
    pub(super) unaccounted: Option<u64>,
    pub(super) unused_in_heap: Option<u64>,
    /// The stored bytes of elements beyond the extent.
    pub(super) overhang: u64,
}

impl Structures {
    /// Lists the structures of a file of `length` bytes. The report may cover more bytes than the
    /// file has, because the member files can lie far from each other in the address space.
    pub(super) fn new(mut report: Report, length: u64) -> Self {
        if report.length > length {
            report.leaked.clear();
            report.end = length;
            // If the base address lies beyond the end of the file, no bytes are left.
            report.length = length.saturating_sub(report.base);
        }
        let used = report.usage.iter().map(|(kind, usage)| (kind.name(), usage.blocks, usage.bytes));
        let ranges = to_u64(report.leaked.len());
        let after_end = report.length - report.end.min(report.length);
        let rest = [
            ("unaccounted for", ranges, report.leaked_bytes()),
            ("user block", 1, report.base),
            ("after the end of file", 1, after_end),
        ];
        let mut lines: Vec<_> = used.chain(rest).filter(|(_, _, bytes)| *bytes > 0).collect();
        lines.sort_by_key(|(_, _, bytes)| std::cmp::Reverse(*bytes));
        Self { report, lines }
    }

    pub(super) fn report(&self) -> &Report {
        &self.report
    }

    pub(super) fn json(&self) -> Json {
        let line = |(name, blocks, bytes): &(&str, u64, u64)| {
            ((*name).to_owned(), json!({ "blocks": blocks, "bytes": bytes }))
        };
        Json::Object(self.lines.iter().map(line).collect::<Map<_, _>>())
    }

    pub(super) fn print(&self, out: &mut output::Output) -> Result<()> {
        let length = sum(self.report.length, self.report.base);
        output::heading(out, "bytes by structure")?;
        for (name, blocks, size) in &self.lines {
            let part = share(*size, length);
            write!(out, "    {name:<26}{:>10}  {:>8}  ", bytes(*size), tenths(part))?;
            output::bar_of(out, part, BAR_COLUMNS)?;
            let noun = if *name == "unaccounted for" { "range" } else { "block" };
            styled(out, FAINT, &format!("  {}", output::count(*blocks, noun)))?;
            writeln!(out)?;
        }
        if !self.report.is_sound() {
            let faults = output::count(self.report.faults, "fault");
            styled(out, ERROR, &format!("    the file has {faults}; `hyperslab check` lists them"))?;
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Waste {
    pub(super) fn of(report: Option<&Report>, overhang: u64) -> Self {
        Self {
            free: report.map(|report| report.usage_of(BlockKind::Free).bytes),
            unaccounted: report.map(Report::leaked_bytes),
            unused_in_heap: report.map(|report| report.leaked_heap_objects.bytes),
            overhang,
        }
    }

    fn parts(self) -> [(&'static str, u64, &'static str); 4] {
        [
            ("free space", self.free.unwrap_or(0), "available for new data"),
            ("unaccounted for", self.unaccounted.unwrap_or(0), "`hyperslab repack` removes it"),
            ("unused in heaps", self.unused_in_heap.unwrap_or(0), "variable-length data without references"),
            (
                "chunk overhang",
                self.overhang,
                "chunk elements beyond the extent; estimated for filtered chunks",
            ),
        ]
    }

    pub(super) fn json(self) -> Json {
        json!({
            "free": self.free,
            "unaccounted": self.unaccounted,
            "unused_in_heap": self.unused_in_heap,
            "overhang": self.overhang,
        })
    }

    pub(super) fn print(self, out: &mut output::Output, length: u64) -> Result<()> {
        let parts = self.parts();
        if parts.iter().all(|(_, size, _)| *size == 0) {
            return Ok(());
        }
        output::heading(out, "unused bytes")?;
        for (name, size, why) in parts.iter().filter(|(_, size, _)| *size > 0) {
            write!(out, "    {name:<26}{:>10}  {:>8}  ", bytes(*size), tenths(share(*size, length)))?;
            styled(out, FAINT, why)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Returns a share in percent with one decimal.
fn tenths(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "<0.1 %".into() } else { format!("{:.1} %", share * 100.0) }
}
