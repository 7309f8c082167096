//! Slices of arrays in the words of Rust's ranges.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use hyperslab_engine::{Error, Result};

use crate::{Block, Hyperslab, IntoSelection, Points, RegularHyperslab, Selection};

/// The coordinates that are taken of one dimension: a number, a range with or without a step, an index list or a boolean
/// mask. Made by [`s!`](crate::s) and by `From`. Negative numbers count from the end.
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
    taken: Taken,
    step: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Taken {
    /// One coordinate, whose dimension the result does not have.
    One(i64),
    /// An `end` of `None` is the end of the dimension.
    Range { start: i64, end: Option<i64> },
    /// Coordinates in any order.
    Indices(Vec<i64>),
    /// A value for each coordinate.
    Mask(Vec<bool>),
}

/// The coordinates of a slice in a dimension of known size.
enum Part {
    Regular { start: u64, count: u64, step: u64, single: bool },
    List(Vec<u64>),
}

impl Slice {
    /// Returns the slice with every `step`-th coordinate only, the first one included.
    #[must_use]
    pub fn step(mut self, step: u64) -> Self {
        self.step = step;
        self
    }

    fn new(taken: Taken) -> Self {
        Self { taken, step: 1 }
    }

    fn range(start: i64, end: Option<i64>) -> Self {
        Self::new(Taken::Range { start, end })
    }

    /// Returns the coordinates in a dimension of `size`; `None` if they reach out of it.
    fn within(&self, size: u64) -> Option<Part> {
        let end_of = i64::try_from(size).unwrap_or(i64::MAX);
        let place = |at: i64| {
            let from_start = if at < 0 { at.checked_add(end_of)? } else { at };
            u64::try_from(from_start).ok()
        };
        let inside = |at: i64| place(at).filter(|at| *at < size);
        match &self.taken {
            Taken::One(at) => {
                Some(Part::Regular { start: inside(*at)?, count: 1, step: self.step, single: true })
            }
            Taken::Range { start, end } => {
                let start = place(*start)?;
                let end = end.map_or(Some(size), place)?;
                let length = end.checked_sub(start).filter(|_| end <= size)?;
                let count = length.div_ceil(self.step.max(1));
                Some(Part::Regular { start, count, step: self.step, single: false })
            }
            Taken::Indices(indices) => {
                indices.iter().map(|at| inside(*at)).collect::<Option<_>>().map(Part::List)
            }
            Taken::Mask(mask) => {
                let selected = (0..size).zip(mask).filter(|(_, selected)| **selected);
                (mask.len() as u64 == size).then(|| Part::List(selected.map(|(at, _)| at).collect()))
            }
        }
    }
}

impl Part {
    /// The number of coordinates.
    fn len(&self) -> u64 {
        match self {
            Self::Regular { count, .. } => *count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// The coordinates, in order.
    fn coordinates(&self) -> Vec<u64> {
        match self {
            Self::Regular { start, count, step, .. } => {
                (0..*count).filter_map(|number| number.checked_mul(*step)?.checked_add(*start)).collect()
            }
            Self::List(list) => list.clone(),
        }
    }

    /// The coordinates as blocks, from the first to the last coordinate of each; `None` if they do not ascend.
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

/// Returns the elements of slices of an array of the shape `dims`, and the shape of the result.
pub(crate) fn selection(slices: &[Slice], dims: &[u64]) -> Result<(Selection, Vec<u64>)> {
    if slices.len() != dims.len() {
        let message = format!("{} slices for {} dimensions", slices.len(), dims.len());
        return Err(Error::Misuse(message));
    }
    let mut parts = Vec::new();
    for (dimension, (slice, size)) in slices.iter().zip(dims).enumerate() {
        let part = slice.within(*size).ok_or_else(|| {
            Error::Misuse(format!("the slice leaves dimension {dimension}, whose size is {size}"))
        })?;
        let is_list = matches!(part, Part::List(_));
        if slice.step == 0 || (is_list && slice.step != 1) {
            return Err(Error::Misuse(format!("a step of {} in dimension {dimension}", slice.step)));
        }
        parts.push(part);
    }
    let shape = parts
        .iter()
        .filter(|part| !matches!(part, Part::Regular { single: true, .. }))
        .map(Part::len)
        .collect();
    if dims.is_empty() {
        return Ok((Selection::All, shape));
    }
    match parts.iter().filter(|part| matches!(part, Part::List(_))).count() {
        0 => Ok((regular(&parts), shape)),
        1 => Ok((listed(&parts)?, shape)),
        lists => Err(Error::Misuse(format!("{lists} index lists or masks; one dimension may have one"))),
    }
}

/// Returns the elements of parts without lists.
fn regular(parts: &[Part]) -> Selection {
    let mut slab = RegularHyperslab::region(&[], &[]);
    for part in parts {
        let Part::Regular { start, count, step, .. } = part else { continue };
        let (count, block) = if *step == 1 { (1, *count) } else { (*count, 1) };
        slab.start.push(*start);
        slab.stride.push(*step);
        slab.count.push(count);
        slab.block.push(block);
    }
    Selection::Hyperslab(Hyperslab::Regular(slab))
}

/// Returns the elements of parts one of which is a list: blocks if the list ascends, else points.
fn listed(parts: &[Part]) -> Result<Selection> {
    let rank = parts.len();
    if parts.iter().any(|part| part.len() == 0) {
        return Ok(Selection::None);
    }
    let Some(blocks) = parts.iter().map(Part::blocks).collect::<Option<Vec<_>>>() else {
        let lists: Vec<Vec<u64>> = parts.iter().map(Part::coordinates).collect();
        let points = product(&lists)?;
        return Ok(Selection::Points(Points { rank, coordinates: points.concat() }));
    };
    let corners = product(&blocks)?.into_iter().map(|corners| {
        let (start, end): (Vec<u64>, Vec<u64>) = corners.into_iter().unzip();
        Block { start: start.into(), end: end.into() }
    });
    Ok(Selection::Hyperslab(Hyperslab::Irregular { rank, blocks: corners.collect() }))
}

/// Returns all combinations of one item of each list, in C order.
fn product<T: Copy>(lists: &[Vec<T>]) -> Result<Vec<Vec<T>>> {
    let too_many = |count: u64| Error::Limit {
        what: "blocks and points of an index list".into(),
        got: count,
        limit: MOST_PARTS,
    };
    let mut sizes = lists.iter().map(|list| list.len() as u64);
    let count = sizes.try_fold(1_u64, u64::checked_mul);
    count.filter(|count| *count <= MOST_PARTS).ok_or_else(|| too_many(count.unwrap_or(u64::MAX)))?;
    let mut all = vec![Vec::new()];
    for list in lists {
        let longer = all.iter().flat_map(|before: &Vec<T>| {
            list.iter().map(move |item| before.iter().copied().chain([*item]).collect())
        });
        all = longer.collect();
    }
    Ok(all)
}

/// The largest number of blocks or points that an index list may make.
const MOST_PARTS: u64 = 1 << 24;

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::range(0, None)
    }
}

/// Lists in other containers than slices.
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
        Self::new(Taken::Mask(mask.to_vec()))
    }
}

