//! Set operations on sets of defined elements. Writes, erasures and resizing use them.

use super::cursor::{Cursor, END, OffsetCursor, RunCursor};
use super::segments::{SegmentSource, Segments};
use super::store::{Offset, OffsetRun, Store, fits_offsets32, gallop, push_run};
use super::{DefinedSet, store};

use SegmentSource::{New, Old};

impl DefinedSet {
    /// Overlays the set `new` of defined elements on this set. Returns the union, and the source of
    /// each value: `new` for the elements of `new`, and `self` for all other elements. Both sets
    /// must belong to the same chunk.
    #[must_use]
    pub fn overlay(&self, new: &Self) -> (Self, Segments) {
        self.apply::<Overlay>(new)
    }

    /// Returns two values: the set of elements in `self` that are not in `other`, and the segments
    /// of `self` whose values remain.
    #[must_use]
    pub fn without(&self, other: &Self) -> (Self, Segments) {
        self.apply::<Without>(other)
    }

    /// Returns the defined elements that are in both sets, and their values in `self`. Both sets
    /// belong to the same chunk.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> (Self, Segments) {
        self.apply::<Intersection>(other)
    }

    fn apply<O: Operation>(&self, other: &Self) -> (Self, Segments) {
        debug_assert_eq!(self.dims, other.dims, "sets of different chunks");
        // Offsets in another box have another meaning, so a set of another box counts as empty.
        let nothing = Store::Runs(Vec::new());
        let with = if self.dims == other.dims { &other.store } else { &nothing };
        let segments = match &self.store {
            Store::Offsets32(offsets) => with_other::<O, _>(OffsetCursor::new(offsets), with),
            Store::Offsets64(offsets) => with_other::<O, _>(OffsetCursor::new(offsets), with),
            Store::Runs(runs) => with_other::<O, _>(RunCursor::new(runs), with),
        };
        let store = assemble(&self.store, with, &segments, self.total);
        (Self::normalized(self.dims.clone(), self.total, store), segments)
    }
}

fn with_other<O: Operation, A: Cursor>(a: A, other: &Store) -> Segments {
    match other {
        Store::Offsets32(offsets) => O::segments(a, OffsetCursor::new(offsets)),
        Store::Offsets64(offsets) => O::segments(a, OffsetCursor::new(offsets)),
        Store::Runs(runs) => O::segments(a, RunCursor::new(runs)),
    }
}

/// A set operation on two sets of defined elements. The result is a list of segments of values.
/// `Old` segments have values of `self`, and `New` segments have values of the other set.
trait Operation {
    fn segments(old: impl Cursor, new: impl Cursor) -> Segments;
}

struct Overlay;

impl Operation for Overlay {
    fn segments(mut old: impl Cursor, mut new: impl Cursor) -> Segments {
        let mut segments = Segments::default();
        while new.at() != END {
            let position = old.position();
            old.seek(new.at());
            segments.push(Old, position, old.position());
            let position = new.position();
            if old.at() == new.at() {
                let end = new.run_end();
                old.seek(end);
                new.seek(end);
            } else {
                new.seek(old.at());
            }
            segments.push(New, position, new.position());
        }
        let position = old.position();
        old.seek(END);
        segments.push(Old, position, old.position());
        segments
    }
}

struct Without;

impl Operation for Without {
    fn segments(mut old: impl Cursor, mut new: impl Cursor) -> Segments {
        let mut segments = Segments::default();
        while old.at() != END {
            new.seek(old.at());
            if new.at() == old.at() {
                old.seek(new.run_end());
            } else {
                let position = old.position();
                old.seek(new.at());
                segments.push(Old, position, old.position());
            }
        }
        segments
    }
}

struct Intersection;

impl Operation for Intersection {
    fn segments(mut old: impl Cursor, mut new: impl Cursor) -> Segments {
        let mut segments = Segments::default();
        loop {
            new.seek(old.at());
            old.seek(new.at());
            if old.at() == END || new.at() == END {
                return segments;
            }
            if old.at() == new.at() {
                let position = old.position();
                let end = old.run_end().min(new.run_end());
                old.seek(end);
                segments.push(Old, position, old.position());
                new.seek(end);
            }
        }
    }
}

