//! Object headers that are made and changed: messages set, added and removed in memory, then laid into the
//! header's chunks and written.

mod chunk;
mod create;
mod room;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

use hyperslab_format::codec::{Address, FileParams};
use hyperslab_format::message::{
    Message, MessageFlags, MessageType, ModificationTime, ModificationTimeOld, ReferenceCount,
};
use hyperslab_format::object_header::{EnvelopeLayout, HeaderFlags, ObjectTimes, PrefixV2};
use smallvec::SmallVec;

use super::header::{ObjectHeader, Prefix};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, Store, at};
use chunk::Chunk;

pub(super) use create::check_phase_change;
pub use create::{AttributeOrder, NewHeader, NewMessage, create, prepare};

const NAME: &str = "object header";

/// An object header that is being changed. The changes stay in it until [`save`](Self::save).
#[derive(Debug)]
pub struct HeaderEditor {
    address: Address,
    params: FileParams,
    prefix: Prefix,
    layout: EnvelopeLayout,
    chunks: SmallVec<[Chunk; 2]>,
    /// All messages but NIL, in the order of the header.
    messages: Vec<Slot>,
    /// The bytes of the bodies.
    arena: Vec<u8>,
    /// Room was given up: perhaps a continuation block can go.
    shrunk: bool,
    /// What stands before the messages was changed.
    prefix_changed: bool,
}

/// A message and the chunk that it lies in.
#[derive(Debug, Clone)]
struct Slot {
    kind: MessageType,
    flags: MessageFlags,
    creation_order: u16,
    body: Range<usize>,
    /// `None` while no room has been found for it.
    chunk: Option<usize>,
}

/// A message of a header that is being changed. Valid until a message is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageId(usize);

/// A message as it stands in the header that is being changed.
#[derive(Debug, Clone, Copy)]
pub struct MessageView<'a> {
    /// Which one.
    pub id: MessageId,
    /// What it says.
    pub kind: MessageType,
    /// How it is to be treated.
    pub flags: MessageFlags,
    /// Creation order among the attributes; 0 where it is not tracked.
    pub creation_order: u16,
    /// The body, or a reference to it where it is shared.
    pub body: &'a [u8],
}

impl HeaderEditor {
    /// Reads the header at `address` to change it.
    ///
    /// # Errors
    /// As [`ObjectHeader::load`]; [`Error::Unsupported`] if a message that must be understood by writers is not.
    pub fn load(store: &Store, address: Address) -> Result<Self> {
        Self::new(store, &ObjectHeader::load(store, address)?)
    }

