//! Values from the command line and from text files: numbers, truth values, text.

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::StringPadding;
use hyperslab::{AttributeContent, AttributeValue, CharacterSet, Dataspace, Datatype, File, H5Type};

/// The name of a type for values on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TypeName {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Bool,
    /// Text
    Str,
}

/// Values from the command line, converted to one type, with their dataspace.
#[derive(Debug)]
pub(crate) struct Typed {
    dataspace: Dataspace,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// Elements as the file stores them.
    Elements(Datatype, Vec<u8>),
    /// Texts, which are stored as variable-length strings as in h5py.
    Texts(Vec<String>),
}

impl AttributeValue for Typed {
    fn content(&self) -> AttributeContent<'_> {
        let dataspace = self.dataspace.clone();
        match &self.values {
            Values::Elements(datatype, bytes) => {
                AttributeContent::Elements { datatype: datatype.clone(), dataspace, bytes: bytes.into() }
            }
            Values::Texts(texts) => {
                AttributeContent::Strings { dataspace, texts: texts.iter().map(String::as_str).collect() }
            }
        }
    }
}

/// Guesses the type of values on the command line. If all values fit, they are integers,
/// floating-point numbers or truth values, else text.
pub(crate) fn guess<S: AsRef<str>>(values: &[S]) -> TypeName {
    let all = |is: fn(&str) -> bool| values.iter().all(|value| is(value.as_ref()));
    match () {
        () if all(|value| value.parse::<i64>().is_ok()) => TypeName::I64,
        () if all(|value| value.parse::<u64>().is_ok()) => TypeName::U64,
        () if all(is_number) => TypeName::F64,
        () if all(|value| truth(value).is_some()) => TypeName::Bool,
        () => TypeName::Str,
    }
}

fn is_number(value: &str) -> bool {
    value.parse::<f64>().is_ok()
}

pub(crate) fn truth(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Converts values on the command line to a given type. Without a shape, a single value becomes a
/// scalar.
pub(crate) fn typed<S: AsRef<str>>(kind: TypeName, values: &[S], shape: Option<&[u64]>) -> Result<Typed> {
    let dataspace = match (shape, values.len()) {
        (Some(shape), count) => {
            let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
            if elements != Some(count as u64) {
                bail!("{count} values do not fit in an array of the shape {shape:?}");
            }
            Dataspace::simple(shape)
        }
        (None, 1) => Dataspace::Scalar,
        (None, count) => Dataspace::simple(&[count as u64]),
    };
    let values = match kind {
        TypeName::Str => Values::Texts(values.iter().map(|value| value.as_ref().to_owned()).collect()),
        kind => {
            let (datatype, bytes) = elements(kind, values)?;
            Values::Elements(datatype, bytes)
        }
    };
    Ok(Typed { dataspace, values })
}

/// Returns the values from the command line as elements with their datatype. Strings have the
/// length of the longest string.
pub(crate) fn elements<S: AsRef<str>>(kind: TypeName, values: &[S]) -> Result<(Datatype, Vec<u8>)> {
    match kind {
        TypeName::I8 => numbers::<i8, S>(values),
        TypeName::I16 => numbers::<i16, S>(values),
        TypeName::I32 => numbers::<i32, S>(values),
        TypeName::I64 => numbers::<i64, S>(values),
        TypeName::U8 => numbers::<u8, S>(values),
        TypeName::U16 => numbers::<u16, S>(values),
        TypeName::U32 => numbers::<u32, S>(values),
        TypeName::U64 => numbers::<u64, S>(values),
        TypeName::F32 => numbers::<f32, S>(values),
        TypeName::F64 => numbers::<f64, S>(values),
        TypeName::Bool => {
            let parsed: Option<Vec<bool>> = values.iter().map(|value| truth(value.as_ref())).collect();
            let Some(parsed) = parsed else { bail!("a truth value must be `true` or `false`") };
            Ok((bool::datatype(), bool::to_bytes(&parsed).into_owned()))
        }
        TypeName::Str => texts(values),
    }
}

fn numbers<T, S>(values: &[S]) -> Result<(Datatype, Vec<u8>)>
where
    T: H5Type + std::str::FromStr,
    S: AsRef<str>,
{
    let mut parsed = Vec::with_capacity(values.len());
    for value in values {
        let value = value.as_ref();
        let Ok(number) = value.trim().parse::<T>() else {
            bail!("`{value}` is not a value of the type {}", T::datatype());
        };
        parsed.push(number);
    }
    Ok((T::datatype(), T::to_bytes(&parsed).into_owned()))
}

fn texts<S: AsRef<str>>(values: &[S]) -> Result<(Datatype, Vec<u8>)> {
    let longest = values.iter().map(|value| value.as_ref().len()).max().unwrap_or(0).max(1);
    let size = longest.checked_mul(values.len()).context("the texts do not fit in memory")?;
    let mut bytes = Vec::with_capacity(size);
    for value in values {
        // The sum cannot overflow, because `size` is an upper bound.
        let end = bytes.len() + longest;
        bytes.extend(value.as_ref().as_bytes());
        bytes.resize(end, 0);
    }
    Ok((memory_text(longest)?, bytes))
}

/// Returns the datatype in memory of strings of at most `longest` bytes.
pub(crate) fn memory_text(longest: usize) -> Result<Datatype> {
    Ok(Datatype::fixed_string(u32::try_from(longest)?, StringPadding::NullPadded, CharacterSet::Utf8))
}

/// Returns the datatype of strings in the file: variable-length strings, as in h5py.
pub(crate) fn stored_text(file: &File) -> Datatype {
    Datatype::variable_string(CharacterSet::Utf8, file.info().size_of_offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_guessed_by_all_values() {
        for (values, expected) in [
            (&["1", "-2"][..], TypeName::I64),
            (&["1", "18446744073709551615"], TypeName::U64),
            (&["1", "2.5"], TypeName::F64),
            (&["nan", "-inf"], TypeName::F64),
            (&["true", "false"], TypeName::Bool),
            (&["1", "x"], TypeName::Str),
        ] {
            assert_eq!(guess(values), expected, "{values:?}");
        }
    }

    #[test]
    fn values_become_elements() {
        let one = typed(TypeName::I16, &["-2"], None).unwrap();
        assert_eq!(one.dataspace, Dataspace::Scalar);
        assert!(matches!(one.values, Values::Elements(_, bytes) if bytes == [0xfe, 0xff]));
        let (datatype, bytes) = elements(TypeName::Str, &["a", "bcd"]).unwrap();
        assert_eq!((datatype.size, bytes), (3, b"a\0\0bcd".to_vec()));
        let texts = typed(TypeName::Str, &["a", "bcd"], None).unwrap();
        assert!(matches!(texts.values, Values::Texts(texts) if texts == ["a", "bcd"]));
        assert!(typed(TypeName::U8, &["256"], None).is_err());
        assert!(typed(TypeName::U8, &["1", "2"], Some(&[3])).is_err());
        assert_eq!(typed(TypeName::U8, &["1"], Some(&[1])).unwrap().dataspace, Dataspace::simple(&[1]));
    }
}
