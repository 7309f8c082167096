//! The tools of the C library: their arguments, and what they print.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, FromArgMatches, Subcommand};

pub(crate) mod ddl;
mod files;
mod h5clear;
mod h5copy;
mod h5diff;
mod h5dump;
mod h5ls;
mod h5mkgrp;
mod h5repack;
mod h5stat;
pub(crate) mod known;
pub(crate) mod pieces;
pub(crate) mod printf;
pub(crate) mod subset;

/// A tool.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    /// What it is for.
    about: &'static str,
    run: fn(Vec<OsString>) -> Result<ExitCode>,
}

const fn tool(name: &'static str, run: fn(Vec<OsString>) -> Result<ExitCode>, about: &'static str) -> Tool {
    Tool { name, about, run }
}

/// The tools.
const TOOLS: &[Tool] = &[
    tool("h5clear", h5clear::run, "clear marks of writers, and put a wrong end right"),
    tool("h5copy", h5copy::run, "copy an object, within a file or into another one"),
    tool("h5diff", h5diff::run, "tell the differences between two files or objects"),
    tool("h5dump", h5dump::run, "print what is in a file"),
    tool("h5ls", h5ls::run, "list what is in files"),
    tool("h5mkgrp", h5mkgrp::run, "make groups"),
    tool("h5repack", h5repack::run, "write a file anew"),
    tool("h5stat", h5stat::run, "count what is in a file, and the bytes of its metadata"),
];

/// The argument with what a tool is given.
const GIVEN: &str = "ARGUMENTS";

/// A call of a tool, with what it is given as it is.
#[derive(Debug)]
pub(crate) struct Call {
    tool: &'static Tool,
    given: Vec<OsString>,
}

impl Call {
    /// Runs the tool.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        (self.tool.run)(self.given.clone())
    }
}

fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl FromArgMatches for Call {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let called = matches.subcommand().and_then(|(name, matches)| Some((find(name)?, matches)));
        let (tool, matches) = called.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        let given = matches.get_many::<OsString>(GIVEN).into_iter().flatten().cloned().collect();
        Ok(Self { tool, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Call {
    fn augment_subcommands(command: Command) -> Command {
        TOOLS.iter().fold(command, |command, tool| {
            let given = Arg::new(GIVEN)
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString));
            let about = format!("As the tool of that name of the C library: {}", tool.about);
            command.subcommand(Command::new(tool.name).about(about).disable_help_flag(true).arg(given))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

/// The arguments, as if the command had been called by its own name: through a link it may be called by that of a tool.
pub(crate) fn called_as(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let tool = arguments.first().and_then(|name| Path::new(name).file_stem()?.to_str()).and_then(find);
    if let Some(tool) = tool {
        arguments.insert(1, tool.name.into());
    }
    arguments
}
