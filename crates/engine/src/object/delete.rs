//! Objects lose links, and with the last one all that belongs to them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    Attribute as AttributeMessage, AttributeInfo, Message as _, MessageFlags, MessageType, SharedLocation,
    SharedReference,
};

use super::container::Container;
use super::dense::Dense;
use super::group::{self, GroupStorage};
use super::header::ObjectHeader;
use super::header_edit::{HeaderEditor, now};
use super::link::LinkTarget;
use super::{message, symbol_table};
use crate::error::{Error, Result};
use crate::store::{Edit, at};

/// Gives the room of a dataset's raw data back: its chunks and their index, its block, its elements in global heaps.
/// Called with the dataset's header before that is freed.
pub type RawData<'a> = dyn FnMut(&mut Edit<'_>, &ObjectHeader) -> Result<()> + 'a;

/// Lets an object count one hard link (or use of a committed datatype) more.
///
/// # Errors
/// [`Error::Limit`] if the count is full; those of reading and writing the header.
pub fn add_reference(edit: &mut Edit<'_>, object: Address) -> Result<()> {
    let mut header = HeaderEditor::load(edit.store(), object)?;
    let count = header.reference_count()?.checked_add(1).ok_or_else(|| Error::Limit {
        what: format!("links to the object at {object}"),
        got: 1 << 32,
        limit: u64::from(u32::MAX),
    })?;
    header.set_reference_count(count)?;
    header.touch(now())?;
    header.save(edit)
}

/// Takes one hard link from an object's count. At none it is deleted: `raw` frees a dataset's raw data, a group's
/// links are dropped in turn, and the room of all of it is given back.
///
/// # Errors
/// [`Error::Corrupt`] if an object is led to more often than it says; those of reading and writing.
pub fn drop_reference(
    container: &Container,
    edit: &mut Edit<'_>,
    object: Address,
    raw: &mut RawData<'_>,
) -> Result<()> {
    let mut deletion = Deletion { container, raw, dropped: vec![object], deleted: HashSet::new() };
    while let Some(object) = deletion.dropped.pop() {
        deletion.drop_one(edit, object)?;
    }
    Ok(())
}

/// Counts a message that is shared out, or its removal: what it leads to is dropped by [`drop_reference`].
pub(super) fn shared_targets(
    container: &Container,
    header: Address,
    kind: MessageType,
    flags: MessageFlags,
    body: &[u8],
) -> Result<Vec<Address>> {
    let mut targets = Vec::new();
    let params = container.params();
    if flags.contains(MessageFlags::SHARED) {
        let reference = at(SharedReference::decode(body, params), header)?;
        targets.extend(committed(&reference));
    } else if kind == MessageType::ATTRIBUTE {
        let attribute = at(AttributeMessage::decode(body, params), header)?;
        if attribute.datatype_is_shared() {
            let reference = at(SharedReference::decode(attribute.datatype, params), header)?;
            targets.extend(committed(&reference));
        }
    }
    Ok(targets)
}

fn committed(reference: &SharedReference) -> Option<Address> {
    match reference.location {
        SharedLocation::Committed(address) => Some(address),
        SharedLocation::Heap(_) => None,
    }
}

/// Objects on their way out. A list of those to come, as trees of groups are deeper than any stack.
struct Deletion<'a, 'r> {
    container: &'a Container,
    raw: &'a mut RawData<'r>,
    dropped: Vec<Address>,
    deleted: HashSet<Address>,
}

impl Deletion<'_, '_> {
    fn drop_one(&mut self, edit: &mut Edit<'_>, object: Address) -> Result<()> {
        let again = || {
            let expected = "as many links as lead to the object";
            Error::corrupt("object header", "reference count", expected, "fewer").at(object)
        };
        if self.deleted.contains(&object) {
            return Err(again());
        }
        let header = ObjectHeader::load(edit.store(), object)?;
        let count = header.reference_count(edit.store())?.checked_sub(1).ok_or_else(again)?;
        if count > 0 {
            let mut editor = HeaderEditor::new(edit.store(), &header)?;
            drop(header);
            editor.set_reference_count(count)?;
            editor.touch(now())?;
            return editor.save(edit);
        }
        self.deleted.insert(object);
        if header.contains(MessageType::DATA_LAYOUT) {
            (self.raw)(edit, &header)?;
        }
        if header.contains(MessageType::LINK_INFO) || header.contains(MessageType::SYMBOL_TABLE) {
            self.drop_links(edit, &header)?;
        }
        self.drop_attributes(edit, &header)?;
        for message in header.messages() {
            let body = header.body(message);
            let kind = message.kind;
            self.dropped.extend(shared_targets(self.container, object, kind, message.flags, body)?);
        }
        HeaderEditor::new(edit.store(), &header)?.delete(edit)
    }

    fn drop_links(&mut self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        group::for_each(self.container, header, &mut |link| {
            if let LinkTarget::Hard(target) = link.target {
                self.dropped.push(target);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match GroupStorage::of(self.container, header)? {
            GroupStorage::SymbolTable(table) => symbol_table::delete(self.container, edit, &table),
            GroupStorage::Compact(_) => Ok(()),
            GroupStorage::Dense(info) => Dense::from(&info).delete(edit),
        }
    }

    fn drop_attributes(&mut self, edit: &mut Edit<'_>, header: &ObjectHeader) -> Result<()> {
        let Some(info) = message::find::<AttributeInfo>(self.container, header)? else { return Ok(()) };
        if !info.is_dense() {
            return Ok(());
        }
        let dense = Dense::from(&info);
        for (entry, body) in dense.all(self.container, edit)? {
            let kind = MessageType::ATTRIBUTE;
            let flags = entry.flags & !MessageFlags::SHARED;
            self.dropped.extend(shared_targets(self.container, header.address(), kind, flags, &body)?);
        }
        dense.delete(edit)
    }
}
