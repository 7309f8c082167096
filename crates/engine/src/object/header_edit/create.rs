//! A new object header.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{Message, MessageFlags, MessageType, ModificationTime, ReferenceCount};
use hyperslab_format::object_header::{
    AttributePhaseChange, EnvelopeLayout, HeaderFlags, ObjectTimes, PrefixV1, PrefixV2,
};
use smallvec::SmallVec;

use super::super::header::Prefix;
use super::chunk::{Chunk, overhead, total};
use super::{HeaderEditor, Slot};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind};
use crate::versions::LibraryVersion;

/// True if an object remembers the order in which its attributes were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AttributeOrder {
    /// It does not.
    #[default]
    Untracked,
    /// It does.
    Tracked,
    /// It does, and finds dense attributes by it.
    Indexed,
}

/// A message of a new header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// What it says.
    pub kind: MessageType,
    /// How it is to be treated.
    pub flags: MessageFlags,
    /// Its body, or a reference to it where it is shared.
    pub body: Vec<u8>,
}

/// What a new object header shall hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHeader {
    /// The messages in their order. Attributes are better added to the object when it is there.
    pub messages: Vec<NewMessage>,
    /// True if the order of attributes is tracked; anything but [`AttributeOrder::Untracked`] makes a version 2
    /// header, whatever the bounds.
    pub attribute_order: AttributeOrder,
    /// Where given, version 2 headers store the times, and version 1 headers get a modification time message.
    pub times: Option<ObjectTimes>,
    /// When attributes move out of the header; version 1 headers cannot say it.
    pub phase_change: AttributePhaseChange,
    /// Number of hard links that will lead to the object.
    pub reference_count: u32,
    /// The first chunk gets at least so many bytes for messages.
    pub least: usize,
    /// Bytes of the first chunk that are left free for messages to come.
    pub spare: usize,
    /// Version 2 whatever the bounds, for what version 1 cannot hold.
    pub version_2: bool,
}

impl Default for NewHeader {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            attribute_order: AttributeOrder::Untracked,
            times: None,
            phase_change: AttributePhaseChange::default(),
            reference_count: 1,
            least: 0,
            spare: 0,
            version_2: false,
        }
    }
}

impl NewHeader {
    /// Adds a message that is encoded here.
    ///
    /// # Errors
    /// If a value does not fit its field.
    pub fn push<'a, M: Message<'a>>(
        &mut self,
        edit: &Edit<'_>,
        message: &M,
        flags: MessageFlags,
    ) -> Result<()> {
        let body = message.to_bytes(edit.params())?;
        self.messages.push(NewMessage { kind: M::TYPE, flags, body });
        Ok(())
    }

    /// Leaves room for `count` messages of `body` bytes each.
    pub fn spare_for(&mut self, edit: &Edit<'_>, count: usize, body: usize) {
        let each = total(self.layout(self.is_version_2(edit)), body);
        self.spare = self.spare.saturating_add(each.saturating_mul(count));
    }

    /// All times the same: those of an object made at `now`, in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn with_times(mut self, now: u32) -> Self {
        self.times = Some(ObjectTimes { access: now, modification: now, change: now, birth: now });
        self
    }

    /// Version 2 where it is preferred, or needed.
    fn is_version_2(&self, edit: &Edit<'_>) -> bool {
        edit.bounds().prefers(LibraryVersion::V18)
            || self.attribute_order != AttributeOrder::Untracked
            || self.version_2
    }

    fn layout(&self, version_2: bool) -> EnvelopeLayout {
        if version_2 {
            EnvelopeLayout::V2 { creation_order: self.attribute_order != AttributeOrder::Untracked }
        } else {
            EnvelopeLayout::V1
        }
    }

    fn prefix(&self, version_2: bool) -> Prefix {
        if !version_2 {
            let reference_count = self.reference_count;
            return Prefix::V1(PrefixV1 { message_count: 0, reference_count, chunk0_size: 0 });
        }
        let stored_phase =
            (self.phase_change != AttributePhaseChange::default()).then_some(self.phase_change);
        let mut flags = match self.attribute_order {
            AttributeOrder::Untracked => HeaderFlags::empty(),
            AttributeOrder::Tracked => HeaderFlags::ATTRIBUTE_ORDER_TRACKED,
            AttributeOrder::Indexed => {
                HeaderFlags::ATTRIBUTE_ORDER_TRACKED | HeaderFlags::ATTRIBUTE_ORDER_INDEXED
            }
        };
        flags.set(HeaderFlags::PHASE_CHANGE_STORED, stored_phase.is_some());
        flags.set(HeaderFlags::TIMES_STORED, self.times.is_some());
        Prefix::V2(PrefixV2 { flags, times: self.times, phase_change: stored_phase, chunk0_size: 0 })
    }
}

