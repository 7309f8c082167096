//! Slices of arrays in the syntax of Rust's ranges.

mod cover;
mod plan;

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_engine::{Error, Result};
use hyperslab_exact::{self as exact, to_u64};

use crate::IntoSelection;
use crate::dataset::{outside_array, run_indexes};
use crate::rearrangement::AxisOrder;
use plan::Ascending;
pub(crate) use plan::{Grid, Sliced, selection};

/// A slice: the coordinates that a selection takes of one dimension. It is a single coordinate, a
/// range with or without a step, an index list or a boolean mask. Made by [`s!`](crate::s) and by
/// `From`. Negative numbers count from the end.
///
/// ```
/// use hyperslab::Slice;
/// let every_third = Slice::from(1..).step(3);
/// let rows = Slice::from([0, 4, -1]);
/// let good = Slice::from(vec![true, false, true]);
/// assert_ne!(rows, good);
/// assert_eq!(Slice::from(..).reversed(), Slice::from(..).step(-1));
/// # let _ = every_third;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    kind: SliceKind,
    step: u64,
    /// True if the steps begin at the end of the range.
    from_end: bool,
    /// True if the coordinates are in descending order.
    reversed: bool,
}

/// The step of a [`Slice`]: a distance between coordinates, and a direction. Made by `From`.
/// Negative numbers lead backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    distance: u64,
    is_negative: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SliceKind {
    /// One coordinate. The result does not have the dimension.
    One(Coordinate),
    /// A range. An `end` of `None` is the end of the dimension.
    Range { start: Coordinate, end: Option<Coordinate> },
    /// Coordinates in any order.
    Indices(Vec<Coordinate>),
    /// One value for each coordinate of the dimension.
    Mask(Vec<bool>),
}

/// A coordinate of a slice in a dimension whose size is not known yet. Negative coordinates count
/// from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coordinate {
    FromStart(u64),
    /// The distance from the end: 1 is the last coordinate.
    FromEnd(u64),
}

impl Coordinate {
    fn new(is_negative: bool, distance: u64) -> Self {
        if is_negative { Self::FromEnd(distance) } else { Self::FromStart(distance) }
    }

    /// Returns the coordinate after this coordinate in the dimension. Returns `None` if this
    /// coordinate is the last coordinate of the dimension, counted from the end.
    fn after(self) -> Option<Self> {
        match self {
            // Saturates, because no dimension has so many coordinates.
            Self::FromStart(distance) => Some(Self::FromStart(distance.saturating_add(1))),
            Self::FromEnd(distance) => {
                distance.checked_sub(1).filter(|remaining| *remaining > 0).map(Self::FromEnd)
            }
        }
    }

    /// Returns the coordinate in a dimension of the size `size`, counted from the start. Returns
    /// `None` if the coordinate lies before the start.
    fn within(self, size: u64) -> Option<u64> {
        match self {
            Self::FromStart(distance) => Some(distance),
            Self::FromEnd(distance) => size.checked_sub(distance),
        }
    }
}

/// The coordinates that a slice selects in a dimension of known size.
enum SlicePart {
    Regular { start: u64, count: u64, step: u64, single: bool, order: AxisOrder },
    List(Vec<u64>),
}

