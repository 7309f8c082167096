//! Elements in the object header itself.

use hyperslab_dataspace::{Dims, Region, Selection, gather};

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
    fn read(&self, _store: &Store, selection: &Selection, out: &mut [u8]) -> Result<()> {
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
        gather(&self.data, &self.dims, selection, out, self.element_size)?;
        Ok(())
    }
}
