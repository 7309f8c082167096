//! `h5mkgrp`: creates groups.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use hyperslab::{File, LibverBounds, ObjectKind};
use lexopt::{Arg, Parser, ValueExt as _};

use super::files::{change, open_or_create, print_line, require_parents};

const HELP: &str = include_str!("help.txt");

/// The arguments of h5mkgrp.
#[derive(Debug, Default)]
struct H5mkgrpArguments {
    file: Option<PathBuf>,
    groups: Vec<String>,
    latest: bool,
    parents: bool,
    verbose: bool,
    help: bool,
    version: bool,
}

impl H5mkgrpArguments {
    fn parse(arguments: Vec<OsString>) -> Result<Self> {
        let mut parser = Parser::from_args(arguments);
        let mut parsed = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Value(file) if parsed.file.is_none() => parsed.file = Some(file.into()),
                Arg::Value(group) => parsed.groups.push(group.string()?),
                Arg::Short('l') | Arg::Long("latest") => parsed.latest = true,
                Arg::Short('p') | Arg::Long("parents") => parsed.parents = true,
                Arg::Short('v') | Arg::Long("verbose") => parsed.verbose = true,
                Arg::Short('h') | Arg::Long("help") => parsed.help = true,
                Arg::Short('V') | Arg::Long("version") => parsed.version = true,
                other => return Err(other.unexpected()).context("`-h` lists the options"),
            }
        }
        Ok(parsed)
    }

    /// Prints a line of the verbose output of h5mkgrp, if requested.
    fn print_detail(&self, line: &str) -> Result<()> {
        if self.verbose { print_line(&format!("h5mkgrp: {line}")) } else { Ok(()) }
    }

    fn create(&self, file: &File, group: &str) -> Result<()> {
        let at = file.object(group);
        if self.parents && (group.trim_matches('/').is_empty() || at.is_ok()) {
            match at.ok().and_then(|object| object.kind()) {
                None | Some(ObjectKind::Group) => return Ok(()),
                Some(kind) => bail!("could not create group '{group}': the path leads to a {}", kind.name()),
            }
        }
        if !self.parents {
            require_parents(file, group)?;
        }
        file.create_group(group).with_context(|| format!("could not create group '{group}'"))?;
        self.print_detail(&format!("created group '{group}'"))
    }
}

/// Runs the tool h5mkgrp.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let arguments = H5mkgrpArguments::parse(arguments)?;
    if arguments.help {
        print_line(HELP.trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.version {
        print_line(&format!("h5mkgrp: Version {}", env!("CARGO_PKG_VERSION")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(path) = &arguments.file else { bail!("missing file name; `-h` lists the options") };
    if arguments.groups.is_empty() {
        bail!("missing group name(s); `-h` lists the options");
    }
    let bounds = if arguments.latest { LibverBounds::LATEST } else { LibverBounds::EARLIEST };
    if arguments.latest {
        arguments.print_detail("Creating groups with latest version of the format")?;
    }
    if arguments.parents {
        arguments.print_detail("Creating parent groups")?;
    }
    change(open_or_create(path, bounds)?, |file| {
        arguments.groups.iter().try_for_each(|group| arguments.create(file, group))
    })?;
    Ok(ExitCode::SUCCESS)
}
