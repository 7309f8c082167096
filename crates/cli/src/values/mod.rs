//! Decoded values of attributes, fill values and datasets, and their text.

pub(crate) mod blocks;
pub(crate) mod numbers;
pub(crate) mod paths;

use hyperslab::datatype::{ByteOrder, VariableLengthKind};
use hyperslab::datatype::{Compound, DatatypeClass, Enumeration, Reference};
use hyperslab::{Datatype, Error, ObjectToken, ReferenceTarget, Result, Stored};
use hyperslab_exact::to_usize;
use serde_json::{Value as Json, json};

use self::numbers::hexadecimal;
use self::paths::Paths;
use crate::output::{cut, escape, width};

/// A decoded element for output. Only the first items of a long value may be decoded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Unsigned(u64),
    /// The text of a floating-point number.
    Float(String),
    Bool(bool),
    Text(Vec<u8>),
    /// The name of a value of an enumeration.
    Name(Vec<u8>),
    /// Bytes as hexadecimal digits.
    Bytes(String),
    Complex(Box<(Value, Value)>),
    Record(Vec<(Vec<u8>, Value)>),
    List {
        items: Vec<Value>,
        /// True if there are more items than `items`.
        more: bool,
    },
    Reference(String),
    /// A dataspace without elements.
    Null,
}

/// A decoder of elements to values for output. It decodes at most `budget` values.
pub(crate) struct Decoder<'a> {
    /// The source of the elements. Without it, variable-length data and references are not read.
    pub(crate) stored: Option<&'a Stored>,
    pub(crate) paths: &'a Paths,
    /// The number of values that may still be decoded.
    pub(crate) budget: usize,
}

impl Decoder<'_> {
    /// Decodes the elements of an array of the shape `dims`. An empty shape means a single value.
    pub(crate) fn array(&mut self, dims: &[u64], datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
        let Some((first, inner)) = dims.split_first() else { return self.element(datatype, bytes) };
        if dims.contains(&0) {
            return Ok(Value::List { items: Vec::new(), more: false });
        }
        let count = to_usize(*first)?;
        if bytes.is_empty() || !bytes.len().is_multiple_of(count) {
            let message = format!("{} bytes are not an array of {count} items", bytes.len());
            return Err(Error::Misuse(message));
        }
        let mut items = Vec::new();
        for part in bytes.chunks_exact(bytes.len() / count) {
            if self.budget == 0 {
                break;
            }
            items.push(self.array(inner, datatype, part)?);
        }
        let more = items.len() < count;
        Ok(Value::List { items, more })
    }

    fn element(&mut self, datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
        // The members of the last record may exceed the budget.
        self.budget = self.budget.saturating_sub(1);
        if let Some(number) = numbers::number(datatype, bytes) {
            return Ok(number?);
        }
        match &datatype.class {
            DatatypeClass::String(_) => Ok(Value::Text(datatype_text(datatype, bytes))),
            DatatypeClass::Enumeration(enumeration) => named(datatype, enumeration, bytes),
            DatatypeClass::Compound(compound) => self.compound(datatype, compound, bytes),
            DatatypeClass::VariableLength(variable) => {
                let Some(stored) = self.stored else { return Ok(Value::Bytes("…".into())) };
                let value = stored.variable_length(bytes)?;
                match variable.kind {
                    VariableLengthKind::String { .. } => Ok(Value::Text(trimmed(value.items(1)?))),
                    VariableLengthKind::Sequence => {
                        let items = value.items(to_usize(variable.base.size.into())?)?;
                        self.array(&[value.count()], &variable.base, items)
                    }
                }
            }
            DatatypeClass::Array(array) => {
                let dims: Vec<u64> = array.dims.iter().copied().map(u64::from).collect();
                self.array(&dims, &array.base, bytes)
            }
            DatatypeClass::Complex(complex) => self.complex(&complex.base, bytes),
            DatatypeClass::Reference(reference) => self.reference(*reference, bytes),
            DatatypeClass::Bitfield(bits) => Ok(number_bytes(bits.order, bytes)),
            DatatypeClass::Time(time) => Ok(number_bytes(time.order, bytes)),
            _ => Ok(Value::Bytes(hexadecimal(bytes.iter().copied()))),
        }
    }

    fn complex(&mut self, base: &Datatype, bytes: &[u8]) -> Result<Value> {
        let parts = bytes.split_at_checked(to_usize(base.size.into())?);
        let Some((real, imaginary)) = parts else {
            return Err(too_short(base.size, bytes.len()));
        };
        Ok(Value::Complex(Box::new((self.element(base, real)?, self.element(base, imaginary)?))))
    }

    fn compound(&mut self, datatype: &Datatype, compound: &Compound, bytes: &[u8]) -> Result<Value> {
        if let Some(base) = complex_base(datatype) {
            return self.complex(base, bytes);
        }
        let mut members = Vec::new();
        for member in &compound.members {
            let (start, size) = (to_usize(member.offset.into())?, to_usize(member.datatype.size.into())?);
            let part = bytes.get(start..).and_then(|rest| rest.get(..size));
            let part = part.ok_or_else(|| too_short(member.offset, bytes.len()))?;
            members.push((member.name.clone(), self.element(&member.datatype, part)?));
        }
        Ok(Value::Record(members))
    }

    fn reference(&self, reference: Reference, bytes: &[u8]) -> Result<Value> {
        let Some(stored) = self.stored else { return Ok(Value::Bytes(hexadecimal(bytes.iter().copied()))) };
        let path = |token: ObjectToken| self.paths.of(token.address()).unwrap_or_else(|| token.to_string());
        Ok(Value::Reference(match stored.reference(reference, bytes)? {
            ReferenceTarget::Null => "nothing".into(),
            ReferenceTarget::Object(token) => path(token),
            ReferenceTarget::Region(token, _) => format!("a region of {}", path(token)),
            ReferenceTarget::Attribute(token, name) => {
                format!("{} @{}", path(token), String::from_utf8_lossy(&name))
            }
            ReferenceTarget::External { file, .. } => {
                format!("something in {}", String::from_utf8_lossy(&file))
            }
            _ => "something unknown".into(),
        }))
    }
}

