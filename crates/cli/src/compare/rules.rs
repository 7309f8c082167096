//! The rules for comparing numbers, and the distance between two numbers.

/// A number that is compared: an integer, or a floating-point number of one of two precisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Single(f32),
    Double(f64),
}

/// The absolute difference of two numbers, in the type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distance {
    Integer(u128),
    Single(f32),
    Double(f64),
}

/// A pair of numbers of the same type that a comparison checks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) one: Number,
    pub(crate) other: Number,
}

/// The rules by which a comparison decides that two numbers differ.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// The largest distance of numbers that count as equal.
    pub(crate) absolute: Option<f64>,
    /// The largest relative distance of numbers that count as equal.
    pub(crate) relative: Option<Relative>,
    /// True if floating-point numbers whose distance is less than the type's epsilon count as
    /// equal. The epsilon is the distance from 1 to the next number.
    pub(crate) epsilon: bool,
    /// True if NaN equals NaN.
    pub(crate) nan_equal: bool,
    /// True if floating-point numbers differ when their bits differ, such as zeros of different
    /// signs.
    pub(crate) by_bits: bool,
}

/// A relative tolerance for the comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relative {
    OfFirst(f64),
    OfLarger(f64),
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "the nearest number is wanted")]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    fn is_nan(self) -> bool {
        self.as_f64().is_nan()
    }

    fn is_zero(self) -> bool {
        self.as_f64() == 0.0
    }
}

impl Distance {
    #[expect(clippy::cast_precision_loss, reason = "the nearest number is wanted")]
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Single(value) => value.into(),
            Self::Double(value) => value,
        }
    }
}

impl Numbers {
    /// Creates a pair of numbers. Numbers of different types are converted to `f64`.
    pub(crate) fn new(one: Number, other: Number) -> Self {
        let is_one_kind = matches!(
            (one, other),
            (Number::Integer(_), Number::Integer(_))
                | (Number::Single(_), Number::Single(_))
                | (Number::Double(_), Number::Double(_))
        );
        if is_one_kind {
            return Self { one, other };
        }
        Self { one: Number::Double(one.as_f64()), other: Number::Double(other.as_f64()) }
    }

    /// Returns the absolute difference of the two compared numbers. If one of them is NaN, returns
    /// NaN.
    pub(crate) fn distance(&self) -> Distance {
        match (self.one, self.other) {
            (Number::Integer(one), Number::Integer(other)) => Distance::Integer(one.abs_diff(other)),
            (Number::Single(one), Number::Single(other)) => Distance::Single((one - other).abs()),
            (one, other) => Distance::Double((one.as_f64() - other.as_f64()).abs()),
        }
    }

    /// Returns the difference of the compared numbers divided by the first number. Returns `None`
    /// if the first number is zero.
    pub(crate) fn relative_to_first(&self) -> Option<f64> {
        if self.one.is_zero() {
            return None;
        }
        let (one, other) = (self.one.as_f64(), self.other.as_f64());
        let distance = match self.distance() {
            Distance::Integer(_) => self.distance().as_f64(),
            _ => (other - one).abs(),
        };
        Some((distance / one).abs())
    }

    /// Returns the difference of the compared numbers divided by the larger number. Returns zero if
    /// both numbers are zero.
    pub(crate) fn relative_to_larger(&self) -> f64 {
        let larger = self.one.as_f64().abs().max(self.other.as_f64().abs());
        if larger == 0.0 { 0.0 } else { self.distance().as_f64() / larger }
    }

    /// Returns whether the two compared numbers differ by more than the rules allow.
    pub(crate) fn differ(&self, rules: &Rules) -> bool {
        let are_nan = (self.one.is_nan(), self.other.is_nan());
        if rules.nan_equal && are_nan != (false, false) {
            return are_nan != (true, true);
        }
        if rules.absolute.is_none() && rules.relative.is_none() && !(rules.epsilon && self.is_floating()) {
            return !self.is_same(rules.by_bits);
        }
        if rules.absolute.is_some_and(|limit| self.is_within(limit)) {
            return false;
        }
        match rules.relative {
            Some(Relative::OfFirst(limit)) => {
                // If the first number is zero, only zero is within a relative tolerance.
                return match self.relative_to_first() {
                    Some(relative) => relative > limit,
                    None => !self.other.is_zero(),
                };
            }
            Some(Relative::OfLarger(limit)) if self.is_same(false) || self.relative_to_larger() <= limit => {
                return false;
            }
            _ => {}
        }
        if rules.epsilon {
            return match self.distance() {
                Distance::Single(distance) => !matches!(distance, distance if distance < f32::EPSILON),
                distance => !matches!(distance.as_f64(), distance if distance < f64::EPSILON),
            };
        }
        true
    }

