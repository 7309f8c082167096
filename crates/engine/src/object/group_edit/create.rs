//! Creation of groups.

use hyperslab_datatype::CharacterSet;
use hyperslab_filter::Pipeline;
use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    EstimatedEntries, LinkInfo, LinkMessage, LinkPhaseChange, LinkTarget, Message as _, MessageFlags,
    MessageType, SymbolTable,
};
use hyperslab_format::object_header::AttributePhaseChange;
use hyperslab_format::superblock::SuperblockVersion;
use hyperslab_format::symbol_table_entry::SymbolTableCache;

use super::super::container::Container;
use super::super::dataset_edit::pipeline_message;
use super::super::header::ObjectHeader;
use super::super::header_edit::{self, AttributeOrder, HeaderEditor, NewHeader, check_phase_change};
use super::super::{message, symbol_table};
use super::group_info;
use crate::error::Result;
use crate::index::local_heap::LocalHeap;
use crate::store::Edit;
use crate::versions::LibraryVersion;

/// The choice of the storage of the creation order of links in a new group: none, tracked, or
/// indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LinkOrder {
    /// The creation order is not tracked.
    #[default]
    Untracked,
    /// The creation order is tracked.
    Tracked,
    /// The creation order is tracked, and dense storage has an index by creation order.
    Indexed,
}

/// The properties of a new group, such as the storage of its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupOptions {
    /// Storage of the creation order of links. All values except [`LinkOrder::Untracked`] require a
    /// group without a symbol table, independent of the bounds.
    pub link_order: LinkOrder,
    /// Limits for the number of links at which the group changes between compact and dense storage.
    pub phase_change: LinkPhaseChange,
    /// Estimated number and name length of links, for which the object header reserves space.
    pub estimated: EstimatedEntries,
    /// Number of bytes for the names of links in a symbol table (`H5Pset_local_heap_size_hint`).
    /// `None` or 0 for the names of the estimated links.
    pub local_heap: Option<u32>,
    /// Storage of the creation order of attributes.
    pub attribute_order: AttributeOrder,
    /// Limits for the number of attributes at which the group changes between compact and dense
    /// storage.
    pub attribute_phase_change: AttributePhaseChange,
    /// True if the object header stores times (version 2 only).
    pub times: bool,
}

impl Default for GroupOptions {
    fn default() -> Self {
        Self {
            link_order: LinkOrder::Untracked,
            phase_change: LinkPhaseChange::DEFAULT,
            estimated: EstimatedEntries::DEFAULT,
            local_heap: None,
            attribute_order: AttributeOrder::Untracked,
            attribute_phase_change: AttributePhaseChange::default(),
            times: false,
        }
    }
}

impl GroupOptions {
    /// Returns the number of bytes for link names in the local heap of a new symbol table.
    fn names(&self, edit: &Edit<'_>) -> u64 {
        if let Some(bytes) = self.local_heap.filter(|bytes| *bytes > 0) {
            return LocalHeap::least_segment(edit.params()).max(u64::from(bytes));
        }
        // Both estimates are 16-bit numbers.
        let name = (u64::from(self.estimated.name_length) + 1).next_multiple_of(8);
        LocalHeap::least_segment(edit.params()) + u64::from(self.estimated.count) * name
    }
}

/// Creates an empty group and returns its address. The caller adds one hard link.
///
/// # Errors
/// Returns the errors of [`Edit::allocate`](crate::store::Edit::allocate).
pub fn create_group(container: &Container, edit: &mut Edit<'_>, options: &GroupOptions) -> Result<Address> {
    create_group_from(container, edit, options, options.header())
}

impl GroupOptions {
    pub(in crate::object) fn header(&self) -> NewHeader {
        let header = NewHeader::default();
        if self.times { header.with_times(header_edit::now()) } else { header }
    }
}

/// Creates an empty group with the header properties `header`: the times, the reserved space, and
/// the requirement of version 2. See [`create_group`].
///
/// # Errors
/// Returns the same errors as [`create_group`].
pub fn create_group_from(
    container: &Container,
    edit: &mut Edit<'_>,
    options: &GroupOptions,
    header: NewHeader,
) -> Result<Address> {
    let mut editor = prepare_group(container, edit, options, &Pipeline::default(), header)?;
    editor.save(edit)?;
    Ok(editor.address())
}

