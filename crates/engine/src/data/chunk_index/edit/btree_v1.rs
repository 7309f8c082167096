//! Chunks into and out of a version 1 B-tree, whose root stays where it is.

use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node, ChunkKeys};
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::message::ChunkedLayout;
use smallvec::SmallVec;

use super::super::btree_v1::BTreeV1Index;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, ChunkLocation};
use super::btree_v1_keys::{Key, insert, key, keys, keys_mut, push, remove, replace, split_off};
use super::{IndexEdit, check_address};
use crate::error::{Error, Result};
use crate::index::{Walk, btree_v1};
use crate::store::{Edit, SpaceKind, Store};

/// A tree of chunks, once there is one.
#[derive(Debug)]
pub(super) struct BTreeV1Edit {
    pub(super) root: Address,
    pub(super) context: BTreeV1Context,
    chunk: Dims,
    element_size: u64,
}

/// A node on the way down, and the child it leads to.
#[derive(Debug, Clone, Copy)]
struct Step {
    address: Address,
    position: usize,
}

type Path = SmallVec<[Step; 6]>;

/// What a change of several nodes will do, once nothing can fail any more.
#[derive(Debug, Default)]
struct Plan {
    nodes: Vec<(Address, BTreeV1Node)>,
    allocated: Vec<Address>,
    freed: Vec<Address>,
}

impl BTreeV1Edit {
    pub(super) fn new(params: FileParams, layout: &ChunkedLayout, k: u16) -> Self {
        let kind = BTreeV1Kind::Chunks { rank: layout.dims.len() };
        Self {
            root: layout.address,
            context: BTreeV1Context { params, kind, k },
            chunk: layout.dims.clone(),
            element_size: layout.element_size,
        }
    }

    pub(super) fn node_bytes(&self) -> u64 {
        BTreeV1Node::size(&self.context) as u64
    }

    /// The key of a chunk.
    pub(super) fn key(&self, scaled: &[u64], location: &ChunkLocation) -> Result<Key> {
        check_address(location)?;
        let size = u32::try_from(location.size).map_err(|_| {
            let size = location.size;
            Error::Misuse(format!(
                "a chunk of {size} bytes under a version 1 B-tree, which holds chunks below 4 GiB"
            ))
        })?;
        let offset = self
            .offset(scaled)
            .ok_or_else(|| Error::Misuse(format!("chunk {scaled:?}: its first element passes 64 bits")))?;
        Ok(Key { size, filter_mask: location.filter_mask, offset })
    }

    fn offset(&self, scaled: &[u64]) -> Option<Dims> {
        let first = scaled.iter().zip(&self.chunk).map(|(at, size)| at.checked_mul(*size));
        first.chain([Some(0)]).collect()
    }

    /// The key behind the last chunk, as libhdf5 makes it: the chunk's corner, past all dimensions.
    pub(super) fn end_key(&self, last: &Key) -> Key {
        let sizes = self.chunk.iter().chain([&self.element_size]);
        let offset = last.offset.iter().zip(sizes).map(|(at, size)| at.saturating_add(*size)).collect();
        Key { size: 0, filter_mask: 0, offset }
    }

    pub(super) fn empty_leaf(&self) -> BTreeV1Node {
        let keys = ChunkKeys::new(self.chunk.len());
        let (left, right) = (Address::UNDEFINED, Address::UNDEFINED);
        BTreeV1Node { level: 0, left, right, keys: BTreeV1Keys::Chunks(keys), children: Vec::new() }
    }

    /// A node, which must stand one level below its parent.
    pub(super) fn node(
        &self,
        store: &Store,
        address: Address,
        above: Option<u8>,
    ) -> Result<Arc<BTreeV1Node>> {
        let node: Arc<BTreeV1Node> = store.shared(address, &self.context)?;
        btree_v1::check_level(node.level, above, address)?;
        keys(&node)?;
        Ok(node)
    }

    /// The way to the leaf where a chunk is or belongs, and whether it is there. In the leaf the position is that of the chunk
    /// itself, or of the one before it if there is one.
    fn search(&self, store: &Store, offset: &[u64]) -> Result<(Path, bool)> {
        let mut path = Path::new();
        let (mut address, mut above) = (self.root, None);
        loop {
            let node = self.node(store, address, above)?;
            let keys = keys(&node)?;
            let (mut low, mut high) = (0, node.children.len());
            while low < high {
                let middle = low.midpoint(high);
                if keys.offset(middle).is_some_and(|at| at <= offset) {
                    low = middle.saturating_add(1);
                } else {
                    high = middle;
                }
            }
            let position = low.saturating_sub(1);
            path.push(Step { address, position });
            let Some(child) = node.children.get(position).filter(|_| node.level > 0) else {
                return Ok((path, low > 0 && keys.offset(position) == Some(offset)));
            };
            (address, above) = (*child, Some(node.level));
        }
    }

