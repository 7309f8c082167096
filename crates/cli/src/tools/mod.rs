//! The emulated command-line tools of the C library, with their arguments and output.

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

/// A command-line tool of the C library that this program emulates.
#[derive(Debug)]
struct Tool {
    name: &'static str,
    /// The purpose of the tool, for the help text.
    about: &'static str,
    run: fn(Vec<OsString>) -> Result<ExitCode>,
}

const fn tool(name: &'static str, run: fn(Vec<OsString>) -> Result<ExitCode>, about: &'static str) -> Tool {
    Tool { name, about, run }
}

/// The emulated tools of the C library.
const TOOLS: &[Tool] = &[
    tool("h5clear", h5clear::run, "clear status flags, and correct the end of the file"),
    tool("h5copy", h5copy::run, "copy an object within a file or into another file"),
    tool("h5diff", h5diff::run, "print the differences between two files or objects"),
    tool("h5dump", h5dump::run, "print the content of a file"),
    tool("h5ls", h5ls::run, "list the objects of files"),
    tool("h5mkgrp", h5mkgrp::run, "create groups"),
    tool("h5repack", h5repack::run, "copy a file with other filters and layouts"),
    tool("h5stat", h5stat::run, "print statistics of objects and metadata"),
];

/// The name of the clap argument that collects all arguments of an emulated tool.
const TOOL_ARGUMENTS: &str = "ARGUMENTS";

/// A call of an emulated tool, with the arguments that the tool itself parses.
#[derive(Debug)]
pub(crate) struct Call {
    tool: &'static Tool,
    arguments: Vec<OsString>,
}

impl Call {
    /// Runs the emulated tool.
    pub(crate) fn run(&self) -> Result<ExitCode> {
        (self.tool.run)(self.arguments.clone())
    }
}

fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl FromArgMatches for Call {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let called = matches.subcommand().and_then(|(name, matches)| Some((find(name)?, matches)));
        let (tool, matches) = called.ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        let arguments = matches.get_many::<OsString>(TOOL_ARGUMENTS).into_iter().flatten().cloned().collect();
        Ok(Self { tool, arguments })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Call {
    fn augment_subcommands(command: Command) -> Command {
        TOOLS.iter().fold(command, |command, tool| {
            let arguments = Arg::new(TOOL_ARGUMENTS)
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString));
            let about = format!("Like the tool of the C library: {}", tool.about);
            command.subcommand(Command::new(tool.name).about(about).disable_help_flag(true).arg(arguments))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find(name).is_some()
    }
}

/// Returns the arguments of the program. If the program was started under the name of an emulated
/// tool, for example through a symbolic link, this name becomes the subcommand.
pub(crate) fn called_as(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    let tool = arguments.first().and_then(|name| Path::new(name).file_stem()?.to_str()).and_then(find);
    if let Some(tool) = tool {
        arguments.insert(1, tool.name.into());
    }
    arguments
}
