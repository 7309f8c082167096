//! The datatypes of the columns of a CSV file, which follow from all values.

use anyhow::{Context as _, Result, bail};
use hyperslab::{Datatype, File};
use hyperslab_exact::to_usize;

use crate::formats::nulls::Nulls;
use crate::typed::{TypeName, elements, memory_text, stored_text, truth};

/// A column of a CSV table: its name, and the properties of its values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    seen: Seen,
    /// The value for missing values, from the arguments.
    null: Option<String>,
}

/// The properties of all values in a CSV column, from which the datatype of the column follows.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// The number of values that are not missing.
    values: u64,
    /// The number of empty fields.
    empty: u64,
    /// True if all values fit the type.
    fits_i64: bool,
    fits_u64: bool,
    /// True if all values are numbers, and a 64-bit floating-point number represents all integers.
    fits_f64: bool,
    fits_bool: bool,
    /// True if all values are numbers, of any size.
    is_numeric: bool,
    has_nan: bool,
}

impl Column {
    pub(super) fn new(name: String, null: Option<&str>) -> Self {
        let seen = Seen {
            values: 0,
            empty: 0,
            fits_i64: true,
            fits_u64: true,
            fits_f64: true,
            fits_bool: true,
            is_numeric: true,
            has_nan: false,
        };
        Self { name, seen, null: null.map(str::to_owned) }
    }

    /// Updates the properties of a CSV column with one value.
    pub(super) fn see(&mut self, value: &str) {
        self.seen.see(value);
    }

    /// Returns a column whose datatype fits the values of two CSV columns.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let (one, other) = (self.seen, other.seen);
        let seen = Seen {
            values: one.values.max(other.values),
            empty: one.empty.max(other.empty),
            fits_i64: one.fits_i64 && other.fits_i64,
            fits_u64: one.fits_u64 && other.fits_u64,
            fits_f64: one.fits_f64 && other.fits_f64,
            fits_bool: one.fits_bool && other.fits_bool,
            is_numeric: one.is_numeric && other.is_numeric,
            has_nan: one.has_nan || other.has_nan,
        };
        Self { seen, ..self.clone() }
    }

    /// Returns the CSV column with a floating-point datatype, if this datatype fits its values.
    pub(super) fn as_f64(&self) -> Self {
        Self { seen: Seen { fits_i64: false, fits_u64: false, ..self.seen }, ..self.clone() }
    }

    /// Makes the CSV column a text column.
    pub(super) fn make_text(&mut self) {
        let text = Seen { fits_i64: false, fits_u64: false, fits_f64: false, fits_bool: false, ..self.seen };
        self.seen = Seen { is_numeric: false, ..text };
    }

    pub(super) fn kind(&self) -> TypeName {
        match self.seen {
            Seen { values: 0, .. } => TypeName::Str,
            Seen { fits_i64: true, .. } => TypeName::I64,
            Seen { fits_u64: true, .. } => TypeName::U64,
            Seen { fits_f64: true, .. } => TypeName::F64,
            Seen { fits_bool: true, .. } => TypeName::Bool,
            _ => TypeName::Str,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind(), TypeName::I64 | TypeName::U64 | TypeName::F64)
    }

    /// Returns true if all values of the CSV column are numbers, but no number type of 64 bits
    /// represents all of them exactly.
    pub(super) fn is_inexact(&self) -> bool {
        self.kind() == TypeName::Str && self.seen.values > 0 && self.seen.is_numeric
    }

    /// Returns the representation of missing values in this CSV column. An empty field of a text
    /// column is an empty text.
    pub(super) fn nulls(&self) -> Nulls {
        match (self.kind(), &self.null) {
            (TypeName::Str, _) => Nulls::Absent,
            _ if self.seen.empty == 0 => Nulls::Absent,
            (_, Some(value)) => Nulls::Value(value.clone()),
            (TypeName::F64, None) if !self.seen.has_nan => Nulls::Nan,
            _ => Nulls::Mask,
        }
    }

    /// Checks that the replacement for missing values has the type of the CSV column.
    pub(super) fn check(&self) -> Result<()> {
        if let Nulls::Value(value) = self.nulls() {
            let checked = elements(self.kind(), &[value.as_str()]);
            checked.with_context(|| format!("--null for the column `{}`", self.name))?;
        }
        Ok(())
    }

    /// Returns the datatype of the CSV column in an HDF5 file.
    pub(super) fn stored(&self, file: &File) -> Result<Datatype> {
        match self.kind() {
            TypeName::Str => Ok(stored_text(file)),
            kind => Ok(elements::<&str>(kind, &[])?.0),
        }
    }

    /// Returns the datatype of the CSV column in memory.
    pub(super) fn in_memory<'v>(&self, values: impl Iterator<Item = &'v str>) -> Result<Datatype> {
        match self.kind() {
            TypeName::Str => memory_text(values.map(str::len).max().unwrap_or(0).max(1)),
            kind => Ok(elements::<&str>(kind, &[])?.0),
        }
    }

    /// Appends a CSV field to a buffer, as an element of the column's datatype in memory.
    pub(super) fn element(&self, datatype: &Datatype, value: &str, to: &mut Vec<u8>) -> Result<()> {
        let kind = self.kind();
        if kind == TypeName::Str {
            let padding = to_usize(datatype.size.into())?.checked_sub(value.len());
            to.extend(value.as_bytes());
            to.extend(std::iter::repeat_n(
                0,
                padding.context("a text in the CSV file is longer than the string datatype of its column")?,
            ));
            return Ok(());
        }
        let value = match (value.is_empty(), self.nulls(), kind) {
            (false, _, _) => value.to_owned(),
            (true, Nulls::Value(value), _) => value,
            (true, Nulls::Nan, _) => "nan".to_owned(),
            (true, Nulls::Mask, TypeName::Bool) => "false".to_owned(),
            (true, Nulls::Mask, _) => "0".to_owned(),
            (true, Nulls::Absent, _) => bail!("a value of the column `{}` is missing", self.name),
        };
        to.extend(elements(kind, &[value])?.1);
        Ok(())
    }
}

impl Seen {
    fn see(&mut self, value: &str) {
        if value.is_empty() {
            self.empty += 1;
            return;
        }
        self.values += 1;
        let trimmed = value.trim();
        let integer = is_integer(trimmed);
        self.fits_i64 &= integer && trimmed.parse::<i64>().is_ok();
        self.fits_u64 &= integer && trimmed.parse::<u64>().is_ok();
        self.fits_f64 &= if integer { is_exact(trimmed) } else { is_float(trimmed) };
        self.is_numeric &= integer || is_float(trimmed);
        self.fits_bool &= truth(value).is_some();
        self.has_nan |= trimmed.parse::<f64>().is_ok_and(f64::is_nan);
    }
}

/// Returns true if a CSV field consists of digits with an optional sign. A field with leading zeros
/// is a name, such as a postal code, and no integer.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let leading = digits.len() > 1 && digits.starts_with('0');
    !digits.is_empty() && !leading && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if a 64-bit floating-point number represents the integer exactly.
fn is_exact(integer: &str) -> bool {
    let Ok(number) = integer.parse::<i128>() else { return false };
    integer.parse::<f64>().is_ok_and(|float| format!("{float:.0}").parse() == Ok(number))
}

/// Returns true if a CSV field is a number but no integer, or a name of NaN or infinity.
fn is_float(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let leading = digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let named = digits.starts_with(|first: char| first.is_ascii_alphabetic());
    !leading && text.parse::<f64>().is_ok_and(|number| named || number.is_finite())
}
