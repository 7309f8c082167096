//! The drawing area of a plot's picture, and pixel coordinates.
//!
//! Pixel coordinates are calculated with plain operators: no side of a picture has more than 8000
//! pixels.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::casts::pixel;

pub(super) type Area<'a, B> = DrawingArea<B, Shift>;

/// Converts an error of the drawing library to an error of the program.
pub(super) fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the picture cannot be drawn: {error}")
}

/// Returns a pixel coordinate between two pixel coordinates. `share` is its distance from the first
/// one as a share of the distance between both.
pub(super) fn between(from: i32, to: i32, share: f64) -> i32 {
    pixel(f64::from(from).mul_add(1.0 - share, f64::from(to) * share).max(0.0))
}
