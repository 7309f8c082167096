//! A figure in the terminal: lines of braille, images of half blocks.

use std::io;

use anstyle::{Ansi256Color, Color, RgbColor, Style};

use super::colours::{Colour, colour};
use super::figure::{Content, Figure};
use super::image::Image;
use super::line::Line;
use super::numbers::{float, index, long, whole};
use crate::output::Screen;
use crate::output::{DATASET, FAINT, VALUE, cut, styled, width};

/// Whether there are colours, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    None,
    /// Those of the palette of 256.
    Palette,
    All,
}

/// Cells of the picture, without axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: u64,
    pub(super) lines: u64,
}

/// Columns for marks at the left.
const MARKS: usize = 10;

impl Size {
    /// Room for a picture in a terminal of that size.
    pub(super) fn within(columns: u64, lines: u64) -> Self {
        let columns = columns.saturating_sub(long(MARKS).saturating_add(3)).clamp(10, 400);
        Self { columns, lines: lines.clamp(4, 200) }
    }
}

/// Draws the figure.
pub(super) fn draw(figure: &Figure, size: Size, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    let columns = index(size.columns).saturating_add(MARKS).saturating_add(2);
    styled(out, DATASET, &cut(&figure.title, columns))?;
    writeln!(out)?;
    let label =
        if matches!(figure.content, Content::Line(_)) { &figure.up_label } else { &figure.values_label };
    if !label.is_empty() {
        styled(out, FAINT, &cut(label, columns))?;
        writeln!(out)?;
    }
    match &figure.content {
        Content::Line(line) => {
            let dots = Dots::of(figure, line, size);
            for row in 0..size.lines {
                mark(figure, row, size.lines, out)?;
                styled(out, VALUE, &dots.line(row))?;
                writeln!(out)?;
            }
        }
        Content::Image(image) => {
            for row in 0..lines_of(image, colours) {
                mark(figure, row, lines_of(image, colours), out)?;
                cells(figure, image, (row, repeated(image, size)), colours, out)?;
                writeln!(out)?;
            }
        }
    }
    let wide = match &figure.content {
        Content::Line(_) => size.columns,
        Content::Image(image) => image.columns.cells.saturating_mul(repeated(image, size)),
    };
    axis(figure, index(wide), out)?;
    if matches!(figure.content, Content::Image(_)) {
        legend(figure, colours, out)?;
    }
    Ok(())
}

/// Characters for a cell: images of few columns become wider.
fn repeated(image: &Image, size: Size) -> u64 {
    size.columns.checked_div(image.columns.cells).unwrap_or(1).clamp(1, 4)
}

/// Lines of text for an image: with colours, two rows have one.
fn lines_of(image: &Image, colours: Colours) -> u64 {
    if colours == Colours::None { image.rows.cells } else { image.rows.cells.div_ceil(2) }
}

/// The mark at the left of a line, if one belongs there.
fn mark(figure: &Figure, row: u64, lines: u64, out: &mut impl Screen) -> io::Result<()> {
    let about = u32::try_from(lines / 4).unwrap_or(4).clamp(2, 8);
    let last = float(lines.saturating_sub(1));
    let here = |(place, _): &(f64, String)| {
        let down = if figure.downwards { *place } else { 1.0 - place };
        whole(down * last) == row
    };
    let marks = figure.up.marks(about);
    let label = marks.iter().find(|mark| here(mark)).map_or("", |(_, label)| label);
    let label = cut(label, MARKS);
    let gap = " ".repeat(MARKS.saturating_sub(width(&label)));
    styled(out, FAINT, &format!("{gap}{label} {}", if label.is_empty() { '│' } else { '┤' }))
}

/// The axis below, with its marks and its label.
fn axis(figure: &Figure, wide: usize, out: &mut impl Screen) -> io::Result<()> {
    let about = u32::try_from(wide / 14).unwrap_or(2).clamp(1, 10);
    let mut ticks: Vec<char> = vec!['─'; wide];
    let mut labels: Vec<char> = vec![' '; wide.saturating_add(MARKS)];
    for (place, label) in figure.across.marks(about) {
        let at = index(whole(place * float(long(wide.saturating_sub(1)))));
        if let Some(tick) = ticks.get_mut(at) {
            *tick = '┬';
        }
        let length = label.chars().count();
        let start = at.saturating_sub(length / 2);
        let free = labels.iter().skip(start.saturating_sub(1)).take(length.saturating_add(2));
        if free.clone().all(|taken| *taken == ' ') {
            for (slot, character) in labels.iter_mut().skip(start).zip(label.chars()) {
                *slot = character;
            }
        }
    }
    let gap = " ".repeat(MARKS.saturating_add(1));
    styled(out, FAINT, &format!("{gap}└{}", ticks.iter().collect::<String>()))?;
    writeln!(out)?;
    let labels: String = labels.iter().collect();
    styled(out, FAINT, &format!("{gap} {}", labels.trim_end()))?;
    writeln!(out)?;
    let label = cut(&figure.across_label, wide);
    let indent = " ".repeat(wide.saturating_sub(width(&label)) / 2);
    styled(out, FAINT, &format!("{gap} {indent}{label}"))?;
    writeln!(out)
}

