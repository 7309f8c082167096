//! The options with which a file is opened.

use std::sync::Arc;

use hyperslab_filter::Registry;
use hyperslab_format::codec::Limits;
use hyperslab_vfd::SideFile;

use super::locking::FileLocking;
use super::space::BlockPlacement;
use crate::versions::LibverBounds;

/// The options for opening the store of a file, such as the sizes of caches.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Limits of the resources that the contents of the file may require.
    pub limits: Limits,
    /// The filters that can decode blocks and chunks.
    pub filters: Registry,
    /// True to read a file that a SWMR writer has open.
    pub swmr_read: bool,
    /// True to open a file although its status flags state a writer, or although it is shorter than
    /// its superblock states.
    pub ignore_status_flags: bool,
    /// The limit of decoded chunks in the cache, in bytes.
    pub chunk_cache: u64,
    /// True to keep chunks that were read whole in the cache, too.
    pub cache_whole_chunks: bool,
    /// The versions of structures to write; `None` to open the file for reading only.
    pub write: Option<LibverBounds>,
    /// The limit of clean pages in the page buffer, in bytes.
    pub page_buffer: u64,
    /// True to read small raw data through the page buffer. Otherwise each read of raw data reaches
    /// the driver.
    pub buffer_raw_data: bool,
    /// The limit of dirty data in memory, in bytes. An operation that exceeds it spills the pages
    /// of new space into the file. Changed pages of committed space stay in memory or in the
    /// journal until the commit.
    pub uncommitted: u64,
    /// The placement of new blocks.
    pub placement: BlockPlacement,
    /// The kinds of crashes that the file survives while it is written.
    pub durability: Durability,
    /// The journal's file. Changes are not atomic without a journal.
    pub journal: Option<Arc<dyn SideFile>>,
    /// The locking of the file while it is open.
    pub locking: FileLocking,
    /// True to continue reading after damage: errors are recorded, and the damaged parts are
    /// skipped.
    pub salvage: bool,
}

/// Default size in bytes of the chunk cache of a file, for [`StoreOptions::chunk_cache`].
const DEFAULT_CHUNK_CACHE_BYTES: u64 = 64 << 20;

/// Default size in bytes of the page buffer of a file, for [`StoreOptions::page_buffer`].
const DEFAULT_PAGE_BUFFER_BYTES: u64 = 32 << 20;

/// Default limit in bytes of the dirty data of a file, for [`StoreOptions::uncommitted`].
const DEFAULT_DIRTY_BYTES: u64 = 64 << 20;

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            filters: Registry::default(),
            swmr_read: false,
            ignore_status_flags: false,
            chunk_cache: DEFAULT_CHUNK_CACHE_BYTES,
            cache_whole_chunks: false,
            write: None,
            page_buffer: DEFAULT_PAGE_BUFFER_BYTES,
            buffer_raw_data: true,
            uncommitted: DEFAULT_DIRTY_BYTES,
            placement: BlockPlacement::default(),
            durability: Durability::default(),
            journal: None,
            locking: FileLocking::default(),
            salvage: false,
        }
    }
}

/// The durability of commits: the guarantee for the contents of a file if the writer or the whole
/// machine stops at any moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// A writer that stops may leave a damaged file. Changes are written to the file at any time,
    /// and at a flush at the latest. This is the behaviour of libhdf5.
    None,
    /// A flush is atomic if the writer stops, and a finished flush is kept. No flush waits for the
    /// disk, so that a loss of power may damage the file.
    Ordered,
    /// A flush is atomic, and a finished flush is kept, also after a loss of power. Each flush
    /// waits for the disk.
    #[default]
    Full,
}
