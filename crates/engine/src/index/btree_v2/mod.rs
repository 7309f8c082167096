//! Version 2 B-trees: walks and look-ups in this module, changes in the submodules. Records are
//! bytes; the callers interpret them.
//!
//! Changes keep two invariants that libhdf5 relies on: no node has more records than the split
//! percentage allows, and no node except the root has fewer than the merge percentage requires.

mod ahead;
mod append;
mod balance;
mod delete;
mod edit;
mod insert_sorted;
mod node;
mod republish;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Header, BTreeV2Internal, BTreeV2Layout, BTreeV2Leaf};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure as _};

use super::VisitedBlocks;
use crate::error::{Error, Result};
use crate::store::{Store, at};

pub use append::BTreeV2Appender;
pub use delete::AtDeleted;
pub use edit::BTreeV2Creation;
use node::{outside, record_range, sum_of_totals};

/// A function that compares a record of a version 2 B-tree with the searched record. `Less` means
/// that the record of the B-tree comes first.
pub type Compare<'a> = dyn FnMut(&[u8]) -> Result<Ordering, FormatError> + 'a;

/// A function that compares the order of two records of a version 2 B-tree.
pub type Order<'a> = dyn Fn(&[u8], &[u8]) -> Ordering + 'a;

/// A function that a walk over a version 2 B-tree calls for each record, with the bytes of the
/// record. The result `Break` ends the walk.
pub type AtRecord<'a> = dyn FnMut(&[u8]) -> Result<ControlFlow<()>> + 'a;

/// A version 2 B-tree. A value that [`open`](Self::open) returns is for reading only. Later changes
/// of the B-tree header do not affect the value.
#[derive(Debug, Clone)]
pub struct BTreeV2 {
    header: BTreeV2Header,
    layout: BTreeV2Layout,
    params: FileParams,
    address: Address,
}

impl BTreeV2 {
    /// Opens the version 2 B-tree with the header at `address` for reading.
    pub fn open(store: &Store, address: Address) -> Result<Arc<Self>> {
        let params = store.params();
        store.keep(address, &params, to_u64(BTreeV2Header::size(&params)), || {
            let header: Arc<BTreeV2Header> = store.shared(address, &params)?;
            Self::of((*header).clone(), params, address)
        })
    }

    fn of(header: BTreeV2Header, params: FileParams, address: Address) -> Result<Self> {
        let layout = at(BTreeV2Layout::new(&header, params), address)?;
        Ok(Self { header, layout, params, address })
    }

    /// Returns the address of the version 2 B-tree's header.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the header of the version 2 B-tree.
    pub fn header(&self) -> &BTreeV2Header {
        &self.header
    }

    /// Calls `visit` for the version 2 B-tree records for which `compare` returns `Equal`, in
    /// order. `compare` must be monotonic: `Less` before the first of these records, `Greater`
    /// after the last.
    pub fn walk_range(
        &self,
        store: &Store,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        self.walk_checked(store, None, compare, visit)
    }

    /// Calls `visit` for a range of version 2 B-tree records like [`walk_range`](Self::walk_range).
    /// If `order` is given, also checks each node on the path. The records of a node must ascend
    /// and lie between the neighbouring records in the nodes above. The totals in a pointer must
    /// equal the totals of the node.
    pub fn walk_checked(
        &self,
        store: &Store,
        order: Option<&Order<'_>>,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        self.walk_as(store, order, false, compare, visit)
    }

    /// Walks over the version 2 B-tree, and calls `visit` for the records for which `compare`
    /// returns `Equal`. Keeps the leaves in the metadata cache for the next walk, unless `passing`
    /// is true.
    fn walk_as(
        &self,
        store: &Store,
        order: Option<&Order<'_>>,
        passing: bool,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        let guard = VisitedBlocks::new(store, "version 2 B-tree");
        let mut walk = RangeWalk { store, tree: self, guard, order, passing, compare, visit };
        match self.root() {
            Some(root) => walk.node(self.header.depth, root, [None, None]).map(drop),
            None if order.is_some() && self.header.total_records > 0 => {
                let got = self.header.total_records;
                Err(Error::corrupt(BTreeV2Header::NAME, "total number of records in B-tree", "0", got)
                    .at(self.address))
            }
            None => Ok(()),
        }
    }

    /// Calls `visit` for all records of the version 2 B-tree in order.
    pub fn walk(&self, store: &Store, visit: &mut AtRecord<'_>) -> Result<()> {
        self.walk_as(store, None, true, &mut |_| Ok(Ordering::Equal), visit)
    }

    /// Returns the size of the version 2 B-tree in the file in bytes: its header and its nodes.
    pub fn bytes(&self, store: &Store) -> Result<u64> {
        let mut guard = VisitedBlocks::new(store, "version 2 B-tree");
        let mut nodes = 0;
        let mut pending: Vec<_> = self.root().map(|root| (self.header.depth, root)).into_iter().collect();
        while let Some((level, child)) = pending.pop() {
            nodes += 1;
            let Some(below) = level.checked_sub(1) else { continue };
            guard.enter(child.address)?;
            let context = at(self.layout.internal(level, child.records), self.address)?;
            let node: Arc<BTreeV2Internal> = store.shared(child.address, &context)?;
            if below == 0 {
                nodes += to_u64(node.children.len());
            } else {
                pending.extend(node.children.iter().map(|grandchild| (below, *grandchild)));
            }
        }
        Ok(to_u64(BTreeV2Header::size(&self.params)) + nodes * u64::from(self.header.node_size))
    }

