//! Figures in the terminal: lines as braille characters, images as half blocks.

use std::io;
use std::ops::RangeInclusive;

use anstyle::{Ansi256Color, Color, RgbColor, Style};
use hyperslab_exact::to_u64;

use super::colours::{Colour, colour};
use super::figure::{Content, Figure};
use super::image::Image;
use super::line::Line;
use super::numbers::{float, whole};
use crate::output::Screen;
use crate::output::{DATASET, FAINT, VALUE, cut, styled, width};

/// The colours that the output supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    None,
    /// The palette of 256 colours.
    Palette,
    All,
}

/// The size of the picture without axes, in characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// The width of the labels at the left.
const LABEL_COLUMNS: usize = 10;

/// The width of the labels and the axis.
const AXIS_COLUMNS: usize = LABEL_COLUMNS + 3;

impl Size {
    /// Returns the size of the picture that fits in a terminal of this size.
    pub(super) fn within(columns: usize, lines: usize) -> Self {
        let columns = columns.clamp(10 + AXIS_COLUMNS, 400 + AXIS_COLUMNS) - AXIS_COLUMNS;
        Self { columns, lines: lines.clamp(4, 200) }
    }
}

/// Draws the figure.
pub(super) fn draw(figure: &Figure, size: Size, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    let columns = size.columns + LABEL_COLUMNS + 2;
    styled(out, DATASET, &cut(&figure.title, columns))?;
    writeln!(out)?;
    let label =
        if matches!(figure.content, Content::Line(_)) { &figure.y_label } else { &figure.values_label };
    if !label.is_empty() {
        styled(out, FAINT, &cut(label, columns))?;
        writeln!(out)?;
    }
    match &figure.content {
        Content::Line(line) => {
            let dots = Dots::of(figure, line, size);
            for row in 0..size.lines {
                axis_left(figure, row, size.lines, out)?;
                styled(out, VALUE, &dots.line(row))?;
                writeln!(out)?;
            }
        }
        Content::Image(image) => {
            for row in 0..lines_of(image, colours) {
                axis_left(figure, row, lines_of(image, colours), out)?;
                cells(figure, image, (row, repeated(image, size)), colours, out)?;
                writeln!(out)?;
            }
        }
    }
    let wide = match &figure.content {
        Content::Line(_) => size.columns,
        Content::Image(image) => image.columns.cells * repeated(image, size),
    };
    axis_below(figure, wide, out)?;
    if matches!(figure.content, Content::Image(_)) {
        legend(figure, colours, out)?;
    }
    Ok(())
}

/// Returns the number of characters in a cell: images of few columns become wider.
fn repeated(image: &Image, size: Size) -> usize {
    size.columns.checked_div(image.columns.cells).unwrap_or(1).clamp(1, 4)
}

/// Returns the number of text lines of an image: with colours, a line shows two rows.
fn lines_of(image: &Image, colours: Colours) -> usize {
    if colours == Colours::None { image.rows.cells } else { image.rows.cells.div_ceil(2) }
}

/// Draws the part of the vertical axis at the left of a line, with the label of its tick.
fn axis_left(figure: &Figure, row: usize, lines: usize, out: &mut impl Screen) -> io::Result<()> {
    let about = ticks_in(lines / 4, 2..=8);
    let last = float(to_u64(lines)) - 1.0;
    let is_here = |(position, _): &&(f64, String)| {
        let down = if figure.downwards { *position } else { 1.0 - position };
        whole(down * last) == row
    };
    let ticks = figure.y.ticks(about);
    let label = ticks.iter().find(is_here).map_or("", |(_, label)| label);
    let label = cut(label, LABEL_COLUMNS);
    // `cut` leaves at most `LABEL_COLUMNS` columns.
    let gap = " ".repeat(LABEL_COLUMNS - width(&label));
    styled(out, FAINT, &format!("{gap}{label} {}", if label.is_empty() { '│' } else { '┤' }))
}

/// Returns a number of ticks within `limits`.
fn ticks_in(ticks: usize, limits: RangeInclusive<u32>) -> u32 {
    let (low, high) = limits.into_inner();
    u32::try_from(ticks).map_or(high, |ticks| ticks.clamp(low, high))
}

/// Draws the horizontal axis, with ticks and label.
fn axis_below(figure: &Figure, wide: usize, out: &mut impl Screen) -> io::Result<()> {
    let about = ticks_in(wide / 14, 1..=10);
    let mut ticks: Vec<char> = vec!['─'; wide];
    let mut labels: Vec<char> = vec![' '; wide + LABEL_COLUMNS];
    for (position, label) in figure.x.ticks(about) {
        let at = whole(position * (float(to_u64(wide)) - 1.0));
        if let Some(tick) = ticks.get_mut(at) {
            *tick = '┬';
        }
        let length = label.chars().count();
        // A label near the left end begins at the left end.
        let start = at.saturating_sub(length / 2);
        let before = start.max(1) - 1;
        let free = labels.iter().skip(before).take(length + 2);
        if free.clone().all(|taken| *taken == ' ') {
            for (slot, character) in labels.iter_mut().skip(start).zip(label.chars()) {
                *slot = character;
            }
        }
    }
    let gap = " ".repeat(LABEL_COLUMNS + 1);
    styled(out, FAINT, &format!("{gap}└{}", ticks.iter().collect::<String>()))?;
    writeln!(out)?;
    let labels: String = labels.iter().collect();
    styled(out, FAINT, &format!("{gap} {}", labels.trim_end()))?;
    writeln!(out)?;
    let label = cut(&figure.x_label, wide);
    // `cut` leaves at most `wide` columns.
    let indent = " ".repeat((wide - width(&label)) / 2);
    styled(out, FAINT, &format!("{gap} {indent}{label}"))?;
    writeln!(out)
}

