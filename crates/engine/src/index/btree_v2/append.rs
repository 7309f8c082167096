//! Many records behind the last one: nodes are filled one after the other and never looked at again.

use hyperslab_format::btree_v2::BTreeV2Child;
use hyperslab_format::codec::Address;

use super::balance::Changes;
use super::node::{Node, Step};
use super::{BTreeV2, Compare};
use crate::error::Result;
use crate::store::{Edit, SpaceKind, Store};

/// Takes records in ascending order, all behind those that the tree has.
#[derive(Debug)]
pub struct Appender<'t, 'e, 'a> {
    tree: &'t mut BTreeV2,
    edit: &'e mut Edit<'a>,
    /// The last node of each level from the leaves up. The last child of each but the first stands before it here and has
    /// no pointer yet.
    edge: Vec<(Address, Node)>,
    size: usize,
}

impl BTreeV2 {
    /// Returns whether `compare` finds all records `Less`.
    ///
    /// # Errors
    /// The errors of `compare` and of reading nodes.
    pub fn is_behind(&self, store: &Store, compare: &mut Compare<'_>) -> Result<bool> {
        let (path, found) = self.search(store, compare)?;
        Ok(!found && path.iter().all(|step| step.position as u64 == step.child.records))
    }

    /// Lets `feed` push records, about as many as are `expected`, that come behind all that are there, in ascending
    /// order. What was pushed is in the tree even if `feed` fails.
    ///
    /// # Errors
    /// The errors of `feed`, of reading nodes and of [`Edit::allocate`].
    pub fn append<'a>(
        &mut self,
        edit: &mut Edit<'a>,
        expected: usize,
        feed: impl FnOnce(&mut Appender<'_, '_, 'a>) -> Result<()>,
    ) -> Result<()> {
        let mut edge = self.open_edge(edit)?;
        self.pack_edge(edit, &mut edge, expected)?;
        let size = self.layout.record_size();
        let mut appender = Appender { tree: self, edit, edge, size };
        let fed = feed(&mut appender);
        appender.close()?;
        fed
    }

    /// The last node of each level, from the leaves up, without their pointers to each other.
    fn open_edge(&mut self, edit: &mut Edit<'_>) -> Result<Vec<(Address, Node)>> {
        let Some(mut child) = self.root() else {
            self.set_depth(0)?;
            return Ok(Vec::new());
        };
        let mut edge = Vec::new();
        for level in (0..=self.header.depth).rev() {
            let mut node = self.copy(edit.store(), level, child)?;
            let address = child.address;
            if let Some(last) = node.children.pop() {
                child = last;
            }
            edge.push((address, node));
        }
        edge.reverse();
        Ok(edge)
    }
}

impl BTreeV2 {
    /// Fills the nodes before the last ones from those, where so many records come that these will still have enough.
    fn pack_edge(&self, edit: &mut Edit<'_>, edge: &mut [(Address, Node)], expected: usize) -> Result<()> {
        let (mut coming, mut filled) = (expected as u64, Vec::new());
        for level in 0..self.header.depth {
            let pair = edge.get_mut(usize::from(level)..).unwrap_or_default();
            let [(_, node), (_, parent), ..] = pair else { break };
            filled.extend(self.pack(edit.store(), level, node, parent, coming)?.map(|node| (level, node)));
            // So many go into the level above.
            coming = coming.checked_div(self.capacity(level).saturating_add(1)).unwrap_or(0);
        }
        // Nothing was changed while it could not be read.
        filled.into_iter().try_for_each(|(level, (address, node))| self.put(edit, level, address, node))
    }

    /// Fills the node before the last one of a level from that; gives it back to be put into its place.
    fn pack(
        &self,
        store: &Store,
        level: u16,
        node: &mut Node,
        parent: &mut Node,
        coming: u64,
    ) -> Result<Option<(Address, Node)>> {
        let (size, capacity) = (self.layout.record_size(), self.capacity(level));
        let Some(before) = parent.children.last().copied().filter(|before| before.records < capacity) else {
            return Ok(None);
        };
        let total = before.records.saturating_add(node.count(size) as u64);
        if total.saturating_add(coming) < capacity.saturating_add(self.minimum(level)) {
            return Ok(None);
        }
        let mut left = self.copy(store, level, before)?;
        let last = parent.children.len().saturating_sub(1);
        let between = parent.remove(last, size);
        // The last node has no pointer to its last child, and the rest of it has none either.
        left = left.join(&between, node);
        let (between, right) = left.cut(usize::try_from(total.min(capacity)).unwrap_or(usize::MAX), size);
        parent.insert(last, &between);
        parent.set_child(last, left.entry(before.address, size));
        *node = right;
        Ok(Some((before.address, left)))
    }
}

