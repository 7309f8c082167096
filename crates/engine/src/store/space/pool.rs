//! A pool of free sections. A section is found by its length, its start or its end, in a time that
//! does not depend on the number of sections.

use std::collections::HashMap;

use super::bins::{Bins, LAST_LIST, NO_SECTION, all_fit, list_of};

/// Largest number of free sections in one list that an allocation compares for the best fit. The
/// free sections of a list have similar lengths.
const MAX_PROBES: usize = 4;

/// Largest number of free sections in one list that an allocation compares before it extends the
/// file. The free sections of a list have similar lengths.
const MAX_LAST_PROBES: usize = 64;

/// A pool of the file's free sections. Free sections never overlap, and adjacent free sections are
/// joined.
#[derive(Debug)]
pub(super) struct Pool {
    sections: Vec<Section>,
    /// Unused indexes of `sections`.
    vacant: Vec<u32>,
    by_start: HashMap<u64, u32>,
    by_end: HashMap<u64, u32>,
    bins: Bins,
    bytes: u64,
    /// The page size, if sections are not joined across page boundaries.
    page: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    start: u64,
    length: u64,
    previous: u32,
    next: u32,
}

impl Section {
    fn end(&self) -> u64 {
        self.start + self.length
    }

    /// Returns the number of bytes in a free section before the first multiple of `alignment`.
    /// Returns `None` if `length` bytes do not fit after them.
    fn skip(&self, length: u64, alignment: u64) -> Option<u64> {
        let skip = align_up(self.start, alignment)?.checked_sub(self.start)?;
        (skip.checked_add(length)? <= self.length).then_some(skip)
    }
}

/// Returns the first multiple of `alignment` that is not less than `value`. Returns `None` if this
/// multiple exceeds 64 bits.
pub(super) fn align_up(value: u64, alignment: u64) -> Option<u64> {
    if alignment <= 1 { Some(value) } else { value.checked_next_multiple_of(alignment) }
}

impl Pool {
    pub(super) fn new(page: Option<u64>) -> Self {
        Self {
            sections: Vec::new(),
            vacant: Vec::new(),
            by_start: HashMap::new(),
            by_end: HashMap::new(),
            bins: Bins::new(),
            bytes: 0,
            page,
        }
    }

    /// Returns the total number of bytes in all free sections of the pool.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of free sections in the pool.
    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Returns the start and the length of all free sections of the pool, in ascending order.
    pub(super) fn sections(&self) -> Vec<(u64, u64)> {
        let section = |index: &u32| self.get(*index).map(|section| (section.start, section.length));
        let mut sections: Vec<(u64, u64)> = self.by_start.values().filter_map(section).collect();
        sections.sort_unstable();
        sections
    }

    /// Returns the start of the pool's free section that ends at `end`.
    pub(super) fn ending_at(&self, end: u64) -> Option<u64> {
        self.get(*self.by_end.get(&end)?).map(|section| section.start)
    }

    /// Returns the end of the pool's free section that begins at `start`.
    pub(super) fn starting_at(&self, start: u64) -> Option<u64> {
        self.get(*self.by_start.get(&start)?).map(Section::end)
    }

    /// Removes `length` bytes from the pool's free sections and returns their start, which is a
    /// multiple of `alignment`. Compares several free sections and uses the one that fits best.
    pub(super) fn take(&mut self, length: u64, alignment: u64) -> Option<u64> {
        if self.bytes < length {
            return None;
        }
        let index = self.find(length, alignment)?;
        let section = *self.get(index)?;
        let start = section.start + section.skip(length, alignment)?;
        self.carve(index, section, start, length);
        Some(start)
    }

    /// Removes `length` bytes from the pool's free section that begins at `start`. Returns whether
    /// the free section is long enough.
    pub(super) fn take_at(&mut self, start: u64, length: u64) -> bool {
        let Some(&index) = self.by_start.get(&start) else { return false };
        match self.get(index).copied() {
            Some(section) if section.length >= length => {
                self.carve(index, section, start, length);
                true
            }
            _ => false,
        }
    }

    /// Removes the whole free section that begins at `start` from the pool. Returns the length of
    /// the free section.
    pub(super) fn remove(&mut self, start: u64) -> Option<u64> {
        let index = *self.by_start.get(&start)?;
        let section = *self.get(index)?;
        self.carve(index, section, start, section.length);
        Some(section.length)
    }

    /// Adds a free section to the pool and joins it with its neighbours. Returns the start and the
    /// length of the joined free section.
    pub(super) fn put(&mut self, start: u64, length: u64) -> (u64, u64) {
        let end = start + length;
        if length == 0 || self.by_start.contains_key(&start) || self.by_end.contains_key(&end) {
            // The section is empty or already free. In a damaged file, two blocks may have the same
            // bytes.
            return (start, 0);
        }
        let before = self.by_end.get(&start).copied().filter(|_| !self.is_border(start));
        let after = self.by_start.get(&end).copied().filter(|_| !self.is_border(end));
        self.bytes += length;
        match (before, after) {
            (None, None) => {
                self.insert(start, length);
                (start, length)
            }
            (Some(index), None) => self.resize(index, |section| (section.start, end)),
            (None, Some(index)) => self.resize(index, |section| (start, section.end())),
            (Some(before), Some(after)) => {
                let end = self.get(after).map_or(end, Section::end);
                self.drop_section(after);
                self.resize(before, |section| (section.start, end))
            }
        }
    }

