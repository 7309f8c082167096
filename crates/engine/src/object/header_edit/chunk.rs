//! Chunks of an object header in an editor: their used space and their bytes.

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{MessageFlags, MessageType};
use hyperslab_format::object_header::{ContinuationBlock, EnvelopeLayout, PrefixV1, write_envelope};
use smallvec::SmallVec;

use super::super::header::{ObjectHeader, Prefix};
use super::{HeaderEditor, NAME, Slot};
use crate::error::{Error, Result};
use crate::store::Edit;

/// Size in bytes of the checksum at the end of a header chunk of a version 2 object header.
const CHECKSUM_BYTES: usize = 4;

/// Largest size in bytes of the body of an object header message, in both versions of object
/// headers.
const MAX_BODY_BYTES: usize = 65_535;

/// A header chunk of an object header: the first header chunk or a continuation block.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Address and length of the whole chunk, if it is allocated.
    pub(super) extent: Option<(Address, u64)>,
    /// Size of the messages and the gap in bytes.
    pub(super) capacity: usize,
    /// Size of the messages in bytes, without NIL messages. Exceeds `capacity` if old messages were
    /// not padded.
    pub(super) used: usize,
    /// Number of messages of all types that the chunk has in the file.
    pub(super) found: usize,
    /// True if the chunk differs from the chunk in the file.
    pub(super) changed: bool,
}

impl Chunk {
    /// Returns the header chunks of an object header as they are in the file.
    pub(super) fn all_of(header: &ObjectHeader) -> SmallVec<[Self; 2]> {
        let first = header.chunk_sizes().next().unwrap_or(0);
        let first_extent = (header.address(), to_u64(first + overhead(header.prefix())));
        let extents = header.continuations().iter().map(|block| (block.address, block.length));
        std::iter::once(first_extent)
            .chain(extents)
            .zip(header.chunk_sizes())
            .map(|(extent, capacity)| Self {
                extent: Some(extent),
                capacity,
                used: 0,
                found: 0,
                changed: false,
            })
            .collect()
    }

    /// Creates a header chunk of an object header that is not yet in the file.
    pub(super) fn new(capacity: usize) -> Self {
        Self { extent: None, capacity, used: 0, found: 0, changed: true }
    }

    pub(super) fn free(&self) -> usize {
        // Saturates: a chunk with too many old messages has no free bytes.
        self.capacity.saturating_sub(self.used)
    }
}

/// Returns the overhead of an object header's first header chunk: the number of bytes that belong
/// neither to messages nor to the gap (the unused end of the chunk).
pub(super) fn overhead(prefix: &Prefix) -> usize {
    match prefix {
        Prefix::V1(_) => PrefixV1::SIZE,
        Prefix::V2(prefix) => prefix.size() + CHECKSUM_BYTES,
    }
}

/// Returns the overhead of an object header's continuation block: the number of bytes that belong
/// neither to messages nor to the gap (the unused end of the block).
pub(super) const fn block_overhead(layout: EnvelopeLayout) -> usize {
    match layout {
        EnvelopeLayout::V1 => 0,
        EnvelopeLayout::V2 { .. } => ContinuationBlock::OVERHEAD_BYTES,
    }
}

/// Returns the size in bytes of an object header message with its type, size and flags. The message
/// is in memory, so the sum does not overflow.
pub(super) fn total(layout: EnvelopeLayout, body: usize) -> usize {
    let body = match layout {
        EnvelopeLayout::V1 => body.next_multiple_of(8),
        EnvelopeLayout::V2 { .. } => body,
    };
    body + layout.size()
}

/// Returns the size in bytes of the longest NIL message, which is a multiple of 8 in both versions
/// of object headers.
const fn longest_nil(layout: EnvelopeLayout) -> usize {
    MAX_BODY_BYTES / 8 * 8 + layout.size()
}

/// Returns the lengths of the bodies of NIL messages that fill `free` bytes of a header chunk. Some
/// bytes at the end may stay unused, because they are too few for a message.
fn nil_bodies(layout: EnvelopeLayout, mut free: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let body = free.min(longest_nil(layout)).checked_sub(layout.size())?;
        let body = if layout == EnvelopeLayout::V1 { body / 8 * 8 } else { body };
        // `body` is at most `free` minus the envelope, and a multiple of 8 in version 1.
        free -= total(layout, body);
        Some(body)
    })
}

/// Fills the free space of an object header's header chunk with NIL messages, and with a gap
/// (unused bytes at the end) if bytes remain.
fn write_free(w: &mut Writer, layout: EnvelopeLayout, free: usize) -> Result<()> {
    static ZEROS: [u8; MAX_BODY_BYTES] = [0; MAX_BODY_BYTES];
    let mut gap = free;
    for length in nil_bodies(layout, free) {
        let body = ZEROS.get(..length);
        let body = body.ok_or_else(|| Error::internal(NAME, "a NIL message has at most 65535 bytes"))?;
        write_envelope(w, layout, MessageType::NIL, MessageFlags::empty(), None, body);
        // `nil_bodies` has subtracted the same size from `free`.
        gap -= total(layout, length);
    }
    w.zeros(gap);
    Ok(())
}

