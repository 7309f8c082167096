//! The attributes of the climate and forecast (CF) conventions: packed values, missing values, and
//! labels.

use anyhow::Result;
use hyperslab::{Attribute, Dataset, ErrorKind};

use super::times::Unit;
use crate::output::escape;

/// The meaning of the stored values of a dataset by the CF conventions: scale, offset, missing
/// values and valid range.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Conventions {
    scale: Option<f64>,
    offset: Option<f64>,
    /// Stored values that are missing.
    missing: Vec<f64>,
    /// The least and the largest valid stored value.
    valid: (Option<f64>, Option<f64>),
}

impl Conventions {
    /// Reads the CF attributes of a dataset, which state the meaning of its values.
    pub(super) fn of(dataset: &Dataset) -> Result<Self> {
        let one = |name: &str| Ok::<_, anyhow::Error>(numbers(dataset, name)?.first().copied());
        let mut missing = numbers(dataset, "_FillValue")?;
        missing.extend(numbers(dataset, "missing_value")?);
        let valid = match *numbers(dataset, "valid_range")? {
            [low, high] => (Some(low), Some(high)),
            _ => (one("valid_min")?, one("valid_max")?),
        };
        Ok(Self { scale: one("scale_factor")?, offset: one("add_offset")?, missing, valid })
    }

    /// Converts stored values to physical values by the CF conventions. Missing and invalid values
    /// become NaN.
    pub(super) fn apply(&self, values: &mut [f64]) {
        if *self == Self::default() {
            return;
        }
        for value in values {
            let is_low = self.valid.0.is_some_and(|low| *value < low);
            let is_high = self.valid.1.is_some_and(|high| *value > high);
            *value = if is_low || is_high || self.missing.contains(value) {
                f64::NAN
            } else {
                value.mul_add(self.scale.unwrap_or(1.0), self.offset.unwrap_or(0.0))
            };
        }
    }
}

/// Returns the numbers of a CF attribute. The list is empty if the attribute does not exist or is
/// not numeric.
fn numbers(dataset: &Dataset, name: &str) -> Result<Vec<f64>> {
    let Some(attribute) = attribute(dataset, name)? else { return Ok(Vec::new()) };
    if !attribute.datatype()?.is_number() {
        return Ok(Vec::new());
    }
    Ok(attribute.read_stored()?.convert::<f64>()?)
}

/// Returns a CF attribute of a dataset. Returns `None` if the attribute does not exist.
pub(super) fn attribute(dataset: &Dataset, name: &str) -> Result<Option<Attribute>> {
    match dataset.attribute(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Returns the text of a CF attribute. Returns `None` if the attribute does not exist, or is not
/// text.
pub(super) fn text(dataset: &Dataset, name: &str) -> Option<String> {
    let found = attribute(dataset, name).ok()??;
    let strings = found.read_stored().ok()?.strings().ok()?;
    strings.into_iter().next().filter(|text| !text.trim().is_empty())
}

/// Returns the unit of a dataset's values if they are times.
pub(super) fn time_unit(dataset: &Dataset) -> Option<Unit> {
    Unit::parse(&text(dataset, "units")?, text(dataset, "calendar").as_deref())
}

/// Returns a plot label for the values of a dataset: the attribute `long_name` or `standard_name`,
/// and `units`. The label is empty without these attributes. A time unit is omitted, because the
/// ticks show dates.
pub(super) fn label(dataset: &Dataset) -> String {
    let name = text(dataset, "long_name").or_else(|| text(dataset, "standard_name"));
    let units = if time_unit(dataset).is_some() { None } else { text(dataset, "units") };
    let units = units.map(|units| format!("[{}]", units.trim()));
    let words: Vec<String> = name.into_iter().chain(units).collect();
    let short = crate::output::cut(&words.join(" "), 60);
    escape(short.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_values_are_converted() {
        let conventions = Conventions {
            scale: Some(0.5),
            offset: Some(10.0),
            missing: vec![-99.0],
            valid: (Some(-5.0), Some(100.0)),
        };
        let mut values = [0.0, 4.0, -99.0, -6.0, 101.0, 100.0];
        conventions.apply(&mut values);
        assert_eq!(&values[..2], [10.0, 12.0]);
        assert!(values[2..5].iter().all(|value| value.is_nan()));
        assert_eq!(values[5], 60.0);
    }
}