    /// Returns true if the compared numbers are floating-point numbers.
    fn is_floating(&self) -> bool {
        !matches!(self.one, Number::Integer(_))
    }

    fn is_within(&self, limit: f64) -> bool {
        // The distance of equal infinities is NaN. They are within any limit; NaN is not.
        let distance = self.distance().as_f64();
        if distance.is_nan() { self.is_same(false) } else { distance <= limit }
    }

    fn is_same(&self, by_bits: bool) -> bool {
        match (self.one, self.other) {
            (Number::Single(one), Number::Single(other)) if by_bits => one.to_bits() == other.to_bits(),
            (Number::Double(one), Number::Double(other)) if by_bits => one.to_bits() == other.to_bits(),
            (one, other) => one == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(one: f64, other: f64) -> Numbers {
        Numbers { one: Number::Double(one), other: Number::Double(other) }
    }

    #[test]
    fn numbers_without_tolerance() {
        let rules = Rules { nan_equal: true, ..Rules::default() };
        assert!(!doubles(0.0, -0.0).differ(&rules));
        assert!(!doubles(f64::NAN, -f64::NAN).differ(&rules));
        assert!(doubles(f64::NAN, 1.0).differ(&rules));
        assert!(doubles(1.0, 1.0 + f64::EPSILON).differ(&rules));
        assert!(!doubles(f64::INFINITY, f64::INFINITY).differ(&rules));
        let by_bits = Rules { by_bits: true, ..rules.clone() };
        assert!(doubles(0.0, -0.0).differ(&by_bits));
        assert!(!doubles(f64::NAN, -f64::NAN).differ(&by_bits));
        let nan_differs = Rules { nan_equal: false, ..rules };
        assert!(doubles(f64::NAN, f64::NAN).differ(&nan_differs));
        let large =
            Numbers { one: Number::Integer(i64::MIN.into()), other: Number::Integer(u64::MAX.into()) };
        assert_eq!(large.distance(), Distance::Integer((1 << 63) + u128::from(u64::MAX)));
    }

    #[test]
    fn tolerances() {
        let absolute = Rules { absolute: Some(0.5), nan_equal: true, ..Rules::default() };
        assert!(!doubles(1.0, 1.5).differ(&absolute));
        assert!(doubles(1.0, 1.6).differ(&absolute));
        assert!(!doubles(f64::INFINITY, f64::INFINITY).differ(&absolute));
        assert!(doubles(f64::INFINITY, 1.0).differ(&absolute));
        let first = Rules { relative: Some(Relative::OfFirst(0.1)), ..Rules::default() };
        assert!(!doubles(100.0, 110.0).differ(&first));
        assert!(doubles(100.0, 111.0).differ(&first));
        assert!(doubles(0.0, 1e-300).differ(&first));
        assert!(!doubles(0.0, -0.0).differ(&first));
        let both = Rules { absolute: Some(0.5), relative: Some(Relative::OfLarger(0.1)), ..Rules::default() };
        assert!(!doubles(90.0, 100.0).differ(&both));
        assert!(!doubles(0.0, 0.4).differ(&both));
        assert!(doubles(1.0, 2.0).differ(&both));
        let epsilon = Rules { epsilon: true, ..Rules::default() };
        assert!(!doubles(1.0, 1.0 + f64::EPSILON / 2.0).differ(&epsilon));
        assert!(doubles(1.0, 1.0 + f64::EPSILON).differ(&epsilon));
        let integers = Numbers { one: Number::Integer(1), other: Number::Integer(2) };
        assert!(integers.differ(&epsilon) && !integers.differ(&Rules { absolute: Some(1.0), ..epsilon }));
    }
}
