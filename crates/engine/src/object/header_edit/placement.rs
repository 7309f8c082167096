//! Placement of messages in the chunks of a header: in free space, in new continuation blocks, and
//! back into earlier chunks when a block becomes unnecessary.

use hyperslab_exact::to_u64;
use hyperslab_format::message::{Continuation, Message as _, MessageFlags, MessageType};
use hyperslab_format::object_header::EnvelopeLayout;

use super::chunk::{Chunk, block_overhead, overhead, total};
use super::create::set_chunk0_size;
use super::{HeaderEditor, NAME, Slot, no_message};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, at};

/// Largest size in bytes of the messages in a continuation block that replaces the last, smaller
/// block of an object header. With such replacements, an object header that grows by small messages
/// has few blocks.
const MAX_REPLACED_BYTES: usize = 4096;

/// Largest number of header chunks of an object header. If an object header with this number of
/// header chunks grows, a larger continuation block replaces the last one.
const MAX_CHUNKS: usize = 32;

/// Largest number of spare bytes, which are for later messages, in a new continuation block of an
/// object header.
const MAX_SPARE_BYTES: usize = 256;

fn not_allocated() -> Error {
    Error::internal(NAME, "a new block has an address")
}

impl HeaderEditor {
    /// Returns the index of the last header chunk of the edited object header.
    fn last_chunk(&self) -> Result<usize> {
        self.chunks.len().checked_sub(1).ok_or_else(|| Error::internal(NAME, "a header has a chunk"))
    }

    /// Assigns all messages of the edited object header to header chunks.
    pub(super) fn lay_out(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.displace_excess()?;
        self.fill_free_space();
        // Each round places all messages, but a new continuation may displace other messages.
        while self.messages.iter().any(|slot| slot.chunk.is_none()) {
            self.grow(edit)?;
        }
        if std::mem::take(&mut self.shrunk) {
            while self.drop_block(edit)? {}
        }
        Ok(())
    }

    /// Removes the last messages from changed header chunks of an object header if the messages no
    /// longer fit. Old programs wrote version 1 messages with lengths that are not multiples of 8.
    /// Such messages need more space when they are written again.
    fn displace_excess(&mut self) -> Result<()> {
        for number in 0..self.chunks.len() {
            while self.chunks.get(number).is_some_and(|chunk| chunk.changed && chunk.used > chunk.capacity) {
                let last = self
                    .messages
                    .iter()
                    .rposition(|slot| slot.chunk == Some(number) && slot.kind != MessageType::CONTINUATION);
                let Some(last) = last else { break };
                self.displace(last)?;
            }
        }
        Ok(())
    }

    /// Removes a message of an object header from its header chunk. Another header chunk can then
    /// hold the message.
    fn displace(&mut self, id: usize) -> Result<()> {
        if let Some(slot) = self.messages.get(id).cloned() {
            self.vacate(&slot)?;
            self.set_chunk(id, None);
        }
        Ok(())
    }

    fn set_chunk(&mut self, id: usize, chunk: Option<usize>) {
        if let Some(slot) = self.messages.get_mut(id) {
            slot.chunk = chunk;
        }
    }

    /// Assigns a message of the edited object header to a header chunk.
    fn place(&mut self, id: usize, chunk: usize) {
        self.set_chunk(id, Some(chunk));
        self.touch_chunk(Some(chunk));
        if let Some(slot) = self.messages.get(id).cloned() {
            self.occupy(&slot);
        }
    }

    /// Returns the index of the last header chunk with an attribute message.
    fn last_attribute_chunk(&self) -> usize {
        let attributes = self.messages.iter().filter(|slot| slot.kind == MessageType::ATTRIBUTE);
        attributes.filter_map(|slot| slot.chunk).max().unwrap_or(0)
    }

    /// Assigns messages of an object header to header chunks that have enough free space. A new
    /// attribute is stored after the existing attributes: readers that list attributes in the order
    /// of the messages then list them in the order of their creation.
    fn fill_free_space(&mut self) {
        for id in 0..self.messages.len() {
            let Some(slot) = self.messages.get(id) else { break };
            if slot.chunk.is_some() {
                continue;
            }
            let total = self.total(slot);
            let first = if slot.kind == MessageType::ATTRIBUTE { self.last_attribute_chunk() } else { 0 };
            let mut fitting =
                self.chunks.iter().enumerate().skip(first).filter(|(_, chunk)| chunk.free() >= total);
            if let Some((chunk, _)) = fitting.next() {
                self.place(id, chunk);
            }
        }
    }

    /// Returns the indexes of the object header's messages that are not assigned to a header chunk.
    fn unplaced(&self) -> Vec<usize> {
        (0..self.messages.len())
            .filter(|id| self.messages.get(*id).is_some_and(|slot| slot.chunk.is_none()))
            .collect()
    }

    fn totals(&self, ids: &[usize]) -> usize {
        ids.iter().filter_map(|id| self.messages.get(*id)).map(|slot| self.total(slot)).sum()
    }

