//! `hyperslab import`: reads arrays, tables and sparse matrices of other formats into HDF5 files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::filter::FilterSpec;

use crate::change::{create_whole, shape};
use crate::exchange::{self, Encoding, ImportOptions, MatrixForm, MatrixLocation, NamedFormat};
use crate::formats::new_object::NewObject;
use crate::formats::storage::Storage;
use crate::formats::{csv, mtx, npy, npz};
use crate::images::{self, Stack};
use crate::input::Input;
use crate::tables::{self, Kind, TableForm};
use crate::typed::TypeName;

/// The arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(override_usage = "hyperslab import [OPTIONS] <INPUT>... <FILE> <PATH>")]
#[command(after_help = "Examples:
  hyperslab import image.npy data.h5 images/one --filter shuffle,gzip=6
  hyperslab import arrays.npz data.h5 arrays             a group with a dataset for each array
  hyperslab import table.csv data.h5 table               a compound with a member for each column
  hyperslab import table.csv data.h5 table --as columns  a group with a dataset for each column
  hyperslab import table.parquet data.h5 table           the same for a Parquet, Arrow or JSON lines file
  zcat t.gz | hyperslab import - data.h5 t --format csv  a table from standard input
  hyperslab import table.parquet data.h5 obs --as dataframe  a data frame, as AnnData stores it
  hyperslab import matrix.csv data.h5 matrix --no-header numbers in two dimensions
  hyperslab import matrix.mtx.gz data.h5 matrix          a sparse matrix; also from .npz files of SciPy
  hyperslab import cells.h5ad:/X data.h5 matrix          a sparse matrix of AnnData or 10x
  hyperslab import matrix.npz data.h5 matrix --as sparse a sparse dataset
  hyperslab import frame-*.png data.h5 movie             a stack of images in three or four dimensions
  hyperslab import stack.tif data.h5 stack               the pages of a TIFF file")]
pub(crate) struct ImportArguments {
    /// The format of INPUT [default: by the extension or the first bytes of INPUT]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The shape of chunks, such as 64x64
    #[arg(long, value_name = "SHAPE", value_parser = |text: &str| shape(text).map(Chunk))]
    chunks: Option<Chunk>,
    /// Filters for the chunks, such as shuffle,gzip=6
    #[arg(long, value_name = "FILTERS")]
    filter: Option<String>,
    /// The form in which a matrix or a table is stored [default: csr for matrices of two
    /// dimensions, sparse for others, records for tables]
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,
    /// For tables: the same as `--as columns`
    #[arg(long, conflicts_with = "form")]
    columns: bool,
    /// For tables: the value for missing values [default: NaN for floating-point numbers, else a
    /// mask beside the values]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    null: Option<String>,
    /// For csv: the first line has values, not column names
    #[arg(long)]
    no_header: bool,
    /// For csv: the character between fields [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// For sparse datasets: the encoding of the list of defined elements [default: blocks]
    #[arg(long, value_enum, value_name = "ENCODING")]
    encoding: Option<Encoding>,
    /// For matrices: the type of the values [default: the type in INPUT]
    #[arg(long, value_enum, value_name = "TYPE")]
    dtype: Option<TypeName>,
    /// For matrices: the compression level, 1 to 9; the same as a gzip filter in --filter
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(1..=9))]
    deflate: Option<u32>,
    /// INPUT: the file to read, `-` for standard input, or FILE.h5:/GROUP for a matrix of
    /// compressed rows or columns in an HDF5 file. Several PNG or TIFF images become one dataset,
    /// in the order of the arguments. FILE: the HDF5 file; if the file does not exist, it is
    /// created. PATH: the path of the new object
    #[arg(required = true, num_args = 3.., value_names = ["INPUT", "FILE", "PATH"])]
    names: Vec<PathBuf>,
}

/// The positional arguments of the command `import`: the inputs, the HDF5 file, and the path of the
/// new object.
struct Names<'a> {
    /// The first input, and the only one unless the inputs are images.
    input: &'a Path,
    inputs: &'a [PathBuf],
    file: &'a Path,
    path: &'a str,
}

impl ImportArguments {
    fn names(&self) -> Result<Names<'_>> {
        let [inputs @ .., file, path] = self.names.as_slice() else {
            bail!("an import needs an input, a file and a path");
        };
        let input = inputs.first().context("an import needs an input")?;
        let path = path.to_str().context("the path of the new object is not UTF-8")?;
        Ok(Names { input, inputs, file, path })
    }
}

/// A file format that `import` can read.
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
    /// JSON lines: an object in each line
    Jsonl,
    /// A sparse matrix as text, in the Matrix Market format
    Mtx,
    /// Arrays of NumPy, or a sparse matrix of SciPy
    Npz,
    /// PNG images
    Png,
    /// TIFF images, with one or several pages
    Tiff,
}