    fn location(&self, store: &Store, step: Step) -> Result<Option<ChunkLocation>> {
        let node = self.node(store, step.address, None)?;
        let (Some(key), Some(address)) = (key(keys(&node)?, step.position), node.children.get(step.position))
        else {
            return Ok(None);
        };
        let (size, filter_mask) = (key.size.into(), key.filter_mask);
        Ok(Some(ChunkLocation { address: *address, size, filter_mask }))
    }

    /// The root, made if there is none.
    pub(super) fn make_root(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if !self.root.is_defined() {
            let mut leaf = self.empty_leaf();
            let zeros = Dims::from_elem(0, self.chunk.len().saturating_add(1));
            push(keys_mut(&mut leaf)?, &Key { size: 0, filter_mask: 0, offset: zeros });
            self.root = edit.add(SpaceKind::BTree, &self.context, leaf)?;
        }
        Ok(())
    }

    /// Changes the chunk that a way leads to, and the keys above that repeat its key.
    fn change(&self, edit: &mut Edit<'_>, path: &Path, key: &Key, address: Address) -> Result<()> {
        for (depth, step) in path.iter().enumerate().rev() {
            let first = edit.modify(step.address, &self.context, |node: &mut BTreeV1Node| {
                if depth.saturating_add(1) == path.len()
                    && let Some(child) = node.children.get_mut(step.position)
                {
                    *child = address;
                }
                let keys = keys_mut(node)?;
                if keys.offset(step.position) == Some(&key.offset) {
                    replace(keys, step.position, key);
                }
                Ok::<_, Error>(step.position == 0)
            })??;
            if !first {
                break;
            }
        }
        Ok(())
    }

    /// Inserts a chunk at the end of a way, where there is none.
    fn insert_at(&self, edit: &mut Edit<'_>, path: &Path, key: &Key, address: Address) -> Result<()> {
        let mut plan = Plan::default();
        let planned = self.plan_insert(edit, &mut plan, path, key, address);
        plan.finish(edit, &self.context, planned)
    }

