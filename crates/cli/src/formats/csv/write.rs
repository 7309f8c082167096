//! The writer of comma-separated values: a record per row, or a record per compound with a column
//! for each member.

use std::io::Write;

use anyhow::{Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Datatype, File};
use hyperslab_exact::product;

use crate::formats::elements::{EachText, Style, spelled, without_formula};
use crate::output::escape;
use crate::output_target::OutputTarget;
use crate::selection::blocks::Blocks;
use crate::selection::defined::DefinedElements;
use crate::values::blocks::coordinates;
use crate::values::paths::Paths;
use crate::values::{Decoder, Value, complex_base};

/// The largest number of CSV columns for one array element. If the array is larger, it becomes one
/// column.
const MAX_COLUMNS: u64 = 4096;

/// Writes elements that are not compounds as CSV records.
pub(crate) fn write_elements(output: &mut OutputTarget, shape: &[u64], each: EachText<'_>) -> Result<()> {
    let mut records = Records::new(shape);
    each(&mut |text| records.element(output, text))
}

/// Writes compound elements as CSV: a line of column names, and a record for each element.
pub(crate) fn write_records(
    output: &mut OutputTarget,
    file: &File,
    (datatype, columns): (&Datatype, &[String]),
    blocks: &Blocks<'_>,
    style: Style,
) -> Result<()> {
    let paths = Paths::new(file);
    let names: Vec<String> = columns.iter().map(|name| column(name, style)).collect();
    writeln!(output, "{}", names.join(","))?;
    blocks.for_each(|stored| {
        for element in stored.elements() {
            let mut decoder = Decoder { stored: Some(stored), paths: &paths, budget: usize::MAX };
            let value = decoder.array(&[], datatype, element)?;
            let mut found = Vec::new();
            fields(datatype, &value, style, &mut found);
            check_fields(&found, columns.len())?;
            writeln!(output, "{}", found.join(","))?;
        }
        Ok(())
    })
}

/// Writes a CSV record for each defined element of a sparse dataset: columns for the coordinates,
/// then the columns of the element.
pub(crate) fn write_defined(
    output: &mut OutputTarget,
    file: &File,
    elements: &DefinedElements<'_>,
    style: Style,
) -> Result<()> {
    let datatype = elements.dataset().datatype();
    let columns = header(datatype);
    let rank = elements.dataset().dataspace().dims().len();
    let mut names: Vec<String> = (0..rank).map(|dimension| format!("index{dimension}")).collect();
    let paths = Paths::new(file);
    match &columns {
        Some(columns) => names.extend(columns.iter().map(|name| column(name, style))),
        None => names.push("value".into()),
    }
    writeln!(output, "{}", names.join(","))?;
    elements.for_each(&mut |points, stored| {
        for (number, element) in stored.elements().enumerate() {
            let mut decoder = Decoder { stored: Some(stored), paths: &paths, budget: usize::MAX };
            let value = decoder.array(&[], datatype, element)?;
            let mut found: Vec<String> = coordinates(points, number)?.iter().map(u64::to_string).collect();
            match &columns {
                Some(columns) => {
                    fields(datatype, &value, style, &mut found);
                    check_fields(&found, rank + columns.len())?;
                }
                None => found.push(field(&spelled(&value, style))),
            }
            writeln!(output, "{}", found.join(","))?;
        }
        Ok(())
    })
}

/// Checks that a CSV record has as many fields as the header has columns.
fn check_fields(fields: &[String], columns: usize) -> Result<()> {
    if fields.len() != columns {
        bail!("a CSV record has {} fields, but the table has {columns} columns", fields.len());
    }
    Ok(())
}

/// Returns a text as a CSV field, with quotes if RFC 4180 requires them.
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

/// Returns the name of a table column as a CSV field.
fn column(name: &str, style: Style) -> String {
    if style == Style::NoFormula { field(&without_formula(name.to_owned())) } else { field(name) }
}

/// Returns the CSV column names for a compound datatype: `member`, `member.inner` and `array[i,j]`.
/// Returns `None` for other datatypes.
pub(crate) fn header(datatype: &Datatype) -> Option<Vec<String>> {
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
        DatatypeClass::Array(array) if has_columns(datatype) => {
            for at in indices(&array.dims) {
                add_columns(columns, format!("{name}[{at}]"), &array.base);
            }
        }
        _ => columns.push(name),
    }
}

/// Returns true if each item of an array element gets a CSV column of its own.
fn has_columns(array: &Datatype) -> bool {
    width(array).is_some_and(|columns| columns <= MAX_COLUMNS)
}

/// Returns the number of CSV columns of a datatype, in which each item of an array has a column.
/// Returns `None` if the number does not fit in 64 bits.
fn width(datatype: &Datatype) -> Option<u64> {
    match &datatype.class {
        DatatypeClass::Array(array) => {
            let sizes = array.dims.iter().map(|size| u64::from(*size));
            product("number of columns", sizes.chain([width(&array.base)?])).ok()
        }
        DatatypeClass::Compound(compound) if complex_base(datatype).is_none() => {
            compound.members.iter().try_fold(0_u64, |sum, member| sum.checked_add(width(&member.datatype)?))
        }
        _ => Some(1),
    }
}

/// Returns the index texts of an array's items in C order: `0,0`, `0,1`, ….
fn indices(dims: &[u32]) -> Vec<String> {
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

/// Appends the CSV fields of a decoded record to `found`, in the order of the column names.
fn fields(datatype: &Datatype, value: &Value, style: Style, found: &mut Vec<String>) {
    match (&datatype.class, value) {
        (DatatypeClass::Compound(compound), Value::Record(members)) => {
            for (member, (_, value)) in compound.members.iter().zip(members) {
                fields(&member.datatype, value, style, found);
            }
        }
        (DatatypeClass::Array(array), value) if has_columns(datatype) => {
            items(array.dims.len(), &array.base, value, style, found);
        }
        _ => found.push(field(&spelled(value, style))),
    }
}

/// Appends the CSV fields of an array of `depth` dimensions.
fn items(depth: usize, base: &Datatype, value: &Value, style: Style, found: &mut Vec<String>) {
    match (depth.checked_sub(1), value) {
        (Some(depth), Value::List { items: parts, .. }) => {
            parts.iter().for_each(|part| items(depth, base, part, style, found));
        }
        _ => fields(base, value, style, found),
    }
}

/// A writer of CSV records for elements that are not compounds. A record contains the elements
/// along the last dimension. In a one-dimensional dataset, each element is a record.
#[derive(Debug)]
struct Records {
    row: u64,
    done: u64,
}

impl Records {
    fn new(shape: &[u64]) -> Self {
        let row = match shape {
            [] | [_] => 1,
            [.., last] => (*last).max(1),
        };
        Self { row, done: 0 }
    }

    fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        output.write_all(field(text).as_bytes())?;
        self.done += 1;
        let ended = self.done.is_multiple_of(self.row);
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
