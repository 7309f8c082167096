//! `h5clear`: clears status flags and metadata cache images, and corrects the end of a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use hyperslab::{LibverBounds, OpenOptions, Recovery};
use lexopt::{Arg, Parser, ValueExt as _};

use super::files::{print_line, warn};

const HELP: &str = include_str!("help.txt");

/// The default number of bytes by which h5clear extends the end of a file.
const DEFAULT_INCREMENT_BYTES: u64 = 1 << 20;

/// The arguments of h5clear.
#[derive(Debug, Default)]
struct H5clearArguments {
    file: Option<PathBuf>,
    status: bool,
    image: bool,
    sizes: bool,
    increment: Option<u64>,
    help: bool,
    version: bool,
}

impl H5clearArguments {
    fn parse(arguments: Vec<OsString>) -> Result<Self> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Value(file) if parsed.file.is_none() => parsed.file = Some(file.into()),
                Arg::Short('s') | Arg::Long("status") => parsed.status = true,
                Arg::Short('m') | Arg::Long("image") => parsed.image = true,
                Arg::Long("filesize") => parsed.sizes = true,
                Arg::Long("increment") => parsed.increment = Some(increment(&mut parser)?),
                Arg::Short('h') | Arg::Long("help") => parsed.help = true,
                Arg::Short('V') | Arg::Long("version") => parsed.version = true,
                other => return Err(other.unexpected()).context("`-h` lists the options"),
            }
        }
        Ok(parsed)
    }
}

fn increment(parser: &mut Parser) -> Result<u64> {
    let Some(text) = parser.optional_value() else { return Ok(DEFAULT_INCREMENT_BYTES) };
    let text = text.string()?;
    text.parse().map_err(|_| anyhow!("the increment must be a number of bytes, not `{text}`"))
}

/// Runs the tool h5clear.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5clearArguments::parse(arguments)?;
    if arguments.help {
        print_line(HELP.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        print_line(&format!("h5clear: Version {}", env!("CARGO_PKG_VERSION")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = &arguments.file else { bail!("missing file name; `-h` lists the options") };
    if !arguments.status && !arguments.image && !arguments.sizes && arguments.increment.is_none() {
        bail!("no task is given; `-h` lists the options");
    }
    clear(&arguments, path).with_context(|| format!("`{}`", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn clear(arguments: &H5clearArguments, path: &Path) -> Result<()> {
    if arguments.sizes {
        let end = Recovery::end_of(path)?;
        let stated = end.stated.map_or_else(|| "undefined".to_owned(), |stated| stated.to_string());
        print_line(&format!("EOA is {stated}; EOF is {} ", end.length))?;
    }
    if arguments.status || arguments.increment.is_some() {
        // The status flags of a writer that may still be running do not prevent the repair, because
        // the user asks to clear them. A lock of another process prevents it.
        let mut recovery = Recovery::new().keep_status_flags(!arguments.status).keep_end(true).unlocked(true);
        if let Some(increment) = arguments.increment {
            recovery = recovery.extend_by(increment);
        }
        recovery.repair(path)?;
    }
    if arguments.image {
        remove_image(path)?;
    }
    Ok(())
}

/// Removes the metadata cache image of a file. The library has already written the blocks of the
/// image to their addresses when it opened the file.
fn remove_image(path: &Path) -> Result<()> {
    if OpenOptions::new().open(path)?.info().cache_image.is_none() {
        warn("h5clear", "No cache image in the file");
        return Ok(());
    }
    let file = OpenOptions::new().write(true).libver(LibverBounds::EARLIEST).open(path)?;
    Ok(file.close()?)
}
