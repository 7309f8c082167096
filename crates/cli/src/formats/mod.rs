//! File formats. Each module has the reader and the writer of one format.
//!
//! The formats of dense arrays read into a new dataset with a [`Storage`](storage::Storage);
//! [`write()`] and [`write_defined`] write them. The formats of sparse matrices ([`mtx`], [`npz`])
//! read and write streams of [`entries`](crate::entries). The formats of tables (`parquet`,
//! `arrow`, `jsonl`) need the feature `tables`, and read and write batches of rows. The formats of
//! images (`png`, `tiff`) need the feature `images`, and read and write frames.

#[cfg(feature = "tables")]
pub(crate) mod arrow;
mod attribute;
pub(crate) mod csv;
mod elements;
#[cfg(feature = "images")]
pub(crate) mod image;
mod json;
#[cfg(feature = "tables")]
pub(crate) mod jsonl;
pub(crate) mod mtx;
pub(crate) mod new_object;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod nulls;
#[cfg(feature = "tables")]
pub(crate) mod parquet;
#[cfg(feature = "images")]
pub(crate) mod png;
pub(crate) mod record;
pub(crate) mod storage;
#[cfg(feature = "tables")]
pub(crate) mod table;
mod text;
#[cfg(feature = "images")]
pub(crate) mod tiff;

use std::io::Write;

use anyhow::{Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, Dataspace, Datatype, File, Selection};

pub(crate) use self::attribute::write_attribute;
use self::elements::{Elements, Style};
use crate::output_target::{Content, OutputTarget};
use crate::selection::Taken;
use crate::selection::blocks::Blocks;
use crate::selection::defined::DefinedElements;
use crate::values;
use crate::values::paths::Paths;

/// A format for the output of elements, with its options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: Format,
    /// True if a quote precedes texts that look like formulas.
    pub(crate) escape_formulas: bool,
}

/// A text or file format for elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text as NumPy prints arrays; with more than 1000 elements, one row per line
    Text,
    /// One record per row; for compounds a header, and one record per element
    Csv,
    /// NumPy's file format
    Npy,
    /// The decoded bytes of the elements, in the datatype of the file
    Raw,
    /// An object with the `shape`, and the elements as nested arrays in `data`; `nan`, `inf` and
    /// `-inf` are strings
    Json,
}

impl Format {
    /// Returns the element format for the extension of a path.
    pub(crate) fn by_extension(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "npy" => Some(Self::Npy),
            "json" => Some(Self::Json),
            "raw" | "bin" => Some(Self::Raw),
            _ => None,
        }
    }

    /// Returns the kind of output of the element format: text or bytes.
    pub(crate) fn content(self) -> Content {
        match self {
            Self::Text | Self::Json => Content::Text,
            Self::Csv => Content::Data,
            Self::Npy | Self::Raw => Content::Bytes,
        }
    }
}

/// Writes the selected elements in this element format.
pub(crate) fn write(
    output: &mut OutputTarget,
    file: &File,
    dataset: &Dataset,
    taken: Vec<Taken>,
    form: Form,
) -> Result<()> {
    let format = form.format;
    let kept = taken.iter().filter(|dimension| dimension.kept);
    let shape: Vec<u64> = kept.map(|dimension| dimension.count).collect();
    let datatype = dataset.datatype();
    let blocks = Blocks::new(dataset, taken);
    if matches!(dataset.dataspace(), Dataspace::Null) {
        return write_nothing(output, dataset, format);
    }
    match format {
        Format::Npy => npy::write(output, datatype, units(dataset)?.as_deref(), &shape, &blocks),
        Format::Raw => blocks.for_each(|stored| Ok(output.write_all(stored.bytes())?)),
        Format::Csv if let Some(columns) = csv::header(datatype) => {
            let style = csv_style(output, form);
            csv::write_records(output, file, (datatype, &columns), &blocks, style)
        }
        Format::Text | Format::Csv | Format::Json => {
            let (nested, datatype) = with_elements_of_arrays(shape.clone(), datatype);
            write_texts(output, file, datatype, (&shape, &nested), &blocks, form)
        }
    }
}

