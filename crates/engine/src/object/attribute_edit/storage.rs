//! The storage of attributes: compact in the object header, or dense in a fractal heap.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{AttributeInfo, AttributeMessage, Message as _, MessageFlags, MessageType};
use hyperslab_format::object_header::HeaderFlags;

use super::AttributeEditor;
use super::message::{MAX_V1_MESSAGE_BYTES, too_long_for_v1_header};
use crate::error::{Error, Result};
use crate::object::dense::{Content, Dense, DenseEntry, DenseKind};
use crate::object::header::Prefix;
use crate::object::header_edit::MessageId;
use crate::object::sharing::Placed;
use crate::object::stored_names::StoredNames;
use crate::store::{Bytes, Edit, at};

/// Size in bytes of the smallest attribute message that does not fit in an object header.
const MIN_TOO_LONG_BYTES: usize = 65_536;

/// The number that dense storage states as the creation order of an attribute without a creation
/// order, as in libhdf5.
const NO_ORDER: u16 = 0xffff;

/// A stored attribute: its message and properties in compact or dense storage.
pub(super) struct Stored {
    pub(super) body: Bytes,
    pub(super) flags: MessageFlags,
    pub(super) order: u64,
    /// The reference in the object header, if the message is a shared message.
    pub(super) reference: Option<Vec<u8>>,
}

