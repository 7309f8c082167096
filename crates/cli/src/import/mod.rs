//! `hyperslab import`: npy and csv files as datasets.

mod csv;
mod descr;
mod npy;
mod python;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;
use hyperslab::{DatasetBuilder, File};

use crate::change::{change, named, open_or_create, shape};

/// What `import` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab import image.npy data.h5 images/one --filter shuffle,gzip=6
  hyperslab import table.csv data.h5 table               a compound, with a member for each column
  hyperslab import table.csv data.h5 table --columns     a group with a dataset for each column
  hyperslab import matrix.csv data.h5 matrix --no-header numbers in two dimensions")]
pub(crate) struct ImportArguments {
    /// What INPUT is [default: by its ending]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The shape of chunks, such as 64x64
    #[arg(long, value_name = "SHAPE", value_parser = |text: &str| shape(text).map(Chunk))]
    chunks: Option<Chunk>,
    /// Filters for the chunks, such as shuffle,gzip=6
    #[arg(long, value_name = "FILTERS")]
    filter: Option<String>,
    /// csv: a dataset for each column, in a group, instead of a compound
    #[arg(long)]
    columns: bool,
    /// csv: the first line is none of names
    #[arg(long)]
    no_header: bool,
    /// csv: what stands between fields
    #[arg(long, default_value = ",", value_name = "CHARACTER")]
    delimiter: char,
    /// The file to read
    input: PathBuf,
    /// The HDF5 file, which is made if there is none
    file: PathBuf,
    /// The new dataset
    path: String,
}

/// What can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// NumPy's file format
    Npy,
    /// Comma-separated values
    Csv,
}

#[derive(Debug, Clone)]
struct Chunk(Vec<u64>);

/// How new datasets are stored.
#[derive(Debug)]
struct Storage<'a> {
    chunks: Option<&'a [u64]>,
    filters: Vec<FilterSpec>,
}

impl Storage<'_> {
    fn apply(&self, mut builder: DatasetBuilder, rank: usize) -> Result<DatasetBuilder> {
        if let Some(chunk) = self.chunks {
            if chunk.len() != rank {
                bail!("a chunk of {} dimensions for a dataset of {rank}", chunk.len());
            }
            builder = builder.chunks(chunk);
        }
        // One element has no chunks, and nothing to filter.
        if rank > 0 {
            for filter in &self.filters {
                builder = builder.filter(filter.clone());
            }
        }
        Ok(builder)
    }
}

/// Reads a file into a new dataset.
pub(crate) fn import(arguments: &ImportArguments) -> Result<()> {
    let shown = arguments.input.display();
    let format = arguments
        .format
        .or_else(|| by_ending(&arguments.input))
        .with_context(|| format!("what is `{shown}`? Say it with --format npy or --format csv"))?;
    let filters = match &arguments.filter {
        Some(list) => FilterSpec::parse_list(list)?,
        None => Vec::new(),
    };
    let storage = Storage { chunks: arguments.chunks.as_ref().map(|chunk| chunk.0.as_slice()), filters };
    let path = named(&arguments.path)?;
    // What cannot be read must not leave an empty file behind.
    let input = match format {
        Format::Npy => Input::Npy(npy::Source::open(&arguments.input)),
        Format::Csv => {
            Input::Csv(csv::Table::open(&arguments.input, arguments.delimiter, !arguments.no_header))
        }
    };
    let work = |file: &File| match &input {
        Input::Npy(source) => as_ref(source)?.write(file, path, &storage),
        Input::Csv(table) if arguments.columns => as_ref(table)?.write_columns(file, path, &storage),
        Input::Csv(table) => as_ref(table)?.write(file, path, &storage),
    };
    if let Input::Npy(Err(error)) | Input::Csv(Err(error)) = &input {
        bail!("`{shown}`: {error:#}");
    }
    change(&arguments.file, open_or_create(&arguments.file)?, work)
}

enum Input {
    Npy(Result<npy::Source>),
    Csv(Result<csv::Table>),
}

fn as_ref<T>(input: &Result<T>) -> Result<&T> {
    input.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))
}

fn by_ending(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "npy" => Some(Format::Npy),
        "csv" => Some(Format::Csv),
        _ => None,
    }
}
