//! Huge objects: objects too large for a heap's blocks. Each object has its own block in the file,
//! and a version 2 B-tree holds the addresses.

use std::cmp::Ordering;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v2::records::{
    BTreeV2Record as _, HugeObjectFiltered, HugeObjectRecord, HugeRecordContext,
};
use hyperslab_format::codec::{Address, FormatError};
use hyperslab_format::fractal_heap::{FractalHeapFlags, HeapId};

use super::change::HeapChange;
use super::{FractalHeap, counter};
use crate::error::{Error, Result};
use crate::index::btree_v2::{BTreeV2, BTreeV2Creation};
use crate::store::{Edit, SpaceKind, at};

/// File-space kind of huge objects of fractal heaps. A file can manage the free space of each kind
/// separately.
const HUGE_SPACE: SpaceKind = SpaceKind::RawData;

/// Compares a B-tree record for a huge fractal heap object with `key`. For directly accessed huge
/// objects, the key of a record is the address.
fn compare(record: &[u8], key: u64, context: HugeRecordContext) -> Result<Ordering, FormatError> {
    let record = HugeObjectRecord::decode(record, context)?;
    Ok(if context.indirect { record.id } else { record.address.raw() }.cmp(&key))
}

impl HeapChange<'_, '_> {
    /// Inserts an object into the fractal heap as a huge object, in a separate block of the file.
    pub(super) fn insert_huge(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let context = self.heap.ids.huge_records();
        let memory_size = to_u64(bytes.len());
        let objects = self.heap.increased(counter::HUGE_OBJECTS, self.heap.header.huge_objects, 1)?;
        let size = self.heap.increased(counter::HUGE_SIZE, self.heap.header.huge_size, memory_size)?;
        let (stored, filtered) = if self.heap.header.filters.is_some() {
            let (stored, filter_mask) = self.filter(bytes)?;
            (std::borrow::Cow::Owned(stored), Some(HugeObjectFiltered { filter_mask, memory_size }))
        } else {
            (bytes.into(), None)
        };
        let id = if context.indirect { self.next_huge_key()? } else { 0 };
        let length = to_u64(stored.len());
        let address = self.edit.allocate(HUGE_SPACE, length)?;
        let heap_id = if context.indirect {
            HeapId::HugeIndirect { key: id }
        } else {
            HeapId::HugeDirect { address, length, filtered }
        };
        let inserted = self.heap.encode_id(&heap_id).and_then(|heap_id| {
            self.edit.write_raw_or_buffer(address, &stored)?;
            self.record_huge(&HugeObjectRecord { address, length, filtered, id })?;
            Ok(heap_id)
        });
        if inserted.is_err() {
            self.edit.free(HUGE_SPACE, address, length)?;
            return inserted;
        }
        let header = &mut self.heap.header;
        (header.huge_objects, header.huge_size) = (objects, size);
        if context.indirect {
            header.next_huge_id = id;
        }
        inserted
    }

    /// Returns a key that no huge object of the fractal heap had before. The heap header holds the
    /// last used key.
    fn next_huge_key(&self) -> Result<u64> {
        let header = &self.heap.header;
        let limit = self.heap.ids.max_huge_key();
        let wrapped = header.flags.contains(FractalHeapFlags::HUGE_IDS_WRAPPED);
        let next = header.next_huge_id.checked_add(1).filter(|next| *next <= limit && !wrapped);
        next.ok_or_else(|| Error::Limit {
            subject: "keys of huge objects in a fractal heap".into(),
            got: header.next_huge_id,
            limit,
        })
    }

    fn record_huge(&mut self, record: &HugeObjectRecord) -> Result<()> {
        let context = self.heap.ids.huge_records();
        let mut tree = if self.heap.header.huge_btree.is_defined() {
            BTreeV2::edit(self.edit, self.heap.header.huge_btree)?
        } else {
            let size = u16::try_from(HugeObjectRecord::size(context))
                .map_err(|_| Error::internal("huge object record", "a record has less than 65536 bytes"))?;
            BTreeV2::create(self.edit, &BTreeV2Creation::new(context.record_type(), size))?
        };
        self.heap.header.huge_btree = tree.address();
        let key = if context.indirect { record.id } else { record.address.raw() };
        let bytes = record.encode(context)?;
        if tree.insert(self.edit, &bytes, &mut |other| compare(other, key, context))? {
            return Ok(());
        }
        let expected = "a key without a huge object";
        Err(Error::corrupt("fractal heap", "huge object", expected, key).at(self.heap.address))
    }

    /// Removes a huge object of the fractal heap. Removes the B-tree of huge objects together with
    /// the last object.
    pub(super) fn remove_huge(&mut self, id: &HeapId) -> Result<()> {
        let context = self.heap.ids.huge_records();
        let key = match id {
            HeapId::HugeIndirect { key } => *key,
            HeapId::HugeDirect { address, .. } => address.raw(),
            HeapId::Managed { .. } | HeapId::Tiny { .. } => return Ok(()),
        };
        let missing = || Error::NotFound { subject: "huge object", name: key.to_string() };
        if !self.heap.header.huge_btree.is_defined() {
            return Err(missing());
        }
        let mut tree = BTreeV2::edit(self.edit, self.heap.header.huge_btree)?;
        let compare = &mut |record: &[u8]| compare(record, key, context);
        let record = tree.get(self.edit.store(), compare)?.ok_or_else(missing)?;
        let record = at(HugeObjectRecord::decode(&record, context), tree.address())?;
        let size = record.filtered.map_or(record.length, |filtered| filtered.memory_size);
        let objects = self.heap.decreased(counter::HUGE_OBJECTS, self.heap.header.huge_objects, 1)?;
        let size = self.heap.decreased(counter::HUGE_SIZE, self.heap.header.huge_size, size)?;
        tree.remove(self.edit, compare)?.ok_or_else(missing)?;
        let header = &mut self.heap.header;
        (header.huge_objects, header.huge_size) = (objects, size);
        self.edit.free(HUGE_SPACE, record.address, record.length)?;
        if tree.header().total_records == 0 {
            tree.delete(self.edit, &mut |_, _| Ok(()))?;
            header.huge_btree = Address::UNDEFINED;
            header.next_huge_id = 0;
            header.flags.remove(FractalHeapFlags::HUGE_IDS_WRAPPED);
        }
        Ok(())
    }
}

impl FractalHeap {
    /// Frees all huge objects of the fractal heap and the B-tree of the huge objects.
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