/// Returns the text of the attribute `units` of a dataset. Returns `None` if the attribute does not
/// exist or is no text.
fn units(dataset: &Dataset) -> Result<Option<String>> {
    let attributes = dataset.attributes()?;
    let units = attributes.iter().find(|attribute| attribute.name() == npy::UNITS);
    Ok(units.and_then(|units| units.read_string().ok()))
}

/// Writes the output for a dataset with a null dataspace, which has no elements.
fn write_nothing(output: &mut OutputTarget, dataset: &Dataset, format: Format) -> Result<()> {
    match format {
        Format::Npy => bail!("dataset `{}` has a null dataspace, which npy cannot represent", dataset.name()),
        Format::Json => output.write_all(b"{\"shape\":null,\"data\":null}\n")?,
        Format::Text => output.write_all(b"None\n")?,
        Format::Csv | Format::Raw => {}
    }
    Ok(())
}

/// Returns the shape and the datatype of the innermost elements. The shape is the shape of the
/// dataset, with the dimensions of array elements added.
fn with_elements_of_arrays(mut shape: Vec<u64>, mut datatype: &Datatype) -> (Vec<u64>, &Datatype) {
    while let DatatypeClass::Array(array) = &datatype.class {
        shape.extend(array.dims.iter().copied().map(u64::from));
        datatype = &array.base;
    }
    (shape, datatype)
}

/// Writes elements in a text format. `outer` is the shape of the dataset. `shape` is the shape with
/// the dimensions of array elements added.
fn write_texts(
    output: &mut OutputTarget,
    file: &File,
    datatype: &Datatype,
    (outer, shape): (&[u64], &[u64]),
    blocks: &Blocks<'_>,
    form: Form,
) -> Result<()> {
    let paths = Paths::new(file);
    let style = match form.format {
        Format::Json => Style::Json,
        Format::Csv => csv_style(output, form),
        _ => Style::Python,
    };
    let mut elements = Elements::new(datatype, &paths, style);
    let each = &mut |visit: &mut dyn FnMut(&str) -> Result<()>| {
        blocks.for_each(|stored| elements.each(stored, stored.bytes(), &mut *visit))
    };
    match form.format {
        Format::Json => json::write(output, outer, shape, each),
        Format::Csv => csv::write_elements(output, shape, each),
        _ => text::write(output, shape, datatype, each),
    }
}

/// Returns the style of texts in comma-separated values.
fn csv_style(output: &OutputTarget, form: Form) -> Style {
    match form.escape_formulas {
        true => Style::NoFormula,
        false if output.is_terminal() => Style::Shown,
        false => Style::Bare,
    }
}

/// Writes the defined elements of a selection with their coordinates in this element format.
pub(crate) fn write_defined(
    output: &mut OutputTarget,
    file: &File,
    dataset: &Dataset,
    taken: Vec<Taken>,
    form: Form,
) -> Result<()> {
    let elements = DefinedElements::new(dataset, taken)?;
    match form.format {
        Format::Json => json::write_defined(output, file, &elements),
        Format::Csv => {
            let style = csv_style(output, form);
            csv::write_defined(output, file, &elements, style)
        }
        Format::Text => text::write_defined(output, file, &elements),
        Format::Npy | Format::Raw => {
            bail!(
                "--defined prints coordinates and values, which npy and raw cannot represent; try json, csv or text"
            )
        }
    }
}

/// Writes a line for each block of defined elements in `selection`. Also writes the values of the
/// block if `with_values` is set.
pub(crate) fn write_blocks(
    output: &mut OutputTarget,
    file: &File,
    dataset: &Dataset,
    selection: &Selection,
    with_values: bool,
) -> Result<()> {
    let paths = Paths::new(file);
    let mut texts = Elements::new(dataset.datatype(), &paths, Style::Python);
    let texts = with_values.then_some(&mut texts as &mut dyn values::blocks::Texts);
    values::blocks::write(output, dataset, selection, 0, texts)
}
