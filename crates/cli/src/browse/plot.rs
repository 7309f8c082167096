//! The plot of the elements in the browser's window: a line or an image.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Paragraph};

use super::elements::{Content, Elements};
use super::window::Part;
use crate::values::paths::Paths;

/// The colours of a plot in the browser, from small to large values.
const RAMP: [u8; 12] = [17, 18, 19, 20, 26, 32, 38, 44, 84, 155, 190, 226];
/// The colour of plot cells in the browser whose value is not a number.
const NOTHING: u8 = 236;

/// Draws a plot of the visible elements in the browser. Returns the number of rows that the plot
/// shows.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, elements: &mut Elements, paths: &Paths) -> u64 {
    let is_line = elements.window.column.is_none();
    // A line has two points in each column, an image two cells in each line. The last line of an
    // image has the range of values.
    let (rows, columns) = if is_line {
        (u64::from(area.width) * 2, 1)
    } else {
        (u64::from(area.height.max(2) - 1) * 2, u64::from(area.width))
    };
    let (start, step) = (elements.window.start(elements.window.row), elements.window.step);
    let (part, content) = elements.part(rows, columns, paths);
    let shown = part.rows;
    match content {
        Content::Message(text) => {
            frame.render_widget(Paragraph::new(text.as_str()).style(Style::new().fg(Color::Red)), area);
        }
        Content::Texts(_) => {}
        Content::Numbers(numbers) => match range(numbers) {
            None => frame.render_widget(Paragraph::new("there are no numbers to draw"), area),
            Some(range) if is_line => line(frame, area, numbers, (start, step), range),
            Some(range) => image(frame, area, numbers, part, range),
        },
    }
    shown
}

/// Returns the smallest and the largest finite number of the plotted elements.
fn range(numbers: &[f64]) -> Option<(f64, f64)> {
    let finite = numbers.iter().copied().filter(|number| number.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    (low <= high).then_some((low, high))
}

#[expect(clippy::cast_precision_loss, reason = "coordinates on the screen")]
fn line(
    frame: &mut Frame<'_>,
    area: Rect,
    numbers: &[f64],
    (start, step): (u64, u64),
    (low, high): (f64, f64),
) {
    let coordinate = |at: usize| (at as f64).mul_add(step as f64, start as f64);
    let finite = numbers.iter().enumerate().filter(|(_, number)| number.is_finite());
    let points: Vec<(f64, f64)> = finite.map(|(at, number)| (coordinate(at), *number)).collect();
    let dataset = Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(Style::new().fg(Color::Green))
        .data(&points);
    let last = coordinate(numbers.len().max(2) - 1);
    let (bottom, top) = if low < high { (low, high) } else { (low - 1.0, high + 1.0) };
    let x =
        Axis::default().bounds([coordinate(0), last]).labels([coordinate(0).to_string(), last.to_string()]);
    let y = Axis::default().bounds([bottom, top]).labels([format!("{bottom:.4}"), format!("{top:.4}")]);
    frame.render_widget(Chart::new(vec![dataset]).x_axis(x).y_axis(y), area);
}

/// Draws two-dimensional elements as an image of half-block characters. Draws the range of values
/// below the image.
fn image(frame: &mut Frame<'_>, area: Rect, numbers: &[f64], part: &Part, (low, high): (f64, f64)) {
    let columns = usize::try_from(part.columns).map_or(1, |columns| columns.max(1));
    let colour = |number: Option<&f64>| number.map_or(Color::Reset, |number| shade(*number, low, high));
    let mut rows = numbers.chunks(columns);
    let mut lines = Vec::new();
    while let Some(above) = rows.next() {
        let below = rows.next().unwrap_or(&[]);
        let cell = |(column, number): (usize, &f64)| {
            Span::styled("▀", Style::new().fg(colour(Some(number))).bg(colour(below.get(column))))
        };
        lines.push(Line::from(above.iter().enumerate().map(cell).collect::<Vec<_>>()));
    }
    lines.push(Line::from(format!("{low} to {high}")));
    frame.render_widget(Paragraph::new(lines), area);
}

/// Returns the colour of a number.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the share is clamped to 0 to 1"
)]
fn shade(number: f64, low: f64, high: f64) -> Color {
    if !number.is_finite() {
        return Color::Indexed(NOTHING);
    }
    let span = high - low;
    let share = if span > 0.0 { ((number - low) / span).clamp(0.0, 1.0) } else { 0.5 };
    let last = RAMP.len() - 1;
    let at = (share * last as f64).round() as usize;
    RAMP.get(at).map_or(Color::Reset, |code| Color::Indexed(*code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_follow_the_numbers() {
        assert_eq!(shade(0.0, 0.0, 1.0), Color::Indexed(17));
        assert_eq!(shade(1.0, 0.0, 1.0), Color::Indexed(226));
        assert_eq!(shade(f64::NAN, 0.0, 1.0), Color::Indexed(NOTHING));
        assert_eq!(range(&[f64::NAN, 2.0, -1.0]), Some((-1.0, 2.0)));
        assert_eq!(range(&[f64::NAN]), None);
    }
}
