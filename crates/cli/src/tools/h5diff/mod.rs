//! `h5diff`: the differences between two files or two objects.

mod arguments;
mod attributes;
mod data;
mod datasets;
mod objects;
mod references;
mod rows;
mod types;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use hyperslab::{File, FileDriver, OpenOptions};

use self::arguments::{H5diffArguments, Refused};
use crate::compare::step::Side;
use crate::output::in_line;

const HELP: &str = include_str!("help.txt");

/// The exit status of h5diff if nothing differs.
const SAME: u8 = 0;
/// The exit status of h5diff if something differs.
const DIFFERENT: u8 = 1;
/// The exit status of h5diff if something could not be compared.
const TROUBLE: u8 = 2;

/// Runs the tool h5diff.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let mut out = crate::output::tool_stdout();
    let status = match H5diffArguments::parse(arguments) {
        Ok(arguments) => compare(&arguments, &mut out)?,
        Err(Refused::Value(given)) => {
            write!(out, "<{given}> is not a valid option\n{HELP}")?;
            DIFFERENT
        }
        Err(Refused::Option(name)) => {
            out.write_all(HELP.as_bytes())?;
            trouble(&anyhow!("unknown option `{name}`"));
            DIFFERENT
        }
        Err(Refused::Other(error)) => {
            trouble(&error);
            DIFFERENT
        }
    };
    out.flush()?;
    Ok(ExitCode::from(status))
}

fn compare(arguments: &H5diffArguments, out: &mut dyn Write) -> Result<u8> {
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(SAME);
    }
    if arguments.version {
        writeln!(out, "h5diff: Version {}", env!("CARGO_PKG_VERSION"))?;
        return Ok(SAME);
    }
    if let Some((line, status)) = arguments.conflict() {
        writeln!(out, "{line}")?;
        return Ok(status);
    }
    let [path, other_path] = arguments.files.as_slice() else {
        out.write_all(HELP.as_bytes())?;
        trouble(&anyhow!("missing file names"));
        return Ok(DIFFERENT);
    };
    let files = match (open(arguments, 0, path), open(arguments, 1, other_path)) {
        (Ok(one), Ok(other)) => [one, other],
        (one, other) => {
            let path = if one.is_err() { path } else { other_path };
            writeln!(out, "h5diff: <{}>: unable to open file", path.display())?;
            [one, other].into_iter().filter_map(Result::err).for_each(|error| trouble(&error));
            return Ok(TROUBLE);
        }
    };
    let names = [path, other_path].map(|path| path.display().to_string());
    let canonical = [path, other_path].map(|path| path.canonicalize().ok());
    let is_one_file = canonical[0].is_some() && canonical[0] == canonical[1];
    let mut diff = Diff {
        arguments,
        files: &files,
        names,
        is_one_file,
        out,
        differs: false,
        has_incomparable: false,
        has_single: false,
        failed: false,
    };
    diff.run()?;
    diff.end()
}

fn open(arguments: &H5diffArguments, number: usize, path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    if let Some(name) = arguments.driver(number)? {
        let driver: FileDriver = name.parse().map_err(|error: hyperslab::Error| anyhow!("{error}"))?;
        options = options.driver(driver);
    }
    crate::remote::open(options, path).with_context(|| format!("cannot open `{}`", path.display()))
}

/// Prints an error message of h5diff.
fn trouble(error: &anyhow::Error) {
    crate::output::complain(format_args!("h5diff error: {}", crate::output::chain(error.as_ref())));
}

/// The state of a comparison of two files by h5diff.
struct Diff<'a> {
    arguments: &'a H5diffArguments,
    files: &'a [File; 2],
    names: [String; 2],
    /// True if both files are the same file.
    is_one_file: bool,
    out: &'a mut dyn Write,
    differs: bool,
    /// True if both files have an object that cannot be compared.
    has_incomparable: bool,
    /// True if an object or an attribute is in only one of the files.
    has_single: bool,
    failed: bool,
}

impl Diff<'_> {
    /// Prints the closing lines of h5diff's output. Returns the exit status.
    fn end(&mut self) -> Result<u8> {
        if self.has_incomparable && !self.failed && !self.arguments.quiet && !self.arguments.list {
            let line = "-".repeat(32);
            let rest = if self.arguments.is_verbose() { " without details of differences." } else { "." };
            writeln!(self.out, "{line}\nSome objects are not comparable\n{line}")?;
            writeln!(self.out, "Use -c for a list of objects{rest}")?;
        }
        if self.has_single && !self.arguments.quiet && !self.is_verbose() {
            writeln!(self.out, "Files do not have the same set of objects.")?;
            writeln!(self.out, "Use -v for a list of objects.")?;
        }
        Ok(match (self.failed, self.differs) {
            (true, _) => TROUBLE,
            (false, true) => DIFFERENT,
            (false, false) => SAME,
        })
    }

    fn is_verbose(&self) -> bool {
        self.arguments.is_verbose()
    }

    /// Returns the level of detail that the option `-v` of h5diff states. Returns 0 without the
    /// option.
    fn level(&self) -> u32 {
        if self.is_verbose() { self.arguments.verbose.unwrap_or(0) } else { 0 }
    }

    /// Prints the title line for two compared objects.
    fn title(&mut self, kind: &str, names: [&dyn Display; 2]) -> io::Result<()> {
        let [one, other] = names;
        writeln!(self.out, "{kind}: <{}> and <{}>", in_line(one.to_string()), in_line(other.to_string()))
    }

    /// Prints an empty line between compared objects if the level of detail requires one.
    fn gap(&mut self) -> io::Result<()> {
        if self.level() > 0 { writeln!(self.out) } else { Ok(()) }
    }

    fn count(&mut self, differences: u64) -> io::Result<()> {
        writeln!(self.out, "{differences} differences found")
    }

    /// Records that h5diff cannot compare two objects. Prints the reason if requested.
    fn incomparable(&mut self, line: &str) -> io::Result<()> {
        self.has_incomparable = true;
        if self.is_verbose() || self.arguments.list { writeln!(self.out, "{line}") } else { Ok(()) }
    }

    /// Prints an error, after which the comparison continues. Returns errors of the output.
    fn fail(&mut self, error: anyhow::Error) -> Result<()> {
        // Errors of files are wrapped in other errors, so a bare I/O error is an error of the
        // output.
        if error.downcast_ref::<io::Error>().is_some() {
            return Err(error);
        }
        self.failed = true;
        trouble(&error);
        Ok(())
    }
}

/// Returns a mark for each of the two files: `x` if the file has the item, and otherwise a space.
fn marks<T>(side: &Side<'_, T>) -> [char; 2] {
    let (one, other) = side.presence();
    [one, other].map(|is_present| if is_present { 'x' } else { ' ' })
}
