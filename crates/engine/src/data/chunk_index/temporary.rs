//! Indexes of chunks that are changed: none yet.

use hyperslab_dataspace::Dataspace;
use hyperslab_format::message::{ChunkIndex as IndexParameters, ChunkedLayout};

use super::ChunkShape;
use crate::data::ChunkTable;
use crate::error::{Error, Result};
use crate::store::Store;

/// The index of a new dataset.
pub fn choose(_: &Dataspace, _: &[u64], _: bool, _: bool) -> IndexParameters {
    IndexParameters::BTreeV1
}

/// The index that the layout names, to be changed.
pub fn open_table(_: &Store, _: &ChunkedLayout, _: &ChunkShape) -> Result<Box<dyn ChunkTable>> {
    Err(Error::unsupported("writing chunks"))
}
