//! Numbers along one dimension, reduced so that no peak is lost.

use anyhow::Result;
use hyperslab::{Dataset, File};
use serde_json::{Value as Json, json};

use super::numbers::{self, float, index, start_of};
use super::scale::Scale;
use crate::selection::Taken;

/// Numbers side by side, in so many buckets at most.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) count: u64,
    /// Which coordinate is the first, and how far the next one is.
    start: u64,
    step: u64,
    pub(super) buckets: Vec<Bucket>,
}

/// Numbers that are drawn at one place: of them, what a line through all of them would touch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    pub(super) first: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) last: f64,
    /// Whether the lowest came before the highest.
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

    /// The values in the order in which a line goes through them; nothing where there are no numbers.
    pub(super) fn way(&self) -> Option<[f64; 4]> {
        let (one, two) = if self.rises { (self.low, self.high) } else { (self.high, self.low) };
        (!self.first.is_nan()).then_some([self.first, one, two, self.last])
    }
}

impl Line {
    /// Reads the selected elements of one dimension.
    pub(super) fn read(
        file: &File,
        dataset: &Dataset,
        (taken, field): (&[Taken], Option<&str>),
        most: u64,
    ) -> Result<Self> {
        let along = taken.iter().find(|dimension| dimension.kept);
        let (start, step, count) = along.map_or((0, 1, 1), |kept| (kept.start, kept.step, kept.count));
        let parts = count.min(most).max(1);
        let mut buckets = vec![Bucket::EMPTY; index(parts)];
        // Buckets follow each other, so that no element asks for its own.
        let (mut at, mut bucket) = (0_u64, 0_u64);
        let mut next = start_of(1, count, parts);
        numbers::each(file, dataset, (taken, field), |values| {
            for value in values {
                if at >= next {
                    bucket = bucket.saturating_add(1);
                    next = start_of(bucket.saturating_add(1), count, parts);
                }
                if let Some(bucket) = buckets.get_mut(index(bucket)) {
                    bucket.add(*value);
                }
                at = at.saturating_add(1);
            }
        })?;
        Ok(Self { count, start, step, buckets })
    }

    /// The coordinate of a bucket: of its middle, if it has several.
    pub(super) fn coordinate(&self, number: usize) -> f64 {
        let parts = numbers::long(self.buckets.len());
        let number = numbers::long(number);
        let first = start_of(number, self.count, parts);
        let last = start_of(number.saturating_add(1), self.count, parts).saturating_sub(1).max(first);
        let middle = f64::midpoint(float(first), float(last));
        middle.mul_add(float(self.step), float(self.start))
    }

    /// The axis along which coordinates lie.
    pub(super) fn along(&self) -> Scale {
        let last = self.count.saturating_sub(1).saturating_mul(self.step).saturating_add(self.start);
        Scale { low: float(self.start), high: float(last), log: false }.widened()
    }

    /// The axis along which values lie.
    pub(super) fn values(&self, log: bool) -> Option<Scale> {
        Scale::of(self.buckets.iter().flat_map(|bucket| [bucket.low, bucket.high]), log)
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
        assert!(bucket.way().is_none());
        for value in [f64::NAN, 2.0, 5.0, 1.0, f64::INFINITY, 3.0] {
            bucket.add(value);
        }
        assert_eq!(bucket.way(), Some([2.0, 5.0, 1.0, 3.0]));
        let mut bucket = Bucket::EMPTY;
        [1.0, 0.0, 9.0].into_iter().for_each(|value| bucket.add(value));
        assert_eq!(bucket.way(), Some([1.0, 0.0, 9.0, 9.0]));
    }
}
