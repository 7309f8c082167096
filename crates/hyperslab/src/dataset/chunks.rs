//! Stored chunks: their places in the file and their bytes, encoded by the filters.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::elements::ChunkedSource;
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};

use super::Dataset;
use crate::ChunkInfo;

/// A chunk as it is stored, behind its filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// The chunk's place, and the filters that it passed.
    pub info: ChunkInfo,
    /// The stored bytes.
    pub bytes: Vec<u8>,
}

/// The stored chunks of a dataset; made by [`Dataset::chunks`].
///
/// The methods return [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) for a dataset in another layout. Structured chunks
/// are in the [`SparseView`](crate::SparseView).
#[derive(Debug, Clone, Copy)]
pub struct Chunks<'a> {
    dataset: &'a Dataset,
}

impl Dataset {
    /// Returns a view of the stored chunks: their places in the file, and their bytes behind the filters.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// for chunk in temperature.chunks().list()? {
    ///     println!("{:?}: {} bytes at {}", chunk.offset, chunk.size, chunk.address);
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks { dataset: self }
    }
}

impl<'a> Chunks<'a> {
    /// Returns the address of the chunk index, in bytes from the file's base address: the address in the Data Layout
    /// message (HDF5 File Format Specification, IV.A.2.i), which is that of the chunk if there is one chunk without an
    /// index. `None` while no chunk is stored, and in other layouts.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let dataset = file.new_dataset("a").of::<i32>().shape(&[4]).chunks(&[2]).create()?;
    /// assert_eq!(dataset.chunks().index_address(), None);
    /// dataset.write(.., &[1, 2, 3, 4])?;
    /// assert!(dataset.chunks().index_address().is_some());
    /// # file.close()?;
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn index_address(&self) -> Option<u64> {
        let open = self.dataset.open().unwrap_or_else(|_| Arc::clone(&self.dataset.first));
        match &open.description.layout.layout {
            StoredLayout::Chunked(chunked) => chunked.address.get(),
            StoredLayout::Structured(structured) => structured.address.get(),
            _ => None,
        }
    }

    /// Returns the stored chunks, in the order of the index.
    ///
    /// # Errors
    /// An error if the dataset has no chunks or the index is damaged.
    pub fn list(&self) -> Result<Vec<ChunkInfo>> {
        let mut chunks = Vec::new();
        self.for_each(&mut |chunk| chunks.push(chunk))?;
        Ok(chunks)
    }

    /// Passes each stored chunk to `at`.
    pub(super) fn for_each(&self, at: &mut dyn FnMut(ChunkInfo)) -> Result<()> {
        self.walk(&mut |chunk| {
            at(chunk);
            ControlFlow::Continue(())
        })
    }

    /// Passes each stored chunk to `visit` while the file is held.
    fn walk(&self, visit: &mut dyn FnMut(ChunkInfo) -> ControlFlow<()>) -> Result<()> {
        let (source, _reading) = self.source()?;
        let mut stopped = false;
        let mut unless_stopped = |chunk| {
            if !stopped {
                stopped = visit(chunk).is_break();
            }
        };
        ChunkInfo::for_each(&self.dataset.object.file().container.store, &source, &mut unless_stopped)
            .map_err(|error| self.dataset.context(error))
    }

    /// Passes each stored chunk to `visit`, in the order of the index, until `visit` returns [`ControlFlow::Break`]. In a
    /// file that is only read the chunks are not in memory all at once. In a file that can be changed they are the chunks
    /// as they were at the call: `visit` may change the file.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use std::ops::ControlFlow;
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let mut first = None;
    /// temperature.chunks().visit(|chunk| {
    ///     first = Some(chunk);
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(first, temperature.chunks().list()?.into_iter().next());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`list`](Self::list).
    pub fn visit(&self, mut visit: impl FnMut(ChunkInfo) -> ControlFlow<()>) -> Result<()> {
        if !self.dataset.object.file().container.store.is_writable() {
            return self.walk(&mut visit);
        }
        let _ = self.list()?.into_iter().try_for_each(visit);
        Ok(())
    }

    /// Returns the chunk that holds the element with these coordinates; `None` if it is not stored.
    ///
    /// # Errors
    /// The errors of [`list`](Self::list), and an error if there is no such element.
    pub fn at(&self, element: &[u64]) -> Result<Option<ChunkInfo>> {
        let (source, _reading) = self.source()?;
        let store = &self.dataset.object.file().container.store;
        ChunkInfo::at(store, &source, element).map_err(|error| self.dataset.context(error))
    }

    /// Reads the stored bytes of the chunk that holds the element with these coordinates, behind the filters; `None` if
    /// it is not stored. They can be copied to another dataset of the same filters without decoding them.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let chunk = temperature.chunks().read(&[0])?.map(|chunk| (chunk.bytes.len() as u64, chunk.info.size));
    /// assert!(chunk.is_none_or(|(got, size)| got == size));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`at`](Self::at), and an error if the bytes cannot be read.
    pub fn read(&self, element: &[u64]) -> Result<Option<StoredChunk>> {
        // Held until the bytes are read, so that they are those of this chunk.
        let (source, _reading) = self.source()?;
        let store = &self.dataset.object.file().container.store;
        let info = ChunkInfo::at(store, &source, element).map_err(|error| self.dataset.context(error))?;
        let Some(info) = info else { return Ok(None) };
        let bytes = store.read_raw_vec(hyperslab_engine::Address::new(info.address), info.size);
        Ok(Some(StoredChunk { info, bytes: bytes.map_err(|error| self.dataset.context(error))? }))
    }

    fn source(&self) -> Result<(Arc<ChunkedSource>, Reading<'a>)> {
        let dataset = self.dataset;
        let (open, reading) = dataset.current()?;
        let source = open.chunks(dataset.object.file()).map_err(|error| dataset.context(error))?;
        let source = source.ok_or_else(|| Error::Misuse(format!("`{}` is not chunked", dataset.name())))?;
        Ok((source, reading))
    }

    /// Replaces the stored bytes of the chunk that holds the element with these coordinates. `bytes` have passed the
    /// filters already, except those whose bit is set in `filter_mask`; they are not checked.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let from = file.new_dataset("a").chunks(&[4]).deflate(6).write(&[1, 2, 3, 4])?;
    /// let to = file.new_dataset("b").of::<i32>().shape(&[8]).chunks(&[4]).deflate(6).create()?;
    /// if let Some(chunk) = from.chunks().read(&[0])? {
    ///     to.chunks().write(&[4], &chunk.bytes, chunk.info.filter_mask)?;
    /// }
    /// assert_eq!(to.read_raw::<i32>(..)?, [0, 0, 0, 0, 1, 2, 3, 4]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not chunked or has no such element.
    pub fn write(&self, element: &[u64], bytes: &[u8], filter_mask: u32) -> Result<()> {
        let (file, address) = (self.dataset.object.file(), self.dataset.object.address());
        self.dataset.change(|edit| file.write_stored_chunk(edit, address, element, bytes, filter_mask))
    }
}
