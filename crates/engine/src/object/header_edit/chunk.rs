//! The chunks of a header that is being changed: how full they are, and their bytes.

use hyperslab_format::codec::{Address, Writer};
use hyperslab_format::message::{MessageFlags, MessageType};
use hyperslab_format::object_header::{ContinuationBlock, EnvelopeLayout, PrefixV1, write_envelope};
use smallvec::SmallVec;

use super::super::header::{ObjectHeader, Prefix};
use super::{HeaderEditor, NAME, Slot};
use crate::error::{Error, Result};
use crate::store::Edit;

/// Bytes of a chunk with signature or prefix, checksum and all that v2 has before the messages of the first one.
const CHECKSUM: usize = 4;

/// The longest body whose size a message can say, in either version.
const MAX_BODY: usize = 65_535;

/// The first chunk or a continuation block.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Address and length of the whole chunk, once it has one.
    pub(super) place: Option<(Address, u64)>,
    /// Bytes of messages and gap.
    pub(super) capacity: usize,
    /// Bytes of the messages that lie in it, NIL messages aside.
    pub(super) used: usize,
    /// Messages of all kinds as the chunk stands in the file.
    pub(super) found: usize,
    /// It is other than in the file.
    pub(super) changed: bool,
}

impl Chunk {
    /// The chunks of a header as it stands in the file.
    pub(super) fn all_of(header: &ObjectHeader) -> SmallVec<[Self; 2]> {
        let first = header.chunk_sizes().next().unwrap_or(0);
        let first_place = (header.address(), first.saturating_add(overhead(header.prefix())) as u64);
        let places = header.continuations().iter().map(|block| (block.address, block.length));
        std::iter::once(first_place)
            .chain(places)
            .zip(header.chunk_sizes())
            .map(|(place, capacity)| Self { place: Some(place), capacity, used: 0, found: 0, changed: false })
            .collect()
    }

    /// A chunk that is not in the file yet.
    pub(super) fn new(capacity: usize) -> Self {
        Self { place: None, capacity, used: 0, found: 0, changed: true }
    }

    pub(super) fn free(&self) -> usize {
        self.capacity.saturating_sub(self.used)
    }
}

/// Bytes of the first chunk beside messages and gap.
pub(super) fn overhead(prefix: &Prefix) -> usize {
    match prefix {
        Prefix::V1(_) => PrefixV1::SIZE,
        Prefix::V2(prefix) => prefix.size().saturating_add(CHECKSUM),
    }
}

/// Bytes of a continuation block beside messages and gap.
pub(super) const fn block_overhead(layout: EnvelopeLayout) -> usize {
    match layout {
        EnvelopeLayout::V1 => 0,
        EnvelopeLayout::V2 { .. } => ContinuationBlock::OVERHEAD_BYTES,
    }
}

/// Bytes of a message with its envelope.
pub(super) fn total(layout: EnvelopeLayout, body: usize) -> usize {
    let body = match layout {
        EnvelopeLayout::V1 => body.checked_next_multiple_of(8).unwrap_or(usize::MAX),
        EnvelopeLayout::V2 { .. } => body,
    };
    body.saturating_add(layout.size())
}

/// Bytes of the longest NIL message: a multiple of 8 in both versions.
const fn longest_nil(layout: EnvelopeLayout) -> usize {
    MAX_BODY / 8 * 8 + layout.size()
}

/// The lengths of the bodies of the NIL messages that fill so many bytes, but for a gap at the end.
fn nil_bodies(layout: EnvelopeLayout, mut free: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let body = free.min(longest_nil(layout)).checked_sub(layout.size())?;
        let body = if layout == EnvelopeLayout::V1 { body / 8 * 8 } else { body };
        free = free.saturating_sub(total(layout, body));
        Some(body)
    })
}

/// Writes NIL messages, and behind them at most a gap.
fn write_free(w: &mut Writer, layout: EnvelopeLayout, free: usize) {
    static ZEROS: [u8; MAX_BODY] = [0; MAX_BODY];
    let mut gap = free;
    for length in nil_bodies(layout, free) {
        let body = ZEROS.get(..length).unwrap_or_default();
        write_envelope(w, layout, MessageType::NIL, MessageFlags::empty(), None, body);
        gap = gap.saturating_sub(total(layout, length));
    }
    w.zeros(gap);
}