    /// Creates a continuation block for the messages of an object header that are in no header
    /// chunk. Alternatively, replaces the last block by a larger block.
    fn grow(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let wanted = self.totals(&self.unplaced());
        if self.extend_first(edit, wanted)? {
            return Ok(());
        }
        let last = self.last_chunk()?;
        let held = self.chunks.get(last).map_or(0, |chunk| chunk.used);
        // Both are sizes of messages in memory, so the sum does not overflow.
        let small = held + wanted <= MAX_REPLACED_BYTES || last >= MAX_CHUNKS;
        let lead = if last > 0 && small { self.continuation_to(last)? } else { None };
        if let Some(lead) = lead {
            let chunk = self.new_block(edit, held + wanted)?;
            self.set_continuation(lead, &chunk)?;
            if let Some(block) = self.chunks.get_mut(last) {
                let before = std::mem::replace(block, Chunk { used: held, ..chunk });
                if let Some((address, length)) = before.extent {
                    edit.free(SpaceKind::ObjectHeader, address, length)?;
                }
            }
            for id in self.unplaced() {
                self.place(id, last);
            }
            return Ok(());
        }
        self.add_block(edit)
    }

    /// Extends the only header chunk of an object header so that `wanted` more bytes fit, and
    /// assigns all messages to this header chunk. Does nothing if the bytes after the header chunk
    /// are not free. Returns whether the header chunk was extended.
    fn extend_first(&mut self, edit: &mut Edit<'_>, wanted: usize) -> Result<bool> {
        let [Chunk { extent: Some((address, length)), capacity, used, .. }] = *self.chunks.as_slice() else {
            return Ok(false);
        };
        let mut prefix = self.prefix;
        let longer = match self.layout {
            EnvelopeLayout::V1 => (used + wanted).next_multiple_of(8),
            EnvelopeLayout::V2 { .. } => used + wanted,
        };
        set_chunk0_size(&mut prefix, to_u64(longer.max(capacity)))?;
        let whole = to_u64(longer + overhead(&prefix));
        let Some(more) = whole.checked_sub(length).filter(|more| *more > 0) else { return Ok(false) };
        if !edit.try_extend(SpaceKind::ObjectHeader, address, length, more)? {
            return Ok(false);
        }
        self.prefix = prefix;
        if let Some(chunk) = self.chunks.first_mut() {
            (chunk.extent, chunk.capacity) = (Some((address, whole)), longer);
        }
        for id in self.unplaced() {
            self.place(id, 0);
        }
        Ok(true)
    }

    fn add_block(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let width = self.params.offset_width() + self.params.length_width();
        let lead_total = total(self.layout, width);
        let from = self.chunk_with(lead_total)?;
        let unplaced = self.unplaced();
        let chunk = self.new_block(edit, self.totals(&unplaced))?;
        let number = self.chunks.len();
        let body = self.keep(&vec![0; width]);
        let kind = MessageType::CONTINUATION;
        let lead = self.messages.len();
        self.messages.push(Slot { kind, flags: MessageFlags::empty(), creation_order: 0, body, chunk: None });
        self.place(lead, from);
        self.set_continuation(lead, &chunk)?;
        self.chunks.push(chunk);
        for id in unplaced {
            self.place(id, number);
        }
        Ok(())
    }

    /// Allocates a continuation block of an object header for `used` bytes of messages and some
    /// spare bytes for later messages.
    fn new_block(&self, edit: &mut Edit<'_>, used: usize) -> Result<Chunk> {
        // The block can always hold a continuation, so that the header can grow further.
        let least = total(self.layout, self.params.offset_width() + self.params.length_width());
        let capacity = (used + (used / 4).min(MAX_SPARE_BYTES)).max(least).next_multiple_of(8);
        let mut chunk = Chunk::new(capacity);
        let length = to_u64(capacity + block_overhead(self.layout));
        chunk.extent = Some((edit.allocate(SpaceKind::ObjectHeader, length)?, length));
        Ok(chunk)
    }

    /// Sets the address and the length of a continuation block in the continuation message with the
    /// index `lead` of the object header.
    fn set_continuation(&mut self, lead: usize, chunk: &Chunk) -> Result<()> {
        let (address, length) = chunk.extent.ok_or_else(not_allocated)?;
        let bytes = Continuation { address, length }.to_bytes(self.params)?;
        let slot = self.messages.get(lead).ok_or_else(no_message)?;
        let (body, from) = (slot.body.clone(), slot.chunk);
        let body = self.arena.get_mut(body).and_then(|body| body.get_mut(..bytes.len()));
        body.ok_or_else(no_message)?.copy_from_slice(&bytes);
        self.touch_chunk(from);
        Ok(())
    }

