//! Version 2 B-trees: walks and look-ups here, changes below. Records stay bytes; their meaning is the caller's.
//!
//! Changes keep what libhdf5 relies on: no node has more records than its split percentage allows, no node but the root
//! fewer than the merge percentage asks for.

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

use hyperslab_format::btree_v2::{BTreeV2Child, BTreeV2Header, BTreeV2Internal, BTreeV2Layout, BTreeV2Leaf};
use hyperslab_format::codec::{Address, FileParams, FormatError, Structure as _};

use super::Walk;
use crate::error::{Error, Result};
use crate::store::{Store, at};

pub use append::Appender;
pub use delete::AtDeleted;
pub use edit::BTreeV2Creation;

/// How a record lies to what is looked for: `Less` when it comes before.
pub type Compare<'a> = dyn FnMut(&[u8]) -> Result<Ordering, FormatError> + 'a;

/// How the first of two records lies to the second.
pub type Order<'a> = dyn Fn(&[u8], &[u8]) -> Ordering + 'a;

/// What is done with each record; `Break` ends the walk.
pub type AtRecord<'a> = dyn FnMut(&[u8]) -> Result<ControlFlow<()>> + 'a;

/// A tree by its header. One that [`open`](Self::open) gave is for reading, and is as the tree was then.
#[derive(Debug, Clone)]
pub struct BTreeV2 {
    header: BTreeV2Header,
    layout: BTreeV2Layout,
    params: FileParams,
    address: Address,
}

impl BTreeV2 {
    /// Reads the header at `address`.
    pub fn open(store: &Store, address: Address) -> Result<Arc<Self>> {
        let params = store.params();
        store.keep(address, &params, BTreeV2Header::size(&params) as u64, || {
            let header: Arc<BTreeV2Header> = store.shared(address, &params)?;
            Self::of((*header).clone(), params, address)
        })
    }

    fn of(header: BTreeV2Header, params: FileParams, address: Address) -> Result<Self> {
        let layout = at(BTreeV2Layout::new(&header, params), address)?;
        Ok(Self { header, layout, params, address })
    }

    /// Where the header lies.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The header.
    pub fn header(&self) -> &BTreeV2Header {
        &self.header
    }

    /// Calls `visit` for the records that `compare` finds `Equal`, in order. `compare` must be monotonic:
    /// `Less` up to the first of them, `Greater` after the last.
    pub fn walk_range(
        &self,
        store: &Store,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        self.walk_checked(store, None, compare, visit)
    }

    /// As [`walk_range`](Self::walk_range). With an `order`, nodes on the way are held to it: records must ascend, within
    /// a node and between those around it above, and the totals in pointers must be those of the nodes.
    pub fn walk_checked(
        &self,
        store: &Store,
        order: Option<&Order<'_>>,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        self.walk_as(store, order, false, compare, visit)
    }

    /// Leaves are kept for the next walk, unless all of them are `passing`.
    fn walk_as(
        &self,
        store: &Store,
        order: Option<&Order<'_>>,
        passing: bool,
        compare: &mut Compare<'_>,
        visit: &mut AtRecord<'_>,
    ) -> Result<()> {
        let guard = Walk::new(store, "version 2 B-tree");
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

    /// Calls `visit` for all records in order.
    pub fn walk(&self, store: &Store, visit: &mut AtRecord<'_>) -> Result<()> {
        self.walk_as(store, None, true, &mut |_| Ok(Ordering::Equal), visit)
    }

    /// The first record that `compare` finds `Equal`.
    pub fn find(&self, store: &Store, compare: &mut Compare<'_>) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        self.walk_range(store, compare, &mut |record| {
            found = Some(record.to_vec());
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// One of several records side by side.
    fn record<'r>(&self, records: &'r [u8], position: usize) -> Option<&'r [u8]> {
        let size = self.layout.record_size();
        let start = position.checked_mul(size)?;
        records.get(start..start.checked_add(size)?)
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

/// The records above before and behind a node.
type Around<'r> = [Option<&'r [u8]>; 2];

struct RangeWalk<'a, 'f> {
    store: &'a Store,
    tree: &'a BTreeV2,
    guard: Walk,
    order: Option<&'a Order<'f>>,
    passing: bool,
    compare: &'a mut Compare<'f>,
    visit: &'a mut AtRecord<'f>,
}

impl RangeWalk<'_, '_> {
    /// `around` are the records above between which the node lies.
    fn node(&mut self, level: u16, child: BTreeV2Child, around: Around<'_>) -> Result<ControlFlow<()>> {
        if level == 0 {
            let leaf = self.leaf_at(child, around);
            return match self.store.forgive(leaf)? {
                Some(leaf) => self.leaf(&leaf.records, child.address),
                None => Ok(ControlFlow::Continue(())),
            };
        }
        let node = self.internal_at(level, child, around);
        let Some(node) = self.store.forgive(node)? else { return Ok(ControlFlow::Continue(())) };
        let record = |position: usize| self.tree.record(&node.records, position);
        let [left, right] = around;
        let first = self.first_not_less(&node.records, child.address)?;
        for (position, grandchild) in node.children.iter().enumerate().skip(first) {
            // Records below this child lie between the two neighbours.
            let before = position.checked_sub(1).and_then(record).or(left);
            let behind = record(position);
            if self.node(level.saturating_sub(1), *grandchild, [before, behind.or(right)])?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(behind) = behind else { break };
            if at((self.compare)(behind), child.address)? != Ordering::Equal {
                break;
            }
            if (self.visit)(behind)?.is_break() {
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

    /// That the node is what `entry` says, and its records ascend.
    fn check(
        &self,
        records: &[u8],
        children: &[BTreeV2Child],
        entry: BTreeV2Child,
        [left, right]: Around<'_>,
    ) -> Result<()> {
        let Some(order) = self.order else { return Ok(()) };
        let total = children.iter().fold(entry.records, |total, child| total.saturating_add(child.total));
        if total != entry.total {
            let field = "total number of records";
            return Err(Error::corrupt(NODE, field, total.to_string(), entry.total).at(entry.address));
        }
        let inside = records.chunks_exact(self.tree.layout.record_size());
        let all = || left.into_iter().chain(inside.clone()).chain(right);
        if all().zip(all().skip(1)).any(|(one, next)| order(one, next) != Ordering::Less) {
            let got = "one that is not behind the one before";
            return Err(Error::corrupt(NODE, "records", "ascending ones", got).at(entry.address));
        }
        Ok(())
    }

    /// Only the records in range, found by bisection.
    fn leaf(&mut self, records: &[u8], address: Address) -> Result<ControlFlow<()>> {
        let size = self.tree.layout.record_size();
        let first = self.first_not_less(records, address)?;
        for record in records.chunks_exact(size).skip(first) {
            if at((self.compare)(record), address)? != Ordering::Equal {
                break;
            }
            if (self.visit)(record)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The position of the first of these records that does not come before what is looked for.
    fn first_not_less(&mut self, records: &[u8], address: Address) -> Result<usize> {
        let size = self.tree.layout.record_size();
        let (mut low, mut high) = (0, records.len().checked_div(size).unwrap_or(0));
        while low < high {
            let middle = low.midpoint(high);
            let record = self.tree.record(records, middle).unwrap_or_default();
            if at((self.compare)(record), address)? == Ordering::Less {
                low = middle.saturating_add(1);
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