impl Slice {
    /// Returns a slice with every `step`-th coordinate of this slice, beginning with the first
    /// coordinate. A negative step begins with the last coordinate and leads backwards.
    ///
    /// ```
    /// use hyperslab::{Ix1, Slice, s};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let numbers = file.new_dataset("numbers").write(&[0, 1, 2, 3, 4, 5])?;
    /// assert_eq!(numbers.read::<i32, Ix1>(Slice::from(1..).step(2))?.to_vec(), [1, 3, 5]);
    /// assert_eq!(numbers.read::<i32, Ix1>(s![..5;-2])?.to_vec(), [4, 2, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn step(mut self, step: impl Into<Step>) -> Self {
        let step = step.into();
        self.step = step.distance;
        self.reversed ^= step.is_negative;
        self.from_end = self.reversed && step.distance > 1;
        self
    }

    /// Returns a slice with the coordinates of this slice in reverse order.
    ///
    /// ```
    /// use hyperslab::{Ix1, Slice};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let numbers = file.new_dataset("numbers").write(&[0, 1, 2, 3, 4, 5])?;
    /// assert_eq!(numbers.read::<i32, Ix1>(Slice::from(..).step(2).reversed())?.to_vec(), [4, 2, 0]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.reversed = !self.reversed;
        self
    }

    fn new(kind: SliceKind) -> Self {
        Self { kind, step: 1, from_end: false, reversed: false }
    }

    fn range(start: Coordinate, end: Option<Coordinate>) -> Self {
        Self::new(SliceKind::Range { start, end })
    }

    /// Returns the coordinates that the slice selects in a dimension of the size `size`. Returns
    /// `None` if the coordinates exceed the dimension.
    fn within(&self, size: u64) -> Option<SlicePart> {
        let inside = |at: Coordinate| at.within(size).filter(|at| *at < size);
        match &self.kind {
            SliceKind::One(at) => Some(SlicePart::Regular {
                start: inside(*at)?,
                count: 1,
                step: self.step,
                single: true,
                order: AxisOrder::Ascending,
            }),
            SliceKind::Range { start, end } => {
                let start = start.within(size)?;
                let end = end.map_or(Some(size), |end| end.within(size))?;
                let length = end.checked_sub(start).filter(|_| end <= size)?;
                let step = self.step.max(1);
                let count = length.div_ceil(step);
                // The steps cover at most the range, and cannot overflow.
                let last = length.checked_sub(1).filter(|_| self.from_end);
                let skipped = last.map_or(0, |last| last % step);
                let is_reversed = self.reversed && count > 1;
                let order = if is_reversed { AxisOrder::Descending } else { AxisOrder::Ascending };
                Some(SlicePart::Regular {
                    start: start + skipped,
                    count,
                    step: self.step,
                    single: false,
                    order,
                })
            }
            SliceKind::Indices(indices) => {
                let list: Option<Vec<u64>> = indices.iter().map(|at| inside(*at)).collect();
                list.map(|list| self.list(list))
            }
            SliceKind::Mask(mask) => {
                let selected = (0..size).zip(mask).filter(|(_, selected)| **selected);
                (to_u64(mask.len()) == size).then(|| self.list(selected.map(|(at, _)| at).collect()))
            }
        }
    }

    fn list(&self, mut list: Vec<u64>) -> SlicePart {
        if self.reversed {
            list.reverse();
        }
        SlicePart::List(list)
    }
}

impl SlicePart {
    /// Returns the number of coordinates that the slice selects.
    fn len(&self) -> u64 {
        match self {
            Self::Regular { count, .. } => *count,
            Self::List(list) => to_u64(list.len()),
        }
    }

    /// Returns the selected coordinates in ascending order, each once, and the order of the slice.
    fn ascending(self) -> (Ascending, AxisOrder) {
        let list = match self {
            Self::Regular { start, count, step, order, .. } => {
                return (Ascending::Regular { start, count, step }, order);
            }
            Self::List(list) => list,
        };
        if list.is_sorted_by(|one, next| one < next) {
            return (Ascending::of(&list), AxisOrder::Ascending);
        }
        let mut once = list.clone();
        once.sort_unstable();
        once.dedup();
        // The search finds each coordinate.
        let numbers = list.iter().map(|at| once.binary_search(at).unwrap_or_else(|number| number));
        let is_descending = list.is_sorted_by(|one, next| one > next);
        let order = if is_descending { AxisOrder::Descending } else { AxisOrder::Listed(numbers.collect()) };
        (Ascending::of(&once), order)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::range(Coordinate::FromStart(0), None)
    }
}

/// Implements `From` for owned lists and arrays of items.
macro_rules! lists {
    ($item:ty) => {
        impl From<Vec<$item>> for Slice {
            fn from(items: Vec<$item>) -> Self {
                Self::from(items.as_slice())
            }
        }

        impl From<&Vec<$item>> for Slice {
            fn from(items: &Vec<$item>) -> Self {
                Self::from(items.as_slice())
            }
        }

        impl<const N: usize> From<[$item; N]> for Slice {
            fn from(items: [$item; N]) -> Self {
                Self::from(items.as_slice())
            }
        }

        impl<const N: usize> From<&[$item; N]> for Slice {
            fn from(items: &[$item; N]) -> Self {
                Self::from(items.as_slice())
            }
        }
    };
}

impl From<&[bool]> for Slice {
    fn from(mask: &[bool]) -> Self {
        Self::new(SliceKind::Mask(mask.to_vec()))
    }
}

lists! { bool }

