//! `hyperslab cat` and `hyperslab head`: the elements of a dataset.
//!
//! Elements are read in blocks of bounded size and written as they come, so that the size of a dataset does not matter.

pub(crate) mod blocks;
mod csv;
pub(crate) mod defined;
pub(crate) mod descr;
mod destination;
mod elements;
mod json;
pub(crate) mod npy;
pub(crate) mod selection;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, Dataspace, Datatype, File};

use self::blocks::Blocks;
pub(crate) use self::destination::Destination;
use self::elements::{Elements, Style};
use self::selection::Taken;
use crate::exchange::{self, Goal, Place};
use crate::open::OpenArguments;
use crate::values::paths::Paths;
use crate::values::{self, Decoder, complex_base};
use crate::{places, tables};

/// What `cat` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CatArguments {
    #[command(flatten)]
    source: Source,
    /// What to print, as NumPy's indices: `0:10,::2,5`; `-1` counts from the end, `...` stands for the dimensions left out
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// How to print it [default: by the ending of OUT, else text]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "sparse_locations", "sparse_data"])]
    json: bool,
    /// As csv: begin texts with a quote (') that a spreadsheet would take for formulas: those that begin with = + - @, a tab or
    /// a return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
    /// Where to write it, instead of the terminal
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print only defined elements, each with its coordinates in the dataset. Only sparse datasets have others; as text one
    /// element in a line, as json `{"shape": …, "defined": [[[i, j], value], …]}`
    #[arg(long)]
    defined: bool,
    /// Print where elements are defined: a line for each block, `DEFINED_SPARSE_DATA BLOCK (2,2)-(4,7)`
    #[arg(long, conflicts_with_all = ["defined", "format"])]
    sparse_locations: bool,
    /// As --sparse-locations, with the values behind each line, row by row
    #[arg(long, conflicts_with_all = ["defined", "format", "sparse_locations"])]
    sparse_data: bool,
}

/// What `export` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab export data.h5 image image.npy
  hyperslab export data.h5 table table.csv --select 0:100
  hyperslab export data.h5 matrix matrix.mtx.gz       what is stored of a sparse dataset, or is not zero
  hyperslab export cells.h5ad X matrix.npz            compressed rows or columns, as SciPy reads them
  hyperslab export data.h5 matrix cells.h5:/X         compressed rows, as AnnData has them")]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    source: Source,
    /// Where to write it: a file, or FILE.h5:/GROUP for a group of compressed rows
    out: PathBuf,
    /// Matrices: compresses what is written at a level, 0 to 9 [default: 6, and none in groups]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// What to write, as NumPy's indices: `0:10,::2,5`; `-1` counts from the end, `...` stands for the dimensions left out
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// How to write it [default: by the ending of OUT]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// As csv: begin texts with a quote (') that a spreadsheet would take for formulas: those that begin with = + - @, a tab or
    /// a return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
}

/// What `head` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct HeadArguments {
    #[command(flatten)]
    source: Source,
    /// How many rows, counted along the first dimension
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    rows: u64,
    /// How to print them
    #[arg(short, long, value_enum, default_value = "text")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The dataset.
#[derive(Debug, clap::Args)]
struct Source {
    #[command(flatten)]
    open: OpenArguments,
    /// The file
    file: PathBuf,
    /// The dataset
    path: String,
}

/// A format, and what is asked for of it.
#[derive(Debug, Clone, Copy)]
struct Form {
    format: Format,
    /// Texts that look like formulas begin with a quote.
    escape_formulas: bool,
}

/// How elements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// As NumPy prints arrays; one row in a line if there are more than 1000 elements
    Text,
    /// One record per row; one per element, with a header, for compounds
    Csv,
    /// NumPy's file format
    Npy,
    /// The bytes as they are stored, after the filters
    Raw,
    /// An object with the `shape`, and the elements as nested arrays in `data`; `nan`, `inf` and `-inf` are strings
    Json,
}

impl Format {
    fn by_ending(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "npy" => Some(Self::Npy),
            "json" => Some(Self::Json),
            "raw" | "bin" => Some(Self::Raw),
            _ => None,
        }
    }

    /// Whether what is written is no text.
    fn is_binary(self) -> bool {
        matches!(self, Self::Npy | Self::Raw)
    }
}

