//! The positions of the frame, the labels and the colour bar in the picture of a plot.

use super::casts::{float, pixel};
use super::figure::{Content, Figure};
use anyhow::Result;

/// A rectangle in a plot's picture, in pixels. `right` and `bottom` are one beyond the last pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// The layout of a plot's picture: the positions of frames and labels, and the number of ticks
/// along the axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) frame: Frame,
    /// The colour bar of an image.
    pub(super) bar: Frame,
    /// The horizontal positions of the labels of the colour bar and of the vertical axis.
    pub(super) bar_label: i32,
    pub(super) y_label: i32,
    pub(super) middle: i32,
    pub(super) x_ticks: u32,
    pub(super) y_ticks: u32,
}

/// The height of the title area above the frame of a plot, in pixels.
const ABOVE_PIXELS: i32 = 50;
/// The height of the area for ticks and label below the frame of a plot, in pixels.
const BELOW_PIXELS: i32 = 62;
/// The width of the margin at the right of a line plot's frame, in pixels.
const BESIDE_PIXELS: i32 = 30;
/// The distance from the frame of a plot to the colour bar, and also the width of the bar, in
/// pixels.
const GAP_PIXELS: i32 = 22;
const BAR_PIXELS: i32 = 20;

/// The approximate width of a character in a plot, in pixels.
const CHARACTER_PIXELS: i32 = 9;

/// The smallest share of the available space that a plotted image with square cells may fill. If it
/// would fill less, its cells are not square.
const MIN_FILLED: f64 = 0.6;

impl Layout {
    /// Returns the layout of a plot's picture of `width` × `height` pixels.
    ///
    /// # Errors
    /// Returns an error if a side or a label is too long for 32-bit pixel coordinates.
    pub(super) fn of(figure: &Figure, (width, height): (u32, u32)) -> Result<Self> {
        let (width, height) = (i32::try_from(width)?, i32::try_from(height)?);
        let label_width = |ticks: Vec<(f64, String)>| -> Result<i32> {
            let widest = ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(1);
            Ok(i32::try_from(widest)? * CHARACTER_PIXELS)
        };
        let y_ticks = (height / 70).max(2).unsigned_abs();
        let left = label_width(figure.y.ticks(y_ticks))? + if figure.y.label().is_empty() { 25 } else { 50 };
        let bar_labels = label_width(figure.values.ticks(y_ticks))?;
        let image = matches!(figure.content, Content::Image(_));
        let beside = if image {
            let label = if figure.values.label().is_empty() { 20 } else { 48 };
            GAP_PIXELS + BAR_PIXELS + bar_labels + label
        } else {
            BESIDE_PIXELS
        };
        let mut frame = Frame {
            left,
            top: ABOVE_PIXELS,
            right: (width - beside).max(left + 10),
            bottom: (height - BELOW_PIXELS).max(ABOVE_PIXELS + 10),
        };
        match &figure.content {
            Content::Image(image) => {
                frame = frame.squared(float(image.columns.count), float(image.rows.count));
            }
            Content::Picture(picture) => {
                frame = frame.squared(float(picture.columns.count), float(picture.rows.count));
            }
            Content::Curves(_) => {}
        }
        let bar_left = frame.right + GAP_PIXELS;
        let bar = Frame { left: bar_left, right: bar_left + BAR_PIXELS, ..frame };
        let wide = frame.right - frame.left;
        let widest = label_width(figure.x.ticks(8))?.max(40) + 30;
        Ok(Self {
            frame,
            y_label: frame.left - left + 14,
            bar,
            bar_label: bar.right + bar_labels + 16,
            middle: if !matches!(figure.content, Content::Curves(_)) {
                frame.left.midpoint(frame.right)
            } else {
                width / 2
            },
            x_ticks: (wide / widest).clamp(1, 10).unsigned_abs(),
            y_ticks,
        })
    }
}

impl Frame {
    /// Returns the width and height of the plot's frame, at least 1 pixel.
    pub(super) fn size(self) -> (u32, u32) {
        let side = |low: i32, high: i32| (high - low).max(1).unsigned_abs();
        (side(self.left, self.right), side(self.top, self.bottom))
    }

    /// Returns a smaller plot frame in which the cells are square. Returns the whole frame if the
    /// smaller frame would fill less than the share `MIN_FILLED`.
    fn squared(self, columns: f64, rows: f64) -> Self {
        let (wide, high) = (f64::from(self.right - self.left), f64::from(self.bottom - self.top));
        let scale = (wide / columns).min(high / rows);
        if columns * scale < wide * MIN_FILLED || rows * scale < high * MIN_FILLED {
            return self;
        }
        let pixels = |length: f64| pixel(length).max(10);
        let narrower = pixels(wide - columns * scale) / 2;
        let left = self.left + if narrower > 10 { narrower } else { 0 };
        Self { left, right: left + pixels(columns * scale), bottom: self.top + pixels(rows * scale), ..self }
    }
}
