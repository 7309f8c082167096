//! Structured chunks as they are stored.

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

/// How a dataset is cut into structured chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunking {
    /// Elements of a chunk along each dimension.
    pub shape: Vec<u64>,
    /// How chunks are found.
    pub index: ChunkIndexKind,
    /// True if only defined elements are stored.
    pub sparse: bool,
    /// True if chunks that reach beyond the dataset pass no filters.
    pub edges_unfiltered: bool,
    /// The sections, and the filters of each in the order of writing.
    pub sections: Vec<(Section, Vec<FilterInfo>)>,
}

/// A section of a stored chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionInfo {
    /// Which section.
    pub section: Section,
    /// First byte, counted from the start of the chunk.
    pub offset: u64,
    /// Bytes in the file.
    pub size: u64,
    /// Bytes without filters, the checksum included.
    pub unfiltered: u64,
    /// A bit for each filter that the section has not passed.
    pub filter_mask: u32,
}

/// A structured chunk that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunkInfo {
    /// Coordinates of its first element.
    pub offset: Vec<u64>,
    /// First byte in the file.
    pub address: u64,
    /// Bytes in the file.
    pub size: u64,
    /// Number of defined elements within the dataset.
    pub defined: u64,
    /// Its sections.
    pub sections: Vec<SectionInfo>,
}

/// The stored bytes of a structured chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuredChunk {
    /// Where it lies, and what filters did to its sections.
    pub info: StructuredChunkInfo,
    /// The bytes of all sections.
    pub bytes: Vec<u8>,
}

impl StructuredChunk {
    /// The stored bytes of a section.
    pub fn section(&self, section: Section) -> Option<&[u8]> {
        let info = self.info.sections.iter().find(|info| info.section == section)?;
        let range =
            usize::try_from(info.offset).ok()?..usize::try_from(info.offset.checked_add(info.size)?).ok()?;
        self.bytes.get(range)
    }
}

impl SparseView<'_> {
    /// How the dataset is cut into structured chunks, if it is.
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

    /// The stored structured chunks, in the order of the index.
    ///
    /// # Errors
    /// If the dataset has none, or the index or a chunk at the edge is damaged.
    pub fn chunks(&self) -> Result<Vec<StructuredChunkInfo>> {
        let mut chunks = Vec::new();
        self.walk_chunks(&mut |chunk| {
            chunks.push(chunk);
            ControlFlow::Continue(())
        })?;
        Ok(chunks)
    }

    /// Passes each stored structured chunk to `visit`, in the order of the index, until `visit` returns
    /// [`ControlFlow::Break`]. In a file that is only read the chunks are not in memory all at once. In a file that can be
    /// changed they are the chunks as they were at the call: `visit` may change the file.
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
    /// The errors of [`chunks`](Self::chunks).
    pub fn visit_chunks(&self, mut visit: impl FnMut(StructuredChunkInfo) -> ControlFlow<()>) -> Result<()> {
        if !self.dataset.object().file().container.store.is_writable() {
            return self.walk_chunks(&mut visit);
        }
        let _ = self.chunks()?.into_iter().try_for_each(visit);
        Ok(())
    }

    /// Passes each chunk to `visit` while the file is held.
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

    /// Gives the stored bytes of each structured chunk to `at`.
    pub(crate) fn for_each_place(&self, at: &mut dyn FnMut(u64)) -> Result<()> {
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

    /// The structured chunk that holds the element with these coordinates; `None` if it is not stored.
    ///
    /// # Errors
    /// As [`chunks`](Self::chunks), and if there is no such element.
    pub fn chunk_at(&self, element: &[u64]) -> Result<Option<StructuredChunkInfo>> {
        self.chunk_held(element).map(|(chunk, _reading)| chunk)
    }

    /// The chunk as it is, and stays while the second value lives.
    fn chunk_held(&self, element: &[u64]) -> Result<(Option<StructuredChunkInfo>, Reading<'_>)> {
        let file = self.dataset.object().file();
        let (open, reading) = self.dataset.current()?;
        let find = || {
            let source = open.structured_chunks(file)?.ok_or_else(not_structured)?;
            let found = source.chunk_at(&file.container.store, element)?;
            found.map(|(scaled, location)| info(file, &source, &scaled, &location)).transpose()
        };
        Ok((find().map_err(|error| self.dataset.context(error))?, reading))
    }

    /// The stored bytes of the structured chunk that holds the element with these coordinates, behind the filters; `None`
    /// if it is not stored.
    ///
    /// # Errors
    /// As [`chunk_at`](Self::chunk_at), and if the bytes cannot be read.
    pub fn read_chunk(&self, element: &[u64]) -> Result<Option<StructuredChunk>> {
        let (info, _reading) = self.chunk_held(element)?;
        let Some(info) = info else { return Ok(None) };
        let store = &self.dataset.object().file().container.store;
        let bytes = store.read_raw_vec(hyperslab_engine::Address::new(info.address), info.size);
        Ok(Some(StructuredChunk { info, bytes: bytes.map_err(|error| self.dataset.context(error))? }))
    }

    /// Puts the stored bytes of a structured chunk, behind its filters, in place of the chunk that holds the element with
    /// these coordinates. They must decode with this dataset's filters and chunk shape.
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
    /// If there is no such element, or the chunk does not decode; nothing is written then.
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
    Error::Misuse("it is not in structured chunks".into())
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
