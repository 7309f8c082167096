//! Version 1 B-trees of chunks, with the coordinates of the chunks' first elements as keys.

use std::cmp::Ordering;
use std::sync::Arc;

use hyperslab_dataspace::Dims;
use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Kind, BTreeV1Node, ChunkEntry, ChunkNodeView};
use hyperslab_format::codec::{Address, Structure as _};

use super::element::LatestBlock;
use super::{AtChunk, ChunkBox, ChunkIndex, ChunkIndexKind, ChunkLocation};
use crate::error::{Error, Result};
use crate::index::{VisitedBlocks, btree_v1};
use crate::store::{Bytes, Store, at};

/// Highest root level at which a chunk index keeps all leaves of its version 1 B-tree in memory. A
/// B-tree with such a root has few leaves.
const MAX_KEPT_ROOT_LEVEL: u8 = 2;

/// A chunk index in the format of HDF5 before 1.10: a version 1 B-tree.
#[derive(Debug)]
pub(super) struct BTreeV1Index {
    root: Address,
    context: BTreeV1Context,
    chunk: Dims,
    leaf: LatestBlock<Bytes>,
}

impl BTreeV1Index {
    pub(super) fn new(store: &Store, root: Address, k: u16, chunk: &[u64]) -> Self {
        let kind = BTreeV1Kind::Chunks { rank: chunk.len() };
        Self {
            root,
            context: BTreeV1Context { params: store.params(), kind, k },
            chunk: Dims::from_slice(chunk),
            leaf: LatestBlock::new(),
        }
    }

    /// Returns the bytes of a node of the version 1 B-tree of a chunk index.
    fn node(&self, store: &Store, address: Address, is_leaf: bool, is_low: bool) -> Result<Arc<Bytes>> {
        let size = BTreeV1Node::size(&self.context) as u64;
        if !is_leaf {
            return store.read(address, size, BTreeV1Node::NAME).map(Arc::new);
        }
        let uncached = || store.read_uncached(address, size, BTreeV1Node::NAME);
        if is_low && !store.is_writable() {
            return store.keep(address, &(), size, uncached);
        }
        // In a large tree, only the leaf that was read last is kept.
        self.leaf.get(address, || uncached().map(Arc::new))
    }

    /// Returns the coordinates of a chunk's first element in the dataset. Returns `None` if a
    /// coordinate exceeds 64 bits; a B-tree cannot contain such a chunk.
    fn first_element(&self, scaled: &[u64]) -> Option<Dims> {
        scaled.iter().zip(&self.chunk).map(|(at, size)| at.checked_mul(*size)).collect()
    }

    fn visit_leaf(
        &self,
        (address, leaf): (Address, &ChunkNodeView<'_>),
        chunks: &ChunkBox,
        visit: &mut AtChunk<'_>,
    ) -> Result<()> {
        let mut scaled = Dims::new();
        for position in 0..leaf.len() {
            let (Some(offset), Some(entry)) = (leaf.offset(position), leaf.entry(position)) else { continue };
            scaled.clear();
            for (first, size) in offset.zip(&self.chunk) {
                if first.checked_rem(*size) != Some(0) {
                    return Err(Error::corrupt(
                        BTreeV1Node::NAME,
                        "chunk offset",
                        format!("a multiple of the chunk's {size}"),
                        first,
                    )
                    .at(address));
                }
                scaled.push(first.checked_div(*size).unwrap_or(0));
            }
            if chunks.contains(&scaled) {
                visit(&scaled, location(&entry))?;
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
        let Some(wanted) = self.first_element(scaled) else { return Ok(None) };
        let mut address = self.root;
        let (mut above, mut is_low) = (None, false);
        loop {
            let bytes = self.node(store, address, above == Some(1), is_low)?;
            let node = at(ChunkNodeView::new(&bytes, &self.context), address)?;
            btree_v1::check_level(node.level(), above, address)?;
            is_low |= above.is_none() && node.level() <= MAX_KEPT_ROOT_LEVEL;
            let Some(position) = node.find(&wanted) else { return Ok(None) };
            let Some(entry) = node.entry(position) else { return Ok(None) };
            if node.level() > 0 {
                above = Some(node.level());
                address = entry.child;
                continue;
            }
            let is_found = node.compare(position, &wanted) == Some(Ordering::Equal);
            return Ok(is_found.then(|| location(&entry)));
        }
    }

    fn for_each_in(&self, store: &Store, chunks: &ChunkBox, visit: &mut AtChunk<'_>) -> Result<()> {
        let Some(first) = self.first_element(&chunks.first) else { return Ok(()) };
        // This is an upper bound of the keys, so a saturated value is correct, too.
        let last = chunks.last.iter().zip(&self.chunk);
        let last: Dims = last.map(|(at, size)| at.saturating_mul(*size)).collect();
        let mut guard = VisitedBlocks::new(store, BTreeV1Node::NAME);
        let mut pending = vec![(self.root, None)];
        let mut is_low = false;
        while let Some((address, above)) = pending.pop() {
            let bytes =
                guard.enter(address).and_then(|()| self.node(store, address, above == Some(1), is_low));
            let Some(bytes) = store.forgive(bytes)? else { continue };
            let node = at(ChunkNodeView::new(&bytes, &self.context), address).and_then(|node| {
                btree_v1::check_level(node.level(), above, address)?;
                Ok(node)
            });
            let Some(node) = store.forgive(node)? else { continue };
            is_low |= above.is_none() && node.level() <= MAX_KEPT_ROOT_LEVEL;
            if node.level() == 0 {
                store.forgive(self.visit_leaf((address, &node), chunks, visit))?;
                continue;
            }
            for position in (0..node.len()).rev() {
                // A child has the chunks from its key up to the next key, exclusive.
                let begins = node.compare(position, &last);
                let ends = position.checked_add(1).and_then(|next| node.compare(next, &first));
                if begins != Some(Ordering::Greater)
                    && ends == Some(Ordering::Greater)
                    && let Some(entry) = node.entry(position)
                {
                    pending.push((entry.child, Some(node.level())));
                }
            }
        }
        Ok(())
    }

    fn bytes(&self, store: &Store) -> Result<u64> {
        Ok(btree_v1::node_count(store, self.root, &self.context)? * to_u64(BTreeV1Node::size(&self.context)))
    }
}

fn location(entry: &ChunkEntry) -> ChunkLocation {
    ChunkLocation { address: entry.child, size: entry.size.into(), filter_mask: entry.filter_mask }
}
