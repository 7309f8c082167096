//! Virtual datasets: their mappings, their shape, and reads of their elements from source datasets.

mod extent;
mod mapping;
mod places;
mod sink;
mod source;
mod steps;

pub use extent::{VirtualOptions, VirtualView, extent};
pub use mapping::Mapping;
pub use places::Places;
pub use sink::VirtualSink;
pub use source::{SourceDatasets, SourcePart, SourceShapes, VirtualMap, VirtualSource};
pub use steps::Steps;

use hyperslab_format::codec::Address;
use hyperslab_format::global_heap::GlobalHeapId;
use hyperslab_format::message::VirtualLayout;
use hyperslab_format::virtual_mapping::VirtualMappings;

use crate::error::Result;
use crate::index::global_heap::GlobalHeap;
use crate::store::{Store, at};

/// Returns the mappings of a virtual dataset. Returns `None` if the virtual dataset has no source.
pub fn mappings(store: &Store, heap: &GlobalHeap, layout: &VirtualLayout) -> Result<Option<VirtualMappings>> {
    let collection: Address = layout.heap;
    if !collection.is_defined() {
        return Ok(None);
    }
    let object = heap.get(store, GlobalHeapId { collection, index: layout.index })?;
    at(VirtualMappings::decode(object.bytes(), store.params()), collection).map(Some)
}
