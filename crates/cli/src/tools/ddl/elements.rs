//! Elements in the format of h5dump.

use std::ops::Range;

use anyhow::{Result, anyhow};
use hyperslab::datatype::{
    Array, ByteOrder, Compound, Enumeration, StringPadding, VariableLength, VariableLengthKind,
};
use hyperslab::{Datatype, DatatypeClass, ObjectToken, ReferenceTarget, Stored};
use hyperslab_exact::to_usize;

use super::super::printf::{self, Format};
use super::{LEVEL, escape, spaces};

/// The options for the text of elements in DDL, such as the format of numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    /// True if characters that move the cursor are written as escapes.
    pub(crate) escaped: bool,
    /// True if integers of one byte are written as characters.
    pub(crate) characters: bool,
    pub(crate) float: Format,
    /// The bits of integers that are written: the first bit, and the number of bits. `None` for all
    /// bits.
    pub(crate) bits: Option<(u32, u32)>,
}

/// A provider of the names of objects to which references lead.
pub(crate) trait Names {
    /// Returns the kind and path of a referenced object, such as `DATASET "file.h5/g/d"`.
    fn of(&self, token: ObjectToken) -> String;
}

/// A formatter of elements as text in DDL.
pub(crate) struct Elements<'a> {
    pub(crate) style: &'a Style,
    pub(crate) stored: &'a Stored,
    pub(crate) names: &'a dyn Names,
}

impl Elements<'_> {
    /// Returns the text of an element in DDL. Further lines of the text are indented by at least
    /// `inside` spaces, and the closing brace of a compound by `LEVEL` fewer spaces. `inside` must
    /// be at least `LEVEL`.
    pub(crate) fn text(&self, datatype: &Datatype, bytes: &[u8], inside: usize) -> Result<String> {
        let mut text = String::new();
        self.write(&mut text, datatype, bytes, inside)?;
        Ok(text)
    }

    fn write(&self, out: &mut String, datatype: &Datatype, bytes: &[u8], inside: usize) -> Result<()> {
        match &datatype.class {
            DatatypeClass::FixedPoint(_) => out.push_str(&self.integer(datatype, bytes)),
            DatatypeClass::FloatingPoint(_) => out.push_str(&self.float(datatype, bytes)),
            DatatypeClass::String(text) => self.string(out, bytes, text.padding),
            DatatypeClass::Compound(record) => return self.compound(out, record, bytes, inside),
            DatatypeClass::Enumeration(names) => out.push_str(&self.named(names, bytes)),
            DatatypeClass::VariableLength(variable) => return self.variable(out, variable, bytes, inside),
            DatatypeClass::Array(array) => return self.array(out, array, bytes, inside),
            DatatypeClass::Reference(reference) => {
                let target = self.stored.reference(*reference, bytes)?;
                out.push_str(&self.reference(&target));
            }
            DatatypeClass::Complex(complex) => {
                let size = to_usize(u64::from(complex.base.size))?;
                let (real, imaginary) = bytes
                    .split_at_checked(size)
                    .ok_or_else(|| anyhow!("an element is shorter than its type"))?;
                let [real, imaginary] = [real, imaginary].map(|part| self.float(&complex.base, part));
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                out.push_str(&format!("{real}{sign}{imaginary}i"));
            }
            DatatypeClass::Bitfield(bits) if bits.order == ByteOrder::BigEndian => {
                out.push_str(&printf::bytes_of(&bytes.iter().rev().copied().collect::<Vec<u8>>()));
            }
            _ => out.push_str(&printf::bytes_of(bytes)),
        }
        Ok(())
    }

    fn integer(&self, datatype: &Datatype, bytes: &[u8]) -> String {
        if let [one] = bytes
            && self.style.characters
        {
            let mut text = String::new();
            escape(&mut text, &[*one], self.style.escaped);
            return text;
        }
        match self.style.bits {
            Some((first, count)) => {
                let unsigned = printf::unsigned(datatype, bytes);
                let mask = 1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1);
                (unsigned.checked_shr(first).unwrap_or(0) & mask).to_string()
            }
            None => printf::integer(datatype, bytes),
        }
    }

    fn float(&self, datatype: &Datatype, bytes: &[u8]) -> String {
        let value = printf::float(datatype, bytes);
        value.map_or_else(|| printf::bytes_of(bytes), |value| self.style.float.print(value))
    }

    fn string(&self, out: &mut String, bytes: &[u8], padding: StringPadding) {
        let bytes = match padding {
            StringPadding::NullTerminated => bytes.split(|byte| *byte == 0).next().unwrap_or(bytes),
            StringPadding::NullPadded | StringPadding::SpacePadded => bytes,
        };
        out.push('"');
        escape(out, bytes, self.style.escaped);
        out.push('"');
    }

    fn named(&self, names: &Enumeration, bytes: &[u8]) -> String {
        let mut text = String::new();
        match names.members.iter().find(|member| member.value == bytes) {
            Some(member) => escape(&mut text, &member.name, true),
            None => text = printf::bytes_of(&little_endian(&names.base, bytes)),
        }
        text
    }

    fn compound(&self, out: &mut String, record: &Compound, bytes: &[u8], inside: usize) -> Result<()> {
        out.push_str("{\n");
        for (number, member) in record.members.iter().enumerate() {
            if number > 0 {
                out.push_str(",\n");
            }
            let (start, size) = (to_usize(member.offset.into())?, to_usize(member.datatype.size.into())?);
            let part = start.checked_add(size).and_then(|end| bytes.get(start..end));
            let part =
                part.ok_or_else(|| anyhow!("an element is too short for its member at offset {start}"))?;
            out.push_str(&spaces(inside));
            self.write(out, &member.datatype, part, inside + LEVEL)?;
        }
        out.push_str(&format!("\n{}}}", spaces(inside - LEVEL)));
        Ok(())
    }

    fn variable(
        &self,
        out: &mut String,
        variable: &VariableLength,
        bytes: &[u8],
        inside: usize,
    ) -> Result<()> {
        let value = self.stored.variable_length(bytes)?;
        if let VariableLengthKind::String { .. } = variable.kind {
            if bytes.iter().all(|byte| *byte == 0) {
                out.push_str("NULL");
            } else {
                self.string(out, value.items(1)?, StringPadding::NullTerminated);
            }
            return Ok(());
        }
        let size = to_usize(variable.base.size.into())?.max(1);
        out.push('(');
        let between = |out: &mut String, _| out.push_str(", ");
        let item = |out: &mut String, item: &[u8]| self.write(out, &variable.base, item, inside + LEVEL);
        write_items(out, value.items(size)?.chunks_exact(size), between, item)?;
        out.push(')');
        Ok(())
    }

    fn array(&self, out: &mut String, array: &Array, bytes: &[u8], inside: usize) -> Result<()> {
        let size = to_usize(array.base.size.into())?.max(1);
        let row = array.dims.last().map_or(1, |row| *row as usize).max(1);
        let has_arrays = has_array(&array.base);
        out.push_str("[ ");
        let between = |out: &mut String, number: usize| {
            out.push(',');
            if has_arrays {
                out.push_str(&format!("\n{}", spaces(inside + 1)));
            } else if array.dims.len() > 1 && number.is_multiple_of(row) {
                out.push_str(&format!("\n{}", spaces(inside)));
            } else {
                out.push(' ');
            }
        };
        let item = |out: &mut String, item: &[u8]| self.write(out, &array.base, item, inside + LEVEL);
        write_items(out, bytes.chunks_exact(size), between, item)?;
        out.push_str(" ]");
        Ok(())
    }

    /// Returns the text of a reference in DDL. The reference is a part of an element, or an item of
    /// a list of references.
    pub(crate) fn reference(&self, target: &ReferenceTarget) -> String {
        match target {
            ReferenceTarget::Object(token) | ReferenceTarget::Region(token, _) => self.names.of(*token),
            ReferenceTarget::Attribute(token, name) => {
                let mut text = self.names.of(*token);
                text.pop();
                text.push('/');
                escape(&mut text, name, true);
                text.push('"');
                text
            }
            _ => "NULL".into(),
        }
    }
}