impl HeaderEditor {
    /// Returns the size in bytes of an edited object header message with its type, size and flags.
    pub(super) fn total(&self, slot: &Slot) -> usize {
        total(self.layout, slot.body.len())
    }

    /// Returns the number of free bytes in a header chunk of the edited object header.
    pub(super) fn free_in(&self, chunk: usize) -> usize {
        self.chunks.get(chunk).map_or(0, Chunk::free)
    }

    /// Adds the size of an object header message to the used space of its header chunk.
    pub(super) fn occupy(&mut self, slot: &Slot) {
        let total = self.total(slot);
        if let Some(chunk) = slot.chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            chunk.used += total;
        }
    }

    /// Subtracts the size of an object header message from the used space of its header chunk.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the message was not counted.
    pub(super) fn vacate(&mut self, slot: &Slot) -> Result<()> {
        let total = self.total(slot);
        if let Some(chunk) = slot.chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            let counted = || Error::internal(NAME, "the used space of a chunk includes its messages");
            chunk.used = chunk.used.checked_sub(total).ok_or_else(counted)?;
            chunk.changed = true;
        }
        Ok(())
    }

    /// Records that a header chunk of the edited object header has changed.
    pub(super) fn touch_chunk(&mut self, chunk: Option<usize>) {
        if let Some(chunk) = chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            chunk.changed = true;
        }
    }

    /// Writes the changed header chunks of the edited object header. A header chunk must be
    /// assigned to each message.
    pub(super) fn write(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        // The prefix of version 1 has the number of messages in all chunks.
        let counts = self.version() == 1 && self.chunks.iter().any(|chunk| chunk.changed);
        if self.prefix_changed || counts {
            self.touch_chunk(Some(0));
            self.prefix_changed = false;
        }
        self.count_messages()?;
        for number in 0..self.chunks.len() {
            if self.chunks.get(number).is_some_and(|chunk| chunk.changed) {
                let bytes = if number == 0 { self.encode_first()? } else { self.encode_block(number)? };
                self.write_chunk(edit, number, &bytes)?;
            }
        }
        Ok(())
    }

    fn write_chunk(&mut self, edit: &mut Edit<'_>, number: usize, bytes: &[u8]) -> Result<()> {
        if let Some(chunk) = self.chunks.get_mut(number) {
            chunk.changed = false;
            if let Some((address, _)) = chunk.extent {
                edit.write(address, bytes, NAME)?;
            }
        }
        Ok(())
    }

    /// Counts the messages in the changed header chunks of the edited object header. In version 1,
    /// stores the number of all messages in the prefix.
    fn count_messages(&mut self) -> Result<()> {
        let mut counts: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.chunks.len());
        for slot in &self.messages {
            if let Some(count) = slot.chunk.and_then(|chunk| counts.get_mut(chunk)) {
                *count += 1;
            }
        }
        for (chunk, count) in self.chunks.iter_mut().zip(counts) {
            if chunk.changed {
                chunk.found = count + nil_bodies(self.layout, chunk.free()).count();
            }
        }
        if let Prefix::V1(prefix) = &mut self.prefix {
            let all = self.chunks.iter().map(|chunk| chunk.found).sum::<usize>();
            prefix.message_count = u16::try_from(all).map_err(|_| {
                let subject = format!("messages of the version 1 object header at {}", self.address);
                Error::Limit { subject, got: to_u64(all), limit: u64::from(u16::MAX) }
            })?;
        }
        Ok(())
    }

    pub(super) fn encode_first(&self) -> Result<Vec<u8>> {
        let mut w = Writer::with_capacity(NAME, self.length_of(0, overhead(&self.prefix)));
        match &self.prefix {
            Prefix::V1(prefix) => prefix.encode(&mut w),
            Prefix::V2(prefix) => prefix.encode(&mut w),
        }
        self.encode_messages(&mut w, 0)?;
        if matches!(self.prefix, Prefix::V2(_)) {
            w.checksum();
        }
        Ok(w.finish()?)
    }

    /// Returns the length in bytes of a header chunk of the edited object header: the messages, the
    /// gap (unused bytes at the end) and `overhead`.
    fn length_of(&self, number: usize, overhead: usize) -> usize {
        self.chunks.get(number).map_or(0, |chunk| chunk.capacity) + overhead
    }

    fn encode_block(&self, number: usize) -> Result<Vec<u8>> {
        let length = self.length_of(number, block_overhead(self.layout));
        let mut w = Writer::with_capacity("object header continuation block", length);
        if let EnvelopeLayout::V2 { .. } = self.layout {
            w.bytes(ContinuationBlock::SIGNATURE);
        }
        self.encode_messages(&mut w, number)?;
        if let EnvelopeLayout::V2 { .. } = self.layout {
            w.checksum();
        }
        Ok(w.finish()?)
    }

    fn encode_messages(&self, w: &mut Writer, number: usize) -> Result<()> {
        for slot in self.messages.iter().filter(|slot| slot.chunk == Some(number)) {
            write_envelope(w, self.layout, slot.kind, slot.flags, Some(slot.creation_order), self.body(slot));
        }
        write_free(w, self.layout, self.free_in(number))
    }
}
