//! Protection of walks over blocks that point at blocks.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use hyperslab_format::codec::Address;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::store::{AddressHasher, Store};

/// Blocks that are compared one by one: the way down a tree has no more.
const FEW: usize = 8;

/// The blocks that one walk has been at.
#[derive(Debug)]
pub struct Walk {
    structure: &'static str,
    /// The first ones.
    few: SmallVec<[Address; FEW]>,
    visited: HashSet<Address, BuildHasherDefault<AddressHasher>>,
    limit: u64,
}

impl Walk {
    /// A walk over blocks of that kind.
    pub fn new(store: &Store, structure: &'static str) -> Self {
        let limit = store.limits().index_nodes;
        Self { structure, few: SmallVec::new(), visited: HashSet::default(), limit }
    }

    /// Enters the block at `address`; an error if the walk was there before or goes on for too long.
    pub fn enter(&mut self, address: Address) -> Result<()> {
        let is_new = !self.few.contains(&address)
            && if self.few.len() < FEW {
                self.few.push(address);
                true
            } else {
                self.visited.insert(address)
            };
        if !is_new {
            return Err(
                Error::corrupt(self.structure, "address", "a block not visited before", address).at(address)
            );
        }
        let count = self.few.len().saturating_add(self.visited.len()) as u64;
        if count > self.limit {
            let what = format!("{}: blocks of one index", self.structure);
            return Err(Error::Limit { what, got: count, limit: self.limit });
        }
        Ok(())
    }
}
