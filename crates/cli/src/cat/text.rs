//! Arrays as text, laid out as NumPy does: brackets and aligned columns for small ones, one row in a line for large
//! ones.

use std::io::Write;

use anyhow::Result;

/// Elements up to which an array is laid out whole: as many as NumPy prints without leaving some out.
pub(super) const SMALL: u64 = 1000;

/// Columns of a line, as NumPy has them.
const LINE_WIDTH: usize = 75;

/// A small array in brackets; `right` aligns elements to the right in columns of one width, at least so wide.
pub(super) fn small(
    output: &mut impl Write,
    shape: &[u64],
    elements: &[String],
    right: Option<usize>,
) -> Result<()> {
    if shape.is_empty() {
        writeln!(output, "{}", elements.first().map_or("", String::as_str))?;
        return Ok(());
    }
    if elements.is_empty() {
        writeln!(output, "[]")?;
        return Ok(());
    }
    let width = right.map_or(0, |least| elements.iter().map(|text| length(text)).fold(least, usize::max));
    let padded: Vec<String> = elements.iter().map(|text| format!("{}{text}", spaces(width, text))).collect();
    let shape: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(usize::MAX)).collect();
    writeln!(output, "{}", nested(&shape, &padded, " ", LINE_WIDTH))?;
    Ok(())
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn spaces(width: usize, text: &str) -> String {
    " ".repeat(width.saturating_sub(length(text)))
}

/// One level of brackets. `indent` stands before its lines but the first, and a line may have `width` columns.
fn nested(shape: &[usize], elements: &[String], indent: &str, width: usize) -> String {
    let Some((count, inner)) = shape.split_first() else {
        return elements.first().cloned().unwrap_or_default();
    };
    let deeper = format!("{indent} ");
    let inner_width = width.saturating_sub(1);
    if inner.is_empty() {
        return format!("[{}]", wrapped(elements, indent, inner_width));
    }
    let between = format!("{}{indent}", "\n".repeat(inner.len()));
    let size = elements.len().checked_div(*count).unwrap_or(0).max(1);
    let parts: Vec<String> =
        elements.chunks(size).map(|part| nested(inner, part, &deeper, inner_width)).collect();
    format!("[{}]", parts.join(&between))
}

/// Elements side by side, in as many lines as needed.
fn wrapped(elements: &[String], indent: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut line = String::from(indent);
    let mut columns = indent.len();
    for (number, element) in elements.iter().enumerate() {
        if number > 0 {
            line.push(' ');
            columns = columns.saturating_add(1);
        }
        if columns.saturating_add(length(element)) > width && columns > indent.len() {
            lines.push(line.trim_end().to_owned());
            line = indent.to_owned();
            columns = indent.len();
        }
        line.push_str(element);
        columns = columns.saturating_add(length(element));
    }
    lines.push(line);
    let text = lines.join("\n");
    text.get(indent.len()..).unwrap_or_default().to_owned()
}

/// Writes the elements of a large array one by one: those of the last dimension in a line, or one in a line if there is
/// only one dimension; blank lines between what the dimensions before hold.
#[derive(Debug)]
pub(super) struct Rows {
    /// Elements of a row, of a plane, and so on.
    sizes: Vec<u64>,
    done: u64,
}

impl Rows {
    pub(super) fn new(shape: &[u64]) -> Self {
        let mut sizes = Vec::new();
        let mut size = 1_u64;
        for count in shape.iter().skip(1).rev() {
            size = size.saturating_mul(*count);
            sizes.push(size.max(1));
        }
        if sizes.is_empty() {
            sizes.push(1);
        }
        Self { sizes, done: 0 }
    }

    pub(super) fn element(&mut self, output: &mut impl Write, text: &str) -> Result<()> {
        let ended = self.sizes.iter().take_while(|size| self.done.checked_rem(**size) == Some(0)).count();
        if self.done > 0 {
            match ended {
                0 => output.write_all(b" ")?,
                _ => (0..ended).try_for_each(|_| output.write_all(b"\n"))?,
            }
        }
        output.write_all(text.as_bytes())?;
        self.done = self.done.saturating_add(1);
        Ok(())
    }

    pub(super) fn end(&self, output: &mut impl Write) -> Result<()> {
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
            let mut rows = Rows::new(shape);
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