/// Returns the datatype of the two parts of complex numbers in compound form. Returns `None` unless
/// the parts are adjacent and the real part is first.
pub(crate) fn complex_base(datatype: &Datatype) -> Option<&Datatype> {
    let base = datatype.complex_part()?;
    match &datatype.class {
        DatatypeClass::Compound(compound)
            if !compound.members.iter().map(|member| member.offset).eq([0, base.size]) =>
        {
            None
        }
        _ => Some(base),
    }
}

fn too_short(offset: u32, got: usize) -> Error {
    Error::Misuse(format!("an element of {got} bytes is too short for its part at the offset {offset}"))
}

fn number_bytes(order: ByteOrder, bytes: &[u8]) -> Value {
    Value::Bytes(match order {
        ByteOrder::LittleEndian => hexadecimal(bytes.iter().rev().copied()),
        ByteOrder::BigEndian => hexadecimal(bytes.iter().copied()),
    })
}

fn named(datatype: &Datatype, enumeration: &Enumeration, bytes: &[u8]) -> Result<Value> {
    let member = enumeration.members.iter().find(|member| member.value == bytes);
    Ok(match member {
        Some(member) if datatype.is_bool() => Value::Bool(member.name == b"TRUE"),
        Some(member) => Value::Name(member.name.clone()),
        None => match numbers::number(&enumeration.base, bytes) {
            Some(number) => number?,
            None => Value::Bytes(hexadecimal(bytes.iter().copied())),
        },
    })
}

/// Returns the bytes of a fixed-length string without its padding.
fn datatype_text(datatype: &Datatype, bytes: &[u8]) -> Vec<u8> {
    use hyperslab::datatype::{FixedString, StringPadding};
    match &datatype.class {
        DatatypeClass::String(FixedString { padding: StringPadding::SpacePadded, .. }) => {
            bytes.trim_ascii_end().to_vec()
        }
        _ => trimmed(bytes),
    }
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().take_while(|byte| *byte != 0).collect()
}

