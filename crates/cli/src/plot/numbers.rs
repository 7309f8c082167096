//! Elements as numbers, block by block; and casts between numbers that are kept in bounds.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use hyperslab::datatype::DatatypeClass;
use hyperslab::{Dataset, File};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{self, escape};
use crate::selection::Taken;
use crate::selection::blocks::Blocks;

/// Elements that are read of any file; of larger ones, more for each byte.
const ELEMENTS_AT_LEAST: u64 = 1 << 28;
const ELEMENTS_PER_BYTE: u64 = 4096;

/// A whole number as one with a fraction.
#[expect(clippy::cast_precision_loss, reason = "what is drawn has fewer digits")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

/// The whole number next to one that may have a fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts stay within the type"
)]
pub(super) fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// A place in memory.
pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A length.
pub(super) fn long(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// In which of `parts` equal parts of `all` the place `at` is.
pub(super) fn part(at: u64, all: u64, parts: u64) -> u64 {
    let scaled = u128::from(at).saturating_mul(u128::from(parts)).checked_div(u128::from(all)).unwrap_or(0);
    u64::try_from(scaled).unwrap_or(u64::MAX).min(parts.saturating_sub(1))
}

/// The first place in that part.
pub(super) fn start_of(number: u64, all: u64, parts: u64) -> u64 {
    let product = u128::from(number).saturating_mul(u128::from(all));
    u64::try_from(product.div_ceil(u128::from(parts.max(1)))).unwrap_or(u64::MAX)
}

/// A bar on the standard error while so many are looked at.
pub(super) fn progress(all: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(all);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}") {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Refuses elements that cannot be drawn.
pub(super) fn check(dataset: &Dataset) -> Result<()> {
    let datatype = dataset.datatype();
    if let DatatypeClass::Compound(compound) = &datatype.class {
        let names = compound.members.iter().map(|member| escape(&member.name));
        let names = output::cut(&names.collect::<Vec<_>>().join(", "), 200);
        bail!("the elements of `{}` have members: choose one with --field, of {names}", dataset.name());
    }
    if datatype.is_number() || matches!(datatype.class, DatatypeClass::Enumeration(_)) {
        return Ok(());
    }
    bail!("the elements of `{}` are no numbers, but {datatype}", dataset.name())
}

/// Gives the selected elements, or a member of them, to `visit`, in C order and in blocks of bounded size.
pub(super) fn each(
    file: &File,
    dataset: &Dataset,
    (taken, field): (&[Taken], Option<&str>),
    mut visit: impl FnMut(&[f64]),
) -> Result<()> {
    if field.is_none() {
        check(dataset)?;
    }
    let count = taken.iter().fold(1_u64, |count, dimension| count.saturating_mul(dimension.count));
    let most = file.info().length.saturating_mul(ELEMENTS_PER_BYTE).max(ELEMENTS_AT_LEAST);
    if count > most {
        bail!(
            "{count} elements are more than the file can have: select some with -s, such as every 1000th by ::1000, or show \
             with --occupied where they are"
        );
    }
    let bar = progress(count, "reading");
    let base = match &dataset.datatype().class {
        DatatypeClass::Enumeration(enumeration) => Some(enumeration.base.clone()),
        _ => None,
    };
    Blocks::new(dataset, taken.to_vec()).for_each_selection(|selection| {
        let values = match (&base, field) {
            (_, Some(field)) => dataset.field(field)?.read_raw::<f64>(selection)?,
            (None, None) => dataset.read_stored(selection)?.convert::<f64>()?,
            (Some(base), None) => enumerated(base, dataset.read_stored(selection)?.bytes())?,
        };
        bar.inc(long(values.len()));
        visit(&values);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(())
}

/// The numbers behind the names of an enumeration.
fn enumerated(base: &hyperslab::Datatype, bytes: &[u8]) -> Result<Vec<f64>> {
    use hyperslab::H5Type as _;
    use hyperslab::datatype::convert::Conversion;
    let size = index(u64::from(base.size)).max(1);
    let count = bytes.len().checked_div(size).unwrap_or(0);
    let mut values = vec![0_u8; count.checked_mul(size_of::<f64>()).context("too many elements")?];
    Conversion::new(base, &f64::datatype())?.convert(bytes, &mut values, count)?;
    let (numbers, _) = values.as_chunks::<8>();
    Ok(numbers.iter().map(|bytes| native(*bytes)).collect())
}

#[expect(clippy::host_endian_bytes, reason = "the conversion was to the type of this machine")]
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
