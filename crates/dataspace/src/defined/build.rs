//! Construction of sets of defined elements from offsets, selections and boxes.

use super::store::{Offset, OffsetRun, Store, ascend, fits_offsets32, push_run};
use super::{DefinedSet, check_dims};
use crate::{DataspaceError, Dims, Region, Result, Selection, strides};

/// The length, in elements, of the longest run of defined elements that a builder stores as single
/// offsets. After the first longer run, the builder stores only runs.
const MAX_EXPANDED_RUN_ELEMENTS: u64 = 8;

const OUT_OF_ORDER: DataspaceError = DataspaceError::Invalid {
    subject: "the offset of a defined element",
    problem: "is out of order or outside of the box",
};

/// A builder of a set of defined elements: the elements of a chunk that have a stored value. The
/// offsets of these elements in the chunk must be added in ascending order.
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
    /// The lowest offset that may be added next.
    next: u64,
    /// True if an added offset was out of order or outside of the box.
    rejected: bool,
    store: Store,
}

impl DefinedBuilder {
    /// Creates a builder for a set of about `elements` defined elements of a chunk of the shape
    /// `dims`.
    ///
    /// # Errors
    /// The errors of [`DefinedSet::empty`].
    pub fn with_capacity(dims: &[u64], elements: usize) -> Result<Self> {
        let total = check_dims(dims)?;
        let elements = usize::try_from(total).map_or(elements, |total| elements.min(total));
        let store = if fits_offsets32(total) {
            Store::Offsets32(Vec::with_capacity(elements))
        } else {
            Store::Offsets64(Vec::with_capacity(elements))
        };
        Ok(Self { dims: Dims::from_slice(dims), total, next: 0, rejected: false, store })
    }

    /// Adds a defined element to the set that is built. The offset of the element in the chunk must
    /// exceed all offsets so far.
    #[inline]
    pub fn push(&mut self, offset: u64) {
        if offset < self.next || offset >= self.total {
            self.rejected = true;
            return;
        }
        self.next = offset + 1;
        match &mut self.store {
            Store::Offsets32(offsets) => offsets.push(u32::of(offset)),
            Store::Offsets64(offsets) => offsets.push(offset),
            Store::Runs(runs) => push_run(runs, offset, 1),
        }
    }

    /// Adds a run of `count` defined elements to the set that is built. The offsets of the elements
    /// in the chunk must exceed all offsets so far.
    #[inline]
    pub fn push_run(&mut self, offset: u64, count: u64) {
        if count <= 1 {
            (0..count).for_each(|_| self.push(offset));
            return;
        }
        let end = offset.checked_add(count).filter(|end| offset >= self.next && *end <= self.total);
        let Some(end) = end else {
            self.rejected = true;
            return;
        };
        self.next = end;
        if count > MAX_EXPANDED_RUN_ELEMENTS {
            self.collect_runs();
        }
        match &mut self.store {
            Store::Offsets32(offsets) => offsets.extend((offset..end).map(u32::of)),
            Store::Offsets64(offsets) => offsets.extend(offset..end),
            Store::Runs(runs) => push_run(runs, offset, count),
        }
    }

    /// Converts the single offsets in a builder of a set of defined elements to runs.
    fn collect_runs(&mut self) {
        let mut runs: Vec<OffsetRun> = Vec::new();
        match &self.store {
            Store::Offsets32(offsets) => {
                offsets.iter().for_each(|offset| push_run(&mut runs, offset.get(), 1));
            }
            Store::Offsets64(offsets) => offsets.iter().for_each(|offset| push_run(&mut runs, *offset, 1)),
            Store::Runs(_) => return,
        }
        self.store = Store::Runs(runs);
    }

    /// Returns whether the builder of a set of defined elements has refused an offset, because the
    /// offset was out of order or outside of the chunk. In this case [`finish`](Self::finish)
    /// returns an error.
    #[inline]
    pub fn is_refused(&self) -> bool {
        self.rejected
    }

    /// Returns the completed set of defined elements from its builder.
    ///
    /// # Errors
    /// [`DataspaceError::Invalid`] if an added offset was out of order or outside of the box.
    pub fn finish(self) -> Result<DefinedSet> {
        if self.rejected {
            return Err(OUT_OF_ORDER);
        }
        Ok(DefinedSet::normalized(self.dims, self.total, self.store))
    }
}

impl DefinedSet {
    /// Creates a set of defined elements from their offsets in the chunk. The offsets must ascend
    /// strictly.
    ///
    /// # Errors
    /// The errors of [`DefinedSet::empty`] and [`DefinedBuilder::finish`].
    pub fn of_offsets(dims: &[u64], offsets: Vec<u64>) -> Result<Self> {
        let total = check_dims(dims)?;
        if !ascend(&offsets) || offsets.last().is_some_and(|last| *last >= total) {
            return Err(OUT_OF_ORDER);
        }
        let store = if fits_offsets32(total) {
            Store::Offsets32(offsets.iter().map(|offset| u32::of(*offset)).collect())
        } else {
            Store::Offsets64(offsets)
        };
        Ok(Self::normalized(Dims::from_slice(dims), total, store))
    }

    /// Creates a set of defined elements from their offsets in the chunk, without a copy of the
    /// offsets. The chunk has at most 2^32 elements. See [`DefinedSet::of_offsets`].
    ///
    /// # Errors
    /// The errors of [`DefinedSet::of_offsets`]; [`DataspaceError::Overflow`] for a larger box.
    pub fn of_offsets32(dims: &[u64], offsets: Vec<u32>) -> Result<Self> {
        let total = check_dims(dims)?;
        if !fits_offsets32(total) {
            return Err(DataspaceError::Overflow { subject: "number of elements" });
        }
        if !ascend(&offsets) || offsets.last().is_some_and(|last| u64::from(*last) >= total) {
            return Err(OUT_OF_ORDER);
        }
        Ok(Self::normalized(Dims::from_slice(dims), total, Store::Offsets32(offsets)))
    }

    /// Creates a set of defined elements: the elements that `selection` selects in a chunk of the
    /// shape `dims`.
    ///
    /// Points may have any order and be repeated, and blocks may overlap. Unlimited hyperslabs
    /// extend to the end of the box.
    ///
    /// # Errors
    /// The errors of [`DefinedSet::empty`] and [`Selection::runs`].
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

    /// Creates a set of defined elements: the elements of a chunk that lie in the box `region`. The
    /// part of `region` outside of the chunk's shape `dims` is ignored.
    ///
    /// # Errors
    /// The errors of [`DefinedSet::empty`]; [`DataspaceError::Rank`].
    pub fn of_region(dims: &[u64], region: &Region) -> Result<Self> {
        crate::error::same_rank("a box", dims.len(), region.rank())?;
        match region.intersect(&Region::whole(dims)) {
            Some(inside) => Self::of_selection(dims, &Selection::region(&inside)),
            None => Self::empty(dims),
        }
    }
}
