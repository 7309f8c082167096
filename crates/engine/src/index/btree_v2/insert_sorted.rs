//! Many records at once, in ascending order but not all behind those that the tree has.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use hyperslab_format::codec::{Address, FormatError};

use super::BTreeV2;
use crate::error::Result;
use crate::store::{Edit, SpaceKind};

/// A tree with at most so many times as many records is made anew.
const REBUILT: u64 = 8;

/// How a record of the tree lies to the new one of that number.
pub(super) type CompareWith<'a> = dyn FnMut(&[u8], usize) -> Result<Ordering, FormatError> + 'a;

impl BTreeV2 {
    /// Inserts records, side by side in `records` and in ascending order, none of which is in the tree.
    ///
    /// # Errors
    /// The errors of `compare`, of reading nodes and of [`Edit::allocate`].
    pub fn insert_sorted(
        &mut self,
        edit: &mut Edit<'_>,
        records: &[u8],
        compare: &mut CompareWith<'_>,
    ) -> Result<()> {
        let size = self.layout.record_size().max(1);
        let count = records.len() / size;
        let total = self.header().total_records;
        if count == 0 {
            return Ok(());
        }
        if total == 0 || self.is_behind(edit.store(), &mut |record| compare(record, 0))? {
            return self.append_all(edit, records);
        }
        if (count as u64).saturating_mul(REBUILT) < total {
            for (number, record) in records.chunks_exact(size).enumerate() {
                self.insert(edit, record, &mut |there| compare(there, number))?;
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
        let size = self.layout.record_size().max(1);
        self.append(edit, records.len() / size, |to| {
            records.chunks_exact(size).try_for_each(|record| to.push(record))
        })
    }

    /// The records of the tree and the new ones, in their order.
    fn merged(&self, edit: &Edit<'_>, records: &[u8], compare: &mut CompareWith<'_>) -> Result<Vec<u8>> {
        let mut merged = Vec::with_capacity(records.len());
        let mut new = records.chunks_exact(self.layout.record_size().max(1)).enumerate().peekable();
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
