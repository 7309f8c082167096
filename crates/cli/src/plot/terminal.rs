//! Plots in the terminal: lines as braille characters, images as half blocks.

use std::io;
use std::ops::RangeInclusive;

use anstyle::{Ansi256Color, Color, RgbColor, Style};
use hyperslab_exact::to_u64;

use super::casts::{float, whole};
use super::colours::{CURVES, Colour, ColourMap, NOTHING};
use super::figure::{Content, Figure};
use super::series::Curve;
use crate::output::Screen;
use crate::output::{DATASET, FAINT, VALUE, cut, styled, width};

/// The colours that the terminal supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    None,
    /// The palette of 256 colours.
    Palette,
    All,
}

/// The size of a plot's drawing area in the terminal without axes, in characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// The width of the axis labels at the left of a plot in the terminal, in columns.
const LABEL_COLUMNS: usize = 10;

/// The width of a plot's axis labels in the terminal together with the axis line, in columns.
const AXIS_COLUMNS: usize = LABEL_COLUMNS + 3;

impl Size {
    /// Returns the size of the plot's drawing area in a terminal of the given size.
    pub(super) fn within(columns: usize, lines: usize) -> Self {
        let columns = columns.clamp(10 + AXIS_COLUMNS, 400 + AXIS_COLUMNS) - AXIS_COLUMNS;
        Self { columns, lines: lines.clamp(4, 200) }
    }
}

/// Draws a figure as text in the terminal.
pub(super) fn draw(figure: &Figure, size: Size, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    let columns = size.columns + LABEL_COLUMNS + 2;
    styled(out, DATASET, &cut(&figure.title, columns))?;
    writeln!(out)?;
    let label = figure.values.label();
    if !label.is_empty() {
        styled(out, FAINT, &cut(&label, columns))?;
        writeln!(out)?;
    }
    let wide = match &figure.content {
        Content::Curves(curves) => {
            names(curves, colours, columns, out)?;
            let dots = Dots::of(figure, curves, size);
            for row in 0..size.lines {
                axis_left(figure, row, size.lines, out)?;
                dots.draw(row, (curves.len(), colours), out)?;
                writeln!(out)?;
            }
            size.columns
        }
        Content::Image(image) => {
            let position = |row: usize, column: usize| {
                let row = figure.row_from_top(row, image.rows.cells);
                figure.values.position(image.cell(row, column))
            };
            let shaded = |row, column| shade(position(row, column));
            let coloured = |row, column| style_of(position(row, column), figure.colours, colours);
            let grid = Grid::of((image.rows.cells, image.columns.cells), size, colours);
            grid.draw(figure, shaded, coloured, out)?;
            grid.columns * grid.repeated
        }
        Content::Picture(picture) => {
            let shaded = |row, column| shade(Some(lightness(picture.cell(row, column))));
            let coloured = |row, column| colour_of(picture.cell(row, column), colours);
            let grid = Grid::of((picture.rows.cells, picture.columns.cells), size, colours);
            grid.draw(figure, shaded, coloured, out)?;
            grid.columns * grid.repeated
        }
    };
    axis_below(figure, wide, out)?;
    if matches!(figure.content, Content::Image(_)) {
        legend(figure, colours, out)?;
    }
    Ok(())
}

/// Writes a legend with the names of a plot's curves, if there are several.
fn names(curves: &[Curve], colours: Colours, columns: usize, out: &mut impl Screen) -> io::Result<()> {
    if curves.len() < 2 {
        return Ok(());
    }
    let mut left = columns;
    for (curve, ink) in curves.iter().zip(CURVES.iter().cycle()) {
        let text = format!("── {}   ", cut(&curve.name, 40));
        let Some(rest) = left.checked_sub(width(&text)) else { break };
        left = rest;
        if colours == Colours::None {
            write!(out, "{text}")?;
        } else {
            out.styled(Style::new().fg_color(Some(colour_of(*ink, colours))), &text)?;
        }
    }
    writeln!(out)
}