/// Writes the selected elements to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<()> {
    let out = &arguments.out;
    if let Some(place) = Place::of(out, None)
        && arguments.format.is_none()
    {
        if arguments.select.is_some() {
            bail!("--select has no meaning for a sparse matrix, which is written whole");
        }
        let goal = Goal { place, out, level: arguments.deflate };
        return exchange::export(
            &arguments.source.open,
            &arguments.source.file,
            &arguments.source.path,
            &goal,
        );
    }
    if let (Some(kind), None) = (tables::Kind::of(out), arguments.format) {
        return arguments.table(out, kind);
    }
    let format = arguments.format.or_else(|| Format::by_ending(out)).with_context(|| {
        format!(
            "the ending of `{}` names no format; say it with --format npy, csv, json, raw or text, or name a .parquet, .arrow, .mtx, .mtx.gz or .npz",
            out.display()
        )
    })?;
    let _progress = arguments.source.open.progress("writing");
    let (file, dataset) = arguments.source.open()?;
    let taken = taken(arguments.select.as_deref(), &dataset)?;
    let mut output = Destination::file(out, &arguments.source.file)?;
    let form = Form { format, escape_formulas: arguments.escape_formulas };
    write(&mut output, &file, &dataset, taken, form)?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

fn taken(select: Option<&str>, dataset: &Dataset) -> Result<Vec<Taken>> {
    let dataspace = dataset.dataspace();
    match select {
        Some(text) => selection::parse(text, dataspace.dims()),
        None => Ok(selection::everything(dataspace.dims())),
    }
}