/// Writes the texts of items, separated by `between`. Formats adjacent items with equal bytes only
/// once, because even a small file may have a fill value of millions of equal items.
fn write_items<'i>(
    out: &mut String,
    items: impl Iterator<Item = &'i [u8]>,
    between: impl Fn(&mut String, usize),
    mut write: impl FnMut(&mut String, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut before: Option<(&[u8], Range<usize>)> = None;
    for (number, item) in items.enumerate() {
        if number > 0 {
            between(out, number);
        }
        let start = out.len();
        match before {
            Some((bytes, text)) if bytes == item => out.extend_from_within(text),
            _ => write(out, item)?,
        }
        before = Some((item, start..out.len()));
    }
    Ok(())
}

/// Returns the bytes of an integer in little-endian order.
fn little_endian(datatype: &Datatype, bytes: &[u8]) -> Vec<u8> {
    match &datatype.class {
        DatatypeClass::FixedPoint(number) if number.order == ByteOrder::BigEndian => {
            bytes.iter().rev().copied().collect()
        }
        _ => bytes.to_vec(),
    }
}

/// Returns whether the datatype is or contains an array.
fn has_array(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Array(_) => true,
        DatatypeClass::Compound(record) => record.members.iter().any(|member| has_array(&member.datatype)),
        DatatypeClass::VariableLength(variable) => has_array(&variable.base),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_are_formatted_once() {
        let bytes = [vec![0_u8; 10_000], vec![7; 3], vec![0; 2]].concat();
        let (mut out, mut formatted) = (String::new(), 0);
        let write = |out: &mut String, item: &[u8]| {
            formatted += 1;
            out.push_str(&printf::bytes_of(item));
            Ok(())
        };
        write_items(&mut out, bytes.chunks_exact(1), |out, _| out.push(' '), write).unwrap();
        assert_eq!(formatted, 3);
        let expected: Vec<String> = bytes.iter().map(|byte| printf::bytes_of(&[*byte])).collect();
        assert_eq!(out, expected.join(" "));
    }
}
