//! Elements as text: numbers as in NumPy's `str`, other values as in Python.

use std::collections::HashMap;
use std::fmt::Display;

use anyhow::{Result, bail};
use hyperslab::datatype::convert::Conversion;
use hyperslab::datatype::{DatatypeClass, FixedPoint};
use hyperslab::{Datatype, File, H5Type, Stored};
use hyperslab_exact::to_usize;

use crate::selection::defined::DefinedElements;
use crate::values::blocks::{Texts, coordinates};
use crate::values::numbers::{double, single};
use crate::values::paths::Paths;
use crate::values::{Decoder, Value};

/// A style of text for strings and compound values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Strings in quotes, records in parentheses: `(1, 'a')`.
    Python,
    /// Strings without quotes.
    Bare,
    /// Strings without quotes, with control characters escaped.
    Shown,
    /// Strings without quotes. A quote precedes strings that a spreadsheet would read as formulas.
    NoFormula,
    /// JSON. Numbers that JSON does not have are strings.
    Json,
}

/// A function that passes the text of each element to a callback, in C order.
pub(crate) type EachText<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&str) -> Result<()>) -> Result<()>;

/// A converter of elements of one datatype to text.
pub(crate) struct Elements<'a> {
    datatype: &'a Datatype,
    paths: &'a Paths,
    style: Style,
    /// The texts of numbers of two bytes. There are few such numbers, and their texts take long to
    /// compute.
    known: HashMap<[u8; 2], String>,
}

impl Texts for Elements<'_> {
    fn each(
        &mut self,
        stored: &Stored,
        bytes: &[u8],
        visit: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        Elements::each(self, stored, bytes, visit)
    }
}

impl<'a> Elements<'a> {
    pub(crate) fn new(datatype: &'a Datatype, paths: &'a Paths, style: Style) -> Self {
        Self { datatype, paths, style, known: HashMap::new() }
    }

    /// Calls `visit` with the text of each element in `bytes`. The bytes are a part of the stored
    /// elements `stored`.
    pub(crate) fn each(
        &mut self,
        stored: &Stored,
        bytes: &[u8],
        mut visit: impl FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let datatype = self.datatype;
        match &datatype.class {
            // A conversion to 64 bits clamps wider integers; `Decoder` keeps them.
            DatatypeClass::FixedPoint(FixedPoint { precision: 0..=64, signed: true, .. }) => {
                shown(&numbers::<i64>(datatype, bytes)?, visit)
            }
            DatatypeClass::FixedPoint(FixedPoint { precision: 0..=64, .. }) => {
                shown(&numbers::<u64>(datatype, bytes)?, visit)
            }
            DatatypeClass::FloatingPoint(format) if format.mantissa_size == 23 => {
                let spelled = numbers::<f32>(datatype, bytes)?;
                spelled.iter().try_for_each(|value| visit(&self.float(single(*value))))
            }
            DatatypeClass::FloatingPoint(format) if format.mantissa_size >= 52 => {
                let spelled = numbers::<f64>(datatype, bytes)?;
                spelled.iter().try_for_each(|value| visit(&self.float(double(*value))))
            }
            _ => {
                let size = to_usize(datatype.size.into())?;
                whole_elements(bytes, size)?;
                for element in bytes.chunks_exact(size.max(1)) {
                    visit(&self.one(stored, element)?)?;
                }
                Ok(())
            }
        }
    }

    /// Returns the text of one dataset element.
    fn one(&mut self, stored: &Stored, element: &[u8]) -> Result<String> {
        let small = <[u8; 2]>::try_from(element).ok().filter(|_| self.datatype.is_number());
        if let Some(text) = small.and_then(|key| self.known.get(&key)) {
            return Ok(text.clone());
        }
        let mut decoder = Decoder { stored: Some(stored), paths: self.paths, budget: usize::MAX };
        let value = decoder.array(&[], self.datatype, element)?;
        let text = spelled(&value, self.style);
        if let Some(key) = small {
            self.known.insert(key, text.clone());
        }
        Ok(text)
    }

    fn float(&self, text: String) -> String {
        if self.style == Style::Json { json_float(&text) } else { text }
    }
}

/// Calls `visit` with the coordinates and the text of each defined element of a sparse dataset.
pub(crate) fn for_each_defined(
    file: &File,
    elements: &DefinedElements<'_>,
    style: Style,
    visit: &mut dyn FnMut(&[u64], &str) -> Result<()>,
) -> Result<()> {
    let paths = Paths::new(file);
    let mut texts = Elements::new(elements.dataset().datatype(), &paths, style);
    elements.for_each(&mut |points, stored| {
        let mut number = 0;
        texts.each(stored, stored.bytes(), |text| {
            visit(coordinates(points, number)?, text)?;
            number += 1;
            Ok(())
        })
    })
}

fn numbers<T: H5Type>(datatype: &Datatype, bytes: &[u8]) -> Result<Vec<T>> {
    let count = whole_elements(bytes, to_usize(datatype.size.into())?)?;
    let conversion = Conversion::new(datatype, &T::datatype())?;
    Ok(T::read_vec(count, |out| conversion.convert(bytes, out, count))?)
}