/// Implements `From` for numbers, ranges of numbers and lists of numbers. `$coordinate` converts a
/// number to a [`Coordinate`].
macro_rules! from_numbers {
    ($coordinate:expr; $($number:ty)*) => {$(
        impl From<$number> for Step {
            fn from(step: $number) -> Self {
                match $coordinate(step) {
                    Coordinate::FromStart(distance) => Self { distance, is_negative: false },
                    Coordinate::FromEnd(distance) => Self { distance, is_negative: true },
                }
            }
        }

        impl From<$number> for Coordinate {
            fn from(at: $number) -> Self {
                $coordinate(at)
            }
        }

        impl From<$number> for Slice {
            fn from(at: $number) -> Self {
                Self::new(SliceKind::One(at.into()))
            }
        }

        impl From<Range<$number>> for Slice {
            fn from(range: Range<$number>) -> Self {
                Self::range(range.start.into(), Some(range.end.into()))
            }
        }

        impl From<RangeInclusive<$number>> for Slice {
            fn from(range: RangeInclusive<$number>) -> Self {
                let (start, last) = range.into_inner();
                Self::range(start.into(), Coordinate::from(last).after())
            }
        }

        impl From<RangeFrom<$number>> for Slice {
            fn from(range: RangeFrom<$number>) -> Self {
                Self::range(range.start.into(), None)
            }
        }

        impl From<RangeTo<$number>> for Slice {
            fn from(range: RangeTo<$number>) -> Self {
                Self::range(Coordinate::FromStart(0), Some(range.end.into()))
            }
        }

        impl From<RangeToInclusive<$number>> for Slice {
            fn from(range: RangeToInclusive<$number>) -> Self {
                Self::from(0..=range.end)
            }
        }

        impl From<&[$number]> for Slice {
            fn from(indices: &[$number]) -> Self {
                Self::new(SliceKind::Indices(indices.iter().map(|at| (*at).into()).collect()))
            }
        }

        lists! { $number }
    )*};
}

from_numbers! { |at: i32| Coordinate::new(at < 0, at.unsigned_abs().into()); i32 }
from_numbers! { |at: i64| Coordinate::new(at < 0, at.unsigned_abs()); i64 }
from_numbers! { |at: isize| Coordinate::new(at < 0, to_u64(at.unsigned_abs())); isize }
from_numbers! { |at: u32| Coordinate::FromStart(at.into()); u32 }
from_numbers! { Coordinate::FromStart; u64 }
from_numbers! { |at: usize| Coordinate::FromStart(to_u64(at)); usize }

/// Makes an array of one [`Slice`] for each dimension: a coordinate, a range, a range with a step
/// after a semicolon, an index list or a boolean mask. Negative numbers count from the end, and
/// negative steps lead backwards.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
/// use hyperslab::{File, Ix0, Ix1, s};
/// let temperature = File::open(path)?.dataset("series/temperature")?;
/// let day = temperature.read::<f64, Ix1>(s![0..24])?;
/// assert_eq!(day.shape(), [24]);
/// let noons = temperature.read::<f64, Ix1>(s![12..;24])?;
/// assert_eq!(noons.shape(), [365]);
/// let last = temperature.read::<f64, Ix0>(s![-1])?;
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

