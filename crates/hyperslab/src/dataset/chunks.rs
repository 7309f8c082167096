//! Stored chunks: their addresses in the file and their encoded bytes.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_engine::format::Layout as StoredLayout;
use hyperslab_engine::ops::elements::ChunkedSource;
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};

use super::Dataset;
use crate::ChunkInfo;

/// A stored chunk of a dataset, with its encoded bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// The address and size of the chunk, and its filter mask.
    pub info: ChunkInfo,
    /// The bytes in the file, encoded by the filters.
    pub bytes: Vec<u8>,
}

/// A view of the stored chunks of a dataset; made by [`Dataset::chunks`].
///
/// The methods return [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the layout is not chunked.
/// For structured chunks see [`SparseView`](crate::SparseView).
#[derive(Debug, Clone, Copy)]
pub struct Chunks<'a> {
    dataset: &'a Dataset,
}

impl Dataset {
    /// Returns a view of the dataset's stored chunks: their addresses in the file and their encoded
    /// bytes.
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
    /// Returns the address of the dataset's chunk index, in bytes from the file's base address.
    /// Returns `None` while no chunk is stored, and in other layouts.
    ///
    /// The Data Layout message contains this address (HDF5 File Format Specification, IV.A.2.i). If
    /// the dataset has a single chunk without an index, the address is that of the chunk.
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

    /// Returns a list of the dataset's stored chunks, in the order of the chunk index.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not chunked, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the chunk index is damaged.
    pub fn list(&self) -> Result<Vec<ChunkInfo>> {
        let mut chunks = Vec::new();
        self.for_each(&mut |chunk| chunks.push(chunk.clone()))?;
        Ok(chunks)
    }

    /// Calls `at` with each stored chunk of the dataset.
    pub(super) fn for_each(&self, at: &mut dyn FnMut(&ChunkInfo)) -> Result<()> {
        self.walk(&mut |chunk| {
            at(chunk);
            ControlFlow::Continue(())
        })
    }

    /// Returns the sum of the sizes in bytes of all stored chunks, or `None` if the sum does not
    /// fit in 64 bits.
    pub(super) fn stored_bytes(&self) -> Result<Option<u64>> {
        let (source, _reading) = self.source()?;
        let max_dims = self.dataset.dataspace().max_dims();
        ChunkInfo::stored_bytes(&self.dataset.object.file().container.store, &source, &max_dims)
            .map_err(|error| self.dataset.context(error))
    }

    /// Calls `visit` with each stored chunk of the dataset until `visit` breaks. Holds shared
    /// access to the structure of the file during the calls.
    fn walk(&self, visit: &mut dyn FnMut(&ChunkInfo) -> ControlFlow<()>) -> Result<()> {
        let (source, _reading) = self.source()?;
        let mut stopped = false;
        let unless_stopped = |chunk: &ChunkInfo| {
            if !stopped {
                stopped = visit(chunk).is_break();
            }
        };
        ChunkInfo::for_each(&self.dataset.object.file().container.store, &source, unless_stopped)
            .map_err(|error| self.dataset.context(error))
    }

    /// Calls `visit` with each stored chunk of the dataset, in the order of the chunk index, until
    /// `visit` returns [`ControlFlow::Break`]. The calls share one description, so that a walk over
    /// millions of chunks allocates no memory for each: clone it to keep it.
    ///
    /// In a file that is open for reading only, memory never holds the whole list of chunks. In a
    /// file that is open for writing, the chunks are those at the time of the call, and `visit` may
    /// change the file.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// use std::ops::ControlFlow;
    /// let temperature = hyperslab::File::open(path)?.dataset("series/temperature")?;
    /// let mut first = None;
    /// temperature.chunks().visit(|chunk| {
    ///     first = Some(chunk.clone());
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(first, temperature.chunks().list()?.into_iter().next());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`list`](Self::list).
    pub fn visit(&self, mut visit: impl FnMut(&ChunkInfo) -> ControlFlow<()>) -> Result<()> {
        if !self.dataset.object.file().container.store.is_writable() {
            return self.walk(&mut visit);
        }
        let _ = self.list()?.iter().try_for_each(visit);
        Ok(())
    }

    /// Returns the dataset's stored chunk that contains the element at the coordinates `element`,
    /// or `None` if the file does not store that chunk.
    ///
    /// # Errors
    /// Returns the errors of [`list`](Self::list), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no such element.
    pub fn at(&self, element: &[u64]) -> Result<Option<ChunkInfo>> {
        let (source, _reading) = self.source()?;
        let store = &self.dataset.object.file().container.store;
        ChunkInfo::at(store, &source, element).map_err(|error| self.dataset.context(error))
    }

    /// Reads the encoded bytes of the dataset's chunk that holds the element at the coordinates
    /// `element`. Returns `None` if the chunk is not stored. [`write`](Self::write) copies these
    /// bytes to a dataset with the same filters, without decoding.
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
    /// Returns the errors of [`at`](Self::at), and I/O errors.
    pub fn read(&self, element: &[u64]) -> Result<Option<StoredChunk>> {
        // Holds the right to read, so that the bytes belong to this chunk.
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

    /// Replaces the encoded bytes of the dataset's chunk that holds the element at the coordinates
    /// `element`. `bytes` must be encoded by the filters of the dataset, without the filters whose
    /// bit is set in `filter_mask` (bit 0 for the first filter). The bytes are not checked.
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
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is not chunked, has
    /// no such element, or the file is open for reading only. Returns I/O errors.
    pub fn write(&self, element: &[u64], bytes: &[u8], filter_mask: u32) -> Result<()> {
        let (file, address) = (self.dataset.object.file(), self.dataset.object.address());
        self.dataset.change(|edit| file.write_stored_chunk(edit, address, element, bytes, filter_mask))
    }
}
