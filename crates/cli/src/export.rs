//! `hyperslab export`: writes the elements of a dataset, a table, a sparse matrix, or references to
//! the chunks of a file to a file.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hyperslab::ObjectKind;

use crate::exchange::{self, ExportTarget, MatrixLocation, NamedFormat};
use crate::formats::{Form, Format, write};
use crate::images::{self, Pixels};
use crate::lookup::{self, DatasetArguments};
use crate::output_target::{Content, OutputTarget};
use crate::references::{self, ReferenceArguments};
use crate::selection::parse_or_everything;
use crate::tables;

/// The arguments of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hyperslab export data.h5 image image.npy
  hyperslab export data.h5 table table.csv --select 0:100
  hyperslab export data.h5 table - --format parquet > t.parquet
  hyperslab export cells.h5ad obs obs.parquet         the columns of a data frame, with categories
  hyperslab export data.h5 matrix matrix.mtx.gz       the defined elements of a sparse dataset, or the nonzero elements
  hyperslab export cells.h5ad X matrix.npz            compressed rows, as SciPy reads them
  hyperslab export data.h5 matrix cells.h5:/X         compressed rows, as AnnData stores them
  hyperslab export data.h5 movie frame-%04d.png       a PNG image for each frame of a stack
  hyperslab export data.h5 stack stack.tif            a TIFF file with a page for each frame
  hyperslab export data.h5 kerchunk -o refs.json      references to all chunks, for zarr and xarray
  hyperslab export data.h5 / refs.parq --format kerchunk --url s3://bucket/data.h5")]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    source: DatasetArguments,
    /// The output file, `-` for standard output, or FILE.h5:/GROUP for a group of compressed rows.
    /// For images, a number such as `%04d` in the name makes a file for each frame
    #[arg(required_unless_present = "output")]
    out: Option<PathBuf>,
    /// The output of references, in place of OUT: a JSON file, or a folder with the extension
    /// `parq` for Parquet files. If PATH is `kerchunk`, references of the whole file are written
    #[arg(short, long, value_name = "OUT", conflicts_with = "out")]
    output: Option<PathBuf>,
    /// For tables and references: leave out the members of a group that cannot be written
    #[arg(long)]
    skip_unsupported: bool,
    /// For images: the meaning of the last dimension [default: color if it has 3 or 4 elements of
    /// unsigned 8 or 16 bits]
    #[arg(long, value_enum, value_name = "MEANING")]
    pixels: Option<Pixels>,
    /// For matrices and images: the compression level, 0 to 9 [default: 6 for files of matrices, no
    /// compression for groups and TIFF]
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// Elements to write, as NumPy indices: `0:10,::2,5`. Negative numbers count from the end;
    /// `...` selects all dimensions that are not named
    #[arg(short, long, value_name = "SELECTION", allow_hyphen_values = true)]
    select: Option<String>,
    /// Output format [default: by the extension of OUT]
    #[arg(short, long, value_enum)]
    format: Option<ExportFormat>,
    /// In csv, put a quote (') before texts that a spreadsheet would read as formulas: texts that
    /// begin with = + - @, a tab or a carriage return. Numbers stay as they are
    #[arg(long)]
    escape_formulas: bool,
    #[command(flatten)]
    references: ReferenceArguments,
}

/// A format to which elements can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// Text as NumPy prints arrays; with more than 1000 elements, one row per line
    Text,
    /// One record per row; for compounds a header, and one record per element
    Csv,
    /// NumPy's file format
    Npy,
    /// The decoded bytes of the elements, in the datatype of the file
    Raw,
    /// An object with the `shape`, and the elements as nested arrays in `data`
    Json,
    /// A table of Apache Parquet
    Parquet,
    /// A table in the file format of Apache Arrow
    Arrow,
    /// JSON lines: an object in each line
    Jsonl,
    /// A sparse matrix as text, in the Matrix Market format
    Mtx,
    /// A sparse matrix of SciPy
    Npz,
    /// A PNG image, or one for each frame
    Png,
    /// A TIFF image, with a page for each frame
    Tiff,
    /// References to the chunks of a group, as kerchunk writes them: JSON, or Parquet files in a
    /// folder
    Kerchunk,
}

/// The kind of file that an export writes, with its format.
enum Writer {
    Elements(Format),
    Table(tables::Kind),
    Matrix(MatrixLocation),
    Images(images::Kind),
    References,
}

/// The word in the place of PATH that selects references to the whole file.
const KERCHUNK: &str = "kerchunk";

impl ExportFormat {
    fn writer(self, out: &Path) -> Writer {
        match self {
            Self::Text => Writer::Elements(Format::Text),
            Self::Csv => Writer::Elements(Format::Csv),
            Self::Npy => Writer::Elements(Format::Npy),
            Self::Raw => Writer::Elements(Format::Raw),
            Self::Json => Writer::Elements(Format::Json),
            Self::Parquet => Writer::Table(tables::Kind::Parquet),
            Self::Arrow => Writer::Table(tables::Kind::Arrow),
            Self::Jsonl => Writer::Table(tables::Kind::JsonLines),
            Self::Mtx => Writer::Matrix(MatrixLocation::named(out, NamedFormat::MatrixMarket)),
            Self::Npz => Writer::Matrix(MatrixLocation::named(out, NamedFormat::Npz)),
            Self::Png => Writer::Images(images::Kind::Png),
            Self::Tiff => Writer::Images(images::Kind::Tiff),
            Self::Kerchunk => Writer::References,
        }
    }
}

