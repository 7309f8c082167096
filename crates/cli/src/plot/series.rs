//! The curves of a plot: connected points in the coordinates of the axes.

use anyhow::{Result, bail};
use hyperslab::{Dataset, File};
use hyperslab_exact::to_u64;
use serde_json::{Value as Json, json};

use super::casts::{float, whole};
use super::coordinates::Coordinates;
use super::line::Line;
use super::numbers::{self, Part};
use super::scale::Scale;

/// The largest number of points of a plot's curve that shows one dataset against another dataset.
const MAX_POINTS: u64 = 1 << 20;

/// The largest number of bins of a histogram.
pub(super) const MAX_BINS: u32 = 10_000;

/// A curve of a plot: the points of the curve and its name.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub(super) name: String,
    /// The connected parts. Values that are not numbers separate the parts.
    pub(super) parts: Vec<Vec<(f64, f64)>>,
}

impl Curve {
    /// Returns the curve through the buckets of a plotted line. The horizontal positions are the
    /// given coordinates, or else indexes.
    pub(super) fn of_line(name: String, line: &Line, coordinates: Option<&Coordinates>) -> Self {
        let (mut parts, mut points) = (Vec::new(), Vec::new());
        for (number, bucket) in line.buckets.iter().enumerate() {
            let along = match coordinates {
                Some(coordinates) => coordinates.at(line.middle(number)),
                None => line.coordinate(number),
            };
            match bucket.values_in_order().filter(|_| along.is_finite()) {
                Some(values) => {
                    for value in values {
                        if points.last() != Some(&(along, value)) {
                            points.push((along, value));
                        }
                    }
                }
                None if points.is_empty() => {}
                None => parts.push(std::mem::take(&mut points)),
            }
        }
        parts.push(points);
        Self { name, parts }
    }

    /// Returns the curve of a dataset's values over coordinates, which may be in any order.
    pub(super) fn against(
        name: String,
        file: &File,
        dataset: &Dataset,
        part: &Part<'_>,
        coordinates: &Coordinates,
    ) -> Result<Self> {
        let count = to_u64(coordinates.values.len());
        if count > MAX_POINTS {
            bail!(
                "{count} points are too many to draw against another dataset: select some with -s, such as ::1000"
            );
        }
        let (mut parts, mut points) = (Vec::new(), Vec::new());
        let mut along = coordinates.values.iter();
        numbers::each(file, dataset, part, |values| {
            for (value, x) in values.iter().zip(&mut along) {
                if value.is_finite() && x.is_finite() {
                    points.push((*x, *value));
                } else if !points.is_empty() {
                    parts.push(std::mem::take(&mut points));
                }
            }
        })?;
        parts.push(points);
        Ok(Self { name, parts })
    }

    /// Returns the outline of a histogram. The histogram counts the values in each of `bins` equal
    /// bins of a scale. The last bin includes its end. Values outside the scale are ignored.
    pub(super) fn histogram(
        name: String,
        file: &File,
        dataset: &Dataset,
        part: &Part<'_>,
        (scale, bins): (Scale, u32),
    ) -> Result<Self> {
        let mut counts = vec![0_u64; usize::try_from(bins)?];
        numbers::each(file, dataset, part, |values| {
            for value in values.iter().filter(|value| (scale.low..=scale.high).contains(*value)) {
                let Some(position) = scale.position(*value) else { continue };
                let bin = whole((position * f64::from(bins)).floor()).min(counts.len().max(1) - 1);
                if let Some(count) = counts.get_mut(bin) {
                    *count += 1;
                }
            }
        })?;
        let edge = |number: u32| scale.value(f64::from(number) / f64::from(bins));
        let mut points = vec![(scale.low, 0.0)];
        for (number, count) in (0..bins).zip(counts) {
            points.extend([(edge(number), float(count)), (edge(number + 1), float(count))]);
        }
        points.push((scale.high, 0.0));
        Ok(Self { name, parts: vec![points] })
    }

    /// Returns an iterator over all points of the plot's curve.
    pub(super) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.parts.iter().flatten().copied()
    }

    pub(super) fn json(&self, kind: &str) -> Json {
        json!({ "kind": kind, "name": self.name, "parts": self.parts })
    }
}

/// Returns the scale for the bins of a histogram, from all values of the datasets. Returns `None`
/// if there are no numbers.
pub(super) fn scale_of_values(
    file: &File,
    dataset: &Dataset,
    part: &Part<'_>,
    log: bool,
) -> Result<Option<Scale>> {
    let mut found: Option<Scale> = None;
    numbers::each(file, dataset, part, |values| {
        let ends = found.iter().flat_map(|scale| [scale.low, scale.high]);
        found = Scale::exactly(values.iter().copied().chain(ends.collect::<Vec<_>>()), log);
    })?;
    Ok(found.map(Scale::widened))
}
