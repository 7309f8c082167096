//! Numbers for plots: the conversion of elements, block by block; the division of a range into
//! equal parts; casts from floating-point numbers.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, File};
use hyperslab_exact::{to_u64, to_usize};
use indicatif::{ProgressBar, ProgressStyle};

use super::conventions::Conventions;
use crate::output::{self, escape};
use crate::selection::Taken;
use crate::selection::blocks::Blocks;

/// The number of elements that a plot may read from any file, however small. From a large file, a
/// plot may read `ELEMENTS_PER_BYTE` elements for each byte of the file.
const MIN_ELEMENT_LIMIT: u64 = 1 << 28;
const ELEMENTS_PER_BYTE: u64 = 4096;

/// Converts an unsigned integer to floating point for a plot. Large numbers are rounded, because
/// plots need fewer digits.
#[expect(clippy::cast_precision_loss, reason = "what is drawn has fewer digits")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// Converts a signed integer to floating point for a plot. Numbers of more than 53 bits are
/// rounded.
#[expect(clippy::cast_precision_loss, reason = "dates have fewer digits")]
pub(super) fn signed(number: i64) -> f64 {
    number as f64
}

/// Rounds a number to the nearest integer. If the integer is out of the range of the type, returns
/// the nearer end of the range.
#[expect(clippy::cast_possible_truncation, reason = "the cast clamps")]
pub(super) fn nearest(number: f64) -> i64 {
    number.round() as i64
}

/// Rounds a number to an index or a number of digits. NaN and negative numbers become 0; too large
/// numbers become the largest number of the type.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
pub(super) fn whole(number: f64) -> usize {
    number.round() as usize
}

/// Rounds a number to a pixel coordinate. If the coordinate is out of the range of the type,
/// returns the nearer end of the range.
#[cfg(feature = "plots")]
#[expect(clippy::cast_possible_truncation, reason = "the cast clamps")]
pub(super) fn pixel(number: f64) -> i32 {
    number.round() as i32
}

/// Rounds a colour component to a byte. A number out of the range becomes 0 or 255.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast clamps")]
pub(super) fn byte(number: f64) -> u8 {
    number.round() as u8
}

/// Divides `0..all` into `parts` equal parts, and returns the number of the part that contains the
/// position `at`. Larger positions belong to the last part.
pub(super) fn part(at: u64, all: u64, parts: usize) -> usize {
    let last = parts.max(1) - 1;
    // Both factors have 64 bits, so that the product fits.
    let scaled = (u128::from(at) * u128::from(to_u64(parts))).checked_div(u128::from(all)).unwrap_or(0);
    usize::try_from(scaled).map_or(last, |part| part.min(last))
}

/// Divides `0..all` into `parts` equal parts, and returns the first position of the part `number`.
/// Returns `all` if the number is too large.
pub(super) fn start_of(number: usize, all: u64, parts: usize) -> u64 {
    let product = u128::from(to_u64(number)) * u128::from(all);
    u64::try_from(product.div_ceil(u128::from(to_u64(parts.max(1))))).map_or(all, |start| start.min(all))
}

/// Starts a progress bar on standard error for the plotting of `all` elements.
pub(super) fn progress(all: u64, subject: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(all);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar.set_message(subject);
    bar.enable_steady_tick(Duration::from_millis(200));
    crate::progress::delayed(bar)
}

/// Checks that the elements of a dataset to plot are numbers.
pub(super) fn check(dataset: &Dataset) -> Result<()> {
    let datatype = dataset.datatype();
    if let DatatypeClass::Compound(compound) = &datatype.class {
        let names = compound.members.iter().map(|member| escape(&member.name));
        let names = output::cut(&names.collect::<Vec<_>>().join(", "), 200);
        bail!("the elements of `{}` are compounds: choose a member with --field: {names}", dataset.name());
    }
    if datatype.is_number() || matches!(datatype.class, DatatypeClass::Enumeration(_)) {
        return Ok(());
    }
    bail!("the elements of `{}` are not numbers, but {datatype}", dataset.name())
}

/// The selected elements of a dataset to plot, the compound member to draw, and the meaning of its
/// values.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) taken: &'a [Taken],
    /// The member of compounds.
    pub(super) field: Option<&'a str>,
    pub(super) conventions: Conventions,
}

/// Reads the selected elements of a plot as numbers in C order. Calls `visit` with blocks of
/// limited size. If the elements are compounds, reads one member.
pub(super) fn each(
    file: &File,
    dataset: &Dataset,
    part: &Part<'_>,
    mut visit: impl FnMut(&[f64]),
) -> Result<()> {
    let Part { taken, field, conventions } = part;
    let field = *field;
    if field.is_none() {
        check(dataset)?;
    }
    // The counts only limit the work, so that saturated values serve as well as exact ones.
    let count = taken.iter().fold(1_u64, |count, dimension| count.saturating_mul(dimension.count));
    let limit = file.info().length.saturating_mul(ELEMENTS_PER_BYTE).max(MIN_ELEMENT_LIMIT);
    if count > limit {
        bail!(
            "{count} elements are too many for a file of this size: select some with -s, such as every 1000th by \
 ::1000, or show with --occupied which elements are stored"
        );
    }
    let bar = progress(count, "reading");
    let base = match &dataset.datatype().class {
        DatatypeClass::Enumeration(enumeration) => Some(enumeration.base.clone()),
        _ => None,
    };
    Blocks::new(dataset, taken.to_vec()).for_each_selection(|selection| {
        let mut values = match (&base, field) {
            (_, Some(field)) => dataset.field(field)?.read_raw::<f64>(selection)?,
            (None, None) => dataset.read_stored(selection)?.convert::<f64>()?,
            (Some(base), None) => enumerated(base, dataset.read_stored(selection)?.bytes())?,
        };
        bar.inc(to_u64(values.len()));
        conventions.apply(&mut values);
        visit(&values);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(())
}

/// Converts the values of an enumeration to numbers for a plot.
fn enumerated(base: &hyperslab::Datatype, bytes: &[u8]) -> Result<Vec<f64>> {
    use hyperslab::H5Type as _;
    use hyperslab::datatype::convert::Conversion;
    let size = to_usize(u64::from(base.size))?;
    let count = bytes.len().checked_div(size).context("the enumeration's type has no bytes")?;
    let mut values =
        vec![
            0_u8;
            count.checked_mul(size_of::<f64>()).context("the selection has too many elements to draw")?
        ];
    Conversion::new(base, &f64::datatype())?.convert(bytes, &mut values, count)?;
    let (numbers, _) = values.as_chunks::<8>();
    Ok(numbers.iter().map(|bytes| native(*bytes)).collect())
}

#[expect(clippy::host_endian_bytes, reason = "the conversion wrote the native type")]
fn native(bytes: [u8; 8]) -> f64 {
    f64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other() {
        for (all, parts) in [(10, 3), (1000, 7), (5, 5), (u64::MAX, 100)] {
            for number in 0..parts {
                let start = start_of(number, all, parts);
                assert_eq!(part(start, all, parts), number, "{all} {parts}");
                assert!(start == 0 || part(start - 1, all, parts) == number - 1, "{all} {parts}");
            }
        }
        assert_eq!(part(0, 0, 5), 0);
    }
}
