//! The tools of the C library: their arguments, and what they print.

use std::ffi::OsString;
use std::path::Path;

pub(crate) mod ddl;
pub(crate) mod h5diff;
pub(crate) mod h5dump;
pub(crate) mod h5ls;
pub(crate) mod known;
pub(crate) mod pieces;
pub(crate) mod printf;
pub(crate) mod subset;

/// The tools.
const NAMES: [&str; 3] = ["h5diff", "h5dump", "h5ls"];

/// The arguments, as if the command had been called by its own name: through a link it may be called by that of a tool.
pub(crate) fn called_as(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let tool = arguments
        .first()
        .and_then(|name| Path::new(name).file_stem()?.to_str())
        .and_then(|name| NAMES.into_iter().find(|tool| *tool == name));
    if let Some(tool) = tool {
        arguments.insert(1, tool.into());
    }
    arguments
}