/// A grid of dots. A braille character has two columns and four rows of dots.
struct Dots {
    columns: usize,
    bits: Vec<u8>,
}

impl Dots {
    fn of(figure: &Figure, line: &Line, size: Size) -> Self {
        let mut dots = Self { columns: size.columns, bits: vec![0; size.columns * size.lines] };
        let (last_x, last_y) = (float(to_u64(size.columns * 2)) - 1.0, float(to_u64(size.lines * 4)) - 1.0);
        let mut before: Option<(usize, usize)> = None;
        for (number, bucket) in line.buckets.iter().enumerate() {
            let along = figure.x.position(line.coordinate(number)).unwrap_or(0.0);
            let x = whole(along * last_x);
            let Some(values) = bucket.values_in_order() else {
                before = None;
                continue;
            };
            for value in values {
                let Some(position) = figure.y.position(value) else {
                    before = None;
                    continue;
                };
                let y = whole((1.0 - position) * last_y);
                dots.stroke(before.unwrap_or((x, y)), (x, y));
                before = Some((x, y));
            }
        }
        dots
    }

    /// Sets the dots of a straight stroke.
    fn stroke(&mut self, (from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) {
        let steps = from_x.abs_diff(to_x).max(from_y.abs_diff(to_y));
        for step in 0..=steps {
            let share = if steps == 0 { 1.0 } else { float(to_u64(step)) / float(to_u64(steps)) };
            let at = |from: usize, to: usize| {
                whole(float(to_u64(from)).mul_add(1.0 - share, float(to_u64(to)) * share))
            };
            self.set(at(from_x, to_x), at(from_y, to_y));
        }
    }

    fn set(&mut self, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let bit = BITS.get(y % 4).and_then(|row| row.get(x % 2)).copied().unwrap_or(0);
        if let Some(cell) = self.bits.get_mut(y / 4 * self.columns + x / 2) {
            *cell |= bit;
        }
    }

    /// Returns a row of characters.
    fn line(&self, row: usize) -> String {
        let cells = self.bits.iter().skip(row * self.columns).take(self.columns);
        let line: String = cells
            .map(
                |bits| {
                    if *bits == 0 { ' ' } else { char::from_u32(0x2800 | u32::from(*bits)).unwrap_or(' ') }
                },
            )
            .collect();
        line.trim_end().to_owned()
    }
}

/// Draws one line of an image. Each cell has `wide` characters.
fn cells(
    figure: &Figure,
    image: &Image,
    (line, wide): (usize, usize),
    colours: Colours,
    out: &mut impl Screen,
) -> io::Result<()> {
    let position = |row: usize, column: usize| figure.values.position(image.cell(row, column));
    for column in 0..image.columns.cells {
        if colours == Colours::None {
            write!(out, "{}", shade(position(line, column)).to_string().repeat(wide))?;
            continue;
        }
        let row = line * 2;
        let above = style_of(position(row, column), colours);
        let below = (row + 1 < image.rows.cells).then(|| style_of(position(row + 1, column), colours));
        let style = Style::new().fg_color(Some(above)).bg_color(below);
        out.styled(style, &"▀".repeat(wide))?;
    }
    Ok(())
}

/// Returns the colour at a position of the scale. `None` is the colour of cells without a value.
fn style_of(position: Option<f64>, colours: Colours) -> Color {
    let Some(position) = position else {
        // Darker than in pictures, because most terminals are dark.
        return Color::Ansi256(Ansi256Color(236));
    };
    let [red, green, blue] = colour(position);
    match colours {
        Colours::All => Color::Rgb(RgbColor(red, green, blue)),
        _ => Color::Ansi256(Ansi256Color(palette([red, green, blue]))),
    }
}

/// Returns the nearest colour of the palette's cube of 6 × 6 × 6 colours.
fn palette(colour: Colour) -> u8 {
    let level = |part: u8| if part < 48 { 0 } else { (part - 35) / 40 };
    let [red, green, blue] = colour.map(level);
    // No level exceeds 5.
    red * 36 + green * 6 + blue + 16
}

/// Returns a character that is darker for larger values.
fn shade(position: Option<f64>) -> char {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    match position {
        None => ' ',
        Some(position) => SHADES.get(whole(position * 4.0)).copied().unwrap_or('█'),
    }
}

/// Draws the colour scale with the values at its ends.
fn legend(figure: &Figure, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    const LEGEND_COLUMNS: u32 = 24;
    let step = (figure.values.high - figure.values.low) / 100.0;
    let low = super::scale::label(figure.values.low, step);
    let high = super::scale::label(figure.values.high, step);
    write!(out, "{}", " ".repeat(LABEL_COLUMNS + 2))?;
    styled(out, FAINT, &format!("{low} "))?;
    for number in 0..LEGEND_COLUMNS {
        let position = Some(f64::from(number) / f64::from(LEGEND_COLUMNS - 1));
        if colours == Colours::None {
            write!(out, "{}", shade(position))?;
        } else {
            let style = Style::new().fg_color(Some(style_of(position, colours)));
            out.styled(style, "█")?;
        }
    }
    let log = if figure.values.log { "  logarithmic" } else { "" };
    styled(out, FAINT, &format!(" {high}{log}"))?;
    writeln!(out)
}
