//! Elements in the object header itself.

use hyperslab_dataspace::{Dims, Region, Selection};

use super::linear::{self, LinearBytes, Request};
use super::{Destination, Fill, ReadContext, Source, byte_count};
use crate::error::{Error, Result};
use crate::store::Bytes;

/// A dataset of compact layout.
#[derive(Debug)]
pub struct CompactSource {
    /// The shape; empty for a scalar.
    pub dims: Dims,
    /// The elements; none at all if they were never written.
    pub data: Bytes,
    /// What they read as then.
    pub fill: Fill,
}

impl Source for CompactSource {
    fn read(&self, context: ReadContext<'_>, selection: &Selection, to: &mut Destination<'_>) -> Result<()> {
        if self.data.is_empty() {
            return to.fill(&self.fill);
        }
        let elements = Region::whole(&self.dims).element_count()?;
        let expected = byte_count(elements, to.transform().source_size(), "compact data")?;
        if self.data.len() < expected {
            let got = self.data.len();
            return Err(Error::corrupt(
                "data layout message",
                "compact data size",
                expected.to_string(),
                got,
            ));
        }
        linear::read(context, &InHeader(&self.data), &self.dims, selection, to)
    }
}

struct InHeader<'a>(&'a [u8]);

impl LinearBytes for InHeader<'_> {
    fn view(&self) -> Option<&[u8]> {
        Some(self.0)
    }

    fn fetch(&self, requests: Vec<Request<'_>>) -> Result<()> {
        // All is in view, so that nothing is fetched.
        match requests.first() {
            None => Ok(()),
            Some(_) => Err(Error::Misuse("compact data is in memory".into())),
        }
    }
}
