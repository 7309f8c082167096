//! The patterns of access to a dataset that `bench-file` measures and estimates.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

/// A pattern of access to a dataset: the elements that one read request selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// All elements.
    Whole,
    /// All elements at one coordinate of a dimension: a row, a column, a plane.
    Slice(usize),
    /// One element.
    Point,
}

impl Access {
    /// Returns all access patterns that `bench-file` measures for a dataset with `rank` dimensions.
    pub(super) fn all(rank: usize) -> Vec<Self> {
        let slices = if rank > 1 { 0..rank } else { 0..0 };
        std::iter::once(Self::Whole).chain(slices.map(Self::Slice)).chain([Self::Point]).collect()
    }

    /// Returns the access pattern as an index of NumPy, such as `[:, i, :]`.
    pub(super) fn index(self, rank: usize) -> String {
        let index_of = |dimension: usize| match self {
            Self::Whole => ":",
            Self::Slice(other) if other != dimension => ":",
            Self::Slice(_) | Self::Point => "i",
        };
        format!("[{}]", (0..rank).map(index_of).collect::<Vec<_>>().join(", "))
    }

    pub(super) fn json(self) -> Json {
        match self {
            Self::Whole => json!("whole"),
            Self::Slice(dimension) => json!({ "slab": dimension }),
            Self::Point => json!("point"),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Slice(dimension) => write!(f, "{dimension}"),
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
            number => number.parse().map(Self::Slice).map_err(|_| {
                format!(
                    "`{number}` is not a kind of access: use `whole`, `points`, or the number of a dimension"
                )
            }),
        }
    }
}
