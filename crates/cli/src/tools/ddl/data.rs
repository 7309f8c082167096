//! The lines of a `DATA` block in the output of h5dump.

use std::io::{self, Write};

use super::spaces;

/// The default width of an output line of elements in h5dump.
pub(crate) const DEFAULT_COLUMNS: usize = 80;

/// The number of columns that stay empty at the end of an output line, if lines of elements begin
/// with coordinates.
pub(crate) const MARGIN_COLUMNS: usize = 3;

/// A writer of elements that puts as many elements into each output line as fit.
pub(crate) struct Lines<'o> {
    out: &'o mut dyn Write,
    indent: usize,
    width: usize,
    /// True if lines begin with the coordinates of their first element.
    indices: bool,
    /// True if the output has only values. Each line then begins with the line break.
    values_only: bool,
    /// True if each element has a separate line.
    pub(crate) single: bool,
    column: usize,
    begun: bool,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(
        out: &'o mut dyn Write,
        values_only: bool,
        indent: usize,
        width: usize,
        indices: bool,
    ) -> Self {
        let (single, column, begun) = (false, 0, false);
        Self { out, indent, width, indices, values_only, single, column, begun }
    }

    /// Writes an element to the output lines. The first element of a row begins a new line.
    pub(crate) fn element(
        &mut self,
        coordinates: &[u64],
        text: &str,
        begins_row: bool,
        is_last: bool,
    ) -> io::Result<()> {
        let comma = if is_last { "" } else { "," };
        // As in the C tool, all lines of an element count as if they were one line.
        let length = text.chars().count() + comma.len();
        let margin = if self.indices { MARGIN_COLUMNS } else { 0 };
        let is_full = self.column + length + 1 + margin > self.width;
        if !self.begun || self.single || begins_row || is_full {
            let prefix = self.prefix(coordinates);
            if self.begun || self.values_only {
                self.out.write_all(b"\n")?;
            }
            self.out.write_all(prefix.as_bytes())?;
            self.column = prefix.len();
        } else {
            self.out.write_all(b" ")?;
            self.column += 1;
        }
        write!(self.out, "{text}{comma}")?;
        self.column += length;
        self.begun = true;
        Ok(())
    }

    /// Ends the last output line of elements.
    pub(crate) fn end(self) -> io::Result<()> {
        if self.begun && !self.values_only { self.out.write_all(b"\n") } else { Ok(()) }
    }

    fn prefix(&self, coordinates: &[u64]) -> String {
        let indent = spaces(self.indent);
        if !self.indices {
            return indent;
        }
        let coordinates: Vec<String> = coordinates.iter().map(u64::to_string).collect();
        let position = if coordinates.is_empty() { "0".into() } else { coordinates.join(",") };
        format!("{indent}({position}): ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_elements_of_several_lines_share_a_line() {
        let mut out = Vec::new();
        let mut lines = Lines::new(&mut out, false, 3, DEFAULT_COLUMNS, true);
        let text = "[ 0, 1,\n      2, 3 ]";
        for number in 0..4 {
            lines.element(&[number], text, number == 0, number == 3).unwrap();
        }
        lines.end().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("): ").count(), 2, "{text}");
        assert!(text.starts_with("   (0): [ 0, 1,\n      2, 3 ], [ 0, 1,\n"), "{text}");
    }
}