impl Appender<'_, '_, '_> {
    /// Puts a record behind the last one.
    ///
    /// # Errors
    /// [`Error::Misuse`](crate::Error::Misuse) if it is not of the tree's size; as [`Edit::allocate`].
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        self.tree.check_size(record)?;
        let full = self.full(0);
        match self.edge.first_mut() {
            Some((_, leaf)) if (leaf.records.len() as u64) < full => {
                leaf.records.extend_from_slice(record);
                Ok(())
            }
            Some(_) => self.push_above(record),
            None => {
                self.edge = self.new_nodes(1)?;
                self.push(record)
            }
        }
    }

    /// Bytes of the records of a full node.
    fn full(&self, level: u16) -> u64 {
        self.tree.capacity(level).saturating_mul(self.size as u64)
    }

    /// Some fresh nodes; none is allocated if not all can be.
    fn new_nodes(&mut self, count: usize) -> Result<Vec<(Address, Node)>> {
        let room = usize::try_from(self.full(0)).unwrap_or(0);
        let mut nodes = Vec::with_capacity(count);
        while nodes.len() < count {
            match self.edit.allocate(SpaceKind::BTree, self.tree.node_bytes()) {
                Ok(address) => {
                    nodes.push((address, Node { records: Vec::with_capacity(room), children: Vec::new() }));
                }
                Err(error) => {
                    for (address, _) in nodes {
                        self.edit.free(SpaceKind::BTree, address, self.tree.node_bytes())?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(nodes)
    }

    /// The leaf is full: the record goes to the first node above that is not, and all below begin anew.
    fn push_above(&mut self, record: &[u8]) -> Result<()> {
        let mut level = 1_u16;
        while let Some((_, node)) = self.edge.get(usize::from(level)) {
            if (node.records.len() as u64) < self.full(level) {
                break;
            }
            level = level.saturating_add(1);
        }
        let mut fresh_count = usize::from(level);
        if fresh_count == self.edge.len() {
            self.tree.set_depth(level)?;
            self.tree.check_room(level)?;
            fresh_count = fresh_count.saturating_add(1);
        }
        let mut fresh = self.new_nodes(fresh_count)?;
        self.edge.extend(fresh.drain(usize::from(level)..));
        for (below, fresh) in (0..level).zip(fresh) {
            let Some(place) = self.edge.get_mut(usize::from(below)) else { break };
            let (address, node) = std::mem::replace(place, fresh);
            let entry = node.entry(address, self.size);
            self.tree.put(self.edit, below, address, node)?;
            if let Some((_, parent)) = self.edge.get_mut(usize::from(below).saturating_add(1)) {
                parent.children.push(entry);
            }
        }
        if let Some((_, node)) = self.edge.get_mut(usize::from(level)) {
            node.records.extend_from_slice(record);
        }
        Ok(())
    }

    /// Puts the last nodes back, with as many records as they must have.
    fn close(mut self) -> Result<()> {
        let mut entry: Option<BTreeV2Child> = None;
        let mut depth = 0;
        for (level, (address, mut node)) in (0_u16..).zip(std::mem::take(&mut self.edge)) {
            // Of a depth that was prepared and not reached nothing remains.
            depth = level;
            node.children.extend(entry);
            entry = Some(node.entry(address, self.size));
            self.tree.put(self.edit, level, address, node)?;
        }
        let Some(root) = entry else { return Ok(()) };
        self.tree.set_depth(depth)?;
        self.tree.set_root(root.address, root.records, root.total)?;
        self.tree.save(self.edit);
        self.tree.feed_edge(self.edit, root)
    }
}

impl BTreeV2 {
    /// Lets the last nodes that have too few records take some of their neighbours', the highest first: then each has
    /// a neighbour under the same parent.
    fn feed_edge(&mut self, edit: &mut Edit<'_>, root: BTreeV2Child) -> Result<()> {
        let mut child = root;
        for level in (1..=self.header.depth).rev() {
            let mut parent = self.copy(edit.store(), level, child)?;
            let below = level.saturating_sub(1);
            let (last, minimum) = (parent.children.len().saturating_sub(1), self.minimum(below));
            let Some(mut node) = parent.children.last().copied() else { return Ok(()) };
            if node.records < minimum && last > 0 {
                let content = self.copy(edit.store(), below, node)?;
                let step = Step { level: below, child: node, position: 0 };
                let mut changes = Changes::default();
                let pair = self.pair(edit, &parent, last, last.saturating_sub(1), (step, content))?;
                let left = pair.total.saturating_sub(minimum).min(self.capacity(below));
                self.share(&mut changes, &mut parent, below, pair, left);
                node = parent.children.last().copied().unwrap_or(node);
                changes.put(level, child.address, parent);
                changes.apply(self, edit)?;
            }
            child = node;
        }
        Ok(())
    }
}
