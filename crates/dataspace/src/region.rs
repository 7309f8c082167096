//! Boxes of elements, given by start and count.

use std::ops::Range;

use crate::error::{Result, product, same_rank};
use crate::{Block, DataspaceError, Dims};

/// A box of elements or chunks, given by coordinates. The box may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Region {
    /// The lowest coordinate in each dimension.
    pub start: Dims,
    /// The number of coordinates in each dimension.
    pub count: Dims,
}

impl Region {
    /// Creates a box of elements from its start coordinates and its size along each dimension.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] if `start` and `count` have different lengths,
    /// [`DataspaceError::Overflow`] if the end of the box does not fit in 64 bits.
    pub fn new(start: &[u64], count: &[u64]) -> Result<Self> {
        same_rank("the count of a box", start.len(), count.len())?;
        if start.iter().zip(count).any(|(start, count)| start.checked_add(*count).is_none()) {
            return Err(DataspaceError::Overflow { subject: "end of a box" });
        }
        Ok(Self { start: Dims::from_slice(start), count: Dims::from_slice(count) })
    }

    /// Creates the box of all elements of a dataspace of the shape `dims`.
    pub fn whole(dims: &[u64]) -> Self {
        Self { start: Dims::from_elem(0, dims.len()), count: Dims::from_slice(dims) }
    }

    /// Returns the number of dimensions of the box of elements.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// Returns whether the box of elements is empty. A box without dimensions contains one element.
    pub fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// Returns the number of elements of the box.
    ///
    /// # Errors
    /// [`DataspaceError::Overflow`] if the number does not fit in 64 bits.
    pub fn element_count(&self) -> Result<u64> {
        product("number of elements", self.count.iter().copied())
    }

    /// Returns, for each dimension of a box of elements, the lowest coordinate and one more than
    /// the highest coordinate.
    ///
    /// The end saturates: no extent contains the coordinate `u64::MAX`.
    pub fn bounds(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.start.iter().zip(&self.count).map(|(start, count)| (*start, start.saturating_add(*count)))
    }

    /// Returns whether the box contains the element with the coordinates `coordinates`.
    pub fn contains(&self, coordinates: &[u64]) -> bool {
        coordinates.len() == self.rank()
            && self.bounds().zip(coordinates).all(|((start, end), at)| (start..end).contains(at))
    }

    /// Returns the intersection of two boxes of elements; [`None`] if the intersection is empty or
    /// the ranks differ.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        if self.rank() != other.rank() {
            return None;
        }
        let mut both = Self { start: Dims::new(), count: Dims::new() };
        for ((start, end), (other_start, other_end)) in self.bounds().zip(other.bounds()) {
            let start = start.max(other_start);
            both.start.push(start);
            both.count.push(end.min(other_end).checked_sub(start).filter(|count| *count > 0)?);
        }
        Some(both)
    }

    /// Checks that the box of elements lies in a dataspace of the shape `dims`.
    ///
    /// # Errors
    /// [`DataspaceError::Rank`] and [`DataspaceError::Bounds`], with `subject` as the name of the
    /// box.
    pub fn check_within(&self, subject: &'static str, dims: &[u64]) -> Result<()> {
        same_rank(subject, dims.len(), self.rank())?;
        check_bounds(subject, &self.start, &self.count, dims)
    }

    /// Returns the coordinates of all elements of the box in C order.
    pub fn coordinates(&self) -> Coordinates {
        Coordinates { next: (!self.is_empty()).then(|| self.start.clone()), region: self.clone() }
    }
}

/// Checks that the box of elements from `start` with the size `count` lies in a dataspace of the
/// shape `dims`. All arguments have the same rank.
pub(crate) fn check_bounds(subject: &'static str, start: &[u64], count: &[u64], dims: &[u64]) -> Result<()> {
    for (dimension, ((start, count), size)) in start.iter().zip(count).zip(dims).enumerate() {
        if start.checked_add(*count).is_none_or(|end| end > *size) {
            // Saturates: the number only appears in a message.
            let last = start.saturating_add(count.max(&1) - 1);
            return Err(DataspaceError::Bounds { subject, dimension, start: *start, last, size: *size });
        }
    }
    Ok(())
}

impl From<&Block> for Region {
    /// Converts a block of a selection to a box of elements. The box is empty if the block ends
    /// before it starts.
    fn from(block: &Block) -> Self {
        let sizes = block.start.iter().zip(&block.end);
        // Saturates: no extent contains a block of all 2^64 coordinates.
        let count =
            sizes.map(|(start, end)| end.checked_sub(*start).map_or(0, |span| span.saturating_add(1)));
        Self { start: block.start.clone(), count: count.collect() }
    }
}

impl From<&[Range<u64>]> for Region {
    /// Returns the box of elements with the given ranges of coordinates, slowest dimension first. A
    /// range that ends before its start is empty.
    fn from(ranges: &[Range<u64>]) -> Self {
        Self {
            start: ranges.iter().map(|range| range.start).collect(),
            count: ranges.iter().map(|range| range.end.max(range.start) - range.start).collect(),
        }
    }
}

impl<const N: usize> From<[Range<u64>; N]> for Region {
    /// Returns the box of elements with the given ranges of coordinates, slowest dimension first.
    ///
    /// ```
    /// use hyperslab_dataspace::Region;
    /// let region = Region::from([2..5, 0..10]);
    /// assert_eq!((region.start.as_slice(), region.count.as_slice()), (&[2, 0][..], &[3, 10][..]));
    /// ```
    fn from(ranges: [Range<u64>; N]) -> Self {
        Self::from(ranges.as_slice())
    }
}

/// An iterator over the coordinates of the elements of a box in C order.
#[derive(Debug, Clone)]
pub struct Coordinates {
    region: Region,
    next: Option<Dims>,
}

impl Iterator for Coordinates {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let current = self.next.take()?;
        let mut following = current.clone();
        let bounds = self.region.start.iter().zip(&self.region.count).rev();
        for (at, (start, count)) in following.iter_mut().rev().zip(bounds) {
            *at += 1;
            if *at - *start < *count {
                self.next = Some(following);
                break;
            }
            *at = *start;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_meet() {
        let a = Region::new(&[0, 5], &[10, 10]).unwrap();
        let b = Region::new(&[8, 0], &[10, 6]).unwrap();
        assert_eq!(a.intersect(&b), Some(Region::new(&[8, 5], &[2, 1]).unwrap()));
        assert_eq!(a.intersect(&Region::new(&[10, 5], &[1, 1]).unwrap()), None);
        assert_eq!(a.intersect(&Region::whole(&[3])), None);
        assert!(a.contains(&[9, 14]) && !a.contains(&[9, 15]) && !a.contains(&[9]));
        assert!(Region::new(&[u64::MAX], &[1]).is_err());
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "a range that ends before its start is empty")]
    fn ranges_make_boxes() {
        assert_eq!(Region::from([2..5, 0..1]), Region::new(&[2, 0], &[3, 1]).unwrap());
        assert!(Region::from([5..2, 0..1]).is_empty());
    }

    #[test]
    fn coordinates_come_in_c_order() {
        let all: Vec<Vec<u64>> =
            Region::new(&[1, 5], &[2, 2]).unwrap().coordinates().map(|at| at.to_vec()).collect();
        assert_eq!(all, [[1, 5], [1, 6], [2, 5], [2, 6]]);
        assert_eq!(Region::whole(&[]).coordinates().count(), 1);
        assert_eq!(Region::whole(&[3, 0, 2]).coordinates().count(), 0);
    }
}
