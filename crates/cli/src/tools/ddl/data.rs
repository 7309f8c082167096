//! Where elements go on the lines of a `DATA` block.

use std::io::{self, Write};

use super::spaces;

/// Columns of a line, if nothing is said.
pub(crate) const WIDTH: usize = 80;

/// Columns at the end of a line that stay empty if it begins with coordinates.
const MARGIN: usize = 3;

/// Writes elements one after the other, as many to a line as fit.
pub(crate) struct Lines<'o> {
    out: &'o mut dyn Write,
    indent: usize,
    width: usize,
    /// Whether lines begin with the coordinates of their first element.
    indices: bool,
    /// Nothing but values goes there: each line begins with the end of the one before.
    apart: bool,
    /// Each element stands on a line of its own.
    pub(crate) single: bool,
    column: usize,
    /// The element before took several lines.
    long: bool,
    begun: bool,
}

impl<'o> Lines<'o> {
    pub(crate) fn new(
        out: &'o mut dyn Write,
        apart: bool,
        indent: usize,
        width: usize,
        indices: bool,
    ) -> Self {
        let (single, column, long, begun) = (false, 0, false, false);
        Self { out, indent, width, indices, apart, single, column, long, begun }
    }

    /// An element, on a line of its own if it begins a row.
    pub(crate) fn element(
        &mut self,
        coordinates: &[u64],
        text: &str,
        begins_row: bool,
        is_last: bool,
    ) -> io::Result<()> {
        let is_long = text.contains('\n');
        let comma = if is_last { "" } else { "," };
        let length = text.chars().count().saturating_add(comma.len());
        let margin = if self.indices { MARGIN } else { 0 };
        let is_full = self.column.saturating_add(length).saturating_add(1 + margin) > self.width;
        if !self.begun || self.single || begins_row || self.long || is_long || is_full {
            let prefix = self.prefix(coordinates);
            if self.begun || self.apart {
                self.out.write_all(b"\n")?;
            }
            self.out.write_all(prefix.as_bytes())?;
            self.column = prefix.len();
        } else {
            self.out.write_all(b" ")?;
            self.column = self.column.saturating_add(1);
        }
        write!(self.out, "{text}{comma}")?;
        self.column = self.column.saturating_add(length);
        (self.begun, self.long) = (true, is_long);
        Ok(())
    }

    /// The end of the last line.
    pub(crate) fn end(self) -> io::Result<()> {
        if self.begun && !self.apart { self.out.write_all(b"\n") } else { Ok(()) }
    }

    fn prefix(&self, coordinates: &[u64]) -> String {
        let indent = spaces(self.indent);
        if !self.indices {
            return indent;
        }
        let coordinates: Vec<String> = coordinates.iter().map(u64::to_string).collect();
        let place = if coordinates.is_empty() { "0".into() } else { coordinates.join(",") };
        format!("{indent}({place}): ")
    }
}
