//! Stored structured chunks.

use std::ops::ControlFlow;

use hyperslab_engine::format::{ChunkSection, ChunkSections, Layout as StoredLayout};
use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::sparse::{ChunkKind, StructuredSource};
use hyperslab_engine::store::Reading;
use hyperslab_engine::{Error, Result};

use super::Section;
use super::SparseView;
use crate::ChunkIndexKind;
use crate::layout::FilterInfo;

/// The description of a dataset's structured chunks: their shape, sections and filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunking {
    /// The shape of a chunk, in elements.
    pub shape: Vec<u64>,
    /// The kind of chunk index.
    pub index: ChunkIndexKind,
    /// `true` if chunks store only defined elements.
    pub sparse: bool,
    /// `true` if chunks that extend past the edge of the dataset are stored without filters.
    pub edges_unfiltered: bool,
    /// The sections, and the filters of each section in the order of encoding.
    pub sections: Vec<(Section, Vec<FilterInfo>)>,
}

/// The description of one section of a stored structured chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionInfo {
    /// The kind of section.
    pub section: Section,
    /// The offset of the first byte, from the start of the chunk.
    pub offset: u64,
    /// The stored size in bytes.
    pub size: u64,
    /// The size of the decoded section in bytes, including its checksum.
    pub unfiltered: u64,
    /// The filters that were skipped: bit i is set if filter i did not encode the section.
    pub filter_mask: u32,
}

/// The description of a stored structured chunk: its coordinates, address, size and sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunkInfo {
    /// The coordinates of the first element.
    pub offset: Vec<u64>,
    /// The address, in bytes from the file's base address.
    pub address: u64,
    /// The stored size in bytes.
    pub size: u64,
    /// The number of defined elements within the extent.
    pub defined: u64,
    /// The sections of the chunk.
    pub sections: Vec<SectionInfo>,
}

/// A stored structured chunk with its encoded bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunk {
    /// The address and size of the chunk, and its sections.
    pub info: StructuredChunkInfo,
    /// The encoded bytes of all sections.
    pub bytes: Vec<u8>,
}

impl StructuredChunk {
    /// Returns the encoded bytes of one section of the structured chunk; `None` if the chunk does
    /// not have the section.
    pub fn section(&self, section: Section) -> Option<&[u8]> {
        let info = self.info.sections.iter().find(|info| info.section == section)?;
        let range =
            usize::try_from(info.offset).ok()?..usize::try_from(info.offset.checked_add(info.size)?).ok()?;
        self.bytes.get(range)
    }
}

