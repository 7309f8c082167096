//! Deferred links and attributes, which are inserted into dense storage or a symbol table together.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use hyperslab_format::codec::checksum;
use hyperslab_format::message::{MessageFlags, SymbolTable};

use crate::error::{Error, Result};
use crate::store::AddressHasher;

/// Limit in bytes of the memory for an object's deferred messages, which describe links or
/// attributes.
const MAX_DEFERRED_BYTES: usize = 16 << 20;

/// The deferred messages of an object: new links or attributes that are not yet in dense storage,
/// in the order of their addition.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    messages: Vec<DeferredMessage>,
    /// The last entry with each hash of a name.
    by_hash: HashMap<u64, usize, BuildHasherDefault<AddressHasher>>,
    /// Bytes of the names and bodies.
    bytes: Vec<u8>,
}

/// A deferred message of a new link or attribute, with the name of the link or attribute.
#[derive(Debug, Clone)]
pub(super) struct DeferredMessage {
    pub(super) hash: u32,
    pub(super) flags: MessageFlags,
    pub(super) order: u64,
    /// The cached symbol table of the link's target, if the link belongs to a symbol table and the
    /// target is a group.
    pub(super) cached: Option<SymbolTable>,
    name: Range<usize>,
    body: Range<usize>,
    /// The previous entry whose name has the same hash.
    before: Option<usize>,
}

fn no_message() -> Error {
    Error::internal("deferred messages", "an index names a message")
}

impl Deferred {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns whether the deferred messages of links or attributes exceed their memory limit and
    /// must be inserted into the storage.
    pub(super) fn is_over_limit(&self) -> bool {
        self.memory() > MAX_DEFERRED_BYTES
    }

    /// Returns the bytes of the deferred messages of links or attributes.
    pub(super) fn memory(&self) -> usize {
        // Both sizes are sizes of allocations, so the sum does not overflow.
        self.bytes.len() + size_of_val(self.messages.as_slice())
    }

    /// Adds the message of a new link or attribute to the deferred messages. No deferred message
    /// may have the same name.
    pub(super) fn push(
        &mut self,
        name: &[u8],
        body: &[u8],
        flags: MessageFlags,
        order: u64,
        cached: Option<SymbolTable>,
    ) {
        let hash = checksum(name);
        let before = self.by_hash.insert(hash.into(), self.messages.len());
        let (name, body) = (self.keep(name), self.keep(body));
        self.messages.push(DeferredMessage { hash, flags, order, cached, name, body, before });
    }

    /// Returns the index of the deferred message of the link or attribute with the name `name`.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        if self.messages.is_empty() {
            return None;
        }
        let mut next = self.by_hash.get(&u64::from(checksum(name))).copied();
        while let Some(number) = next {
            let message = self.messages.get(number)?;
            if self.name(message) == name {
                return Some(number);
            }
            next = message.before;
        }
        None
    }

    /// Replaces the flags and the body of a deferred message of a link or attribute.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if there is no message with this index.
    pub(super) fn replace(&mut self, number: usize, flags: MessageFlags, body: &[u8]) -> Result<()> {
        let body = self.keep(body);
        let message = self.messages.get_mut(number).ok_or_else(no_message)?;
        message.body = body;
        message.flags = flags;
        Ok(())
    }

    /// Returns the deferred message of a link or attribute with the index `number`.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if there is no message with this index.
    pub(super) fn get(&self, number: usize) -> Result<&DeferredMessage> {
        self.messages.get(number).ok_or_else(no_message)
    }

    pub(super) fn name(&self, message: &DeferredMessage) -> &[u8] {
        self.part(&message.name)
    }

    pub(super) fn body(&self, message: &DeferredMessage) -> &[u8] {
        self.part(&message.body)
    }

    fn part(&self, range: &Range<usize>) -> &[u8] {
        // The default is never used: `keep` has returned the range, and `bytes` only grows.
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// Returns all deferred messages of links or attributes in the order in which they were added.
    pub(super) fn messages(&self) -> &[DeferredMessage] {
        &self.messages
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
        let mut deferred = Deferred::default();
        for number in 0_u64..1000 {
            let name = format!("n{number}").into_bytes();
            assert_eq!(deferred.find(&name), None);
            deferred.push(&name, &number.to_string().into_bytes(), MessageFlags::empty(), number, None);
        }
        for number in 0_usize..1000 {
            let name = format!("n{number}").into_bytes();
            assert_eq!(deferred.find(&name), Some(number));
            assert_eq!(deferred.body(&deferred.messages[number]), number.to_string().into_bytes());
        }
        deferred.replace(7, MessageFlags::CONSTANT, b"another and longer").unwrap();
        let message = deferred.get(7).unwrap();
        assert_eq!(
            (deferred.name(message), deferred.body(message)),
            (&b"n7"[..], &b"another and longer"[..])
        );
        assert!(deferred.replace(1000, MessageFlags::empty(), b"").is_err());
    }

    #[test]
    fn names_with_equal_hashes_are_distinguished() {
        let mut deferred = Deferred::default();
        deferred.push(b"a", b"1", MessageFlags::empty(), 0, None);
        deferred.push(b"b", b"2", MessageFlags::empty(), 1, None);
        // Simulate equal hashes.
        deferred.by_hash.insert(checksum(b"a").into(), 1);
        deferred.messages[1].before = Some(0);
        assert_eq!(deferred.find(b"a"), Some(0));
    }
}
