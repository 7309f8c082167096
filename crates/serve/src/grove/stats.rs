//! `/stats`: minimum, maximum, mean and standard deviation, in one pass over blocks of elements.

use std::time::Instant;

use hyperslab::datatype::convert::Conversion;
use hyperslab::{Dataspace, Datatype, DatatypeClass, Error, H5Type};
use serde_json::{Value, json};

use super::data::Source;
use super::numpy::{Dtype, carrier};
use super::selection::{Block, Slab};
use super::{Answer, Asked, Failure};

pub(super) fn answer(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let dataset = asked.dataset()?;
    let space = dataset.dataspace();
    let dtype = Dtype::of(dataset.datatype());
    let item = dtype.as_ref().map(Dtype::item);
    let slab = Slab::parse(asked.query.get("selection"), space.dims());
    // Without elements, there is nothing to sum, whatever their type is.
    if space == Dataspace::Null || slab.as_ref().is_ok_and(|slab| slab.count() == Ok(0)) {
        return Ok(Answer::json(&Totals::default().floats()));
    }
    let source = Source { slab: slab?, dtype: dtype.clone(), dataset };
    source.check_sum(asked.limits)?;
    let totals = match item {
        Some(Dtype::Float { .. }) => return Ok(Answer::json(&sum::<f64>(&source, asked)?.floats())),
        Some(Dtype::Integer { signed: true, .. }) => sum::<i64>(&source, asked)?,
        Some(Dtype::Integer { .. } | Dtype::Bool) => sum::<u64>(&source, asked)?,
        _ => return Err(Failure::refused("there are no statistics of elements that are no real numbers")),
    };
    Ok(Answer::json(&totals.integers()))
}

/// A number type of the sums.
trait Number: H5Type + PartialOrd {
    fn to_f64(self) -> f64;
    fn to_i128(self) -> Option<i128>;
}

impl Number for f64 {
    fn to_f64(self) -> f64 {
        self
    }

    fn to_i128(self) -> Option<i128> {
        None
    }
}

impl Number for i64 {
    #[expect(clippy::cast_precision_loss, reason = "statistics are 64-bit floats")]
    fn to_f64(self) -> f64 {
        self as f64
    }

    fn to_i128(self) -> Option<i128> {
        Some(self.into())
    }
}

impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "statistics are 64-bit floats")]
    fn to_f64(self) -> f64 {
        self as f64
    }

    fn to_i128(self) -> Option<i128> {
        Some(self.into())
    }
}

/// The least and the greatest of some numbers: floats, and the integers if they are integers.
#[derive(Debug, Clone, Copy, Default)]
struct Extreme {
    float: Option<f64>,
    integer: Option<i128>,
}

impl Extreme {
    fn of<T: Number>(value: Option<T>) -> Self {
        Self { float: value.map(T::to_f64), integer: value.and_then(T::to_i128) }
    }

    /// Returns the value that comes first in the order `first`.
    fn merge(
        self,
        other: Self,
        first: impl Fn(f64, f64) -> bool,
        integers: impl Fn(i128, i128) -> bool,
    ) -> Self {
        let float = match (self.float, other.float) {
            (Some(one), Some(two)) => Some(if first(one, two) { one } else { two }),
            (one, two) => one.or(two),
        };
        let integer = match (self.integer, other.integer) {
            (Some(one), Some(two)) => Some(if integers(one, two) { one } else { two }),
            (one, two) => one.or(two),
        };
        Self { float, integer }
    }

    fn least(self, other: Self) -> Self {
        self.merge(other, |one, two| one <= two, |one, two| one <= two)
    }

    fn greatest(self, other: Self) -> Self {
        self.merge(other, |one, two| one >= two, |one, two| one >= two)
    }
}

/// The statistics of some numbers, which can be merged with those of others.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    count: u64,
    mean: f64,
    /// The sum of the squares of the differences from the mean.
    squares: f64,
    least: Extreme,
    greatest: Extreme,
    least_positive: Extreme,
    least_not_negative: Extreme,
}

#[expect(clippy::cast_precision_loss, reason = "statistics are 64-bit floats")]
fn float(count: u64) -> f64 {
    count as f64
}

impl Totals {
    fn of<T: Number>(values: &[T], zero: T) -> Self {
        let count = hyperslab_exact::to_u64(values.len());
        if count == 0 {
            return Self::default();
        }
        // The differences from the first value keep the precision of large values.
        let shift = values.first().map_or(0.0, |first| first.to_f64());
        let sum: f64 = values.iter().map(|value| value.to_f64() - shift).sum();
        let mean = shift + sum / float(count);
        let squares = values.iter().map(|value| (value.to_f64() - mean).powi(2)).sum();
        let least =
            |values: &mut dyn Iterator<Item = T>| values.reduce(|one, two| if two < one { two } else { one });
        Self {
            count,
            mean,
            squares,
            least: Extreme::of(least(&mut values.iter().copied())),
            greatest: Extreme::of(
                values.iter().copied().reduce(|one, two| if two > one { two } else { one }),
            ),
            least_positive: Extreme::of(least(&mut values.iter().copied().filter(|value| *value > zero))),
            least_not_negative: Extreme::of(least(
                &mut values.iter().copied().filter(|value| *value >= zero),
            )),
        }
    }

