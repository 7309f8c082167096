//! Creation and changes of object headers. Messages are set, added and removed in memory, then
//! placed in the chunks of the header and written.

mod chunk;
mod create;
mod placement;
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

fn no_message() -> Error {
    Error::internal(NAME, "an identity names a message of the editor")
}

/// An editor of an object header. Changes stay in memory until the method [`save`](Self::save) is
/// called.
#[derive(Debug)]
pub struct HeaderEditor {
    address: Address,
    params: FileParams,
    prefix: Prefix,
    layout: EnvelopeLayout,
    chunks: SmallVec<[Chunk; 2]>,
    /// All messages except NIL messages, in the order of the header.
    messages: Vec<Slot>,
    /// Bytes of the bodies. Bytes are only appended.
    arena: Vec<u8>,
    /// True if messages were removed or shortened, so that a continuation block may be unnecessary.
    shrunk: bool,
    /// True if the prefix was changed.
    prefix_changed: bool,
}

/// A message in an editor of an object header, and the header chunk that contains the message.
#[derive(Debug, Clone)]
struct Slot {
    kind: MessageType,
    flags: MessageFlags,
    creation_order: u16,
    body: Range<usize>,
    /// Index of the chunk; `None` for a message without a place.
    chunk: Option<usize>,
}

/// The identity of a message in an editor of an object header. When a message is removed, the
/// identities become invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageId(usize);

/// A view of one message in an editor of an object header.
#[derive(Debug, Clone, Copy)]
pub struct MessageView<'a> {
    /// Identity of the message.
    pub id: MessageId,
    /// Type of the message.
    pub kind: MessageType,
    /// Flags of the message.
    pub flags: MessageFlags,
    /// Creation order among the attributes, or 0 if it is not tracked.
    pub creation_order: u16,
    /// The body, or the reference to a shared message.
    pub body: &'a [u8],
}

impl HeaderEditor {
    /// Reads the object header at `address` and opens an editor of the object header.
    ///
    /// # Errors
    /// Returns the errors of [`ObjectHeader::load`], and [`Error::Unsupported`] if the header has a
    /// message of unknown type with the flag that writers must know the type.
    pub fn load(store: &Store, address: Address) -> Result<Self> {
        Self::new(store, &ObjectHeader::load(store, address)?)
    }

