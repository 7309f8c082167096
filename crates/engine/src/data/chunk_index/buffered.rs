//! A buffer for the entries of a chunk index: one insertion of many entries is faster than many
//! insertions.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::ChunkedLayout;
use indexmap::IndexMap;

use super::{AtChunk, ChunkLocation, ChunkTable};
use crate::error::Result;
use crate::store::{Edit, Store};

/// Largest number of new entries that a buffered chunk table holds before it writes them into the
/// chunk index, if the entries arrived in the order of the chunks.
const MAX_ORDERED_ENTRIES: usize = 1 << 10;

/// Largest number of new entries that a buffered chunk table holds before it writes them into the
/// chunk index, if the entries arrived in any order. The limit is high, so that many of the sorted
/// entries lie in the same block of the chunk index.
const MAX_SCATTERED_ENTRIES: usize = 1 << 17;

/// Largest number of new entries that a buffered chunk table inserts into the chunk index with one
/// call.
const MAX_INSERTED_ENTRIES: usize = 1 << 12;

/// Smallest number of entries of neighbouring chunks that a buffered chunk table inserts directly
/// into the chunk index, without buffering them.
const MIN_DIRECT_ENTRIES: usize = 128;

/// A table of chunk locations that buffers new chunk index entries before it writes them into the
/// chunk index.
#[derive(Debug)]
pub struct BufferedTable {
    table: Box<dyn ChunkTable>,
    dirty: IndexMap<Dims, ChunkLocation>,
    /// True if the dirty entries did not come in order.
    scattered: bool,
}

impl BufferedTable {
    /// Creates a buffered chunk table: a buffer of new entries for the chunk table `table`.
    pub fn new(table: Box<dyn ChunkTable>) -> Self {
        Self { table, dirty: IndexMap::new(), scattered: false }
    }

    /// Returns whether the given chunks come after all chunks with dirty entries in the buffered
    /// chunk table. The order is the C order of the chunk coordinates.
    fn come_after_dirty(&self, chunks: &[(Dims, ChunkLocation)]) -> bool {
        let ends = self.dirty.last().zip(chunks.first());
        ends.is_none_or(|((last, _), (first, _))| last < first)
    }
}

/// Returns whether most chunks in a list are direct neighbours, by coordinates, of the preceding
/// chunk in the list.
fn are_neighbours(chunks: &[(Dims, ChunkLocation)]) -> bool {
    let distance = |one: &Dims, next: &Dims| {
        one.iter().zip(next).fold(0_u64, |sum, (one, next)| sum + one.abs_diff(*next))
    };
    let beside = chunks.array_windows().filter(|[(one, _), (next, _)]| distance(one, next) == 1).count();
    beside * 2 >= chunks.len()
}

/// Compares the coordinates of two chunks in C order. Compares the first coordinates before all
/// others, because they decide nearly every comparison.
fn compare(one: &Dims, next: &Dims) -> Ordering {
    one.first().cmp(&next.first()).then_with(|| one.cmp(next))
}

/// Returns the indexes of a list's chunks, sorted by the C order of the chunks' coordinates.
pub(in crate::data) fn order_of(chunks: &[(Dims, ChunkLocation)]) -> Vec<usize> {
    let first = |scaled: &Dims| scaled.first().copied().unwrap_or(0);
    let mut order: Vec<(u64, usize)> = chunks.iter().map(|(scaled, _)| first(scaled)).zip(0..).collect();
    let scaled = |number: usize| chunks.get(number).map(|(scaled, _)| scaled);
    order.sort_unstable_by(|(one, at), (other, other_at)| {
        one.cmp(other).then_with(|| scaled(*at).cmp(&scaled(*other_at)))
    });
    order.into_iter().map(|(_, number)| number).collect()
}

/// Returns copies of the chunks of a list, in the order of the given list of indexes.
pub(in crate::data) fn ordered(
    chunks: &[(Dims, ChunkLocation)],
    order: &[usize],
) -> Vec<(Dims, ChunkLocation)> {
    order.iter().filter_map(|number| chunks.get(*number).cloned()).collect()
}

impl ChunkTable for BufferedTable {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        match self.dirty.get(scaled) {
            Some(location) => Ok(Some(*location)),
            None if self.table.is_empty() => Ok(None),
            // An append asks for a chunk after all dirty and all indexed chunks, so the table
            // usually finds nothing.
            None => self.table.get(store, scaled),
        }
    }

    fn is_empty(&self) -> bool {
        self.dirty.is_empty() && self.table.is_empty()
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        let is_dirty = |(scaled, _): &(Dims, ChunkLocation)| self.dirty.contains_key(scaled);
        if !self.dirty.is_empty() && chunks.iter().any(is_dirty) {
            return Ok(false);
        }
        Ok(self.table.is_empty() || self.table.has_none_of(store, chunks)?)
    }

    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        let many = chunks.len() >= MIN_DIRECT_ENTRIES;
        let neighbours = many && (!self.table.is_ordered() || are_neighbours(chunks));
        if neighbours && !self.scattered {
            self.flush(edit)?;
            return self.table.insert(edit, chunks);
        }
        self.scattered |= (many && !neighbours) || !self.come_after_dirty(chunks);
        self.dirty.extend(chunks.iter().cloned());
        let maximum = if self.scattered && self.table.is_ordered() {
            MAX_SCATTERED_ENTRIES
        } else {
            MAX_ORDERED_ENTRIES
        };
        if self.dirty.len() >= maximum { self.flush(edit) } else { Ok(()) }
    }

    fn flush(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.dirty.is_empty() {
            return Ok(());
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        if std::mem::take(&mut self.scattered) {
            dirty.sort_unstable_by(|one, _, next, _| compare(one, next));
        }
        // Insert in portions, so that memory never holds a second copy of all entries.
        let mut dirty = dirty.into_iter();
        loop {
            let portion: Vec<(Dims, ChunkLocation)> = dirty.by_ref().take(MAX_INSERTED_ENTRIES).collect();
            if portion.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.table.insert(edit, &portion) {
                // The entries stay dirty. Inserting an entry a second time does no harm.
                self.dirty = portion.into_iter().chain(dirty).collect();
                self.scattered = true;
                return Err(error);
            }
        }
    }

    fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.flush(edit)?;
        self.table.republish(edit)
    }

    fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        self.flush(edit)?;
        self.table.remove(edit, scaled)
    }

    fn reserve(&mut self, edit: &mut Edit<'_>, zeroed: bool) -> Result<Option<(Address, u64)>> {
        self.table.reserve(edit, zeroed)
    }

    fn keeps_all(&self) -> bool {
        self.table.keeps_all()
    }

    fn changed_layout(&self, before: &ChunkedLayout) -> Option<ChunkedLayout> {
        self.table.changed_layout(before)
    }

    fn delete(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.flush(edit)?;
        self.table.delete(edit)
    }

    fn shift(&mut self, edit: &mut Edit<'_>, axis: usize, count: i64) -> Result<()> {
        self.flush(edit)?;
        self.table.shift(edit, axis, count)
    }

    fn for_each(&self, store: &Store, visit: &mut AtChunk<'_>) -> Result<()> {
        self.table.for_each(store, &mut |scaled, location| match self.dirty.contains_key(scaled) {
            true => Ok(()),
            false => visit(scaled, location),
        })?;
        self.dirty.iter().try_for_each(|(scaled, location)| visit(scaled, *location))
    }
}