impl Value {
    /// Returns the value as text in at most about `columns` columns. Shortens a long text by
    /// omitting the last items of lists, and then by cutting it.
    pub(crate) fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        for items in [16, 8, 6, 4, 3, 2, 1] {
            text = self.show(items, columns);
            if width(&text) <= columns {
                return text;
            }
        }
        cut(&text, columns)
    }

    fn show(&self, maximum: usize, columns: usize) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Unsigned(number) => number.to_string(),
            Self::Float(text) | Self::Bytes(text) => text.clone(),
            Self::Bool(value) => value.to_string(),
            Self::Text(bytes) => quoted(bytes, columns),
            Self::Name(name) => escape(name),
            Self::Complex(parts) => {
                let (real, imaginary) = (parts.0.show(maximum, columns), parts.1.show(maximum, columns));
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                format!("{real}{sign}{imaginary}i")
            }
            Self::Record(members) => {
                let shown = members.iter().take(maximum);
                let shown =
                    shown.map(|(name, value)| format!("{}: {}", escape(name), value.show(maximum, columns)));
                bracketed('{', shown, members.len() > maximum, '}')
            }
            Self::List { items, more } => {
                let shown = items.iter().take(maximum).map(|item| item.show(maximum, columns));
                bracketed('[', shown, *more || items.len() > maximum, ']')
            }
            Self::Reference(target) => format!("→ {target}"),
            Self::Null => "null".into(),
        }
    }

    /// Returns the decoded value as JSON. Numbers that JSON cannot represent become strings.
    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Integer(number) => json!(number),
            Self::Unsigned(number) => json!(number),
            Self::Float(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => json!(number),
                _ => json!(text),
            },
            Self::Bool(value) => json!(value),
            Self::Text(bytes) | Self::Name(bytes) => json!(String::from_utf8_lossy(bytes)),
            Self::Bytes(text) => json!(text),
            Self::Complex(parts) => json!({ "real": parts.0.json(), "imaginary": parts.1.json() }),
            Self::Record(members) => members
                .iter()
                .map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), value.json()))
                .collect(),
            Self::List { items, .. } => items.iter().map(Self::json).collect(),
            Self::Reference(target) => json!({ "reference": target }),
            Self::Null => Json::Null,
        }
    }

    /// Returns true if only a part of the element was decoded to this value.
    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::List { items, more } => *more || items.iter().any(Self::is_cut),
            Self::Record(members) => members.iter().any(|(_, value)| value.is_cut()),
            _ => false,
        }
    }

    /// Returns the text of a decoded value that is a text, or a list of a single text.
    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Self::Text(bytes) => Some(escape(bytes)),
            Self::List { items, more: false } => match items.as_slice() {
                [item] => item.as_text(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the single item inside nested lists of one item each. Returns other values
    /// unchanged.
    pub(crate) fn innermost(&self) -> &Self {
        match self {
            Self::List { items, more: false } => match items.as_slice() {
                [item] => item.innermost(),
                _ => self,
            },
            _ => self,
        }
    }
}

/// Quotes a text and cuts it to about `columns` columns.
fn quoted(bytes: &[u8], columns: usize) -> String {
    // Escapes never make text shorter, and a character has at most four bytes. The operations
    // saturate: `usize::MAX` columns mean no limit, and quotes may leave no columns.
    let maximum = columns.saturating_add(1).saturating_mul(4);
    let text = escape(bytes.get(..maximum).unwrap_or(bytes));
    let inside = columns.saturating_sub(2);
    if text.contains('"') && !text.contains('\'') {
        return format!("'{}'", cut(&text, inside));
    }
    format!("\"{}\"", cut(&text.replace('"', "\\\""), inside))
}

fn bracketed(open: char, items: impl Iterator<Item = String>, more: bool, close: char) -> String {
    let mut items: Vec<String> = items.collect();
    if more {
        items.push("…".into());
    }
    format!("{open}{}{close}", items.join(", "))
}

#[cfg(test)]
mod tests {
    use hyperslab::FileOptions;

    use super::*;

    #[test]
    fn arrays_are_decoded_whole_or_not_at_all() {
        let paths = Paths::new(&FileOptions::new().create_in_memory().unwrap());
        let mut decoder = Decoder { stored: None, paths: &paths, budget: 100 };
        let number = Datatype::u8();
        let empty = Value::List { items: Vec::new(), more: false };
        assert_eq!(decoder.array(&[3, 0], &number, &[]).unwrap(), empty);
        let items = vec![Value::Unsigned(7), Value::Unsigned(9)];
        assert_eq!(decoder.array(&[2], &number, &[7, 9]).unwrap(), Value::List { items, more: false });
        assert!(decoder.array(&[2], &number, &[7, 9, 9]).is_err());
        assert!(decoder.array(&[2], &number, &[]).is_err());
    }
}
