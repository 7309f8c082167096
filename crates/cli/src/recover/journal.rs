//! `hyperslab recover --show` and `--replay`: the journal beside a file.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use hyperslab::{JournalReport, JournalVerdict, Recovery};
use serde_json::{Value, json};

use super::{Format, NOTHING, PARTLY};
use crate::output;

/// Prints a comparison of a journal with its file. Does not change either file.
pub(super) fn show(file: &Path, journal: Option<&Path>, format: Format) -> Result<ExitCode> {
    let report = Recovery::journal_of(file, journal)?;
    let mut out = output::stdout();
    match (format, &report) {
        (Format::Text, None) => writeln!(out, "no journal with a commit")?,
        (Format::Text, Some(report)) => writeln!(out, "{}", lines(report))?,
        (Format::Json, report) => writeln!(out, "{:#}", document(report.as_ref()))?,
    }
    out.flush()?;
    let is_foreign = report.is_some_and(|report| report.verdict == JournalVerdict::Foreign);
    Ok(if is_foreign { ExitCode::from(PARTLY) } else { ExitCode::SUCCESS })
}

/// Replays a journal into a copy of its file, and checks the copy for faults.
pub(super) fn replay(file: &Path, journal: Option<&Path>, copy: &Path) -> Result<ExitCode> {
    Recovery::replay_into(file, journal, copy)?;
    let report = hyperslab_check::check_path(copy)?;
    let mut out = output::stdout();
    let shown = output::escape(copy.display().to_string().as_bytes());
    match report.faults {
        0 => writeln!(out, "`{shown}` is the file with the commits of the journal: sound")?,
        faults => writeln!(out, "`{shown}` is the file with the commits of the journal: {faults} faults")?,
    }
    out.flush()?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(NOTHING) })
}

fn name_of(verdict: JournalVerdict) -> &'static str {
    match verdict {
        JournalVerdict::Empty => "empty",
        JournalVerdict::Applied => "applied",
        JournalVerdict::Pending => "pending",
        JournalVerdict::Foreign => "foreign",
        _ => "unknown",
    }
}

/// Describes the effect of the journal on the next command that opens its file for writing.
fn next_step(verdict: JournalVerdict) -> &'static str {
    match verdict {
        JournalVerdict::Pending => "the next opening replays the journal",
        JournalVerdict::Foreign => {
            "the next opening for writing sets the journal aside and uses the file as it is; \
             `--replay --into COPY` replays the journal into a copy"
        }
        _ => "the next opening for writing removes the journal",
    }
}

fn lines(report: &JournalReport) -> String {
    let found = &report.comparison;
    let mut lines = vec![
        output::escape(report.to_string().as_bytes()),
        format!(
            "commits: {}; the last one leaves a file of {} bytes",
            report.commits, report.committed_length
        ),
        format!(
            "file: {} bytes; at least {} when it was last synced",
            found.file_length, found.synced_length
        ),
        format!(
            "sectors: {} as after the last commit, {} as before, {} with other contents",
            found.committed, found.earlier, found.unknown
        ),
    ];
    lines.push(match found.extents {
        0 => "new space: not compared".to_owned(),
        extents => format!("new space: {extents} extents, {} with other contents", found.changed_extents),
    });
    if !report.unlinked.is_empty() {
        lines.push(format!("unlinked objects to be freed: {}", report.unlinked.len()));
    }
    lines.push(next_step(report.verdict).to_owned());
    lines.join("\n")
}

fn document(report: Option<&JournalReport>) -> Value {
    let journal = report.map(|report| {
        let found = &report.comparison;
        json!({
            "name": report.name,
            "verdict": name_of(report.verdict),
            "commits": report.commits,
            "committed_length": report.committed_length,
            "file_length": found.file_length,
            "synced_length": found.synced_length,
            "sectors": found.sectors,
            "committed_sectors": found.committed,
            "earlier_sectors": found.earlier,
            "unknown_sectors": found.unknown,
            "first_unknown": found.first_unknown,
            "extents": found.extents,
            "changed_extents": found.changed_extents,
            "first_changed_extent": found.first_changed_extent,
            "unlinked": report.unlinked,
        })
    });
    json!({"schema": 1, "journal": journal})
}
