//! Sets of defined elements from offsets, selections and boxes.

use super::store::{Offset, Run, Store, ascend, is_near, push_run};
use super::{DefinedSet, check_dims};
use crate::{DataspaceError, Dims, Region, Result, Selection, strides};

/// Runs up to this length are taken apart while offsets are collected one by one.
const SHORT: u64 = 8;

const OUT_OF_ORDER: DataspaceError = DataspaceError::Invalid {
    what: "the offset of a defined element",
    problem: "is out of order or outside of the box",
};

/// Collects the offsets of a set in ascending order.
///
/// ```
/// use hyperslab_dataspace::DefinedBuilder;
/// let mut builder = DefinedBuilder::with_capacity(&[4, 8], 4)?;
/// builder.push(3);
/// builder.push_run(10, 3);
/// assert_eq!(builder.finish()?.len(), 4);
/// # Ok::<(), hyperslab_dataspace::DataspaceError>(())
/// ```
#[derive(Debug)]
pub struct DefinedBuilder {
    dims: Dims,
    total: u64,
    /// The lowest offset that may come.
    next: u64,
    /// Whether one came that may not.
    refused: bool,
    store: Store,
}

impl DefinedBuilder {
    /// A builder for a set of about so many elements of a box.
    ///
    /// # Errors
    /// As [`DefinedSet::empty`].
    pub fn with_capacity(dims: &[u64], elements: usize) -> Result<Self> {
        let total = check_dims(dims)?;
        let elements = usize::try_from(total).map_or(elements, |total| elements.min(total));
        let store = if is_near(total) {
            Store::Near(Vec::with_capacity(elements))
        } else {
            Store::Far(Vec::with_capacity(elements))
        };
        Ok(Self { dims: Dims::from_slice(dims), total, next: 0, refused: false, store })
    }

    /// Adds an element behind all others.
    #[inline]
    pub fn push(&mut self, offset: u64) {
        if offset < self.next || offset >= self.total {
            self.refused = true;
            return;
        }
        self.next = offset + 1;
        match &mut self.store {
            Store::Near(offsets) => offsets.push(u32::of(offset)),
            Store::Far(offsets) => offsets.push(offset),
            Store::Runs(runs) => push_run(runs, offset, 1),
        }
    }

    /// Adds `count` elements behind all others.
    #[inline]
    pub fn push_run(&mut self, offset: u64, count: u64) {
        if count <= 1 {
            (0..count).for_each(|_| self.push(offset));
            return;
        }
        let end = offset.checked_add(count).filter(|end| offset >= self.next && *end <= self.total);
        let Some(end) = end else {
            self.refused = true;
            return;
        };
        self.next = end;
        if count > SHORT {
            self.collect_runs();
        }
        match &mut self.store {
            Store::Near(offsets) => offsets.extend((offset..end).map(u32::of)),
            Store::Far(offsets) => offsets.extend(offset..end),
            Store::Runs(runs) => push_run(runs, offset, count),
        }
    }

    /// Goes on with runs.
    fn collect_runs(&mut self) {
        let mut runs: Vec<Run> = Vec::new();
        match &self.store {
            Store::Near(offsets) => {
                offsets.iter().for_each(|offset| push_run(&mut runs, offset.get(), 1));
            }
            Store::Far(offsets) => offsets.iter().for_each(|offset| push_run(&mut runs, *offset, 1)),
            Store::Runs(_) => return,
        }
        self.store = Store::Runs(runs);
    }

    /// Whether an offset came that was not above the one before, or outside of the box. What comes behind it does
    /// not help any more.
    #[inline]
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// The set.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if an offset was not above the one before, or outside of the box.
    pub fn finish(self) -> Result<DefinedSet> {
        if self.refused {
            return Err(OUT_OF_ORDER);
        }
        Ok(DefinedSet::settled(self.dims, self.total, self.store))
    }
}

impl DefinedSet {
    /// The elements with these offsets, each above the one before.
    ///
    /// # Errors
    /// As [`DefinedSet::empty`] and [`DefinedBuilder::finish`].
    pub fn of_offsets(dims: &[u64], offsets: Vec<u64>) -> Result<Self> {
        let total = check_dims(dims)?;
        if !ascend(&offsets) || offsets.last().is_some_and(|last| *last >= total) {
            return Err(OUT_OF_ORDER);
        }
        let store = if is_near(total) {
            Store::Near(offsets.iter().map(|offset| u32::of(*offset)).collect())
        } else {
            Store::Far(offsets)
        };
        Ok(Self::settled(Dims::from_slice(dims), total, store))
    }

    /// As [`DefinedSet::of_offsets`], for a box of at most 2^32 elements: nothing is copied.
    ///
    /// # Errors
    /// As [`DefinedSet::of_offsets`]; [`DataspaceError::Overflow`] for a larger box.
    pub fn of_near_offsets(dims: &[u64], offsets: Vec<u32>) -> Result<Self> {
        let total = check_dims(dims)?;
        if !is_near(total) {
            return Err(DataspaceError::Overflow { what: "number of elements" });
        }
        if !ascend(&offsets) || offsets.last().is_some_and(|last| u64::from(*last) >= total) {
            return Err(OUT_OF_ORDER);
        }
        Ok(Self::settled(Dims::from_slice(dims), total, Store::Near(offsets)))
    }

    /// The elements of a selection of the box. Points may come in any order and more than once, blocks may
    /// overlap; hyperslabs without end go up to the box's.
    ///
    /// # Errors
    /// As [`DefinedSet::empty`] and [`Selection::runs`].
    pub fn of_selection(dims: &[u64], selection: &Selection) -> Result<Self> {
        let Selection::Points(points) = selection else {
            let mut builder = DefinedBuilder::with_capacity(dims, 0)?;
            if matches!(selection, Selection::All) {
                return Self::all(dims);
            }
            for run in selection.linear_runs(dims)? {
                builder.push_run(run.offset, run.length);
            }
            return builder.finish();
        };
        check_dims(dims)?;
        selection.validate(dims)?;
        let strides = strides(dims);
        let offset =
            |point: &[u64]| -> u64 { point.iter().zip(&strides).map(|(at, stride)| at * stride).sum() };
        let mut offsets: Vec<u64> = points.points().map(offset).collect();
        if !offsets.is_sorted_by(|before, after| before < after) {
            offsets.sort_unstable();
            offsets.dedup();
        }
        Self::of_offsets(dims, offsets)
    }

    /// The elements of a box within this one; what reaches out is left away.
    ///
    /// # Errors
    /// As [`DefinedSet::empty`]; [`DataspaceError::Rank`].
    pub fn of_region(dims: &[u64], region: &Region) -> Result<Self> {
        crate::error::same_rank("a box", dims.len(), region.rank())?;
        match region.intersect(&Region::whole(dims)) {
            Some(inside) => Self::of_selection(dims, &Selection::region(&inside)),
            None => Self::empty(dims),
        }
    }
}
