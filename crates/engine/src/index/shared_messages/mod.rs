//! The file's shared object header messages: found by type and heap ID, or by what they say.

mod edit;
mod records;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageTable, SharedMessageTableContext, SharedMessageTypes,
};

use super::fractal_heap::FractalHeap;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store};

pub use edit::{Inserted, Released};

/// Reads the n-th message of a type, from 0, of the object header at an address.
pub type MessageInHeader = fn(&Store, Address, MessageType, u16) -> Result<Bytes>;

/// The indexes of shared messages, each with a heap. What they hold at present stands in the file.
#[derive(Debug)]
pub struct SharedMessages {
    address: Address,
    /// As it was when the file was opened. Types, sizes and cutoffs stay.
    table: Arc<SharedMessageTable>,
    in_header: MessageInHeader,
}

impl SharedMessages {
    /// Reads the master table at `address`, of which the superblock extension says how many indexes it has.
    /// `in_header` reads messages that are still in the header of their one user.
    ///
    /// # Errors
    /// If it is damaged, or cannot be read.
    pub fn open(store: &Store, address: Address, indexes: u8, in_header: MessageInHeader) -> Result<Self> {
        let context = SharedMessageTableContext { params: store.params(), indexes };
        Ok(Self { address, table: store.shared(address, &context)?, in_header })
    }

    /// The indexes as the table described them when the file was opened: the types of their messages, the least size
    /// and the cutoffs do not change.
    pub fn indexes(&self) -> impl Iterator<Item = &SharedMessageIndex> {
        self.table.indexes.iter()
    }

    /// The message of type `kind` with that ID in the heap of the type's index.
    ///
    /// # Errors
    /// If there is no such message.
    pub fn get(&self, store: &Store, kind: MessageType, id: &[u8]) -> Result<Bytes> {
        let (_, index) = self.index_of(store, kind)?;
        FractalHeap::open(store, index.heap)?.get(store, id)
    }

    /// Returns whether messages of that type and so many bytes are shared.
    pub fn wants(&self, kind: MessageType, length: usize) -> bool {
        let least =
            |index: &SharedMessageIndex| usize::try_from(index.min_message_size).unwrap_or(usize::MAX);
        self.place_of(kind)
            .and_then(|place| self.table.indexes.get(place))
            .is_some_and(|index| length >= least(index))
    }

    fn context(&self, store: &Store) -> SharedMessageTableContext {
        let indexes = u8::try_from(self.table.indexes.len()).unwrap_or(u8::MAX);
        SharedMessageTableContext { params: store.params(), indexes }
    }

    /// Which of the indexes holds messages of that type.
    fn place_of(&self, kind: MessageType) -> Option<usize> {
        let wanted = message_types(kind);
        self.indexes().position(|index| index.message_types.intersects(wanted))
    }

    /// The index of messages of that type as it is now, and which one it is.
    fn index_of(&self, store: &Store, kind: MessageType) -> Result<(usize, SharedMessageIndex)> {
        let table: Arc<SharedMessageTable> = store.shared(self.address, &self.context(store))?;
        let place = self.place_of(kind);
        let index = place.and_then(|place| Some((place, table.indexes.get(place)?.clone())));
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
