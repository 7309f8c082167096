//! Elements side by side in one block of the file.

use hyperslab_dataspace::{Dims, Selection, gather};
use hyperslab_format::codec::Address;

use super::byte_runs::fetch_runs;
use super::{Fill, Source};
use crate::error::{Error, Result};
use crate::store::Store;

/// A dataset of contiguous layout.
#[derive(Debug)]
pub struct ContiguousSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// Bytes of an element.
    pub element_size: usize,
    /// The first element; undefined while none was written.
    pub address: Address,
    /// What the elements read as then.
    pub fill: Fill,
}

impl Source for ContiguousSource {
    fn read(&self, store: &Store, selection: &Selection, out: &mut [u8]) -> Result<()> {
        if !self.address.is_defined() {
            self.fill.apply(out);
            return Ok(());
        }
        if let Some(array) = self.in_memory(store) {
            gather(array, &self.dims, selection, out, self.element_size)?;
            return Ok(());
        }
        fetch_runs(&self.dims, selection, self.element_size, out, |mut batch| {
            if let [(offset, buffer)] = batch.as_mut_slice() {
                return store.read_raw(self.at(*offset)?, buffer);
            }
            let located: Result<Vec<_>> =
                batch.into_iter().map(|(offset, buffer)| Ok((self.at(offset)?, buffer))).collect();
            store.read_raw_many(&mut located?)
        })
    }
}

impl ContiguousSource {
    /// All elements, where the driver holds them in memory.
    fn in_memory<'a>(&self, store: &'a Store) -> Option<&'a [u8]> {
        let elements = self.dims.iter().try_fold(1_u64, |elements, size| elements.checked_mul(*size))?;
        store.view_raw(self.address, elements.checked_mul(self.element_size as u64)?)
    }

    fn at(&self, offset: u64) -> Result<Address> {
        self.address.checked_add(offset).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "an end inside the file", self.address)
        })
    }
}
