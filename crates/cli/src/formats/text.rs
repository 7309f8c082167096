//! The writer of arrays as text in the layout of NumPy: brackets and aligned columns for small
//! arrays, a row per line for large arrays.

use std::io::Write;

use anyhow::Result;
use hyperslab::{Datatype, File};
use hyperslab_exact::{product, to_usize};

use super::elements::{EachText, Style, for_each_defined};
use crate::output::spaces;
use crate::output_target::OutputTarget;
use crate::selection::defined::DefinedElements;
use crate::values::blocks::listed;
use crate::values::complex_base;

/// The largest number of elements that are printed as one array in brackets. The limit is the same
/// as in NumPy.
const MAX_BRACKETED_ELEMENTS: u64 = 1000;

/// The width of a printed line of elements in columns, as in NumPy.
const LINE_WIDTH: usize = 75;

/// Writes an array of elements as text in NumPy's layout.
pub(crate) fn write(
    output: &mut OutputTarget,
    shape: &[u64],
    datatype: &Datatype,
    each: EachText<'_>,
) -> Result<()> {
    let count = product("number of elements", shape.iter().copied())?;
    if count <= MAX_BRACKETED_ELEMENTS {
        let mut all = Vec::new();
        each(&mut |text| {
            all.push(text.to_owned());
            Ok(())
        })?;
        return small(output, shape, &all, aligned(datatype));
    }
    let mut rows = Rows::new(shape)?;
    each(&mut |text| rows.element(output, text))?;
    rows.end(output)
}

/// Writes a line for each defined element: its coordinates and its value.
pub(crate) fn write_defined(
    output: &mut OutputTarget,
    file: &File,
    elements: &DefinedElements<'_>,
) -> Result<()> {
    for_each_defined(file, elements, Style::Python, &mut |at, text| {
        writeln!(output, "{}  {text}", listed(at, '(', ')'))?;
        Ok(())
    })
}

/// Returns the smallest width of a printed column for elements of a datatype that is aligned to the
/// right. Returns `None` if elements of the datatype are not aligned.
fn aligned(datatype: &Datatype) -> Option<usize> {
    if datatype.is_bool() {
        return Some(5);
    }
    (datatype.is_number() || complex_base(datatype).is_some()).then_some(0)
}

/// Writes a small array in brackets. If `right` is set, it is the smallest width of the columns,
/// and elements are aligned to the right.
fn small(output: &mut impl Write, shape: &[u64], elements: &[String], right: Option<usize>) -> Result<()> {
    if shape.is_empty() {
        writeln!(output, "{}", elements.first().map_or("", String::as_str))?;
        return Ok(());
    }
    if elements.is_empty() {
        writeln!(output, "[]")?;
        return Ok(());
    }
    let width = right.map_or(0, |least| elements.iter().map(|text| length(text)).fold(least, usize::max));
    let padded: Vec<String> =
        elements.iter().map(|text| format!("{}{text}", spaces(length(text), width))).collect();
    let shape: Vec<usize> = shape.iter().map(|size| to_usize(*size)).collect::<Result<_, _>>()?;
    writeln!(output, "{}", nested(&shape, &padded, " ", LINE_WIDTH))?;
    Ok(())
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns the text of an array in nested brackets. Each line except the first begins with
/// `indent`. A line has at most `width` columns.
fn nested(shape: &[usize], elements: &[String], indent: &str, width: usize) -> String {
    let Some((count, inner)) = shape.split_first() else {
        return elements.concat();
    };
    let deeper = format!("{indent} ");
    // A bracket takes a column. If deep brackets leave no width, each element has a separate line.
    let inner_width = width.saturating_sub(1);
    if inner.is_empty() {
        return format!("[{}]", wrapped(elements, indent, inner_width));
    }
    let between = format!("{}{indent}", "\n".repeat(inner.len()));
    let size = (elements.len() / (*count).max(1)).max(1);
    let parts: Vec<String> =
        elements.chunks(size).map(|part| nested(inner, part, &deeper, inner_width)).collect();
    format!("[{}]", parts.join(&between))
}

/// Joins the texts of elements with blanks, and breaks the text into lines of at most `width`
/// columns.
fn wrapped(elements: &[String], indent: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut line = String::from(indent);
    let mut columns = indent.len();
    for (number, element) in elements.iter().enumerate() {
        if number > 0 {
            line.push(' ');
            columns += 1;
        }
        if columns + length(element) > width && columns > indent.len() {
            lines.push(line.trim_end().to_owned());
            line = indent.to_owned();
            columns = indent.len();
        }
        line.push_str(element);
        columns += length(element);
    }
    lines.push(line);
    let text = lines.join("\n");
    // The first line begins with a bracket instead of the indent.
    text.strip_prefix(indent).unwrap_or(&text).to_owned()
}

/// A writer of large arrays as text, one element at a time. A line contains the elements along the
/// last dimension, or one element of a one-dimensional array. Blank lines separate the slower
/// dimensions.
#[derive(Debug)]
struct Rows {
    /// The number of elements in a row, in a plane, and so on.
    sizes: Vec<u64>,
    done: u64,
}

impl Rows {
    fn new(shape: &[u64]) -> Result<Self> {
        let mut sizes = Vec::new();
        let mut size = 1_u64;
        for count in shape.iter().skip(1).rev() {
            size = product("number of elements", [size, *count])?;
            sizes.push(size.max(1));
        }
        if sizes.is_empty() {
            sizes.push(1);
        }
        Ok(Self { sizes, done: 0 })
    }

    fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        let ended = self.sizes.iter().take_while(|size| self.done.checked_rem(**size) == Some(0)).count();
        if self.done > 0 {
            match ended {
                0 => output.write_all(b" ")?,
                _ => (0..ended).try_for_each(|_| output.write_all(b"\n"))?,
            }
        }
        output.write_all(text.as_bytes())?;
        self.done += 1;
        Ok(())
    }

    fn end(&self, output: &mut impl Write) -> Result<()> {
        if self.done > 0 {
            output.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(shape: &[u64], elements: &[&str], right: Option<usize>) -> String {
        let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
        let mut output = Vec::new();
        small(&mut output, shape, &elements, right).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn small_arrays_are_aligned() {
        assert_eq!(laid_out(&[], &["1.5"], Some(0)), "1.5\n");
        assert_eq!(laid_out(&[0, 3], &[], Some(0)), "[]\n");
        assert_eq!(laid_out(&[3], &["1", "-10", "2"], Some(0)), "[  1 -10   2]\n");
        assert_eq!(laid_out(&[2], &["True", "False"], Some(5)), "[ True False]\n");
        assert_eq!(laid_out(&[2, 2], &["1", "2", "3", "4"], Some(0)), "[[1 2]\n [3 4]]\n");
        assert_eq!(laid_out(&[2, 2, 1], &["a", "bb", "c", "d"], None), "[[[a]\n  [bb]]\n\n [[c]\n  [d]]]\n");
    }

    #[test]
    fn large_arrays_have_a_row_in_a_line() {
        let rows = |shape: &[u64]| {
            let mut rows = Rows::new(shape).unwrap();
            let mut output = Vec::new();
            for number in 0..shape.iter().product::<u64>() {
                rows.element(&mut output, &number.to_string()).unwrap();
            }
            rows.end(&mut output).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert_eq!(rows(&[3]), "0\n1\n2\n");
        assert_eq!(rows(&[2, 3]), "0 1 2\n3 4 5\n");
        assert_eq!(rows(&[2, 2, 2]), "0 1\n2 3\n\n4 5\n6 7\n");
        assert_eq!(rows(&[0, 2]), "");
    }
}