/// An error unless what moves out of a header stays out of it for a while.
pub(in super::super) fn check_phase_change(what: &str, max_compact: u16, min_dense: u16) -> Result<()> {
    if max_compact >= min_dense {
        return Ok(());
    }
    Err(Error::Misuse(format!(
        "{what} that move out of the header beyond {max_compact} cannot come back below {min_dense}"
    )))
}

/// Makes an object header: version 1 or 2 by the file's bounds, all messages in its first chunk.
///
/// # Errors
/// [`Error::Misuse`](crate::Error::Misuse) if a message is too long for a header; as [`Edit::allocate`].
pub fn create(edit: &mut Edit<'_>, new: &NewHeader) -> Result<Address> {
    let mut editor = prepare(edit, new)?;
    editor.write(edit)?;
    Ok(editor.address)
}

/// As [`create`], but the header is only allocated: it is there once it is saved.
///
/// # Errors
/// As [`create`].
pub fn prepare(edit: &mut Edit<'_>, new: &NewHeader) -> Result<HeaderEditor> {
    let AttributePhaseChange { max_compact, min_dense } = new.phase_change;
    check_phase_change("attributes", max_compact, min_dense)?;
    let version_2 = new.is_version_2(edit);
    let mut prefix = new.prefix(version_2);
    let layout = new.layout(version_2);
    let params = edit.params();
    let mut editor = HeaderEditor {
        address: Address::UNDEFINED,
        params,
        prefix,
        layout,
        chunks: SmallVec::new(),
        messages: Vec::with_capacity(new.messages.len().saturating_add(1)),
        arena: Vec::new(),
        shrunk: false,
        prefix_changed: false,
    };
    for message in &new.messages {
        editor.add_first(message.kind, message.flags, &message.body);
    }
    editor.add_what_is_said_elsewhere(new)?;
    let used = editor.messages.iter().map(|slot| editor.total(slot)).fold(0, usize::saturating_add);
    let capacity = capacity(&editor, new, used);
    set_chunk0_size(&mut prefix, capacity as u64);
    let length = capacity.saturating_add(overhead(&prefix)) as u64;
    let address = edit.allocate(SpaceKind::ObjectHeader, length)?;
    editor.prefix = prefix;
    editor.address = address;
    edit.store().begin_life(address);
    editor.chunks.push(Chunk { place: Some((address, length)), used, ..Chunk::new(capacity) });
    Ok(editor)
}

/// Bytes for messages in the first chunk.
fn capacity(editor: &HeaderEditor, new: &NewHeader, used: usize) -> usize {
    // A header that is to grow needs the room of a continuation.
    let continuation = editor.params.offset_width().saturating_add(editor.params.length_width());
    let capacity = used.saturating_add(new.spare).max(new.least).max(total(editor.layout, continuation));
    match editor.layout {
        EnvelopeLayout::V1 => capacity.next_multiple_of(8),
        EnvelopeLayout::V2 { .. } => capacity,
    }
}

/// Says how many bytes of messages the first chunk has, in a field as wide as it must be.
pub(super) fn set_chunk0_size(prefix: &mut Prefix, capacity: u64) {
    match prefix {
        // A size that 32 bits cannot say is that of messages which no header can hold.
        Prefix::V1(prefix) => prefix.chunk0_size = u32::try_from(capacity).unwrap_or(u32::MAX),
        Prefix::V2(prefix) => {
            prefix.chunk0_size = capacity;
            let width = match capacity {
                0..=0xff => 0,
                0x100..=0xffff => 1,
                0x1_0000..=0xffff_ffff => 2,
                _ => 3,
            };
            prefix.flags -= HeaderFlags::from_bits_truncate(3);
            prefix.flags |= HeaderFlags::from_bits_truncate(width);
        }
    }
}

impl HeaderEditor {
    /// Adds a message to the first chunk, which is as large as it must be.
    fn add_first(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) {
        let body = self.keep(body);
        self.messages.push(Slot { kind, flags, creation_order: 0, body, chunk: Some(0) });
    }

    /// What one version says before the messages and the other in a message.
    fn add_what_is_said_elsewhere(&mut self, new: &NewHeader) -> Result<()> {
        match self.prefix {
            Prefix::V1(_) => {
                if let Some(times) = new.times {
                    let body = ModificationTime { seconds: times.modification }.to_bytes(self.params)?;
                    self.add_first(MessageType::MODIFICATION_TIME, MessageFlags::empty(), &body);
                }
            }
            Prefix::V2(_) if new.reference_count != 1 => {
                let body = ReferenceCount { count: new.reference_count }.to_bytes(self.params)?;
                self.add_first(MessageType::REFERENCE_COUNT, MessageFlags::DO_NOT_SHARE, &body);
            }
            Prefix::V2(_) => {}
        }
        Ok(())
    }
}
