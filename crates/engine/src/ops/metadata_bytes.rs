//! The sizes of the indexes and heaps that belong to an object or to the file.

use std::collections::HashSet;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::Structure as _;
use hyperslab_format::free_space::FreeSpaceHeader;
use hyperslab_format::message::{ExternalFilesMessage, Layout, MessageType};

use super::chunk_forms::{chunked_source, structured_form};
use crate::data::chunk_index;
use crate::error::{Error, Result};
use crate::index::local_heap::LocalHeap;
use crate::object::container::Container;
use crate::object::dataset::DatasetDescription;
use crate::object::header::ObjectHeader;
use crate::object::message;
use crate::object::metadata_sizes::{IndexBytes, attribute_bytes, link_bytes, mapping_bytes};

/// Returns the sizes of the indexes and heaps of an object itself: of the links of a group, or of
/// the chunks, external files and mappings of a dataset.
fn object_bytes(container: &Container, header: &ObjectHeader) -> Result<IndexBytes> {
    if header.contains(MessageType::LINK_INFO) || header.contains(MessageType::SYMBOL_TABLE) {
        return link_bytes(container, header);
    }
    if !header.contains(MessageType::DATA_LAYOUT) {
        return Ok(IndexBytes::default());
    }
    let mut heap = mapping_bytes(container, header)?;
    if let Some(files) = message::find::<ExternalFilesMessage>(container, header)? {
        heap += LocalHeap::load(&container.store, files.heap)?.bytes(&container.store);
    }
    Ok(IndexBytes { index: chunk_index_bytes(container, header)?, heap })
}

/// Returns the size of the chunk index of a dataset; 0 for datasets without chunks.
fn chunk_index_bytes(container: &Container, header: &ObjectHeader) -> Result<u64> {
    let description = DatasetDescription::read(container, header)?;
    let (store, address) = (&container.store, header.address());
    match &description.layout.layout {
        Layout::Chunked(layout) => {
            let (_, shape) = chunked_source(container, address, &description, layout)?;
            chunk_index::open(store, layout, &shape)?.map_or(Ok(0), |index| index.bytes(store))
        }
        Layout::Structured(layout) => {
            let (_, shape) = structured_form(container, address, &description, layout)?;
            chunk_index::open_structured(store, layout, &shape)?.map_or(Ok(0), |index| index.bytes(store))
        }
        Layout::Compact(_) | Layout::Contiguous(_) | Layout::Virtual(_) => Ok(0),
    }
}

/// Returns the sizes of the indexes and heaps of an object itself, and of its attributes.
///
/// # Errors
/// Returns the errors of reading the header, the indexes and the heaps.
pub fn index_bytes(container: &Container, header: &ObjectHeader) -> Result<(IndexBytes, IndexBytes)> {
    Ok((object_bytes(container, header)?, attribute_bytes(container, header)?))
}

/// The sizes of metadata that belongs to the file itself and to no object, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileMetadataBytes {
    /// The object header of the superblock extension.
    pub superblock_extension: u64,
    /// The table of shared messages.
    pub shared_table: u64,
    /// The lists and B-trees of shared messages.
    pub shared_index: u64,
    /// The heaps of shared messages.
    pub shared_heap: u64,
    /// The stored free-space managers with their section lists. A file that is open for writing has
    /// none.
    pub free_space_managers: u64,
}

/// Returns the sizes of metadata that belongs to the file itself.
///
/// # Errors
/// Returns the errors of reading this metadata.
pub fn file_bytes(container: &Container) -> Result<FileMetadataBytes> {
    let store = &container.store;
    let mut sizes = FileMetadataBytes::default();
    let extension = store.superblock().extension();
    if extension.is_defined() {
        sizes.superblock_extension = ObjectHeader::load(store, extension)?.sizes()?.total;
    }
    if let Some(shared) = &container.shared_messages {
        [sizes.shared_table, sizes.shared_index, sizes.shared_heap] = shared.bytes(store)?;
    }
    let managers =
        container.settings.file_space.and_then(|info| info.managers).filter(|_| !store.is_writable());
    let mut seen = HashSet::new();
    for address in managers.into_iter().flat_map(|it| it.small.into_iter().chain(it.large)) {
        if address.is_defined() && seen.insert(address) {
            let header: Arc<FreeSpaceHeader> = store.shared(address, &store.params())?;
            let list = if header.list.is_defined() { header.list_allocated } else { 0 };
            let bytes = list.checked_add(to_u64(FreeSpaceHeader::size(&store.params())));
            sizes.free_space_managers =
                bytes.and_then(|bytes| sizes.free_space_managers.checked_add(bytes)).ok_or_else(|| {
                    let expected = "a size inside the file";
                    Error::corrupt(FreeSpaceHeader::NAME, "allocated size of the list", expected, list)
                        .at(address)
                })?;
        }
    }
    Ok(sizes)
}