fn not_counted() -> Error {
    Error::internal("attribute editor", "the number of compact attributes includes each attribute")
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

    /// Inserts the deferred attributes of an object into dense storage. Deferred attributes are new
    /// and only in memory.
    pub(super) fn insert_deferred(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let deferred = std::mem::take(&mut self.open.deferred);
        match self.dense() {
            Some(dense) if !deferred.is_empty() => {
                self.open.stored.add(&deferred);
                dense.insert_all(self.container, edit, &deferred)
            }
            _ => Ok(()),
        }
    }

    /// Returns the deferred attribute (new and only in memory) with the index `number`.
    pub(super) fn deferred(&self, number: usize) -> Result<Stored> {
        let message = self.open.deferred.get(number)?;
        let body = self.open.deferred.body(message);
        let (flags, order) = (message.flags, message.order);
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

    /// Replaces the message of the attribute `name` in compact or dense storage. Returns the
    /// previous message. Returns `None` if no attribute has this name.
    pub(super) fn replace(
        &mut self,
        edit: &mut Edit<'_>,
        name: &[u8],
        placed: &Placed,
    ) -> Result<Option<Bytes>> {
        if let Some(number) = self.open.deferred.find(name) {
            let stored = self.deferred(number)?;
            self.open.deferred.replace(number, placed.flags, &placed.body)?;
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if let Some(dense) = self.dense() {
            if !self.may_be_stored(name) {
                return Ok(None);
            }
            let Some((entry, old)) = dense.find(self.container, edit, name)? else { return Ok(None) };
            let stored = of_entry(edit, &entry, &old)?;
            drop(old);
            dense.replace(self.container, edit, name, &entry, content_of(placed))?;
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        if placed.body.len() < MIN_TOO_LONG_BYTES {
            let Some(id) = self.find_compact(name)? else { return Ok(None) };
            let stored = self.stored(id)?;
            let kept = stored.flags & !(MessageFlags::SHARED | MessageFlags::SHAREABLE);
            self.open.header.replace(id, kept | placed.flags, &placed.body)?;
            self.release(edit, &stored)?;
            return Ok(Some(stored.body));
        }
        let Some(stored) = self.take(edit, name)? else { return Ok(None) };
        self.release(edit, &stored)?;
        self.insert(edit, name, stored.order, placed)?;
        Ok(Some(stored.body))
    }

    /// Returns the attribute `name` in dense storage. Returns `None` if no attribute there has this
    /// name.
    pub(super) fn find_dense(&self, edit: &Edit<'_>, dense: &Dense, name: &[u8]) -> Result<Option<Stored>> {
        let found = dense.find(self.container, edit, name)?;
        found.map(|(entry, body)| of_entry(edit, &entry, &body)).transpose()
    }

    pub(super) fn stored(&self, id: MessageId) -> Result<Stored> {
        let message = self.open.header.messages_of(MessageType::ATTRIBUTE).find(|message| message.id == id);
        let message = message.ok_or_else(not_counted)?;
        let (flags, order) = (message.flags, message.creation_order.into());
        if flags.contains(MessageFlags::SHARED) {
            let reference = Some(message.body.to_vec());
            return Ok(Stored { body: self.shared_body(message.body)?, flags, order, reference });
        }
        Ok(Stored { body: Bytes::from(message.body), flags, order, reference: None })
    }

    /// Removes the attribute `name` from compact or dense storage and returns the attribute.
    pub(super) fn take(&mut self, edit: &mut Edit<'_>, name: &[u8]) -> Result<Option<Stored>> {
        if let Some(dense) = self.dense() {
            let removed = dense.remove(self.container, edit, name)?;
            return removed.map(|(entry, body)| of_entry(edit, &entry, &body)).transpose();
        }
        let Some(id) = self.find_compact(name)? else { return Ok(None) };
        let stored = self.stored(id)?;
        let compact = self.open.compact.checked_sub(1).ok_or_else(not_counted)?;
        self.open.header.remove(id)?;
        self.open.compact = compact;
        Ok(Some(stored))
    }

    /// Inserts an attribute into compact or dense storage. No other attribute of the object may
    /// have its name.
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
            if self.version() == 1 || (!full && body.len() < MIN_TOO_LONG_BYTES) {
                if self.version() == 1 && body.len() > MAX_V1_MESSAGE_BYTES {
                    return Err(too_long_for_v1_header(name, body.len()));
                }
                let order = self.compact_order(order)?;
                self.add_info()?;
                self.open.header.add_ordered(MessageType::ATTRIBUTE, flags, order, body);
                self.open.compact += 1;
                return Ok(());
            }
            self.become_dense(edit)?;
        }
        let order = self.dense_order(order);
        self.learn_names(edit)?;
        self.open.deferred.push(name, body, flags, order, None);
        if self.open.deferred.is_over_limit() { self.insert_deferred(edit) } else { Ok(()) }
    }

    /// Reads the hashes of the names in dense storage, if so many attributes are new that searches
    /// for their names would take longer.
    fn learn_names(&mut self, edit: &Edit<'_>) -> Result<()> {
        if let Some(dense) = self.dense()
            && self.open.stored.is_worth_learning(&self.open.deferred, || dense.len(edit))?
        {
            self.open.stored.learn(&dense.hashes(edit.store())?);
        }
        Ok(())
    }

    /// Adds an attribute info message to a version 2 object header that has none.
    fn add_info(&mut self) -> Result<()> {
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

    /// Removes the attribute info message from an object header. The creation order of later
    /// attributes begins at 0.
    pub(super) fn remove_info(&mut self) -> Result<()> {
        self.open.info = None;
        self.open.header.remove_messages(MessageType::ATTRIBUTE_INFO, |_| true).map(drop)
    }

    /// Returns the creation order of the next new attribute of an object.
    pub(super) fn next_order(&self) -> Result<u64> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        match info.max_creation_index {
            Some(u16::MAX) => Err(Error::Limit {
                subject: format!("creation orders of attributes of the object at {}", self.address()),
                got: 65_536,
                limit: 65_535,
            }),
            index => Ok(index.unwrap_or(0).into()),
        }
    }

    /// Returns the creation order that dense storage states for an attribute. If the object does
    /// not track the creation order, this is [`NO_ORDER`].
    fn dense_order(&self, order: u64) -> u64 {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        if info.max_creation_index.is_some() { order } else { NO_ORDER.into() }
    }

    /// Returns the creation order of an attribute in compact storage.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the object tracks the creation order and `order` does not fit
    /// in its field.
    fn compact_order(&self, order: u64) -> Result<u16> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        match u16::try_from(order) {
            Ok(order) => Ok(order),
            Err(_) if info.max_creation_index.is_none() => Ok(NO_ORDER),
            Err(_) => {
                Err(Error::corrupt("attribute", "creation order", "at most 65535", order).at(self.address()))
            }
        }
    }

    /// Records the creation order of a new attribute in the attribute info message of the object
    /// header.
    pub(super) fn record_order(&mut self, order: u64) -> Result<()> {
        match self.open.info {
            Some(info) if info.max_creation_index.is_some() => {
                let next = order.checked_add(1).and_then(|next| u16::try_from(next).ok());
                let next = next.ok_or_else(|| {
                    Error::internal("attribute editor", "`next_order` returns an order below 65535")
                })?;
                self.set_info(AttributeInfo { max_creation_index: Some(next), ..info })
            }
            _ => Ok(()),
        }
    }

    /// Changes the storage of an object's attributes from compact to dense.
    fn become_dense(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let info = self.open.info.unwrap_or_else(|| self.empty_info());
        let dense = Dense::create(edit, DenseKind::Attributes, info.creation_order_index.is_some(), &[])?;
        let ids: Vec<MessageId> =
            self.open.header.messages_of(MessageType::ATTRIBUTE).map(|message| message.id).collect();
        for id in ids {
            let stored = self.stored(id)?;
            let params = self.container.params();
            let name = at(AttributeMessage::decode(&stored.body, params), self.address())?.name;
            if self.open.deferred.find(name).is_some() {
                let expected = "one attribute of each name";
                return Err(Error::corrupt("attribute message", "name", expected, "two").at(self.address()));
            }
            let (flags, body) = match &stored.reference {
                Some(reference) => (stored.flags, reference.as_slice()),
                None => (stored.flags & !MessageFlags::SHARED, &*stored.body),
            };
            self.open.deferred.push(name, body, flags, self.dense_order(stored.order), None);
        }
        self.open.header.remove_messages(MessageType::ATTRIBUTE, |_| true)?;
        (self.open.compact, self.open.stored) = (0, StoredNames::None);
        self.set_info(AttributeInfo {
            fractal_heap: dense.heap,
            name_index: dense.names,
            creation_order_index: dense.order,
            ..info
        })
    }

    /// Changes the storage of an object's attributes from dense to compact, if each attribute
    /// message fits in an object header.
    pub(super) fn become_compact(&mut self, edit: &mut Edit<'_>, dense: &Dense) -> Result<()> {
        let mut all = dense.all(self.container, edit)?;
        if all.iter().any(|(entry, body)| entry.shared_id().is_none() && body.len() >= MIN_TOO_LONG_BYTES) {
            return Ok(());
        }
        all.sort_by_key(|(entry, _)| entry.order);
        let orders = all.iter().map(|(entry, _)| self.compact_order(entry.order));
        let orders = orders.collect::<Result<Vec<_>>>()?;
        for ((entry, body), order) in all.iter().zip(orders) {
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

/// Returns the attribute that an entry of dense storage describes.
fn of_entry(edit: &Edit<'_>, entry: &DenseEntry, body: &Bytes) -> Result<Stored> {
    let reference = entry.shared_reference(edit.params())?;
    Ok(Stored { body: Bytes::from(&**body), flags: entry.flags, order: entry.order, reference })
}

fn content_of(placed: &Placed) -> Content<'_> {
    placed.id.map_or(Content::Own(&placed.body), Content::Shared)
}
