//! Slices of arrays in the words of Rust's ranges.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_engine::{Error, Result};

use crate::{Hyperslab, RegularHyperslab, Selection};

/// What is taken of one dimension; made by [`s!`](crate::s). Negative numbers count from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    start: i64,
    /// `None` up to the end of the dimension.
    end: Option<i64>,
    step: u64,
    /// One element, whose dimension the result does not have.
    single: bool,
}

impl Slice {
    /// Every `step`-th element, the first one included.
    #[must_use]
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    fn range(start: i64, end: Option<i64>) -> Self {
        Self { start, end, step: 1, single: false }
    }

    /// First coordinate and number of coordinates in a dimension of `size`.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        let end_of = i64::try_from(size).unwrap_or(i64::MAX);
        let place = |at: i64| {
            let from_start = if at < 0 { at.checked_add(end_of)? } else { at };
            u64::try_from(from_start).ok()
        };
        let start = place(self.start)?;
        if self.single {
            return (start < size).then_some((start, 1));
        }
        let end = self.end.map_or(Some(size), place)?;
        let length = end.checked_sub(start).filter(|_| end <= size)?;
        Some((start, length.div_ceil(self.step.max(1))))
    }
}

/// The elements of a slice of an array of the shape `dims`, and the shape of the result.
pub(crate) fn selection(slices: &[Slice], dims: &[u64]) -> Result<(Selection, Vec<u64>)> {
    if slices.len() != dims.len() {
        let message = format!("{} slices for {} dimensions", slices.len(), dims.len());
        return Err(Error::Misuse(message));
    }
    let mut shape = Vec::new();
    let mut slab = RegularHyperslab::region(&[], &[]);
    for (dimension, (slice, size)) in slices.iter().zip(dims).enumerate() {
        if slice.step == 0 {
            return Err(Error::Misuse(format!("a step of 0 in dimension {dimension}")));
        }
        let (start, count) = slice.within(*size).ok_or_else(|| {
            Error::Misuse(format!("the slice leaves dimension {dimension}, whose size is {size}"))
        })?;
        if !slice.single {
            shape.push(count);
        }
        let (count, block) = if slice.step == 1 { (1, count) } else { (count, 1) };
        slab.start.push(start);
        slab.stride.push(slice.step);
        slab.count.push(count);
        slab.block.push(block);
    }
    if dims.is_empty() {
        return Ok((Selection::All, shape));
    }
    Ok((Selection::Hyperslab(Hyperslab::Regular(slab)), shape))
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::range(0, None)
    }
}

/// Numbers and ranges of them; those that no signed 64-bit number holds lie outside of every dimension.
macro_rules! from_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Slice {
            fn from(at: $number) -> Self {
                let start = i64::try_from(at).unwrap_or(i64::MAX);
                Self { start, end: None, step: 1, single: true }
            }
        }

        impl From<Range<$number>> for Slice {
            fn from(range: Range<$number>) -> Self {
                let place = |at| i64::try_from(at).unwrap_or(i64::MAX);
                Self::range(place(range.start), Some(place(range.end)))
            }
        }

        impl From<RangeInclusive<$number>> for Slice {
            fn from(range: RangeInclusive<$number>) -> Self {
                let (start, last) = range.into_inner();
                let place = |at| i64::try_from(at).unwrap_or(i64::MAX);
                // The last one counted from the end is the end itself.
                let end = Some(place(last).saturating_add(1)).filter(|end| *end != 0);
                Self::range(place(start), end)
            }
        }

        impl From<RangeFrom<$number>> for Slice {
            fn from(range: RangeFrom<$number>) -> Self {
                Self::range(i64::try_from(range.start).unwrap_or(i64::MAX), None)
            }
        }

        impl From<RangeTo<$number>> for Slice {
            fn from(range: RangeTo<$number>) -> Self {
                Self::range(0, Some(i64::try_from(range.end).unwrap_or(i64::MAX)))
            }
        }

        impl From<RangeToInclusive<$number>> for Slice {
            fn from(range: RangeToInclusive<$number>) -> Self {
                Self::from(0..=range.end)
            }
        }
    )*};
}

