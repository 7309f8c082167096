//! A figure as a picture: PNG or SVG, with axes, labels, title and colour bar.

use std::io::Write;

use anyhow::Result;
use base64::Engine as _;
use hyperslab_exact::{to_u64, to_usize};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{Area, between, failed};
use super::casts::{float, whole};
use super::colours::{CURVES, NOTHING};
use super::curve::{smooth, whole_curve};
use super::figure::{Content, Figure};
use super::fonts;
use super::layout::{Frame, Layout};
use super::series::Curve;

const TITLE_PIXELS: u32 = 19;
const TEXT_PIXELS: u32 = 15;

/// The distance between lines of a plot's legend, and the approximate width of its characters, in
/// pixels.
const LEGEND_LINE_PIXELS: i32 = 20;
const LEGEND_CHARACTER_PIXELS: i32 = 9;

/// The colour of the frame lines and of text in a plot.
const FRAME: RGBColor = RGBColor(0x44, 0x44, 0x44);
const GRID: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);

/// A rectangle of pixels that is copied into the picture of a plot: image cells or a colour bar.
struct Layer {
    frame: Frame,
    /// The number of pixels in a row. Each pixel has three bytes.
    width: u32,
    pixels: Vec<u8>,
}

/// Draws a figure and writes it as a PNG file.
pub(super) fn png(figure: &Figure, (width, height): (u32, u32), out: &mut impl Write) -> Result<()> {
    fonts::register()?;
    let size = to_usize(u64::from(width) * u64::from(height) * 3)?;
    let mut pixels = vec![0xff_u8; size];
    let layout = Layout::of(figure, (width, height))?;
    {
        let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        draw(&root, figure, &layout)?;
        root.present().map_err(failed)?;
    }
    for layer in layers(figure, &layout) {
        layer.put(&mut pixels, width);
    }
    if let Content::Curves(curves) = &figure.content {
        for (curve, ink) in curves.iter().zip(CURVES.iter().cycle()) {
            smooth(figure, (curve, *ink), layout.frame, &mut pixels, width)?;
        }
        let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        legend(&root, curves, layout.frame)?;
        root.present().map_err(failed)?;
    }
    encode(&pixels, (width, height), out)
}

fn encode(pixels: &[u8], (width, height): (u32, u32), out: &mut impl Write) -> Result<()> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}

/// Draws a figure and writes it as an SVG file. The cells and the colour bar of an image are
/// embedded as PNG.
pub(super) fn svg(figure: &Figure, size: (u32, u32), out: &mut impl Write) -> Result<()> {
    fonts::register()?;
    let layout = Layout::of(figure, size)?;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root, figure, &layout)?;
        if let Content::Curves(curves) = &figure.content {
            for (curve, ink) in curves.iter().zip(CURVES.iter().cycle()) {
                whole_curve(&root, figure, (curve, *ink), layout.frame)?;
            }
            legend(&root, curves, layout.frame)?;
        }
        root.present().map_err(failed)?;
    }
    let end = text.rfind("</svg>").ok_or_else(|| failed("the SVG document has no end"))?;
    let (drawing, end) = text.split_at(end);
    out.write_all(drawing.as_bytes())?;
    for layer in layers(figure, &layout) {
        let mut bytes = Vec::new();
        encode(&layer.pixels, (layer.width, layer.height()), &mut bytes)?;
        let Frame { left, top, right, bottom } = layer.frame;
        writeln!(
            out,
            "<image x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
            right - left,
            bottom - top,
            base64::engine::general_purpose::STANDARD.encode(bytes)
        )?;
    }
    Ok(out.write_all(end.as_bytes())?)
}

impl Layer {
    fn height(&self) -> u32 {
        self.frame.size().1
    }

    /// Copies the rectangle of pixels into a plot's picture that has `width` pixels in a row.
    fn put(&self, pixels: &mut [u8], width: u32) {
        let bytes = |pixels: u32| pixels as usize * 3;
        let (left, top) = (self.frame.left.unsigned_abs(), self.frame.top.unsigned_abs());
        let rows = pixels.chunks_exact_mut(bytes(width).max(1)).skip(top as usize);
        for (row, from) in rows.zip(self.pixels.chunks_exact(bytes(self.width).max(1))) {
            let range = bytes(left)..bytes(left + self.width);
            if let Some(row) = row.get_mut(range) {
                row.copy_from_slice(from);
            }
        }
    }
}

/// Returns the image cells and the colour bar of a plot as rectangles of pixels. A figure of curves
/// has none.
fn layers(figure: &Figure, layout: &Layout) -> Vec<Layer> {
    let (frame, bar) = (layout.frame, layout.bar);
    let at = |share: f64, cells: usize| whole((share * float(to_u64(cells))).floor());
    match &figure.content {
        Content::Curves(_) => Vec::new(),
        Content::Picture(picture) => vec![filled(frame, |down, along| {
            picture.cell(at(down, picture.rows.cells), at(along, picture.columns.cells))
        })],
        Content::Image(image) => {
            let colour = |position| figure.colours.colour(position);
            let cells = filled(frame, |down, along| {
                let row = figure.row_from_top(at(down, image.rows.cells), image.rows.cells);
                let column = at(along, image.columns.cells);
                figure.values.position(image.cell(row, column)).map_or(NOTHING, colour)
            });
            vec![cells, filled(bar, |down, _| colour(1.0 - down))]
        }
    }
}

