//! The `hyperslab` command.
#![forbid(unsafe_code)]

mod cat;
mod check;
mod digest;
mod ls;
mod open;
mod output;
mod values;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Look into HDF5 files.
#[derive(Debug, Parser)]
#[command(name = "hyperslab", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is in a file: groups, datasets, types, links and attributes.
    Ls(ls::Arguments),
    /// Print the elements of a dataset, or write them to a file, in one of several formats.
    Cat(cat::CatArguments),
    /// Print the first rows of a dataset.
    Head(cat::HeadArguments),
    /// Print all that a file holds as one JSON document, with a SHA-256 of each dataset and attribute.
    Digest(digest::Arguments),
    /// Verify that files are sound: every block, checksum, count and reference, and whose every byte is.
    Check(check::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Ls(arguments) => ls::run(arguments),
        Command::Cat(arguments) => cat::cat(arguments).map(|()| ExitCode::SUCCESS),
        Command::Head(arguments) => cat::head(arguments).map(|()| ExitCode::SUCCESS),
        Command::Check(arguments) => check::run(arguments),
        Command::Digest(arguments) => digest::run(arguments).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|error| {
        if reader_is_gone(&error) {
            return ExitCode::SUCCESS;
        }
        let line = output::escape(output::chain(error.as_ref()).as_bytes());
        // Nothing is left to be done if even the error cannot be printed.
        let _ = writeln!(io::stderr(), "hyperslab: {line}");
        ExitCode::FAILURE
    })
}

/// Whether whoever reads the output has closed it, as `| head` does. Errors of files are wrapped in
/// [`hyperslab::Error`], so that a bare I/O error is one of the output.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