/// Writes the selected elements.
pub(crate) fn cat(arguments: &CatArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let taken = taken(arguments.select.as_deref(), &dataset)?;
    let by_ending = || arguments.output.as_deref().and_then(Format::by_ending);
    let asked = if arguments.json { Some(Format::Json) } else { arguments.format };
    let format = asked.or_else(by_ending).unwrap_or(Format::Text);
    let mut output = match &arguments.output {
        Some(path) => Destination::file(path, &arguments.source.file)?,
        None => Destination::stdout(format)?,
    };
    let form = Form { format, escape_formulas: arguments.escape_formulas };
    if arguments.sparse_locations || arguments.sparse_data {
        blocks_of(&mut output, &file, &dataset, &taken, arguments.sparse_data)?;
    } else if arguments.defined {
        defined::write(&mut output, &file, &dataset, taken, form)?;
    } else {
        write(&mut output, &file, &dataset, taken, form)?;
    }
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

/// Writes a line for each block of defined elements, and their values if `data` says so.
fn blocks_of(
    output: &mut Destination,
    file: &File,
    dataset: &Dataset,
    taken: &[Taken],
    data: bool,
) -> Result<()> {
    let nothing = taken.iter().any(|dimension| dimension.count == 0);
    if nothing || matches!(dataset.dataspace(), Dataspace::Null) {
        return Ok(());
    }
    let paths = Paths::new(file);
    let mut texts = Elements::new(dataset.datatype(), &paths, Style::Python);
    let texts = data.then_some(&mut texts as &mut dyn values::blocks::Texts);
    values::blocks::write(output, dataset, &selection::selection(taken), 0, texts)
}

/// Writes the first rows.
pub(crate) fn head(arguments: &HeadArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let taken = selection::first_rows(dataset.dataspace().dims(), arguments.rows);
    let format = if arguments.json { Format::Json } else { arguments.format };
    let mut output = Destination::stdout(format)?;
    write(&mut output, &file, &dataset, taken, Form { format, escape_formulas: false })?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

impl ExportArguments {
    /// Writes a dataset, or the datasets of a group, as a table.
    fn table(&self, out: &std::path::Path, kind: tables::Kind) -> Result<()> {
        if self.select.is_some() || self.deflate.is_some() {
            bail!("--select and --deflate have no meaning for a table, which is written whole");
        }
        if hyperslab::vfd::is_same_file(out, &self.source.file) {
            bail!("`{}` is the file that is read", out.display());
        }
        let _progress = self.source.open.progress("writing");
        let file = self.source.open.open(&self.source.file)?;
        let object = places::object(&file, &self.source.path)
            .with_context(|| format!("`{}`", self.source.file.display()))?;
        let written = tables::export(&file, object, out, kind);
        written.with_context(|| format!("`{}`", self.source.path))?;
        self.source.open.report();
        Ok(())
    }
}

impl Source {
    fn open(&self) -> Result<(File, Dataset)> {
        let shown = self.file.display().to_string();
        let file = self.open.open(&self.file)?;
        let dataset = places::dataset(&file, &shown, &self.path)?;
        Ok((file, dataset))
    }
}

fn write(
    output: &mut Destination,
    file: &File,
    dataset: &Dataset,
    taken: Vec<Taken>,
    form: Form,
) -> Result<()> {
    let format = form.format;
    let kept = taken.iter().filter(|dimension| dimension.kept);
    let shape: Vec<u64> = kept.map(|dimension| dimension.count).collect();
    let blocks = Blocks::new(dataset, taken);
    if matches!(dataset.dataspace(), Dataspace::Null) {
        return write_nothing(output, dataset, format);
    }
    match format {
        Format::Npy => npy::write(output, dataset.datatype(), &shape, &blocks),
        Format::Raw => blocks.for_each(|stored| Ok(output.write_all(stored.bytes())?)),
        Format::Csv if csv::header(dataset.datatype()).is_some() => {
            write_records(output, file, dataset, &blocks, form)
        }
        Format::Text | Format::Csv | Format::Json => {
            let (nested, datatype) = with_elements_of_arrays(shape.clone(), dataset.datatype());
            write_texts(output, file, datatype, (&shape, &nested), &blocks, form)
        }
    }
}

/// A dataspace without elements.
fn write_nothing(output: &mut impl Write, dataset: &Dataset, format: Format) -> Result<()> {
    match format {
        Format::Npy => bail!("dataset `{}` is null, for which npy has no form", dataset.name()),
        Format::Json => output.write_all(b"{\"shape\":null,\"data\":null}\n")?,
        Format::Text => output.write_all(b"None\n")?,
        Format::Csv | Format::Raw => {}
    }
    Ok(())
}

/// Elements that are arrays add dimensions.
fn with_elements_of_arrays(mut shape: Vec<u64>, mut datatype: &Datatype) -> (Vec<u64>, &Datatype) {
    while let DatatypeClass::Array(array) = &datatype.class {
        shape.extend(array.dims.iter().copied().map(u64::from));
        datatype = &array.base;
    }
    (shape, datatype)
}

/// Elements one by one: of the dataset's shape, and of that shape with the dimensions of elements that are arrays.
fn write_texts(
    output: &mut Destination,
    file: &File,
    datatype: &Datatype,
    (outer, shape): (&[u64], &[u64]),
    blocks: &Blocks<'_>,
    form: Form,
) -> Result<()> {
    let format = form.format;
    let paths = Paths::new(file);
    let style = match format {
        Format::Json => Style::Json,
        Format::Csv => csv_style(output, form),
        _ => Style::Python,
    };
    let mut elements = Elements::new(datatype, &paths, style);
    let mut each = |visit: &mut dyn FnMut(&str) -> Result<()>| {
        blocks.for_each(|stored| elements.each(stored, stored.bytes(), &mut *visit))
    };
    let count = shape.iter().fold(1_u64, |count, size| count.saturating_mul(*size));
    match format {
        Format::Json => {
            let mut nested = json::Nested::begin(output, outer, shape)?;
            each(&mut |text| nested.element(output, text))?;
            nested.end(output)
        }
        Format::Csv => {
            let mut records = csv::Records::new(shape);
            each(&mut |text| records.element(output, text))
        }
        _ if count <= text::SMALL => {
            let mut all = Vec::new();
            each(&mut |text| {
                all.push(text.to_owned());
                Ok(())
            })?;
            text::small(output, shape, &all, aligned(datatype))
        }
        _ => {
            let mut rows = text::Rows::new(shape);
            each(&mut |text| rows.element(output, text))?;
            rows.end(output)
        }
    }
}

fn csv_style(output: &Destination, form: Form) -> Style {
    match form.escape_formulas {
        true => Style::NoFormula,
        false if output.is_terminal() => Style::Shown,
        false => Style::Bare,
    }
}

/// How wide numbers are at least, if elements are such, which stand in columns.
fn aligned(datatype: &Datatype) -> Option<usize> {
    if datatype.is_bool() {
        return Some(5);
    }
    (datatype.is_number() || complex_base(datatype).is_some()).then_some(0)
}

/// Compounds as comma-separated values.
fn write_records(
    output: &mut Destination,
    file: &File,
    dataset: &Dataset,
    blocks: &Blocks<'_>,
    form: Form,
) -> Result<()> {
    let datatype = dataset.datatype();
    let columns = csv::header(datatype).unwrap_or_default();
    let (paths, style) = (Paths::new(file), csv_style(output, form));
    let names: Vec<String> = columns.iter().map(|name| csv::column(name, style)).collect();
    writeln!(output, "{}", names.join(","))?;
    blocks.for_each(|stored| {
        for element in stored.elements() {
            let mut decoder = Decoder { stored: Some(stored), paths: &paths, budget: usize::MAX };
            let value = decoder.array(&[], datatype, element)?;
            let mut fields = Vec::new();
            csv::fields(datatype, &value, style, &mut fields);
            writeln!(output, "{}", fields.join(","))?;
        }
        Ok(())
    })
}