    fn plan_insert(
        &self,
        edit: &mut Edit<'_>,
        plan: &mut Plan,
        path: &Path,
        new: &Key,
        address: Address,
    ) -> Result<()> {
        // What comes into the node: a chunk into the leaf, a node beside its left half above.
        let mut coming = Some((new.clone(), address));
        let mut ends: Option<[Key; 2]> = None;
        for (depth, step) in path.iter().enumerate().rev() {
            let old = self.node(edit.store(), step.address, None)?;
            let count = old.children.len();
            let mut node = (*old).clone();
            let level = node.level;
            let node_keys = keys_mut(&mut node)?;
            if let Some([first, last]) = ends.take() {
                // The child may begin earlier and end later than it did.
                if node_keys.offset(step.position).is_some_and(|key| key >= first.offset.as_slice()) {
                    replace(node_keys, step.position, &first);
                }
                let end = step.position.saturating_add(1);
                if end == count && node_keys.offset(end).is_some_and(|key| key < last.offset.as_slice()) {
                    replace(node_keys, end, &last);
                }
            }
            let mut at = step.position.saturating_add(1).min(count);
            if let Some((key, child)) = coming.take() {
                if level == 0 && node_keys.offset(0).is_none_or(|first| *first > *key.offset) {
                    at = 0;
                }
                if count == 0 {
                    super::btree_v1_keys::truncate(node_keys, 0);
                    push(node_keys, &self.end_key(&key));
                }
                insert(node_keys, at, &key);
                let end = node_keys.len().saturating_sub(1);
                if node_keys.offset(end).is_some_and(|end| *end <= *key.offset) {
                    replace(node_keys, end, &self.end_key(&key));
                }
                node.children.insert(at, child);
            }
            if node.children.len() > self.context.capacity() {
                let left = (*step, depth == 0, at);
                (coming, ends) = self.split(edit, plan, left, node)?;
            } else {
                ends = ends_of(&node)?;
                let same = ends_of(&old)?.zip(ends.clone()).is_some_and(|(before, after)| before == after);
                plan.nodes.push((step.address, node));
                if same && count > 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Splits a node with one child too many; gives the new node and what the old one's first and last keys are.
    /// The root's content moves away, and the root points at both halves.
    #[expect(clippy::type_complexity, reason = "two halves of one answer")]
    fn split(
        &self,
        edit: &mut Edit<'_>,
        plan: &mut Plan,
        (step, is_root, at): (Step, bool, usize),
        mut left: BTreeV1Node,
    ) -> Result<(Option<(Key, Address)>, Option<[Key; 2]>)> {
        let count = left.children.len();
        // Where chunks come one behind or before the other, full nodes are left behind.
        let keep = if at.saturating_add(1) == count && !left.right.is_defined() {
            count.saturating_sub(1)
        } else if at == 0 && !left.left.is_defined() {
            1
        } else {
            count / 2
        };
        let right_address = plan.allocate(edit, self.node_bytes())?;
        let left_address = if is_root { plan.allocate(edit, self.node_bytes())? } else { step.address };
        let left_keys = keys_mut(&mut left)?;
        let right_keys = split_off(left_keys, keep);
        let between = key(&right_keys, 0).ok_or_else(|| too_few(step.address))?;
        push(left_keys, &between);
        let right = BTreeV1Node {
            level: left.level,
            left: left_address,
            right: left.right,
            keys: BTreeV1Keys::Chunks(right_keys),
            children: left.children.split_off(keep),
        };
        if right.right.is_defined() {
            let mut neighbour = (*self.node(edit.store(), right.right, None)?).clone();
            neighbour.left = right_address;
            plan.nodes.push((right.right, neighbour));
        }
        left.right = right_address;
        let [first, _] = ends_of(&left)?.ok_or_else(|| too_few(step.address))?;
        let [_, last] = ends_of(&right)?.ok_or_else(|| too_few(step.address))?;
        if is_root {
            let level = left
                .level
                .checked_add(1)
                .ok_or_else(|| Error::Misuse("a version 1 B-tree of more than 255 levels".into()))?;
            let mut keys = ChunkKeys::new(self.chunk.len());
            [&first, &between, &last].into_iter().for_each(|key| push(&mut keys, key));
            let root = BTreeV1Node {
                level,
                keys: BTreeV1Keys::Chunks(keys),
                children: vec![left_address, right_address],
                ..self.empty_leaf()
            };
            plan.nodes.push((step.address, root));
        }
        plan.nodes.push((left_address, left));
        plan.nodes.push((right_address, right));
        Ok((Some((between, right_address)), Some([first, last])))
    }

    fn plan_remove(&self, edit: &Edit<'_>, plan: &mut Plan, path: &Path) -> Result<()> {
        let store = edit.store();
        let mut gone = true;
        let mut first: Option<Key> = None;
        for (depth, step) in path.iter().enumerate().rev() {
            let mut node = (*self.node(store, step.address, None)?).clone();
            let at = step.position;
            if gone {
                if node.children.len() <= 1 && depth > 0 {
                    self.unlink(store, plan, &node)?;
                    plan.freed.push(step.address);
                    continue;
                }
                if at < node.children.len() {
                    node.children.remove(at);
                }
                remove(keys_mut(&mut node)?, at);
                gone = false;
            } else if let Some(first) = first.take() {
                replace(keys_mut(&mut node)?, at, &first);
            }
            first = key(keys(&node)?, 0).filter(|_| at == 0);
            if depth == 0 {
                node = self.shrunk_root(store, plan, node)?;
            }
            plan.nodes.push((step.address, node));
            if first.is_none() && depth > 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes a node out of the row of its level.
    fn unlink(&self, store: &Store, plan: &mut Plan, node: &BTreeV1Node) -> Result<()> {
        if node.left.is_defined() {
            let mut left = (*self.node(store, node.left, None)?).clone();
            left.right = node.right;
            if let Some([_, last]) = ends_of(node)? {
                let end = left.keys.len().saturating_sub(1);
                replace(keys_mut(&mut left)?, end, &last);
            }
            plan.nodes.push((node.left, left));
        }
        if node.right.is_defined() {
            let mut right = (*self.node(store, node.right, None)?).clone();
            right.left = node.left;
            plan.nodes.push((node.right, right));
        }
        Ok(())
    }

    /// The root without what it does not need: levels of one child, or any if it has no child at all.
    fn shrunk_root(&self, store: &Store, plan: &mut Plan, mut root: BTreeV1Node) -> Result<BTreeV1Node> {
        while let ([child], true) = (root.children.as_slice(), root.level > 0) {
            let address = *child;
            let planned = plan.nodes.iter().position(|(planned, _)| *planned == address);
            let node = match planned {
                Some(at) => plan.nodes.remove(at).1,
                None => (*self.node(store, address, Some(root.level))?).clone(),
            };
            plan.freed.push(address);
            root = BTreeV1Node { left: Address::UNDEFINED, right: Address::UNDEFINED, ..node };
        }
        if root.children.is_empty() {
            root.level = 0;
        }
        Ok(root)
    }
}

fn too_few(address: Address) -> Error {
    Error::corrupt(BTreeV1Node::NAME, "keys", "one more than children", "fewer").at(address)
}

/// The first and the last key.
fn ends_of(node: &BTreeV1Node) -> Result<Option<[Key; 2]>> {
    let keys = keys(node)?;
    let last = keys.len().checked_sub(1).and_then(|last| key(keys, last));
    Ok(key(keys, 0).zip(last).map(|(first, last)| [first, last]))
}

impl Plan {
    fn allocate(&mut self, edit: &mut Edit<'_>, bytes: u64) -> Result<Address> {
        let address = edit.allocate(SpaceKind::BTree, bytes)?;
        self.allocated.push(address);
        Ok(address)
    }

    fn finish(self, edit: &mut Edit<'_>, context: &BTreeV1Context, planned: Result<()>) -> Result<()> {
        let bytes = BTreeV1Node::size(context) as u64;
        let freed = if planned.is_ok() { self.freed } else { self.allocated };
        for address in freed {
            edit.free(SpaceKind::BTree, address, bytes)?;
        }
        planned?;
        for (address, node) in self.nodes {
            edit.put(address, context, node);
        }
        Ok(())
    }
}

impl IndexEdit for BTreeV1Edit {
    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let Some(offset) = self.offset(scaled).filter(|_| self.root.is_defined()) else { return Ok(None) };
        let (path, found) = self.search(store, &offset)?;
        match path.last() {
            Some(step) if found => self.location(store, *step),
            _ => Ok(None),
        }
    }

    fn is_empty(&self) -> bool {
        !self.root.is_defined()
    }

    fn set(
        &mut self,
        edit: &mut Edit<'_>,
        scaled: &[u64],
        location: &ChunkLocation,
    ) -> Result<Option<ChunkLocation>> {
        let key = self.key(scaled, location)?;
        self.make_root(edit)?;
        let (path, found) = self.search(edit.store(), &key.offset)?;
        match path.last() {
            Some(step) if found => {
                let before = self.location(edit.store(), *step)?;
                self.change(edit, &path, &key, location.address)?;
                Ok(before)
            }
            _ => self.insert_at(edit, &path, &key, location.address).map(|()| None),
        }
    }

    fn extend(&mut self, edit: &mut Edit<'_>, chunks: &[(Dims, ChunkLocation)]) -> Result<()> {
        let Some((first, _)) = chunks.first() else { return Ok(()) };
        let ascending = chunks.is_sorted_by(|(one, _), (other, _)| one < other);
        if !ascending || !self.is_behind(edit.store(), first)? {
            return chunks.iter().try_for_each(|(scaled, place)| self.set(edit, scaled, place).map(drop));
        }
        self.append(edit, chunks)
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let Some(offset) = self.offset(scaled).filter(|_| self.root.is_defined()) else { return Ok(None) };
        let (path, found) = self.search(edit.store(), &offset)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let before = self.location(edit.store(), *step)?;
        let mut plan = Plan::default();
        let planned = self.plan_remove(edit, &mut plan, &path);
        plan.finish(edit, &self.context, planned)?;
        Ok(before)
    }

    fn for_each(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        if !self.root.is_defined() {
            return Ok(());
        }
        BTreeV1Index::new(store, self.root, self.context.k, &self.chunk).for_each_in(store, chunks, visit)
    }

    fn free(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if !self.root.is_defined() {
            return Ok(());
        }
        let mut guard = Walk::new(edit.store(), BTreeV1Node::NAME);
        let (mut pending, mut nodes) = (vec![(self.root, None)], Vec::new());
        while let Some((address, above)) = pending.pop() {
            guard.enter(address)?;
            let node = self.node(edit.store(), address, above)?;
            if node.level > 0 {
                pending.extend(node.children.iter().map(|child| (*child, Some(node.level))));
            }
            nodes.push(address);
        }
        for address in nodes {
            edit.free(SpaceKind::BTree, address, self.node_bytes())?;
        }
        self.root = Address::UNDEFINED;
        Ok(())
    }

    fn note(&self, layout: &mut ChunkedLayout) {
        layout.address = self.root;
    }
}

impl BTreeV1Edit {
    /// Whether all chunks of the tree come before this one.
    fn is_behind(&self, store: &Store, scaled: &[u64]) -> Result<bool> {
        let Some(offset) = self.offset(scaled) else { return Ok(false) };
        if !self.root.is_defined() {
            return Ok(true);
        }
        let (path, found) = self.search(store, &offset)?;
        for (depth, step) in path.iter().enumerate() {
            let node = self.node(store, step.address, None)?;
            let is_leaf = depth.saturating_add(1) == path.len();
            if step.position.saturating_add(1) < node.children.len()
                || (is_leaf && keys(&node)?.offset(0).is_some_and(|first| *first > *offset))
            {
                return Ok(node.children.is_empty());
            }
        }
        Ok(!found)
    }
}
