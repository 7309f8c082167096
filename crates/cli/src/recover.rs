//! `hyperslab recover`: what is left of a damaged file.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab::{Loss, LossPart, Outcome, Recovery, Salvaged, SalvagedObject, SalvagedState};
use serde_json::{Value, json};

use crate::open::OpenArguments;
use crate::output;

/// The exit code if something was lost.
const PARTLY: u8 = 1;
/// The exit code if nothing could be saved.
const NOTHING: u8 = 2;

/// What `recover` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code: 0 nothing was lost, 1 something was lost, 2 nothing could be saved.

Examples:
  hyperslab recover damaged.h5 --into saved.h5                   what can be read comes into a new file
  hyperslab recover damaged.h5 --into saved.h5 --format json     with a report for programs")]
pub(crate) struct RecoverArguments {
    /// Save what can be read into a new file; the damaged one stays as it is
    #[arg(long, value_name = "NEW")]
    into: PathBuf,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Do not search for objects that nothing leads to any more
    #[arg(long)]
    no_search: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Lines
    Text,
    /// One JSON document
    Json,
}

/// Saves what is left of a file, and tells what was lost.
pub(crate) fn recover(arguments: &RecoverArguments) -> Result<ExitCode> {
    let recovery = Recovery::new().options(arguments.open.options()).search(!arguments.no_search);
    let salvaged = recovery
        .salvage(&arguments.file, &arguments.into)
        .with_context(|| format!("cannot recover `{}`", arguments.file.display()))?;
    let mut out = output::stdout();
    match arguments.format {
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

/// The report, without what a terminal might take for orders.
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
