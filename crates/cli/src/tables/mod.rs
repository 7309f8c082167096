//! The conversion of tables of Parquet, Arrow, JSON lines and csv to and from datasets. Only data
//! frames are imported from csv here, and only groups are exported to it.

#[cfg(not(feature = "tables"))]
mod absent;
#[cfg(feature = "tables")]
mod arrays;
#[cfg(feature = "tables")]
mod categories;
#[cfg(feature = "tables")]
mod dataframe;
#[cfg(feature = "tables")]
mod elements;
#[cfg(feature = "tables")]
mod export;
#[cfg(feature = "tables")]
mod import;
#[cfg(feature = "tables")]
mod kind;
#[cfg(feature = "tables")]
mod source;
#[cfg(feature = "tables")]
mod types;
#[cfg(feature = "tables")]
mod values;

use std::path::Path;

#[cfg(feature = "tables")]
use crate::formats::{new_object::NewObject, storage::Storage};

#[cfg(not(feature = "tables"))]
pub(crate) use self::absent::{Import, export, import};
#[cfg(feature = "tables")]
pub(crate) use self::export::export;
#[cfg(feature = "tables")]
pub(crate) use self::import::Import;

/// A table file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    /// Arrow's file format, also called Feather.
    Arrow,
    /// JSON lines.
    JsonLines,
    /// Comma-separated values.
    Csv,
}

/// The options of an export of elements as a table.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "tables"), expect(dead_code, reason = "the writers need the feature"))]
pub(crate) struct ExportOptions {
    pub(crate) kind: Kind,
    /// True if objects that are no columns are skipped; else such objects are errors.
    pub(crate) skip: bool,
    /// True if a quote precedes texts in csv that look like formulas.
    pub(crate) escape_formulas: bool,
}

/// The form in which a table is stored in an HDF5 file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableForm {
    /// A dataset of compounds with a member for each column.
    Records,
    /// A group with a dataset for each column.
    Columns,
    /// A group in the format of AnnData.
    Dataframe,
}

/// Imports a table as a dataset of compounds, as a group of columns, or as a data frame.
#[cfg(feature = "tables")]
pub(crate) fn import(
    table: &Import,
    new: &NewObject<'_>,
    form: TableForm,
    storage: &Storage<'_>,
) -> anyhow::Result<()> {
    match form {
        TableForm::Records => import::import(table, new, false, storage),
        TableForm::Columns => import::import(table, new, true, storage),
        TableForm::Dataframe => dataframe::import(table, new, storage),
    }
}

impl Kind {
    /// Returns the table format for the extension of a path. Returns `None` for CSV files, because
    /// datasets that are no tables can also be exported as CSV.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}