    fn merge(self, other: Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        let count = self.count + other.count;
        let difference = other.mean - self.mean;
        let share = float(other.count) / float(count);
        Self {
            count,
            mean: self.mean + difference * share,
            squares: self.squares + other.squares + difference * difference * float(self.count) * share,
            least: self.least.least(other.least),
            greatest: self.greatest.greatest(other.greatest),
            least_positive: self.least_positive.least(other.least_positive),
            least_not_negative: self.least_not_negative.least(other.least_not_negative),
        }
    }

    fn deviation(&self) -> f64 {
        (self.squares / float(self.count)).sqrt()
    }

    fn answer(&self, extreme: impl Fn(Extreme) -> Value, float: impl Fn(f64) -> Value) -> Value {
        let some = |value: f64| if self.count == 0 { Value::Null } else { float(value) };
        json!({
            "strict_positive_min": extreme(self.least_positive),
            "positive_min": extreme(self.least_not_negative),
            "min": extreme(self.least),
            "max": extreme(self.greatest),
            "mean": some(self.mean),
            "std": some(self.deviation()),
        })
    }

    /// Returns the answer for floats.
    fn floats(&self) -> Value {
        self.answer(|extreme| json!(extreme.float), |value| json!(value))
    }

    /// Returns the answer for integers: all statistics are integers, cut off towards zero.
    fn integers(&self) -> Value {
        let integer = |value: i128| match i64::try_from(value) {
            Ok(value) => json!(value),
            Err(_) => json!(u64::try_from(value).ok()),
        };
        #[expect(clippy::cast_possible_truncation, reason = "the mean is cut off towards zero")]
        let cut = |value: f64| integer(value as i128);
        self.answer(|extreme| extreme.integer.map_or(Value::Null, integer), cut)
    }
}

/// Returns the statistics of all selected elements, without those that are not finite.
fn sum<T: Number>(source: &Source, asked: &Asked<'_>) -> Result<Totals, Failure> {
    let zero = T::zero().ok_or_else(|| Failure::internal("a number type has a zero"))?;
    let mut totals = Totals::default();
    for block in source.blocks(asked.limits) {
        // The request has failed at this time, and other requests need the thread.
        if asked.limits.until.is_some_and(|until| Instant::now() > until) {
            return Err(Failure::slow());
        }
        let mut values = values::<T>(source, &block?)?;
        values.retain(|value| value.to_f64().is_finite());
        totals = totals.merge(Totals::of(&values, zero));
    }
    Ok(totals)
}

/// Reads the elements of a block as numbers. The items of arrays are numbers of their own.
fn values<T: Number>(source: &Source, block: &Block) -> Result<Vec<T>, Failure> {
    let stored = source.read(block)?;
    let no_number = || Failure::refused("elements are no numbers");
    let mut from = carrier(source.dataset.datatype()).ok_or_else(no_number)?;
    while let DatatypeClass::Array(array) = from.class {
        from = *array.base;
    }
    let count = stored.len().checked_div(from.size as usize).unwrap_or(0);
    let conversion = plan::<T>(&from)?;
    let values = T::read_vec(count, |out| conversion.convert(&stored, out, count));
    Ok(values.map_err(Error::from)?)
}

fn plan<T: H5Type>(from: &Datatype) -> Result<Conversion, Failure> {
    Ok(Conversion::new(from, &T::datatype()).map_err(Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_merge_to_the_whole() {
        let values: Vec<f64> = (0..1000).map(|number| f64::from(number * number % 317) - 100.0).collect();
        let whole = Totals::of(&values, 0.0);
        for parts in [1, 3, 10, 999] {
            let merged =
                values.chunks(parts).map(|part| Totals::of(part, 0.0)).fold(Totals::default(), Totals::merge);
            assert!((merged.mean - whole.mean).abs() < 1e-9);
            assert!((merged.deviation() - whole.deviation()).abs() < 1e-9);
            assert_eq!(merged.floats()["min"], whole.floats()["min"]);
            assert_eq!(merged.floats()["strict_positive_min"], whole.floats()["strict_positive_min"]);
        }
    }

    #[test]
    fn integers_are_exact() {
        let totals = Totals::of(&[u64::MAX, u64::MAX - 1], 0);
        assert_eq!(totals.integers()["max"], u64::MAX);
        assert_eq!(totals.integers()["min"], u64::MAX - 1);
        assert_eq!(Totals::of(&[-1_i64, 2], 0).integers()["mean"], 0);
        assert_eq!(Totals::of(&[-10_i64], 0).integers()["positive_min"], Value::Null);
    }
}
