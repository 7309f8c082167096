//! Text output of the report of a check.

use std::fmt;

use crate::report::{Finding, Report, Severity};

/// The largest number of leaked ranges of bytes that the displayed check report lists.
const MAX_SHOWN_RANGES: usize = 10;

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fault => "fault",
            Self::Remark => "remark",
        })
    }
}

/// Writes `fault: object header at 0x60: … (object /a)`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity, self.structure)?;
        if let Some(address) = self.address {
            write!(f, " at {address:#x}")?;
        }
        write!(f, ": {}", self.text)?;
        match &self.object {
            Some(path) => write!(f, " (object {path})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        let kept = self.findings.len() as u64;
        let more = self.faults + self.remarks - kept;
        if more > 0 {
            writeln!(f, "… and {more} more findings")?;
        }
        self.summary(f)
    }
}

/// A displayable summary of a check report, without its findings.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a>(pub(crate) &'a Report);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.summary(f)
    }
}

impl Report {
    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match (self.is_sound(), self.unchecked) {
            (false, _) => "NOT SOUND",
            (true, 0) => "sound",
            (true, _) => "no fault found, but not all was checked",
        };
        write!(f, "{state}: {} faults, {} remarks", self.faults, self.remarks)?;
        if self.unchecked > 0 {
            write!(f, ", {} structures not checked", self.unchecked)?;
        }
        writeln!(f)?;
        writeln!(f, "{} objects, {} chunks", self.objects, self.chunks)?;
        writeln!(f, "{} bytes, the end of the file at {:#x}", self.length, self.end)?;
        for (kind, usage) in &self.usage {
            writeln!(f, "  {:<28} {:>12} blocks {:>16} bytes", kind.name(), usage.blocks, usage.bytes)?;
        }
        if self.leaked_heap_objects.blocks > 0 {
            let lost = self.leaked_heap_objects;
            writeln!(
                f,
                "  {:<28} {:>12} objects {:>15} bytes",
                "unused in the global heap", lost.blocks, lost.bytes
            )?;
        }
        if self.leaked.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "  {:<28} {:>12} ranges {:>16} bytes",
            "unaccounted for",
            self.leaked.len(),
            self.leaked_bytes()
        )?;
        for range in self.leaked.iter().take(MAX_SHOWN_RANGES) {
            let bytes = range.end - range.start;
            writeln!(f, "    {:#x} to {:#x}: {bytes} bytes", range.start, range.end)?;
        }
        if let Some(more) = self.leaked.len().checked_sub(MAX_SHOWN_RANGES).filter(|more| *more > 0) {
            writeln!(f, "    … and {more} more")?;
        }
        Ok(())
    }
}