/// The form of an imported matrix or table in the HDF5 file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For matrices: a group of compressed rows in the format of AnnData
    Csr,
    /// For matrices: a sparse dataset, which stores the defined elements in structured chunks
    Sparse,
    /// For tables: a dataset of compounds with a member for each column
    Records,
    /// For tables: a group with a dataset for each column
    Columns,
    /// For tables: a group in the format of AnnData, with the categories of Parquet and Arrow
    Dataframe,
}

#[derive(Debug, Clone)]
struct Chunk(Vec<u64>);

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [one] => Ok(*one),
        b"\\t" => Ok(b'\t'),
        _ => Err("a delimiter is one ASCII character, or \\t for a tab".to_owned()),
    }
}

/// Runs the command `import`: reads a file, or several images, into a new object.
pub(crate) fn import(arguments: &ImportArguments) -> Result<()> {
    let names = arguments.names()?;
    let shown = names.input.display();
    let filters = match &arguments.filter {
        Some(list) => FilterSpec::parse_list(list)?,
        None => Vec::new(),
    };
    let chunks = arguments.chunks.as_ref().map(|chunk| chunk.0.as_slice());
    let storage = Storage { chunks, filters };
    let input = Input::open(names.input)?;
    let named = arguments.format.or_else(|| by_extension(names.input)).or_else(|| by_bytes(&input));
    if names.inputs.len() > 1 && !matches!(named, Some(Format::Png | Format::Tiff)) {
        bail!("several inputs become one dataset only if they are PNG or TIFF images; `{shown}` is not");
    }
    let named_matrix = |format| MatrixLocation::named(names.input, format);
    let matrix = |storage, from| matrix(arguments, &names, storage, &input, from);
    let kind = match named {
        Some(Format::Png | Format::Tiff) => return stack(arguments, &names, input, &storage),
        Some(Format::Mtx) => return matrix(storage, named_matrix(NamedFormat::MatrixMarket)),
        Some(Format::Npz) if npz::is_matrix(input.path()).with_context(|| format!("`{shown}`"))? => {
            return matrix(storage, named_matrix(NamedFormat::Npz));
        }
        None => match MatrixLocation::of(names.input) {
            Some(location) => return matrix(storage, location),
            None if !input.path().exists() => bail!("cannot read `{shown}`: the file does not exist"),
            None => bail!(
                "the format of `{shown}` is unknown; name the format with --format npy, npz, csv, parquet, \
                 arrow, jsonl, mtx, png or tiff"
            ),
        },
        Some(Format::Npz) => Dense::Npz,
        Some(Format::Npy) => Dense::Npy,
        Some(Format::Csv) => Dense::Csv,
        Some(Format::Parquet) => Dense::Table(Kind::Parquet),
        Some(Format::Arrow) => Dense::Table(Kind::Arrow),
        Some(Format::Jsonl) => Dense::Table(Kind::JsonLines),
    };
    dense(arguments, &names, kind, input, &storage)
}

/// Imports one or several images as a dataset.
fn stack(arguments: &ImportArguments, names: &Names<'_>, first: Input, storage: &Storage<'_>) -> Result<()> {
    if arguments.form.is_some() || arguments.columns || arguments.null.is_some() {
        bail!("--as, --columns and --null work only for matrices and tables");
    }
    if arguments.dtype.is_some() || arguments.deflate.is_some() {
        bail!(
            "--dtype and --deflate work only for sparse matrices; --filter gzip=6 compresses other datasets"
        );
    }
    let rest = names.inputs.iter().skip(1).map(|name| Input::open(name));
    let inputs = std::iter::once(Ok(first)).chain(rest).collect::<Result<Vec<Input>>>()?;
    // An unreadable image must not change the file.
    let stack = Stack::open(inputs)?;
    let is_default = arguments.filter.is_none();
    create_whole(names.file, names.path, |new| stack.write(new, storage, is_default))
}

/// Imports a sparse matrix from a file of a matrix format.
fn matrix(
    arguments: &ImportArguments,
    names: &Names<'_>,
    storage: Storage<'_>,
    input: &Input,
    from: MatrixLocation,
) -> Result<()> {
    let form = match arguments.form {
        None => None,
        Some(Form::Csr) => Some(MatrixForm::Csr),
        Some(Form::Sparse) => Some(MatrixForm::Sparse),
        Some(Form::Records | Form::Columns | Form::Dataframe) => {
            bail!("--as records, columns and dataframe work only for tables")
        }
    };
    if arguments.columns || arguments.null.is_some() {
        bail!("--columns and --null work only for tables");
    }
    let mut filters = storage.filters;
    filters.extend(arguments.deflate.map(FilterSpec::deflate));
    let options = ImportOptions {
        form,
        dtype: arguments.dtype,
        chunks: storage.chunks,
        filters,
        encoding: arguments.encoding,
    };
    exchange::import(&from, input, names.file, names.path, &options)
}

/// An input format of the command `import` that becomes a dense array or a table.
#[derive(Debug, Clone, Copy)]
enum Dense {
    Npy,
    Npz,
    Csv,
    Table(Kind),
}

