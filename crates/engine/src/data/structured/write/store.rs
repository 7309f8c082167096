//! The encoding of dirty structured chunks and their storage in the file.

use std::sync::Arc;

use crate::store::parallel::prelude::*;
use hyperslab_dataspace::Dims;

use super::super::EncodedChunk;
use super::{StructuredWriter, StructuredWriting};
use crate::data::chunk_index::ChunkBox;
use crate::data::transfer::{DefinedChunk, parallel, staged};
use crate::error::{Error, Result};
use crate::store::{SpaceKind, Store};
use hyperslab_format::codec::Address;
use hyperslab_format::structured_chunk::{ChunkSections, DefinedEncoding};

/// Smallest number of defined elements of a structured chunk that is used to choose the encoder
/// options.
const MIN_TUNING_ELEMENTS: u64 = 64;

/// Number of bytes of structured chunks that a flush encodes together.
const BATCH_BYTES: usize = 32 << 20;

impl StructuredWriter {
    /// Encodes all dirty structured chunks of a writer and stores them in the file.
    ///
    /// # Errors
    /// Returns errors of filters and the driver.
    pub fn store_all(&mut self, writing: &mut StructuredWriting<'_, '_>) -> Result<()> {
        let all = self.dirty.coordinates(|_| true);
        self.flush_some(writing, all)
    }

    /// Stores dirty structured chunks until the dirty bytes are within their limit. Begins with the
    /// chunks that the current operation has not changed.
    pub(super) fn flush_to_limit(&mut self, writing: &mut StructuredWriting<'_, '_>) -> Result<()> {
        let older = self.dirty.older();
        self.flush_some(writing, older)?;
        if self.dirty.bytes() > self.limit { self.store_all(writing) } else { Ok(()) }
    }

