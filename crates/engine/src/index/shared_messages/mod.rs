//! Shared object header messages: found by type and heap ID, or by content.

mod edit;
mod records;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageTable, SharedMessageTableContext, SharedMessageTypes,
};

use super::fractal_heap::FractalHeap;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store};

pub use edit::{Inserted, Released};

/// A function that reads a message from an object header. The arguments are the type of the
/// message, and its index among the messages of this type.
pub type MessageInHeader = fn(&Store, Address, MessageType, u16) -> Result<Bytes>;

/// The indexes of a file's shared messages, each with a heap. The records are always read from the
/// file.
#[derive(Debug)]
pub struct SharedMessages {
    address: Address,
    /// The table as it was when the file was opened. Message types, smallest sizes and cutoffs
    /// never change.
    table: Arc<SharedMessageTable>,
    indexes: u8,
    in_header: MessageInHeader,
}

impl SharedMessages {
    /// Reads the master table of a file's shared messages at `address`. `indexes` is the number of
    /// indexes, from the superblock extension. `in_header` reads messages that are still in the
    /// header of their only user.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn open(store: &Store, address: Address, indexes: u8, in_header: MessageInHeader) -> Result<Self> {
        let context = SharedMessageTableContext { params: store.params(), indexes };
        Ok(Self { address, table: store.shared(address, &context)?, indexes, in_header })
    }

    /// Returns a file's indexes of shared messages in their state when the file was opened. Message
    /// types, smallest sizes and cutoffs never change.
    pub fn indexes(&self) -> impl Iterator<Item = &SharedMessageIndex> {
        self.table.indexes.iter()
    }

    /// Returns the shared message of type `kind` with the heap ID `id`.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] if there is no such message, and read errors.
    pub fn get(&self, store: &Store, kind: MessageType, id: &[u8]) -> Result<Bytes> {
        let (_, index) = self.index_of(store, kind)?;
        FractalHeap::open(store, index.heap)?.get(store, id)
    }

    /// Returns whether the file stores a message of type `kind` with `length` bytes as a shared
    /// message.
    pub fn wants(&self, kind: MessageType, length: usize) -> bool {
        self.position_of(kind)
            .and_then(|position| self.table.indexes.get(position))
            .is_some_and(|index| to_u64(length) >= u64::from(index.min_message_size))
    }

    /// Returns the sizes of the master table, of the indexes and of the heaps in the file in bytes.
    ///
    /// # Errors
    /// Returns read errors.
    pub fn bytes(&self, store: &Store) -> Result<[u64; 3]> {
        let context = self.context(store);
        let current: Arc<SharedMessageTable> = store.shared(self.address, &context)?;
        let (mut indexes, mut heaps) = (0_u64, 0_u64);
        for index in &current.indexes {
            indexes += records::bytes(store, index)?;
            if index.heap.is_defined() {
                let heap = FractalHeap::open(store, index.heap)?.bytes(store)?;
                heaps = heaps.checked_add(heap).ok_or_else(|| {
                    let expected = "a size inside the file";
                    Error::corrupt(SharedMessageTable::NAME, "size of a heap", expected, heap)
                        .at(self.address)
                })?;
            }
        }
        Ok([to_u64(SharedMessageTable::size(&context)), indexes, heaps])
    }

    fn context(&self, store: &Store) -> SharedMessageTableContext {
        SharedMessageTableContext { params: store.params(), indexes: self.indexes }
    }

    /// Returns the number of a shared message index in the master table. The index is for messages
    /// of type `kind`.
    fn position_of(&self, kind: MessageType) -> Option<usize> {
        let wanted = message_types(kind);
        self.indexes().position(|index| index.message_types.intersects(wanted))
    }

    /// Returns the current shared message index for messages of type `kind`, and the number of the
    /// index in the master table.
    fn index_of(&self, store: &Store, kind: MessageType) -> Result<(usize, SharedMessageIndex)> {
        let table: Arc<SharedMessageTable> = store.shared(self.address, &self.context(store))?;
        let position = self.position_of(kind);
        let index = position.and_then(|position| Some((position, table.indexes.get(position)?.clone())));
        index.ok_or_else(|| {
            let expected = format!("an index for the {}", kind.name());
            Error::corrupt(SharedMessageTable::NAME, "message types", expected, "none")
        })
    }
}

fn message_types(kind: MessageType) -> SharedMessageTypes {
    match kind {
        MessageType::DATASPACE => SharedMessageTypes::DATASPACE,
        MessageType::DATATYPE => SharedMessageTypes::DATATYPE,
        MessageType::FILL_VALUE | MessageType::FILL_VALUE_OLD => SharedMessageTypes::FILL_VALUE,
        MessageType::FILTER_PIPELINE => SharedMessageTypes::FILTER_PIPELINE,
        MessageType::ATTRIBUTE => SharedMessageTypes::ATTRIBUTE,
        _ => SharedMessageTypes::empty(),
    }
}
