//! The allocation of the file's bytes, and the reuse of freed bytes.
//!
//! Each byte before the end of allocation is in one of four states:
//!
//! - allocated;
//! - free: in a pool, or in the remainder of a block from which small pieces are cut;
//! - pending: freed, but part of the committed file, whose bytes stay until the next commit;
//! - lost: freed under a strategy that does not track free space.

mod bins;
mod fresh;
mod growth;
mod last;
mod members;
mod persist;
mod pool;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperslab_format::codec::Address;

use crate::error::{Error, Result};
pub(crate) use fresh::Fresh;
pub(crate) use last::ReservedManager;
use members::Members;
pub(crate) use members::{MemberEnd, MembersLocation, StatedMembers};
pub(crate) use persist::{MessageLocation, SpaceRecord, StoredSpace, set_manager};
use pool::{Pool, align_up};
pub use rules::{BlockPlacement, FileSpace, SpaceKind};
pub(crate) use rules::{Class, Rules};

/// The divisor for the decision about a commit. If a fortieth of the file is pending (freed, but
/// not yet allocatable), a commit is worth its cost. With this fraction, a file whose contents are
/// replaced repeatedly grows by less than a twentieth.
const PENDING_FRACTION: u64 = 40;

/// The smallest number of pending bytes (freed, but not yet allocatable) for which a commit is
/// worth its cost.
pub(crate) const MIN_PENDING_BYTES: u64 = 2048;

/// The smallest number of pending bytes (freed, but not yet allocatable) for which a commit that
/// waits for the disk is worth its cost.
pub(crate) const MIN_SYNCED_PENDING_BYTES: u64 = 1 << 20;

/// The file space of one file: allocated, free and pending bytes. Addresses count from the base
/// address of the file.
#[derive(Debug)]
pub(crate) struct Space {
    rules: Rules,
    /// The end of allocation.
    end: u64,
    pools: [Pool; 3],
    /// The blocks from which small pieces are cut, for metadata and for raw data: start and end.
    blocks: [(u64, u64); 2],
    /// Ranges that were freed since the last commit and are part of the committed file.
    pending: Vec<(Class, u64, u64)>,
    pending_bytes: u64,
    /// The end at the last commit. No later byte is part of the committed file.
    committed_end: u64,
    /// Space before `committed_end` that was allocated since the last commit.
    fresh: Arc<Fresh>,
    lost: u64,
    /// True if space was allocated or freed since the free-space managers in the file were up to
    /// date.
    changed: bool,
    /// The other member files, if kinds of data lie in several members.
    members: Members,
}

/// The numbers of bytes of a file before the end of allocation, by state: allocated, free, pending
/// (free after the next commit) and lost (freed, but not tracked).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceUsage {
    /// All bytes before the end of allocation.
    pub end: u64,
    /// Bytes that can be allocated now.
    pub free: u64,
    /// Freed bytes that can be allocated after the next commit.
    pub pending: u64,
    /// Freed bytes that are not tracked.
    pub lost: u64,
}

impl SpaceUsage {
    /// Returns the number of allocated bytes of a file. The number includes bytes that earlier
    /// writers have freed without a record of it.
    pub fn allocated(&self) -> u64 {
        // Saturates: in a damaged file, bytes that belong to two blocks may be freed twice.
        self.end.saturating_sub(self.free + self.pending + self.lost)
    }
}

impl Space {
    /// Creates the file space of a file in which all bytes up to `end` are allocated.
    pub(crate) fn new(rules: Rules, end: u64) -> Self {
        let small = || Pool::new(rules.page);
        Self {
            rules,
            end,
            pools: [small(), small(), Pool::new(None)],
            blocks: [(end, end); 2],
            pending: Vec::new(),
            pending_bytes: 0,
            committed_end: end,
            fresh: Arc::default(),
            lost: 0,
            changed: false,
            members: Members::default(),
        }
    }

