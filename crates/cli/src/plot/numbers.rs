//! The elements of a dataset as numbers for plots, converted block by block.

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