from_numbers! { i32 i64 isize u32 u64 usize }

/// A slice of an array, dimension by dimension: a range, a range with a step behind a semicolon, or one
/// coordinate. Negative numbers count from the end.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// use hyperslab::{File, s};
/// let temperature = File::open(path)?.dataset("series/temperature")?;
/// let day = temperature.read_slice::<f64>(s![0..24])?;
/// assert_eq!(day.shape(), [24]);
/// let noons = temperature.read_slice::<f64>(s![12..;24])?;
/// assert_eq!(noons.shape(), [365]);
/// let last = temperature.read_slice::<f64>(s![-1])?;
/// assert_eq!(last.ndim(), 0);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@ [$($done:expr),*]) => {{
        let slices: [$crate::Slice; _] = [$($done),*];
        slices
    }};
    (@ [$($done:expr),*] $range:expr ; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::Slice::from($range).step($step)] $($($rest)*)?)
    };
    (@ [$($done:expr),*] $range:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::Slice::from($range)] $($($rest)*)?)
    };
    ($($slices:tt)*) => { $crate::s!(@ [] $($slices)*) };
}

/// Makes the selected elements of an array in memory a value; the others stay as they are. The array has the shape
/// `dims` and lies in C order.
///
/// ```
/// use hyperslab::{Region, Selection, fill};
/// let mut values = [0; 6];
/// let column = Selection::region(&Region::new(&[0, 1], &[2, 1]).map_err(hyperslab::Error::from)?);
/// fill(&mut values, &[2, 3], &column, &7)?;
/// assert_eq!(values, [0, 7, 0, 0, 7, 0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` has another length than an array of that shape, or the
/// selection reaches out of it.
pub fn fill<T: Clone>(values: &mut [T], dims: &[u64], selection: &Selection, value: &T) -> Result<()> {
    let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    if elements != Some(values.len() as u64) {
        return Err(Error::Misuse(format!("a slice of {} for an array of the shape {dims:?}", values.len())));
    }
    for run in selection.linear_runs(dims)? {
        let range = usize::try_from(run.offset).ok().zip(usize::try_from(run.length).ok());
        let place = range.and_then(|(start, length)| values.get_mut(start..)?.get_mut(..length));
        place.unwrap_or_default().fill(value.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_ranges_with_steps() {
        let shape = |slices: &[Slice]| selection(slices, &[10, 7, 4]).map(|(_, shape)| shape);
        assert_eq!(shape(&crate::s![0..10, ..;2, 3]).unwrap(), [10, 4]);
        assert_eq!(shape(&crate::s![-3.., ..=-1, 1..=2]).unwrap(), [3, 7, 2]);
        assert_eq!(shape(&crate::s![5..5, 2_usize..6;3, ..2_u64,]).unwrap(), [0, 2, 2]);
        for wrong in
            [crate::s![0..11, .., 0], crate::s![0, 0, 4], crate::s![0, 0, -5], crate::s![-1..3, 0, 0]]
        {
            assert!(shape(&wrong).is_err(), "{wrong:?}");
        }
        assert!(shape(&crate::s![..;0, 0, 0]).is_err() && shape(&crate::s![0]).is_err());
        assert_eq!(selection(&crate::s![], &[]).unwrap(), (Selection::All, vec![]));
    }

    #[test]
    fn a_slice_is_a_regular_hyperslab() {
        let (selection, _) = selection(&crate::s![1..9;3, -2..], &[10, 7]).unwrap();
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = selection else { panic!("{selection:?}") };
        assert_eq!((slab.start[0], slab.stride[0], slab.count[0], slab.block[0]), (1, 3, 3, 1));
        assert_eq!((slab.start[1], slab.count[1], slab.block[1]), (5, 1, 2));
    }
}
