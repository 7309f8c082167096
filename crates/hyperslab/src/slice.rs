//! Slices of arrays in the syntax of Rust's ranges.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_engine::{Error, Result};
use hyperslab_exact::{self as exact, to_u64};

use crate::dataset::{outside_array, run_indexes};
use crate::{Block, Hyperslab, IntoSelection, Points, RegularHyperslab, Selection};

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
/// # let _ = every_third;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    kind: SliceKind,
    step: u64,
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
    Regular { start: u64, count: u64, step: u64, single: bool },
    List(Vec<u64>),
}

impl Slice {
    /// Returns a slice with every `step`-th coordinate of this slice, beginning with the first
    /// coordinate.
    #[must_use]
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    fn new(kind: SliceKind) -> Self {
        Self { kind, step: 1 }
    }

    fn range(start: Coordinate, end: Option<Coordinate>) -> Self {
        Self::new(SliceKind::Range { start, end })
    }

    /// Returns the coordinates that the slice selects in a dimension of the size `size`. Returns
    /// `None` if the coordinates exceed the dimension.
    fn within(&self, size: u64) -> Option<SlicePart> {
        let inside = |at: Coordinate| at.within(size).filter(|at| *at < size);
        match &self.kind {
            SliceKind::One(at) => {
                Some(SlicePart::Regular { start: inside(*at)?, count: 1, step: self.step, single: true })
            }
            SliceKind::Range { start, end } => {
                let start = start.within(size)?;
                let end = end.map_or(Some(size), |end| end.within(size))?;
                let length = end.checked_sub(start).filter(|_| end <= size)?;
                let count = length.div_ceil(self.step.max(1));
                Some(SlicePart::Regular { start, count, step: self.step, single: false })
            }
            SliceKind::Indices(indices) => {
                indices.iter().map(|at| inside(*at)).collect::<Option<_>>().map(SlicePart::List)
            }
            SliceKind::Mask(mask) => {
                let selected = (0..size).zip(mask).filter(|(_, selected)| **selected);
                (to_u64(mask.len()) == size).then(|| SlicePart::List(selected.map(|(at, _)| at).collect()))
            }
        }
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

    /// Returns the coordinates that the slice selects, in order.
    fn coordinates(&self) -> Vec<u64> {
        match self {
            Self::Regular { start, count, step, .. } => {
                // Cannot overflow, because the last coordinate lies in the dimension.
                (0..*count).map(|number| *start + number * *step).collect()
            }
            Self::List(list) => list.clone(),
        }
    }

    /// Returns the coordinates that the slice selects as blocks, each with its first and its last
    /// coordinate. Returns `None` unless the coordinates ascend.
    fn blocks(&self) -> Option<Vec<(u64, u64)>> {
        if let Self::Regular { start, count, step: 1, .. } = self {
            let last = start.checked_add(count.checked_sub(1)?)?;
            return Some(vec![(*start, last)]);
        }
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for at in self.coordinates() {
            match blocks.last_mut() {
                Some((_, last)) if *last >= at => return None,
                Some((_, last)) if last.checked_add(1) == Some(at) => *last = at,
                _ => blocks.push((at, at)),
            }
        }
        Some(blocks)
    }
}

/// Returns the selection of elements that one slice per dimension describes in an array of the
/// shape `dims`, and the shape of the result.
pub(crate) fn selection(slices: &[Slice], dims: &[u64]) -> Result<(Selection, Vec<u64>)> {
    if slices.len() != dims.len() {
        let message = format!(
            "the selection has {} slices, but the dataset has {} dimensions",
            slices.len(),
            dims.len()
        );
        return Err(Error::Misuse(message));
    }
    let mut parts = Vec::new();
    for (dimension, (slice, size)) in slices.iter().zip(dims).enumerate() {
        let part = slice.within(*size).ok_or_else(|| {
            Error::Misuse(format!("the slice exceeds the dimension {dimension}, whose size is {size}"))
        })?;
        let is_list = matches!(part, SlicePart::List(_));
        if slice.step == 0 || (is_list && slice.step != 1) {
            return Err(Error::Misuse(format!(
                "the slice in dimension {dimension} cannot have the step {}",
                slice.step
            )));
        }
        parts.push(part);
    }
    let shape = parts
        .iter()
        .filter(|part| !matches!(part, SlicePart::Regular { single: true, .. }))
        .map(SlicePart::len)
        .collect();
    if dims.is_empty() {
        return Ok((Selection::All, shape));
    }
    match parts.iter().filter(|part| matches!(part, SlicePart::List(_))).count() {
        0 => Ok((regular(&parts), shape)),
        1 => Ok((listed(&parts)?, shape)),
        lists => Err(Error::Misuse(format!(
            "the selection has {lists} index lists or masks, but only one dimension can have an index list \
             or a mask"
        ))),
    }
}

/// Returns the selection of elements for one slice per dimension, none of which is a list of
/// coordinates.
fn regular(parts: &[SlicePart]) -> Selection {
    let mut slab = RegularHyperslab::region(&[], &[]);
    for part in parts {
        let SlicePart::Regular { start, count, step, .. } = part else { continue };
        let (count, block) = if *step == 1 { (1, *count) } else { (*count, 1) };
        slab.start.push(*start);
        slab.stride.push(*step);
        slab.count.push(count);
        slab.block.push(block);
    }
    Selection::Hyperslab(Hyperslab::Regular(slab))
}

/// Returns the selection of elements for one slice per dimension, one of which is a list of
/// coordinates. The selection consists of blocks if the list ascends, otherwise of points.
fn listed(parts: &[SlicePart]) -> Result<Selection> {
    let rank = parts.len();
    if parts.iter().any(|part| part.len() == 0) {
        return Ok(Selection::None);
    }
    let Some(blocks) = parts.iter().map(SlicePart::blocks).collect::<Option<Vec<_>>>() else {
        let lists: Vec<Vec<u64>> = parts.iter().map(SlicePart::coordinates).collect();
        let points = product(&lists)?;
        return Ok(Selection::Points(Points { rank, coordinates: points.concat() }));
    };
    let corners = product(&blocks)?.into_iter().map(|corners| {
        let (start, end): (Vec<u64>, Vec<u64>) = corners.into_iter().unzip();
        Block { start: start.into(), end: end.into() }
    });
    Ok(Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: corners.collect() }))
}

