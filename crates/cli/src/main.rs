//! The `hyperslab` command line program.
#![forbid(unsafe_code)]

mod bench_file;
mod cat;
mod change;
mod check;
mod compare;
mod demo;
mod diff;
mod digest;
mod entries;
mod exchange;
mod export;
mod find;
mod formats;
mod import;
mod interrupted;
mod lookup;
mod ls;
#[cfg(not(all(feature = "plots", feature = "tables")))]
mod missing_feature;
mod open;
mod output;
mod output_target;
mod plot;
mod progress;
mod recover;
mod repack;
mod safe;
mod sections;
mod selection;
mod shell;
mod stat;
mod tables;
mod tools;
mod tree;
mod typed;
mod values;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Inspect and change HDF5 files.
#[derive(Debug, Parser)]
#[command(name = "hyperslab", version, about)]
struct HyperslabArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Demonstrate sparse datasets: store the images of a simulated X-ray detector in three ways,
    /// and compare sizes and times.
    Demo(demo::DemoArguments),
    /// List the objects of a file: groups, datasets, datatypes, links and attributes.
    Ls(ls::LsArguments),
    /// Draw the objects of a file as a tree.
    Tree(tree::TreeArguments),
    /// Find objects in files by name, attribute, type, shape, size and storage.
    Find(Box<find::FindArguments>),
    /// Print the elements of a dataset, or write them to a file: text, csv, npy, JSON or raw bytes.
    Cat(cat::CatArguments),
    /// Print the first rows of a dataset.
    Head(cat::HeadArguments),
    /// Draw a dataset as a line, as an image or as a map of its defined elements: in a PNG or SVG
    /// file, or in the terminal.
    Plot(plot::PlotArguments),
    /// Write a dataset to a file (npy, csv, JSON, raw bytes), a table to a Parquet or Arrow file,
    /// or a sparse matrix to an mtx or npz file or an HDF5 group.
    Export(export::ExportArguments),
    /// Create a dataset from an npy or csv file, a Parquet or Arrow table, or a sparse matrix (mtx,
    /// npz, or an HDF5 group of AnnData or 10x).
    Import(import::ImportArguments),
    /// Copy objects within a file or to another file.
    Cp(change::CpArguments),
    /// Move or rename a link to an object.
    Mv(change::MvArguments),
    /// Remove links. Objects without links are deleted, and their space can be used again.
    Rm(change::RmArguments),
    /// Create groups.
    Mkdir(change::MkdirArguments),
    /// Create hard, soft and external links.
    Ln(change::LnArguments),
    /// Set, remove and rename attributes.
    Attr(change::AttrArguments),
    /// Copy a file without its unused space, and optionally with other layouts, filters, or format
    /// versions.
    Repack(repack::RepackArguments),
    /// Repair a file that was not closed, or salvage the readable data of a damaged file into a new
    /// file.
    Recover(recover::RecoverArguments),
    /// Print statistics of a file: bytes by structure, largest objects, datasets by layout and by
    /// filters, structured chunks.
    Stat(stat::StatArguments),
    /// Compare two files: objects, attributes, datatypes, shapes and elements.
    Diff(diff::DiffArguments),
    /// Measure how fast a file is read, and estimate the cost of other chunk shapes.
    BenchFile(bench_file::BenchFileArguments),
    /// Print the contents of a file as one JSON document, with a SHA-256 hash of each dataset and
    /// attribute.
    Digest(digest::DigestArguments),
    /// Check files for errors: verify every block, checksum, count and reference, and find the
    /// owner of every byte.
    Check(check::CheckArguments),
    /// Print the script with which a shell completes commands, options, files and paths inside HDF5
    /// files.
    Completions(shell::CompletionsArguments),
    /// Write the manual pages.
    Man(shell::ManArguments),
    #[command(flatten)]
    Tool(tools::Call),
}

fn main() -> ExitCode {
    shell::complete_if_asked();
    let arguments = HyperslabArguments::parse_from(tools::called_as(std::env::args_os()));
    let outcome = match &arguments.command {
        Command::Demo(arguments) => demo::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Ls(arguments) => ls::run(arguments),
        Command::Tree(arguments) => tree::run(arguments),
        Command::Find(arguments) => find::run(arguments),
        Command::Cat(arguments) => cat::cat(arguments).map(|()| ExitCode::SUCCESS),
        Command::Head(arguments) => cat::head(arguments).map(|()| ExitCode::SUCCESS),
        Command::Plot(arguments) => plot::run(arguments).map(|()| ExitCode::SUCCESS),
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
/// files are wrapped in [`hyperslab::Error`], so a bare I/O error comes from the output.
fn is_closed_output(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
