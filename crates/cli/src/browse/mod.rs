//! `hyperslab browse`: a browser of a file in the terminal. The tree of objects is at the left, the
//! selected object at the right: properties, attributes, and the elements as a table or a plot.
//!
//! The browser reads only the parts of the file that it shows: the links of open groups, the object
//! headers of visible lines, and the elements in the window.

#[cfg(feature = "browse")]
mod app;
#[cfg(feature = "browse")]
mod details;
#[cfg(feature = "browse")]
mod elements;
#[cfg(feature = "browse")]
mod plot;
#[cfg(feature = "browse")]
mod session;
#[cfg(feature = "browse")]
mod table;
#[cfg(feature = "browse")]
mod tree;
#[cfg(feature = "browse")]
mod window;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::open::OpenArguments;

/// The arguments of `browse`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The arrow keys move in the tree; Enter opens a group, or the elements of a dataset. The last line lists the keys."
)]
pub(crate) struct BrowseArguments {
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
}

/// Shows the browser until the user ends it, or until a signal. After a signal, returns the sum of
/// 128 and the signal's number.
#[cfg(feature = "browse")]
pub(crate) fn run(arguments: &BrowseArguments) -> Result<ExitCode> {
    session::run(&arguments.open, &arguments.file)
}

/// Checks that the file can be opened. Then returns an error, because this build has no browser.
#[cfg(not(feature = "browse"))]
pub(crate) fn run(arguments: &BrowseArguments) -> Result<ExitCode> {
    arguments.open.open(&arguments.file)?;
    Err(crate::missing_feature::missing_feature("browser"))
}