/// An open input of the command `import` with known datatypes.
enum Opened {
    Npy(npy::Source),
    Npz(npz::Arrays),
    Csv(csv::Table),
    Table(tables::Import),
}

fn dense(
    arguments: &ImportArguments,
    names: &Names<'_>,
    format: Dense,
    input: Input,
    storage: &Storage<'_>,
) -> Result<()> {
    if arguments.dtype.is_some() || arguments.deflate.is_some() {
        bail!(
            "--dtype and --deflate work only for sparse matrices; --filter gzip=6 compresses other datasets"
        );
    }
    let form = match arguments.form {
        None if arguments.columns => TableForm::Columns,
        None | Some(Form::Records) => TableForm::Records,
        Some(Form::Columns) => TableForm::Columns,
        Some(Form::Dataframe) => TableForm::Dataframe,
        Some(Form::Csr | Form::Sparse) => bail!("--as csr and --as sparse work only for matrices"),
    };
    let is_table = matches!(format, Dense::Csv | Dense::Table(_));
    if !is_table && (arguments.form.is_some() || arguments.columns || arguments.null.is_some()) {
        bail!("--as, --columns and --null work only for matrices and tables");
    }
    let shown = || format!("`{}`", names.input.display());
    let compressed = input.head().starts_with(GZIP) && is_table;
    let input = if compressed { input.decompressed()? } else { input };
    // Open the input first, because an unreadable input must not change the file.
    let opened = opened(arguments, format, &input, form).with_context(shown)?;
    create_whole(names.file, names.path, |new| write(&opened, new, form, storage).with_context(shown))
}

fn opened(arguments: &ImportArguments, format: Dense, input: &Input, form: TableForm) -> Result<Opened> {
    Ok(match format {
        Dense::Npy => Opened::Npy(npy::Source::open(input.path())?),
        Dense::Npz => Opened::Npz(npz::Arrays::open(input.path())?),
        Dense::Csv => {
            let options = csv::CsvOptions {
                delimiter: arguments.delimiter,
                header: !arguments.no_header,
                null: arguments.null.clone(),
                has_index: form == TableForm::Dataframe,
            };
            let table = csv::Table::open(input.path(), &options)?;
            for note in table.notes() {
                crate::safe::complain(format_args!("hyperslab: note: {note}"));
            }
            match form {
                TableForm::Dataframe => Opened::Table(tables::Import::of_csv(table, arguments.null.clone())?),
                TableForm::Records | TableForm::Columns => Opened::Csv(table),
            }
        }
        Dense::Table(kind) => {
            Opened::Table(tables::Import::open(input.path(), kind, arguments.null.clone())?)
        }
    })
}

fn write(opened: &Opened, new: &NewObject<'_>, form: TableForm, storage: &Storage<'_>) -> Result<()> {
    match opened {
        Opened::Npy(source) => source.write(new.file, new.dataset(), storage),
        Opened::Npz(arrays) => arrays.write(new, storage),
        Opened::Csv(table) => match form {
            TableForm::Records => table.write(new, storage),
            TableForm::Columns => table.write_columns(new, storage),
            TableForm::Dataframe => bail!("the open table of the data frame is not a csv table"),
        },
        Opened::Table(table) => tables::import(table, new, form, storage),
    }
}

/// The first bytes of gzip files.
const GZIP: &[u8] = b"\x1f\x8b";

fn by_extension(path: &Path) -> Option<Format> {
    let text = path.to_str()?.to_lowercase();
    let name = text.strip_suffix(".gz").unwrap_or(&text);
    let format = match Path::new(name).extension()?.to_str()? {
        "csv" | "tsv" => Format::Csv,
        "mtx" => Format::Mtx,
        "jsonl" | "ndjson" => Format::Jsonl,
        _ if name.len() < text.len() => return None,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        "png" => Format::Png,
        "tif" | "tiff" => Format::Tiff,
        _ => match Kind::of(Path::new(name))? {
            Kind::Parquet => Format::Parquet,
            Kind::Arrow => Format::Arrow,
            Kind::JsonLines => Format::Jsonl,
            Kind::Csv => Format::Csv,
        },
    };
    Some(format)
}

/// Returns the input format of the command `import` for the first bytes of a file. CSV files cannot
/// be recognized by their first bytes.
fn by_bytes(input: &Input) -> Option<Format> {
    let head = input.head();
    if mtx::is_matrix_market(input.path()) {
        return Some(Format::Mtx);
    }
    if let Some(kind) = images::Kind::by_bytes(&head) {
        return Some(match kind {
            images::Kind::Png => Format::Png,
            images::Kind::Tiff => Format::Tiff,
        });
    }
    let starts: [(&[u8], Format); 4] = [
        (b"\x93NUMPY", Format::Npy),
        (b"PK\x03\x04", Format::Npz),
        (b"PAR1", Format::Parquet),
        (b"ARROW1", Format::Arrow),
    ];
    starts.into_iter().find(|(start, _)| head.starts_with(start)).map(|(_, format)| format)
}