    fn is_border(&self, address: u64) -> bool {
        self.page.is_some_and(|page| address.is_multiple_of(page))
    }

    fn get(&self, index: u32) -> Option<&Section> {
        self.sections.get(to_usize(index))
    }

    /// Returns the number of the pool's free section from which an allocation takes bytes.
    fn find(&self, length: u64, alignment: u64) -> Option<u32> {
        let own = list_of(length);
        let exact = alignment <= 1 && all_fit(length);
        if !exact && let Some(found) = self.probe(own, MAX_PROBES, length, alignment) {
            return Some(found);
        }
        let first = if exact { own } else { own + 1 };
        let mut list = self.bins.next_filled(first);
        // In most of these lists, every section fits with any alignment.
        while let Some(filled) = list {
            if let Some(found) = self.probe(filled, MAX_PROBES, length, alignment) {
                return Some(found);
            }
            // A sum of more than 64 bits belongs to the last list, which has all larger lengths.
            let sure = length.checked_add(alignment).map_or(LAST_LIST, list_of) + 1;
            list = self.bins.next_filled(if filled < sure { filled + 1 } else { return None });
        }
        if exact { None } else { self.probe(own, MAX_LAST_PROBES, length, alignment) }
    }

    /// Returns the number of the shortest free section that fits. Compares only the first `probes`
    /// free sections of a list.
    fn probe(&self, list: usize, probes: usize, length: u64, alignment: u64) -> Option<u32> {
        let mut best: Option<(u64, u32)> = None;
        let mut index = self.bins.head(list);
        for _ in 0..probes {
            let Some(section) = self.get(index) else { break };
            if section.skip(length, alignment).is_some() && best.is_none_or(|(best, _)| section.length < best)
            {
                best = Some((section.length, index));
                if section.length == length {
                    break;
                }
            }
            index = section.next;
        }
        best.map(|(_, index)| index)
    }

    /// Removes bytes from a free section of the pool. The other bytes of the free section stay
    /// free.
    fn carve(&mut self, index: u32, section: Section, start: u64, length: u64) {
        let end = start + length;
        self.bytes -= length;
        let (before, after) = (start > section.start, end < section.end());
        match (before, after) {
            (false, false) => self.drop_section(index),
            (true, false) => drop(self.resize(index, |section| (section.start, start))),
            (false, true) => drop(self.resize(index, |section| (end, section.end()))),
            (true, true) => {
                self.resize(index, |section| (section.start, start));
                self.insert(end, section.end() - end);
            }
        }
    }

    fn insert(&mut self, start: u64, length: u64) {
        let section = Section { start, length, previous: NO_SECTION, next: NO_SECTION };
        let index = if let Some(index) = self.vacant.pop() {
            if let Some(vacant) = self.sections.get_mut(to_usize(index)) {
                *vacant = section;
            }
            index
        } else {
            match u32::try_from(self.sections.len()) {
                Ok(index) if index != NO_SECTION => {
                    self.sections.push(section);
                    index
                }
                _ => {
                    // The pool holds 2^32 - 1 sections. The space of further sections is lost.
                    self.bytes -= length;
                    return;
                }
            }
        };
        self.by_start.insert(start, index);
        self.by_end.insert(section.end(), index);
        self.link(index, length);
    }

    fn drop_section(&mut self, index: u32) {
        let Some(section) = self.get(index).copied() else { return };
        self.unlink(&section);
        self.by_start.remove(&section.start);
        self.by_end.remove(&section.end());
        self.vacant.push(index);
    }

    /// Changes the start and the end of a free section of the pool. Returns the new start and the
    /// new length of the free section.
    fn resize(&mut self, index: u32, change: impl FnOnce(&Section) -> (u64, u64)) -> (u64, u64) {
        let Some(section) = self.get(index).copied() else { return (0, 0) };
        let (start, end) = change(&section);
        let length = end - start;
        if start != section.start {
            self.by_start.remove(&section.start);
            self.by_start.insert(start, index);
        }
        if end != section.end() {
            self.by_end.remove(&section.end());
            self.by_end.insert(end, index);
        }
        let stays = list_of(section.length) == list_of(length);
        if !stays {
            self.unlink(&section);
        }
        if let Some(section) = self.sections.get_mut(to_usize(index)) {
            section.start = start;
            section.length = length;
        }
        if !stays {
            self.link(index, length);
        }
        (start, length)
    }

    fn link(&mut self, index: u32, length: u64) {
        let list = list_of(length);
        let head = self.bins.head(list);
        if let Some(section) = self.sections.get_mut(to_usize(index)) {
            section.previous = NO_SECTION;
            section.next = head;
        }
        if let Some(next) = self.sections.get_mut(to_usize(head)) {
            next.previous = index;
        }
        self.bins.set_head(list, index);
    }

    fn unlink(&mut self, section: &Section) {
        match self.sections.get_mut(to_usize(section.previous)) {
            Some(previous) => previous.next = section.next,
            None => self.bins.set_head(list_of(section.length), section.next),
        }
        if let Some(next) = self.sections.get_mut(to_usize(section.next)) {
            next.previous = section.previous;
        }
    }
}

/// Converts the number of a free section to an index of a vector of free sections. [`NO_SECTION`]
/// leads to an index past the end of every such vector.
fn to_usize(index: u32) -> usize {
    index as usize
}
