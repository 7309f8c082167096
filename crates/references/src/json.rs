//! JSON values in the form that zarr writes: NaN and infinities are bare words.

use std::fmt::{self, Write as _};

/// A JSON value. Objects keep the order of their entries.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// The value `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A number with a fraction, or `NaN`, `Infinity` or `-Infinity`, which JSON does not have and
    /// Python's reader accepts.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// An object: names with their values.
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Returns a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a list of unsigned integers, such as a shape.
    pub(crate) fn integers(numbers: &[u64]) -> Self {
        Self::List(numbers.iter().map(|number| Self::Integer(i128::from(*number))).collect())
    }

    /// Returns an object of the entries.
    pub(crate) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns the value of an entry of an object; `None` for other values.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Writes the value without spaces.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) if value.is_nan() => f.write_str("NaN"),
            Self::Float(value) if value.is_infinite() => {
                f.write_str(if *value > 0.0 { "Infinity" } else { "-Infinity" })
            }
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{}", Quoted(text)),
            Self::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_char(']')
            }
            Self::Object(entries) => {
                f.write_char('{')?;
                for (at, (name, value)) in entries.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{}:{value}", Quoted(name))?;
                }
                f.write_char('}')
            }
        }
    }
}

/// A text that is displayed as a JSON string.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                control if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_python_reads_them() {
        let value = Json::object([
            ("a\"\u{1}\n", Json::List(vec![Json::Null, Json::Bool(true), Json::Integer(-1)])),
            ("é", Json::Float(0.1)),
        ]);
        assert_eq!(value.to_string(), "{\"a\\\"\\u0001\\n\":[null,true,-1],\"é\":0.1}");
        let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0, 1e300].map(Json::Float);
        assert_eq!(Json::List(floats.to_vec()).to_string(), "[NaN,Infinity,-Infinity,1.0,1e300]");
        assert_eq!(value.get("é"), Some(&Json::Float(0.1)));
    }
}