    /// Returns the first record of the version 2 B-tree for which `compare` returns `Equal`.
    pub fn find(&self, store: &Store, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        self.walk_range(store, compare, &mut |record| {
            found = Some(record.to_vec());
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Returns the record with the index `position` from the bytes of all records of a version 2
    /// B-tree node.
    fn record<'r>(&self, records: &'r [u8], position: usize) -> Option<&'r [u8]> {
        records.get(record_range(position, self.layout.record_size()).ok()?)
    }

    fn root(&self) -> Option<BTreeV2Child> {
        let records = u64::from(self.header.root_records);
        (self.header.root.is_defined() && records > 0).then_some(BTreeV2Child {
            address: self.header.root,
            records,
            total: self.header.total_records,
        })
    }
}

const NODE: &str = "version 2 B-tree node";

/// The two records in higher nodes of a version 2 B-tree that directly surround the records of a
/// node: the record before them, and the record after them.
type Around<'r> = [Option<&'r [u8]>; 2];

struct RangeWalk<'a, 'f> {
    store: &'a Store,
    tree: &'a BTreeV2,
    guard: VisitedBlocks,
    order: Option<&'a Order<'f>>,
    passing: bool,
    compare: &'a mut Compare<'f>,
    visit: &'a mut AtRecord<'f>,
}

impl RangeWalk<'_, '_> {
    /// Calls `visit` for the wanted records of a version 2 B-tree node, to which `child` points.
    /// `around` holds the neighbouring records in higher nodes.
    fn node(&mut self, level: u16, child: BTreeV2Child, around: Around<'_>) -> Result<ControlFlow<()>> {
        let Some(below) = level.checked_sub(1) else {
            let leaf = self.leaf_at(child, around);
            return match self.store.forgive(leaf)? {
                Some(leaf) => self.leaf(&leaf.records, child.address),
                None => Ok(ControlFlow::Continue(())),
            };
        };
        let node = self.internal_at(level, child, around);
        let Some(node) = self.store.forgive(node)? else { return Ok(ControlFlow::Continue(())) };
        let record = |position: usize| self.tree.record(&node.records, position);
        let [left, right] = around;
        let first = self.first_not_less(&node.records, child.address)?;
        for (position, grandchild) in node.children.iter().enumerate().skip(first) {
            // The records below this child lie between these two records.
            let before = position.checked_sub(1).and_then(record).or(left);
            let after = record(position);
            if self.node(below, *grandchild, [before, after.or(right)])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(after) = after else { break };
            if at((self.compare)(after), child.address)? != Ordering::Equal {
                break;
            }
            if (self.visit)(after)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leaf_at(&mut self, child: BTreeV2Child, around: Around<'_>) -> Result<Arc<BTreeV2Leaf>> {
        self.guard.enter(child.address)?;
        let context = at(self.tree.layout.leaf(child.records), self.tree.address)?;
        let leaf: Arc<BTreeV2Leaf> = if self.passing {
            self.store.shared_once(child.address, &context)?
        } else {
            self.store.shared(child.address, &context)?
        };
        self.check(&leaf.records, &[], child, around)?;
        Ok(leaf)
    }

    fn internal_at(
        &mut self,
        level: u16,
        child: BTreeV2Child,
        around: Around<'_>,
    ) -> Result<Arc<BTreeV2Internal>> {
        self.guard.enter(child.address)?;
        let context = at(self.tree.layout.internal(level, child.records), self.tree.address)?;
        let node: Arc<BTreeV2Internal> = self.store.shared(child.address, &context)?;
        self.check(&node.records, &node.children, child, around)?;
        Ok(node)
    }

    /// Checks that a version 2 B-tree node has the number of records that the pointer to the node
    /// states, and that the records ascend.
    fn check(
        &self,
        records: &[u8],
        children: &[BTreeV2Child],
        entry: BTreeV2Child,
        [left, right]: Around<'_>,
    ) -> Result<()> {
        let Some(order) = self.order else { return Ok(()) };
        let total = sum_of_totals(entry.records, children);
        if total != Some(entry.total) {
            let expected = total
                .map_or("totals of children whose sum fits in 64 bits".into(), |total| total.to_string());
            let field = "total number of records";
            return Err(Error::corrupt(NODE, field, expected, entry.total).at(entry.address));
        }
        let inside = records.chunks_exact(self.tree.layout.record_size());
        let all = || left.into_iter().chain(inside.clone()).chain(right);
        if all().zip(all().skip(1)).any(|(one, next)| order(one, next) != Ordering::Less) {
            let got = "a record that is not greater than the previous record";
            return Err(Error::corrupt(NODE, "records", "ascending records", got).at(entry.address));
        }
        Ok(())
    }

    /// Finds the records of a version 2 B-tree leaf in the searched range by bisection. Calls
    /// `visit` for each of them.
    fn leaf(&mut self, records: &[u8], address: Address) -> Result<ControlFlow<()>> {
        let size = self.tree.layout.record_size();
        let first = self.first_not_less(records, address)?;
        let mut wanted = records.chunks_exact(size).skip(first);
        // If the first and the last record are in the range, so are the records between them.
        let mut all_equal = true;
        for end in [wanted.clone().next(), records.chunks_exact(size).next_back()].into_iter().flatten() {
            all_equal = all_equal && at((self.compare)(end), address)? == Ordering::Equal;
        }
        for record in &mut wanted {
            if !all_equal && at((self.compare)(record), address)? != Ordering::Equal {
                break;
            }
            if (self.visit)(record)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the index of the first record in a version 2 B-tree node that does not come before
    /// the searched range.
    fn first_not_less(&mut self, records: &[u8], address: Address) -> Result<usize> {
        let size = self.tree.layout.record_size();
        let (mut low, mut high) = (0, records.len() / size);
        while low < high {
            let middle = low.midpoint(high);
            let record = self.tree.record(records, middle).ok_or_else(outside)?;
            if at((self.compare)(record), address)? == Ordering::Less {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
