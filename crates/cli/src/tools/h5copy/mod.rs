//! `h5copy`: copies an object within a file or into another file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use hyperslab::{CopyOptions, File, LibverBounds, OpenOptions};
use lexopt::{Arg, Parser, ValueExt as _};

use super::files::{change, is_same, open_or_create, print_line, require_parents};
use crate::lookup::object;

const HELP: &str = include_str!("help.txt");

/// The arguments of h5copy.
#[derive(Debug, Default)]
struct H5copyArguments {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    source: Option<String>,
    destination: Option<String>,
    /// The flags in the order of the arguments.
    flags: Vec<String>,
    parents: bool,
    verbose: bool,
    help: bool,
    version: bool,
}

impl H5copyArguments {
    fn parse(arguments: Vec<OsString>) -> Result<Self> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Short('i') | Arg::Long("input") => parsed.input = Some(parser.value()?.into()),
                Arg::Short('o') | Arg::Long("output") => parsed.output = Some(parser.value()?.into()),
                Arg::Short('s') | Arg::Long("source") => parsed.source = Some(parser.value()?.string()?),
                Arg::Short('d') | Arg::Long("destination") => {
                    parsed.destination = Some(parser.value()?.string()?);
                }
                Arg::Short('f') | Arg::Long("flag") => parsed.flags.push(parser.value()?.string()?),
                Arg::Short('p') | Arg::Long("parents") => parsed.parents = true,
                Arg::Short('v') | Arg::Long("verbose") => parsed.verbose = true,
                Arg::Short('h') | Arg::Long("help") => parsed.help = true,
                Arg::Short('V') | Arg::Long("version") => parsed.version = true,
                Arg::Short('E') | Arg::Long("enable-error-stack") => drop(parser.optional_value()),
                other => return Err(other.unexpected()).context("`-h` lists the options"),
            }
        }
        Ok(parsed)
    }

    fn options(&self) -> Result<CopyOptions> {
        let mut options = CopyOptions::default();
        for flag in &self.flags {
            match flag.as_str() {
                "shallow" => options.shallow = true,
                "soft" => options.expand_soft_links = true,
                "ext" => options.expand_external_links = true,
                "ref" => options.expand_references = true,
                "noattr" => options.without_attributes = true,
                "allflags" => {
                    options = CopyOptions {
                        shallow: true,
                        expand_soft_links: true,
                        expand_external_links: true,
                        expand_references: true,
                        without_attributes: true,
                        ..options
                    }
                }
                _ => bail!("`{flag}` is not one of the flags shallow, soft, ext, ref, noattr and allflags"),
            }
        }
        Ok(options)
    }

    /// Prints a line of the verbose output of h5copy, if requested.
    fn print_detail(&self, line: &str) -> Result<()> {
        if self.verbose { print_line(line) } else { Ok(()) }
    }

    fn copy(&self, source: &File, target: &File, names: [&str; 2], options: CopyOptions) -> Result<()> {
        let [from, to] = names;
        let original = object(source, from)?;
        if !self.parents {
            require_parents(target, to)?;
        }
        target.copy_with(&original, to, options)?;
        Ok(())
    }
}

/// Runs the tool h5copy.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5copyArguments::parse(arguments)?;
    if arguments.help {
        print_line(HELP.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        print_line(&format!("h5copy: Version {}", env!("CARGO_PKG_VERSION")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let missing = |subject: &str| anyhow!("{subject} missing; `-h` lists the options");
    let input = arguments.input.as_deref().ok_or_else(|| missing("input file name"))?;
    let output = arguments.output.as_deref().ok_or_else(|| missing("output file name"))?;
    let from = arguments.source.as_deref().ok_or_else(|| missing("source object name"))?;
    let to = arguments.destination.as_deref().ok_or_else(|| missing("destination object name"))?;
    let options = arguments.options()?;
    let (shown_input, shown_output) = (input.display(), output.display());
    arguments.print_detail(&format!(
        "Copying file <{shown_input}> and object <{from}> to file <{shown_output}> and object <{to}>"
    ))?;
    for flag in &arguments.flags {
        arguments.print_detail(&format!("Using {flag} flag"))?;
    }
    if arguments.parents {
        arguments.print_detail("h5copy: Creating parent groups")?;
    }
    let task = || format!("cannot copy <{from}> of <{shown_input}> to <{to}> of <{shown_output}>");
    copy(&arguments, [input, output], [from, to], options).with_context(task)?;
    Ok(ExitCode::SUCCESS)
}

fn copy(
    arguments: &H5copyArguments,
    [input, output]: [&Path; 2],
    names: [&str; 2],
    options: CopyOptions,
) -> Result<()> {
    let bounds = LibverBounds::EARLIEST;
    if is_same(input, output) {
        return change(open_or_create(output, bounds)?, |file| arguments.copy(file, file, names, options));
    }
    let source = OpenOptions::new().open(input).context("could not open input file")?;
    // A missing object must not leave an empty output file.
    object(&source, names[0])?;
    let is_new = !output.exists();
    if is_new && !arguments.parents && names[1].trim_matches('/').contains('/') {
        bail!("the parent groups do not exist in a new file. Use -p to create parent groups.");
    }
    change(open_or_create(output, bounds)?, |file| arguments.copy(&source, file, names, options))
}
