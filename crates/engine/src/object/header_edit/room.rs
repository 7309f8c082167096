//! Where messages go in a header that is being changed: into free room, into new continuation blocks, and back when
//! a block is no longer needed.

use hyperslab_format::codec::Address;
use hyperslab_format::message::{Continuation, Message as _, MessageFlags, MessageType};
use hyperslab_format::object_header::EnvelopeLayout;

use super::chunk::{Chunk, block_overhead, overhead, total};
use super::create::set_chunk0_size;
use super::{HeaderEditor, NAME, Slot};
use crate::error::{Error, Result};
use crate::store::{Edit, SpaceKind, at};

/// The last continuation block makes way for a larger one up to this many bytes: a header that grows by small
/// messages is not scattered over many blocks.
const REPLACED_BLOCK: usize = 4096;

/// So many blocks a header may have before the last one is replaced however long it is.
const MANY_CHUNKS: usize = 32;

/// Bytes that a new block has to spare, at most.
const SPARE: usize = 256;

impl HeaderEditor {
    /// Gives every message a place.
    pub(super) fn lay_out(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        self.relieve();
        self.fill_free_room();
        // Each round gives all messages without a place their block, but may take a place from some.
        while self.messages.iter().any(|slot| slot.chunk.is_none()) {
            self.grow(edit)?;
        }
        if std::mem::take(&mut self.shrunk) {
            while self.drop_block(edit)? {}
        }
        Ok(())
    }

    /// Messages of version 1 whose length is no multiple of 8, as old programs wrote them, take more room when they
    /// are written again: takes the last ones out of a chunk that has become too small.
    fn relieve(&mut self) {
        for number in 0..self.chunks.len() {
            while self.chunks.get(number).is_some_and(|chunk| chunk.changed && chunk.used > chunk.capacity) {
                let last = self
                    .messages
                    .iter()
                    .rposition(|slot| slot.chunk == Some(number) && slot.kind != MessageType::CONTINUATION);
                let Some(last) = last else { break };
                self.displace(last);
            }
        }
    }

    /// Takes a message's place away.
    fn displace(&mut self, id: usize) {
        if let Some(slot) = self.messages.get(id).cloned() {
            self.vacate(&slot);
            self.set_chunk(id, None);
        }
    }

    fn set_chunk(&mut self, id: usize, chunk: Option<usize>) {
        if let Some(slot) = self.messages.get_mut(id) {
            slot.chunk = chunk;
        }
    }

    /// Puts a message into a chunk.
    fn place(&mut self, id: usize, chunk: usize) {
        self.set_chunk(id, Some(chunk));
        self.touch_chunk(Some(chunk));
        if let Some(slot) = self.messages.get(id).cloned() {
            self.occupy(&slot);
        }
    }

    /// Puts messages without a place where there is room.
    fn fill_free_room(&mut self) {
        for id in 0..self.messages.len() {
            let Some(slot) = self.messages.get(id) else { break };
            if slot.chunk.is_some() {
                continue;
            }
            let total = self.total(slot);
            if let Some(chunk) = self.chunks.iter().position(|chunk| chunk.free() >= total) {
                self.place(id, chunk);
            }
        }
    }

    fn homeless(&self) -> Vec<usize> {
        (0..self.messages.len())
            .filter(|id| self.messages.get(*id).is_some_and(|slot| slot.chunk.is_none()))
            .collect()
    }

    fn totals(&self, ids: &[usize]) -> usize {
        ids.iter()
            .filter_map(|id| self.messages.get(*id))
            .map(|slot| self.total(slot))
            .fold(0, usize::saturating_add)
    }

