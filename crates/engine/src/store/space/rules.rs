//! By which rules space is given away: the strategy of the file, pages, aggregation, alignment.

use hyperslab_format::message::{FileSpaceInfo, FileSpaceStrategy};

/// What a block is for, in the order in which file space info messages list their managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpaceKind {
    /// The superblock and its extension.
    Superblock,
    /// Nodes of B-trees, symbol tables, super blocks of extensible arrays.
    BTree,
    /// Elements of datasets, huge objects of fractal heaps.
    RawData,
    /// Collections of the global heap.
    GlobalHeap,
    /// Local heaps, direct blocks of fractal heaps, data blocks of arrays, sections of free space.
    LocalHeap,
    /// Object headers, and the headers and index blocks of heaps and arrays.
    ObjectHeader,
}

impl SpaceKind {
    /// All kinds, in order.
    pub const ALL: [Self; 6] =
        [Self::Superblock, Self::BTree, Self::RawData, Self::GlobalHeap, Self::LocalHeap, Self::ObjectHeader];

    /// The place in [`ALL`](Self::ALL).
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Superblock => 0,
            Self::BTree => 1,
            Self::RawData => 2,
            Self::GlobalHeap => 3,
            Self::LocalHeap => 4,
            Self::ObjectHeader => 5,
        }
    }
}

/// How a new file manages its space (`H5Pset_file_space_strategy`, `H5Pset_file_space_page_size`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// Who hands out space.
    pub strategy: FileSpaceStrategy,
    /// True if free space is stored when the file is closed, to be used again when it is opened.
    pub persist: bool,
    /// The smallest free section that is kept in mind, in bytes.
    pub threshold: u64,
    /// Bytes of a page under [`FileSpaceStrategy::Page`].
    pub page_size: u64,
}

impl FileSpace {
    /// The smallest page, in bytes.
    pub const MIN_PAGE_SIZE: u64 = 512;
}

impl Default for FileSpace {
    fn default() -> Self {
        Self {
            strategy: FileSpaceStrategy::FreeSpaceAndAggregators,
            persist: false,
            threshold: 1,
            page_size: FileSpaceInfo::DEFAULT_PAGE_SIZE,
        }
    }
}

/// How blocks are laid while a file is open for writing; nothing of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Bytes by which the room for small metadata grows (`H5Pset_meta_block_size`).
    pub metadata_block: u64,
    /// Bytes by which the room for small raw data grows (`H5Pset_small_data_block_size`).
    pub raw_block: u64,
    /// Blocks of so many bytes at least begin at a multiple of `alignment` (`H5Pset_alignment`).
    pub alignment_threshold: u64,
    /// What the addresses of aligned blocks are multiples of.
    pub alignment: u64,
}

impl Default for Placement {
    fn default() -> Self {
        Self { metadata_block: 2048, raw_block: 2048, alignment_threshold: 1, alignment: 1 }
    }
}

/// Which free sections a block is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Metadata, under pages: shorter than a page.
    Metadata,
    /// Raw data and the global heap, under pages: shorter than a page.
    Raw,
    /// Under pages: all that takes a page or more.
    Large,
}

impl Class {
    pub(crate) const ALL: [Self; 3] = [Self::Metadata, Self::Raw, Self::Large];

    pub(super) const fn index(self) -> usize {
        match self {
            Self::Metadata => 0,
            Self::Raw => 1,
            Self::Large => 2,
        }
    }
}

/// The rules of one open file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// True if free sections are kept in mind.
    pub(super) tracks: bool,
    /// True if small blocks are laid next to each other.
    pub(super) aggregates: bool,
    pub(super) page: Option<u64>,
    /// The smallest free section that is kept in mind.
    pub(super) threshold: u64,
    /// The smallest free section of metadata at the end of a page that is kept in mind, less one.
    pub(super) page_end_threshold: u64,
    pub(super) placement: Placement,
    /// The highest address that the width of offsets can say.
    pub(super) limit: u64,
}

impl Rules {
    /// The rules of a file that says that of its space. Addresses stay below `limit`.
    pub(crate) fn new(info: &FileSpaceInfo, placement: Placement, limit: u64) -> Self {
        let (tracks, aggregates, page) = match info.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => (true, true, None),
            FileSpaceStrategy::Page => (true, false, Some(info.page_size.max(1))),
            FileSpaceStrategy::Aggregators => (false, true, None),
            FileSpaceStrategy::None => (false, false, None),
        };
        let page_end_threshold = u64::from(info.page_end_threshold);
        Self { tracks, aggregates, page, threshold: info.threshold, page_end_threshold, placement, limit }
    }

    /// Where a block of that kind and length belongs.
    pub(super) fn class(&self, kind: SpaceKind, length: u64) -> Class {
        match kind {
            _ if self.page.is_some_and(|page| length >= page) => Class::Large,
            SpaceKind::RawData | SpaceKind::GlobalHeap => Class::Raw,
            SpaceKind::Superblock | SpaceKind::BTree | SpaceKind::LocalHeap | SpaceKind::ObjectHeader => {
                Class::Metadata
            }
        }
    }

    /// What the address of a block of that length is a multiple of.
    pub(super) fn alignment(&self, length: u64) -> u64 {
        if length >= self.placement.alignment_threshold { self.placement.alignment.max(1) } else { 1 }
    }

    /// Bytes by which the room for small blocks grows.
    pub(super) fn block(&self, class: Class) -> u64 {
        match class {
            _ if !self.aggregates => 0,
            Class::Metadata => self.placement.metadata_block,
            Class::Raw => self.placement.raw_block,
            Class::Large => 0,
        }
    }
}
