//! `hyperslab import`: reads npy, csv, Parquet and Arrow files and sparse matrices into datasets.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::File;
use hyperslab::filter::FilterSpec;

use crate::change::{change, named, open_or_create, shape};
use crate::exchange::{self, Encoding, ImportOptions, MatrixForm, MatrixLocation, NamedFormat};
use crate::formats::storage::Storage;
use crate::formats::{csv, npy};
use crate::tables::{self, Kind};
use crate::typed::TypeName;

/// The arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab import image.npy data.h5 images/one --filter shuffle,gzip=6
  hyperslab import table.csv data.h5 table               a compound with a member for each column
  hyperslab import table.csv data.h5 table --columns     a group with a dataset for each column
  hyperslab import table.parquet data.h5 table           the same for a Parquet or Arrow file
  hyperslab import matrix.csv data.h5 matrix --no-header numbers in two dimensions
  hyperslab import matrix.mtx.gz data.h5 matrix          a sparse matrix; also from .npz files of SciPy
  hyperslab import cells.h5ad:/X data.h5 matrix          a sparse matrix of AnnData or 10x
  hyperslab import matrix.npz data.h5 matrix --as csr    compressed rows, as AnnData stores them")]
pub(crate) struct ImportArguments {
    /// The format of INPUT [default: by the extension of INPUT]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The shape of chunks, such as 64x64
    #[arg(long, value_name = "SHAPE", value_parser = |text: &str| shape(text).map(Chunk))]
    chunks: Option<Chunk>,
    /// Filters for the chunks, such as shuffle,gzip=6
    #[arg(long, value_name = "FILTERS")]
    filter: Option<String>,
    /// For tables (csv, Parquet, Arrow): create a group with a dataset for each column, instead of
    /// a dataset of compounds
    #[arg(long)]
    columns: bool,
    /// For csv: the first line has values, not column names
    #[arg(long)]
    no_header: bool,
    /// For csv: the character between fields
    #[arg(long, default_value = ",", value_name = "CHARACTER")]
    delimiter: char,
    /// For matrices: the form in which the matrix is stored
    #[arg(long = "as", value_enum, default_value = "sparse", value_name = "KIND")]
    form: MatrixForm,
    /// For sparse datasets: the encoding of the list of defined elements
    #[arg(long, value_enum, default_value = "blocks", value_name = "ENCODING")]
    encoding: Encoding,
    /// For matrices: the type of the values [default: the type in INPUT]
    #[arg(long, value_enum, value_name = "TYPE")]
    dtype: Option<TypeName>,
    /// For matrices: the compression level, 1 to 9; the same as a gzip filter in --filter
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(1..=9))]
    deflate: Option<u32>,
    /// The file to read, or FILE.h5:/GROUP for a matrix of compressed rows or columns in an HDF5
    /// file
    input: PathBuf,
    /// The HDF5 file. If the file does not exist, it is created
    file: PathBuf,
    /// The path of the new dataset
    path: String,
}

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// NumPy's file format
    Npy,
    /// Comma-separated values
    Csv,
    /// A table of Apache Parquet
    Parquet,
    /// A table in the file format of Apache Arrow
    Arrow,
    /// A sparse matrix as text, in the Matrix Market format
    Mtx,
    /// A sparse matrix of SciPy
    Npz,
}

#[derive(Debug, Clone)]
struct Chunk(Vec<u64>);

/// Reads a file into a new dataset.
pub(crate) fn import(arguments: &ImportArguments) -> Result<()> {
    let shown = arguments.input.display();
    let filters = match &arguments.filter {
        Some(list) => FilterSpec::parse_list(list)?,
        None => Vec::new(),
    };
    let chunks = arguments.chunks.as_ref().map(|chunk| chunk.0.as_slice());
    let storage = Storage { chunks, filters };
    let format = match arguments.format.or_else(|| by_extension(&arguments.input)) {
        Some(Format::Npy) => Dense::Npy,
        Some(Format::Csv) => Dense::Csv,
        Some(Format::Parquet) => Dense::Table(Kind::Parquet),
        Some(Format::Arrow) => Dense::Table(Kind::Arrow),
        Some(Format::Mtx) => return matrix(arguments, storage, Some(NamedFormat::MatrixMarket)),
        Some(Format::Npz) => return matrix(arguments, storage, Some(NamedFormat::Npz)),
        None if location(&arguments.input, None).is_some() => return matrix(arguments, storage, None),
        None => bail!(
            "the format of `{shown}` is not known; name it with --format npy, csv, parquet, arrow, mtx or npz"
        ),
    };
    if arguments.dtype.is_some() || arguments.deflate.is_some() {
        bail!("--dtype and --deflate are for sparse matrices; --filter gzip=6 compresses other datasets");
    }
    dense(arguments, format, &storage)
}

/// Returns the location of a matrix by its name, else by the first bytes of the file.
fn location(input: &Path, named: Option<NamedFormat>) -> Option<MatrixLocation> {
    MatrixLocation::of(input, named).or_else(|| MatrixLocation::found(input))
}

/// Imports a sparse matrix.
fn matrix(arguments: &ImportArguments, storage: Storage<'_>, named: Option<NamedFormat>) -> Result<()> {
    let from = location(&arguments.input, named).context("the input is not a matrix")?;
    let mut filters = storage.filters;
    filters.extend(arguments.deflate.map(FilterSpec::deflate));
    let options = ImportOptions {
        form: arguments.form,
        dtype: arguments.dtype,
        chunks: storage.chunks,
        filters,
        encoding: arguments.encoding,
    };
    exchange::import(&from, &arguments.input, &arguments.file, &arguments.path, options)
}

/// A format of dense arrays or tables.
#[derive(Debug, Clone, Copy)]
enum Dense {
    Npy,
    Csv,
    Table(Kind),
}

fn dense(arguments: &ImportArguments, format: Dense, storage: &Storage<'_>) -> Result<()> {
    let path = named(&arguments.path)?;
    // An unreadable input must not leave an empty file.
    let input = match format {
        Dense::Npy => Input::Npy(npy::Source::open(&arguments.input)),
        Dense::Csv => {
            Input::Csv(csv::Table::open(&arguments.input, arguments.delimiter, !arguments.no_header))
        }
        Dense::Table(kind) => {
            let open = tables::Import::open(&arguments.input, kind);
            let table = open.with_context(|| format!("`{}`", arguments.input.display()))?;
            let work = |file: &File| tables::import(table, file, path, arguments.columns, storage);
            return change(&arguments.file, open_or_create(&arguments.file)?, work);
        }
    };
    let work = |file: &File| match &input {
        Input::Npy(source) => as_ref(source)?.write(file, path, storage),
        Input::Csv(table) if arguments.columns => as_ref(table)?.write_columns(file, path, storage),
        Input::Csv(table) => as_ref(table)?.write(file, path, storage),
    };
    if let Input::Npy(Err(error)) | Input::Csv(Err(error)) = &input {
        bail!("`{}`: {error:#}", arguments.input.display());
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

fn by_extension(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "npy" => Some(Format::Npy),
        "csv" => Some(Format::Csv),
        _ => Kind::of(path).map(|kind| match kind {
            Kind::Parquet => Format::Parquet,
            Kind::Arrow => Format::Arrow,
        }),
    }
}
