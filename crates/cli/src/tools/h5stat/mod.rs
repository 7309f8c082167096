//! `h5stat`: statistics of the objects and the metadata of a file.

mod arguments;
mod datatypes;
mod print;
mod spread;
mod survey;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use hyperslab::OpenOptions;
use hyperslab_check::{CheckOptions, Report};

use self::arguments::H5statArguments;
use self::print::Statistics;
use self::survey::Survey;
use crate::output::complain;

const HELP: &str = include_str!("help.txt");

/// Runs the tool h5stat.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5statArguments::parse(arguments)?;
    let mut out = crate::output::tool_stdout();
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        writeln!(out, "h5stat: Version {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = &arguments.file else {
        out.write_all(HELP.as_bytes())?;
        out.flush()?;
        bail!("no file is given");
    };
    writeln!(out, "Filename: {}", path.display())?;
    out.flush()?;
    let opened = crate::remote::open(OpenOptions::new(), path);
    let file = opened.with_context(|| format!("unable to open file \"{}\"", path.display()))?;
    let survey = Survey::of(&file, &arguments)
        .with_context(|| format!("unable to traverse objects/links in file \"{}\"", path.display()))?;
    let report = if arguments.needs_bytes() { account(path)? } else { Report::default() };
    let statistics = Statistics { arguments: &arguments, info: file.info(), survey, report };
    statistics.print(&mut out)?;
    out.flush()?;
    let faults = statistics.report.faults;
    if faults > 0 {
        complain(format_args!(
            "h5stat: `hyperslab check` lists the faults of the file ({faults}): metadata may be missing in the sizes"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the metadata of the file for h5stat, and finds the object to which each byte belongs.
/// Does not read raw data.
fn account(path: &Path) -> Result<Report> {
    let options = CheckOptions { look_into_elements: false, max_findings: 0, ..CheckOptions::default() };
    let driver = crate::remote::find_driver(OpenOptions::new(), path)?;
    let report = hyperslab_check::check(driver, &options);
    report.with_context(|| format!("unable to account for the bytes of file \"{}\"", path.display()))
}
