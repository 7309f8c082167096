//! Virtual datasets that are open for changes: such a dataset has a shape, but no elements of its
//! own.

use hyperslab_dataspace::Selection;

use crate::data::transfer::{Sink, SinkContext, WriteSource};
use crate::error::{Error, Result};

/// A virtual dataset that is open for changes of its object header. It rejects writes of elements,
/// because the elements lie in the source datasets.
#[derive(Debug)]
pub struct VirtualSink;

impl Sink for VirtualSink {
    fn write(&mut self, _: &mut SinkContext<'_, '_>, _: &Selection, _: &WriteSource<'_>) -> Result<()> {
        Err(Error::Misuse("a virtual dataset stores no elements: they are in its source datasets".into()))
    }

    fn resize(&mut self, _: &mut SinkContext<'_, '_>, _: &[u64]) -> Result<()> {
        Ok(())
    }

    fn free(&mut self, _: &mut SinkContext<'_, '_>) -> Result<()> {
        Ok(())
    }
}