/// Returns a plot frame filled with pixels. `of` returns the colour at a position, which it
/// receives as a share of the height and a share of the width.
fn filled(frame: Frame, of: impl Fn(f64, f64) -> [u8; 3]) -> Layer {
    let (width, height) = frame.size();
    let mut pixels = Vec::new();
    for row in 0..height {
        for column in 0..width {
            let middle = |at: u32, of: u32| (f64::from(at) + 0.5) / f64::from(of);
            pixels.extend(of(middle(row, height), middle(column, width)));
        }
    }
    Layer { frame, width, pixels }
}

/// Returns the font, colour and alignment for a text in a plot.
fn style_of(words: &str, size: u32, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    (fonts::family_for(words), size).into_font().color(&FRAME).pos(Pos::new(horizontal, vertical))
}

/// Draws the axes, labels and frames of a figure, but not the cells or curves.
fn draw<B: DrawingBackend>(root: &Area<'_, B>, figure: &Figure, layout: &Layout) -> Result<()> {
    root.fill(&WHITE).map_err(failed)?;
    let Frame { left, top, right, bottom } = layout.frame;
    let write = |words: &str, at: (i32, i32), (size, horizontal, vertical): (u32, HPos, VPos)| {
        let style = style_of(words, size, horizontal, vertical);
        root.draw(&Text::new(words.to_owned(), at, style)).map_err(failed)
    };
    let write_upwards = |words: &str, at: (i32, i32)| {
        let style = style_of(words, TEXT_PIXELS, HPos::Center, VPos::Top);
        let style = style.transform(FontTransform::Rotate270);
        root.draw(&Text::new(words.to_owned(), at, style)).map_err(failed)
    };
    let stroke = |points: [(i32, i32); 2], colour: RGBColor| {
        root.draw(&PathElement::new(points, colour.stroke_width(1))).map_err(failed)
    };
    let line = matches!(figure.content, Content::Curves(_));
    let (middle, center) = (left.midpoint(right), top.midpoint(bottom));
    write(&figure.title, (layout.middle, 14), (TITLE_PIXELS, HPos::Center, VPos::Top))?;
    for (position, label) in figure.x.ticks(layout.x_ticks) {
        let at = between(left, right, position);
        if line {
            stroke([(at, top), (at, bottom)], GRID)?;
        }
        stroke([(at, bottom), (at, bottom + 5)], FRAME)?;
        write(&label, (at, bottom + 9), (TEXT_PIXELS, HPos::Center, VPos::Top))?;
    }
    for (position, label) in figure.y.ticks(layout.y_ticks) {
        let at =
            if figure.downwards { between(top, bottom, position) } else { between(bottom, top, position) };
        if line {
            stroke([(left, at), (right, at)], GRID)?;
        }
        stroke([(left - 5, at), (left, at)], FRAME)?;
        write(&label, (left - 9, at + 2), (TEXT_PIXELS, HPos::Right, VPos::Center))?;
    }
    write(&figure.x.label(), (middle, bottom + 32), (TEXT_PIXELS, HPos::Center, VPos::Top))?;
    write_upwards(&figure.y.label(), (layout.y_label, center))?;
    if matches!(figure.content, Content::Image(_)) {
        let bar = layout.bar;
        for (position, label) in figure.values.ticks(layout.y_ticks) {
            let at = between(bar.bottom, bar.top, position);
            stroke([(bar.right, at), (bar.right + 5, at)], FRAME)?;
            write(&label, (bar.right + 9, at + 2), (TEXT_PIXELS, HPos::Left, VPos::Center))?;
        }
        write_upwards(&figure.values.label(), (layout.bar_label, center))?;
        outline(root, bar)?;
    }
    outline(root, layout.frame)
}

/// Draws the legend of a plot: the names of several curves, at the top of the frame.
fn legend<B: DrawingBackend>(root: &Area<'_, B>, curves: &[Curve], frame: Frame) -> Result<()> {
    if curves.len() < 2 {
        return Ok(());
    }
    let longest = curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(0);
    let width = i32::try_from(longest)? * LEGEND_CHARACTER_PIXELS + 64;
    let height = i32::try_from(curves.len())? * LEGEND_LINE_PIXELS + 8;
    let corners = [(frame.left + 4, frame.top + 4), (frame.left + width, frame.top + height)];
    root.draw(&Rectangle::new(corners, WHITE.mix(0.8).filled())).map_err(failed)?;
    let mut y = frame.top + 18;
    for (curve, [red, green, blue]) in curves.iter().zip(CURVES.iter().cycle()) {
        let ink = RGBColor(*red, *green, *blue);
        let (start, end) = (frame.left + 12, frame.left + 40);
        root.draw(&PathElement::new([(start, y), (end, y)], ink.stroke_width(3))).map_err(failed)?;
        let style = style_of(&curve.name, TEXT_PIXELS, HPos::Left, VPos::Center);
        root.draw(&Text::new(curve.name.clone(), (end + 8, y + 2), style)).map_err(failed)?;
        y += LEGEND_LINE_PIXELS;
    }
    Ok(())
}

/// Draws the border of a plot frame.
fn outline<B: DrawingBackend>(root: &Area<'_, B>, frame: Frame) -> Result<()> {
    let Frame { left, top, right, bottom } = frame;
    let corners = [(left - 1, top - 1), (right, bottom)];
    root.draw(&Rectangle::new(corners, FRAME.stroke_width(1))).map_err(failed)
}
