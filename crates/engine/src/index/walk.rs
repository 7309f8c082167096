//! Protection against cycles and against too many blocks in walks over blocks that refer to blocks.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::store::{AddressSet, Store};

/// Number of block addresses that a walk over a structure keeps in a list. With more blocks, the
/// walk uses a hash set. The path from the root of a tree to a leaf rarely has more blocks.
const LINEAR_ADDRESSES: usize = 8;

/// The set of blocks that one walk over a structure of the file has visited.
#[derive(Debug)]
pub struct VisitedBlocks {
    structure: &'static str,
    /// The first visited blocks.
    first: SmallVec<[Address; LINEAR_ADDRESSES]>,
    /// The other visited blocks.
    visited: AddressSet,
    limit: u64,
}

impl VisitedBlocks {
    /// Creates an empty set of visited blocks for a walk over blocks of the kind `structure`.
    pub fn new(store: &Store, structure: &'static str) -> Self {
        let limit = store.limits().index_nodes;
        Self { structure, first: SmallVec::new(), visited: AddressSet::default(), limit }
    }

    /// Records that a walk over a structure visits the block at `address`. Returns an error if the
    /// walk has visited the block before, or has visited too many blocks.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the walk has visited the block before, and [`Error::Limit`] if
    /// the walk has visited more blocks than the limits allow.
    pub fn enter(&mut self, address: Address) -> Result<()> {
        let is_new = !self.first.contains(&address)
            && if self.first.len() < LINEAR_ADDRESSES {
                self.first.push(address);
                true
            } else {
                self.visited.insert(address)
            };
        if !is_new {
            return Err(
                Error::corrupt(self.structure, "address", "a block not visited before", address).at(address)
            );
        }
        let count = to_u64(self.first.len()) + to_u64(self.visited.len());
        if count > self.limit {
            let subject = format!("{}: blocks of one index", self.structure);
            return Err(Error::Limit { subject, got: count, limit: self.limit });
        }
        Ok(())
    }
}