    /// Returns the fresh addresses of the file: they were allocated since the last commit and lie
    /// before the end of the committed file.
    pub(crate) fn fresh(&self) -> Arc<Fresh> {
        Arc::clone(&self.fresh)
    }

    /// Returns the end of allocation of the file: the first address that no block has.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the page size in bytes, if the file has paged allocation.
    pub(crate) fn page(&self) -> Option<u64> {
        self.rules.page
    }

    /// Returns whether the file has paged allocation.
    pub(crate) fn is_paged(&self) -> bool {
        self.rules.page.is_some()
    }

    /// Returns the end of allocation of the file at the last commit.
    pub(crate) fn committed_end(&self) -> u64 {
        self.committed_end
    }

    /// Returns the numbers of bytes of the file by state, in all members: allocated, free, pending
    /// (free after the next commit) and lost (freed, but not tracked).
    pub(crate) fn usage(&self) -> SpaceUsage {
        let blocks = self.blocks.iter().map(|(start, end)| end - *start);
        let free = self.pools.iter().map(Pool::bytes).chain(blocks).sum();
        let mut usage = SpaceUsage { end: self.end, free, pending: self.pending_bytes, lost: self.lost };
        for other in self.member_ends().into_iter().skip(1) {
            usage.end += other.end - other.start;
        }
        for other in self.others().map(Self::usage) {
            usage.free += other.free;
            usage.pending += other.pending;
            usage.lost += other.lost;
        }
        usage
    }

    /// Returns whether a commit is worth its cost. It is if at least `min_pending` bytes and a
    /// large enough fraction of the file are pending (freed, but not yet allocatable).
    pub(crate) fn wants_commit(&self, min_pending: u64) -> bool {
        self.rules.tracks
            && self.pending_bytes >= min_pending
            && self.pending_bytes > self.end / PENDING_FRACTION
            || self.others().any(|other| other.wants_commit(min_pending))
    }

    fn pool_of(&self, class: Class) -> &Pool {
        let [metadata, raw, large] = &self.pools;
        match class {
            Class::Metadata => metadata,
            Class::Raw => raw,
            Class::Large => large,
        }
    }

    fn pool(&mut self, class: Class) -> &mut Pool {
        let [metadata, raw, large] = &mut self.pools;
        match class {
            Class::Metadata => metadata,
            Class::Raw => raw,
            Class::Large => large,
        }
    }

    /// Allocates `length` bytes of the file for a block, and returns the address.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the file would exceed the addresses that its offsets can
    /// express.
    pub(crate) fn allocate(&mut self, kind: SpaceKind, length: u64) -> Result<Address> {
        if let Some(other) = self.taking(kind) {
            return other.allocate(kind, length);
        }
        if length == 0 {
            return Ok(Address::new(self.end));
        }
        let class = self.rules.class(kind, length);
        let start = match self.rules.page {
            Some(page) => self.allocate_paged(class, length, page)?,
            None => self.allocate_flat(class, length)?,
        };
        self.note_allocated(start, length);
        Ok(Address::new(start))
    }

    /// Frees `length` bytes at `address` in the file space.
    pub(crate) fn free(&mut self, kind: SpaceKind, address: Address, length: u64) {
        if let Some(other) = self.holding(address) {
            return other.free(kind, address, length);
        }
        self.free_as(self.rules.class(kind, length), address, length);
    }

    /// Extends the file's block of `old` bytes at `address` by `more` bytes, if the adjacent bytes
    /// are free. Returns whether the block was extended.
    ///
    /// # Errors
    /// Returns the same errors as [`allocate`](Self::allocate).
    pub(crate) fn try_extend(
        &mut self,
        kind: SpaceKind,
        address: Address,
        old: u64,
        more: u64,
    ) -> Result<bool> {
        if let Some(other) = self.holding(address) {
            return other.try_extend(kind, address, old, more);
        }
        let Some(tail) = address.get().and_then(|start| start.checked_add(old)) else { return Ok(false) };
        if more == 0 || old == 0 {
            return Ok(more == 0);
        }
        let class = self.rules.class(kind, old);
        let extended = match self.rules.page {
            Some(page) => self.extend_paged(class, tail, old, more, page)?,
            None => self.extend_flat(class, tail, more)?,
        };
        if extended {
            self.note_allocated(tail, more);
        }
        Ok(extended)
    }

