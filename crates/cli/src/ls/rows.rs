//! The lines of a listing with aligned columns. The writer collects lines before it chooses the
//! widths of the columns. Columns never become narrower, so that long lists stay readable.

use std::io;

use anstyle::Style;

use crate::output::Screen;
use crate::output::{FAINT, styled, width};

/// The number of lines that a listing collects before it computes the column widths and writes the
/// lines.
const HELD_LINES: usize = 1024;

/// The number of aligned cells in a line of a listing: name, shape, type and value.
const ALIGNED_CELLS: usize = 4;

/// The largest width of each aligned column of a listing. Longer cells shift the rest of their
/// line.
const MAX_WIDTHS: [usize; ALIGNED_CELLS] = [44, 30, 36, 40];

/// The text between the columns of a listing.
const GAP: &str = "  ";

/// A cell of a listing: a text in one style.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// A line of a listing: tree lines, aligned cells, and further cells that are not aligned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) branches: String,
    pub(crate) cells: Vec<Cell>,
    pub(crate) tail: Vec<Cell>,
}

/// A writer of the lines of a listing.
#[derive(Debug)]
pub(crate) struct Rows<W: Screen> {
    output: W,
    held: Vec<Row>,
    widths: [usize; ALIGNED_CELLS],
}

impl<W: Screen> Rows<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, held: Vec::new(), widths: [0; ALIGNED_CELLS] }
    }

    pub(crate) fn push(&mut self, row: Row) -> io::Result<()> {
        self.held.push(row);
        if self.held.len() >= HELD_LINES { self.write_held() } else { Ok(()) }
    }

    /// Writes the collected lines of the listing and flushes the output.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.write_held()?;
        self.output.flush()
    }

    fn write_held(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        for row in &held {
            for (at, (widest, limit)) in self.widths.iter_mut().zip(MAX_WIDTHS).enumerate() {
                let columns = row.columns(at).filter(|columns| *columns <= limit);
                *widest = columns.unwrap_or(0).max(*widest);
            }
        }
        held.iter().try_for_each(|row| row.write(&mut self.output, self.widths))
    }
}

impl Row {
    /// Returns the width of a listing's cell in columns. The width of the first cell includes the
    /// tree lines.
    fn columns(&self, at: usize) -> Option<usize> {
        let columns = width(&self.cells.get(at)?.text);
        Some(if at == 0 { columns + width(&self.branches) } else { columns })
    }

    fn write(&self, output: &mut impl Screen, widths: [usize; ALIGNED_CELLS]) -> io::Result<()> {
        styled(output, FAINT, &self.branches)?;
        // Spaces are written only before the next text, so that lines have no trailing spaces.
        let mut owed = 0_usize;
        for ((at, cell), widest) in self.cells.iter().enumerate().zip(widths) {
            if !cell.text.is_empty() {
                write!(output, "{:owed$}", "")?;
                styled(output, cell.style, &cell.text)?;
                owed = 0;
            }
            let used = self.columns(at).unwrap_or(0);
            if widest > 0 || used > 0 {
                owed += widest.max(used) - used + GAP.len();
            }
        }
        for cell in &self.tail {
            if !cell.text.is_empty() {
                write!(output, "{:owed$}", "")?;
                styled(output, cell.style, &cell.text)?;
                owed = GAP.len();
            }
        }
        writeln!(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::PLAIN;

    fn row(branches: &str, cells: &[&str], tail: &str) -> Row {
        Row {
            branches: branches.into(),
            cells: cells.iter().map(|text| Cell::new(*text, PLAIN)).collect(),
            tail: vec![Cell::new(tail, PLAIN)],
        }
    }

    fn written(rows: &[Row]) -> String {
        let mut written = Rows::new(Vec::new());
        rows.iter().for_each(|row| written.push(row.clone()).unwrap());
        written.end().unwrap();
        anstream::adapter::strip_bytes(&written.output).into_vec().try_into().unwrap()
    }

    #[test]
    fn cells_are_aligned_and_tails_are_not() {
        let text = written(&[
            row("", &["group/"], "of any length"),
            row("├── ", &["a", "3 × 4", "i32"], "end"),
            row("└── ", &["数", "", "f64"], ""),
        ]);
        assert_eq!(text, "group/  of any length\n├── a   3 × 4  i32  end\n└── 数         f64\n");
    }

    #[test]
    fn very_long_cells_do_not_widen_their_column() {
        let long = "x".repeat(100);
        let text = written(&[row("", &[&long, "1"], ""), row("", &["y", "2"], "")]);
        assert_eq!(text, format!("{long}  1\ny  2\n"));
    }
}
