//! Objects too large for a heap's blocks: each lies on its own in the file, and a version 2 B-tree knows where.

use std::cmp::Ordering;

use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, HugeObjectFiltered, HugeObjectRecord, HugeRecordContext,
};
use hyperslab_format::codec::{Address, FormatError};
use hyperslab_format::fractal_heap::{FractalHeapFlags, HeapId};

use super::FractalHeap;
use super::change::Change;
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::store::{Edit, SpaceKind, at};

/// What huge objects are to the file's space.
const HUGE_SPACE: SpaceKind = SpaceKind::RawData;

/// How a record lies to the one with that key: in trees of direct objects that is the address.
fn compare(record: &[u8], key: u64, context: HugeRecordContext) -> Result<Ordering, FormatError> {
    let record = HugeObjectRecord::decode(record, context)?;
    Ok(if context.indirect { record.id } else { record.address.raw() }.cmp(&key))
}

impl Change<'_, '_> {
    /// Puts an object in a place of its own.
    pub(super) fn insert_huge(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let context = self.heap.ids.huge_records();
        let memory_size = bytes.len() as u64;
        let (stored, filtered) = if self.heap.header.filters.is_some() {
            let (stored, filter_mask) = self.filter(bytes)?;
            (std::borrow::Cow::Owned(stored), Some(HugeObjectFiltered { filter_mask, memory_size }))
        } else {
            (bytes.into(), None)
        };
        let id = if context.indirect { self.next_huge_key()? } else { 0 };
        let length = stored.len() as u64;
        let address = self.edit.allocate(HUGE_SPACE, length)?;
        self.edit.write_raw_or_buffer(address, &stored)?;
        self.record_huge(&HugeObjectRecord { address, length, filtered, id })?;
        let header = &mut self.heap.header;
        header.huge_objects = header.huge_objects.saturating_add(1);
        header.huge_size = header.huge_size.saturating_add(memory_size);
        if context.indirect {
            header.next_huge_id = id;
            return self.heap.encode_id(&HeapId::HugeIndirect { key: id });
        }
        self.heap.encode_id(&HeapId::HugeDirect { address, length, filtered })
    }

    /// A key that no object had before. The header holds the last one.
    fn next_huge_key(&self) -> Result<u64> {
        let header = &self.heap.header;
        let limit = self.heap.ids.max_huge_key();
        let wrapped = header.flags.contains(FractalHeapFlags::HUGE_IDS_WRAPPED);
        let next = header.next_huge_id.checked_add(1).filter(|next| *next <= limit && !wrapped);
        next.ok_or_else(|| Error::Limit {
            what: "a fractal heap: huge objects that it ever had".into(),
            got: header.next_huge_id,
            limit,
        })
    }

    fn record_huge(&mut self, record: &HugeObjectRecord) -> Result<()> {
        let context = self.heap.ids.huge_records();
        let mut tree = if self.heap.header.huge_btree.is_defined() {
            BTreeV2::edit(self.edit, self.heap.header.huge_btree)?
        } else {
            let size = u16::try_from(HugeObjectRecord::size(context)).unwrap_or(u16::MAX);
            BTreeV2::create(self.edit, &BTreeV2Creation::new(context.record_type(), size))?
        };
        self.heap.header.huge_btree = tree.address();
        let key = if context.indirect { record.id } else { record.address.raw() };
        let bytes = record.encode(context)?;
        if tree.insert(self.edit, &bytes, &mut |other| compare(other, key, context))? {
            return Ok(());
        }
        Err(Error::corrupt("fractal heap", "huge object", "a key that is not in use", key)
            .at(self.heap.address))
    }

    /// Removes an object that lies on its own; with the last one its B-tree.
    pub(super) fn remove_huge(&mut self, id: &HeapId) -> Result<()> {
        let context = self.heap.ids.huge_records();
        let key = match id {
            HeapId::HugeIndirect { key } => *key,
            HeapId::HugeDirect { address, .. } => address.raw(),
            HeapId::Managed { .. } | HeapId::Tiny { .. } => return Ok(()),
        };
        let missing = || Error::NotFound { what: "huge object", name: key.to_string() };
        if !self.heap.header.huge_btree.is_defined() {
            return Err(missing());
        }
        let mut tree = BTreeV2::edit(self.edit, self.heap.header.huge_btree)?;
        let removed =
            tree.remove(self.edit, &mut |record| compare(record, key, context))?.ok_or_else(missing)?;
        let record = at(HugeObjectRecord::decode(&removed, context), tree.address())?;
        self.edit.free(HUGE_SPACE, record.address, record.length)?;
        let empty = tree.header().total_records == 0;
        let header = &mut self.heap.header;
        let size = record.filtered.map_or(record.length, |filtered| filtered.memory_size);
        header.huge_objects = header.huge_objects.saturating_sub(1);
        header.huge_size = header.huge_size.saturating_sub(size);
        if empty {
            tree.delete(self.edit, &mut |_, _| Ok(()))?;
            header.huge_btree = Address::UNDEFINED;
            header.next_huge_id = 0;
            header.flags.remove(FractalHeapFlags::HUGE_IDS_WRAPPED);
        }
        Ok(())
    }
}

impl FractalHeap {
    /// Frees all objects that lie on their own.
    pub(super) fn delete_huge(&self, edit: &mut Edit<'_>) -> Result<()> {
        if !self.header.huge_btree.is_defined() {
            return Ok(());
        }
        let context = self.ids.huge_records();
        let address = self.header.huge_btree;
        BTreeV2::edit(edit, address)?.delete(edit, &mut |edit, record| {
            let record = at(HugeObjectRecord::decode(record, context), address)?;
            edit.free(HUGE_SPACE, record.address, record.length)
        })
    }
}
