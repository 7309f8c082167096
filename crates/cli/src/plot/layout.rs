//! Where in a picture is what.

use super::figure::{Content, Figure};

/// Edges in pixels; `right` and `bottom` are behind the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// Frames and how many marks fit along them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) frame: Frame,
    /// The colour bar of an image.
    pub(super) bar: Frame,
    /// Where what the colours mean is written, and the label of the axis at the left.
    pub(super) bar_label: i32,
    pub(super) up_label: i32,
    pub(super) middle: i32,
    pub(super) across: u32,
    pub(super) up: u32,
}

/// Room for the title, and for marks and label below.
const ABOVE: i32 = 50;
const BELOW: i32 = 62;
const BESIDE: i32 = 30;
/// From the frame to the colour bar, and its width.
const GAP: i32 = 22;
const BAR: i32 = 20;

/// Pixels of a character, about.
const CHARACTER: i32 = 9;

/// How much of the room an image with square cells must use; else its cells are stretched.
const USED: f64 = 0.6;

impl Layout {
    pub(super) fn of(figure: &Figure, (width, height): (u32, u32)) -> Self {
        let size = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        let (width, height) = (size(width), size(height));
        let marks = |marks: Vec<(f64, String)>| {
            let widest = marks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(1);
            i32::try_from(widest).unwrap_or(0).saturating_mul(CHARACTER)
        };
        let up = u32::try_from(height / 70).unwrap_or(5).max(2);
        let left =
            marks(figure.up.marks(up)).saturating_add(if figure.up_label.is_empty() { 25 } else { 50 });
        let image = matches!(figure.content, Content::Image(_));
        let beside = if image {
            let label = if figure.values_label.is_empty() { 20 } else { 48 };
            GAP.saturating_add(BAR).saturating_add(marks(figure.values.marks(up))).saturating_add(label)
        } else {
            BESIDE
        };
        let mut frame = Frame {
            left,
            top: ABOVE,
            right: width.saturating_sub(beside).max(left.saturating_add(10)),
            bottom: height.saturating_sub(BELOW).max(ABOVE + 10),
        };
        if let Content::Image(image) = &figure.content {
            frame = frame
                .squared(super::numbers::float(image.columns.count), super::numbers::float(image.rows.count));
        }
        let bar_left = frame.right.saturating_add(GAP);
        let bar = Frame { left: bar_left, right: bar_left.saturating_add(BAR), ..frame };
        let label = bar.right.saturating_add(marks(figure.values.marks(up))).saturating_add(16);
        let wide = frame.right.saturating_sub(frame.left);
        let widest = marks(figure.across.marks(8)).max(40).saturating_add(30);
        Self {
            frame,
            up_label: frame.left.saturating_sub(left).saturating_add(14),
            bar,
            bar_label: label,
            middle: if image { frame.left.midpoint(frame.right) } else { width / 2 },
            across: u32::try_from(wide / widest).unwrap_or(2).clamp(1, 10),
            up,
        }
    }
}

impl Frame {
    /// The frame with sides as those of the cells, unless one is much longer than the other.
    fn squared(self, columns: f64, rows: f64) -> Self {
        let (wide, high) = (f64::from(self.right - self.left), f64::from(self.bottom - self.top));
        let scale = (wide / columns).min(high / rows);
        if columns * scale < wide * USED || rows * scale < high * USED {
            return self;
        }
        let pixels = |length: f64| i32::try_from(super::numbers::whole(length)).unwrap_or(i32::MAX).max(10);
        let narrower = pixels(wide - columns * scale) / 2;
        let left = self.left.saturating_add(if narrower > 10 { narrower } else { 0 });
        Self {
            left,
            right: left.saturating_add(pixels(columns * scale)),
            bottom: self.top.saturating_add(pixels(rows * scale)),
            ..self
        }
    }
}
