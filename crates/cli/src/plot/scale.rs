//! The scale of a plot axis or of colours: positions of values, and ticks.

/// A linear or logarithmic scale of a plot, from the smallest to the largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
}

impl Scale {
    /// Returns a plot scale that covers all finite `values`. The ends are distinct. A logarithmic
    /// scale ignores values that are not positive. Returns `None` if no value remains.
    pub(super) fn of(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        Self::exactly(values, log).map(Self::widened)
    }

    /// Returns the plot scale from the smallest to the largest finite value, even if both are
    /// equal. Returns `None` if no value remains.
    pub(super) fn exactly(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let mut found: Option<(f64, f64)> = None;
        for value in values.filter(|value| value.is_finite() && (!log || *value > 0.0)) {
            let (low, high) = found.unwrap_or((value, value));
            found = Some((low.min(value), high.max(value)));
        }
        found.map(|(low, high)| Self { low, high, log })
    }

    /// Joins two plot scales: returns a scale that covers the ranges of both.
    pub(super) fn joined(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// Returns the plot scale, widened if both ends are equal.
    pub(super) fn widened(self) -> Self {
        let Self { low, high, log } = self;
        if high > low {
            return self;
        }
        if log {
            return Self { low: low / 2.0, high: high * 2.0, log };
        }
        let margin = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
        Self { low: low - margin, high: high + margin, log }
    }

    /// Returns the plot scale with a small margin beyond both ends.
    pub(super) fn with_margin(self) -> Self {
        if self.log {
            let factor = (self.high / self.low).powf(0.04);
            return Self { low: self.low / factor, high: self.high * factor, ..self };
        }
        let margin = (self.high / 2.0 - self.low / 2.0) * 0.08;
        Self { low: self.low - margin, high: self.high + margin, ..self }
    }

    /// Returns the position of a value on the plot scale: 0 at the low end, 1 at the high end.
    /// Values beyond an end have the position of that end. Returns `None` for NaN, and for values
    /// that a logarithmic scale cannot show.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        let position = if self.log {
            (value > 0.0).then(|| (value / self.low).ln() / (self.high / self.low).ln())?
        } else {
            // The difference of the largest numbers overflows; the difference of their halves does
            // not.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        (!position.is_nan()).then(|| position.clamp(0.0, 1.0))
    }

    /// Returns the value at a position of the plot scale. This is the inverse of `position`.
    pub(super) fn value(&self, position: f64) -> f64 {
        if self.log {
            return self.low * (self.high / self.low).powf(position);
        }
        self.low.mul_add(1.0 - position, self.high * position)
    }

    /// Returns about `about` tick values of the plot scale in ascending order, and the distance
    /// between them. On a logarithmic scale, the distance is 0.
    pub(super) fn tick_values(&self, about: u32) -> (Vec<f64>, f64) {
        let values = if self.log { self.decades(about) } else { None };
        let (values, step) = values.unwrap_or_else(|| self.round(about));
        (self.inside(values), step)
    }

    /// Returns about `about` ticks of the plot scale at whole numbers, and the distance between
    /// them.
    pub(super) fn whole_ticks(&self, about: u32) -> (Vec<f64>, f64) {
        let (values, step) = self.tick_values(about);
        if step >= 1.0 || self.log {
            return (values, step);
        }
        let first = self.low.ceil();
        let values = (0..64_u32).map(|number| first + f64::from(number));
        (self.inside(values.take_while(|value| *value <= self.high).collect()), 1.0)
    }

    fn inside(&self, values: Vec<f64>) -> Vec<f64> {
        let slack = (self.high / 2.0 - self.low / 2.0) * 2e-9;
        let is_inside = |value: &f64| *value >= self.low - slack && *value <= self.high + slack;
        values.into_iter().filter(is_inside).collect()
    }

