//! From values to places along an axis, and the marks on it.

/// From the least to the largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) log: bool,
}

impl Scale {
    /// A scale on which all these values are, of which those that are no numbers are left out, and those that are not
    /// positive if it is logarithmic.
    pub(super) fn of(values: impl Iterator<Item = f64>, log: bool) -> Option<Self> {
        let mut found: Option<(f64, f64)> = None;
        for value in values.filter(|value| value.is_finite() && (!log || *value > 0.0)) {
            let (low, high) = found.unwrap_or((value, value));
            found = Some((low.min(value), high.max(value)));
        }
        found.map(|(low, high)| Self { low, high, log }.widened())
    }

    /// A scale of one value has some room around it.
    pub(super) fn widened(self) -> Self {
        let Self { low, high, log } = self;
        if high > low {
            return self;
        }
        if log {
            return Self { low: low / 2.0, high: high * 2.0, log };
        }
        let room = if low == 0.0 { 1.0 } else { low.abs() / 10.0 };
        Self { low: low - room, high: high + room, log }
    }

    /// A little more at both ends.
    pub(super) fn with_margin(self) -> Self {
        if self.log {
            let factor = (self.high / self.low).powf(0.04);
            return Self { low: self.low / factor, high: self.high * factor, ..self };
        }
        let margin = (self.high / 2.0 - self.low / 2.0) * 0.08;
        Self { low: self.low - margin, high: self.high + margin, ..self }
    }

    /// Where a value is: from 0 at the low end to 1 at the high one, beyond them cut off. Nothing for what has no place.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = if self.log {
            (value > 0.0).then(|| (value / self.low).ln() / (self.high / self.low).ln())?
        } else {
            // Halves, since the difference of the largest numbers is none.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        (!place.is_nan()).then(|| place.clamp(0.0, 1.0))
    }

    /// About so many marks: places and labels, ascending.
    pub(super) fn marks(&self, about: u32) -> Vec<(f64, String)> {
        let values = if self.log { self.decades(about) } else { None };
        let (values, step) = values.unwrap_or_else(|| self.round(about));
        let inside = values.into_iter().filter(|value| {
            let slack = (self.high / 2.0 - self.low / 2.0) * 2e-9;
            *value >= self.low - slack && *value <= self.high + slack
        });
        inside.filter_map(|value| Some((self.place(value)?, label(value, step)))).collect()
    }

    /// Powers of ten, or such with twos and fives between; nothing if fewer than two lie inside.
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

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn round(&self, about: u32) -> (Vec<f64>, f64) {
        let raw = (self.high / f64::from(about.max(1))) - (self.low / f64::from(about.max(1)));
        let power = 10_f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|step| *step >= raw * 0.999);
        let step = step.filter(|step| step.is_finite() && *step > 0.0).unwrap_or(raw);
        let first = (self.low / step).ceil();
        let marks = (0..64_u32).map(|number| (first + f64::from(number)) * step);
        (marks.take_while(|value| *value <= self.high + step * 1e-9).collect(), step)
    }
}

/// A number beside its mark, with the digits that tell it from the next one.
pub(super) fn label(value: f64, step: f64) -> String {
    let size = value.abs();
    if value == 0.0 && !(1e-4..1e7).contains(&step) {
        return "0".into();
    }
    if value != 0.0 && !(1e-4..1e7).contains(&size) {
        // As many digits as the step needs.
        let digits =
            if step > 0.0 { (size.log10().floor() - step.log10().floor()).clamp(0.0, 6.0) } else { 0.0 };
        let digits = usize::try_from(super::numbers::whole(digits)).unwrap_or(0);
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
    let digits = usize::try_from(super::numbers::whole(digits)).unwrap_or(0);
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool) -> Vec<String> {
        Scale { low, high, log }.marks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(labels(0.0, 10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.3, 0.21, false), ["-0.2", "0.0", "0.2"]);
        assert_eq!(labels(0.0, 2e9, false), ["0", "5e8", "1e9", "1.5e9", "2e9"]);
        assert_eq!(labels(1.0, 1e6, true), ["1", "100", "10000", "1000000"]);
        assert_eq!(labels(3.0, 40.0, true), ["5", "10", "20"]);
        assert_eq!(labels(1e-7, 3e-7, false), ["1e-7", "1.5e-7", "2e-7", "2.5e-7", "3e-7"]);
        // Whatever the ends are, there is an end.
        for (low, high) in [(f64::MIN, f64::MAX), (1.0, 1.0 + f64::EPSILON), (0.0, f64::MIN_POSITIVE)] {
            assert!(labels(low, high, false).len() < 70, "{low} {high}");
        }
    }

    #[test]
    fn places() {
        let scale = Scale::of([3.0, f64::NAN, 1.0, f64::INFINITY].into_iter(), false).unwrap();
        assert_eq!((scale.low, scale.high), (1.0, 3.0));
        assert_eq!([2.0, 0.0, 9.0].map(|value| scale.place(value)), [Some(0.5), Some(0.0), Some(1.0)]);
        assert_eq!(scale.place(f64::NAN), None);
        let log = Scale::of([-1.0, 1.0, 100.0].into_iter(), true).unwrap();
        assert_eq!((log.place(10.0), log.place(-3.0)), (Some(0.5), None));
        assert_eq!(Scale::of([0.0, -1.0].into_iter(), true), None);
        let one = Scale::of([7.0].into_iter(), false).unwrap();
        assert_eq!(one.place(7.0), Some(0.5));
        assert_eq!(Scale { low: f64::MIN, high: f64::MAX, log: false }.place(0.0), Some(0.5));
    }
}