lists! { bool }

/// Returns a coordinate; one that no signed 64-bit number holds becomes the largest, which lies in no dimension.
fn signed(at: impl TryInto<i64>) -> i64 {
    at.try_into().unwrap_or(i64::MAX)
}

/// Numbers and ranges of them.
macro_rules! from_numbers {
    ($($number:ty)*) => {$(
        impl From<$number> for Slice {
            fn from(at: $number) -> Self {
                Self::new(Taken::One(signed(at)))
            }
        }

        impl From<Range<$number>> for Slice {
            fn from(range: Range<$number>) -> Self {
                Self::range(signed(range.start), Some(signed(range.end)))
            }
        }

        impl From<RangeInclusive<$number>> for Slice {
            fn from(range: RangeInclusive<$number>) -> Self {
                let (start, last) = range.into_inner();
                // The last one counted from the end is the end itself.
                let end = Some(signed(last).saturating_add(1)).filter(|end| *end != 0);
                Self::range(signed(start), end)
            }
        }

        impl From<RangeFrom<$number>> for Slice {
            fn from(range: RangeFrom<$number>) -> Self {
                Self::range(signed(range.start), None)
            }
        }

        impl From<RangeTo<$number>> for Slice {
            fn from(range: RangeTo<$number>) -> Self {
                Self::range(0, Some(signed(range.end)))
            }
        }

        impl From<RangeToInclusive<$number>> for Slice {
            fn from(range: RangeToInclusive<$number>) -> Self {
                Self::from(0..=range.end)
            }
        }

        impl From<&[$number]> for Slice {
            fn from(indices: &[$number]) -> Self {
                Self::new(Taken::Indices(indices.iter().map(|at| signed(*at)).collect()))
            }
        }

        lists! { $number }
    )*};
}

from_numbers! { i32 i64 isize u32 u64 usize }

/// A slice of an array, dimension by dimension: a coordinate, a range, a range with a step behind a semicolon, an index
/// list or a boolean mask. Negative numbers count from the end.
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

/// Sets the selected elements of an array in memory to a value; the others stay as they are. The array has the shape
/// `dims` and lies in C order.
///
/// ```
/// let mut values = [0; 6];
/// hyperslab::fill(&mut values, &[2, 3], (.., 1), &7)?;
/// assert_eq!(values, [0, 7, 0, 0, 7, 0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `values` has another length than an array of that shape, or the
/// selection reaches out of it.
pub fn fill<T: Clone>(
    values: &mut [T],
    dims: &[u64],
    selection: impl IntoSelection,
    value: &T,
) -> Result<()> {
    let elements = dims.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    if elements != Some(values.len() as u64) {
        return Err(Error::Misuse(format!("a slice of {} for an array of the shape {dims:?}", values.len())));
    }
    for run in selection.into_selection(dims)?.selection().linear_runs(dims)? {
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