/// Builds a set of defined elements from segments: runs of elements that come from the set `old` or
/// the set `new`. Stores the result as single offsets or as runs, whichever is expected to be
/// smaller.
fn assemble(old: &Store, new: &Store, segments: &Segments, total: u64) -> Store {
    let items = store::count(old.items() + new.items());
    if items * 4 <= segments.element_count() {
        return Store::Runs(assemble_runs(old, new, segments));
    }
    if fits_offsets32(total) {
        Store::Offsets32(assemble_offsets(old, new, segments))
    } else {
        Store::Offsets64(assemble_offsets(old, new, segments))
    }
}

/// Returns a range of the stored offsets of a set of defined elements. `position` is the index of
/// the first offset, and `end` is the index after the last offset. Both fit in `usize`.
#[expect(clippy::cast_possible_truncation, reason = "items that are kept one by one are in memory")]
fn part<T>(items: &[T], position: u64, end: u64) -> &[T] {
    items.split_at(end as usize).0.split_at(position as usize).1
}

fn assemble_offsets<T: Offset>(old: &Store, new: &Store, segments: &Segments) -> Vec<T> {
    let mut offsets =
        usize::try_from(segments.element_count()).map_or_else(|_| Vec::new(), Vec::with_capacity);
    let (mut old, mut new) = (Slicer::new(old), Slicer::new(new));
    for segment in segments.as_slice() {
        let slicer = if segment.from == Old { &mut old } else { &mut new };
        let end = segment.position + segment.count;
        if let Some(from) = T::slice(slicer.store) {
            match part(from, segment.position, end) {
                [one] => offsets.push(*one),
                from => offsets.extend_from_slice(from),
            }
        } else {
            slicer.for_each_run(segment.position, end, |start, end| offsets.extend((start..end).map(T::of)));
        }
    }
    offsets
}

fn assemble_runs(old: &Store, new: &Store, segments: &Segments) -> Vec<OffsetRun> {
    let mut runs = Vec::with_capacity(old.items() + new.items());
    let (mut old, mut new) = (Slicer::new(old), Slicer::new(new));
    for segment in segments.as_slice() {
        let slicer = if segment.from == Old { &mut old } else { &mut new };
        let end = segment.position + segment.count;
        slicer.for_each_run(segment.position, end, |start, end| push_run(&mut runs, start, end - start));
    }
    runs
}

/// A reader of ranges of a set of defined elements. Each range must come after the range that was
/// read before.
struct Slicer<'a> {
    store: &'a Store,
    index: usize,
}

impl<'a> Slicer<'a> {
    fn new(store: &'a Store) -> Self {
        Self { store, index: 0 }
    }

    /// Calls `visit` with each run of defined elements at the positions `position..end` of the set.
    /// `visit` gets the first offset in the chunk, and one more than the last offset.
    fn for_each_run(&mut self, position: u64, end: u64, mut visit: impl FnMut(u64, u64)) {
        match self.store {
            Store::Offsets32(offsets) => {
                part(offsets, position, end).iter().for_each(|offset| visit(offset.get(), offset.get() + 1));
            }
            Store::Offsets64(offsets) => {
                part(offsets, position, end).iter().for_each(|offset| visit(*offset, *offset + 1));
            }
            Store::Runs(runs) => {
                let end_position = |run: &OffsetRun| run.position + (run.end - run.start);
                self.index = gallop(runs, self.index, |run| end_position(run) <= position);
                while let Some(run) = runs.get(self.index).filter(|run| run.position < end) {
                    let first = run.start + (position.max(run.position) - run.position);
                    visit(first, run.end.min(run.start + (end - run.position)));
                    if end_position(run) > end {
                        break;
                    }
                    self.index += 1;
                }
            }
        }
    }
}
