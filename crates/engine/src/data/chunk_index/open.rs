//! The opening of the chunk index that a layout message names.

use std::sync::Arc;

use hyperslab_format::message::{ChunkIndexParameters, ChunkedLayout};

use super::btree_v1::BTreeV1Index;
use super::btree_v2::BTreeV2Index;
use super::extensible_array::ExtensibleArrayIndex;
use super::fixed_array::FixedArrayIndex;
use super::implicit::ImplicitIndex;
use super::order::ArrayOrder;
use super::single::SingleIndex;
use super::{ChunkIndex, ChunkLocation, ChunkShape, Entry as _};
use crate::error::Result;
use crate::store::Store;

/// Opens the chunk index that the layout message names, for reading. Returns `None` if the dataset
/// has no stored chunk.
pub fn open(
    store: &Store,
    layout: &ChunkedLayout,
    shape: &ChunkShape,
) -> Result<Option<Arc<dyn ChunkIndex>>> {
    let address = layout.address;
    if !address.is_defined() {
        return Ok(None);
    }
    let (chunk, bytes) = (&layout.dims, shape.chunk_bytes);
    let rules = ChunkLocation::rules(layout, shape);
    let order = || ArrayOrder::new(chunk, &shape.max_dims);
    Ok(Some(match &layout.index {
        ChunkIndexParameters::BTreeV1 => Arc::new(BTreeV1Index::new(store, address, shape.btree_k, chunk)),
        ChunkIndexParameters::Single(filtered) => {
            let (size, filter_mask) =
                filtered.as_ref().map_or((bytes, 0), |filtered| (filtered.size, filtered.filter_mask));
            let location = Some(ChunkLocation { address, size, filter_mask });
            Arc::new(SingleIndex { rank: chunk.len(), location })
        }
        ChunkIndexParameters::Implicit => {
            Arc::new(ImplicitIndex { first: address, chunk_bytes: bytes, order: order()? })
        }
        ChunkIndexParameters::FixedArray(_) => {
            Arc::new(FixedArrayIndex::open(store, address, rules, order()?)?)
        }
        ChunkIndexParameters::ExtensibleArray(_) => {
            Arc::new(ExtensibleArrayIndex::open(store, address, rules, order()?)?)
        }
        ChunkIndexParameters::BTreeV2(_) => Arc::new(BTreeV2Index::open(store, address, chunk.len(), rules)?),
    }))
}