/// Dots of braille: two by four in a character.
struct Dots {
    columns: u64,
    bits: Vec<u8>,
}

impl Dots {
    fn of(figure: &Figure, line: &Line, size: Size) -> Self {
        let cells = index(size.columns.saturating_mul(size.lines));
        let mut dots = Self { columns: size.columns, bits: vec![0; cells] };
        let (wide, high) = (size.columns.saturating_mul(2), size.lines.saturating_mul(4));
        let mut before: Option<(u64, u64)> = None;
        for (number, bucket) in line.buckets.iter().enumerate() {
            let along = figure.across.place(line.coordinate(number)).unwrap_or(0.0);
            let x = whole(along * float(wide.saturating_sub(1)));
            let Some(way) = bucket.way() else {
                before = None;
                continue;
            };
            for value in way {
                let Some(place) = figure.up.place(value) else {
                    before = None;
                    continue;
                };
                let y = whole((1.0 - place) * float(high.saturating_sub(1)));
                dots.stroke(before.unwrap_or((x, y)), (x, y));
                before = Some((x, y));
            }
        }
        dots
    }

    fn stroke(&mut self, (from_x, from_y): (u64, u64), (to_x, to_y): (u64, u64)) {
        let steps = from_x.abs_diff(to_x).max(from_y.abs_diff(to_y));
        for step in 0..=steps {
            let share = if steps == 0 { 1.0 } else { float(step) / float(steps) };
            let at = |from: u64, to: u64| whole(float(from).mul_add(1.0 - share, float(to) * share));
            self.set(at(from_x, to_x), at(from_y, to_y));
        }
    }

    fn set(&mut self, x: u64, y: u64) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let bit = BITS.get(index(y % 4)).and_then(|row| row.get(index(x % 2))).copied().unwrap_or(0);
        let at = (y / 4).saturating_mul(self.columns).saturating_add(x / 2);
        if let Some(cell) = self.bits.get_mut(index(at)) {
            *cell |= bit;
        }
    }

    fn line(&self, row: u64) -> String {
        let columns = index(self.columns);
        let cells = self.bits.iter().skip(index(row).saturating_mul(columns)).take(columns);
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

/// One line of an image, each cell so many characters wide.
fn cells(
    figure: &Figure,
    image: &Image,
    (line, wide): (u64, u64),
    colours: Colours,
    out: &mut impl Screen,
) -> io::Result<()> {
    let place = |row: u64, column: u64| figure.values.place(image.cell(row, column));
    for column in 0..image.columns.cells {
        if colours == Colours::None {
            write!(out, "{}", shade(place(line, column)).to_string().repeat(index(wide)))?;
            continue;
        }
        let row = line.saturating_mul(2);
        let above = style_of(place(row, column), colours);
        let next = row.saturating_add(1);
        let below = (next < image.rows.cells).then(|| style_of(place(next, column), colours));
        let style = Style::new().fg_color(Some(above)).bg_color(below);
        out.styled(style, &"▀".repeat(index(wide)))?;
    }
    Ok(())
}

fn style_of(place: Option<f64>, colours: Colours) -> Color {
    let Some(place) = place else {
        // Darker than on paper: terminals are dark more often than not.
        return Color::Ansi256(Ansi256Color(236));
    };
    let [red, green, blue] = colour(place);
    match colours {
        Colours::All => Color::Rgb(RgbColor(red, green, blue)),
        _ => Color::Ansi256(Ansi256Color(palette([red, green, blue]))),
    }
}

/// The nearest colour of the cube of six by six by six.
fn palette(colour: Colour) -> u8 {
    let level = |part: u8| if part < 48 { 0 } else { part.saturating_sub(35) / 40 };
    let [red, green, blue] = colour.map(level);
    red.saturating_mul(36).saturating_add(green.saturating_mul(6)).saturating_add(blue).saturating_add(16)
}

/// A character that is as dark as the value is large.
fn shade(place: Option<f64>) -> char {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    match place {
        None => ' ',
        Some(place) => SHADES.get(index(whole(place * 4.0))).copied().unwrap_or('█'),
    }
}

/// What colours stand for.
fn legend(figure: &Figure, colours: Colours, out: &mut impl Screen) -> io::Result<()> {
    const WIDE: u32 = 24;
    let step = (figure.values.high - figure.values.low) / 100.0;
    let low = super::scale::label(figure.values.low, step);
    let high = super::scale::label(figure.values.high, step);
    write!(out, "{}", " ".repeat(MARKS.saturating_add(2)))?;
    styled(out, FAINT, &format!("{low} "))?;
    for number in 0..WIDE {
        let place = Some(f64::from(number) / f64::from(WIDE - 1));
        if colours == Colours::None {
            write!(out, "{}", shade(place))?;
        } else {
            let style = Style::new().fg_color(Some(style_of(place, colours)));
            out.styled(style, "█")?;
        }
    }
    let log = if figure.values.log { "  logarithmic" } else { "" };
    styled(out, FAINT, &format!(" {high}{log}"))?;
    writeln!(out)
}
