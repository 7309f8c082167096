//! Elements in the format of h5ls.

use anyhow::{Result, anyhow};
use hyperslab::datatype::{
    Array, ByteOrder, Compound, Enumeration, StringPadding, VariableLength, VariableLengthKind,
};
use hyperslab::{Datatype, DatatypeClass, Stored};
use hyperslab_exact::to_usize;

use super::text::{Text, printable};
use crate::tools::ddl::elements::{self as ddl, Names};
use crate::tools::ddl::escape;
use crate::tools::printf::{self, Format};

/// The options of h5ls for the text of elements.
#[derive(Debug)]
pub(super) struct Style {
    /// The format for programs: without brackets, and with only printable characters in text.
    pub(super) simple: bool,
    /// Print the names of compound members.
    pub(super) label: bool,
    /// Print bytes.
    pub(super) hexadecimal: bool,
    float: Format,
    double: Format,
    longer: Format,
}

impl Style {
    pub(super) fn new(simple: bool, label: bool, hexadecimal: bool) -> Self {
        let (float, double, longer) = (Format::general(6), Format::general(15), Format::general(6));
        Self { simple, label, hexadecimal, float, double, longer }
    }
}

/// A formatter of elements in the format of h5ls.
pub(super) struct Elements<'a> {
    pub(super) style: &'a Style,
    pub(super) stored: &'a Stored,
    pub(super) names: &'a dyn Names,
}

impl Elements<'_> {
    /// Returns the text of an element for h5ls, with positions at which a line may end.
    pub(super) fn text(&self, datatype: &Datatype, bytes: &[u8]) -> Result<Text> {
        let mut text = Text::default();
        if self.style.hexadecimal {
            text.push(&printf::bytes_of(bytes));
        } else {
            self.write(&mut text, datatype, bytes)?;
        }
        Ok(text)
    }

    fn write(&self, out: &mut Text, datatype: &Datatype, bytes: &[u8]) -> Result<()> {
        match &datatype.class {
            DatatypeClass::FixedPoint(_) => out.push(&printf::integer(datatype, bytes)),
            DatatypeClass::FloatingPoint(_) => out.push(&self.float(datatype, bytes)),
            DatatypeClass::String(text) => {
                out.push(&printable(ended(bytes, text.padding), self.style.simple));
            }
            DatatypeClass::Compound(record) => return self.compound(out, record, bytes),
            DatatypeClass::Enumeration(names) => out.push(&named(names, bytes)),
            DatatypeClass::VariableLength(variable) => return self.variable(out, variable, bytes),
            DatatypeClass::Array(array) => return self.array(out, array, bytes),
            DatatypeClass::Reference(reference) => {
                let target = self.stored.reference(*reference, bytes)?;
                let style = ddl::Style::default();
                let elements = ddl::Elements { style: &style, stored: self.stored, names: self.names };
                out.push(&elements.reference(&target));
            }
            DatatypeClass::Complex(complex) => {
                let size = to_usize(complex.base.size.into())?;
                let (real, imaginary) = bytes.split_at_checked(size).ok_or_else(too_short)?;
                let [real, imaginary] = [real, imaginary].map(|part| self.float(&complex.base, part));
                let sign = if imaginary.starts_with('-') { "" } else { "+" };
                out.push(&format!("{real}{sign}{imaginary}i"));
            }
            DatatypeClass::Bitfield(bits) if bits.order == ByteOrder::BigEndian => {
                // The bytes are in little-endian order.
                out.push(&printf::bytes_of(&bytes.iter().rev().copied().collect::<Vec<u8>>()));
            }
            DatatypeClass::Bitfield(_) | DatatypeClass::Opaque(_) | DatatypeClass::Time(_) => {
                out.push(&printf::bytes_of(bytes));
            }
        }
        Ok(())
    }

    fn float(&self, datatype: &Datatype, bytes: &[u8]) -> String {
        let format = match datatype.size {
            0..=4 => &self.style.float,
            5..=8 => &self.style.double,
            _ => &self.style.longer,
        };
        let value = printf::float(datatype, bytes);
        value.map_or_else(|| printf::bytes_of(bytes), |value| format.print(value))
    }

    fn compound(&self, out: &mut Text, record: &Compound, bytes: &[u8]) -> Result<()> {
        let Style { simple, label, .. } = *self.style;
        let in_braces = label || !simple;
        if in_braces {
            out.push("{");
        }
        for (number, member) in record.members.iter().enumerate() {
            if number > 0 {
                out.push(if simple { " " } else { ", " });
                out.may_break();
            }
            if label {
                let mut name = String::new();
                escape(&mut name, &member.name, true);
                out.push(&name);
                out.push("=");
            }
            let (start, size) = (to_usize(member.offset.into())?, to_usize(member.datatype.size.into())?);
            let end = start.checked_add(size);
            let part = end.and_then(|end| bytes.get(start..end)).ok_or_else(too_short)?;
            self.write(out, &member.datatype, part)?;
        }
        if in_braces {
            out.push("}");
        }
        Ok(())
    }

    fn variable(&self, out: &mut Text, variable: &VariableLength, bytes: &[u8]) -> Result<()> {
        let value = self.stored.variable_length(bytes)?;
        if let VariableLengthKind::String { .. } = variable.kind {
            if bytes.iter().all(|byte| *byte == 0) {
                out.push("NULL");
            } else {
                let text = ended(value.items(1)?, StringPadding::NullTerminated);
                out.push(&printable(text, self.style.simple));
            }
            return Ok(());
        }
        let size = to_usize(variable.base.size.into())?.max(1);
        out.push("(");
        for (number, item) in value.items(size)?.chunks_exact(size).enumerate() {
            if number > 0 {
                out.push(",");
                out.may_break();
            }
            self.write(out, &variable.base, item)?;
        }
        out.push(")");
        Ok(())
    }

    fn array(&self, out: &mut Text, array: &Array, bytes: &[u8]) -> Result<()> {
        let size = to_usize(array.base.size.into())?.max(1);
        let simple = self.style.simple;
        if !simple {
            out.push("[");
        }
        for (number, item) in bytes.chunks_exact(size).enumerate() {
            if number > 0 {
                out.push(if simple { "  " } else { "," });
                out.may_break();
            }
            self.write(out, &array.base, item)?;
        }
        if !simple {
            out.push("]");
        }
        Ok(())
    }
}

fn too_short() -> anyhow::Error {
    anyhow!("an element is too short for its datatype")
}

/// Returns the bytes of a string up to its terminator.
fn ended(bytes: &[u8], padding: StringPadding) -> &[u8] {
    match padding {
        StringPadding::NullTerminated => bytes.split(|byte| *byte == 0).next().unwrap_or(bytes),
        StringPadding::NullPadded | StringPadding::SpacePadded => bytes,
    }
}

fn named(names: &Enumeration, bytes: &[u8]) -> String {
    let mut text = String::new();
    match names.members.iter().find(|member| member.value == bytes) {
        Some(member) => escape(&mut text, &member.name, true),
        None => text = printf::integer(&names.base, bytes),
    }
    text
}