/// Returns the kind of exported file for the extension of a path.
fn by_extension(out: &Path) -> Option<Writer> {
    MatrixLocation::of(out)
        .map(Writer::Matrix)
        .or_else(|| tables::Kind::of(out).map(Writer::Table))
        .or_else(|| images::Kind::of(out).map(Writer::Images))
        .or_else(|| Format::by_extension(out).map(Writer::Elements))
}

/// Exports the selected elements of a dataset to a file.
pub(crate) fn export(arguments: &ExportArguments) -> Result<()> {
    let (path, out) = (&arguments.source.path, arguments.out()?);
    let is_whole = arguments.output.is_some() && arguments.format.is_none() && path == KERCHUNK;
    let writer = match arguments.format {
        _ if is_whole => Some(Writer::References),
        Some(format) => Some(format.writer(out)),
        None => by_extension(out),
    };
    let writer = writer.with_context(|| {
        format!(
            "the extension of `{}` is not one of a known format; name the format with --format npy, csv, json, raw, text, parquet, arrow, jsonl, mtx, npz, png, tiff or kerchunk",
            out.display()
        )
    })?;
    let writer = match writer {
        // A group is a table; a dataset in csv has columns for its dimensions.
        Writer::Elements(Format::Csv) if arguments.is_group()? => Writer::Table(tables::Kind::Csv),
        writer => writer,
    };
    arguments.check(&writer)?;
    match writer {
        Writer::Elements(format) => arguments.elements(format),
        Writer::Images(kind) => arguments.images(kind),
        Writer::Table(kind) => arguments.table(kind),
        Writer::References => {
            let source = &arguments.source;
            let path = if is_whole { "/" } else { path };
            let source = references::Source { open: &source.open, file: &source.file, path };
            references::export(&source, out, &arguments.references, arguments.skip_unsupported)
        }
        Writer::Matrix(location) => {
            let target = ExportTarget { location, out, level: arguments.deflate };
            let source = &arguments.source;
            exchange::export(&source.open, &source.file, &source.path, &target)
        }
    }
}

impl ExportArguments {
    /// Returns the output.
    fn out(&self) -> Result<&Path> {
        self.out.as_deref().or(self.output.as_deref()).context("the output is missing")
    }

    /// Checks that the arguments fit the kind of the exported file.
    fn check(&self, writer: &Writer) -> Result<()> {
        let is_table = matches!(writer, Writer::Table(_));
        let is_references = matches!(writer, Writer::References);
        if self.skip_unsupported && !is_table && !is_references {
            bail!("--skip-unsupported works only for tables and references");
        }
        if self.pixels.is_some() && !matches!(writer, Writer::Images(_)) {
            bail!("--pixels works only for images");
        }
        if self.references.is_used() && !is_references {
            bail!("--url, --inline and --recode work only for references (--format kerchunk)");
        }
        if is_references && (self.select.is_some() || self.deflate.is_some()) {
            bail!("--select and --deflate do not work for references");
        }
        if self.select.is_some() && matches!(writer, Writer::Matrix(_)) {
            bail!("--select does not work for a sparse matrix, which is always written whole");
        }
        Ok(())
    }

    /// Returns true if the path leads to a group.
    fn is_group(&self) -> Result<bool> {
        let file = self.source.open.open(&self.source.file)?;
        Ok(lookup::object(&file, &self.source.path)
            .is_ok_and(|object| object.kind() == Some(ObjectKind::Group)))
    }

    fn elements(&self, format: Format) -> Result<()> {
        let _progress = self.source.open.progress("writing");
        let (file, dataset) = self.source.open()?;
        let taken = parse_or_everything(self.select.as_deref(), dataset.dataspace().dims())?;
        let mut output = OutputTarget::named(self.out()?, &self.source.file, format.content())?;
        let form = Form { format, escape_formulas: self.escape_formulas };
        write(&mut output, &file, &dataset, taken, form)?;
        output.finish()?;
        self.source.open.report();
        Ok(())
    }

    /// Exports a dataset as images.
    fn images(&self, kind: images::Kind) -> Result<()> {
        let _progress = self.source.open.progress("writing");
        let (_file, dataset) = self.source.open()?;
        let taken = parse_or_everything(self.select.as_deref(), dataset.dataspace().dims())?;
        let level = self.deflate.map(u8::try_from).transpose()?;
        let options = images::ExportOptions { kind, pixels: self.pixels, level };
        images::export(&dataset, taken, (self.out()?, &self.source.file), options)?;
        self.source.open.report();
        Ok(())
    }

    /// Exports a dataset, or the members of a group, as a table.
    fn table(&self, kind: tables::Kind) -> Result<()> {
        if self.select.is_some() || self.deflate.is_some() {
            bail!("--select and --deflate do not work for a table, which is always written whole");
        }
        let _progress = self.source.open.progress("writing");
        let file = self.source.open.open(&self.source.file)?;
        let object = lookup::object(&file, &self.source.path)
            .with_context(|| format!("`{}`", self.source.file.display()))?;
        let content = if kind == tables::Kind::Csv { Content::Data } else { Content::Bytes };
        let mut output = OutputTarget::named(self.out()?, &self.source.file, content)?;
        let (skip, escape_formulas) = (self.skip_unsupported, self.escape_formulas);
        let options = tables::ExportOptions { kind, skip, escape_formulas };
        let written = tables::export(&file, object, &mut output, options);
        written.with_context(|| format!("`{}`", self.source.path))?;
        output.finish()?;
        self.source.open.report();
        Ok(())
    }
}