    /// Shrinks the file's block at `address` from `old` to `new` bytes and frees the bytes after
    /// it. Returns false, without a change, if a block of `new` bytes must not lie at this address.
    pub(crate) fn try_shrink(&mut self, kind: SpaceKind, address: Address, old: u64, new: u64) -> bool {
        if let Some(other) = self.holding(address) {
            return other.try_shrink(kind, address, old, new);
        }
        let class = self.rules.class(kind, old);
        let Some(less) = old.checked_sub(new).filter(|_| self.rules.class(kind, new) == class && new > 0)
        else {
            return false;
        };
        if let Some(tail) = address.checked_add(new) {
            self.free_as(class, tail, less);
        }
        true
    }

    fn free_as(&mut self, class: Class, address: Address, length: u64) {
        let Some(start) = address.get().filter(|start| *start < self.end && length > 0) else { return };
        self.changed = true;
        let end = start + length.min(self.end - start);
        if start >= self.committed_end {
            return self.put(class, start, end);
        }
        let border = end.min(self.committed_end);
        let mut from = start;
        for (fresh, fresh_end) in self.fresh.remove(start, border) {
            self.add_pending(class, from, fresh);
            self.put(class, fresh, fresh_end);
            from = fresh_end;
        }
        self.add_pending(class, from, border);
        if border < end {
            self.put(class, border, end);
        }
    }

    /// Adds a range of the committed file to the pending bytes of the file space, which become free
    /// at the next commit.
    fn add_pending(&mut self, class: Class, start: u64, end: u64) {
        if start < end {
            self.pending.push((class, start, end));
            self.pending_bytes += end - start;
        }
    }

    /// Records that a range of allocated file space is not part of the committed file.
    fn note_allocated(&mut self, start: u64, length: u64) {
        self.changed = true;
        if start < self.committed_end {
            self.fresh.insert(start, (start + length).min(self.committed_end));
        }
    }

    /// Records a commit in the file space: pending bytes become free, and free bytes at the end are
    /// truncated.
    pub(crate) fn commit(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_unstable_by_key(|(_, start, end)| (*start, *end));
        self.fresh.clear();
        self.pending_bytes = 0;
        let mut waiting: Option<(Class, u64, u64)> = None;
        for (class, start, end) in pending {
            waiting = match waiting {
                // In a damaged file, two blocks may share bytes, which are then freed twice. Each
                // byte becomes free once.
                Some((before, from, to)) if start <= to && (before == class || end <= to) => {
                    Some((before, from, to.max(end)))
                }
                Some((before, from, to)) => {
                    self.put(before, from, to);
                    Some((class, start.max(to), end))
                }
                None => Some((class, start, end)),
            };
        }
        if let Some((class, start, end)) = waiting {
            self.put(class, start, end);
        }
        self.trim();
        self.committed_end = self.end;
        self.others_mut().for_each(Self::commit);
    }

    /// Adds a range of the file to the free space of a class. (A class of file space is metadata,
    /// raw data, or blocks of at least a page.)
    fn put(&mut self, class: Class, start: u64, end: u64) {
        if start >= end || end > self.end {
            // The range is empty, or was truncated already.
            return;
        }
        if !self.rules.tracks {
            return self.put_untracked(class, start, end);
        }
        match self.rules.page.filter(|_| class != Class::Large) {
            Some(page) => self.put_small(class, start, end, page),
            None => drop(self.put_section(class, start, end - start)),
        }
    }

