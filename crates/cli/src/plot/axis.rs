//! An axis of a plot: a scale, the notation of its ticks, and a label.

use super::scale::{Scale, label};
use super::times::Unit;

/// An axis of a plot, which shows coordinates or values.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    pub(super) ticks: Ticks,
    /// True if the coordinates decrease along the axis.
    pub(super) reversed: bool,
    label: String,
}

/// The notation of the tick labels of a plot axis: numbers, indexes or dates.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ticks {
    /// Numbers.
    Numbers,
    /// Whole numbers.
    Indexes,
    /// Dates and times of numbers in this unit.
    Times(Unit),
    /// The coordinate of each index. The axis has the scale of the indexes.
    Coordinates(Vec<f64>),
}

/// The limit for the ratio of the largest value to the range of a plot axis. From this ratio on,
/// tick labels show the distance from an offset, as in matplotlib.
const OFFSET_RATIO: f64 = 1e4;

impl Axis {
    pub(super) fn new(scale: Scale, ticks: Ticks, label: String) -> Self {
        Self { scale, ticks, reversed: false, label }
    }

    /// Joins two plot axes: returns an axis that covers the ranges of both.
    pub(super) fn joined(self, other: Self) -> Self {
        let scale = self.scale.joined(other.scale);
        if self.ticks == other.ticks {
            Self { scale, ..self }
        } else {
            Self { scale, ticks: Ticks::Numbers, ..self }
        }
    }

    /// Returns the label of the plot axis. If the tick labels omit an offset, the offset follows
    /// the label.
    pub(super) fn label(&self) -> String {
        let offset = self.offset();
        if offset == 0.0 {
            return self.label.clone();
        }
        let text = format!("+ {offset}");
        if self.label.is_empty() { text } else { format!("{}  {text}", self.label) }
    }

    /// Returns the label of the plot axis without the offset that tick labels omit.
    pub(super) fn name(&self) -> &str {
        &self.label
    }

    /// Returns the position of a value along the plot axis, as `Scale::position` does.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        let position = self.scale.position(value)?;
        Some(if self.reversed { 1.0 - position } else { position })
    }

    /// Returns about `about` ticks of the plot axis, each with its position and label.
    pub(super) fn ticks(&self, about: u32) -> Vec<(f64, String)> {
        let (values, step) = match self.ticks {
            Ticks::Indexes | Ticks::Coordinates(_) => self.scale.whole_ticks(about),
            Ticks::Numbers | Ticks::Times(_) => self.scale.tick_values(about),
        };
        let offset = self.offset();
        let text = |value: f64| match &self.ticks {
            Ticks::Numbers | Ticks::Indexes => Some(label(value - offset, step)),
            Ticks::Times(unit) => Some(unit.text(value, step)),
            Ticks::Coordinates(coordinates) => {
                let at = super::casts::whole(value);
                let near = coordinates.get(at + 1).or_else(|| coordinates.get(at.checked_sub(1)?));
                let coordinate = *coordinates.get(at)?;
                Some(label(coordinate, near.map_or(0.0, |near| (near - coordinate).abs())))
            }
        };
        values.into_iter().filter_map(|value| Some((self.position(value)?, text(value)?))).collect()
    }

    /// Returns the offset that the tick labels of the plot axis omit. Returns 0 if tick labels show
    /// whole values.
    fn offset(&self) -> f64 {
        let Scale { low, high, log } = self.scale;
        let (span, largest) = (high - low, low.abs().max(high.abs()));
        let is_far = span > 0.0 && largest / span >= OFFSET_RATIO && largest.is_finite();
        if log || self.ticks != Ticks::Numbers || !is_far {
            return 0.0;
        }
        // The roundest number near the scale.
        let middle = f64::midpoint(low, high);
        let mut unit = 10_f64.powf(largest.log10().floor());
        loop {
            let offset = (middle / unit).round() * unit;
            if (middle - offset).abs() <= span * 2.0 || unit <= span / 10.0 {
                return offset;
            }
            unit /= 10.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, ticks: Ticks) -> Axis {
        Axis::new(Scale { low, high, log: false }, ticks, "x".into())
    }

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn indexes_are_whole_numbers() {
        assert_eq!(labels(&axis(-0.5, 2.5, Ticks::Indexes)), ["0", "1", "2"]);
        assert_eq!(labels(&axis(0.0, 100.0, Ticks::Indexes)), ["0", "20", "40", "60", "80", "100"]);
    }

    #[test]
    fn large_numbers_have_an_offset() {
        let far = axis(1e9, 1e9 + 10.0, Ticks::Numbers);
        assert_eq!((labels(&far).join(" "), far.label()), ("0 2 4 6 8 10".into(), "x  + 1000000000".into()));
        let margin = axis(1e9 - 0.5, 1e9 + 10.0, Ticks::Numbers);
        assert_eq!(margin.label(), "x  + 1000000000");
        let near = axis(0.0, 10.0, Ticks::Numbers);
        assert_eq!(near.label(), "x");
    }

    #[test]
    fn reversed_axes_and_coordinates() {
        let mut reversed = axis(-90.0, 90.0, Ticks::Numbers);
        reversed.reversed = true;
        assert_eq!((reversed.position(90.0), reversed.position(-90.0)), (Some(0.0), Some(1.0)));
        let uneven = axis(-0.5, 2.5, Ticks::Coordinates(vec![1.0, 10.0, 500.0]));
        assert_eq!(labels(&uneven), ["1", "10", "500"]);
    }
}
