//! A line in a picture.

use anyhow::Result;
use plotters::prelude::*;

use super::figure::Figure;
use super::layout::Frame;
use super::line::Line;
use super::numbers::{float, index, whole};
use super::picture::{Area, INK, between, failed};

/// Bytes of a line that is drawn large.
const SMOOTH_BYTES: u64 = 64 << 20;

/// Draws the line several times as large and puts it into the picture as what covers pixels, so that it is smooth.
pub(super) fn smooth(
    figure: &Figure,
    line: &Line,
    frame: Frame,
    pixels: &mut [u8],
    width: u32,
) -> Result<()> {
    let size = |low: i32, high: i32| high.saturating_sub(low).max(1).unsigned_abs();
    let (wide, high) = (size(frame.left, frame.right), size(frame.top, frame.bottom));
    let bytes = |times: u32| u64::from(wide) * u64::from(high) * u64::from(times * times) * 3;
    let times = [3, 2].into_iter().find(|times| bytes(*times) <= SMOOTH_BYTES).unwrap_or(1);
    let mut large = vec![0xff_u8; index(bytes(times))];
    {
        let size = (wide.saturating_mul(times), high.saturating_mul(times));
        let edge = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
        let frame = Frame { left: 0, top: 0, right: edge(size.0), bottom: edge(size.1) };
        let root = BitMapBackend::with_buffer(&mut large, size).into_drawing_area();
        thick_curve(&root, figure, line, frame, times.saturating_add(times / 2))?;
        root.present().map_err(failed)?;
    }
    let (left, top) = (frame.left.unsigned_abs(), frame.top.unsigned_abs());
    let row_bytes = index(u64::from(wide) * u64::from(times) * 3).max(1);
    let rows = pixels.chunks_exact_mut(index(u64::from(width) * 3).max(1)).skip(index(top.into()));
    for (row, band) in rows.zip(large.chunks_exact(row_bytes.saturating_mul(index(times.into())))) {
        let across = row.chunks_exact_mut(3).skip(index(left.into())).take(index(wide.into()));
        for (column, pixel) in across.enumerate() {
            let first = column.saturating_mul(index(u64::from(times) * 3));
            let lines = band.chunks_exact(row_bytes).filter_map(|line| line.get(first..));
            for (channel, value) in pixel.iter_mut().enumerate() {
                let samples = lines
                    .clone()
                    .flat_map(|line| line.iter().skip(channel).step_by(3).take(index(times.into())));
                let sum: u64 = samples.map(|sample| u64::from(*sample)).sum();
                // What is below shows through where the line is not.
                let share = float(sum) / f64::from(times * times) / 255.0;
                let ink = f64::from([INK.0, INK.1, INK.2].get(channel).copied().unwrap_or(0)) / 255.0;
                let cover = ((1.0 - share) / (1.0 - ink)).clamp(0.0, 1.0);
                let mixed = f64::from(*value).mul_add(1.0 - cover, ink * 255.0 * cover);
                *value = u8::try_from(whole(mixed)).unwrap_or(u8::MAX);
            }
        }
    }
    Ok(())
}

/// Draws the line as one path for each piece.
pub(super) fn whole_curve<B: DrawingBackend>(
    root: &Area<'_, B>,
    figure: &Figure,
    line: &Line,
    frame: Frame,
) -> Result<()> {
    pieces(figure, line, frame, |points| match points.as_slice() {
        [one] => root.draw(&Circle::new(*one, 2, INK.filled())).map_err(failed),
        _ => root.draw(&PathElement::new(points, INK.stroke_width(1))).map_err(failed),
    })
}

/// Draws the line stroke by stroke, with round joints: a thick path that turns back would lose its tips.
fn thick_curve<B: DrawingBackend>(
    root: &Area<'_, B>,
    figure: &Figure,
    line: &Line,
    frame: Frame,
    stroke: u32,
) -> Result<()> {
    let radius = stroke.div_ceil(2);
    pieces(figure, line, frame, |points| {
        let alone = points.len() == 1;
        for point in &points {
            let radius = if alone { stroke } else { radius };
            root.draw(&Circle::new(*point, radius, INK.filled())).map_err(failed)?;
        }
        for stretch in points.windows(2) {
            root.draw(&PathElement::new(stretch, INK.stroke_width(stroke))).map_err(failed)?;
        }
        Ok(())
    })
}

/// The points of the line through the buckets, in pieces where there are no numbers between.
fn pieces(
    figure: &Figure,
    line: &Line,
    frame: Frame,
    mut put: impl FnMut(Vec<(i32, i32)>) -> Result<()>,
) -> Result<()> {
    let mut points: Vec<(i32, i32)> = Vec::new();
    let mut flush = |points: &mut Vec<(i32, i32)>| {
        if points.is_empty() { Ok(()) } else { put(std::mem::take(points)) }
    };
    for (number, bucket) in line.buckets.iter().enumerate() {
        let along = figure.across.place(line.coordinate(number)).unwrap_or(0.0);
        let across = between(frame.left, frame.right, along);
        let Some(way) = bucket.way() else {
            flush(&mut points)?;
            continue;
        };
        for value in way {
            let Some(place) = figure.up.place(value) else {
                flush(&mut points)?;
                continue;
            };
            let point = (across, between(frame.bottom, frame.top, place));
            if points.last() != Some(&point) {
                points.push(point);
            }
        }
    }
    flush(&mut points)
}
