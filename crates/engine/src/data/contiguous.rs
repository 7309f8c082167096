//! Elements side by side in one block of the file.

use hyperslab_dataspace::{Dims, Region};
use hyperslab_format::codec::Address;

use super::{Fill, Source, byte_count};
use crate::error::{Error, Result};
use crate::store::Store;

/// Runs fetched with one call of the driver.
const BATCH: usize = 1024;

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
    fn read(&self, store: &Store, region: &Region, out: &mut [u8]) -> Result<()> {
        if !self.address.is_defined() {
            self.fill.apply(out);
            return Ok(());
        }
        if region.is_empty() {
            return Ok(());
        }
        let runs = Runs::new(&self.dims, region, self.element_size)?;
        if runs.length == out.len() {
            return store.read_raw(self.at(runs.first)?, out);
        }
        let mut offsets = runs.offsets(&self.dims, region, self.element_size);
        for batch in out.chunks_mut(runs.length.saturating_mul(BATCH).max(1)) {
            let mut requests = Vec::with_capacity(BATCH);
            for buffer in batch.chunks_mut(runs.length.max(1)) {
                let offset = offsets.next().unwrap_or(u64::MAX);
                requests.push((self.at(offset)?, buffer));
            }
            store.read_raw_many(&mut requests)?;
        }
        Ok(())
    }
}

impl ContiguousSource {
    fn at(&self, offset: u64) -> Result<Address> {
        self.address.checked_add(offset).ok_or_else(|| {
            Error::corrupt("data layout message", "address", "an end inside the file", self.address)
        })
    }
}

/// The runs of contiguous bytes that make up a box.
struct Runs {
    /// Bytes of each.
    length: usize,
    /// Where the first one begins, in bytes from the first element.
    first: u64,
    /// Leading dimensions in which the runs differ.
    outer: usize,
}

impl Runs {
    fn new(dims: &[u64], region: &Region, element_size: usize) -> Result<Self> {
        let mut elements = 1_u64;
        let mut outer = region.rank();
        // Trailing dimensions that are taken whole, and the one before them, lie side by side.
        while let Some(dimension) = outer.checked_sub(1) {
            let (count, size) = (at(&region.count, dimension), at(dims, dimension));
            elements = elements.saturating_mul(count);
            outer = dimension;
            if count != size {
                break;
            }
        }
        let first = offset_of(dims, &region.start, element_size);
        Ok(Self { length: byte_count(elements, element_size, "contiguous data")?, first, outer })
    }

    /// Where each run begins, in C order.
    fn offsets<'a>(
        &self,
        dims: &'a [u64],
        region: &'a Region,
        element_size: usize,
    ) -> impl Iterator<Item = u64> + 'a {
        let mut outer = region.clone();
        for count in outer.count.iter_mut().skip(self.outer) {
            *count = 1;
        }
        outer.coordinates().map(move |start| offset_of(dims, &start, element_size))
    }
}

fn at(values: &[u64], position: usize) -> u64 {
    values.get(position).copied().unwrap_or(1)
}

/// Saturating: an offset that passes 64 bits lies outside of every file.
fn offset_of(dims: &[u64], element: &[u64], element_size: usize) -> u64 {
    let linear = element
        .iter()
        .zip(dims)
        .fold(0_u64, |linear, (at, size)| linear.saturating_mul(*size).saturating_add(*at));
    linear.saturating_mul(element_size as u64)
}