/// Returns all combinations of items that take one item from each list, in C order.
fn product<T: Copy>(lists: &[Vec<T>]) -> Result<Vec<Vec<T>>> {
    let too_many = |count: u64| Error::Limit {
        subject: "blocks and points of an index list".into(),
        got: count,
        limit: MAX_PARTS,
    };
    let mut sizes = lists.iter().map(|list| to_u64(list.len()));
    let count = sizes.try_fold(1_u64, u64::checked_mul);
    count.filter(|count| *count <= MAX_PARTS).ok_or_else(|| too_many(count.unwrap_or(u64::MAX)))?;
    let mut all = vec![Vec::new()];
    for list in lists {
        let longer = all.iter().flat_map(|before: &Vec<T>| {
            list.iter().map(move |item| before.iter().copied().chain([*item]).collect())
        });
        all = longer.collect();
    }
    Ok(all)
}

/// The largest number of blocks or points in the selection that an index list describes.
const MAX_PARTS: u64 = 1 << 24;

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
/// after a semicolon, an index list or a boolean mask. Negative numbers count from the end.
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
    fn coordinates_beyond_63_bits_are_exact() {
        let size = u64::MAX - 1;
        let start = |slices: &[Slice]| match selection(slices, &[size]).unwrap().0 {
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
        let (selection, _) = selection(&crate::s![1..9;3, -2..], &[10, 7]).unwrap();
        let Selection::Hyperslab(Hyperslab::Regular(slab)) = selection else { panic!("{selection:?}") };
        assert_eq!((slab.start[0], slab.stride[0], slab.count[0], slab.block[0]), (1, 3, 3, 1));
        assert_eq!((slab.start[1], slab.count[1], slab.block[1]), (5, 1, 2));
    }

    #[test]
    fn ascending_lists_are_blocks_and_others_points() {
        let (blocks, shape) = selection(&crate::s![..;2, [1, 2, 5]], &[4, 7]).unwrap();
        assert_eq!((shape, blocks.element_count(&[4, 7]).unwrap()), (vec![2, 3], 6));
        let Selection::Hyperslab(Hyperslab::Irregular { blocks, .. }) = blocks else { panic!("{blocks:?}") };
        assert_eq!(blocks.len(), 4);
        let (points, shape) = selection(&crate::s![1, [5, -7, 5]], &[4, 7]).unwrap();
        assert_eq!(shape, [3]);
        assert_eq!(points, Selection::Points(Points::from_rows([[1, 5], [1, 0], [1, 5]])));
        let none: [usize; 0] = [];
        assert_eq!(selection(&crate::s![.., none], &[4, 7]).unwrap(), (Selection::None, vec![4, 0]));
        assert!(selection(&crate::s![[1, 2];2], &[4]).is_err());
    }
}
