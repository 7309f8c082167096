//! Stored chunks: their places in the file and their bytes, encoded by the filters.

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::elements::ChunkedSource;
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};
use std::sync::Arc;

use super::Dataset;
use crate::ChunkInfo;

/// A chunk as it is stored, behind its filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Where it lies, and which filters it passed.
    pub info: ChunkInfo,
    /// The stored bytes.
    pub bytes: Vec<u8>,
}

impl Dataset {
    /// Where the index of the chunks lies, in bytes from the file's base address: the address of the
    /// Data Layout message (HDF5 File Format Specification, IV.A.2.i), which is that of the chunk if there is one without
    /// an index. `None` while no chunk is stored, and in other layouts.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[4]).chunks(&[2]).create()?;
    /// assert_eq!(dataset.chunk_index_address(), None);
    /// dataset.write_raw(&[1, 2, 3, 4])?;
    /// assert!(dataset.chunk_index_address().is_some());
    /// # file.close()?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn chunk_index_address(&self) -> Option<u64> {
        match &self.open().unwrap_or_else(|_| Arc::clone(&self.first)).description.layout.layout {
            StoredLayout::Chunked(chunked) => chunked.address.get(),
            StoredLayout::Structured(structured) => structured.address.get(),
            _ => None,
        }
    }

    /// The stored chunks, in the order of the index.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// for chunk in temperature.chunks()? {
    ///     println!("{:?}: {} bytes at {}", chunk.offset, chunk.size, chunk.address);
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dataset has no chunks or the index is damaged.
    pub fn chunks(&self) -> Result<Vec<ChunkInfo>> {
        let mut chunks = Vec::new();
        self.for_each_chunk(|chunk| chunks.push(chunk))?;
        Ok(chunks)
    }

    /// Gives each stored chunk to `at`, in the order of the index. Of a file that is only read they are not kept all at once.
    /// Of one that can be changed they are the chunks as they were when this was called: `at` may change the file.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks).
    pub fn for_each_chunk(&self, mut at: impl FnMut(ChunkInfo)) -> Result<()> {
        let (source, reading) = self.chunked()?;
        let store = &self.object.file().container.store;
        if !store.is_writable() {
            return ChunkInfo::for_each(store, &source, &mut at).map_err(|error| self.context(error));
        }
        let mut chunks = Vec::new();
        ChunkInfo::for_each(store, &source, &mut |chunk| chunks.push(chunk))
            .map_err(|error| self.context(error))?;
        drop(reading);
        chunks.into_iter().for_each(at);
        Ok(())
    }

    /// The chunk that holds the element with these coordinates; `None` if it is not stored.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks), and if there is no such element.
    pub fn chunk_at(&self, element: &[u64]) -> Result<Option<ChunkInfo>> {
        let (source, _reading) = self.chunked()?;
        let store = &self.object.file().container.store;
        ChunkInfo::at(store, &source, element).map_err(|error| self.context(error))
    }

    /// The stored bytes of the chunk that holds the element with these coordinates, behind the filters; `None` if
    /// it is not stored. They can be copied to another dataset of the same filters without decoding them.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let chunk = temperature.read_stored_chunk(&[0])?.map(|chunk| (chunk.bytes.len() as u64, chunk.info.size));
    /// assert!(chunk.is_none_or(|(got, size)| got == size));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`chunk_at`](Self::chunk_at), and if the bytes cannot be read.
    pub fn read_stored_chunk(&self, element: &[u64]) -> Result<Option<StoredChunk>> {
        // Held until the bytes are read, so that they are those of this chunk.
        let (source, _reading) = self.chunked()?;
        let store = &self.object.file().container.store;
        let info = ChunkInfo::at(store, &source, element).map_err(|error| self.context(error))?;
        let Some(info) = info else { return Ok(None) };
        let bytes = store.read_raw_vec(hyperslab_engine::Address::new(info.address), info.size);
        Ok(Some(StoredChunk { info, bytes: bytes.map_err(|error| self.context(error))? }))
    }

    fn chunked(&self) -> Result<(Arc<ChunkedSource>, Reading<'_>)> {
        let (open, reading) = self.current()?;
        let source = open.chunks(self.object.file()).map_err(|error| self.context(error))?;
        let source = source.ok_or_else(|| Error::Misuse(format!("`{}` is not chunked", self.name())))?;
        Ok((source, reading))
    }

    /// Replaces the stored bytes of the chunk that holds the element with these coordinates. `bytes` have passed the
    /// filters already, except those whose bit is set in `filter_mask`; they are not checked.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let from = file.new_dataset("a").chunks(&[4]).deflate(6).write(&[1, 2, 3, 4])?;
    /// let to = file.new_dataset("b").of::<i32>().shape(&[8]).chunks(&[4]).deflate(6).create()?;
    /// if let Some(chunk) = from.read_stored_chunk(&[0])? {
    ///     to.write_stored_chunk(&[4], &chunk.bytes, chunk.info.filter_mask)?;
    /// }
    /// assert_eq!(to.read_raw::<i32>()?, [0, 0, 0, 0, 1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not chunked or has no such element.
    pub fn write_stored_chunk(&self, element: &[u64], bytes: &[u8], filter_mask: u32) -> Result<()> {
        let (file, address) = (self.object.file(), self.object.address());
        self.change(|edit| file.write_stored_chunk(edit, address, element, bytes, filter_mask))
    }
}
