//! Missing values of tables. HDF5 has no missing values: floating-point columns store NaN, and
//! other columns store a mask beside the values, unless the user states a value that replaces
//! missing values.

use anyhow::{Result, bail};
use hyperslab::AttributeValue;

/// The name of the attribute that lists the table columns with a mask of missing values.
pub(crate) const ATTRIBUTE: &str = "null_masks";

/// The representation of the missing values in a table column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The column has no missing values.
    Absent,
    /// Missing values are NaN.
    Nan,
    /// A mask is true where a value is missing. The value is zero there.
    Mask,
    /// Missing values are this value.
    Value(String),
}

/// Returns the name of the mask for the missing values of a table column. The mask is a dataset or
/// a member.
pub(crate) fn mask_of(column: &str) -> String {
    format!("{column}_mask")
}

/// Returns the names of the table columns with a mask of missing values. Returns an error if a
/// column has the same name as a mask.
pub(crate) fn masked<'c>(columns: impl Iterator<Item = (&'c str, &'c Nulls)> + Clone) -> Result<Vec<String>> {
    let masked = columns.clone().filter(|(_, nulls)| **nulls == Nulls::Mask);
    let masked: Vec<String> = masked.map(|(name, _)| name.to_owned()).collect();
    for column in &masked {
        let mask = mask_of(column);
        if columns.clone().any(|(name, _)| name == mask) {
            bail!(
                "values of the column `{column}` are missing, but another column has the name `{mask}` of the mask; name a value for missing values with --null"
            );
        }
    }
    Ok(masked)
}

/// Returns the value of the attribute that lists the table columns with a mask of missing values.
/// Returns `None` if no column has a mask.
pub(crate) fn attribute(masked: &[String]) -> Option<impl AttributeValue + use<>> {
    (!masked.is_empty()).then(|| masked.to_vec())
}
