//! `hyperslab check`: the check of files for errors.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyperslab_check::{CheckOptions, Finding, Report, Severity};
use hyperslab_exact::{sum, to_u64};
use serde_json::json;

use crate::open::OpenArguments;
use crate::output;

/// The exit code of the command `check` if a file has a fault.
const UNSOUND: u8 = 1;
/// The exit code of the command `check` if a file cannot be opened.
const UNREADABLE: u8 = 2;
/// The exit code of the command `check` if it found no fault, but could not check a part of a file.
const INCOMPLETE: u8 = 3;

/// Returns the more serious of two exit codes of the command `check`.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |code: u8| [0, INCOMPLETE, UNSOUND, UNREADABLE].iter().position(|known| *known == code);
    if rank(one) >= rank(other) { one } else { other }
}

/// The arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit code: 0 if all files are sound; 1 if a file has faults; 2 if a file cannot be opened; 3 if no fault was found, but a part of a
file could not be checked (because of a limit or a missing filter): the lines with `not checked` name these parts.")]
pub(crate) struct CheckArguments {
    /// Print a JSON document: a list with one report for each file
    #[arg(long)]
    json: bool,
    /// Print only faults. Print nothing for a sound file
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Also decode all chunks, to find chunks that their filters cannot decode
    #[arg(long)]
    data: bool,
    #[command(flatten)]
    open: OpenArguments,
    /// The files
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Runs the command `check` on files. Returns the exit code of the worst file.
pub(crate) fn run(arguments: &CheckArguments) -> Result<ExitCode> {
    let mut out = output::stdout();
    let mut worst = 0;
    let mut documents = Vec::new();
    for file in &arguments.files {
        let name = crate::remote::shown(file);
        let (code, document) = match check(arguments, file) {
            Ok(report) => {
                if !arguments.json {
                    show(&mut out, arguments, &name, &report)?;
                }
                let code = match (report.is_sound(), report.unchecked) {
                    (false, _) => UNSOUND,
                    (true, 0) => 0,
                    (true, _) => INCOMPLETE,
                };
                (code, report.to_json())
            }
            Err(error) => {
                let error = output::chain(error.as_ref());
                if !arguments.json {
                    out.flush()?;
                    // If writing to standard error fails, the exit code still reports the error.
                    output::complain(format_args!("hyperslab: cannot check `{name}`: {error}"));
                }
                (UNREADABLE, json!({"schema": 1, "name": name, "error": error}))
            }
        };
        worst = worse(worst, code);
        if arguments.json {
            documents.push(document);
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &documents)?;
        writeln!(out)?;
    }
    out.flush()?;
    arguments.open.report();
    Ok(ExitCode::from(worst))
}

fn check(arguments: &CheckArguments, file: &Path) -> Result<Report> {
    let _progress = arguments.open.progress("checking");
    let driver = crate::remote::find_driver(arguments.open.options(), file)?;
    let options = CheckOptions { decode_chunks: arguments.data, ..CheckOptions::default() };
    Ok(hyperslab_check::check(driver, &options)?)
}

fn show(out: &mut output::Output, arguments: &CheckArguments, name: &str, report: &Report) -> Result<()> {
    let several = arguments.files.len() > 1;
    if arguments.quiet {
        let prefix = if several { format!("{name}: ") } else { String::new() };
        for finding in report.fault_findings() {
            line(out, &prefix, finding)?;
        }
        return Ok(());
    }
    if several {
        writeln!(out, "{}:", output::escape(name.as_bytes()))?;
    }
    for finding in &report.findings {
        line(out, "", finding)?;
    }
    let all = sum("number of findings", [report.faults, report.remarks])?;
    let more =
        all.checked_sub(to_u64(report.findings.len())).context("more findings are listed than counted")?;
    if more > 0 {
        writeln!(out, "… and {more} more findings")?;
    }
    write!(out, "{}", report.summary_only())?;
    Ok(())
}

fn line(out: &mut output::Output, prefix: &str, finding: &Finding) -> Result<()> {
    let style = match finding.severity {
        Severity::Fault => output::ERROR,
        Severity::Remark => output::FAINT,
    };
    let text = output::escape(format!("{prefix}{finding}").as_bytes());
    output::styled(out, style, &text)?;
    writeln!(out)?;
    Ok(())
}
