//! Insertion of shared messages, and removal of messages without users.

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageLocation, SharedMessageRecord, SharedMessageTable,
};

use super::super::fractal_heap::{FractalHeap, FractalHeapCreation};
use super::SharedMessages;
use super::records::{self, Records, Wanted};
use crate::error::{Error, Result};
use crate::store::{Bytes, Edit};

/// The result of [`SharedMessages::insert`], which adds a user of a shared message: the heap ID of
/// the message, and true if the message is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// The heap ID of the message.
    pub id: [u8; 8],
    /// True if the message had no user before.
    pub first: bool,
}

/// The state of a shared message after one object header has stopped using the message.
#[derive(Debug, Clone)]
pub enum Released {
    /// The message has other users.
    Used,
    /// The message had no other user and was removed. Contains the bytes of the message.
    Removed(Bytes),
}

impl SharedMessages {
    /// Adds one user of a shared message: an object header that refers to the message. If the
    /// message was still in the header of its only user, copies the message to the heap. If the
    /// file does not share messages of this kind and length, returns `None` and changes nothing.
    ///
    /// # Errors
    /// Returns [`Error::Limit`] if the message has 2^32 - 1 users, read errors, and the errors of
    /// [`Edit::allocate`].
    pub fn insert(&self, edit: &mut Edit<'_>, kind: MessageType, body: &[u8]) -> Result<Option<Inserted>> {
        if !self.wants(kind, body.len()) || body.is_empty() {
            return Ok(None);
        }
        let (position, mut index) = self.index_of(edit.store(), kind)?;
        let wanted = Wanted::new(kind, body);
        let records = Records::of(&index, self.in_header);
        let found = records.find(edit.store(), &index, wanted)?;
        match found.map(|record| record.location) {
            Some(SharedMessageLocation::Heap { reference_count, heap_id }) => {
                let users = reference_count.checked_add(1).ok_or_else(too_many_users)?;
                records.replace(edit, &index, wanted, wanted.record(heap_id, users))?;
                Ok(Some(Inserted { id: heap_id, first: false }))
            }
            Some(SharedMessageLocation::Header { .. }) => {
                // The header keeps its copy and counts as a user.
                let id = insert_in_heap(edit, &index, body)?;
                records.replace(edit, &index, wanted, wanted.record(id, 2))?;
                Ok(Some(Inserted { id, first: false }))
            }
            None if index.messages == u16::MAX => Ok(None),
            None => {
                if !index.heap.is_defined() {
                    index.heap = FractalHeap::create(edit, &FractalHeapCreation::SHARED_MESSAGES)?;
                }
                if !index.index.is_defined() {
                    records::create(edit, &mut index)?;
                }
                let id = insert_in_heap(edit, &index, body)?;
                let records = Records::of(&index, self.in_header);
                records.insert(edit, &mut index, wanted, wanted.record(id, 1))?;
                self.put_index(edit, position, index)?;
                Ok(Some(Inserted { id, first: true }))
            }
        }
    }

    /// Adds one user of a shared message in the heap of shared messages. A user is an object header
    /// that refers to the message.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if there is no such message, and the same errors as
    /// [`insert`](Self::insert).
    pub fn acquire(&self, edit: &mut Edit<'_>, kind: MessageType, id: [u8; 8]) -> Result<()> {
        let (_, index) = self.index_of(edit.store(), kind)?;
        let body = FractalHeap::open(edit.store(), index.heap)?.get(edit.store(), &id)?;
        let wanted = Wanted::new(kind, &body);
        let records = Records::of(&index, self.in_header);
        match records.find(edit.store(), &index, wanted)?.map(|record| record.location) {
            Some(SharedMessageLocation::Heap { reference_count, heap_id }) if heap_id == id => {
                let users = reference_count.checked_add(1).ok_or_else(too_many_users)?;
                records.replace(edit, &index, wanted, wanted.record(id, users))
            }
            _ => Err(unknown(&index, kind)),
        }
    }

