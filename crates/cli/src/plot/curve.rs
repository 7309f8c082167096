//! The drawing of curves in the picture of a plot.

use anyhow::Result;
use hyperslab_exact::to_usize;
use plotters::prelude::*;

use super::canvas::{Area, between, failed};
use super::casts::{byte, float};
use super::colours::Colour;
use super::figure::Figure;
use super::layout::Frame;
use super::series::Curve;

/// The largest size in bytes of an enlarged drawing of a curve. The function `smooth` averages the
/// pixels of such a drawing.
const SMOOTH_BYTES: u64 = 64 << 20;

/// Draws an anti-aliased curve of a plot: draws the curve two or three times as large, and averages
/// the pixels.
pub(super) fn smooth(
    figure: &Figure,
    (curve, ink): (&Curve, Colour),
    frame: Frame,
    pixels: &mut [u8],
    width: u32,
) -> Result<()> {
    let (wide, high) = frame.size();
    let bytes = |times: u32| u64::from(wide) * u64::from(high) * u64::from(times * times) * 3;
    let times = [3, 2].into_iter().find(|times| bytes(*times) <= SMOOTH_BYTES).unwrap_or(1);
    let mut large = vec![0xff_u8; to_usize(bytes(times))?];
    {
        let size = (wide * times, high * times);
        let frame = Frame { left: 0, top: 0, right: i32::try_from(size.0)?, bottom: i32::try_from(size.1)? };
        let root = BitMapBackend::with_buffer(&mut large, size).into_drawing_area();
        thick_curve(&root, figure, curve, frame, times + times / 2)?;
        root.present().map_err(failed)?;
    }
    let count = |pixels: u32| pixels as usize;
    let (left, top) = (count(frame.left.unsigned_abs()), count(frame.top.unsigned_abs()));
    let (samples, row_bytes) = (count(times), count(wide * times) * 3);
    let rows = pixels.chunks_exact_mut(count(width) * 3).skip(top);
    for (row, band) in rows.zip(large.chunks_exact(row_bytes * samples)) {
        let across = row.chunks_exact_mut(3).skip(left).take(count(wide));
        for (column, pixel) in across.enumerate() {
            let first = column * samples * 3;
            let lines = band.chunks_exact(row_bytes).filter_map(|line| line.get(first..));
            // The enlarged curve is black, so each channel states the share of the pixel that the
            // curve covers.
            let drawn = lines.flat_map(|line| line.iter().step_by(3).take(samples));
            let sum: u64 = drawn.map(|sample| u64::from(*sample)).sum();
            let cover = (1.0 - float(sum) / f64::from(times * times) / 255.0).clamp(0.0, 1.0);
            for (value, ink) in pixel.iter_mut().zip(ink) {
                // The picture below stays visible in the part of the pixel that the curve leaves
                // free.
                *value = byte(f64::from(*value).mul_add(1.0 - cover, f64::from(ink) * cover));
            }
        }
    }
    Ok(())
}

/// Draws each connected part of a plot's curve as one path.
pub(super) fn whole_curve<B: DrawingBackend>(
    root: &Area<'_, B>,
    figure: &Figure,
    (curve, [red, green, blue]): (&Curve, Colour),
    frame: Frame,
) -> Result<()> {
    let ink = RGBColor(red, green, blue);
    connected_parts(figure, curve, frame, |points| match points.as_slice() {
        [one] => root.draw(&Circle::new(*one, 2, ink.filled())).map_err(failed),
        _ => root.draw(&PathElement::new(points, ink.stroke_width(1))).map_err(failed),
    })
}

/// Draws a thick curve of a plot stroke by stroke with round joints. As one path, a curve that
/// turns back would lose its tips.
fn thick_curve<B: DrawingBackend>(
    root: &Area<'_, B>,
    figure: &Figure,
    curve: &Curve,
    frame: Frame,
    stroke: u32,
) -> Result<()> {
    let radius = stroke.div_ceil(2);
    connected_parts(figure, curve, frame, |points| {
        let single = points.len() == 1;
        for point in &points {
            let radius = if single { stroke } else { radius };
            root.draw(&Circle::new(*point, radius, BLACK.filled())).map_err(failed)?;
        }
        for ends in points.windows(2) {
            root.draw(&PathElement::new(ends, BLACK.stroke_width(stroke))).map_err(failed)?;
        }
        Ok(())
    })
}

/// Calls `put` with the points of each connected part of a plot's curve. A value that an axis
/// cannot show ends a part.
fn connected_parts(
    figure: &Figure,
    curve: &Curve,
    frame: Frame,
    mut put: impl FnMut(Vec<(i32, i32)>) -> Result<()>,
) -> Result<()> {
    let mut flush = |points: &mut Vec<(i32, i32)>| {
        if points.is_empty() { Ok(()) } else { put(std::mem::take(points)) }
    };
    for part in &curve.parts {
        let mut points: Vec<(i32, i32)> = Vec::new();
        for (x, value) in part {
            let (Some(along), Some(position)) = (figure.x.position(*x), figure.y.position(*value)) else {
                flush(&mut points)?;
                continue;
            };
            let point = (between(frame.left, frame.right, along), between(frame.bottom, frame.top, position));
            if points.last() != Some(&point) {
                points.push(point);
            }
        }
        flush(&mut points)?;
    }
    Ok(())
}
