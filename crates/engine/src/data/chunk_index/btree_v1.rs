//! Chunks under a version 1 B-tree, keyed by the coordinates of their first element.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_format::btree_v1::{
    BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node, ChunkKeys, ChunkNodeView,
};
use hyperslab_format::codec::{Address, Structure as _};

use super::element::Latest;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::{Error, Result};
use crate::index::btree_v1;
use crate::store::{Bytes, Store, at};

/// The index of a dataset in the old format.
#[derive(Debug)]
pub(super) struct BTreeV1Index {
    root: Address,
    context: BTreeV1Context,
    chunk: Dims,
    leaf: Latest<Bytes>,
}

impl BTreeV1Index {
    pub(super) fn new(store: &Store, root: Address, k: u16, chunk: &[u64]) -> Self {
        let kind = BTreeV1Kind::Chunks { rank: chunk.len() };
        Self {
            root,
            context: BTreeV1Context { params: store.params(), kind, k },
            chunk: Dims::from_slice(chunk),
            leaf: Latest::new(),
        }
    }

    /// Coordinates of the first element of a chunk.
    fn first_element(&self, scaled: &[u64]) -> Dims {
        scaled.iter().zip(&self.chunk).map(|(at, size)| at.saturating_mul(*size)).collect()
    }

    fn visit_leaf(&self, leaf: &BTreeV1Node, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let keys = chunk_keys(leaf)?;
        let mut scaled = Dims::new();
        for (position, address) in leaf.children.iter().enumerate() {
            let Some(offset) = keys.offset(position) else { continue };
            scaled.clear();
            for (first, size) in offset.iter().zip(&self.chunk) {
                if first.checked_rem(*size) != Some(0) {
                    return Err(Error::corrupt(
                        BTreeV1Node::NAME,
                        "chunk offset",
                        format!("a multiple of the chunk's {size}"),
                        first,
                    ));
                }
                scaled.push(first.checked_div(*size).unwrap_or(0));
            }
            if chunks.contains(&scaled) {
                visit(&scaled, location(keys, position, *address))?;
            }
        }
        Ok(())
    }
}

impl ChunkIndex for BTreeV1Index {
    fn kind(&self) -> ChunkIndexKind {
        ChunkIndexKind::BTreeV1
    }

    fn get(&self, store: &Store, scaled: &[u64]) -> Result<Option<ChunkLocation>> {
        let wanted = self.first_element(scaled);
        let mut address = self.root;
        let mut above = None;
        loop {
            let size = BTreeV1Node::size(&self.context) as u64;
            let bytes = match above {
                // Leaves are too many to be kept: the one that was read last will do.
                Some(1) => self
                    .leaf
                    .get(address, || store.read_alone(address, size, BTreeV1Node::NAME).map(Arc::new))?,
                _ => Arc::new(store.read(address, size, BTreeV1Node::NAME)?),
            };
            let node = at(ChunkNodeView::new(&bytes, &self.context), address)?;
            btree_v1::check_level(node.level(), above, address)?;
            let Some(position) = node.find(&wanted) else { return Ok(None) };
            let Some(entry) = node.entry(position) else { return Ok(None) };
            if node.level() > 0 {
                above = Some(node.level());
                address = entry.child;
                continue;
            }
            let is_it = node.compare(position, &wanted) == Some(Ordering::Equal);
            let location = ChunkLocation {
                address: entry.child,
                size: entry.size.into(),
                filter_mask: entry.filter_mask,
            };
            return Ok(is_it.then_some(location));
        }
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let first = self.first_element(&chunks.first);
        let last = self.first_element(&chunks.last);
        btree_v1::walk(
            store,
            self.root,
            &self.context,
            &mut |node, position| {
                // Below a child lie the chunks from its key up to, not including, the next key.
                node.keys.as_chunks().is_none_or(|keys| {
                    compare(keys, position, &last) != Ordering::Greater
                        && compare(keys, position.saturating_add(1), &first) == Ordering::Greater
                })
            },
            &mut |leaf| {
                store.forgive(self.visit_leaf(leaf, chunks, visit))?;
                Ok(ControlFlow::Continue(()))
            },
        )
    }
}

fn chunk_keys(node: &BTreeV1Node) -> Result<&ChunkKeys> {
    match &node.keys {
        BTreeV1Keys::Chunks(keys) => Ok(keys),
        BTreeV1Keys::Group(_) => Err(Error::corrupt(BTreeV1Node::NAME, "node type", "1 (chunks)", 0)),
    }
}

/// How key `position` lies to the chunk whose first element is `wanted`. The key behind a node's last chunk may
/// have that chunk's own coordinates and differ only in the last one, the place in the element.
fn compare(keys: &ChunkKeys, position: usize, wanted: &[u64]) -> Ordering {
    match keys.offset(position).and_then(|offset| offset.split_at_checked(wanted.len())) {
        Some((offset, within)) => offset
            .cmp(wanted)
            .then_with(|| if within.iter().any(|at| *at != 0) { Ordering::Greater } else { Ordering::Equal }),
        None => Ordering::Greater,
    }
}

fn location(keys: &ChunkKeys, position: usize, address: Address) -> ChunkLocation {
    ChunkLocation {
        address,
        size: u64::from(keys.sizes.get(position).copied().unwrap_or(0)),
        filter_mask: keys.filter_masks.get(position).copied().unwrap_or(0),
    }
}
