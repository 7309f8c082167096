//! A figure as a picture: PNG or SVG, with axes, labels, title and colour bar.

use std::io::Write;
use std::sync::OnceLock;

use anyhow::{Result, anyhow};
use base64::Engine as _;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::colours::{NOTHING, colour};
use super::curve::{smooth, whole_curve};
use super::figure::{Content, Figure};
use super::layout::{Frame, Layout};
use super::numbers::{float, index, whole};

/// The family under which the font is known; viewers of SVG take their own of it.
const FAMILY: &str = "sans-serif";
const TITLE: u32 = 19;
const TEXT: u32 = 15;

/// The colour of lines and of text.
pub(super) const INK: RGBColor = RGBColor(0x31, 0x68, 0x8e);
const FRAME: RGBColor = RGBColor(0x44, 0x44, 0x44);
const GRID: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);

pub(super) type Area<'a, B> = DrawingArea<B, Shift>;

/// Pixels that are put into a picture.
struct Layer {
    frame: Frame,
    /// Pixels in a row, and three bytes for each of them.
    width: u32,
    pixels: Vec<u8>,
}

/// Makes the font known: no font of the system is needed.
fn font() -> Result<()> {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        plotters::style::register_font(FAMILY, FontStyle::Normal, dejavu::sans::regular()).is_ok()
    });
    if *known { Ok(()) } else { Err(anyhow!("the font cannot be read")) }
}

pub(super) fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the picture cannot be drawn: {error}")
}

/// Writes the figure as PNG.
pub(super) fn png(figure: &Figure, (width, height): (u32, u32), out: &mut impl Write) -> Result<()> {
    font()?;
    let size = index(u64::from(width).saturating_mul(u64::from(height)).saturating_mul(3));
    let mut pixels = vec![0xff_u8; size];
    let layout = Layout::of(figure, (width, height));
    {
        let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        draw(&root, figure, &layout)?;
        root.present().map_err(failed)?;
    }
    for layer in layers(figure, &layout) {
        layer.put(&mut pixels, width);
    }
    if let Content::Line(line) = &figure.content {
        smooth(figure, line, layout.frame, &mut pixels, width)?;
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

/// Writes the figure as SVG; what has pixels is in it as PNG.
pub(super) fn svg(figure: &Figure, size: (u32, u32), out: &mut impl Write) -> Result<()> {
    font()?;
    let layout = Layout::of(figure, size);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&root, figure, &layout)?;
        if let Content::Line(line) = &figure.content {
            whole_curve(&root, figure, line, layout.frame)?;
        }
        root.present().map_err(failed)?;
    }
    let end = text.rfind("</svg>").ok_or_else(|| failed("it has no end"))?;
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
            right.saturating_sub(left),
            bottom.saturating_sub(top),
            base64::engine::general_purpose::STANDARD.encode(bytes)
        )?;
    }
    Ok(out.write_all(end.as_bytes())?)
}

impl Layer {
    fn height(&self) -> u32 {
        self.frame.bottom.saturating_sub(self.frame.top).unsigned_abs()
    }

    /// Puts the pixels into a picture of that width.
    fn put(&self, pixels: &mut [u8], width: u32) {
        let bytes = |pixels: u32| index(u64::from(pixels).saturating_mul(3));
        let (left, top) = (self.frame.left.unsigned_abs(), self.frame.top.unsigned_abs());
        let rows = pixels.chunks_exact_mut(bytes(width).max(1)).skip(index(top.into()));
        for (row, from) in rows.zip(self.pixels.chunks_exact(bytes(self.width).max(1))) {
            let range = bytes(left)..bytes(left.saturating_add(self.width));
            if let Some(row) = row.get_mut(range) {
                row.copy_from_slice(from);
            }
        }
    }
}

/// What has pixels: the cells of an image, and its colour bar.
fn layers(figure: &Figure, layout: &Layout) -> Vec<Layer> {
    let Content::Image(image) = &figure.content else { return Vec::new() };
    let (frame, bar) = (layout.frame, layout.bar);
    let cells = filled(frame, |down, along| {
        let (row, column) = (
            whole((down * float(image.rows.cells)).floor()),
            whole((along * float(image.columns.cells)).floor()),
        );
        figure.values.place(image.cell(row, column)).map_or(NOTHING, colour)
    });
    let colours = filled(bar, |down, _| colour(1.0 - down));
    vec![cells, colours]
}

