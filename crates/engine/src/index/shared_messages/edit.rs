//! Messages that come to be shared, and that are no longer used.

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

/// A message that one header more uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inserted {
    /// The message in the heap of its index.
    pub id: [u8; 8],
    /// Nobody used it before.
    pub first: bool,
}

/// What became of a message that one user less has.
#[derive(Debug, Clone)]
pub enum Released {
    /// Others use it.
    Used,
    /// Nobody does, and it is gone; this is what it was.
    Gone(Bytes),
}

impl SharedMessages {
    /// Lets one user more share a message, in the heap or with the first user's header, from which it is then copied
    /// to the heap. `None`, and nothing is changed, if such messages are not shared.
    ///
    /// # Errors
    /// [`Error::Limit`] if the message has as many users as can be counted; those of reading the index, and of the
    /// medium.
    pub fn insert(&self, edit: &mut Edit<'_>, kind: MessageType, body: &[u8]) -> Result<Option<Inserted>> {
        if !self.wants(kind, body.len()) || body.is_empty() {
            return Ok(None);
        }
        let (place, mut index) = self.index_of(edit.store(), kind)?;
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
                // The header keeps it, and counts as a user.
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
                self.note(edit, place, index)?;
                Ok(Some(Inserted { id, first: true }))
            }
        }
    }

    /// Lets a message in the heap count one user more.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and if there is no such message.
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

    /// Takes one user from a message in the heap. Without any it is removed.
    ///
    /// # Errors
    /// If there is no such message; those of reading the index, and of the medium.
    pub fn release(&self, edit: &mut Edit<'_>, kind: MessageType, id: [u8; 8]) -> Result<Released> {
        let (place, index) = self.index_of(edit.store(), kind)?;
        let body = Bytes::from(&*FractalHeap::open(edit.store(), index.heap)?.get(edit.store(), &id)?);
        let record =
            Records::of(&index, self.in_header).find(edit.store(), &index, Wanted::new(kind, &body))?;
        match record {
            Some(SharedMessageRecord { location: SharedMessageLocation::Heap { heap_id, .. }, .. })
                if heap_id == id =>
            {
                self.uncount(edit, place, index, kind, &body)
            }
            _ => Err(unknown(&index, kind)),
        }
    }

    /// Notes that the header at `header` no longer holds a message that it may share with others: it stood there
    /// itself, perhaps with zeros behind it. `None` if the index knows nothing of it.
    ///
    /// # Errors
    /// The errors of reading the index, and of the medium.
    pub fn release_held(
        &self,
        edit: &mut Edit<'_>,
        kind: MessageType,
        header: Address,
        body: &[u8],
    ) -> Result<Option<Released>> {
        if self.place_of(kind).is_none() {
            return Ok(None);
        }
        let (place, index) = self.index_of(edit.store(), kind)?;
        let zeros = body.iter().rev().take(records::PADDING).take_while(|byte| **byte == 0).count();
        for padding in 0..=zeros {
            let own = body.get(..body.len().saturating_sub(padding)).unwrap_or_default();
            let wanted = Wanted::new(kind, own);
            let records = Records::of(&index, self.in_header);
            match records.find(edit.store(), &index, wanted)?.map(|record| record.location) {
                None => {}
                Some(SharedMessageLocation::Header { header: holder, .. }) if holder != header => {}
                Some(_) => return self.uncount(edit, place, index, kind, own).map(Some),
            }
        }
        Ok(None)
    }

    /// Takes one user from a message that has a record.
    fn uncount(
        &self,
        edit: &mut Edit<'_>,
        place: usize,
        mut index: SharedMessageIndex,
        kind: MessageType,
        body: &[u8],
    ) -> Result<Released> {
        let wanted = Wanted::new(kind, body);
        let records = Records::of(&index, self.in_header);
        let found = records.find(edit.store(), &index, wanted)?.map(|record| record.location);
        if let Some(SharedMessageLocation::Heap { reference_count, heap_id }) = found {
            if reference_count > 1 {
                let record = wanted.record(heap_id, reference_count.saturating_sub(1));
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
        self.note(edit, place, index)?;
        Ok(Released::Gone(Bytes::from(body)))
    }

    /// Writes what has become of an index to the table.
    fn note(&self, edit: &mut Edit<'_>, place: usize, index: SharedMessageIndex) -> Result<()> {
        let context = self.context(edit.store());
        edit.modify(self.address, &context, |table: &mut SharedMessageTable| {
            if let Some(slot) = table.indexes.get_mut(place) {
                *slot = index;
            }
        })
    }
}

fn insert_in_heap(edit: &mut Edit<'_>, index: &SharedMessageIndex, body: &[u8]) -> Result<[u8; 8]> {
    let id = FractalHeap::insert(edit, index.heap, body)?;
    <[u8; 8]>::try_from(id.as_slice()).map_err(|_| {
        let found = format_args!("{} bytes", id.len());
        Error::corrupt("fractal heap header", "heap ID length", "8 bytes, of shared messages", found)
            .at(index.heap)
    })
}

fn too_many_users() -> Error {
    Error::Limit { what: "users of a shared message".into(), got: 1 << 32, limit: u64::from(u32::MAX) }
}

fn unknown(index: &SharedMessageIndex, kind: MessageType) -> Error {
    let expected = format!("a record of the {}", kind.name());
    Error::corrupt(SharedMessageTable::NAME, "index", expected, "none").at(index.index)
}
