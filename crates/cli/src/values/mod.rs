//! Decoded values: of attributes, fill values and datasets, and how they are spelled.

pub(crate) mod blocks;
pub(crate) mod numbers;
pub(crate) mod paths;

use hyperslab::datatype::{ByteOrder, VariableLengthKind};
use hyperslab::datatype::{Compound, DatatypeClass, Enumeration, Reference};
use hyperslab::{Datatype, Error, ObjectToken, ReferenceTarget, Result, Stored};
use serde_json::{Value as Json, json};

use self::numbers::hexadecimal;
use self::paths::Paths;
use crate::output::{cut, escape, width};

/// A decoded value, perhaps not all of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Unsigned(u64),
    /// As it is printed.
    Float(String),
    Bool(bool),
    Text(Vec<u8>),
    /// The name of an enumeration's value.
    Name(Vec<u8>),
    /// Bytes as hexadecimal digits.
    Bytes(String),
    Complex(Box<(Value, Value)>),
    Record(Vec<(Vec<u8>, Value)>),
    List {
        items: Vec<Value>,
        /// Whether there are more.
        more: bool,
    },
    Reference(String),
    /// A dataspace without elements.
    Null,
}

/// Decodes elements until `budget` values are spent.
pub(crate) struct Decoder<'a> {
    /// Where the elements come from; without it, what points into the file stays unread.
    pub(crate) stored: Option<&'a Stored>,
    pub(crate) paths: &'a Paths,
    /// Values that may still be decoded.
    pub(crate) budget: usize,
}

impl Decoder<'_> {
    /// An array of that shape; a single value if the shape is empty.
    pub(crate) fn array(&mut self, dims: &[u64], datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
        let Some((first, inner)) = dims.split_first() else { return self.element(datatype, bytes) };
        let Some(count) = usize::try_from(*first).ok().filter(|count| *count > 0) else {
            return Ok(Value::List { items: Vec::new(), more: false });
        };
        let size = bytes.len().checked_div(count).unwrap_or(0).max(1);
        let mut items = Vec::new();
        for part in bytes.chunks_exact(size).take(count) {
            if self.budget == 0 {
                break;
            }
            items.push(self.array(inner, datatype, part)?);
        }
        let more = items.len() < count;
        Ok(Value::List { items, more })
    }

    fn element(&mut self, datatype: &Datatype, bytes: &[u8]) -> Result<Value> {
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
                        let items = value.items(to_usize(variable.base.size))?;
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
        let parts = bytes.split_at_checked(to_usize(base.size));
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
            let start = to_usize(member.offset);
            let end = start.saturating_add(to_usize(member.datatype.size));
            let part = bytes.get(start..end).ok_or_else(|| too_short(member.offset, bytes.len()))?;
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

/// The type of each part, if elements are complex numbers: real part first, nothing between.
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

fn to_usize(size: u32) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn too_short(size: u32, got: usize) -> Error {
    Error::Misuse(format!("an element of {got} bytes is too short for its part at {size}"))
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

/// A string without its padding.
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
    bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
}

impl Value {
    /// The value in at most about `columns` columns: long lists lose their tail, then text is cut.
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

    fn show(&self, most: usize, columns: usize) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Unsigned(number) => number.to_string(),
            Self::Float(text) | Self::Bytes(text) => text.clone(),
            Self::Bool(value) => value.to_string(),
            Self::Text(bytes) => quoted(bytes, columns),
            Self::Name(name) => escape(name),
            Self::Complex(parts) => {
                let (real, imaginary) = (parts.0.show(most, columns), parts.1.show(most, columns));
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                format!("{real}{sign}{imaginary}i")
            }
            Self::Record(members) => {
                let shown = members.iter().take(most);
                let shown =
                    shown.map(|(name, value)| format!("{}: {}", escape(name), value.show(most, columns)));
                bracketed('{', shown, members.len() > most, '}')
            }
            Self::List { items, more } => {
                let shown = items.iter().take(most).map(|item| item.show(most, columns));
                bracketed('[', shown, *more || items.len() > most, ']')
            }
            Self::Reference(target) => format!("→ {target}"),
            Self::Null => "null".into(),
        }
    }

    /// The value in JSON: numbers that JSON does not have are text.
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

    /// Returns whether not all of the value was decoded.
    pub(crate) fn is_cut(&self) -> bool {
        match self {
            Self::List { items, more } => *more || items.iter().any(Self::is_cut),
            Self::Record(members) => members.iter().any(|(_, value)| value.is_cut()),
            _ => false,
        }
    }

    /// The text, if it is text or a list of one text.
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

    /// The one value in lists of one.
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

/// Text in quotes, not much more than `columns` of it.
fn quoted(bytes: &[u8], columns: usize) -> String {
    // Escapes make text longer, never shorter, and a character has at most four bytes.
    let most = columns.saturating_mul(4).saturating_add(4);
    let text = escape(bytes.get(..most).unwrap_or(bytes));
    let room = columns.saturating_sub(2);
    if text.contains('"') && !text.contains('\'') {
        return format!("'{}'", cut(&text, room));
    }
    format!("\"{}\"", cut(&text.replace('"', "\\\""), room))
}

fn bracketed(open: char, items: impl Iterator<Item = String>, more: bool, close: char) -> String {
    let mut items: Vec<String> = items.collect();
    if more {
        items.push("…".into());
    }
    format!("{open}{}{close}", items.join(", "))
}
