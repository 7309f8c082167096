//! `hyperslab export`: writes the elements of a dataset, a table or a sparse matrix to a file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::exchange::{self, ExportTarget, MatrixLocation};
use crate::formats::{Form, Format, write};
use crate::lookup::{self, DatasetArguments};
use crate::output_target::OutputTarget;
use crate::selection::parse_or_everything;
use crate::tables;

/// The arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab export data.h5 image image.npy
  hyperslab export data.h5 table table.csv --select 0:100
  hyperslab export data.h5 matrix matrix.mtx.gz       the defined elements of a sparse dataset, or the nonzero elements
  hyperslab export cells.h5ad X matrix.npz            compressed rows, as SciPy reads them
  hyperslab export data.h5 matrix cells.h5:/X         compressed rows, as AnnData stores them")]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// The output file, or FILE.h5:/GROUP for a group of compressed rows
    out: PathBuf,
    /// For matrices: the compression level, 0 to 9 [default: 6 for files, no compression for
    /// groups]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// Elements to write, as NumPy indices: `0:10,::2,5`. Negative numbers count from the end;
    /// `...` selects all dimensions that are not named
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Output format [default: by the extension of OUT]
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// In csv, put a quote (') before texts that a spreadsheet would read as formulas: texts that
    /// begin with = + - @, a tab or a carriage return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
}

/// Writes the selected elements to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<()> {
    let out = &arguments.out;
    if let Some(location) = MatrixLocation::of(out, None)
        && arguments.format.is_none()
    {
        if arguments.select.is_some() {
            bail!("--select does not work for a sparse matrix, which is always written whole");
        }
        let target = ExportTarget { location, out, level: arguments.deflate };
        return exchange::export(
            &arguments.source.open,
            &arguments.source.file,
            &arguments.source.path,
            &target,
        );
    }
    if let (Some(kind), None) = (tables::Kind::of(out), arguments.format) {
        return arguments.table(out, kind);
    }
    let format = arguments.format.or_else(|| Format::by_extension(out)).with_context(|| {
        format!(
            "the extension of `{}` is not one of a known format; name the format with --format npy, csv, json, raw or text, or use the extension .parquet, .arrow, .mtx, .mtx.gz or .npz",
            out.display()
        )
    })?;
    let _progress = arguments.source.open.progress("writing");
    let (file, dataset) = arguments.source.open()?;
    let taken = parse_or_everything(arguments.select.as_deref(), dataset.dataspace().dims())?;
    let mut output = OutputTarget::file(out, &arguments.source.file)?;
    let form = Form { format, escape_formulas: arguments.escape_formulas };
    write(&mut output, &file, &dataset, taken, form)?;
    output.finish()?;
    arguments.source.open.report();
    Ok(())
}

impl ExportArguments {
    /// Writes a dataset, or the datasets of a group, as a table.
    fn table(&self, out: &Path, kind: tables::Kind) -> Result<()> {
        if self.select.is_some() || self.deflate.is_some() {
            bail!("--select and --deflate do not work for a table, which is always written whole");
        }
        if hyperslab::vfd::is_same_file(out, &self.source.file) {
            bail!("`{}` is the file that is read", out.display());
        }
        let _progress = self.source.open.progress("writing");
        let file = self.source.open.open(&self.source.file)?;
        let object = lookup::object(&file, &self.source.path)
            .with_context(|| format!("`{}`", self.source.file.display()))?;
        let written = tables::export(&file, object, out, kind);
        written.with_context(|| format!("`{}`", self.source.path))?;
        self.source.open.report();
        Ok(())
    }
}
