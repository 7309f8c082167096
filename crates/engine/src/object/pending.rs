//! Links and attributes that wait to be put into their trees and heap, many at once.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use hyperslab_format::codec::checksum;
use hyperslab_format::message::{MessageFlags, SymbolTable};

use crate::store::AddressHasher;

/// Bytes that may wait.
const MOST: usize = 16 << 20;

/// Messages by their names, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Pending {
    entries: Vec<Waiting>,
    /// The last entry of each hash of a name.
    by_hash: HashMap<u64, usize, BuildHasherDefault<AddressHasher>>,
    /// Names and bodies.
    bytes: Vec<u8>,
}

/// One message.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) hash: u32,
    pub(super) flags: MessageFlags,
    pub(super) order: u64,
    /// What an old-style group repeats of the group that the link leads to.
    pub(super) cached: Option<SymbolTable>,
    name: Range<usize>,
    body: Range<usize>,
    /// Another entry whose name has the same hash.
    before: Option<usize>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether so much waits that it should go.
    pub(super) fn is_crowded(&self) -> bool {
        self.bytes.len().saturating_add(self.entries.len().saturating_mul(size_of::<Waiting>())) > MOST
    }

    /// Adds a message whose name is not there.
    pub(super) fn push(
        &mut self,
        name: &[u8],
        body: &[u8],
        flags: MessageFlags,
        order: u64,
        cached: Option<SymbolTable>,
    ) {
        let hash = checksum(name);
        let before = self.by_hash.insert(hash.into(), self.entries.len());
        let (name, body) = (self.keep(name), self.keep(body));
        self.entries.push(Waiting { hash, flags, order, cached, name, body, before });
    }

    /// The message of that name.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if self.entries.is_empty() {
            return None;
        }
        let mut at = self.by_hash.get(&u64::from(checksum(name))).copied();
        while let Some(number) = at {
            if self.name(number) == name {
                return Some(number);
            }
            at = self.entries.get(number)?.before;
        }
        None
    }

    /// Puts another body in a message's place.
    pub(super) fn replace(&mut self, number: usize, flags: MessageFlags, body: &[u8]) {
        let body = self.keep(body);
        if let Some(entry) = self.entries.get_mut(number) {
            entry.body = body;
            entry.flags = flags;
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&Waiting> {
        self.entries.get(number)
    }

    pub(super) fn name(&self, number: usize) -> &[u8] {
        self.entries.get(number).and_then(|entry| self.bytes.get(entry.name.clone())).unwrap_or_default()
    }

    pub(super) fn body(&self, number: usize) -> &[u8] {
        self.entries.get(number).and_then(|entry| self.bytes.get(entry.body.clone())).unwrap_or_default()
    }

    /// All messages in the order in which they came.
    pub(super) fn entries(&self) -> &[Waiting] {
        &self.entries
    }

    /// The numbers of all messages, by the hashes of their names and, of the same hash, by the names.
    pub(super) fn by_hash_and_name(&self) -> Vec<usize> {
        let hashes = self.entries.iter().map(|entry| entry.hash);
        let mut order: Vec<(u32, usize)> = hashes.zip(0..).collect();
        order.sort_unstable();
        for same in order.chunk_by_mut(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            same.sort_by(|one, other| self.name(one.1).cmp(self.name(other.1)));
        }
        order.into_iter().map(|(_, number)| number).collect()
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_by_their_names() {
        let mut pending = Pending::default();
        for number in 0_u64..1000 {
            let name = format!("n{number}").into_bytes();
            assert_eq!(pending.find(&name), None);
            pending.push(&name, &number.to_string().into_bytes(), MessageFlags::empty(), number, None);
        }
        for number in 0_usize..1000 {
            let name = format!("n{number}").into_bytes();
            assert_eq!(pending.find(&name), Some(number));
            assert_eq!(pending.body(number), number.to_string().into_bytes());
        }
        pending.replace(7, MessageFlags::CONSTANT, b"another and longer");
        assert_eq!((pending.name(7), pending.body(7)), (&b"n7"[..], &b"another and longer"[..]));
    }

    #[test]
    fn names_of_one_hash_are_told_apart() {
        let mut pending = Pending::default();
        pending.push(b"a", b"1", MessageFlags::empty(), 0, None);
        pending.push(b"b", b"2", MessageFlags::empty(), 1, None);
        // As if both had the hash of the first.
        pending.by_hash.insert(checksum(b"a").into(), 1);
        pending.entries[1].before = Some(0);
        assert_eq!(pending.find(b"a"), Some(0));
    }
}
