//! Places of chunks that are not in the index yet: many are put into it at once, for less than each alone.

use std::collections::BTreeMap;

use hyperslab_dataspace::Dims;
use hyperslab_format::codec::Address;
use hyperslab_format::message::ChunkedLayout;

use super::super::chunk_index::{AtChunk, ChunkLocation};
use super::ChunkTable;
use crate::error::Result;
use crate::store::{Edit, Store};

/// Places that wait at most.
const WAITING: usize = 1024;

/// As many at once need not wait for more.
const MANY: usize = 128;

/// A table of chunks that takes places in bulk.
#[derive(Debug)]
pub struct BufferedTable {
    table: Box<dyn ChunkTable>,
    waiting: BTreeMap<Dims, ChunkLocation>,
}

impl BufferedTable {
    /// A buffer before that table.
    pub fn new(table: Box<dyn ChunkTable>) -> Self {
        Self { table, waiting: BTreeMap::new() }
    }
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
        if chunks.len() >= MANY {
            self.flush(edit)?;
            return self.table.insert(edit, chunks);
        }
        self.waiting.extend(chunks.iter().cloned());
        if self.waiting.len() >= WAITING { self.flush(edit) } else { Ok(()) }
    }

    fn flush(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting: Vec<(Dims, ChunkLocation)> = std::mem::take(&mut self.waiting).into_iter().collect();
        self.table.insert(edit, &waiting)
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
