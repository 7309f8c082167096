//! Storage of the offsets of defined elements: single offsets if they are scattered, runs if they
//! are contiguous.

use hyperslab_exact::to_u64;

/// The threshold between two forms of a set of defined elements. A set with at least this mean
/// number of elements per run stores runs, and other sets store single offsets.
const MIN_ELEMENTS_PER_RUN: usize = 4;

/// An integer type in which a set of defined elements stores the offsets of its elements.
pub(super) trait Offset: Copy + Ord {
    /// Converts the offset of a defined element to the stored integer type. The caller ensures that
    /// the offset fits.
    fn of(offset: u64) -> Self;
    fn get(self) -> u64;
    /// Returns whether the offset `self` of a defined element is the next one after the offset
    /// `before`.
    fn follows(self, before: Self) -> bool;
    /// Returns the stored offsets of a set of defined elements. Returns [`None`] unless the set
    /// stores single offsets of the integer type `Self`.
    fn slice(store: &Store) -> Option<&[Self]>;
    fn store(offsets: Vec<Self>) -> Store;
}

impl Offset for u32 {
    #[inline]
    fn of(offset: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "only for boxes of at most 2^32 elements")]
        let near = offset as u32;
        near
    }

    #[inline]
    fn get(self) -> u64 {
        self.into()
    }

    #[inline]
    fn follows(self, before: Self) -> bool {
        self.wrapping_sub(before) == 1
    }

    fn slice(store: &Store) -> Option<&[Self]> {
        if let Store::Offsets32(offsets) = store { Some(offsets) } else { None }
    }

    fn store(offsets: Vec<Self>) -> Store {
        Store::Offsets32(offsets)
    }
}

impl Offset for u64 {
    #[inline]
    fn of(offset: u64) -> Self {
        offset
    }

    #[inline]
    fn get(self) -> u64 {
        self
    }

    #[inline]
    fn follows(self, before: Self) -> bool {
        self.wrapping_sub(before) == 1
    }

    fn slice(store: &Store) -> Option<&[Self]> {
        if let Store::Offsets64(offsets) = store { Some(offsets) } else { None }
    }

    fn store(offsets: Vec<Self>) -> Store {
        Store::Offsets64(offsets)
    }
}

/// A run of consecutive offsets of defined elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffsetRun {
    pub(super) start: u64,
    /// One more than the last offset.
    pub(super) end: u64,
    /// The number of elements of the set before this run.
    pub(super) position: u64,
}

/// The offsets of a set of defined elements in ascending order. The form depends on the offsets
/// alone: equal sets have equal stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Store {
    /// Offsets of 32 bits, for a box of at most 2^32 elements.
    Offsets32(Vec<u32>),
    Offsets64(Vec<u64>),
    Runs(Vec<OffsetRun>),
}

/// Returns whether a chunk is small enough for offsets of 32 bits in its set of defined elements.
/// `total` is the number of elements of the chunk.
pub(super) fn fits_offsets32(total: u64) -> bool {
    total <= 1 << 32
}

fn prefers_runs(runs: usize, elements: u64) -> bool {
    to_u64(runs * MIN_ELEMENTS_PER_RUN) <= elements
}

pub(super) fn count(length: usize) -> u64 {
    to_u64(length)
}

impl Store {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Offsets32(offsets) => count(offsets.len()),
            Self::Offsets64(offsets) => count(offsets.len()),
            Self::Runs(runs) => length(runs),
        }
    }

    /// Returns the number of stored offsets or runs of a set of defined elements.
    pub(super) fn items(&self) -> usize {
        match self {
            Self::Offsets32(offsets) => offsets.len(),
            Self::Offsets64(offsets) => offsets.len(),
            Self::Runs(runs) => runs.len(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Offsets32(offsets) => offsets.capacity() * size_of::<u32>(),
            Self::Offsets64(offsets) => offsets.capacity() * size_of::<u64>(),
            Self::Runs(runs) => runs.capacity() * size_of::<OffsetRun>(),
        }
    }

    /// Converts stored offsets of defined elements to the standard form for these offsets. `total`
    /// is the number of elements of the chunk.
    pub(super) fn normalized(self, total: u64) -> Self {
        match self {
            Self::Offsets32(offsets) => normalized_offsets(offsets),
            Self::Offsets64(offsets) => normalized_offsets(offsets),
            Self::Runs(runs) if prefers_runs(runs.len(), length(&runs)) => Self::Runs(runs),
            Self::Runs(runs) if fits_offsets32(total) => Self::Offsets32(offsets_of(&runs)),
            Self::Runs(runs) => Self::Offsets64(offsets_of(&runs)),
        }
    }
}

/// Returns the number of defined elements of all runs in a list.
pub(super) fn length(runs: &[OffsetRun]) -> u64 {
    runs.last().map_or(0, |last| last.position + (last.end - last.start))
}

fn normalized_offsets<T: Offset>(offsets: Vec<T>) -> Store {
    let following = offsets.iter().skip(1).zip(&offsets);
    let gaps: usize = following.map(|(offset, before)| usize::from(!offset.follows(*before))).sum();
    let count_of_runs = gaps + usize::from(!offsets.is_empty());
    if !prefers_runs(count_of_runs, count(offsets.len())) {
        return T::store(offsets);
    }
    let mut runs = Vec::with_capacity(count_of_runs);
    offsets.iter().for_each(|offset| push_run(&mut runs, offset.get(), 1));
    Store::Runs(runs)
}

/// Returns whether the offsets of defined elements ascend strictly. Compares all offsets, which is
/// faster than stopping at the first violation.
pub(super) fn ascend<T: Offset>(offsets: &[T]) -> bool {
    let following = offsets.iter().skip(1).zip(offsets);
    following.map(|(offset, before)| u32::from(offset <= before)).fold(0, |bad, here| bad | here) == 0
}

fn offsets_of<T: Offset>(runs: &[OffsetRun]) -> Vec<T> {
    let mut offsets = usize::try_from(length(runs)).map_or_else(|_| Vec::new(), Vec::with_capacity);
    for run in runs {
        offsets.extend((run.start..run.end).map(T::of));
    }
    offsets
}

/// Appends a run of defined elements after all stored runs. Extends the last run if the new run
/// continues it.
#[inline]
pub(super) fn push_run(runs: &mut Vec<OffsetRun>, start: u64, count: u64) {
    let end = start + count;
    match runs.last_mut() {
        Some(last) if last.end == start => last.end = end,
        _ => runs.push(OffsetRun { start, end, position: length(runs) }),
    }
}

/// Returns the index of the first item, from the index `from` on, for which `below` is false. The
/// items are offsets or runs of defined elements. The search is fast if the result is close to
/// `from`.
#[inline]
pub(super) fn gallop<T>(items: &[T], from: usize, below: impl Fn(&T) -> bool) -> usize {
    let rest = items.split_at(from).1;
    if !rest.first().is_some_and(&below) {
        return from;
    }
    let mut step = 1_usize;
    while rest.get(step).is_some_and(&below) {
        step *= 2;
    }
    // The item at half the step is below, the item at the step is not.
    let low = step / 2;
    let window = rest.split_at(step.min(rest.len())).0.split_at(low).1;
    from + low + window.partition_point(below)
}