/// Sets the selected elements of an array in memory to `value`. `values` contains all elements of
/// the array of the shape `dims` in C order.
///
/// ```
/// let mut values = [0; 6];
/// hyperslab::fill(&mut values, &[2, 3], (.., 1), &7)?;
/// assert_eq!(values, [0, 7, 0, 0, 7, 0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` has another length than an
/// array of the shape `dims`, or the selection exceeds that shape.
pub fn fill<T: Clone>(
    values: &mut [T],
    dims: &[u64],
    selection: impl IntoSelection,
    value: &T,
) -> Result<()> {
    if exact::product("number of elements", dims.iter().copied()) != Ok(to_u64(values.len())) {
        return Err(Error::Misuse(format!(
            "the slice has {} elements, which do not match an array of the shape {dims:?}",
            values.len()
        )));
    }
    for run in selection.into_selection(dims)?.selection().linear_runs(dims)? {
        values.get_mut(run_indexes(&run)?).ok_or_else(outside_array)?.fill(value.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hyperslab, RegularHyperslab, Selection};

    #[test]
    fn slices_are_ranges_with_steps() {
        let shape = |slices: &[Slice]| selection(slices, &[10, 7, 4]).map(|sliced| sliced.shape);
        assert_eq!(shape(&crate::s![0..10, ..;2, 3]).unwrap(), [10, 4]);
        assert_eq!(shape(&crate::s![-3.., ..=-1, 1..=2]).unwrap(), [3, 7, 2]);
        assert_eq!(shape(&crate::s![5..5, 2_usize..6;3, ..2_u64,]).unwrap(), [0, 2, 2]);
        for wrong in
            [crate::s![0..11, .., 0], crate::s![0, 0, 4], crate::s![0, 0, -5], crate::s![-1..3, 0, 0]]
        {
            assert!(shape(&wrong).is_err(), "{wrong:?}");
        }
        assert!(shape(&crate::s![..;0, 0, 0]).is_err() && shape(&crate::s![0]).is_err());
        let none = selection(&crate::s![], &[]).unwrap();
        assert_eq!((none.selection, none.shape), (Selection::All, vec![]));
    }

    #[test]
    fn coordinates_beyond_63_bits_are_exact() {
        let size = u64::MAX - 1;
        let start = |slices: &[Slice]| match selection(slices, &[size]).unwrap().selection {
            Selection::Hyperslab(Hyperslab::Regular(slab)) => (slab.start[0], slab.block[0]),
            other => panic!("{other:?}"),
        };
        assert_eq!(start(&crate::s![-1]), (size - 1, 1));
        assert_eq!(start(&crate::s![(1_u64 << 63) + 5]), ((1 << 63) + 5, 1));
        assert_eq!(start(&crate::s![1..=size - 1]), (1, size - 1));
        assert!(selection(&crate::s![0..=u64::MAX], &[size]).is_err());
        assert!(selection(&crate::s![size], &[size]).is_err());
    }

    #[test]
    fn a_slice_is_a_regular_hyperslab() {
        let sliced = selection(&crate::s![1..9;3, -2..], &[10, 7]).unwrap();
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = sliced.selection else { panic!("irregular") };
        assert_eq!((slab.start[0], slab.stride[0], slab.count[0], slab.block[0]), (1, 3, 3, 1));
        assert_eq!((slab.start[1], slab.count[1], slab.block[1]), (5, 1, 2));
    }

    #[test]
    fn lists_are_blocks_or_regular() {
        let slices = |slices: &[Slice]| selection(slices, &[4, 7]).unwrap();
        let sliced = slices(&crate::s![..;2, [1, 2, 5]]);
        assert_eq!((sliced.shape, sliced.rearrangement), (vec![2, 3], None));
        assert_eq!(sliced.selection.element_count(&[4, 7]).unwrap(), 6);
        let Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) = sliced.selection else { panic!() };
        assert_eq!(blocks.len(), 4);
        let sliced = slices(&crate::s![[3, 1], [5, -7, 5]]);
        assert_eq!(sliced.shape, [2, 3]);
        assert!(sliced.rearrangement.is_some());
        let slab = RegularHyperslab::strided(&[1, 0], &[2, 5], &[2, 2]);
        assert_eq!(sliced.selection, Selection::Hyperslab(Hyperslab::Regular(slab)));
        let none: [usize; 0] = [];
        let sliced = slices(&crate::s![[3, 0], none]);
        assert_eq!((sliced.selection, sliced.shape), (Selection::None, vec![2, 0]));
        assert!(selection(&crate::s![[1, 2];2], &[4]).is_err());
        let odd: Vec<u64> = (0..10_000).map(|number| number * number).collect();
        let error = selection(&crate::s![&odd, &odd], &[1 << 40, 1 << 40]).err().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::Limit);
    }

    #[test]
    fn negative_steps_begin_at_the_end() {
        let steps = |slice: Slice| {
            let sliced = selection(&[slice], &[10]).unwrap();
            let Selection::Hyperslab(Hyperslab::Regular(slab)) = sliced.selection else { panic!() };
            (slab.start[0], slab.stride[0], sliced.shape[0], sliced.rearrangement.is_some())
        };
        assert_eq!(steps(Slice::from(..).step(-3)), (0, 3, 4, true));
        assert_eq!(steps(Slice::from(1..9).step(-3)), (2, 3, 3, true));
        assert_eq!(steps(Slice::from(1..9).step(3).reversed()), (1, 3, 3, true));
        assert_eq!(steps(Slice::from(1..9).reversed().step(3)), (2, 3, 3, true));
        assert_eq!(steps(Slice::from(1..9).step(-3).reversed()), (2, 3, 3, false));
        assert_eq!(steps(Slice::from(4..5).step(-1)), (4, 1, 1, false));
        assert_eq!(steps(Slice::from(4..4).step(-2)).2, 0);
        assert!(selection(&[Slice::from(..).step(0)], &[10]).is_err());
    }
}
