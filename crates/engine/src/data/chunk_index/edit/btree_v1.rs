//! Changes of a version 1 B-tree of chunks. The root keeps its address.

use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node, ChunkKeys};
use hyperslab_format::codec::{Address, FileParams, Structure as _};
use hyperslab_format::message::ChunkedLayout;
use smallvec::SmallVec;

use super::super::btree_v1::BTreeV1Index;
use super::super::entry::check_address;
use super::super::{AtChunk, ChunkBox, ChunkIndex as _, ChunkLocation, Note};
use super::IndexEdit;
use super::btree_v1_keys::{ChunkKey, key, keys, keys_mut, push, replace};
use crate::error::{Error, Result};
use crate::index::{VisitedBlocks, btree_v1};
use crate::store::{Edit, SpaceKind, Store};

/// An editor of a version 1 B-tree of chunks. The address of the root is undefined while the B-tree
/// does not exist.
#[derive(Debug)]
pub(super) struct BTreeV1Edit {
    pub(super) root: Address,
    pub(super) context: BTreeV1Context,
    pub(super) chunk: Dims,
    element_size: u64,
}

/// A node on a path from the root through a version 1 B-tree of chunks, and the index of the child
/// at which the path continues.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathNode {
    pub(super) address: Address,
    pub(super) position: usize,
}

pub(super) type Path = SmallVec<[PathNode; 6]>;

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

    /// Returns the version 1 B-tree key of a chunk, from its coordinates and its location.
    pub(super) fn key(&self, scaled: &[u64], location: &ChunkLocation) -> Result<ChunkKey> {
        let mut key = ChunkKey { size: 0, filter_mask: 0, offset: Dims::new() };
        self.set_key(&mut key, scaled, location)?;
        Ok(key)
    }

    /// Sets `key` to the version 1 B-tree key of a chunk, from its coordinates and its location.
    pub(super) fn set_key(&self, key: &mut ChunkKey, scaled: &[u64], location: &ChunkLocation) -> Result<()> {
        check_address(location.address)?;
        key.size = u32::try_from(location.size).map_err(|_| {
            let size = location.size;
            Error::Misuse(format!(
                "a chunk of {size} bytes cannot be in a version 1 B-tree, which holds chunks below 4 GiB"
            ))
        })?;
        key.filter_mask = location.filter_mask;
        key.offset.clear();
        for (at, size) in scaled.iter().zip(&self.chunk) {
            key.offset.push(at.checked_mul(*size).ok_or_else(|| {
                Error::Misuse(format!("chunk {scaled:?}: the offset of its first element exceeds 64 bits"))
            })?);
        }
        key.offset.push(0);
        Ok(())
    }

    fn offset(&self, scaled: &[u64]) -> Option<Dims> {
        let first = scaled.iter().zip(&self.chunk).map(|(at, size)| at.checked_mul(*size));
        first.chain([Some(0)]).collect()
    }

    /// Returns the last key of a version 1 B-tree node, which marks the end behind its last chunk.
    /// In each dimension, its coordinate is the first one after the chunk, as in libhdf5.
    pub(super) fn end_key(&self, last: &ChunkKey) -> ChunkKey {
        let sizes = self.chunk.iter().chain([&self.element_size]);
        let offset = last
            .offset
            .iter()
            .zip(sizes)
            // Saturates because the key is an upper bound: no chunk begins at the largest offset.
            .map(|(at, size)| at.saturating_add(*size))
            .collect();
        ChunkKey { size: 0, filter_mask: 0, offset }
    }

    pub(super) fn empty_leaf(&self) -> BTreeV1Node {
        let keys = ChunkKeys::new(self.chunk.len());
        let (left, right) = (Address::UNDEFINED, Address::UNDEFINED);
        BTreeV1Node { level: 0, left, right, keys: BTreeV1Keys::Chunks(keys), children: Vec::new() }
    }

    /// Returns a node of the version 1 B-tree of chunks. Checks that the level of the node is one
    /// less than `above`, the level of its parent.
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

    /// Searches a chunk in a version 1 B-tree. Returns the path from the root to the leaf of the
    /// chunk, and whether the leaf has the chunk. The path ends with the index of the chunk, or of
    /// the preceding chunk, in the leaf.
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
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            // A chunk that precedes all chunks of the tree belongs to the first child.
            let position = low.max(1) - 1;
            path.push(PathNode { address, position });
            let Some(child) = node.children.get(position).filter(|_| node.level > 0) else {
                return Ok((path, low > 0 && keys.offset(position) == Some(offset)));
            };
            (address, above) = (*child, Some(node.level));
        }
    }

    fn location(&self, store: &Store, step: PathNode) -> Result<Option<ChunkLocation>> {
        let node = self.node(store, step.address, None)?;
        let (Some(key), Some(address)) = (key(keys(&node)?, step.position), node.children.get(step.position))
        else {
            return Ok(None);
        };
        let (size, filter_mask) = (key.size.into(), key.filter_mask);
        Ok(Some(ChunkLocation { address: *address, size, filter_mask }))
    }

    /// Creates the root node of a version 1 B-tree of chunks if the B-tree has none.
    pub(super) fn make_root(&mut self, edit: &mut Edit<'_>) -> Result<()> {
        if !self.root.is_defined() {
            let mut leaf = self.empty_leaf();
            let zeros = Dims::from_elem(0, self.chunk.len() + 1);
            push(keys_mut(&mut leaf)?, &ChunkKey { size: 0, filter_mask: 0, offset: zeros });
            self.root = edit.add(SpaceKind::BTree, &self.context, leaf)?;
        }
        Ok(())
    }

    /// Changes the address and the key of the chunk at the end of a path through the nodes of a
    /// version 1 B-tree. Also changes the copies of the key in the nodes above the leaf.
    fn change(&self, edit: &mut Edit<'_>, path: &Path, key: &ChunkKey, address: Address) -> Result<()> {
        for (depth, step) in path.iter().enumerate().rev() {
            let first = edit.modify(step.address, &self.context, |node: &mut BTreeV1Node| {
                if depth + 1 == path.len() {
                    let invariant = "the path to a chunk ends at the chunk";
                    let child = node.children.get_mut(step.position);
                    *child.ok_or(Error::Internal { structure: "B-tree of chunks", invariant })? = address;
                }
                let keys = keys_mut(node)?;
                if keys.offset(step.position) == Some(&key.offset) {
                    replace(keys, step.position, key)?;
                }
                Ok::<_, Error>(step.position == 0)
            })??;
            if !first {
                break;
            }
        }
        Ok(())
    }
}

