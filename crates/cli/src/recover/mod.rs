//! `hyperslab recover`: repairs a file that was not closed, or salvages a damaged file.

mod journal;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use hyperslab::vfd::is_same_file;
use hyperslab::{
    ErrorKind, JournalRepair, Loss, LossPart, Outcome, Recovery, Repaired, Salvaged, SalvagedObject,
    SalvagedState,
};
use hyperslab_check::{CheckOptions, Finding, Report};
use serde_json::{Value, json};

use crate::open::OpenArguments;
use crate::output;
use crate::repack::new_file;

/// The exit code of `recover` if a part of the file was lost.
const PARTLY: u8 = 1;
/// The exit code of `recover` if nothing could be recovered.
const NOTHING: u8 = 2;

/// The arguments of `recover`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --into, the command repairs the file in place. It removes the traces of a writer that ended without closing the file: it
replays the journal, clears the status flags, and corrects the end of file that the superblock states. Then it checks the file.

A journal does not belong to the file if another program replaced or changed the file since. Such a journal is set aside as
FILE.hjournal.stale-1. --show prints the contents of a journal, and whether it belongs to the file.

Exit code: 0 if the file is sound, or nothing was lost; 1 if the file has faults, or a part was lost; 2 if nothing could be done.

Examples:
  hyperslab recover unclosed.h5                                  replays the journal, clears the status flags
  hyperslab recover unclosed.h5 --show                           compares the journal with the file
  hyperslab recover f.h5 --journal f.h5.hjournal.stale-1 --replay --into copy.h5
  hyperslab recover damaged.h5 --into saved.h5                   copies the readable data to a new file
  hyperslab recover damaged.h5 --into saved.h5 --json            the same, with a report as JSON")]
pub(crate) struct RecoverArguments {
    /// Copy the readable data to a new file, and leave the damaged file unchanged
    #[arg(long, value_name = "NEW")]
    into: Option<PathBuf>,
    /// Remove the journal instead of replaying it, whatever it contains
    #[arg(long, conflicts_with = "into")]
    discard_journal: bool,
    /// Compare the journal with the file and print the result. Change nothing
    #[arg(long, conflicts_with_all = ["into", "discard_journal"])]
    show: bool,
    /// Replay the journal into a copy of the file at --into, even if it does not belong to the file
    #[arg(long, requires = "into", conflicts_with_all = ["format", "json", "no_search"])]
    replay: bool,
    /// The journal, for --show and --replay [default: the one beside the file]
    #[arg(long, value_name = "PATH", conflicts_with = "discard_journal")]
    journal: Option<PathBuf>,
    /// With --into: replace an existing file. Without --into: repair the file even if locking is
    /// off or a process has the file open for writing. Use it only if you know that no process
    /// writes the file
    #[arg(long)]
    force: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Do not search for objects that no link leads to
    #[arg(long)]
    no_search: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines of text
    Text,
    /// One JSON document
    Json,
}

impl RecoverArguments {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Runs the command `recover`: repairs or salvages a file.
pub(crate) fn recover(arguments: &RecoverArguments) -> Result<ExitCode> {
    let (file, journal) = (&arguments.file, arguments.journal.as_deref());
    let outcome = match &arguments.into {
        _ if arguments.show => journal::show(file, journal, arguments.format()),
        _ if journal.is_some() && !arguments.replay => {
            Err(anyhow::anyhow!("--journal requires --show or --replay"))
        }
        Some(copy) if arguments.replay => journal::replay(file, journal, copy),
        Some(target) => salvage(arguments, target),
        None => repair(arguments),
    };
    outcome.with_context(|| format!("cannot recover `{}`", arguments.file.display())).or_else(|error| {
        output::complain(format_args!("hyperslab: {}", output::chain(error.as_ref())));
        Ok(ExitCode::from(NOTHING))
    })
}

/// Repairs a file in place, then checks it for faults.
fn repair(arguments: &RecoverArguments) -> Result<ExitCode> {
    let mut recovery = Recovery::new().discard_journal(arguments.discard_journal).unlocked(arguments.force);
    if let Some(locking) = arguments.open.locking() {
        recovery = recovery.locking(locking);
    }
    let repaired = recovery.repair(&arguments.file);
    let is_misuse = |error: &hyperslab::Error| error.kind() == ErrorKind::Misuse && !arguments.force;
    let mut repaired = match repaired {
        Err(error) if is_misuse(&error) => {
            return Err(anyhow::Error::from(error).context("--force repairs the file anyway"));
        }
        repaired => repaired?,
    };
    let check = || {
        let driver = arguments.open.options().find_driver(&arguments.file)?;
        anyhow::Ok(hyperslab_check::check(driver, &CheckOptions::default())?)
    };
    let mut report = check()?;
    let is_truncated = repaired.end.is_some_and(|end| end.is_truncated());
    if is_truncated && !report.is_sound() && report.fault_findings().all(is_about_the_end) {
        // No block lies after the end of the file, so the superblock can state the real end.
        repaired.end = recovery.cut_end(true).repair(&arguments.file)?.end;
        report = check()?;
    }
    let mut out = output::stdout();
    match arguments.format() {
        Format::Text => {
            let repaired = repaired.to_string();
            repaired.lines().try_for_each(|line| writeln!(out, "{}", output::escape(line.as_bytes())))?;
            if report.is_sound() && report.unchecked > 0 {
                writeln!(
                    out,
                    "no fault found, but {} parts could not be checked: `check` lists them",
                    report.unchecked
                )?;
            } else if report.is_sound() {
                writeln!(out, "sound")?;
            } else {
                let faults = report.faults;
                writeln!(out, "{faults} faults: `check` lists them, `--into NEW` copies the readable data")?;
            }
        }
        Format::Json => writeln!(out, "{:#}", repaired_document(&repaired, &report))?,
    }
    out.flush()?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(PARTLY) })
}