    /// Returns the index of the continuation message that refers to a header chunk of the object
    /// header.
    fn continuation_to(&self, chunk: usize) -> Result<Option<usize>> {
        let Some((address, _)) = self.chunks.get(chunk).and_then(|chunk| chunk.extent) else {
            return Ok(None);
        };
        for (id, slot) in self.messages.iter().enumerate() {
            if slot.kind == MessageType::CONTINUATION
                && at(Continuation::decode(self.body(slot), self.params), self.address)?.address == address
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Returns the index of a header chunk of the object header with `wanted` free bytes. If
    /// necessary, removes other messages from the header chunk.
    fn chunk_with(&mut self, wanted: usize) -> Result<usize> {
        if let Some(chunk) = self.chunks.iter().rposition(|chunk| chunk.free() >= wanted) {
            return Ok(chunk);
        }
        for chunk in (0..self.chunks.len()).rev() {
            if let Some(ids) = self.displaceable(chunk, wanted) {
                for id in ids {
                    self.displace(id)?;
                }
                return Ok(chunk);
            }
        }
        let expected = format!("a chunk of at least {wanted} bytes");
        Err(Error::corrupt(NAME, "size of chunk 0", expected, "smaller chunks").at(self.address))
    }

    /// Returns the indexes of messages that can move from a header chunk of the object header to
    /// another one. Afterwards, the header chunk has `wanted` free bytes. Prefers the last
    /// attribute, so that the attributes keep their order; then prefers attributes, links and
    /// comments over messages that all readers of the object need, and a small number of moved
    /// bytes.
    fn displaceable(&self, chunk: usize, wanted: usize) -> Option<Vec<usize>> {
        // Saturates: nothing is missing in a chunk with `wanted` free bytes.
        let missing = wanted.saturating_sub(self.free_in(chunk));
        let in_chunk = self.messages.iter().enumerate().filter(|(_, slot)| slot.chunk == Some(chunk));
        let last = in_chunk.clone().rfind(|(_, slot)| slot.kind == MessageType::ATTRIBUTE);
        if let Some((id, _)) = last.filter(|(_, slot)| self.total(slot) >= missing) {
            return Some(vec![id]);
        }
        let mut candidates: Vec<(bool, usize, usize)> = in_chunk
            .filter(|(_, slot)| slot.kind != MessageType::CONTINUATION)
            .map(|(id, slot)| {
                let plain = [MessageType::ATTRIBUTE, MessageType::LINK, MessageType::COMMENT];
                (!plain.contains(&slot.kind), self.total(slot), id)
            })
            .collect();
        candidates.sort_unstable();
        if let Some((_, _, id)) = candidates.iter().find(|(_, total, _)| *total >= missing) {
            return Some(vec![*id]);
        }
        let mut gained = 0_usize;
        let mut ids = Vec::new();
        for (_, total, id) in candidates {
            ids.push(id);
            gained += total;
            if gained >= missing {
                return Some(ids);
            }
        }
        None
    }

    /// Frees a continuation block of the object header: an empty block, or the last block if its
    /// messages fit in other header chunks. Returns whether a block was freed.
    fn drop_block(&mut self, edit: &mut Edit<'_>) -> Result<bool> {
        let last = self.last_chunk()?;
        let empty = self.chunks.iter().skip(1).position(|chunk| chunk.used == 0);
        let block = match empty {
            Some(block) => block + 1,
            None if last > 0 && self.vacate_block(last)? => last,
            None => return Ok(false),
        };
        let Some(lead) = self.continuation_to(block)? else { return Ok(false) };
        if let Some((address, length)) = self.chunks.get(block).and_then(|chunk| chunk.extent) {
            edit.free(SpaceKind::ObjectHeader, address, length)?;
        }
        let slot = self.messages.remove(lead);
        self.vacate(&slot)?;
        self.chunks.remove(block);
        for slot in &mut self.messages {
            slot.chunk = slot.chunk.map(|chunk| if chunk > block { chunk - 1 } else { chunk });
        }
        Ok(true)
    }

    /// Moves all messages of a continuation block to earlier header chunks of the object header, if
    /// all of them fit. The messages can also use the space of the continuation message that refers
    /// to the block.
    fn vacate_block(&mut self, block: usize) -> Result<bool> {
        let Some(lead) = self.continuation_to(block)? else { return Ok(false) };
        let Some(lead_slot) = self.messages.get(lead).cloned() else { return Ok(false) };
        let mut free: Vec<usize> = self.chunks.iter().take(block).map(Chunk::free).collect();
        if let Some(bytes) = lead_slot.chunk.and_then(|chunk| free.get_mut(chunk)) {
            *bytes += self.total(&lead_slot);
        }
        let mut moves = Vec::new();
        for (id, slot) in self.messages.iter().enumerate().filter(|(_, slot)| slot.chunk == Some(block)) {
            let total = self.total(slot);
            let fitting = free.iter_mut().enumerate().find(|(_, bytes)| **bytes >= total);
            let Some((to, bytes)) = fitting else { return Ok(false) };
            *bytes -= total;
            moves.push((id, to));
        }
        for (id, to) in moves {
            self.displace(id)?;
            self.place(id, to);
        }
        Ok(true)
    }
}