/// Returns the number of elements of `size` bytes in a byte string. Returns an error if the last
/// element is incomplete.
fn whole_elements(bytes: &[u8], size: usize) -> Result<usize> {
    if bytes.is_empty() {
        return Ok(0);
    }
    if size == 0 || !bytes.len().is_multiple_of(size) {
        bail!("{} bytes do not divide into whole elements of {size} bytes", bytes.len());
    }
    Ok(bytes.len() / size)
}

fn shown<T: Display>(values: &[T], mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
    values.iter().try_for_each(|value| visit(&value.to_string()))
}

/// Returns a floating-point number in JSON. The values `nan`, `inf` and `-inf` become strings.
fn json_float(text: &str) -> String {
    if text.ends_with(|c: char| c.is_ascii_digit()) { text.to_owned() } else { format!("\"{text}\"") }
}

/// Returns a text that a spreadsheet does not read as a formula. If the text begins like a formula,
/// puts a quote before the text.
pub(crate) fn without_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

/// Returns the text of a value in a given style.
pub(crate) fn spelled(value: &Value, style: Style) -> String {
    match (style, value) {
        (Style::Json, Value::Float(text)) => json_float(text),
        (Style::Json, value) => value.json().to_string(),
        (Style::Shown, Value::Text(bytes)) => crate::output::escape(bytes),
        (Style::Bare, Value::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        (Style::NoFormula, Value::Text(bytes)) => {
            without_formula(String::from_utf8_lossy(bytes).into_owned())
        }
        (Style::NoFormula, Value::Name(name)) => without_formula(crate::output::escape(name)),
        (_, value) => python(value),
    }
}

/// Returns the text of a value as Python prints it: strings in quotes, capitalized booleans,
/// complex numbers in parentheses.
fn python(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
        Value::Float(text) | Value::Bytes(text) => text.clone(),
        Value::Bool(value) => if *value { "True" } else { "False" }.into(),
        Value::Text(bytes) => quoted(bytes),
        Value::Name(name) => crate::output::escape(name),
        Value::Complex(parts) => complex(&python(&parts.0), &python(&parts.1)),
        Value::Record(members) => {
            let shown: Vec<String> = members.iter().map(|(_, value)| python(value)).collect();
            let comma = if shown.len() == 1 { "," } else { "" };
            format!("({}{comma})", shown.join(", "))
        }
        Value::List { items, .. } => {
            format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(" "))
        }
        Value::Reference(target) => format!("→ {target}"),
        Value::Null => "None".into(),
    }
}

/// Returns the text of a complex number: `(1+2j)`, or `2j` if the real part is 0.
fn complex(real: &str, imaginary: &str) -> String {
    let [real, imaginary] = [real, imaginary].map(|part| part.strip_suffix(".0").unwrap_or(part));
    if real == "0" {
        return format!("{imaginary}j");
    }
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({real}{sign}{imaginary}j)")
}

/// Quotes text as Python's `repr` does. Uses double quotes only if the text has single quotes and
/// no double quotes.
fn quoted(bytes: &[u8]) -> String {
    let has = |quote| bytes.contains(&quote);
    let quote = if has(b'\'') && !has(b'"') { '"' } else { '\'' };
    let mut text = String::from(quote);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                _ if character == quote => text.extend(['\\', quote]),
                _ if crate::output::is_unsafe(character) => {
                    let code = u32::from(character);
                    text.push_str(&match code {
                        0..=0xff => format!("\\x{code:02x}"),
                        0x100..=0xffff => format!("\\u{code:04x}"),
                        _ => format!("\\U{code:08x}"),
                    });
                }
                _ => text.push(character),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text.push(quote);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_numbers_as_in_python() {
        for (real, imaginary, expected) in [
            ("1.0", "2.0", "(1+2j)"),
            ("1.5", "-0.0", "(1.5-0j)"),
            ("0.0", "2.0", "2j"),
            ("-0.0", "2.0", "(-0+2j)"),
            ("nan", "inf", "(nan+infj)"),
            ("1e+16", "-1e-05", "(1e+16-1e-05j)"),
        ] {
            assert_eq!(complex(real, imaginary), expected);
        }
    }

    #[test]
    fn text_as_in_python() {
        for (text, expected) in [
            ("plain µ", "'plain µ'"),
            ("it's", "\"it's\""),
            ("it's \"it\"", "'it\\'s \"it\"'"),
            ("a\\b\n\t\u{1b}\u{202e}", "'a\\\\b\\n\\t\\x1b\\u202e'"),
        ] {
            assert_eq!(quoted(text.as_bytes()), expected);
        }
        assert_eq!(quoted(b"\xff!"), "'\\xff!'");
    }

    #[test]
    fn nested_values() {
        let one = Value::Record(vec![(b"a".to_vec(), Value::Integer(1))]);
        assert_eq!(python(&one), "(1,)");
        let items = vec![Value::Text(b"x".to_vec()), Value::Bool(true)];
        let list = Value::List { items, more: false };
        assert_eq!(python(&list), "['x' True]");
        assert_eq!(spelled(&list, Style::Json), "[\"x\",true]");
        assert_eq!(spelled(&Value::Text(b"x,y\x1b".to_vec()), Style::Bare), "x,y\u{1b}");
        assert_eq!(spelled(&Value::Text(b"x,y\x1b".to_vec()), Style::Shown), "x,y\\u{1b}");
        assert_eq!(spelled(&Value::Float("-inf".into()), Style::Json), "\"-inf\"");
        assert_eq!(spelled(&Value::Float("1e+16".into()), Style::Json), "1e+16");
    }
}
