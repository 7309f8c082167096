//! `hyperslab cat` and `hyperslab head`: the elements of a dataset.
//!
//! The commands read blocks of bounded size and write each block before the next, so memory use
//! does not depend on the size of the dataset.

use std::path::PathBuf;

use anyhow::Result;
use hyperslab::{Dataset, Dataspace, File};

use crate::formats::{Form, Format, write, write_blocks, write_defined};
use crate::lookup::DatasetArguments;
use crate::output_target::OutputTarget;
use crate::selection::{self, Taken, parse_or_everything};

/// The arguments of `cat`.
#[derive(Debug, clap::Args)]
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
pub(crate) struct HeadArguments {
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

/// Writes the selected elements.
pub(crate) fn cat(arguments: &CatArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let taken = parse_or_everything(arguments.select.as_deref(), dataset.dataspace().dims())?;
    let by_extension = || arguments.output.as_deref().and_then(Format::by_extension);
    let named = if arguments.json { Some(Format::Json) } else { arguments.format };
    let format = named.or_else(by_extension).unwrap_or(Format::Text);
    let mut output = match &arguments.output {
        Some(path) => OutputTarget::file(path, &arguments.source.file)?,
        None => OutputTarget::stdout(format.content())?,
    };
    let form = Form { format, escape_formulas: arguments.escape_formulas };
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

/// Writes a line for each block of defined elements, and its values if `with_values` is set.
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

/// Writes the first rows.
pub(crate) fn head(arguments: &HeadArguments) -> Result<()> {
    let (file, dataset) = arguments.source.open()?;
    let taken = selection::first_rows(dataset.dataspace().dims(), arguments.rows);
    let format = if arguments.json { Format::Json } else { arguments.format };
    let mut output = OutputTarget::stdout(format.content())?;
    write(&mut output, &file, &dataset, taken, Form { format, escape_formulas: false })?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}