/// Returns true if a fault only reports that the file is shorter than its superblock states.
fn is_about_the_end(finding: &Finding) -> bool {
    finding.structure == "superblock" && finding.text.contains("end of the file")
}

fn repaired_document(repaired: &Repaired, report: &Report) -> Value {
    let journal = repaired.journal.as_ref().map(|journal| match journal {
        JournalRepair::Replayed => "replayed",
        JournalRepair::Removed => "removed",
        JournalRepair::Discarded => "discarded",
        JournalRepair::SetAside { .. } => "set aside",
        _ => "unknown",
    });
    let set_aside = match &repaired.journal {
        Some(JournalRepair::SetAside { name, .. }) => Some(name),
        _ => None,
    };
    let end = repaired
        .end
        .map(|end| json!({"stated": end.stated, "length": end.length, "corrected": end.corrected}));
    json!({
        "schema": 1,
        "journal": journal,
        "set_aside": set_aside,
        "status_flags": repaired.status_flags.map(|flags| if flags.swmr { "swmr" } else { "write" }),
        "end": end,
        "faults": report.faults,
        "unchecked": report.unchecked,
    })
}

/// Copies the readable parts of a damaged file to a new file.
fn salvage(arguments: &RecoverArguments, target: &Path) -> Result<ExitCode> {
    let progress = arguments.open.progress("salvaging");
    let recovery = Recovery::new().options(arguments.open.options()).search(!arguments.no_search);
    if is_same_file(&arguments.file, target) {
        bail!("`{}` is the damaged file: name another output file", target.display());
    }
    if !arguments.force && target.symlink_metadata().is_ok() {
        bail!("`{}` exists: name another file, or replace it with --force", target.display());
    }
    let made = new_file(target)?;
    let salvaged = recovery.salvage(&arguments.file, made.path())?;
    let cannot = || format!("cannot write `{}`", target.display());
    if salvaged.outcome() == Outcome::Nothing && target.exists() {
        // Do not replace an existing file by an empty file.
        made.close().with_context(cannot)?;
    } else if arguments.force {
        made.persist(target).map_err(|error| error.error).with_context(cannot)?;
    } else {
        made.persist_noclobber(target).map_err(|error| error.error).with_context(cannot)?;
    }
    drop(progress);
    let mut out = output::stdout();
    match arguments.format() {
        Format::Text => writeln!(out, "{}", lines(&salvaged))?,
        Format::Json => writeln!(out, "{:#}", document(&salvaged))?,
    }
    out.flush()?;
    arguments.open.report();
    Ok(match salvaged.outcome() {
        Outcome::Whole => ExitCode::SUCCESS,
        Outcome::Partly => ExitCode::from(PARTLY),
        Outcome::Nothing => ExitCode::from(NOTHING),
    })
}

/// Returns the report of a salvage as text, with escapes for characters that are unsafe for
/// terminals.
fn lines(salvaged: &Salvaged) -> String {
    let text = salvaged.to_string();
    text.lines().map(|line| output::escape(line.as_bytes())).collect::<Vec<_>>().join("\n")
}

fn document(salvaged: &Salvaged) -> Value {
    let outcome = match salvaged.outcome() {
        Outcome::Whole => "whole",
        Outcome::Partly => "partly",
        Outcome::Nothing => "nothing",
    };
    json!({
        "schema": 1,
        "outcome": outcome,
        "whole": salvaged.count(SalvagedState::Whole),
        "partly": salvaged.count(SalvagedState::Partly),
        "lost": salvaged.count(SalvagedState::Lost),
        "objects": salvaged.objects.iter().map(object).collect::<Vec<_>>(),
    })
}

fn object(object: &SalvagedObject) -> Value {
    let chunks = object
        .chunks
        .map(|tally| json!({"copied": tally.copied, "damaged": tally.damaged, "possible": tally.possible}));
    json!({
        "path": object.path,
        "kind": object.kind.map(hyperslab::ObjectKind::name),
        "address": object.address,
        "state": object.state().name(),
        "chunks": chunks,
        "losses": object.losses.iter().map(loss).collect::<Vec<_>>(),
        "more_losses": object.more_losses,
    })
}

fn loss(loss: &Loss) -> Value {
    let mut entry = json!({
        "structure": loss.structure,
        "address": loss.address,
        "why": loss.why,
    });
    let part = match &loss.part {
        LossPart::Object => json!({"part": "object"}),
        LossPart::Links => json!({"part": "links"}),
        LossPart::Attributes => json!({"part": "attributes"}),
        LossPart::Attribute(name) => json!({"part": "attribute", "name": name}),
        LossPart::Comment => json!({"part": "comment"}),
        LossPart::Elements => json!({"part": "elements"}),
        LossPart::Row { first, count } => json!({"part": "elements", "first": first, "count": count}),
        LossPart::Region(region) => {
            json!({"part": "elements", "start": region.start.to_vec(), "shape": region.count.to_vec()})
        }
        LossPart::Contents => json!({"part": "contents"}),
        _ => json!({"part": "block"}),
    };
    if let (Value::Object(entry), Value::Object(part)) = (&mut entry, part) {
        entry.extend(part);
    }
    entry
}
