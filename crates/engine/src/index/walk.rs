//! Protection of walks over blocks that point at blocks.

use std::collections::HashSet;

use hyperslab_format::codec::Address;

use crate::error::{Error, Result};
use crate::store::Store;

/// The blocks that one walk has been at.
#[derive(Debug)]
pub struct Walk {
    structure: &'static str,
    visited: HashSet<Address>,
    limit: u64,
}

impl Walk {
    /// A walk over blocks of that kind.
    pub fn new(store: &Store, structure: &'static str) -> Self {
        Self { structure, visited: HashSet::new(), limit: store.limits().index_nodes }
    }

    /// Enters the block at `address`; an error if the walk was there before or goes on for too long.
    pub fn enter(&mut self, address: Address) -> Result<()> {
        if !self.visited.insert(address) {
            return Err(
                Error::corrupt(self.structure, "address", "a block not visited before", address).at(address)
            );
        }
        let count = self.visited.len() as u64;
        if count > self.limit {
            let what = format!("{}: blocks of one index", self.structure);
            return Err(Error::Limit { what, got: count, limit: self.limit });
        }
        Ok(())
    }
}
