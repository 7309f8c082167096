//! The superblock extension: settings, members, metadata cache image and shared messages.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    BTreeK, FileSpaceInfo, MessageFlags, MessageType, MetadataCacheImage, SharedMessageTableMessage,
};

use super::members;
use crate::error::Result;
use crate::index::shared_messages::SharedMessages;
use crate::object::container::Container;
use crate::object::header::ObjectHeader;
use crate::object::header_edit::HeaderEditor;
use crate::object::{message, sharing};
use crate::store::SpaceKind;

pub(super) fn read(container: &mut Container, address: Address) -> Result<()> {
    let mut header = ObjectHeader::load(&container.store, address)?;
    let stated_members = members::in_message(container, &header)?;
    members::check(&stated_members, &container.store)?;
    // The image comes first, because it may contain blocks that are read below.
    let image = message::find::<MetadataCacheImage>(container, &header)?;
    let image = image.filter(|image| image.address.is_defined());
    if let Some(image) = image {
        container.store.overlay(image.address, image.length)?;
        if container.store.is_writable() {
            drop(header);
            dissolve_image(container, address)?;
            header = ObjectHeader::load(&container.store, address)?;
        } else {
            container.settings.cache_image = Some(image.length);
        }
    }
    members::assign_by_message(&stated_members, &container.store, &header);
    if let Some(k) = message::find::<BTreeK>(container, &header)? {
        container.settings.group_leaf_k = k.group_leaf;
        container.settings.group_internal_k = k.group_internal;
        container.settings.indexed_storage_k = k.chunk_internal;
    }
    // This flag means that a program that does not know the message has changed the file. The
    // message is then out of date.
    let stated = header.find(MessageType::FILE_SPACE_INFO);
    if let Some(stated) = stated.filter(|message| !message.flags.contains(MessageFlags::WAS_UNKNOWN)) {
        container.settings.file_space = message::find::<FileSpaceInfo>(container, &header)?;
        let location = header.place(stated).filter(|_| !stated.flags.contains(MessageFlags::SHARED));
        if let Some((info, location)) = container.settings.file_space.zip(location) {
            container.store.manage_space(info, location)?;
        }
    }
    if let Some(image) = image.filter(|_| container.store.is_writable()) {
        container.store.edit()?.free(SpaceKind::ObjectHeader, image.address, image.length)?;
    }
    read_shared_messages(container, &header)
}

/// Writes the blocks of a metadata cache image to their addresses, and removes the message that
/// refers to the image. If the image stayed, it would hide later changes of these blocks.
fn dissolve_image(container: &mut Container, extension: Address) -> Result<()> {
    let blocks = container.store.end_overlay();
    let mut edit = container.store.edit()?;
    for (address, block) in blocks {
        edit.write(address, &block, "block of the metadata cache image")?;
    }
    let mut header = HeaderEditor::load(edit.store(), extension)?;
    header.remove_messages(MessageType::METADATA_CACHE_IMAGE, |_| true)?;
    header.save(&mut edit)
}

/// Opens the indexes of shared messages that the superblock extension names.
pub(super) fn read_shared_messages(container: &mut Container, extension: &ObjectHeader) -> Result<()> {
    if let Some(table) = message::find::<SharedMessageTableMessage>(container, extension)? {
        let (address, indexes) = (table.table, table.index_count);
        let shared = SharedMessages::open(&container.store, address, indexes, sharing::message_in_header)?;
        container.shared_messages = Some(shared);
    }
    Ok(())
}