/// Prepares the object header of an empty group. `filters` is the pipeline for the links in dense
/// storage; a group with filters has no symbol table.
pub(in crate::object) fn prepare_group(
    container: &Container,
    edit: &mut Edit<'_>,
    options: &GroupOptions,
    filters: &Pipeline,
    mut header: NewHeader,
) -> Result<HeaderEditor> {
    let LinkPhaseChange { max_compact, min_dense } = options.phase_change;
    check_phase_change("links", max_compact, min_dense)?;
    header.attribute_order = options.attribute_order;
    header.phase_change = options.attribute_phase_change;
    let version_2 = edit.bounds().prefers(LibraryVersion::V18) || header.version_2;
    if !version_2 && options.attribute_order == AttributeOrder::Untracked {
        header.times = None;
    }
    let filtered = !filters.stages.is_empty();
    if version_2 || filtered || options.link_order != LinkOrder::Untracked {
        add_link_info(edit, options, &mut header)?;
        if filtered {
            header.push(edit, &pipeline_message(filters, edit.bounds())?, MessageFlags::CONSTANT)?;
        }
    } else {
        let table = symbol_table::create(container, edit, options.names(edit))?;
        header.push(edit, &table, MessageFlags::empty())?;
    }
    header_edit::prepare(edit, &header)
}

fn add_link_info(edit: &Edit<'_>, options: &GroupOptions, header: &mut NewHeader) -> Result<()> {
    let tracked = options.link_order != LinkOrder::Untracked;
    let info = LinkInfo {
        max_creation_index: tracked.then_some(0),
        creation_order_index: (options.link_order == LinkOrder::Indexed).then_some(Address::UNDEFINED),
        ..LinkInfo::EMPTY
    };
    header.push(edit, &info, MessageFlags::empty())?;
    let mut constants = group_info(options.phase_change);
    constants.estimated = (options.estimated != EstimatedEntries::DEFAULT).then_some(options.estimated);
    header.push(edit, &constants, MessageFlags::CONSTANT)?;
    let name = vec![b'n'; usize::from(options.estimated.name_length.max(1))];
    let link = LinkMessage {
        name: &name,
        charset: CharacterSet::Ascii,
        creation_order: tracked.then_some(0),
        target: LinkTarget::Hard(Address::new(0)),
    };
    header.spare_for(edit, usize::from(options.estimated.count), link.to_bytes(edit.params())?.len())
}

/// Makes the group at the address `address` the root group of the file, in the superblock.
///
/// # Errors
/// Returns read errors.
pub fn set_root(container: &Container, edit: &mut Edit<'_>, address: Address) -> Result<()> {
    let cache = cache_of(container, address)?;
    edit.change_superblock(|superblock| match &mut superblock.version {
        SuperblockVersion::Old(old) => {
            old.root.header = address;
            old.root.cache = cache.map_or(SymbolTableCache::Nothing, |table| SymbolTableCache::Group {
                btree: table.btree,
                heap: table.heap,
            });
        }
        SuperblockVersion::New { root, .. } => *root = address,
    })
}

/// Removes the cached symbol table of the root group from the superblock.
pub(super) fn clear_root_cache(edit: &mut Edit<'_>) -> Result<()> {
    edit.change_superblock(|superblock| {
        if let SuperblockVersion::Old(old) = &mut superblock.version {
            old.root.cache = SymbolTableCache::Nothing;
        }
    })
}

/// Returns the addresses of a group's symbol table. Links to the group store these addresses as a
/// cache. Returns `None` if the object is not a group with a symbol table.
pub(super) fn cache_of(container: &Container, address: Address) -> Result<Option<SymbolTable>> {
    let header = ObjectHeader::load(&container.store, address)?;
    if !header.contains(MessageType::SYMBOL_TABLE) {
        return Ok(None);
    }
    message::find(container, &header)
}