impl SparseView<'_> {
    /// Returns the description of the dataset's structured chunks; `None` if the dataset has
    /// another layout.
    ///
    /// ```
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f32>().shape(&[100]).sparse(&[10]).deflate(4).create()?;
    /// let chunking = a.sparse().chunking().map(|chunks| (chunks.shape, chunks.sections.len()));
    /// assert_eq!(chunking, Some((vec![10], 2)));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn chunking(&self) -> Option<StructuredChunking> {
        let description = &self.dataset.description();
        let StoredLayout::Structured(layout) = &description.layout.layout else { return None };
        let rank = description.dataspace.dims().len();
        let variable = description.datatype.is_variable_length();
        let sparse = layout.chunk_type.contains(hyperslab_engine::format::StructuredChunkType::SPARSE);
        let sections = Section::all(sparse, variable).iter().zip(0_u8..);
        Some(StructuredChunking {
            shape: layout.dims.iter().take(rank).copied().collect(),
            index: hyperslab_engine::ops::datasets::structured_index_kind(layout),
            sparse,
            edges_unfiltered: layout
                .flags
                .contains(hyperslab_engine::format::ChunkFlags::DO_NOT_FILTER_EDGE_CHUNKS),
            sections: sections
                .map(|(section, number)| (*section, FilterInfo::of_section(description, number)))
                .collect(),
        })
    }

    /// Returns the descriptions of the dataset's stored structured chunks, in the order of the
    /// chunk index.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no structured
    /// chunks, and [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if the chunk index, or a chunk
    /// at the edge of the dataset, is damaged.
    pub fn chunks(&self) -> Result<Vec<StructuredChunkInfo>> {
        let mut chunks = Vec::new();
        self.walk_chunks(&mut |chunk| {
            chunks.push(chunk);
            ControlFlow::Continue(())
        })?;
        Ok(chunks)
    }

    /// Calls `visit` with each stored structured chunk of the dataset, in the order of the chunk
    /// index, until `visit` returns [`ControlFlow::Break`].
    ///
    /// In a file that is open for reading only, memory never holds the whole list of chunks. In a
    /// file that is open for writing, the chunks are those at the time of the call, and `visit` may
    /// change the file.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let a = file.new_dataset("a").of::<f32>().shape(&[100]).sparse(&[10]).create()?;
    /// a.sparse().write(&Points::from_rows([[33], [99], [90]]), &[1.0, 2.0, 3.0])?;
    /// let mut counts = Vec::new();
    /// a.sparse().visit_chunks(|chunk| {
    ///     counts.push((chunk.offset[0], chunk.defined));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(counts, [(30, 1), (90, 2)]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`chunks`](Self::chunks).
    pub fn visit_chunks(&self, mut visit: impl FnMut(StructuredChunkInfo) -> ControlFlow<()>) -> Result<()> {
        if !self.dataset.object().file().container.store.is_writable() {
            return self.walk_chunks(&mut visit);
        }
        let _ = self.chunks()?.into_iter().try_for_each(visit);
        Ok(())
    }

    /// Calls `visit` with each stored structured chunk of the dataset. Holds shared access to the
    /// structure of the file during the calls.
    fn walk_chunks(&self, visit: &mut dyn FnMut(StructuredChunkInfo) -> ControlFlow<()>) -> Result<()> {
        let file = self.dataset.object().file();
        let (open, _reading) = self.dataset.current()?;
        let mut stopped = false;
        let mut walk = || {
            let source = open.structured_chunks(file)?.ok_or_else(not_structured)?;
            source.for_each_chunk(&file.container.store, &mut |scaled, location| {
                if !stopped {
                    stopped = visit(info(file, &source, scaled, &location)?).is_break();
                }
                Ok(())
            })
        };
        walk().map_err(|error| self.dataset.context(error))
    }

    /// Calls `at` with the size in bytes that each structured chunk of the dataset has in the file.
    pub(crate) fn for_each_stored_size(&self, at: &mut dyn FnMut(u64)) -> Result<()> {
        let file = self.dataset.object().file();
        let (open, _reading) = self.dataset.current()?;
        let source = open.structured_chunks(file).and_then(|source| source.ok_or_else(not_structured));
        let walk = source.and_then(|source| {
            source.for_each_chunk(&file.container.store, &mut |_, location| {
                at(location.size);
                Ok(())
            })
        });
        walk.map_err(|error| self.dataset.context(error))
    }

    /// Returns the stored chunk of a sparse dataset that holds the element at the coordinates
    /// `element`. Returns `None` if the chunk is not stored.
    ///
    /// # Errors
    /// Returns the errors of [`chunks`](Self::chunks), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no such element.
    pub fn chunk_at(&self, element: &[u64]) -> Result<Option<StructuredChunkInfo>> {
        self.chunk_under_reading(element).map(|(chunk, _reading)| chunk)
    }

    /// Returns the structured chunk that holds the element at the coordinates `element`, and a
    /// guard that gives shared access to the structure of the file. The chunk does not change while
    /// the guard exists.
    fn chunk_under_reading(&self, element: &[u64]) -> Result<(Option<StructuredChunkInfo>, Reading<'_>)> {
        let file = self.dataset.object().file();
        let (open, reading) = self.dataset.current()?;
        let find = || {
            let source = open.structured_chunks(file)?.ok_or_else(not_structured)?;
            let found = source.chunk_at(&file.container.store, element)?;
            found.map(|(scaled, location)| info(file, &source, &scaled, &location)).transpose()
        };
        Ok((find().map_err(|error| self.dataset.context(error))?, reading))
    }

    /// Reads the encoded bytes of the dataset's structured chunk that holds the element at the
    /// coordinates `element`; `None` if the chunk is not stored.
    ///
    /// For an example see [`write_chunk`](Self::write_chunk).
    ///
    /// # Errors
    /// Returns the errors of [`chunk_at`](Self::chunk_at), and I/O errors.
    pub fn read_chunk(&self, element: &[u64]) -> Result<Option<StructuredChunk>> {
        let (info, _reading) = self.chunk_under_reading(element)?;
        let Some(info) = info else { return Ok(None) };
        let store = &self.dataset.object().file().container.store;
        let bytes = store.read_raw_vec(hyperslab_engine::Address::new(info.address), info.size);
        Ok(Some(StructuredChunk { info, bytes: bytes.map_err(|error| self.dataset.context(error))? }))
    }

    /// Replaces the dataset's structured chunk that holds the element at the coordinates `element`.
    /// The new chunk comes from [`read_chunk`](Self::read_chunk) of this or another dataset, and
    /// must decode with the filters, the chunk shape and the datatype of this dataset.
    ///
    /// ```
    /// use hyperslab::Points;
    /// # let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let from = file.new_dataset("a").of::<i32>().shape(&[100]).sparse(&[10]).deflate(6).create()?;
    /// let to = file.new_dataset("b").of::<i32>().shape(&[100]).sparse(&[10]).deflate(6).create()?;
    /// from.sparse().write(&Points::from_rows([[12]]), &[5])?;
    /// if let Some(chunk) = from.sparse().read_chunk(&[10])? {
    ///     to.sparse().write_chunk(&[50], &chunk)?;
    /// }
    /// assert_eq!(to.read_raw::<i32>(..)?[52], 5);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset has no structured
    /// chunks or no such element. Returns decoding errors of `chunk`. After an error nothing is
    /// written.
    pub fn write_chunk(&self, element: &[u64], chunk: &StructuredChunk) -> Result<()> {
        let section = |info: &SectionInfo| ChunkSection {
            offset: info.offset,
            size: info.size,
            unfiltered: info.unfiltered,
            filter_mask: info.filter_mask,
        };
        let sections = ChunkSections(chunk.info.sections.iter().map(section).collect());
        self.change_chunks(None, None, |writer, writing| {
            writer.put_stored(writing, element, &chunk.bytes, sections)
        })
    }
}

fn not_structured() -> Error {
    Error::Misuse("the dataset has no structured chunks".into())
}

fn info(
    file: &OpenFile,
    source: &StructuredSource,
    scaled: &[u64],
    location: &hyperslab_engine::ops::sparse::StructuredLocation,
) -> Result<StructuredChunkInfo> {
    let kinds = match source.form.kind {
        ChunkKind::Sparse => Section::all(true, false),
        ChunkKind::SparseVariable => Section::all(true, true),
        ChunkKind::DenseVariable => Section::all(false, true),
    };
    let sections = source.form.sections_of(location)?;
    let of = |(section, stored): (&Section, &ChunkSection)| SectionInfo {
        section: *section,
        offset: stored.offset,
        size: stored.size,
        unfiltered: stored.unfiltered,
        filter_mask: stored.filter_mask,
    };
    Ok(StructuredChunkInfo {
        offset: source.form.origin(scaled).to_vec(),
        address: location.address.raw(),
        size: location.size,
        defined: source.count_defined(file.read_context(), scaled, location)?,
        sections: kinds.iter().zip(&sections.0).map(of).collect(),
    })
}