/// The grid of characters that shows the cells of an image in the terminal.
struct Grid {
    rows: usize,
    columns: usize,
    /// The number of characters in a cell: images of few columns become wider.
    repeated: usize,
    colours: Colours,
}

impl Grid {
    fn of((rows, columns): (usize, usize), size: Size, colours: Colours) -> Self {
        let repeated = size.columns.checked_div(columns).unwrap_or(1).clamp(1, 4);
        Self { rows, columns, repeated, colours }
    }

    /// Returns the number of text lines of the character grid. With colours, a line shows two rows
    /// of cells.
    fn lines(&self) -> usize {
        if self.colours == Colours::None { self.rows } else { self.rows.div_ceil(2) }
    }

    /// Draws the cells of an image in the terminal, with the vertical axis. Without colours,
    /// `shaded` returns the character of a cell. With colours, `coloured` returns its colour.
    fn draw(
        &self,
        figure: &Figure,
        shaded: impl Fn(usize, usize) -> char,
        coloured: impl Fn(usize, usize) -> Color,
        out: &mut impl Screen,
    ) -> io::Result<()> {
        for line in 0..self.lines() {
            axis_left(figure, line, self.lines(), out)?;
            for column in 0..self.columns {
                if self.colours == Colours::None {
                    write!(out, "{}", shaded(line, column).to_string().repeat(self.repeated))?;
                    continue;
                }
                let row = line * 2;
                let below = (row + 1 < self.rows).then(|| coloured(row + 1, column));
                let style = Style::new().fg_color(Some(coloured(row, column))).bg_color(below);
                out.styled(style, &"▀".repeat(self.repeated))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Draws the part of a plot's vertical axis beside a text line, with its tick label if the line has
/// one.
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

/// Limits the number of ticks of a plot axis to the range `limits`.
fn ticks_in(ticks: usize, limits: RangeInclusive<u32>) -> u32 {
    let (low, high) = limits.into_inner();
    u32::try_from(ticks).map_or(high, |ticks| ticks.clamp(low, high))
}

/// Draws the horizontal axis of a plot in the terminal, with its ticks and label.
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
    let label = cut(&figure.x.label(), wide);
    // `cut` leaves at most `wide` columns.
    let indent = " ".repeat((wide - width(&label)) / 2);
    styled(out, FAINT, &format!("{gap} {indent}{label}"))?;
    writeln!(out)
}

/// A grid of plot dots, drawn with braille characters. A character has two columns and four rows of
/// dots.
struct Dots {
    columns: usize,
    bits: Vec<u8>,
    /// For each character, the number of the last curve that was drawn in it.
    curves: Vec<usize>,
}

impl Dots {
    fn of(figure: &Figure, curves: &[Curve], size: Size) -> Self {
        let count = size.columns * size.lines;
        let mut dots = Self { columns: size.columns, bits: vec![0; count], curves: vec![0; count] };
        let (last_x, last_y) = (float(to_u64(size.columns * 2)) - 1.0, float(to_u64(size.lines * 4)) - 1.0);
        for (number, curve) in curves.iter().enumerate() {
            for part in &curve.parts {
                let mut before: Option<(usize, usize)> = None;
                for (x, value) in part {
                    let (Some(along), Some(position)) = (figure.x.position(*x), figure.y.position(*value))
                    else {
                        before = None;
                        continue;
                    };
                    let point = (whole(along * last_x), whole((1.0 - position) * last_y));
                    dots.stroke(number, before.unwrap_or(point), point);
                    before = Some(point);
                }
            }
        }
        dots
    }

    /// Sets the plot dots along a straight line between two points.
    fn stroke(&mut self, curve: usize, (from_x, from_y): (usize, usize), (to_x, to_y): (usize, usize)) {
        let steps = from_x.abs_diff(to_x).max(from_y.abs_diff(to_y));
        for step in 0..=steps {
            let share = if steps == 0 { 1.0 } else { float(to_u64(step)) / float(to_u64(steps)) };
            let at = |from: usize, to: usize| {
                whole(float(to_u64(from)).mul_add(1.0 - share, float(to_u64(to)) * share))
            };
            self.set(curve, at(from_x, to_x), at(from_y, to_y));
        }
    }

    fn set(&mut self, curve: usize, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let bit = BITS.get(y % 4).and_then(|row| row.get(x % 2)).copied().unwrap_or(0);
        let at = y / 4 * self.columns + x / 2;
        if let (Some(cell), Some(owner)) = (self.bits.get_mut(at), self.curves.get_mut(at)) {
            *cell |= bit;
            *owner = curve;
        }
    }

    /// Draws a text line of braille characters of the plot.
    fn draw(&self, row: usize, (curves, colours): (usize, Colours), out: &mut impl Screen) -> io::Result<()> {
        let cells = self.bits.iter().zip(&self.curves).skip(row * self.columns).take(self.columns);
        let braille =
            |bits: u8| if bits == 0 { ' ' } else { char::from_u32(0x2800 | u32::from(bits)).unwrap_or(' ') };
        let line: String = cells.clone().map(|(bits, _)| braille(*bits)).collect();
        let line = line.trim_end();
        if curves < 2 || colours == Colours::None {
            return styled(out, VALUE, line);
        }
        for (character, (_, curve)) in line.chars().zip(cells) {
            let ink = CURVES.iter().cycle().nth(*curve % CURVES.len()).copied().unwrap_or(NOTHING);
            let style = Style::new().fg_color(Some(colour_of(ink, colours)));
            out.styled(style, &character.to_string())?;
        }
        Ok(())
    }
}

/// Returns the text style for the colour at a position of the plot scale. The position `None`
/// stands for an empty cell.
fn style_of(position: Option<f64>, map: ColourMap, colours: Colours) -> Color {
    let Some(position) = position else {
        // Darker than in pictures, because most terminals are dark.
        return Color::Ansi256(Ansi256Color(236));
    };
    colour_of(map.colour(position), colours)
}

/// Returns the terminal colour that is nearest to a colour.
fn colour_of(colour: Colour, colours: Colours) -> Color {
    let [red, green, blue] = colour;
    match colours {
        Colours::All => Color::Rgb(RgbColor(red, green, blue)),
        _ => Color::Ansi256(Ansi256Color(palette(colour))),
    }
}

/// Returns the lightness of a colour between 0 and 1.
fn lightness([red, green, blue]: Colour) -> f64 {
    (f64::from(red) * 0.299 + f64::from(green) * 0.587 + f64::from(blue) * 0.114) / 255.0
}

/// Returns the nearest colour in the terminal palette's cube of 6 × 6 × 6 colours.
fn palette(colour: Colour) -> u8 {
    let level = |part: u8| if part < 48 { 0 } else { (part - 35) / 40 };
    let [red, green, blue] = colour.map(level);
    // No level exceeds 5.
    red * 36 + green * 6 + blue + 16
}

/// Returns a shading character for a value of an image. The character is darker for larger values.
fn shade(position: Option<f64>) -> char {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    match position {
        None => ' ',
        Some(position) => SHADES.get(whole(position * 4.0)).copied().unwrap_or('█'),
    }
}

/// Draws the colour scale of an image in the terminal, with the values at its ends.
fn legend(figure: &Figure, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    const LEGEND_COLUMNS: u32 = 24;
    let scale = figure.values.scale;
    let step = (scale.high - scale.low) / 100.0;
    let low = super::scale::label(scale.low, step);
    let high = super::scale::label(scale.high, step);
    write!(out, "{}", " ".repeat(LABEL_COLUMNS + 2))?;
    styled(out, FAINT, &format!("{low} "))?;
    for number in 0..LEGEND_COLUMNS {
        let position = Some(f64::from(number) / f64::from(LEGEND_COLUMNS - 1));
        if colours == Colours::None {
            write!(out, "{}", shade(position))?;
        } else {
            let style = Style::new().fg_color(Some(style_of(position, figure.colours, colours)));
            out.styled(style, "█")?;
        }
    }
    let log = if scale.log { "  logarithmic" } else { "" };
    styled(out, FAINT, &format!(" {high}{log}"))?;
    writeln!(out)
}
