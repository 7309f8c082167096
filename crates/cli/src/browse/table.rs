//! The browser's table of elements.

use hyperslab_exact::{to_u64, to_usize};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::elements::{Content, Elements};
use crate::output::{cut, spaces, width};
use crate::values::paths::Paths;

/// The width of a table column in the browser, with the gap after the column.
const COLUMN: u16 = 13;
/// The width of the row coordinates at the left of the browser's table, with the gap after them.
const COORDINATES: u16 = 12;

/// Draws the browser's table of elements. Returns the number of screen rows that the table takes.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, elements: &mut Elements, paths: &Paths) -> u64 {
    let one_column = elements.window.column.is_none();
    // The first line has the coordinates of the columns.
    let rows = u64::from(area.height.max(2) - 1);
    let free = area.width.max(COORDINATES) - COORDINATES;
    let columns = if one_column { 1 } else { u64::from((free / COLUMN).max(1)) };
    let widest = usize::from(if one_column { free } else { COLUMN }).max(2) - 1;
    let (first_row, first_column) =
        (elements.window.start(elements.window.row), elements.window.start(elements.window.column));
    let (part, content) = elements.part(rows, columns, paths);
    let shown = part.rows;
    let texts = match content {
        Content::Texts(texts) => texts,
        Content::Numbers(_) => return shown,
        Content::Message(text) => {
            frame.render_widget(Paragraph::new(text.as_str()).style(Style::new().fg(Color::Red)), area);
            return shown;
        }
    };
    let coordinate = |text: String| Span::from(padded(&text, usize::from(COORDINATES) - 1, false)).dim();
    let mut lines = Vec::new();
    let mut head = vec![coordinate(String::new())];
    if !one_column {
        head.extend(
            (0..part.columns).map(|column| {
                Span::from(padded(&(first_column + column).to_string(), widest + 1, true)).dim()
            }),
        );
    }
    lines.push(Line::from(head));
    let in_row = to_usize(part.columns).map_or(1, |columns| columns.max(1));
    for (row, texts) in texts.chunks(in_row).enumerate() {
        let mut line = vec![coordinate((first_row + to_u64(row)).to_string())];
        line.extend(texts.iter().map(|text| Span::from(padded(text, widest + 1, !one_column))));
        lines.push(Line::from(line));
    }
    frame.render_widget(Paragraph::new(lines), area);
    shown
}

/// Pads a text with spaces, or cuts the text, to the width of `columns` columns.
fn padded(text: &str, columns: usize, is_right: bool) -> String {
    let text = cut(text, columns.max(2) - 1);
    let gap = spaces(width(&text), columns.max(2) - 1);
    if is_right { format!("{gap}{text} ") } else { format!("{text}{gap} ") }
}
