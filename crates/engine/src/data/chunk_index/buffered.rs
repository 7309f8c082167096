//! A buffer of places before a chunk index: one insertion of many places costs less than many insertions.

use std::cmp::Ordering;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::ChunkedLayout;
use indexmap::IndexMap;

use super::{AtChunk, ChunkLocation, ChunkTable};
use crate::error::Result;
use crate::store::{Edit, Store};

/// Places that wait at most if each comes behind the one before.
const WAITING: usize = 1 << 10;

/// Places that wait at most if they come here and there: the more there are, the more of them lie in one block of the index.
const SCATTERED: usize = 1 << 17;

/// Places that come into the index at once.
const PIECE: usize = 1 << 12;

/// As many neighbours at once need not wait for more.
const MANY: usize = 128;

/// A table of chunks that takes places in bulk.
#[derive(Debug)]
pub struct BufferedTable {
    table: Box<dyn ChunkTable>,
    waiting: IndexMap<Dims, ChunkLocation>,
    /// They did not come in order.
    scattered: bool,
}

impl BufferedTable {
    /// A buffer before that table.
    pub fn new(table: Box<dyn ChunkTable>) -> Self {
        Self { table, waiting: IndexMap::new(), scattered: false }
    }

    /// Returns whether places come behind all that wait.
    fn are_behind(&self, chunks: &[(Dims, ChunkLocation)]) -> bool {
        let ends = self.waiting.last().zip(chunks.first());
        ends.is_none_or(|((last, _), (first, _))| last < first)
    }
}

/// Returns whether most chunks lie beside the one before.
fn are_neighbours(chunks: &[(Dims, ChunkLocation)]) -> bool {
    let distance = |one: &Dims, next: &Dims| {
        one.iter().zip(next).fold(0_u64, |sum, (one, next)| sum + one.abs_diff(*next))
    };
    let beside = chunks.array_windows().filter(|[(one, _), (next, _)]| distance(one, next) == 1).count();
    beside * 2 >= chunks.len()
}

/// How two chunks stand in C order of their coordinates. The first coordinate decides nearly every comparison.
fn compare(one: &Dims, next: &Dims) -> Ordering {
    one.first().cmp(&next.first()).then_with(|| one.cmp(next))
}

/// Chunks in C order of their coordinates, by their numbers.
pub(in crate::data) fn order_of(chunks: &[(Dims, ChunkLocation)]) -> Vec<usize> {
    let first = |scaled: &Dims| scaled.first().copied().unwrap_or(0);
    let mut order: Vec<(u64, usize)> = chunks.iter().map(|(scaled, _)| first(scaled)).zip(0..).collect();
    let scaled = |number: usize| chunks.get(number).map(|(scaled, _)| scaled);
    order.sort_unstable_by(|(one, at), (other, other_at)| {
        one.cmp(other).then_with(|| scaled(*at).cmp(&scaled(*other_at)))
    });
    order.into_iter().map(|(_, number)| number).collect()
}

/// Chunks in that order.
pub(in crate::data) fn ordered(
    chunks: &[(Dims, ChunkLocation)],
    order: &[usize],
) -> Vec<(Dims, ChunkLocation)> {
    order.iter().filter_map(|number| chunks.get(*number).cloned()).collect()
}

impl ChunkTable for BufferedTable {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        match self.waiting.get(scaled) {
            Some(place) => Ok(Some(*place)),
            None if self.table.is_empty() => Ok(None),
            // What lies behind all that waits and all that is indexed is the usual case of those who append.
            None => self.table.get(store, scaled),
        }
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.table.is_empty()
    }

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        let waits = |(scaled, _): &(Dims, ChunkLocation)| self.waiting.contains_key(scaled);
        if !self.waiting.is_empty() && chunks.iter().any(waits) {
            return Ok(false);
        }
        Ok(self.table.is_empty() || self.table.has_none_of(store, chunks)?)
    }

    fn insert(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        let many = chunks.len() >= MANY;
        let neighbours = many && (!self.table.is_ordered() || are_neighbours(chunks));
        if neighbours && !self.scattered {
            self.flush(edit)?;
            return self.table.insert(edit, chunks);
        }
        self.scattered |= (many && !neighbours) || !self.are_behind(chunks);
        self.waiting.extend(chunks.iter().cloned());
        let most = if self.scattered && self.table.is_ordered() { SCATTERED } else { WAITING };
        if self.waiting.len() >= most { self.flush(edit) } else { Ok(()) }
    }

    fn flush(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        if std::mem::take(&mut self.scattered) {
            waiting.sort_unstable_by(|one, _, next, _| compare(one, next));
        }
        // Piece by piece, so that there are no two of all of them.
        let mut waiting = waiting.into_iter();
        loop {
            let piece: Vec<(Dims, ChunkLocation)> = waiting.by_ref().take(PIECE).collect();
            if piece.is_empty() {
                return Ok(());
            }
            if let Err(error) = self.table.insert(edit, &piece) {
                // They wait on: what is in the index already may come again.
                self.waiting = piece.into_iter().chain(waiting).collect();
                self.scattered = true;
                return Err(error);
            }
        }
    }

    fn republish(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.flush(edit)?;
        self.table.republish(edit)
    }

    fn is_ahead(&self) -> bool {
        !self.waiting.is_empty()
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
        self.table.for_each(store, &mut |scaled, place| match self.waiting.contains_key(scaled) {
            true => Ok(()),
            false => visit(scaled, place),
        })?;
        self.waiting.iter().try_for_each(|(scaled, place)| visit(scaled, *place))
    }
}
