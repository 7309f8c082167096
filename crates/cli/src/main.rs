//! The `hyperslab` command.
#![forbid(unsafe_code)]

mod bench_file;
mod cat;
mod change;
mod check;
mod compare;
mod demo;
mod destination;
mod diff;
mod digest;
mod entries;
mod exchange;
mod export;
mod find;
mod formats;
mod import;
mod interrupted;
mod ls;
mod open;
mod output;
mod places;
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

/// Look into HDF5 files, and change them.
#[derive(Debug, Parser)]
#[command(name = "hyperslab", version, about)]
struct HyperslabArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what sparse datasets are good for: the stream of a simulated X-ray detector, kept in three ways.
    Demo(demo::DemoArguments),
    /// List what is in a file: groups, datasets, types, links and attributes.
    Ls(ls::LsArguments),
    /// Draw what is in a file as a tree, at a glance.
    Tree(tree::TreeArguments),
    /// Find what is in files by names, attributes, types, shapes, sizes and storage.
    Find(Box<find::FindArguments>),
    /// Print the elements of a dataset, or write them to a file, in one of several formats.
    Cat(cat::CatArguments),
    /// Print the first rows of a dataset.
    Head(cat::HeadArguments),
    /// Draw a dataset: a line, an image, or where its elements are; as PNG or SVG, or in the terminal.
    Plot(plot::PlotArguments),
    /// Write the elements of a dataset to a file: npy, csv, json or raw bytes; a table: Parquet, Arrow; or a sparse matrix:
    /// mtx, npz, or a group.
    Export(export::ExportArguments),
    /// Make a dataset of an npy or csv file, of a table of Parquet or Arrow, or of a sparse matrix: mtx, npz, or a group of
    /// AnnData or 10x.
    Import(import::ImportArguments),
    /// Copy objects, within a file or into another one.
    Cp(change::CpArguments),
    /// Give an object another path.
    Mv(change::MvArguments),
    /// Remove objects; their space can be used again.
    Rm(change::RmArguments),
    /// Make groups.
    Mkdir(change::MkdirArguments),
    /// Make hard, soft and external links.
    Ln(change::LnArguments),
    /// Set, remove and rename attributes.
    Attr(change::AttrArguments),
    /// Write a file anew: compacted, with other layouts, filters, or for other versions of the library.
    Repack(repack::RepackArguments),
    /// Put a file right that was not closed, or save what is left of a damaged one into a new file.
    Recover(recover::RecoverArguments),
    /// Count what is in a file: objects, datasets by layout and by filters with their bytes, structured chunks.
    Stat(stat::StatArguments),
    /// Tell what is different in two files: objects, attributes, types, shapes, elements.
    Diff(diff::DiffArguments),
    /// Measure how fast a file is read, and estimate which chunks would serve better.
    BenchFile(bench_file::BenchFileArguments),
    /// Print all that a file holds as one JSON document, with a SHA-256 of each dataset and attribute.
    Digest(digest::DigestArguments),
    /// Verify that files are sound: every block, checksum, count and reference, and whose every byte is.
    Check(check::CheckArguments),
    /// Print the script that lets a shell complete commands, options, files and paths inside of them.
    Completions(shell::CompletionsArguments),
    /// Write the manual pages.
    Man(shell::ManArguments),
    #[command(flatten)]
    Tool(tools::Call),
}

fn main() -> ExitCode {
    shell::answer();
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
        if reader_is_gone(&error) {
            return ExitCode::SUCCESS;
        }
        output::complain(format_args!("hyperslab: {}", output::chain(error.as_ref())));
        ExitCode::FAILURE
    })
}

/// Returns whether whoever reads the output has closed it, as `| head` does. Errors of files are wrapped in
/// [`hyperslab::Error`], so that a bare I/O error is one of the output.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
