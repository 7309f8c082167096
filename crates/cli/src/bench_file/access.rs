//! Ways in which datasets are read.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

/// What a reader wants at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// All elements.
    Whole,
    /// All elements of one coordinate of a dimension: a row, a column, a plane.
    Slab(usize),
    /// One element.
    Point,
}

impl Access {
    /// All ways to read a dataset of that rank.
    pub(super) fn all(rank: usize) -> Vec<Self> {
        let slabs = if rank > 1 { 0..rank } else { 0..0 };
        std::iter::once(Self::Whole).chain(slabs.map(Self::Slab)).chain([Self::Point]).collect()
    }

    /// As an index of NumPy, in an array of that rank: `[:, i, :]`.
    pub(super) fn index(self, rank: usize) -> String {
        let place = |dimension: usize| match self {
            Self::Whole => ":",
            Self::Slab(slab) if slab != dimension => ":",
            Self::Slab(_) | Self::Point => "i",
        };
        format!("[{}]", (0..rank).map(place).collect::<Vec<_>>().join(", "))
    }

    pub(super) fn json(self) -> Json {
        match self {
            Self::Whole => json!("whole"),
            Self::Slab(dimension) => json!({ "slab": dimension }),
            Self::Point => json!("point"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Slab(dimension) => write!(f, "{dimension}"),
            Self::Point => f.write_str("points"),
        }
    }
}

impl FromStr for Access {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "whole" => Ok(Self::Whole),
            "point" | "points" => Ok(Self::Point),
            number => number
                .parse()
                .map(Self::Slab)
                .map_err(|_| format!("`{number}` is none of whole, points, or the number of a dimension")),
        }
    }
}
