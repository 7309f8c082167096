//! Elements of one dimension as a plotted line, reduced so that no peak is lost.

use anyhow::Result;
use hyperslab::{Dataset, File};
use serde_json::{Value as Json, json};

use super::casts::{float, start_of};
use super::numbers::{self, Part};
use super::scale::Scale;

/// A plotted line through the elements of a one-dimensional selection. Adjacent elements are
/// combined in a limited number of buckets.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) count: u64,
    /// The first coordinate, and the distance between coordinates.
    start: u64,
    step: u64,
    pub(super) buckets: Vec<Bucket>,
}

/// The numbers at one horizontal position of a plotted line, reduced to the first, the smallest,
/// the largest and the last number. A line through these numbers covers the same range as a line
/// through all numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    pub(super) first: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) last: f64,
    /// True if the least number came before the largest one.
    pub(super) rises: bool,
}

impl Bucket {
    const EMPTY: Self = Self { first: f64::NAN, low: f64::NAN, high: f64::NAN, last: f64::NAN, rises: true };

    fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.first.is_nan() {
            *self = Self { first: value, low: value, high: value, last: value, rises: true };
        }
        if value < self.low {
            (self.low, self.rises) = (value, false);
        }
        if value > self.high {
            (self.high, self.rises) = (value, true);
        }
        self.last = value;
    }

    /// Returns the four numbers of the bucket in the order in which the plotted line reaches them.
    /// Returns `None` if the bucket has no numbers.
    pub(super) fn values_in_order(&self) -> Option<[f64; 4]> {
        let (one, two) = if self.rises { (self.low, self.high) } else { (self.high, self.low) };
        (!self.first.is_nan()).then_some([self.first, one, two, self.last])
    }
}

impl Line {
    /// Reads the selected elements of one dimension into the buckets of a plotted line.
    pub(super) fn read(file: &File, dataset: &Dataset, part: &Part<'_>, max_buckets: usize) -> Result<Self> {
        let along = part.taken.iter().find(|dimension| dimension.kept);
        let (start, step, count) = along.map_or((0, 1, 1), |kept| (kept.start, kept.step, kept.count));
        // A count that does not fit in `usize` is also above `max_buckets`.
        let parts = usize::try_from(count).map_or(max_buckets, |count| count.min(max_buckets)).max(1);
        let mut buckets = vec![Bucket::EMPTY; parts];
        // The elements arrive in order, so the loop needs one division for each bucket, not for
        // each element.
        let (mut at, mut bucket) = (0_u64, 0_usize);
        let mut next = start_of(1, count, parts);
        numbers::each(file, dataset, part, |values| {
            for value in values {
                if at >= next {
                    bucket += 1;
                    next = start_of(bucket + 1, count, parts);
                }
                if let Some(bucket) = buckets.get_mut(bucket) {
                    bucket.add(*value);
                }
                at += 1;
            }
        })?;
        Ok(Self { count, start, step, buckets })
    }

    /// Returns the coordinate of a bucket of the plotted line. If the bucket covers several
    /// coordinates, returns the middle one.
    pub(super) fn coordinate(&self, number: usize) -> f64 {
        self.middle(number).mul_add(float(self.step), float(self.start))
    }

    /// Returns the position of the middle of a bucket, counted in the selection.
    pub(super) fn middle(&self, number: usize) -> f64 {
        let parts = self.buckets.len();
        let first = start_of(number, self.count, parts);
        let end = start_of(number + 1, self.count, parts);
        let last = if end > first { end - 1 } else { first };
        f64::midpoint(float(first), float(last))
    }

    /// Returns the horizontal scale of the plotted line.
    pub(super) fn x_scale(&self) -> Scale {
        let steps = float(self.count) - 1.0;
        Scale {
            low: float(self.start),
            high: steps.max(0.0).mul_add(float(self.step), float(self.start)),
            log: false,
        }
        .widened()
    }

    pub(super) fn json(&self) -> Json {
        let list = |of: fn(&Bucket) -> f64| {
            let number = |bucket: &Bucket| Some(of(bucket)).filter(|value| value.is_finite());
            self.buckets.iter().map(number).collect::<Vec<_>>()
        };
        let coordinates: Vec<f64> = (0..self.buckets.len()).map(|number| self.coordinate(number)).collect();
        json!({
            "kind": "line",
            "elements": self.count,
            "coordinates": coordinates,
            "low": list(|bucket| bucket.low),
            "high": list(|bucket| bucket.high),
            "first": list(|bucket| bucket.first),
            "last": list(|bucket| bucket.last),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_all_that_a_line_touches() {
        let mut bucket = Bucket::EMPTY;
        assert!(bucket.values_in_order().is_none());
        for value in [f64::NAN, 2.0, 5.0, 1.0, f64::INFINITY, 3.0] {
            bucket.add(value);
        }
        assert_eq!(bucket.values_in_order(), Some([2.0, 5.0, 1.0, 3.0]));
        let mut bucket = Bucket::EMPTY;
        [1.0, 0.0, 9.0].into_iter().for_each(|value| bucket.add(value));
        assert_eq!(bucket.values_in_order(), Some([1.0, 0.0, 9.0, 9.0]));
    }
}
