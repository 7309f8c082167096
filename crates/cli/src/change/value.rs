//! Values as they are typed in: numbers, truth values, text.

use anyhow::{Result, bail};
use hyperslab::datatype::StringPadding;
use hyperslab::{CharacterSet, Dataspace, Datatype, H5Type};

/// The types that values can have.
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

/// Elements as they are stored.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) datatype: Datatype,
    pub(crate) dataspace: Dataspace,
    pub(crate) bytes: Vec<u8>,
}

/// What all values look like: whole numbers, numbers, truth values, or else text.
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

/// What one value looks like.
pub(crate) fn guess_of(value: &str) -> TypeName {
    guess(&[value])
}

fn is_number(value: &str) -> bool {
    value.parse::<f64>().is_ok()
}

fn truth(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Values as elements of a type; one value has no shape unless one is given.
pub(crate) fn typed<S: AsRef<str>>(kind: TypeName, values: &[S], shape: Option<&[u64]>) -> Result<Typed> {
    let dataspace = match (shape, values.len()) {
        (Some(shape), count) => {
            let elements = shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
            if elements != Some(count as u64) {
                bail!("{count} values for an array of the shape {shape:?}");
            }
            Dataspace::simple(shape)
        }
        (None, 1) => Dataspace::Scalar,
        (None, count) => Dataspace::simple(&[count as u64]),
    };
    let (datatype, bytes) = elements(kind, values)?;
    Ok(Typed { datatype, dataspace, bytes })
}

/// The type, and values as elements of it.
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
            let Some(parsed) = parsed else { bail!("truth values are `true` and `false`") };
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
            bail!("`{value}` is no {} that can be stored so", T::datatype());
        };
        parsed.push(number);
    }
    Ok((T::datatype(), T::to_bytes(&parsed).into_owned()))
}

/// Text of the longest one's length.
pub(crate) fn texts<S: AsRef<str>>(values: &[S]) -> Result<(Datatype, Vec<u8>)> {
    let longest = values.iter().map(|value| value.as_ref().len()).max().unwrap_or(0).max(1);
    let ascii = values.iter().all(|value| value.as_ref().is_ascii());
    let mut bytes = Vec::with_capacity(longest.saturating_mul(values.len()));
    for value in values {
        let end = bytes.len().saturating_add(longest);
        bytes.extend(value.as_ref().as_bytes());
        bytes.resize(end, 0);
    }
    Ok((text_type(longest, ascii)?, bytes))
}

/// Text of at most so many bytes.
pub(crate) fn text_type(longest: usize, ascii: bool) -> Result<Datatype> {
    let charset = if ascii { CharacterSet::Ascii } else { CharacterSet::Utf8 };
    Ok(Datatype::fixed_string(u32::try_from(longest)?, StringPadding::NullPadded, charset))
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
        assert_eq!((one.dataspace, one.bytes), (Dataspace::Scalar, vec![0xfe, 0xff]));
        let texts = typed(TypeName::Str, &["a", "bcd"], None).unwrap();
        assert_eq!((texts.datatype.size, texts.bytes), (3, b"a\0\0bcd".to_vec()));
        assert!(typed(TypeName::U8, &["256"], None).is_err());
        assert!(typed(TypeName::U8, &["1", "2"], Some(&[3])).is_err());
        assert_eq!(typed(TypeName::U8, &["1"], Some(&[1])).unwrap().dataspace, Dataspace::simple(&[1]));
    }
}
