//! The banner of a Matrix Market file: the first line, which declares the form of the other lines.

use anyhow::{Context as _, Result, bail};

use crate::entries::Element;

/// The form of the entries in a Matrix Market file: entries with coordinates, or all values in
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Coordinate,
    Array,
}

/// The type of the values in a Matrix Market file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Unsigned,
    Complex,
    /// Entries without values, which have the value 1.
    Pattern,
}

impl Field {
    pub(super) fn element(self) -> Element {
        match self {
            Self::Real => Element::F64,
            Self::Integer => Element::I64,
            Self::Unsigned => Element::U64,
            Self::Complex => Element::C128,
            Self::Pattern => Element::U8,
        }
    }
}

/// The symmetry of a matrix in a Matrix Market file: the relation between an entry and the entry
/// mirrored at the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    /// The mirrored value across the diagonal is the negated value.
    Skew,
    /// The mirrored value across the diagonal is the complex conjugate.
    Hermitian,
}

/// The banner: the first line of a Matrix Market file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Banner {
    pub(super) form: Form,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
}

impl Banner {
    pub(super) fn parse(line: &str) -> Result<Self> {
        let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ["%%matrixmarket", object, form, field, symmetry] = words.as_slice() else {
            bail!(
                "the line is not a Matrix Market banner such as `%%MatrixMarket matrix coordinate \
                 real general`"
            );
        };
        if *object != "matrix" {
            bail!("the Matrix Market file contains a {object}, not a matrix");
        }
        let form = match *form {
            "coordinate" => Form::Coordinate,
            "array" => Form::Array,
            other => bail!("the format `{other}` in the banner is neither coordinate nor array"),
        };
        let field = match *field {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "unsigned-integer" => Field::Unsigned,
            "complex" => Field::Complex,
            "pattern" => Field::Pattern,
            other => bail!(
                "the field `{other}` in the banner is unknown; known fields are real, integer, complex and \
                 pattern"
            ),
        };
        let symmetry = match *symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            "hermitian" => Symmetry::Hermitian,
            other => {
                bail!(
                    "the symmetry `{other}` in the banner is unknown; known symmetries are general, \
                     symmetric, skew-symmetric and hermitian"
                )
            }
        };
        let banner = Self { form, field, symmetry };
        banner
            .possible()
            .with_context(|| format!("the properties in the banner `{}` exclude each other", line.trim()))?;
        Ok(banner)
    }

    fn possible(self) -> Option<()> {
        let no_sign = matches!(self.field, Field::Pattern | Field::Unsigned);
        let impossible = (self.field == Field::Pattern && self.form == Form::Array)
            || (self.symmetry == Symmetry::Skew && no_sign)
            || (self.symmetry == Symmetry::Hermitian && self.field != Field::Complex);
        (!impossible).then_some(())
    }
}