    /// Creates an editor of an object header that was read before.
    ///
    /// # Errors
    /// Returns the same errors as [`load`](Self::load).
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
            messages: Vec::with_capacity(header.messages().len() + 2),
            arena: Vec::with_capacity(header.chunk_sizes().sum::<usize>() + 64),
            shrunk: false,
            prefix_changed: false,
        };
        for message in header.messages() {
            let kind = message.kind;
            if let Some(chunk) = editor.chunks.get_mut(message.chunk) {
                chunk.found += 1;
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

    /// Returns the flags of an object header message after hyperslab has changed the message.
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

    /// Returns the address of the edited object header, which is the identity of the object in the
    /// file.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the bytes of memory of an object header editor and its messages.
    pub(in crate::object) fn memory(&self) -> usize {
        // All sizes are sizes of allocations, so the sum does not overflow.
        size_of::<Self>() + self.arena.capacity() + self.messages.capacity() * size_of::<Slot>()
    }

    /// Returns the version of the edited object header: 1 or 2.
    pub fn version(&self) -> u8 {
        match self.prefix {
            Prefix::V1(_) => 1,
            Prefix::V2(_) => 2,
        }
    }

    /// Returns the prefix of the edited object header.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Returns the messages of the edited object header in order, without NIL messages and
    /// continuations.
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
            body: self.body(slot),
        }
    }

    fn body(&self, slot: &Slot) -> &[u8] {
        // The default is never used: `keep` has returned the range, and the arena only grows.
        self.arena.get(slot.body.clone()).unwrap_or_default()
    }

    /// Returns the messages of the type `kind` in the edited object header.
    pub fn messages_of(&self, kind: MessageType) -> impl Iterator<Item = MessageView<'_>> {
        self.messages().filter(move |message| message.kind == kind)
    }

    /// Returns the first message of the type `kind` in the edited object header.
    pub fn find(&self, kind: MessageType) -> Option<MessageView<'_>> {
        self.messages_of(kind).next()
    }

    /// Decodes the first message of the type `M` in the edited object header. The message must not
    /// be a shared message.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the bytes contradict the format.
    pub fn decode<'a, M: Message<'a>>(&'a self) -> Result<Option<M>> {
        self.find(M::TYPE).map(|view| at(M::decode(view.body, self.params), self.address)).transpose()
    }

    /// Replaces the first message of the type `kind` in the edited object header, or adds a message
    /// if the object header has none.
    ///
    /// # Errors
    /// Returns the same errors as [`replace`](Self::replace).
    pub fn set_message(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) -> Result<()> {
        match self.find(kind).map(|message| message.id) {
            Some(id) => self.replace(id, flags, body)?,
            None => self.add_message(kind, flags, body),
        }
        Ok(())
    }

    /// Encodes a message and sets it in the edited object header as
    /// [`set_message`](Self::set_message) does. A replaced message keeps its flags, and must not be
    /// a shared message.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a value does not fit in its field.
    pub fn set<'a, M: Message<'a>>(&mut self, message: &M, flags: MessageFlags) -> Result<()> {
        let body = message.to_bytes(self.params)?;
        let flags = self.find(M::TYPE).map_or(flags, |message| message.flags);
        self.set_message(M::TYPE, flags, &body)
    }

    /// Replaces the flags and the body of a message in the edited object header.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if there is no such message.
    pub fn replace(&mut self, id: MessageId, flags: MessageFlags, body: &[u8]) -> Result<()> {
        let slot = self.messages.get(id.0).cloned().ok_or_else(no_message)?;
        let before = self.total(&slot);
        self.vacate(&slot)?;
        let body = if slot.body.len() == body.len() {
            self.arena.get_mut(slot.body.clone()).ok_or_else(no_message)?.copy_from_slice(body);
            slot.body.clone()
        } else {
            self.keep(body)
        };
        let mut slot = Slot { flags, body, ..slot };
        let total = self.total(&slot);
        self.shrunk |= total < before;
        // The message stays in its chunk if there is space. Otherwise `save` finds a place.
        slot.chunk = slot.chunk.filter(|chunk| self.free_in(*chunk) >= total);
        self.occupy(&slot);
        self.touch_chunk(slot.chunk);
        *self.messages.get_mut(id.0).ok_or_else(no_message)? = slot;
        Ok(())
    }

    /// Adds a message to the edited object header, after the existing messages of its type.
    pub fn add_message(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) {
        self.add_ordered(kind, flags, 0, body);
    }

    /// Adds an attribute message with its creation order to the edited object header.
    pub fn add_ordered(&mut self, kind: MessageType, flags: MessageFlags, creation_order: u16, body: &[u8]) {
        let body = self.keep(body);
        self.messages.push(Slot { kind, flags, creation_order, body, chunk: None });
    }

    /// Removes a message from the edited object header. All other [`MessageId`]s become invalid.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if there is no such message.
    pub fn remove(&mut self, id: MessageId) -> Result<()> {
        let slot = self.messages.get(id.0).cloned().ok_or_else(no_message)?;
        self.vacate(&slot)?;
        self.messages.remove(id.0);
        self.shrunk = true;
        Ok(())
    }

    /// Removes the messages of the type `kind` for which `which` returns true from the edited
    /// object header. Returns the number of removed messages.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if a message is not in its chunk.
    pub fn remove_messages(
        &mut self,
        kind: MessageType,
        mut which: impl FnMut(MessageView<'_>) -> bool,
    ) -> Result<usize> {
        let ids: Vec<MessageId> =
            self.messages_of(kind).filter(|message| which(*message)).map(|message| message.id).collect();
        for id in ids.iter().rev() {
            self.remove(*id)?;
        }
        Ok(ids.len())
    }

    /// Returns the number of hard links to the object, from the edited object header.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if the reference count message is damaged.
    pub fn reference_count(&self) -> Result<u32> {
        match &self.prefix {
            Prefix::V1(prefix) => Ok(prefix.reference_count),
            Prefix::V2(_) => Ok(self.decode::<ReferenceCount>()?.map_or(1, |message| message.count)),
        }
    }

    /// Sets the number of hard links to the object in the edited object header.
    ///
    /// # Errors
    /// Returns no errors in practice: each count fits in its field.
    pub fn set_reference_count(&mut self, count: u32) -> Result<()> {
        match &mut self.prefix {
            Prefix::V1(prefix) => {
                self.prefix_changed |= prefix.reference_count != count;
                prefix.reference_count = count;
            }
            Prefix::V2(_) if count == 1 => {
                self.remove_messages(MessageType::REFERENCE_COUNT, |_| true)?;
            }
            Prefix::V2(_) => self.set(&ReferenceCount { count }, MessageFlags::DO_NOT_SHARE)?,
        }
        Ok(())
    }

    /// Sets the time of the object's last change to `now`, in seconds since 1970-01-01 UTC, if the
    /// edited object header stores times.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the time does not fit in its field.
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

    /// Sets the times of the object in the edited object header: all four times, or only the time
    /// of the last change, depending on the header version.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a time does not fit in its field.
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

    /// Distributes the messages to the header chunks of the edited object header and writes the
    /// changed header chunks.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a message is too long for an object header, and the errors of
    /// [`Edit::allocate`] and [`Edit::write`].
    pub fn save(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.lay_out(edit)?;
        self.write(edit)
    }

    /// Frees all header chunks of the edited object header. Before the call, the caller frees the
    /// blocks to which messages refer.
    ///
    /// # Errors
    /// Returns the errors of [`Edit::free`].
    pub fn delete(self, edit: &mut Edit<'_>) -> Result<()> {
        for chunk in &self.chunks {
            if let Some((address, length)) = chunk.extent {
                edit.free(SpaceKind::ObjectHeader, address, length)?;
            }
        }
        edit.store().end_life(self.address);
        Ok(())
    }

    /// Keeps the body of a new message in the memory of an object header editor. Returns the range
    /// of the copied bytes in that memory.
    fn keep(&mut self, body: &[u8]) -> Range<usize> {
        let start = self.arena.len();
        self.arena.extend_from_slice(body);
        start..self.arena.len()
    }
}

/// Returns the current time as object headers store it: seconds since 1970-01-01 UTC. After 2106,
/// returns the largest 32-bit number. Without a clock, as in a browser, returns 0.
pub fn now() -> u32 {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) {
        return 0;
    }
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|time| u32::try_from(time.as_secs()).ok())
        .unwrap_or(u32::MAX)
}
