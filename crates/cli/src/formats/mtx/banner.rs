//! The first line, which says how the rest is to be understood.

use anyhow::{Context as _, Result, bail};

use crate::entries::Element;

/// Whether entries stand with their coordinates, or all values without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Coordinate,
    Array,
}

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Unsigned,
    Complex,
    /// There are none: what has an entry is one.
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

/// Which entries stand for a second one, across the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    /// The other one has the other sign.
    Skew,
    /// The other one is the conjugate.
    Hermitian,
}

/// The banner.
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
            bail!("no banner such as `%%MatrixMarket matrix coordinate real general`");
        };
        if *object != "matrix" {
            bail!("the file has a {object}, and no matrix");
        }
        let form = match *form {
            "coordinate" => Form::Coordinate,
            "array" => Form::Array,
            other => bail!("the format `{other}` is neither coordinate nor array"),
        };
        let field = match *field {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "unsigned-integer" => Field::Unsigned,
            "complex" => Field::Complex,
            "pattern" => Field::Pattern,
            other => bail!("the field `{other}` is none of real, integer, complex and pattern"),
        };
        let symmetry = match *symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            "hermitian" => Symmetry::Hermitian,
            other => {
                bail!("the symmetry `{other}` is none of general, symmetric, skew-symmetric and hermitian")
            }
        };
        let banner = Self { form, field, symmetry };
        banner.possible().with_context(|| format!("`{}` contradicts itself", line.trim()))?;
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
