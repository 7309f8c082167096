//! The rules of allocation in a file: its strategy, pages, aggregation, and alignment.

use hyperslab_format::message::{FileSpaceInfo, FileSpaceStrategy};

/// The kind of data in a block of file space. File space info messages list free-space managers in
/// the order of these kinds.
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
    /// The list of all kinds of file space, in the order in which file space info messages list
    /// free-space managers.
    pub const ALL: [Self; 6] =
        [Self::Superblock, Self::BTree, Self::RawData, Self::GlobalHeap, Self::LocalHeap, Self::ObjectHeader];

    /// Returns the index of the kind of file space in the list [`ALL`](Self::ALL).
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

/// The strategy and the page size for the management of a new file's space
/// (`H5Pset_file_space_strategy`, `H5Pset_file_space_page_size`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpace {
    /// The strategy of allocation.
    pub strategy: FileSpaceStrategy,
    /// True to store the free space when the file is closed, for reuse when it is opened again.
    pub persist: bool,
    /// The smallest free section that is tracked, in bytes.
    pub threshold: u64,
    /// Size of a page in bytes under [`FileSpaceStrategy::Page`].
    pub page_size: u64,
}

impl FileSpace {
    /// Smallest page size in bytes of a file with paged allocation.
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

/// The rules for the placement of new blocks in a file while it is open for writing. The file does
/// not store these rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPlacement {
    /// Size of the blocks from which small metadata are cut, in bytes (`H5Pset_meta_block_size`).
    pub metadata_block: u64,
    /// Size of the blocks from which small raw data are cut, in bytes
    /// (`H5Pset_small_data_block_size`).
    pub raw_block: u64,
    /// Size of a block from which on its address is a multiple of `alignment` (`H5Pset_alignment`).
    pub alignment_threshold: u64,
    /// The alignment of such blocks in bytes.
    pub alignment: u64,
}

impl Default for BlockPlacement {
    fn default() -> Self {
        Self { metadata_block: 2048, raw_block: 2048, alignment_threshold: 1, alignment: 1 }
    }
}

/// The class of a block of file space. The class determines which free sections can hold the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Metadata; with paged allocation, only blocks that are shorter than a page.
    Metadata,
    /// Raw data and the global heap; with paged allocation, only blocks that are shorter than a
    /// page.
    Raw,
    /// With paged allocation, all blocks of at least a page.
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

/// The rules for the allocation of file space in one open file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// True if free sections are tracked.
    pub(super) tracks: bool,
    /// True if small blocks are cut from larger blocks.
    pub(super) aggregates: bool,
    pub(super) page: Option<u64>,
    /// The smallest free section that is tracked, in bytes.
    pub(super) threshold: u64,
    /// The largest untracked free section of metadata at the end of a page, in bytes.
    pub(super) page_end_threshold: u64,
    pub(super) placement: BlockPlacement,
    /// The undefined address in the width of offsets, which no block can have.
    pub(super) limit: u64,
}

impl Rules {
    /// Returns the rules for the allocation of file space according to a file space info message.
    /// All addresses stay below `limit`.
    pub(crate) fn new(info: &FileSpaceInfo, placement: BlockPlacement, limit: u64) -> Self {
        let (tracks, aggregates, page) = match info.strategy {
            FileSpaceStrategy::FreeSpaceAndAggregators => (true, true, None),
            FileSpaceStrategy::Page => (true, false, Some(info.page_size.max(1))),
            FileSpaceStrategy::Aggregators => (false, true, None),
            FileSpaceStrategy::None => (false, false, None),
        };
        let page_end_threshold = u64::from(info.page_end_threshold);
        Self { tracks, aggregates, page, threshold: info.threshold, page_end_threshold, placement, limit }
    }

    /// Returns the allocation class of a file block of the kind `kind` and the length `length`.
    pub(super) fn class(&self, kind: SpaceKind, length: u64) -> Class {
        match kind {
            _ if self.page.is_some_and(|page| length >= page) => Class::Large,
            SpaceKind::RawData | SpaceKind::GlobalHeap => Class::Raw,
            SpaceKind::Superblock | SpaceKind::BTree | SpaceKind::LocalHeap | SpaceKind::ObjectHeader => {
                Class::Metadata
            }
        }
    }

    /// Returns the alignment in bytes of a new file block of `length` bytes.
    pub(super) fn alignment(&self, length: u64) -> u64 {
        if length >= self.placement.alignment_threshold { self.placement.alignment.max(1) } else { 1 }
    }

    /// Returns the size of the aggregation blocks of a class, from which small pieces of file space
    /// are taken. Returns 0 if the class has no such blocks.
    pub(super) fn block(&self, class: Class) -> u64 {
        match class {
            _ if !self.aggregates => 0,
            Class::Metadata => self.placement.metadata_block,
            Class::Raw => self.placement.raw_block,
            Class::Large => 0,
        }
    }
}
