//! Creation of object headers.

use hyperslab_exact::to_u64;
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

/// The choice of the storage of the creation order of attributes in a new object: none, tracked, or
/// indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AttributeOrder {
    /// The creation order is not tracked.
    #[default]
    Untracked,
    /// The creation order is tracked.
    Tracked,
    /// The creation order is tracked, and dense storage has an index by creation order.
    Indexed,
}

/// A message of a new object header: its type, flags and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Type of the message.
    pub kind: MessageType,
    /// Flags of the message.
    pub flags: MessageFlags,
    /// The body, or the reference to a shared message.
    pub body: Vec<u8>,
}

/// The properties of a new object header: its messages, and the properties of its prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHeader {
    /// The messages in order. Attributes should be added after the creation of the object.
    pub messages: Vec<NewMessage>,
    /// Storage of the creation order of attributes. All values except [`AttributeOrder::Untracked`]
    /// require a version 2 header, independent of the bounds.
    pub attribute_order: AttributeOrder,
    /// Times of the object. A version 2 header stores all times; a version 1 header gets a
    /// modification time message.
    pub times: Option<ObjectTimes>,
    /// Limits for the number of attributes at which the object changes between compact and dense
    /// storage. Version 1 headers cannot store the limits.
    pub phase_change: AttributePhaseChange,
    /// Number of hard links that will refer to the object.
    pub reference_count: u32,
    /// Smallest size of the first chunk's messages and gap, in bytes.
    pub least: usize,
    /// Number of free bytes in the first chunk for later messages.
    pub spare: usize,
    /// True for a version 2 header independent of the bounds.
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
    /// Encodes a message and adds it to the new object header.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if a value does not fit in its field.
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

    /// Reserves spare space in the new object header for `count` later messages of `body` bytes
    /// each.
    ///
    /// # Errors
    /// Returns [`Error::Misuse`] if the space does not fit in memory.
    pub fn spare_for(&mut self, edit: &Edit<'_>, count: usize, body: usize) -> Result<()> {
        let each = total(self.layout(self.is_version_2(edit)), body);
        let spare = each.checked_mul(count).and_then(|all| self.spare.checked_add(all));
        self.spare = spare.ok_or_else(too_large)?;
        Ok(())
    }

    /// Sets all times of the object in its new object header to `now`, in seconds since 1970-01-01
    /// UTC.
    #[must_use]
    pub fn with_times(mut self, now: u32) -> Self {
        self.times = Some(ObjectTimes { access: now, modification: now, change: now, birth: now });
        self
    }

    /// Returns whether a new object header has version 2. Either the version bounds prefer version
    /// 2, or a property of the object header requires it.
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

/// Checks the two limits for the change between compact and dense storage. The limits must differ
/// enough: after a change to dense storage, the next removal must not lead back to compact storage.
pub(in super::super) fn check_phase_change(subject: &str, max_compact: u16, min_dense: u16) -> Result<()> {
    if max_compact >= min_dense {
        return Ok(());
    }
    Err(Error::Misuse(format!(
        "{subject} cannot become dense above {max_compact} and compact below {min_dense}: the number \
         {min_dense} must not exceed {max_compact}"
    )))
}

fn too_large() -> Error {
    Error::Misuse("the object header would have more free space than memory can hold".into())
}

/// Creates an object header that holds all messages in its first header chunk, and returns its
/// address. The version bounds of the file determine the version.
///
/// # Errors
/// Returns [`Error::Misuse`](crate::Error::Misuse) if a message is too long for an object header,
/// and the errors of [`Edit::allocate`].
pub fn create(edit: &mut Edit<'_>, new: &NewHeader) -> Result<Address> {
    let mut editor = prepare(edit, new)?;
    editor.write(edit)?;
    Ok(editor.address)
}

/// Allocates an object header like [`create`], but does not write it, and returns its editor. The
/// caller saves the object header.
///
/// # Errors
/// Returns the same errors as [`create`].
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
        messages: Vec::with_capacity(new.messages.len() + 1),
        arena: Vec::new(),
        shrunk: false,
        prefix_changed: false,
    };
    for message in &new.messages {
        editor.add_first(message.kind, message.flags, &message.body);
    }
    editor.add_properties(new)?;
    let used = editor.messages.iter().map(|slot| editor.total(slot)).sum::<usize>();
    let capacity = capacity(&editor, new, used)?;
    set_chunk0_size(&mut prefix, to_u64(capacity))?;
    let length = to_u64(capacity.checked_add(overhead(&prefix)).ok_or_else(too_large)?);
    let address = edit.allocate(SpaceKind::ObjectHeader, length)?;
    editor.prefix = prefix;
    editor.address = address;
    edit.store().begin_life(address);
    editor.chunks.push(Chunk { extent: Some((address, length)), used, ..Chunk::new(capacity) });
    Ok(editor)
}

/// Returns the capacity in bytes of the first header chunk of a new object header: the space for
/// messages and for a gap (unused bytes at the end).
fn capacity(editor: &HeaderEditor, new: &NewHeader, used: usize) -> Result<usize> {
    // The chunk can always hold a continuation, so that the header can grow.
    let continuation = editor.params.offset_width() + editor.params.length_width();
    let capacity = used.checked_add(new.spare).ok_or_else(too_large)?;
    let capacity = capacity.max(new.least).max(total(editor.layout, continuation));
    match editor.layout {
        EnvelopeLayout::V1 => capacity.checked_next_multiple_of(8).ok_or_else(too_large),
        EnvelopeLayout::V2 { .. } => Ok(capacity),
    }
}

/// Sets the size of the first header chunk in the prefix of an object header: the bytes for
/// messages and for a gap (unused bytes at the end). In version 2, stores the size in the shortest
/// possible field.
///
/// # Errors
/// Returns [`Error::Limit`] if the size does not fit in a version 1 header.
pub(super) fn set_chunk0_size(prefix: &mut Prefix, capacity: u64) -> Result<()> {
    match prefix {
        Prefix::V1(prefix) => {
            prefix.chunk0_size = u32::try_from(capacity).map_err(|_| {
                let subject = "bytes of messages in a version 1 object header".into();
                Error::Limit { subject, got: capacity, limit: u32::MAX.into() }
            })?;
        }
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
    Ok(())
}

impl HeaderEditor {
    /// Adds a message to the first header chunk of a new object header, whose size is determined
    /// later.
    fn add_first(&mut self, kind: MessageType, flags: MessageFlags, body: &[u8]) {
        let body = self.keep(body);
        self.messages.push(Slot { kind, flags, creation_order: 0, body, chunk: Some(0) });
    }

    /// Adds messages to a new object header for properties that this header version does not store
    /// in the prefix.
    fn add_properties(&mut self, new: &NewHeader) -> Result<()> {
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
