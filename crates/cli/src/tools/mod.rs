//! The tools of the C library: their arguments, and what they print.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

pub(crate) mod ddl;
pub(crate) mod h5diff;
pub(crate) mod h5dump;
pub(crate) mod h5ls;
pub(crate) mod h5stat;
pub(crate) mod known;
pub(crate) mod pieces;
pub(crate) mod printf;
pub(crate) mod subset;

/// Runs a tool with its arguments.
type Run = fn(Vec<OsString>) -> Result<ExitCode>;

/// The tools by their names.
const TOOLS: &[(&str, Run)] =
    &[("h5diff", h5diff::run), ("h5dump", h5dump::run), ("h5ls", h5ls::run), ("h5stat", h5stat::run)];

/// The tool of that name.
pub(crate) fn run(name: &str, arguments: &[OsString]) -> Result<ExitCode> {
    let tool = TOOLS.iter().find(|(tool, _)| *tool == name);
    let (_, run) = tool.ok_or_else(|| anyhow::anyhow!("there is no tool `{name}`"))?;
    run(arguments.to_vec())
}

/// The arguments, as if the command had been called by its own name: through a link it may be called by that of a tool.
pub(crate) fn called_as(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let tool = arguments
        .first()
        .and_then(|name| Path::new(name).file_stem()?.to_str())
        .and_then(|name| TOOLS.iter().find(|(tool, _)| *tool == name));
    if let Some((tool, _)) = tool {
        arguments.insert(1, tool.into());
    }
    arguments
}
