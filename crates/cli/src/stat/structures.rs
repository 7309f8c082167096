//! What the bytes of a file are: each structure's share, and what nothing has.

use std::io::Write as _;

use anyhow::Result;
use hyperslab_check::{Kind, Report};
use serde_json::{Map, Value as Json, json};

use crate::output::{self, ERROR, FAINT, bytes, styled};
use crate::sections::share;

/// Columns of a bar.
const BAR: usize = 24;

/// The account of all bytes.
#[derive(Debug)]
pub(super) struct Structures {
    report: Report,
    /// The structures with their blocks and bytes, most bytes first.
    lines: Vec<(&'static str, u64, u64)>,
}

/// What of a file is of no use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waste {
    /// What free-space managers hold ready; nothing is known without a check.
    pub(super) free: Option<u64>,
    pub(super) unaccounted: Option<u64>,
    pub(super) unused_in_heap: Option<u64>,
    /// Stored elements beyond the extent.
    pub(super) overhang: u64,
}

impl Structures {
    /// The account of a file that takes `length` bytes. Where members of it lie far apart, what is between them is nobody's, and
    /// no bytes of the file.
    pub(super) fn new(mut report: Report, length: u64) -> Self {
        if report.length > length {
            report.leaked.clear();
            report.end = length;
            report.length = length.saturating_sub(report.base);
        }
        let used = report.usage.iter().map(|(kind, usage)| (kind.name(), usage.blocks, usage.bytes));
        let ranges = u64::try_from(report.leaked.len()).unwrap_or(u64::MAX);
        let behind = report.length.saturating_sub(report.end.min(report.length));
        let rest = [
            ("unaccounted for", ranges, report.leaked_bytes()),
            ("user block", 1, report.base),
            ("behind the end", 1, behind),
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
        let length = self.report.length.saturating_add(self.report.base);
        output::heading(out, "bytes by structure")?;
        for (name, blocks, size) in &self.lines {
            let part = share(*size, length);
            write!(out, "    {name:<26}{:>10}  {:>8}  ", bytes(*size), tenths(part))?;
            output::bar_of(out, part, BAR)?;
            let noun = if *name == "unaccounted for" { "range" } else { "block" };
            styled(out, FAINT, &format!("  {}", output::count(*blocks, noun)))?;
            writeln!(out)?;
        }
        if !self.report.is_sound() {
            let faults = output::count(self.report.faults, "fault");
            styled(out, ERROR, &format!("    the file has {faults}, which `hyperslab check` tells"))?;
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Waste {
    pub(super) fn of(report: Option<&Report>, overhang: u64) -> Self {
        Self {
            free: report.map(|report| report.usage_of(Kind::Free).bytes),
            unaccounted: report.map(Report::leaked_bytes),
            unused_in_heap: report.map(|report| report.leaked_heap_objects.bytes),
            overhang,
        }
    }

    fn parts(self) -> [(&'static str, u64, &'static str); 4] {
        [
            ("free space", self.free.unwrap_or(0), "kept for what is written next"),
            ("unaccounted for", self.unaccounted.unwrap_or(0), "`hyperslab repack` leaves it out"),
            ("unused in heaps", self.unused_in_heap.unwrap_or(0), "contents that nothing refers to"),
            (
                "chunks' overhang",
                self.overhang,
                "elements of chunks beyond the extent; an estimate where they pass filters",
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
        let wasted = parts.iter().fold(0_u64, |sum, (_, size, _)| sum.saturating_add(*size));
        if wasted == 0 {
            return Ok(());
        }
        output::heading(out, "of no use")?;
        for (name, size, why) in parts.iter().filter(|(_, size, _)| *size > 0) {
            write!(out, "    {name:<26}{:>10}  {:>8}  ", bytes(*size), tenths(share(*size, length)))?;
            styled(out, FAINT, why)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A share in percent, to the tenth.
fn tenths(share: f64) -> String {
    if share > 0.0 && share < 0.0005 { "<0.1 %".into() } else { format!("{:.1} %", share * 100.0) }
}
