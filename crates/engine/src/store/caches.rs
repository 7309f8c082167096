//! The blocks of a file in memory: pages, decoded blocks, dirty blocks, and the metadata cache
//! image.

use std::collections::HashMap;

use hyperslab_format::codec::Address;

use super::bytes::Bytes;
use super::decoded::Decoded;
use super::dirty_blocks::DirtyBlocks;
use super::pages::Pages;

/// The caches of one file: clean and dirty pages, decoded blocks and dirty blocks.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) pages: Pages,
    pub(super) decoded: Decoded,
    pub(super) dirty_blocks: DirtyBlocks,
    /// Blocks of the metadata cache image, which replace the blocks at their addresses.
    pub(super) image: HashMap<Address, Bytes>,
}

impl Caches {
    /// Creates empty caches of a file. The page buffer has two limits in bytes: for clean pages and
    /// for dirty pages.
    pub(super) fn new(clean_bytes: u64, dirty_bytes: u64) -> Self {
        Self {
            pages: Pages::new(clean_bytes, dirty_bytes),
            decoded: Decoded::new(),
            dirty_blocks: DirtyBlocks::default(),
            image: HashMap::new(),
        }
    }

    /// Removes the block at `address` from the file's caches of decoded and dirty blocks.
    pub(super) fn remove(&self, address: Address) {
        self.dirty_blocks.remove(address);
        self.decoded.remove(address);
    }

    /// Returns the number of bytes of dirty pages and dirty blocks in the file's caches.
    pub(super) fn dirty_bytes(&self) -> u64 {
        self.pages.dirty_bytes() + self.dirty_blocks.bytes()
    }

    /// Returns the first `length` bytes of the block that the metadata cache image holds for
    /// `address`. Returns `None` if the image has no block of that length for this address.
    pub(super) fn image_block(&self, address: Address, length: u64) -> Option<Bytes> {
        self.image.get(&address)?.slice(0..usize::try_from(length).ok()?)
    }
}