impl HeaderEditor {
    /// Bytes of a message with its envelope.
    pub(super) fn total(&self, slot: &Slot) -> usize {
        total(self.layout, slot.body.len())
    }

    /// Free bytes of a chunk.
    pub(super) fn free_in(&self, chunk: usize) -> usize {
        self.chunks.get(chunk).map_or(0, Chunk::free)
    }

    /// Notes that the message lies in its chunk.
    pub(super) fn occupy(&mut self, slot: &Slot) {
        let total = self.total(slot);
        if let Some(chunk) = slot.chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            chunk.used = chunk.used.saturating_add(total);
        }
    }

    /// Notes that the message has left its chunk.
    pub(super) fn vacate(&mut self, slot: &Slot) {
        let total = self.total(slot);
        if let Some(chunk) = slot.chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            chunk.used = chunk.used.saturating_sub(total);
            chunk.changed = true;
        }
    }

    /// Notes that a chunk is other than in the file.
    pub(super) fn touch_chunk(&mut self, chunk: Option<usize>) {
        if let Some(chunk) = chunk.and_then(|chunk| self.chunks.get_mut(chunk)) {
            chunk.changed = true;
        }
    }

    /// Writes the chunks that are other than in the file. All messages have their places.
    pub(super) fn write(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        // What stands before the messages of version 1 counts those of all chunks.
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
            if let Some((address, _)) = chunk.place {
                edit.write(address, bytes, NAME)?;
            }
        }
        Ok(())
    }

    /// Counts the messages of changed chunks, and in version 1 notes the number of all.
    fn count_messages(&mut self) -> Result<()> {
        let mut lying: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.chunks.len());
        for slot in &self.messages {
            if let Some(count) = slot.chunk.and_then(|chunk| lying.get_mut(chunk)) {
                *count = count.saturating_add(1);
            }
        }
        for (chunk, lying) in self.chunks.iter_mut().zip(lying) {
            if chunk.changed {
                chunk.found = lying.saturating_add(nil_bodies(self.layout, chunk.free()).count());
            }
        }
        if let Prefix::V1(prefix) = &mut self.prefix {
            let all = self.chunks.iter().map(|chunk| chunk.found).fold(0, usize::saturating_add);
            prefix.message_count = u16::try_from(all).map_err(|_| {
                let what = format!("messages of the version 1 object header at {}", self.address);
                Error::Limit { what, got: all as u64, limit: u64::from(u16::MAX) }
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
        self.encode_messages(&mut w, 0);
        if matches!(self.prefix, Prefix::V2(_)) {
            w.checksum();
        }
        Ok(w.finish()?)
    }

    /// Bytes of a chunk with what stands around its messages.
    fn length_of(&self, number: usize, overhead: usize) -> usize {
        self.chunks.get(number).map_or(0, |chunk| chunk.capacity).saturating_add(overhead)
    }

    fn encode_block(&self, number: usize) -> Result<Vec<u8>> {
        let length = self.length_of(number, block_overhead(self.layout));
        let mut w = Writer::with_capacity("object header continuation block", length);
        if let EnvelopeLayout::V2 { .. } = self.layout {
            w.bytes(ContinuationBlock::SIGNATURE);
        }
        self.encode_messages(&mut w, number);
        if let EnvelopeLayout::V2 { .. } = self.layout {
            w.checksum();
        }
        Ok(w.finish()?)
    }

    fn encode_messages(&self, w: &mut Writer, number: usize) {
        for slot in self.messages.iter().filter(|slot| slot.chunk == Some(number)) {
            let body = self.arena.get(slot.body.clone()).unwrap_or_default();
            write_envelope(w, self.layout, slot.kind, slot.flags, Some(slot.creation_order), body);
        }
        write_free(w, self.layout, self.free_in(number));
    }
}
