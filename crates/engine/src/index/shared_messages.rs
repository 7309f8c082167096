//! The file's shared object header messages: found by type and heap ID.

use std::sync::{Arc, OnceLock};

use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::MessageType;
use hyperslab_format::shared_message::{
    SharedMessageIndex, SharedMessageTable, SharedMessageTableContext, SharedMessageTypes,
};

use super::fractal_heap::FractalHeap;
use crate::error::{Error, Result};
use crate::store::{Bytes, Store};

/// The indexes of shared messages, each with a heap.
#[derive(Debug)]
pub struct SharedMessages {
    indexes: Vec<(SharedMessageIndex, OnceLock<Arc<FractalHeap>>)>,
}

impl SharedMessages {
    /// Reads the master table at `address`, of which the superblock extension says how many indexes it has.
    pub fn open(store: &Store, address: Address, indexes: u8) -> Result<Self> {
        let context = SharedMessageTableContext { params: store.params(), indexes };
        let table: SharedMessageTable = store.get(address, &context)?;
        Ok(Self { indexes: table.indexes.into_iter().map(|index| (index, OnceLock::new())).collect() })
    }

    /// The indexes as the table describes them.
    pub fn indexes(&self) -> impl Iterator<Item = &SharedMessageIndex> {
        self.indexes.iter().map(|(index, _)| index)
    }

    /// The message of type `kind` with that ID in the heap of the type's index.
    pub fn get(&self, store: &Store, kind: MessageType, id: &[u8]) -> Result<Bytes> {
        let wanted = message_types(kind);
        let index = self.indexes.iter().find(|(index, _)| index.message_types.intersects(wanted));
        let Some((index, heap)) = index else {
            return Err(Error::corrupt(
                SharedMessageTable::NAME,
                "message types",
                format!("an index for the {}", kind.name()),
                "none",
            ));
        };
        if let Some(heap) = heap.get() {
            return heap.get(store, id);
        }
        let opened = FractalHeap::open(store, index.heap)?;
        heap.get_or_init(|| opened).get(store, id)
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