    /// Makes a continuation block for the messages without a place, or replaces the last one by a larger one.
    fn grow(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let wanted = self.totals(&self.homeless());
        if self.extend_first(edit, wanted)? {
            return Ok(());
        }
        let last = self.chunks.len().saturating_sub(1);
        let held = self.chunks.get(last).map_or(0, |chunk| chunk.used);
        let small = held.saturating_add(wanted) <= REPLACED_BLOCK || last >= MANY_CHUNKS;
        let lead = if last > 0 && small { self.continuation_to(last)? } else { None };
        if let Some(lead) = lead {
            let chunk = self.new_block(edit, held.saturating_add(wanted))?;
            self.point(lead, &chunk)?;
            if let Some(place) = self.chunks.get_mut(last) {
                let before = std::mem::replace(place, Chunk { used: held, ..chunk });
                if let Some((address, length)) = before.place {
                    edit.free(SpaceKind::ObjectHeader, address, length)?;
                }
            }
            for id in self.homeless() {
                self.place(id, last);
            }
            return Ok(());
        }
        self.add_block(edit)
    }

    /// Makes the only chunk so much longer that `wanted` bytes more fit, if nobody has the bytes behind it. Says whether
    /// it did, and gives all messages a place then.
    fn extend_first(&mut self, edit: &mut Edit<'_>, wanted: usize) -> Result<bool> {
        let [Chunk { place: Some((address, length)), capacity, used, .. }] = *self.chunks.as_slice() else {
            return Ok(false);
        };
        let mut prefix = self.prefix;
        let longer = match self.layout {
            EnvelopeLayout::V1 => used.saturating_add(wanted).next_multiple_of(8),
            EnvelopeLayout::V2 { .. } => used.saturating_add(wanted),
        };
        set_chunk0_size(&mut prefix, longer.max(capacity) as u64);
        let whole = longer.saturating_add(overhead(&prefix)) as u64;
        let more = whole.saturating_sub(length);
        if more == 0 || !edit.try_extend(SpaceKind::ObjectHeader, address, length, more)? {
            return Ok(false);
        }
        self.prefix = prefix;
        if let Some(chunk) = self.chunks.first_mut() {
            (chunk.place, chunk.capacity) = (Some((address, whole)), longer);
        }
        for id in self.homeless() {
            self.place(id, 0);
        }
        Ok(true)
    }

    fn add_block(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        let width = self.params.offset_width().saturating_add(self.params.length_width());
        let lead_total = total(self.layout, width);
        let from = self.make_room(lead_total)?;
        let homeless = self.homeless();
        let chunk = self.new_block(edit, self.totals(&homeless))?;
        let number = self.chunks.len();
        let body = self.keep(&vec![0; width]);
        let kind = MessageType::CONTINUATION;
        let lead = self.messages.len();
        self.messages.push(Slot { kind, flags: MessageFlags::empty(), creation_order: 0, body, chunk: None });
        self.place(lead, from);
        self.point(lead, &chunk)?;
        self.chunks.push(chunk);
        for id in homeless {
            self.place(id, number);
        }
        Ok(())
    }

    /// A block for `used` bytes of messages and some to spare, allocated.
    fn new_block(&self, edit: &mut Edit<'_>, used: usize) -> Result<Chunk> {
        // At least as much as a continuation takes, so that the header can go on from here.
        let least = total(self.layout, self.params.offset_width().saturating_add(self.params.length_width()));
        let capacity = used.saturating_add((used / 4).min(SPARE)).max(least).next_multiple_of(8);
        let mut chunk = Chunk::new(capacity);
        let length = capacity.saturating_add(block_overhead(self.layout)) as u64;
        chunk.place = Some((edit.allocate(SpaceKind::ObjectHeader, length)?, length));
        Ok(chunk)
    }

    /// Makes the continuation `lead` point at the block.
    fn point(&mut self, lead: usize, chunk: &Chunk) -> Result<()> {
        let (address, length) = chunk.place.unwrap_or((Address::UNDEFINED, 0));
        let bytes = Continuation { address, length }.to_bytes(self.params)?;
        let Some(slot) = self.messages.get(lead) else { return Ok(()) };
        let (body, from) = (slot.body.clone(), slot.chunk);
        if let Some(place) = self.arena.get_mut(body).and_then(|body| body.get_mut(..bytes.len())) {
            place.copy_from_slice(&bytes);
        }
        self.touch_chunk(from);
        Ok(())
    }