    /// Returns the ticks of a logarithmic plot scale at powers of ten, and on short scales also at
    /// 2 and 5 times these powers. Returns `None` if fewer than two ticks lie on the scale.
    fn decades(&self, about: u32) -> Option<(Vec<f64>, f64)> {
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let count = last - first;
        let every = (count / f64::from(about.max(1))).ceil().max(1.0);
        let between: &[f64] = if count <= 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut values = Vec::new();
        let mut power = first;
        while power <= last {
            values.extend(between.iter().map(|factor| factor * 10_f64.powf(power)));
            power += every;
        }
        let inside = values.iter().filter(|value| (self.low..=self.high).contains(*value)).count();
        (inside >= 2).then_some((values, 0.0))
    }

    /// Returns the ticks of a plot scale at multiples of 1, 2 or 5 times a power of ten.
    fn round(&self, about: u32) -> (Vec<f64>, f64) {
        let raw = (self.high / f64::from(about.max(1))) - (self.low / f64::from(about.max(1)));
        let power = 10_f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|step| *step >= raw * 0.999);
        let step = step.filter(|step| step.is_finite() && *step > 0.0).unwrap_or(raw);
        let first = (self.low / step).ceil();
        let values = (0..64_u32).map(|number| (first + f64::from(number)) * step);
        (values.take_while(|value| *value <= self.high + step * 1e-9).collect(), step)
    }
}

/// Formats a tick label with enough digits to distinguish it from the next tick at distance `step`.
pub(super) fn label(value: f64, step: f64) -> String {
    let size = value.abs();
    if value == 0.0 && !(1e-4..1e7).contains(&step) {
        return "0".into();
    }
    if value != 0.0 && !(1e-4..1e7).contains(&size) {
        // The step determines the number of digits.
        let digits =
            if step > 0.0 { (size.log10().floor() - step.log10().floor()).clamp(0.0, 6.0) } else { 0.0 };
        let digits = super::casts::whole(digits);
        let text = format!("{value:.digits$e}");
        return match text.split_once('e') {
            Some((mantissa, power)) if mantissa.contains('.') => {
                format!("{}e{power}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        };
    }
    let digits = if step > 0.0 {
        (-step.log10().floor()).clamp(0.0, 9.0)
    } else {
        (-size.log10().floor()).clamp(0.0, 9.0)
    };
    let digits = super::casts::whole(digits);
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool) -> Vec<String> {
        let (values, step) = Scale { low, high, log }.tick_values(5);
        values.into_iter().map(|value| label(value, step)).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.3, 0.21, false), ["-0.2", "0.0", "0.2"]);
        assert_eq!(labels(0.0, 2e9, false), ["0", "5e8", "1e9", "1.5e9", "2e9"]);
        assert_eq!(labels(1.0, 1e6, true), ["1", "100", "10000", "1000000"]);
        assert_eq!(labels(3.0, 40.0, true), ["5", "10", "20"]);
        assert_eq!(labels(1e-7, 3e-7, false), ["1e-7", "1.5e-7", "2e-7", "2.5e-7", "3e-7"]);
        // The number of ticks is limited, whatever the ends are.
        for (low, high) in [(f64::MIN, f64::MAX), (1.0, 1.0 + f64::EPSILON), (0.0, f64::MIN_POSITIVE)] {
            assert!(labels(low, high, false).len() < 70, "{low} {high}");
        }
    }

    #[test]
    fn positions() {
        let scale = Scale::of([3.0, f64::NAN, 1.0, f64::INFINITY].into_iter(), false).unwrap();
        assert_eq!((scale.low, scale.high), (1.0, 3.0));
        assert_eq!([2.0, 0.0, 9.0].map(|value| scale.position(value)), [Some(0.5), Some(0.0), Some(1.0)]);
        assert_eq!(scale.position(f64::NAN), None);
        let log = Scale::of([-1.0, 1.0, 100.0].into_iter(), true).unwrap();
        assert_eq!((log.position(10.0), log.position(-3.0)), (Some(0.5), None));
        assert_eq!(Scale::of([0.0, -1.0].into_iter(), true), None);
        let one = Scale::of([7.0].into_iter(), false).unwrap();
        assert_eq!(one.position(7.0), Some(0.5));
        assert_eq!(Scale { low: f64::MIN, high: f64::MAX, log: false }.position(0.0), Some(0.5));
    }
}