    /// Encodes and stores the structured chunks with the given coordinates, if they are dirty.
    pub(super) fn flush_some(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        chunks: Vec<Dims>,
    ) -> Result<()> {
        let mut chunks = chunks.into_iter().peekable();
        while chunks.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0_usize);
            while let Some(scaled) = chunks.next_if(|_| bytes < BATCH_BYTES) {
                if let Some(chunk) = self.dirty.remove(&scaled) {
                    bytes += chunk.memory_bytes();
                    batch.push((scaled, chunk));
                }
            }
            self.store(writing, batch, bytes)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        batch: Vec<(Dims, DefinedChunk)>,
        bytes: usize,
    ) -> Result<()> {
        let encoded = match self.encode(writing.edit.store(), &batch, bytes) {
            Ok(encoded) => encoded,
            Err(error) => {
                // The chunks stay dirty, so that the next flush reports the error, too.
                batch.into_iter().for_each(|(scaled, chunk)| self.dirty.insert(scaled, chunk, u64::MAX));
                return Err(error);
            }
        };
        let mut stored = Vec::with_capacity(batch.len());
        let mut outcome = Ok(());
        for ((scaled, chunk), encoded) in batch.into_iter().zip(encoded) {
            if let Some(encoded) = encoded {
                stored.push((scaled, encoded, Some(chunk)));
                continue;
            }
            outcome = outcome.and_then(|()| self.remove(writing, &scaled));
            if outcome.is_err() {
                self.dirty.insert(scaled, chunk, u64::MAX);
            }
        }
        let outcome = outcome.and_then(|()| self.put_encoded(writing, &mut stored));
        if outcome.is_err() {
            // The chunks stay dirty, so that the next flush stores them.
            for (scaled, _, chunk) in stored {
                if let Some(chunk) = chunk {
                    self.dirty.insert(scaled, chunk, u64::MAX);
                }
            }
        }
        outcome
    }

    /// Encodes a batch of structured chunks. Returns `None` for each chunk without defined
    /// elements.
    fn encode(
        &mut self,
        store: &Store,
        batch: &[(Dims, DefinedChunk)],
        bytes: usize,
    ) -> Result<Vec<Option<EncodedChunk>>> {
        self.choose_encoding(store)?;
        if self.form.sections.iter().any(|section| section.runs_only.is_none()) {
            let largest = batch.iter().max_by_key(|(_, chunk)| chunk.defined.len());
            if let Some((_, chunk)) = largest.filter(|(_, chunk)| chunk.defined.len() >= MIN_TUNING_ELEMENTS)
            {
                self.form.tune(store, chunk)?;
            }
        }
        let (form, table) = (&self.form, &self.table);
        let encode = |(scaled, chunk): &(Dims, DefinedChunk)| {
            if chunk.defined.is_empty() {
                return Ok(None);
            }
            let before = if table.is_empty() { None } else { table.get(store, scaled)? };
            form.encode_chunk(store, scaled, chunk, before.as_ref()).map(Some)
        };
        if batch.len() > 1 && parallel::use_threads(store, bytes as u64) && form.allows_threads(store) {
            store.share(|| batch.par_iter().map(encode).collect())
        } else {
            batch.iter().map(encode).collect()
        }
    }

    /// Chooses the encoding of the set of defined elements for new structured chunks, unless it is
    /// already chosen. During a resize, the dataset still has its old shape.
    pub(super) fn choose_encoding(&mut self, store: &Store) -> Result<()> {
        if self.form.encoding.is_none() {
            self.form.encoding = Some(self.encoding_in_use(store)?);
        }
        Ok(())
    }

    /// Returns the encoding that the first stored structured chunk uses for its set of defined
    /// elements. New chunks of the dataset use the same encoding.
    fn encoding_in_use(&self, store: &Store) -> Result<DefinedEncoding> {
        if self.table.is_empty() || !self.form.kind.is_sparse() {
            return Ok(DefinedEncoding::default());
        }
        // A dataset without elements may still have chunks of an earlier shape: look up the first
        // chunk.
        let last = self.form.grid.counts().iter().map(|count| (*count).max(1) - 1).collect();
        let all = ChunkBox { first: Dims::from_elem(0, self.form.grid.rank()), last };
        let mut first = None;
        let outcome = self.table.for_each_in(store, &all, &mut |scaled, location| {
            first = Some((Dims::from_slice(scaled), location));
            Err(Error::Misuse("the walk ends at the first chunk".into()))
        });
        let Some((scaled, location)) = first else {
            return outcome.map(|()| DefinedEncoding::default());
        };
        self.form.encoding_of(store, &scaled, &location)
    }

    /// Replaces the stored bytes of the structured chunk that holds the element with the
    /// coordinates `element`.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if there is no such element, and errors of decoding the bytes,
    /// both without a change.
    pub fn put_stored(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        element: &[u64],
        bytes: &[u8],
        sections: ChunkSections,
    ) -> Result<()> {
        let (scaled, _) = self.form.grid.locate(element)?;
        if sections.0.len() != self.form.sections.len() || sections.chunk_size() != bytes.len() as u64 {
            let (got, size) = (bytes.len(), sections.chunk_size());
            return Err(Error::Misuse(format!(
                "{got} bytes are given for a chunk whose {} given section sizes add up to {size} bytes; each \
                 chunk of this dataset must have {} sections",
                sections.0.len(),
                self.form.sections.len()
            )));
        }
        let location = self.form.location(Address::UNDEFINED, &sections)?;
        let chunk = self.form.decode_stored(writing.edit.store(), &scaled, &location, bytes)?;
        if self.form.clipped(&scaled, chunk.clone())? != chunk {
            return Err(Error::Misuse("the chunk has elements outside the dataset".into()));
        }
        self.dirty.remove(&scaled);
        if chunk.defined.is_empty() {
            return self.remove(writing, &scaled);
        }
        let encoded = EncodedChunk { bytes: bytes.to_vec(), sections };
        self.put_encoded(writing, &mut vec![(scaled, encoded, Some(chunk))])
    }

    /// Removes a structured chunk from the file and from the chunk index.
    pub(super) fn remove(&mut self, writing: &mut StructuredWriting<'_, '_>, scaled: &Dims) -> Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        if let Some(location) = self.table.remove(writing.edit, scaled)? {
            writing.cache.remove((self.form.owner, location.address));
            writing.edit.free(SpaceKind::RawData, location.address, location.size)?;
        }
        Ok(())
    }

    /// Stores encoded structured chunks, which are in C order. A chunk keeps its address if its
    /// number of bytes stays the same. The decoded chunks move to the chunk cache. `chunks` is
    /// empty afterwards, except after an error.
    pub(super) fn put_encoded(
        &mut self,
        writing: &mut StructuredWriting<'_, '_>,
        chunks: &mut Vec<(Dims, EncodedChunk, Option<DefinedChunk>)>,
    ) -> Result<()> {
        let (mut locations, mut replaced) = (Vec::with_capacity(chunks.len()), Vec::new());
        for (scaled, encoded, _) in &*chunks {
            let size = encoded.bytes.len() as u64;
            let store = writing.edit.store();
            let before = if self.table.is_empty() { None } else { self.table.get(store, scaled)? };
            if let Some(before) = &before {
                writing.cache.remove((self.form.owner, before.address));
            }
            let address = match before {
                Some(before) if before.size == size => before.address,
                before => {
                    replaced.extend(before);
                    writing.edit.allocate(SpaceKind::RawData, size)?
                }
            };
            locations.push((scaled.clone(), self.form.location(address, &encoded.sections)?));
        }
        let parts = chunks
            .iter()
            .zip(&locations)
            .map(|((_, encoded, _), (_, location))| (location.address, &encoded.bytes[..]));
        staged::write_joined(writing.edit.store(), parts)?;
        self.table.insert(writing.edit, &locations)?;
        // The index no longer refers to the old chunks, so they can be freed even if a later step
        // fails.
        for location in replaced {
            writing.edit.free(SpaceKind::RawData, location.address, location.size)?;
        }
        for ((_, _, chunk), (_, location)) in chunks.drain(..).zip(&locations) {
            writing.cache.remove((self.form.owner, location.address));
            if let Some(chunk) = chunk.filter(|chunk| writing.cache.takes(chunk.memory_bytes() as u64)) {
                writing.cache.insert((self.form.owner, location.address), Arc::new(chunk));
            }
        }
        Ok(())
    }
}
