//! Version 2 B-trees: all nodes, the record counts of the child pointers, and the order of records.

use hyperslab_format::btree_v2::{BTreeV2Header, BTreeV2Internal, BTreeV2Layout, BTreeV2Leaf};
use hyperslab_format::codec::{Address, Structure as _};

use crate::extents::BlockKind;
use crate::file::Checker;
use crate::totals::end_of;

const NAME: &str = BTreeV2Header::NAME;

/// A version 2 B-tree whose header was read.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) address: Address,
    pub(crate) header: BTreeV2Header,
    layout: BTreeV2Layout,
    kind: BlockKind,
}

/// A function that receives each record of a version 2 B-tree, in the order of the tree.
pub(crate) type AtRecord<'a> = dyn FnMut(&mut Checker, &[u8]) + 'a;

/// Reads the header of the version 2 B-tree at `address`. The type of the B-tree's records must be
/// one of `types`.
pub(crate) fn open(checker: &mut Checker, address: Address, types: &[u8], kind: BlockKind) -> Option<Tree> {
    let params = checker.params;
    let header: BTreeV2Header = checker.block(address, &params, kind)?;
    if !types.contains(&header.record_type) {
        let text = format!("record type {}, expected one of {types:?}", header.record_type);
        checker.fault(NAME, address, text);
        return None;
    }
    let layout = checker.decoded(NAME, address, BTreeV2Layout::new(&header, params))?;
    let percents = [header.split_percent, header.merge_percent];
    if percents.iter().any(|percent| !(1..=100).contains(percent)) {
        checker.fault(
            NAME,
            address,
            format!("the split and merge percentages {percents:?} must be from 1 to 100"),
        );
    }
    if header.root.is_defined() != (header.root_records > 0) {
        let text =
            format!("the header states {} records in the root node at {}", header.root_records, header.root);
        checker.fault(NAME, address, text);
    }
    Some(Tree { address, header, layout, kind })
}

impl Tree {
    /// Returns true if the records of the version 2 B-tree have `size` bytes. Otherwise records a
    /// fault.
    pub(crate) fn has_records_of(&self, checker: &mut Checker, size: usize) -> bool {
        checker.same(NAME, self.address, "bytes of a record", self.header.record_size.into(), size as u64)
    }

    /// Visits all records of the version 2 B-tree. Returns the number of records, or `None` if a
    /// node could not be read.
    pub(crate) fn walk(&self, checker: &mut Checker, visit: &mut AtRecord<'_>) -> Option<u64> {
        let found = if self.header.root.is_defined() && self.header.root_records > 0 {
            let mut walk = TreeWalk { tree: self, checker, visit };
            walk.node(self.header.depth, self.header.root, self.header.root_records.into())?
        } else {
            0
        };
        checker.same(NAME, self.address, "records in the tree", self.header.total_records, found);
        Some(found)
    }
}

struct TreeWalk<'a, 'v> {
    tree: &'a Tree,
    checker: &'a mut Checker,
    visit: &'a mut AtRecord<'v>,
}

impl TreeWalk<'_, '_> {
    /// Visits a node of a version 2 B-tree and all nodes below it, and returns their number of
    /// records. The recursion ends: the level falls by one at each step down, and no tree has more
    /// than 64 levels.
    fn node(&mut self, level: u16, address: Address, records: u64) -> Option<u64> {
        let (tree, size) = (self.tree, self.tree.layout.record_size());
        if level == 0 {
            let context = tree.layout.leaf(records);
            let context = self.checker.decoded(BTreeV2Leaf::NAME, address, context)?;
            let leaf: BTreeV2Leaf = self.checker.block(address, &context, tree.kind)?;
            for record in leaf.records.chunks_exact(size) {
                (self.visit)(self.checker, record);
            }
            return Some(records);
        }
        let context = tree.layout.internal(level, records);
        let context = self.checker.decoded(BTreeV2Internal::NAME, address, context)?;
        let node: BTreeV2Internal = self.checker.block(address, &context, tree.kind)?;
        let mut between = node.records.chunks_exact(size);
        let mut total = Some(0_u64);
        for child in &node.children {
            if child.records == 0 {
                self.checker.fault(
                    BTreeV2Internal::NAME,
                    address,
                    format!("the child node at {} has no records", child.address),
                );
            }
            let found = self.node(level.saturating_sub(1), child.address, child.records);
            if let Some(found) = found {
                let subject = format!("records below the child at {}", child.address);
                self.checker.same(BTreeV2Internal::NAME, address, &subject, child.total, found);
            }
            let record = between.next();
            if let Some(record) = record {
                (self.visit)(self.checker, record);
            }
            let counted = u64::from(record.is_some());
            total = total.zip(found).map(|(total, found)| end_of(end_of(total, found), counted));
        }
        total
    }
}
