//! Tables of other programs: Parquet and Arrow, to datasets of records and from them.

mod arrays;
mod elements;
mod export;
mod import;
mod types;

use std::path::Path;

pub(crate) use self::export::export;
pub(crate) use self::import::{Import, import};

/// How a table is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Parquet,
    /// Arrow's file format, also called Feather.
    Arrow,
}

impl Kind {
    /// What the ending of a path says.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" => Some(Self::Arrow),
            _ => None,
        }
    }
}