/// Pixels for a frame; `of` gives the colour at shares of its height and of its width.
fn filled(frame: Frame, of: impl Fn(f64, f64) -> [u8; 3]) -> Layer {
    let size = |low: i32, high: i32| high.saturating_sub(low).max(1).unsigned_abs();
    let (width, height) = (size(frame.left, frame.right), size(frame.top, frame.bottom));
    let mut pixels = Vec::new();
    for row in 0..height {
        for column in 0..width {
            let middle = |at: u32, of: u32| (f64::from(at) + 0.5) / f64::from(of);
            pixels.extend(of(middle(row, height), middle(column, width)));
        }
    }
    Layer { frame, width, pixels }
}

fn text(size: u32, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    (FAMILY, size).into_font().color(&FRAME).pos(Pos::new(horizontal, vertical))
}

/// All but pixels.
fn draw<B: DrawingBackend>(root: &Area<'_, B>, figure: &Figure, layout: &Layout) -> Result<()> {
    root.fill(&WHITE).map_err(failed)?;
    let Frame { left, top, right, bottom } = layout.frame;
    let write = |words: &str, at: (i32, i32), style: TextStyle<'static>| {
        root.draw(&Text::new(words.to_owned(), at, style)).map_err(failed)
    };
    let stroke = |points: [(i32, i32); 2], colour: RGBColor| {
        root.draw(&PathElement::new(points, colour.stroke_width(1))).map_err(failed)
    };
    let line = matches!(figure.content, Content::Line(_));
    let (middle, center) = (left.midpoint(right), top.midpoint(bottom));
    write(&figure.title, (layout.middle, 14), text(TITLE, HPos::Center, VPos::Top))?;
    for (place, label) in figure.across.marks(layout.across) {
        let at = between(left, right, place);
        if line {
            stroke([(at, top), (at, bottom)], GRID)?;
        }
        stroke([(at, bottom), (at, bottom.saturating_add(5))], FRAME)?;
        write(&label, (at, bottom.saturating_add(9)), text(TEXT, HPos::Center, VPos::Top))?;
    }
    for (place, label) in figure.up.marks(layout.up) {
        let at = if figure.downwards { between(top, bottom, place) } else { between(bottom, top, place) };
        if line {
            stroke([(left, at), (right, at)], GRID)?;
        }
        stroke([(left.saturating_sub(5), at), (left, at)], FRAME)?;
        write(&label, (left.saturating_sub(9), at.saturating_add(2)), text(TEXT, HPos::Right, VPos::Center))?;
    }
    write(&figure.across_label, (middle, bottom.saturating_add(32)), text(TEXT, HPos::Center, VPos::Top))?;
    let turned = text(TEXT, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
    write(&figure.up_label, (layout.up_label, center), turned.clone())?;
    if !line {
        let bar = layout.bar;
        for (place, label) in figure.values.marks(layout.up) {
            let at = between(bar.bottom, bar.top, place);
            stroke([(bar.right, at), (bar.right.saturating_add(5), at)], FRAME)?;
            write(
                &label,
                (bar.right.saturating_add(9), at.saturating_add(2)),
                text(TEXT, HPos::Left, VPos::Center),
            )?;
        }
        write(&figure.values_label, (layout.bar_label, center), turned)?;
        outline(root, bar)?;
    }
    outline(root, layout.frame)
}

/// The line around a frame.
fn outline<B: DrawingBackend>(root: &Area<'_, B>, frame: Frame) -> Result<()> {
    let Frame { left, top, right, bottom } = frame;
    let corners = [(left.saturating_sub(1), top.saturating_sub(1)), (right, bottom)];
    root.draw(&Rectangle::new(corners, FRAME.stroke_width(1))).map_err(failed)
}

/// The pixel at a share of the way.
pub(super) fn between(from: i32, to: i32, share: f64) -> i32 {
    let at = f64::from(from).mul_add(1.0 - share, f64::from(to) * share);
    i32::try_from(whole(at.max(0.0))).unwrap_or(i32::MAX)
}