    /// The continuation message that leads to that chunk.
    fn continuation_to(&self, chunk: usize) -> Result<Option<usize>> {
        let Some((address, _)) = self.chunks.get(chunk).and_then(|chunk| chunk.place) else {
            return Ok(None);
        };
        for (id, slot) in self.messages.iter().enumerate() {
            if slot.kind == MessageType::CONTINUATION {
                let body = self.arena.get(slot.body.clone()).unwrap_or_default();
                if at(Continuation::decode(body, self.params), self.address)?.address == address {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
    }

    /// A chunk with `wanted` free bytes, which messages were taken out of if need be.
    fn make_room(&mut self, wanted: usize) -> Result<usize> {
        if let Some(chunk) = self.chunks.iter().rposition(|chunk| chunk.free() >= wanted) {
            return Ok(chunk);
        }
        for chunk in (0..self.chunks.len()).rev() {
            if let Some(ids) = self.movable(chunk, wanted) {
                for id in ids {
                    self.displace(id);
                }
                return Ok(chunk);
            }
        }
        let expected = format!("a chunk of {wanted} bytes at least");
        Err(Error::corrupt(NAME, "size of chunk 0", expected, "only smaller ones").at(self.address))
    }

    /// Messages that leave `wanted` bytes of the chunk free when they move; rather attributes and links than what
    /// every reader of the object needs, rather few bytes than many.
    fn movable(&self, chunk: usize, wanted: usize) -> Option<Vec<usize>> {
        let missing = wanted.saturating_sub(self.free_in(chunk));
        let mut candidates: Vec<(bool, usize, usize)> = self
            .messages
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.chunk == Some(chunk) && slot.kind != MessageType::CONTINUATION)
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
            gained = gained.saturating_add(total);
            if gained >= missing {
                return Some(ids);
            }
        }
        None
    }

    /// Gives up a continuation block that is empty, or the last one if its messages have room elsewhere. Says
    /// whether there was one.
    fn drop_block(&mut self, edit: &mut Edit<'_>) -> Result<bool> {
        let last = self.chunks.len().saturating_sub(1);
        let empty = self.chunks.iter().skip(1).position(|chunk| chunk.used == 0);
        let block = match empty {
            Some(block) => block.saturating_add(1),
            None if last > 0 && self.vacate_block(last)? => last,
            None => return Ok(false),
        };
        let Some(lead) = self.continuation_to(block)? else { return Ok(false) };
        if let Some((address, length)) = self.chunks.get(block).and_then(|chunk| chunk.place) {
            edit.free(SpaceKind::ObjectHeader, address, length)?;
        }
        let slot = self.messages.remove(lead);
        self.vacate(&slot);
        self.chunks.remove(block);
        for slot in &mut self.messages {
            slot.chunk = slot.chunk.map(|chunk| if chunk > block { chunk.saturating_sub(1) } else { chunk });
        }
        Ok(true)
    }

    /// Moves all messages of a block to other chunks, if there is room for all of them, the room of the continuation
    /// that leads to the block included.
    fn vacate_block(&mut self, block: usize) -> Result<bool> {
        let Some(lead) = self.continuation_to(block)? else { return Ok(false) };
        let Some(lead_slot) = self.messages.get(lead).cloned() else { return Ok(false) };
        let mut free: Vec<usize> = self.chunks.iter().take(block).map(Chunk::free).collect();
        if let Some(room) = lead_slot.chunk.and_then(|chunk| free.get_mut(chunk)) {
            *room = room.saturating_add(self.total(&lead_slot));
        }
        let mut moves = Vec::new();
        for (id, slot) in self.messages.iter().enumerate().filter(|(_, slot)| slot.chunk == Some(block)) {
            let total = self.total(slot);
            let Some(to) = free.iter().position(|room| *room >= total) else { return Ok(false) };
            if let Some(room) = free.get_mut(to) {
                *room = room.saturating_sub(total);
            }
            moves.push((id, to));
        }
        for (id, to) in moves {
            self.displace(id);
            self.place(id, to);
        }
        Ok(true)
    }
}