    /// Frees a range of the file on pages for small blocks. If a whole page becomes free, any block
    /// may use the page.
    fn put_small(&mut self, class: Class, start: u64, end: u64, page: u64) {
        let mut from = start;
        while from < end {
            let page_end = from.checked_next_multiple_of(page).unwrap_or(end);
            let page_end = if page_end == from { from + page } else { page_end };
            let to = page_end.min(end);
            let length = to - from;
            let unwanted =
                class == Class::Metadata && to == page_end && length <= self.rules.page_end_threshold;
            if unwanted {
                self.lost += length;
            } else {
                let (section, length) = self.put_section(class, from, length);
                if length == page && self.pool(class).take_at(section, length) {
                    self.put_section(Class::Large, section, length);
                }
            }
            from = to;
        }
    }

    fn put_section(&mut self, class: Class, start: u64, length: u64) -> (u64, u64) {
        let (start, length) = self.pool(class).put(start, length);
        let end = start + length;
        if length == 0 {
            // The section is free already.
        } else if length < self.rules.threshold && end != self.end {
            if let Some(length) = self.pool(class).remove(start) {
                self.lost += length;
            }
        } else if end == self.end {
            self.trim_section(class, start);
        } else {
            self.join_block(class, start, end);
        }
        (start, length)
    }

    /// Joins the aggregation block at the end of the file, from which small pieces are taken, with
    /// the free section before it. Longer pieces then fit.
    fn join_block(&mut self, class: Class, start: u64, end: u64) {
        let Some(block) = self.blocks.get_mut(class.index()) else { return };
        if block.0 == end && block.0 < block.1 && block.1 == self.end {
            block.0 = start;
            self.pool(class).remove(start);
        }
    }

    /// Frees a range of the file in a file without lists of free sections. The range can be used
    /// again only if it is at the end of the file, or before an aggregation block (from which small
    /// pieces are taken). Otherwise, it is lost.
    fn put_untracked(&mut self, class: Class, start: u64, end: u64) {
        match self.blocks.get_mut(class.index()) {
            _ if end == self.end => self.end = start,
            Some(block) if block.0 == end && block.0 < block.1 => block.0 = start,
            _ => self.lost += end - start,
        }
        self.reset_empty_blocks();
    }

    /// Removes the free section at the end of the file by shortening the file. With paged
    /// allocation, removes whole pages. Returns whether the file became shorter.
    fn trim_section(&mut self, class: Class, start: u64) -> bool {
        let page = self.rules.page.unwrap_or(1);
        let Some(cut) = align_up(start, page).filter(|cut| *cut < self.end) else { return false };
        if self.rules.page.is_some() && class != Class::Large {
            return false;
        }
        let Some(length) = self.pool(class).remove(start) else { return false };
        if length != self.end - start {
            self.pool(class).put(start, length);
            return false;
        }
        self.end = cut;
        if start < cut {
            self.pool(class).put(start, cut - start);
        }
        self.reset_empty_blocks();
        true
    }

    /// Moves the aggregation blocks (from which small pieces are taken) that are used up to the end
    /// of the file.
    fn reset_empty_blocks(&mut self) {
        let end = self.end;
        for block in &mut self.blocks {
            if block.0 >= block.1 || block.0 >= end {
                *block = (end, end);
            }
        }
    }

    /// Removes all free sections at the end of the file by shortening the file. Keeps aggregation
    /// blocks, from which small pieces are taken.
    fn trim(&mut self) {
        loop {
            let before = self.end;
            for class in Class::ALL {
                let end = self.end;
                if let Some(start) = self.pool(class).ending_at(end) {
                    self.trim_section(class, start);
                }
            }
            if self.end == before {
                return;
            }
        }
    }

    fn too_long(&self, got: u64) -> Error {
        Error::Limit { subject: "the size of the file".into(), got, limit: self.rules.limit }
    }
}
