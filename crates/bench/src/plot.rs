//! Bar charts of ratios, in SVG.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A bar: the name of the case, and the ratios to libhdf5 and to `rust-hdf5`.
pub(crate) type Bar = (String, [Option<f64>; 2]);

const LEFT: i32 = 330;
/// Pixels for the number beside a bar that reaches the end of the axis.
const NUMBER_PIXELS: i32 = 45;
const WIDTH_PIXELS: i32 = 960;
const RIGHT: i32 = 60;
const TOP: i32 = 64;
const LINE: i32 = 26;
const BOTTOM: i32 = 16;

/// The ends of the axis, as powers of ten.
const MIN_POWER: f64 = -2.5;
const MAX_POWER: f64 = 1.0;

const COLOURS: [RGBColor; 2] = [RGBColor(31, 105, 170), RGBColor(222, 135, 40)];
const GREY: RGBColor = RGBColor(215, 215, 215);
const DARK: RGBColor = RGBColor(60, 60, 60);

/// Draws the bars. They point to the left of 1 if hyperslab is faster, and to the right if it is
/// slower.
pub(crate) fn draw(path: &Path, title: &str, bars: &[Bar]) -> Result<()> {
    let lines = i32::try_from(bars.len())?;
    let height = TOP.saturating_add(lines.saturating_mul(LINE)).saturating_add(BOTTOM);
    let area =
        SVGBackend::new(path, (WIDTH_PIXELS.unsigned_abs(), height.unsigned_abs())).into_drawing_area();
    let failed = |error: DrawingAreaErrorKind<std::io::Error>| anyhow!("{}: {error}", path.display());
    area.fill(&WHITE).map_err(failed)?;
    let text = |size: i32, at: HPos| {
        ("sans-serif", size).into_text_style(&area).color(&DARK).pos(Pos::new(at, VPos::Center))
    };
    let write = |words: &str, place: (i32, i32), style: &TextStyle<'_>| {
        area.draw(&Text::new(words.to_owned(), place, style.clone())).map_err(failed)
    };
    let rectangle = |from: (i32, i32), to: (i32, i32), colour: RGBColor| {
        area.draw(&Rectangle::new([from, to], colour.filled())).map_err(failed)
    };
    write(title, (10, 18), &text(19, HPos::Left))?;
    for (at, (name, colour)) in ["to libhdf5", "to rust-hdf5"].into_iter().zip(COLOURS).enumerate() {
        let left = i32::try_from(at)?.saturating_mul(130).saturating_add(10);
        rectangle((left, 36), (left.saturating_add(10), 46), colour)?;
        write(name, (left.saturating_add(15), 41), &text(15, HPos::Left))?;
    }
    let bottom = height.saturating_sub(BOTTOM);
    let powers = [(-2.0, "0.01", GREY), (-1.0, "0.1", GREY), (0.0, "1", DARK), (1.0, "10", GREY)];
    for (power, name, colour) in powers {
        let x = across(power);
        area.draw(&PathElement::new([(x, TOP.saturating_sub(8)), (x, bottom)], colour)).map_err(failed)?;
        write(name, (x, TOP.saturating_sub(16)), &text(14, HPos::Center))?;
    }
    let one = across(0.0);
    for (number, (name, ratios)) in (0..).zip(bars) {
        let top = TOP.saturating_add(LINE.saturating_mul(number));
        let middle = top.saturating_add(LINE / 2);
        write(name, (LEFT.saturating_sub(8), middle), &text(15, HPos::Right))?;
        for ((ratio, colour), shift) in ratios.iter().zip(COLOURS).zip([3, 13]) {
            let Some(ratio) = ratio else { continue };
            let (y, end) = (top.saturating_add(shift), across(ratio.log10()));
            rectangle((one.min(end), y), (one.max(end), y.saturating_add(9)), colour)?;
            let (place, anchor) = if end < one {
                (end.saturating_sub(3), HPos::Right)
            } else {
                (end.saturating_add(3), HPos::Left)
            };
            let words = if *ratio < 0.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") };
            write(&words, (place, y.saturating_add(5)), &text(12, anchor))?;
        }
    }
    area.present().map_err(failed)
}

/// Returns the horizontal position of a power of ten.
#[expect(clippy::cast_possible_truncation, reason = "the position lies within the plot")]
fn across(power: f64) -> i32 {
    let part = (power.clamp(MIN_POWER, MAX_POWER) - MIN_POWER) / (MAX_POWER - MIN_POWER);
    let start = LEFT.saturating_add(NUMBER_PIXELS);
    start.saturating_add((part * f64::from(WIDTH_PIXELS.saturating_sub(start).saturating_sub(RIGHT))) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_ends() {
        assert_eq!(across(f64::NEG_INFINITY), LEFT + NUMBER_PIXELS);
        assert_eq!(across(7.0), WIDTH_PIXELS - RIGHT);
        assert!(across(-1.0) < across(0.0) && across(0.0) < across(MAX_POWER));
    }
}
