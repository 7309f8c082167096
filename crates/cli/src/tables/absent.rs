//! The import and the export of tables in a build without the feature `tables`: errors that name
//! the feature.

use std::path::Path;

use anyhow::Result;
use hyperslab::{File, Object};

use super::{ExportOptions, Kind, TableForm};
use crate::formats::csv;
use crate::formats::new_object::NewObject;
use crate::formats::storage::Storage;
use crate::missing_feature::missing_feature;
use crate::output_target::OutputTarget;

/// An imported table in a build without table support. The type has no values.
pub(crate) enum Import {}

impl Import {
    /// Returns an error, because this build has no support for tables.
    pub(crate) fn open(_: &Path, kind: Kind, _: Option<String>) -> Result<Self> {
        Err(missing(kind))
    }

    /// Returns an error, because this build has no support for tables.
    pub(crate) fn of_csv(_: csv::Table, _: Option<String>) -> Result<Self> {
        Err(missing_feature("data frames"))
    }
}

/// Writes nothing. No value of this type exists, so this function is never called.
pub(crate) fn import(table: &Import, _: &NewObject<'_>, _: TableForm, _: &Storage<'_>) -> Result<()> {
    match *table {}
}

/// Returns an error, because this build has no support for tables.
pub(crate) fn export(_: &File, _: Object, _: &mut OutputTarget, options: ExportOptions) -> Result<()> {
    Err(missing(options.kind))
}

fn missing(kind: Kind) -> anyhow::Error {
    missing_feature(match kind {
        Kind::Parquet => "Parquet tables",
        Kind::Arrow => "Arrow tables",
        Kind::JsonLines => "JSON lines",
        Kind::Csv => "tables of groups",
    })
}