impl IndexEdit<ChunkLocation> for BTreeV1Edit {
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

    fn has_none_of(&self, store: &Store, chunks: &[(Dims, ChunkLocation)]) -> Result<bool> {
        if chunks.first().map_or(Ok(true), |(first, _)| self.is_behind(store, first))? {
            return Ok(true);
        }
        for (scaled, _) in chunks {
            if self.get(store, scaled)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
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
            return chunks
                .iter()
                .try_for_each(|(scaled, location)| self.set(edit, scaled, location).map(drop));
        }
        self.append(edit, chunks)
    }

    fn remove(&mut self, edit: &mut Edit<'_>, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let Some(offset) = self.offset(scaled).filter(|_| self.root.is_defined()) else { return Ok(None) };
        let (path, found) = self.search(edit.store(), &offset)?;
        let Some(step) = path.last().filter(|_| found) else { return Ok(None) };
        let before = self.location(edit.store(), *step)?;
        self.remove_at(edit, &path)?;
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
        let mut guard = VisitedBlocks::new(edit.store(), BTreeV1Node::NAME);
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

    fn note(&self) -> Note<ChunkLocation> {
        Note::Index(self.root)
    }
}

impl BTreeV1Edit {
    /// Returns whether the chunk with the given coordinates comes after all chunks of the version 1
    /// B-tree, in the order of the keys.
    fn is_behind(&self, store: &Store, scaled: &[u64]) -> Result<bool> {
        let Some(offset) = self.offset(scaled) else { return Ok(false) };
        if !self.root.is_defined() {
            return Ok(true);
        }
        let (path, found) = self.search(store, &offset)?;
        for (depth, step) in path.iter().enumerate() {
            let node = self.node(store, step.address, None)?;
            let is_leaf = depth + 1 == path.len();
            if step.position + 1 < node.children.len()
                || (is_leaf && keys(&node)?.offset(0).is_some_and(|first| *first > *offset))
            {
                return Ok(node.children.is_empty());
            }
        }
        Ok(!found)
    }
}