    /// The same of a header that is read already.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn new(store: &Store, header: &ObjectHeader) -> Result<Self> {
        let layout = match header.prefix() {
            Prefix::V1(_) => EnvelopeLayout::V1,
            Prefix::V2(prefix) => EnvelopeLayout::V2 {
                creation_order: prefix.flags.contains(HeaderFlags::ATTRIBUTE_ORDER_TRACKED),
            },
        };
        let mut editor = Self {
            address: header.address(),
            params: store.params(),
            prefix: *header.prefix(),
            layout,
            chunks: Chunk::all_of(header),
            messages: Vec::with_capacity(header.messages().len().saturating_add(2)),
            arena: Vec::with_capacity(header.chunk_sizes().sum::<usize>().saturating_add(64)),
            shrunk: false,
            prefix_changed: false,
        };
        for message in header.messages() {
            let kind = message.kind;
            if let Some(chunk) = editor.chunks.get_mut(message.chunk) {
                chunk.found = chunk.found.saturating_add(1);
            }
            if kind == MessageType::NIL {
                continue;
            }
            let flags = editor.flags_after_change(kind, message.flags, message.chunk)?;
            let body = editor.keep(header.body(message));
            let creation_order = message.creation_order.unwrap_or(0);
            let slot = Slot { kind, flags, creation_order, body, chunk: Some(message.chunk) };
            editor.occupy(&slot);
            editor.messages.push(slot);
        }
        Ok(editor)
    }

    /// What the flags of a message are when a program that knows the known types has changed the object.
    fn flags_after_change(
        &mut self,
        kind: MessageType,
        flags: MessageFlags,
        chunk: usize,
    ) -> Result<MessageFlags> {
        if kind.is_known() {
            return Ok(flags);
        }
        if flags.contains(MessageFlags::FAIL_IF_UNKNOWN_AND_WRITING) {
            let (address, number) = (self.address, kind.0);
            return Err(Error::unsupported(format!(
                "changing the object at {address}, which has a message of unknown type {number:#06x},"
            )));
        }
        if flags.contains(MessageFlags::MARK_IF_UNKNOWN) && !flags.contains(MessageFlags::WAS_UNKNOWN) {
            self.touch_chunk(Some(chunk));
            return Ok(flags | MessageFlags::WAS_UNKNOWN);
        }
        Ok(flags)
    }

    /// Where the header lies; this is the object's identity in the file.
    pub fn address(&self) -> Address {
        self.address
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1(_) => 1,
            Prefix::V2(_) => 2,
        }
    }

    /// What stands before the messages.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The messages in their order, without NIL messages and continuations.
    pub fn messages(&self) -> impl Iterator<Item = MessageView<'_>> {
        self.messages
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.kind != MessageType::CONTINUATION)
            .map(|(id, slot)| self.view(id, slot))
    }

    fn view<'a>(&'a self, id: usize, slot: &Slot) -> MessageView<'a> {
        MessageView {
            id: MessageId(id),
            kind: slot.kind,
            flags: slot.flags,
            creation_order: slot.creation_order,
            body: self.arena.get(slot.body.clone()).unwrap_or_default(),
        }
    }

    /// The messages of one kind.
    pub fn messages_of(&self, kind: MessageType) -> impl Iterator<Item = MessageView<'_>> {
        self.messages().filter(move |message| message.kind == kind)
    }

    /// The first message of one kind.
    pub fn find(&self, kind: MessageType) -> Option<MessageView<'_>> {
        self.messages_of(kind).next()
    }

    /// The first message of `M`'s type, decoded; not for messages that may be shared.
    ///
    /// # Errors
    /// If its bytes contradict the format.
    pub fn decode<'a, M: Message<'a>>(&'a self) -> Result<Option<M>> {
        self.find(M::TYPE).map(|view| at(M::decode(view.body, self.params), self.address)).transpose()
    }

    /// Replaces the first message of that kind, or adds one.
    pub fn set_message(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) {
        match self.find(kind).map(|message| message.id) {
            Some(id) => self.replace(id, flags, body),
            None => self.add_message(kind, flags, body),
        }
    }

    /// As [`set_message`](Self::set_message), of a message that is encoded here and not shared. The flags of one
    /// that is replaced stay.
    ///
    /// # Errors
    /// If a value does not fit its field.
    pub fn set<'a, M: Message<'a>>(&mut self, message: &M, flags: MessageFlags) -> Result<()> {
        let body = message.to_bytes(self.params)?;
        let flags = self.find(M::TYPE).map_or(flags, |message| message.flags);
        self.set_message(M::TYPE, flags, &body);
        Ok(())
    }

    /// Puts another body in a message's place.
    pub fn replace(&mut self, id: MessageId, flags: MessageFlags, body: &[u8]) {
        let Some(slot) = self.messages.get(id.0).cloned() else { return };
        let before = self.total(&slot);
        self.vacate(&slot);
        let body = if slot.body.len() == body.len() {
            if let Some(place) = self.arena.get_mut(slot.body.clone()) {
                place.copy_from_slice(body);
            }
            slot.body.clone()
        } else {
            self.keep(body)
        };
        let mut slot = Slot { flags, body, ..slot };
        let total = self.total(&slot);
        self.shrunk |= total < before;
        // It stays where it is if there is room; otherwise `save` finds another place.
        slot.chunk = slot.chunk.filter(|chunk| self.free_in(*chunk) >= total);
        self.occupy(&slot);
        self.touch_chunk(slot.chunk);
        if let Some(place) = self.messages.get_mut(id.0) {
            *place = slot;
        }
    }

    /// Adds a message behind those of its kind.
    pub fn add_message(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) {
        self.add_ordered(kind, flags, 0, body);
    }

    /// Adds a message with its creation order among the attributes.
    pub fn add_ordered(&mut self, kind: MessageType, flags: MessageFlags, creation_order: u16, body: &[u8]) {
        let body = self.keep(body);
        self.messages.push(Slot { kind, flags, creation_order, body, chunk: None });
    }

    /// Removes a message. Other [`MessageId`]s mean nothing afterwards.
    pub fn remove(&mut self, id: MessageId) {
        if id.0 < self.messages.len() {
            let slot = self.messages.remove(id.0);
            self.vacate(&slot);
            self.shrunk = true;
        }
    }

    /// Removes the messages of one kind for which `which` holds; says how many there were.
    pub fn remove_messages(
        &mut self,
        kind: MessageType,
        mut which: impl FnMut(MessageView<'_>) -> bool,
    ) -> usize {
        let ids: Vec<MessageId> =
            self.messages_of(kind).filter(|message| which(*message)).map(|message| message.id).collect();
        for id in ids.iter().rev() {
            self.remove(*id);
        }
        ids.len()
    }

    /// Number of hard links to the object.
    ///
    /// # Errors
    /// If the message that says it is damaged.
    pub fn reference_count(&self) -> Result<u32> {
        match &self.prefix {
            Prefix::V1(prefix) => Ok(prefix.reference_count),
            Prefix::V2(_) => Ok(self.decode::<ReferenceCount>()?.map_or(1, |message| message.count)),
        }
    }

    /// Sets the number of hard links to the object.
    ///
    /// # Errors
    /// Never in practice: a count always fits its field.
    pub fn set_reference_count(&mut self, count: u32) -> Result<()> {
        match &mut self.prefix {
            Prefix::V1(prefix) => {
                self.prefix_changed |= prefix.reference_count != count;
                prefix.reference_count = count;
            }
            Prefix::V2(_) if count == 1 => {
                self.remove_messages(MessageType::REFERENCE_COUNT, |_| true);
            }
            Prefix::V2(_) => self.set(&ReferenceCount { count }, MessageFlags::DO_NOT_SHARE)?,
        }
        Ok(())
    }

    /// Notes that the object was changed at `now` (seconds since 1970-01-01 UTC), where the header keeps times.
    ///
    /// # Errors
    /// If the time does not fit its field.
    pub fn touch(&mut self, now: u32) -> Result<()> {
        if let Prefix::V2(prefix) = &mut self.prefix
            && let Some(times) = &mut prefix.times
        {
            times.modification = now;
            times.change = now;
            self.prefix_changed = true;
        }
        if self.find(MessageType::MODIFICATION_TIME).is_some() {
            self.set(&ModificationTime { seconds: now }, MessageFlags::empty())?;
        }
        if self.find(MessageType::MODIFICATION_TIME_OLD).is_some()
            && let Some(time) = ModificationTimeOld::from_unix_seconds(i64::from(now))
        {
            self.set(&time, MessageFlags::empty())?;
        }
        Ok(())
    }

    /// Sets the times that the header keeps: all four, or that of the last change.
    ///
    /// # Errors
    /// If a time does not fit its field.
    pub fn set_times(&mut self, times: ObjectTimes) -> Result<()> {
        if let Prefix::V2(PrefixV2 { times: Some(kept), .. }) = &mut self.prefix {
            *kept = times;
            self.prefix_changed = true;
        }
        if self.find(MessageType::MODIFICATION_TIME).is_some() {
            self.set(&ModificationTime { seconds: times.modification }, MessageFlags::empty())?;
        }
        Ok(())
    }

    /// Lays the messages into the chunks and writes the chunks that are other than before.
    ///
    /// # Errors
    /// [`Error::Misuse`] if a message is too long for any header; as [`Edit::allocate`] and [`Edit::write`].
    pub fn save(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.lay_out(edit)?;
        self.write(edit)
    }

    /// Gives the room of the whole header back. What its messages point at is the caller's to free before.
    ///
    /// # Errors
    /// As [`Edit::free`].
    pub fn delete(self, edit: &mut Edit<'_>) -> Result<()> {
        for chunk in &self.chunks {
            if let Some((address, length)) = chunk.place {
                edit.free(SpaceKind::ObjectHeader, address, length)?;
            }
        }
        edit.store().end_life(self.address);
        Ok(())
    }

    /// Appends bytes to the arena.
    fn keep(&mut self, body: &[u8]) -> Range<usize> {
        let start = self.arena.len();
        self.arena.extend_from_slice(body);
        start..self.arena.len()
    }
}

/// The time as headers keep it: seconds since 1970-01-01 UTC.
pub fn now() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|time| u32::try_from(time.as_secs()).ok())
        .unwrap_or(u32::MAX)
}
