//! The storage of attributes: compact in the object header, or dense in a fractal heap.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{
    Attribute as AttributeMessage, AttributeInfo, Message as _, MessageFlags, MessageType,
};
use hyperslab_format::object_header::HeaderFlags;

use super::message::{LONGEST_IN_OLD, too_long_for_old_header};
use super::{AttributeEditor, NONE};
use crate::error::{Error, Result};
use crate::object::dense::{Content, Dense, DenseKind, Entry};
use crate::object::header::Prefix;
use crate::object::header_edit::MessageId;
use crate::object::sharing::Placed;
use crate::store::{Bytes, Edit, at};

/// The smallest size of a message that no object header can hold, in bytes.
const TOO_LONG: usize = 65_536;

/// The creation order of attributes in a heap of an object without creation order, as in libhdf5.
const NO_ORDER: u64 = 0xffff;

/// A stored attribute: its message, and the data that its object keeps beside the message.
pub(super) struct Stored {
    pub(super) body: Bytes,
    pub(super) flags: MessageFlags,
    pub(super) order: u64,
    /// The reference that the object header has if the message is a shared one.
    pub(super) reference: Option<Vec<u8>>,
}

impl AttributeEditor<'_> {
    pub(super) fn dense(&self) -> Option<Dense> {
        self.open.info.filter(AttributeInfo::is_dense).map(|info| Dense::from(&info))
    }

    pub(super) fn find_compact(&self, name: &[u8]) -> Result<Option<MessageId>> {
        for message in self.open.header.messages_of(MessageType::ATTRIBUTE) {
            let shared;
            let body = if message.flags.contains(MessageFlags::SHARED) {
                shared = self.shared_body(message.body)?;
                &*shared
            } else {
                message.body
            };
            if at(AttributeMessage::decode(body, self.container.params()), self.address())?.name == name {
                return Ok(Some(message.id));
            }
        }
        Ok(None)
    }

    /// Inserts the pending attributes into the heap.
    pub(super) fn insert_pending(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let pending = std::mem::take(&mut self.open.pending);
        match self.dense() {
            Some(dense) if !pending.is_empty() => {
                self.open.stored = true;
                dense.insert_all(self.container, edit, &pending)
            }
            _ => Ok(()),
        }
    }

    /// Returns the pending attribute with this number.
    fn pending(&self, number: usize) -> Result<Stored> {
        let body = self.open.pending.body(number);
        let (flags, order) =
            self.open.pending.get(number).map_or((NONE, 0), |entry| (entry.flags, entry.order));
        if flags.contains(MessageFlags::SHARED) {
            return Ok(Stored {
                body: self.shared_body(body)?,
                flags,
                order,
                reference: Some(body.to_vec()),
            });
        }
        Ok(Stored { body: Bytes::from(body), flags, order, reference: None })
    }

    /// Replaces the message of the attribute `name`. Returns the former message, or `None` if no attribute has the name.
    pub(super) fn replace(
        &mut self,
        edit: &mut Edit<'_>,
        name: &[u8],
        placed: &Placed,
    ) -> Result<Option<Bytes>> {
        if let Some(number) = self.open.pending.find(name) {
            let stored = self.pending(number)?;
            self.open.pending.replace(number, placed.flags, &placed.body);
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if let Some(dense) = self.dense() {
            if !self.open.stored {
                return Ok(None);
            }
            let Some((entry, old)) = dense.find(self.container, edit, name)? else { return Ok(None) };
            let stored = of_entry(edit, &entry, &old)?;
            drop(old);
            dense.replace(self.container, edit, name, &entry, content_of(placed))?;
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if placed.body.len() < TOO_LONG {
            let Some(id) = self.find_compact(name)? else { return Ok(None) };
            let stored = self.stored(id)?;
            let kept = stored.flags & !(MessageFlags::SHARED | MessageFlags::SHAREABLE);
            self.open.header.replace(id, kept | placed.flags, &placed.body);
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        let Some(stored) = self.take(edit, name)? else { return Ok(None) };
        self.release(edit, &stored)?;
        self.insert(edit, name, stored.order, placed)?;
        Ok(Some(stored.body))
    }

    fn stored(&self, id: MessageId) -> Result<Stored> {
        let Some(message) =
            self.open.header.messages_of(MessageType::ATTRIBUTE).find(|message| message.id == id)
        else {
            return Ok(Stored { body: Bytes::from(&[][..]), flags: NONE, order: 0, reference: None });
        };
        let (flags, order) = (message.flags, message.creation_order.into());
        if flags.contains(MessageFlags::SHARED) {
            let reference = Some(message.body.to_vec());
            return Ok(Stored { body: self.shared_body(message.body)?, flags, order, reference });
        }
        Ok(Stored { body: Bytes::from(message.body), flags, order, reference: None })
    }

    /// Removes an attribute and returns it.
    pub(super) fn take(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Option<Stored>> {
        if let Some(dense) = self.dense() {
            let removed = dense.remove(self.container, edit, name)?;
            return removed.map(|(entry, body)| of_entry(edit, &entry, &body)).transpose();
        }
        let Some(id) = self.find_compact(name)? else { return Ok(None) };
        let stored = self.stored(id)?;
        self.open.header.remove(id);
        self.open.compact = self.open.compact.saturating_sub(1);
        Ok(Some(stored))
    }

    /// Inserts an attribute whose name no other attribute has.
    pub(super) fn insert(
        &mut self,
        edit: &mut Edit<'_>,
        name: &[u8],
        order: u64,
        placed: &Placed,
    ) -> Result<()> {
        let (flags, body) = (placed.flags, placed.body.as_slice());
        if self.dense().is_none() {
            let full = self.open.compact >= usize::from(self.open.phase_change.max_compact);
            if self.version() == 1 || (!full && body.len() < TOO_LONG) {
                if self.version() == 1 && body.len() > LONGEST_IN_OLD {
                    return Err(too_long_for_old_header(name, body.len()));
                }
                self.note_info()?;
                let order = u16::try_from(order).unwrap_or(u16::MAX);
                self.open.header.add_ordered(MessageType::ATTRIBUTE, flags, order, body);
                self.open.compact = self.open.compact.saturating_add(1);
                return Ok(());
            }
            self.become_dense(edit)?;
        }
        let order = self.dense_order(order);
        self.open.pending.push(name, body, flags, order, None);
        if self.open.pending.is_crowded() { self.insert_pending(edit) } else { Ok(()) }
    }

    /// Adds an attribute info message to a version 2 object header that has none.
    fn note_info(&mut self) -> Result<()> {
        if self.open.info.is_none() && self.version() != 1 {
            self.set_info(self.empty_info())?;
        }
        Ok(())
    }

    fn empty_info(&self) -> AttributeInfo {
        let Prefix::V2(prefix) = self.open.header.prefix() else { return AttributeInfo::EMPTY };
        let tracked = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED);
        let indexed = prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_INDEXED);
        AttributeInfo {
            max_creation_index: tracked.then_some(0),
            creation_order_index: indexed.then_some(Address::UNDEFINED),
            ..AttributeInfo::EMPTY
        }
    }

    fn set_info(&mut self, info: AttributeInfo) -> Result<()> {
        self.open.info = Some(info);
        self.open.header.set(&info, MessageFlags::DO_NOT_SHARE)
    }

    /// Removes the attribute info message. The creation order of later attributes starts from 0.
    pub(super) fn forget_info(&mut self) {
        self.open.info = None;
        self.open.header.remove_messages(MessageType::ATTRIBUTE_INFO, |_| true);
    }

    /// Returns the creation order of the next attribute.
    pub(super) fn next_order(&self) -> Result<u64> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        match info.max_creation_index {
            Some(u16::MAX) => Err(Error::Limit {
                what: format!(
                    "attributes ever made on the object at {}, which tracks their order,",
                    self.address()
                ),
                got: 65_536,
                limit: 65_535,
            }),
            index => Ok(index.unwrap_or(0).into()),
        }
    }

    /// Returns the creation order of an attribute in a heap: [`NO_ORDER`] if the object does not track it.
    fn dense_order(&self, order: u64) -> u64 {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        if info.max_creation_index.is_some() { order } else { NO_ORDER }
    }

    pub(super) fn note_order(&mut self, order: u64) -> Result<()> {
        match self.open.info {
            Some(info) if info.max_creation_index.is_some() => {
                let next = u16::try_from(order.saturating_add(1)).unwrap_or(u16::MAX);
                self.set_info(AttributeInfo { max_creation_index: Some(next), ..info })
            }
            _ => Ok(()),
        }
    }

    /// Moves the attributes from the object header into a heap.
    fn become_dense(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        let dense = Dense::create(edit, DenseKind::Attributes, info.creation_order_index.is_some())?;
        let ids: Vec<MessageId> =
            self.open.header.messages_of(MessageType::ATTRIBUTE).map(|message| message.id).collect();
        for id in ids {
            let stored = self.stored(id)?;
            let params = self.container.params();
            let name = at(AttributeMessage::decode(&stored.body, params), self.address())?.name;
            if self.open.pending.find(name).is_some() {
                let expected = "one attribute of each name";
                return Err(Error::corrupt("attribute message", "name", expected, "two").at(self.address()));
            }
            let (flags, body) = match &stored.reference {
                Some(reference) => (stored.flags, reference.as_slice()),
                None => (stored.flags & !MessageFlags::SHARED, &*stored.body),
            };
            self.open.pending.push(name, body, flags, self.dense_order(stored.order), None);
        }
        self.open.header.remove_messages(MessageType::ATTRIBUTE, |_| true);
        (self.open.compact, self.open.stored) = (0, false);
        self.set_info(AttributeInfo {
            fractal_heap: dense.heap,
            name_index: dense.names,
            creation_order_index: dense.order,
            ..info
        })
    }

    /// Moves the attributes from the heap into the object header, if every message fits into an object header.
    pub(super) fn become_compact(&mut self, edit: &mut Edit<'_>, dense: &Dense) -> Result<()> {
        let mut all = dense.all(self.container, edit)?;
        if all.iter().any(|(entry, body)| entry.shared_id().is_none() && body.len() >= TOO_LONG) {
            return Ok(());
        }
        all.sort_by_key(|(entry, _)| entry.order);
        for (entry, body) in &all {
            let order = u16::try_from(entry.order).unwrap_or(u16::MAX);
            let reference = entry.shared_reference(edit.params())?;
            let body = reference.as_deref().unwrap_or(body);
            self.open.header.add_ordered(MessageType::ATTRIBUTE, entry.flags, order, body);
        }
        self.open.compact = all.len();
        drop(all);
        dense.delete(edit)?;
        let order = self.open.info.and_then(|info| info.max_creation_index);
        self.set_info(AttributeInfo { max_creation_index: order, ..self.empty_info() })
    }
}

/// Returns the attribute of an entry in the heap.
fn of_entry(edit: &Edit<'_>, entry: &Entry, body: &Bytes) -> Result<Stored> {
    let reference = entry.shared_reference(edit.params())?;
    Ok(Stored { body: Bytes::from(&**body), flags: entry.flags, order: entry.order, reference })
}

fn content_of(placed: &Placed) -> Content<'_> {
    placed.id.map_or(Content::Own(&placed.body), Content::Shared)
}
