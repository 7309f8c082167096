//! Insertion of many records in ascending order, at any position of the tree.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_exact::to_u64;
use hyperslab_format::codec::{Address, FormatError};

use super::BTreeV2;
use crate::error::Result;
use crate::store::{Edit, SpaceKind};

/// The largest ratio of existing to new records at which an insertion rewrites the whole version 2
/// B-tree.
const MAX_REWRITE_RATIO: u64 = 8;

/// A function that compares a record of a version 2 B-tree with a new record. The new record is
/// given by its index. `Less` means that the record of the B-tree comes first.
pub(super) type CompareWith<'a> = dyn FnMut(&[u8], usize) -> Result<Ordering, FormatError> + 'a;

impl BTreeV2 {
    /// Inserts many records into a version 2 B-tree. `records` holds the bytes of the records,
    /// which must be in ascending order. The B-tree must have none of these records.
    ///
    /// # Errors
    /// Returns the errors of `compare`, of reading nodes and of [`Edit::allocate`].
    pub fn insert_sorted(
        &mut self,
        edit: &mut Edit<'_>,
        records: &[u8],
        compare: &mut CompareWith<'_>,
    ) -> Result<()> {
        let size = self.layout.record_size();
        let count = to_u64(records.len() / size);
        let total = self.header().total_records;
        if count == 0 {
            return Ok(());
        }
        if total == 0 || self.ends_before(edit.store(), &mut |record| compare(record, 0))? {
            return self.append_all(edit, records);
        }
        // Equivalent to `count * MAX_REWRITE_RATIO < total`, without overflow.
        if count < total.div_ceil(MAX_REWRITE_RATIO) {
            for (number, record) in records.chunks_exact(size).enumerate() {
                self.insert(edit, record, &mut |existing| compare(existing, number))?;
            }
            return Ok(());
        }
        let merged = self.merged(edit, records, compare)?;
        for (_, child) in self.nodes(edit.store())? {
            edit.free(SpaceKind::BTree, child.address, self.node_bytes())?;
        }
        self.set_depth(0)?;
        self.set_root(Address::UNDEFINED, 0, 0)?;
        self.append_all(edit, &merged)
    }

    fn append_all(&mut self, edit: &mut Edit<'_>, records: &[u8]) -> Result<()> {
        let size = self.layout.record_size();
        self.append(edit, records.len() / size, |to| {
            records.chunks_exact(size).try_for_each(|record| to.push(record))
        })
    }

    /// Returns the records of a version 2 B-tree and the new records, merged in ascending order.
    fn merged(&self, edit: &Edit<'_>, records: &[u8], compare: &mut CompareWith<'_>) -> Result<Vec<u8>> {
        let mut merged = Vec::with_capacity(records.len());
        let mut new = records.chunks_exact(self.layout.record_size()).enumerate().peekable();
        self.walk(edit.store(), &mut |record| {
            while let Some((number, before)) = new.peek() {
                if compare(record, *number).map_err(|error| error.at(self.address))? == Ordering::Less {
                    break;
                }
                merged.extend_from_slice(before);
                new.next();
            }
            merged.extend_from_slice(record);
            Ok(ControlFlow::Continue(()))
        })?;
        new.for_each(|(_, record)| merged.extend_from_slice(record));
        Ok(merged)
    }
}
