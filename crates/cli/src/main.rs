//! The `hyperslab` command.
#![forbid(unsafe_code)]

mod digest;

use std::io::Write as _;
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
    /// Print all that a file holds as one JSON document, with a SHA-256 of each dataset and attribute.
    Digest(digest::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Digest(arguments) => digest::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to be done if even the error cannot be printed.
            let _ = writeln!(std::io::stderr(), "hyperslab: {error:#}");
            ExitCode::FAILURE
        }
    }
}
