//! Comma-separated values: a record per row, or per element with a column for each member of a compound.

use std::io::Write;

use anyhow::Result;
use hyperslab::Datatype;
use hyperslab::datatype::DatatypeClass;

use crate::output::escape;
use crate::values::{Value, complex_base};

use super::elements::{Style, spelled};

/// Columns beyond which a compound's arrays are not taken apart.
const MOST_COLUMNS: usize = 4096;

/// One field, in quotes where RFC 4180 wants them.
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

/// The name of a column as a field.
pub(super) fn column(name: &str, style: Style) -> String {
    if style == Style::NoFormula { field(&without_formula(name.to_owned())) } else { field(name) }
}

/// The text, which no spreadsheet takes for a formula: one that begins as formulas do gets a quote before it.
pub(super) fn without_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

/// The columns of a compound: its members, and theirs behind a point, and the elements of arrays with their index.
/// `None` if elements are no records.
pub(super) fn header(datatype: &Datatype) -> Option<Vec<String>> {
    let DatatypeClass::Compound(_) = &datatype.class else { return None };
    if complex_base(datatype).is_some() {
        return None;
    }
    let mut columns = Vec::new();
    add_columns(&mut columns, String::new(), datatype);
    Some(columns)
}

fn add_columns(columns: &mut Vec<String>, name: String, datatype: &Datatype) {
    match &datatype.class {
        DatatypeClass::Compound(compound) if complex_base(datatype).is_none() => {
            let dot = if name.is_empty() { "" } else { "." };
            for member in &compound.members {
                add_columns(columns, format!("{name}{dot}{}", escape(&member.name)), &member.datatype);
            }
        }
        DatatypeClass::Array(array) if width(datatype) <= MOST_COLUMNS => {
            for at in places(&array.dims) {
                add_columns(columns, format!("{name}[{at}]"), &array.base);
            }
        }
        _ => columns.push(name),
    }
}

/// Columns of a type whose arrays are taken apart.
fn width(datatype: &Datatype) -> usize {
    match &datatype.class {
        DatatypeClass::Array(array) => {
            let sizes = array.dims.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX));
            sizes.fold(width(&array.base), usize::saturating_mul)
        }
        DatatypeClass::Compound(compound) if complex_base(datatype).is_none() => {
            compound.members.iter().fold(0, |sum, member| sum.saturating_add(width(&member.datatype)))
        }
        _ => 1,
    }
}

/// The indices of an array in C order.
fn places(dims: &[u32]) -> Vec<String> {
    let mut all = vec![String::new()];
    for size in dims {
        let longer = |before: &String| {
            let comma = if before.is_empty() { "" } else { "," };
            (0..*size).map(|index| format!("{before}{comma}{index}")).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The fields of a decoded record, in the order of the [`header`].
pub(super) fn fields(datatype: &Datatype, value: &Value, style: Style, found: &mut Vec<String>) {
    match (&datatype.class, value) {
        (DatatypeClass::Compound(compound), Value::Record(members)) => {
            for (member, (_, value)) in compound.members.iter().zip(members) {
                fields(&member.datatype, value, style, found);
            }
        }
        (DatatypeClass::Array(array), value) if width(datatype) <= MOST_COLUMNS => {
            items(array.dims.len(), &array.base, value, style, found);
        }
        _ => found.push(field(&spelled(value, style))),
    }
}

/// The elements of an array of so many dimensions.
fn items(depth: usize, base: &Datatype, value: &Value, style: Style, found: &mut Vec<String>) {
    match (depth.checked_sub(1), value) {
        (Some(depth), Value::List { items: parts, .. }) => {
            parts.iter().for_each(|part| items(depth, base, part, style, found));
        }
        _ => fields(base, value, style, found),
    }
}

/// Writes elements that are no records: those of the last dimension are one record, each alone if there is only one
/// dimension.
#[derive(Debug)]
pub(super) struct Records {
    row: u64,
    done: u64,
}

impl Records {
    pub(super) fn new(shape: &[u64]) -> Self {
        let row = if shape.len() < 2 { 1 } else { shape.last().copied().unwrap_or(1).max(1) };
        Self { row, done: 0 }
    }

    pub(super) fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        output.write_all(field(text).as_bytes())?;
        self.done = self.done.saturating_add(1);
        let ended = self.done.checked_rem(self.row) == Some(0);
        output.write_all(if ended { b"\n" } else { b"," })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::datatype::ByteOrder::LittleEndian;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let fields = ["plain", "a,b", "say \"x\"", "two\nlines", " space", ""].map(field);
        assert_eq!(fields, ["plain", "\"a,b\"", "\"say \"\"x\"\"\"", "\"two\nlines\"", "\" space\"", ""]);
    }

    #[test]
    fn formulas_get_a_quote_and_numbers_do_not() {
        let shown = |value: Value| spelled(&value, Style::NoFormula);
        for (text, expected) in
            [("=1+1", "'=1+1"), ("@SUM(1)", "'@SUM(1)"), ("\t=1", "'\t=1"), ("a=1", "a=1"), ("", "")]
        {
            assert_eq!(shown(Value::Text(text.into())), expected);
            assert_eq!(column(text, Style::NoFormula), field(expected));
        }
        assert_eq!(shown(Value::Name(b"-x".to_vec())), "'-x");
        assert_eq!(shown(Value::Float("-1.5".into())), "-1.5");
        assert_eq!(shown(Value::Integer(-2)), "-2");
        assert_eq!(spelled(&Value::Text(b"=1".to_vec()), Style::Bare), "=1");
        assert_eq!(column("=b", Style::Bare), "=b");
    }

    #[test]
    fn members_are_columns() {
        let inner = Datatype::packed([("x", Datatype::u8()), ("y", Datatype::u8())]);
        let datatype = Datatype::packed([
            ("id", Datatype::i32(LittleEndian)),
            ("at", inner),
            ("m", Datatype::array(vec![2, 2], Datatype::u8())),
            ("z", Datatype::complex_compound(Datatype::f32(LittleEndian))),
        ]);
        let columns = header(&datatype).unwrap();
        assert_eq!(columns, ["id", "at.x", "at.y", "m[0,0]", "m[0,1]", "m[1,0]", "m[1,1]", "z"]);
        let list = |items| Value::List { items, more: false };
        let number = Value::Unsigned;
        let record =
            |values: Vec<Value>| Value::Record(values.into_iter().map(|v| (Vec::new(), v)).collect());
        let value = record(vec![
            Value::Integer(-1),
            record(vec![number(1), number(2)]),
            list(vec![list(vec![number(3), number(4)]), list(vec![number(5), number(6)])]),
            Value::Complex(Box::new((Value::Float("1.0".into()), Value::Float("0.5".into())))),
        ]);
        let mut found = Vec::new();
        fields(&datatype, &value, Style::Bare, &mut found);
        assert_eq!(found, ["-1", "1", "2", "3", "4", "5", "6", "(1+0.5j)"]);
        assert!(header(&Datatype::u8()).is_none());
        assert!(header(&Datatype::complex_compound(Datatype::f32(LittleEndian))).is_none());
    }
}
