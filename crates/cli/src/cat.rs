//! `hyperslab cat` and `hyperslab head`: the elements of a dataset.
//!
//! Elements are read in blocks of bounded size and written as they come, so that memory use does not depend on the size of
//! the dataset.

use std::path::PathBuf;

use anyhow::Result;
use hyperslab::{Dataset, Dataspace, File};

use crate::destination::Destination;
use crate::formats::{Form, Format, write, write_blocks, write_defined};
use crate::places::DatasetArguments;
use crate::selection::{self, Taken, parse_or_everything};

/// The arguments of `cat`.
#[derive(Debug, clap::Args)]
pub(crate) struct CatArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// Selection to print, as NumPy indices: `0:10,::2,5`; `-1` counts from the end, `...` stands for the dimensions left out
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Output format [default: by the ending of OUT, else text]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "sparse_locations", "sparse_data"])]
    json: bool,
    /// As csv: begin texts with a quote (') that a spreadsheet would take for formulas: those that begin with = + - @, a tab or
    /// a return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
    /// Output file, instead of the terminal
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
    let by_ending = || arguments.output.as_deref().and_then(Format::by_ending);
    let asked = if arguments.json { Some(Format::Json) } else { arguments.format };
    let format = asked.or_else(by_ending).unwrap_or(Format::Text);
    let mut output = match &arguments.output {
        Some(path) => Destination::file(path, &arguments.source.file)?,
        None => Destination::stdout(format.content())?,
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

/// Writes a line for each block of defined elements, with their values if `with_values` is set.
fn write_sparse(
    output: &mut Destination,
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
    let mut output = Destination::stdout(format.content())?;
    write(&mut output, &file, &dataset, taken, Form { format, escape_formulas: false })?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}