    /// Removes one user of a shared message in the heap of shared messages. Removes a message
    /// without users.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if there is no such message, and read errors.
    pub fn release(&self, edit: &mut Edit<'_>, kind: MessageType, id: [u8; 8]) -> Result<Released> {
        let (position, index) = self.index_of(edit.store(), kind)?;
        let body = Bytes::from(&*FractalHeap::open(edit.store(), index.heap)?.get(edit.store(), &id)?);
        let record =
            Records::of(&index, self.in_header).find(edit.store(), &index, Wanted::new(kind, &body))?;
        match record {
            Some(SharedMessageRecord { location: SharedMessageLocation::Heap { heap_id, .. }, .. })
                if heap_id == id =>
            {
                self.remove_user(edit, position, index, kind, &body)
            }
            _ => Err(unknown(&index, kind)),
        }
    }

    /// Releases a message whose bytes are in the object header at `header`, and which may also be a
    /// shared message: removes this object header from the users of the message. `body` may have
    /// zero bytes after the message. Returns `None` if the index has no record of the message.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn release_held(
        &self,
        edit: &mut Edit<'_>,
        kind: MessageType,
        header: Address,
        body: &[u8],
    ) -> Result<Option<Released>> {
        if self.position_of(kind).is_none() {
            return Ok(None);
        }
        let (position, index) = self.index_of(edit.store(), kind)?;
        let zeros = body.iter().rev().take(records::MAX_PADDING_BYTES).take_while(|byte| **byte == 0).count();
        // Try the message without 0, 1, 2, … of the zero bytes at its end.
        let mut own = body;
        for _ in 0..=zeros {
            let wanted = Wanted::new(kind, own);
            let records = Records::of(&index, self.in_header);
            match records.find(edit.store(), &index, wanted)?.map(|record| record.location) {
                None => {}
                Some(SharedMessageLocation::Header { header: holder, .. }) if holder != header => {}
                Some(_) => return self.remove_user(edit, position, index, kind, own).map(Some),
            }
            if let [shorter @ .., _] = own {
                own = shorter;
            }
        }
        Ok(None)
    }

    /// Removes one user of a shared message. The index of shared messages has a record of the
    /// message.
    fn remove_user(
        &self,
        edit: &mut Edit<'_>,
        position: usize,
        mut index: SharedMessageIndex,
        kind: MessageType,
        body: &[u8],
    ) -> Result<Released> {
        let wanted = Wanted::new(kind, body);
        let records = Records::of(&index, self.in_header);
        let found = records.find(edit.store(), &index, wanted)?.map(|record| record.location);
        if let Some(SharedMessageLocation::Heap { reference_count, heap_id }) = found {
            if reference_count > 1 {
                let record = wanted.record(heap_id, reference_count - 1);
                records.replace(edit, &index, wanted, record)?;
                return Ok(Released::Used);
            }
            records.remove(edit, &mut index, wanted)?;
            FractalHeap::remove(edit, index.heap, &heap_id)?;
        } else {
            records.remove(edit, &mut index, wanted)?;
        }
        if index.messages == 0 {
            records::delete(edit, &mut index)?;
            FractalHeap::delete(edit, index.heap)?;
            index.heap = Address::UNDEFINED;
        }
        self.put_index(edit, position, index)?;
        Ok(Released::Removed(Bytes::from(body)))
    }

    /// Writes a changed index of shared messages into the master table.
    fn put_index(&self, edit: &mut Edit<'_>, position: usize, index: SharedMessageIndex) -> Result<()> {
        let context = self.context(edit.store());
        edit.modify(self.address, &context, |table: &mut SharedMessageTable| {
            let entry = table.indexes.get_mut(position);
            *entry.ok_or_else(|| Error::internal(SharedMessageTable::NAME, "indexes are never removed"))? =
                index;
            Ok(())
        })?
    }
}

fn insert_in_heap(edit: &mut Edit<'_>, index: &SharedMessageIndex, body: &[u8]) -> Result<[u8; 8]> {
    let id = FractalHeap::insert(edit, index.heap, body)?;
    <[u8; 8]>::try_from(id.as_slice()).map_err(|_| {
        let found = format_args!("{} bytes", id.len());
        Error::corrupt("fractal heap header", "heap ID length", "8 bytes for shared messages", found)
            .at(index.heap)
    })
}

fn too_many_users() -> Error {
    Error::Limit { subject: "users of a shared message".into(), got: 1 << 32, limit: u64::from(u32::MAX) }
}

fn unknown(index: &SharedMessageIndex, kind: MessageType) -> Error {
    let expected = format!("a record of the {}", kind.name());
    Error::corrupt(SharedMessageTable::NAME, "index", expected, "none").at(index.index)
}
