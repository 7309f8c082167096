//! `hyperslab cat`, `head` and `tail`: the elements of a dataset or attribute.
//!
//! The commands read blocks of bounded size and write each block before the next, so memory use
//! does not depend on the size of the dataset.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use hyperslab::{Dataset, Dataspace, File};

use crate::attributes;
use crate::formats::{Form, Format, write, write_attribute, write_blocks, write_defined};
use crate::lookup::{self, DatasetArguments};
use crate::ls::dataset::sizes;
use crate::output_target::OutputTarget;
use crate::selection::{self, Taken, parse_or_everything};

/// The arguments of `cat`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab cat data.h5 images -s 17,100:200,::2
  hyperslab cat data.h5 table -o table.csv
  hyperslab cat data.h5 run/one@units        an attribute")]
pub(crate) struct CatArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// Elements to print, as NumPy indices: `0:10,::2,5`. Negative numbers count from the end;
    /// `...` selects all dimensions that are not named
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Output format [default: by the extension of OUT, else text]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "sparse_locations", "sparse_data"])]
    json: bool,
    /// In csv, put a quote (') before texts that a spreadsheet would read as formulas: texts that
    /// begin with = + - @, a tab or a carriage return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Print only defined elements, each with its coordinates. Only sparse datasets have undefined
    /// elements. As text, each line has one element; as JSON, the elements are
    /// `{"shape": …, "defined": [[[i, j], value], …]}`
    #[arg(long)]
    defined: bool,
    /// Print the blocks of defined elements, one per line: `DEFINED_SPARSE_DATA BLOCK (2,2)-(4,7)`
    #[arg(long, conflicts_with_all = ["defined", "format"])]
    sparse_locations: bool,
    /// Like --sparse-locations, with the values of each block, row by row
    #[arg(long, conflicts_with_all = ["defined", "format", "sparse_locations"])]
    sparse_data: bool,
}

/// The arguments of `head`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "As text, at most N rows and C columns are printed: the last two dimensions, at the first coordinate of \
    the other dimensions. A last line with … states the selection. Other formats have whole rows along the first dimension."
)]
pub(crate) struct HeadArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// Number of rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    rows: u64,
    /// Number of columns of text
    #[arg(short, long, value_name = "C", default_value_t = 10)]
    columns: u64,
    /// Output format
    #[arg(short, long, value_enum, default_value = "text")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The arguments of the command `tail`, which writes the last rows of a dataset.
#[derive(Debug, clap::Args)]
pub(crate) struct TailArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// Number of rows along the first dimension
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    rows: u64,
    /// Output format
    #[arg(short, long, value_enum, default_value = "text")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Runs the command `cat`: writes the selected elements of a dataset or attribute.
pub(crate) fn cat(arguments: &CatArguments) -> Result<()> {
    let source = &arguments.source;
    let file = source.open.open(&source.file)?;
    if let Some(attribute) = attributes::split(&file, &source.path) {
        return cat_attribute(arguments, &file, attribute);
    }
    let dataset = lookup::dataset(&file, &source.file.display().to_string(), &source.path)?;
    let taken = parse_or_everything(arguments.select.as_deref(), dataset.dataspace().dims())?;
    let (mut output, form) = arguments.output()?;
    if arguments.sparse_locations || arguments.sparse_data {
        write_sparse(&mut output, &file, &dataset, &taken, arguments.sparse_data)?;
    } else if arguments.defined {
        write_defined(&mut output, &file, &dataset, taken, form)?;
    } else {
        write(&mut output, &file, &dataset, taken, form)?;
    }
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

impl CatArguments {
    /// Opens the output of the command `cat`. Returns the output, and the format in which elements
    /// are written.
    fn output(&self) -> Result<(OutputTarget, Form)> {
        let by_extension = || self.output.as_deref().and_then(Format::by_extension);
        let named = if self.json { Some(Format::Json) } else { self.format };
        let format = named.or_else(by_extension).unwrap_or(Format::Text);
        let output = match &self.output {
            Some(path) => OutputTarget::file(path, &self.source.file)?,
            None => OutputTarget::stdout(format.content())?,
        };
        Ok((output, Form { format, escape_formulas: self.escape_formulas }))
    }
}

/// Writes a line for each block of defined elements of a sparse dataset. Also writes their values
/// if `with_values` is set.
fn write_sparse(
    output: &mut OutputTarget,
    file: &File,
    dataset: &Dataset,
    taken: &[Taken],
    with_values: bool,
) -> Result<()> {
    let nothing = taken.iter().any(|dimension| dimension.count == 0);
    if nothing || matches!(dataset.dataspace(), Dataspace::Null) {
        return Ok(());
    }
    write_blocks(output, file, dataset, &selection::selection(taken), with_values)
}

/// Writes the values of an attribute to the output of `cat`.
fn cat_attribute(arguments: &CatArguments, file: &File, (path, name): (&str, &str)) -> Result<()> {
    let is_selected = arguments.select.is_some() || arguments.defined;
    if is_selected || arguments.sparse_locations || arguments.sparse_data {
        bail!("an attribute is printed whole; --select and the options for sparse datasets do not apply");
    }
    let attribute = attributes::open(file, &arguments.source.file, path, name)?;
    let (mut output, form) = arguments.output()?;
    write_attribute(&mut output, file, &attribute, form)?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

/// Runs the command `head`: writes the first rows of a dataset.
pub(crate) fn head(arguments: &HeadArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let format = if arguments.json { Format::Json } else { arguments.format };
    let space = dataset.dataspace();
    let dims = space.dims();
    let taken = match format {
        Format::Text => selection::first_corner(dims, arguments.rows, arguments.columns),
        _ => selection::first_rows(dims, arguments.rows),
    };
    let mut output = OutputTarget::stdout(format.content())?;
    write(&mut output, &file, &dataset, taken.clone(), Form { format, escape_formulas: false })?;
    if format == Format::Text
        && let Some(note) = remainder(&taken, dims)
    {
        writeln!(output, "{note}")?;
    }
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

/// Returns a note that some elements were not printed. The note states the printed selection and
/// the shape of the dataset. Returns `None` if the selection is the whole dataset.
fn remainder(taken: &[Taken], dims: &[u64]) -> Option<String> {
    let is_cut = taken.iter().zip(dims).any(|(taken, size)| taken.count < *size);
    let part = |(taken, size): (&Taken, &u64)| match taken {
        Taken { kept: false, start, .. } => start.to_string(),
        Taken { count, .. } if count == size => ":".to_owned(),
        Taken { count, .. } => format!(":{count}"),
    };
    let parts: Vec<String> = taken.iter().zip(dims).map(part).collect();
    is_cut.then(|| format!("… [{}] of {}", parts.join(", "), sizes(dims)))
}

/// Runs the command `tail`: writes the last rows of a dataset.
pub(crate) fn tail(arguments: &TailArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let taken = selection::last_rows(dataset.dataspace().dims(), arguments.rows);
    let format = if arguments.json { Format::Json } else { arguments.format };
    let mut output = OutputTarget::stdout(format.content())?;
    write(&mut output, &file, &dataset, taken, Form { format, escape_formulas: false })?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}
