//! Elements in the object header itself.

use hyperslab_dataspace::{Dims, Placement, Region, copy_box};

use super::{Fill, Source, byte_count};
use crate::error::{Error, Result};
use crate::store::{Bytes, Store};

/// A dataset of compact layout.
#[derive(Debug)]
pub struct CompactSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// Bytes of an element.
    pub element_size: usize,
    /// The elements; none at all if they were never written.
    pub data: Bytes,
    /// What they read as then.
    pub fill: Fill,
}

impl Source for CompactSource {
    fn read(&self, _store: &Store, region: &Region, out: &mut [u8]) -> Result<()> {
        if self.data.is_empty() {
            self.fill.apply(out);
            return Ok(());
        }
        let elements = Region::whole(&self.dims).element_count()?;
        let expected = byte_count(elements, self.element_size, "compact data")?;
        if self.data.len() < expected {
            let got = self.data.len();
            return Err(Error::corrupt(
                "data layout message",
                "compact data size",
                expected.to_string(),
                got,
            ));
        }
        let from = Placement { dims: &self.dims, start: &region.start };
        let start = Dims::from_elem(0, region.rank());
        let to = Placement { dims: &region.count, start: &start };
        copy_box(&self.data, from, out, to, &region.count, self.element_size)?;
        Ok(())
    }
}
