//! The `hyperslab` command line program.
#![forbid(unsafe_code)]

mod adopt;
mod attributes;
mod bench_file;
mod browse;
mod cat;
mod change;
mod check;
mod cloud_layout;
mod compare;
mod dates;
mod demo;
mod diff;
mod digest;
mod entries;
mod exchange;
mod export;
mod find;
mod formats;
mod help;
mod images;
mod import;
mod info;
mod input;
mod interrupted;
mod lookup;
mod ls;
#[cfg(not(all(
    feature = "browse",
    feature = "cloud",
    feature = "images",
    feature = "plots",
    feature = "serve",
    feature = "tables"
)))]
mod missing_feature;
mod open;
mod output;
mod output_target;
mod plot;
mod prefetch;
mod progress;
mod recover;
mod references;
mod remote;
mod repack;
mod safe;
mod sections;
mod selection;
mod serve;
mod shell;
mod stat;
mod tables;
mod tools;
mod tree;
mod typed;
mod urls;
mod values;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Inspect and change HDF5 files
#[derive(Debug, Parser)]
#[command(name = "hyperslab", bin_name = "hyperslab", version)]
struct HyperslabArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show sparse datasets: a simulated X-ray detector, stored in three ways and compared
    Demo(demo::DemoArguments),
    /// Draw the objects of a file as a tree; `hyperslab FILE` does the same
    Tree(tree::TreeArguments),
    /// List the objects of files: groups, datasets, datatypes, links and attributes
    Ls(ls::LsArguments),
    /// Browse a file in the terminal: objects, attributes, tables and plots
    Browse(browse::BrowseArguments),
    /// Print the properties of a file or of one object
    Info(info::InfoArguments),
    /// Print the elements of a dataset or attribute, as text, csv, npy, JSON or raw bytes
    Cat(cat::CatArguments),
    /// Print the first elements of a dataset
    Head(cat::HeadArguments),
    /// Print the last rows of a dataset
    Tail(cat::TailArguments),
    /// Find objects by name, attribute, type, shape, size and storage
    Find(Box<find::FindArguments>),
    /// Draw a dataset in the terminal, or as a PNG or SVG picture
    Plot(plot::PlotArguments),
    /// Show files in the browser, and serve them to other programs
    Serve(Box<serve::ServeArguments>),
    /// Open a file in the browser: a server for this file
    View(Box<serve::ViewArguments>),
    /// Write a dataset, table or sparse matrix to a file of another format
    Export(export::ExportArguments),
    /// Create a dataset from a file of another format
    Import(import::ImportArguments),
    /// Copy objects within a file or to another file
    Cp(change::CpArguments),
    /// Move or rename a link to an object
    Mv(change::MvArguments),
    /// Remove links, and delete objects without links
    Rm(change::RmArguments),
    /// Create groups
    Mkdir(change::MkdirArguments),
    /// Create hard, soft and external links
    Ln(change::LnArguments),
    /// Print, set, remove and rename attributes
    Attr(change::AttrArguments),
    /// Copy a file without unused space, optionally with other layouts, filters and versions
    Repack(repack::RepackArguments),
    /// Repair a file that was not closed, or salvage the data of a damaged file
    Recover(recover::RecoverArguments),
    /// Print the bytes of a file by structure, and its largest objects
    Stat(stat::StatArguments),
    /// Compare two files: objects, attributes, datatypes, shapes and elements
    Diff(diff::DiffArguments),
    /// Measure how fast a file is read, and estimate the cost of other chunk shapes
    BenchFile(bench_file::BenchFileArguments),
    /// Print one JSON document with a SHA-256 hash of each dataset and attribute
    Digest(digest::DigestArguments),
    /// Verify every block, checksum, count and reference of files
    Check(check::CheckArguments),
    /// Put hyperslab's library in the place of the libhdf5 of a Python wheel
    Adopt(adopt::AdoptArguments),
    /// Print the script with which a shell completes commands, files and paths inside files
    Completions(shell::CompletionsArguments),
    /// Write the manual pages
    Man(shell::ManArguments),
    #[command(flatten)]
    Tool(tools::Call),
}

/// Returns the description of hyperslab's command line, with the commands in groups.
fn command() -> clap::Command {
    help::grouped(HyperslabArguments::command())
}

/// Parses the command line. If the user requests help or the command line is wrong, prints the help
/// or an error, and exits.
fn arguments() -> HyperslabArguments {
    let command = command();
    let words = help::with_default_command(&command, tools::called_as(std::env::args_os()));
    let matches = command.get_matches_from(words);
    HyperslabArguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn main() -> ExitCode {
    shell::complete_if_asked();
    let arguments = arguments();
    let outcome = match &arguments.command {
        Command::Demo(arguments) => demo::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Tree(arguments) => tree::run(arguments),
        Command::Ls(arguments) => ls::run(arguments),
        Command::Browse(arguments) => browse::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Find(arguments) => find::run(arguments),
        Command::Cat(arguments) => cat::cat(arguments).map(|()| ExitCode::SUCCESS),
        Command::Head(arguments) => cat::head(arguments).map(|()| ExitCode::SUCCESS),
        Command::Tail(arguments) => cat::tail(arguments).map(|()| ExitCode::SUCCESS),
        Command::Plot(arguments) => plot::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Serve(arguments) => serve::serve(arguments).map(|()| ExitCode::SUCCESS),
        Command::View(arguments) => serve::view(arguments).map(|()| ExitCode::SUCCESS),
        Command::Export(arguments) => export::export(arguments).map(|()| ExitCode::SUCCESS),
        Command::Import(arguments) => import::import(arguments).map(|()| ExitCode::SUCCESS),
        Command::Cp(arguments) => change::cp(arguments).map(|()| ExitCode::SUCCESS),
        Command::Mv(arguments) => change::mv(arguments).map(|()| ExitCode::SUCCESS),
        Command::Rm(arguments) => change::rm(arguments).map(|()| ExitCode::SUCCESS),
        Command::Mkdir(arguments) => change::mkdir(arguments).map(|()| ExitCode::SUCCESS),
        Command::Ln(arguments) => change::ln(arguments).map(|()| ExitCode::SUCCESS),
        Command::Attr(arguments) => change::attr(arguments).map(|()| ExitCode::SUCCESS),
        Command::Repack(arguments) => repack::repack(arguments).map(|()| ExitCode::SUCCESS),
        Command::Recover(arguments) => recover::recover(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Stat(arguments) => stat::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::BenchFile(arguments) => bench_file::run(arguments),
        Command::Digest(arguments) => digest::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Adopt(arguments) => adopt::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Completions(arguments) => shell::completions(arguments).map(|()| ExitCode::SUCCESS),
        Command::Man(arguments) => shell::man(arguments).map(|()| ExitCode::SUCCESS),
        Command::Tool(call) => call.run(),
    };
    outcome.unwrap_or_else(|error| {
        if is_closed_output(&error) {
            return ExitCode::SUCCESS;
        }
        output::complain(format_args!("hyperslab: {}", output::chain(error.as_ref())));
        ExitCode::FAILURE
    })
}

/// Returns true if the reader of standard output has closed it, as `head` does in a pipe. Errors of
/// HDF5 files are wrapped in `hyperslab::Error`, so a bare I/O error comes from the output.
fn is_closed_output(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
