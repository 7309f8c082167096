//! The Huffman codes of a stream.
//!
//! ```text
//! bytes of a tree of n nodes | meaning
//! ---------------------------+------------------------------------------------------------------------------------
//! 1                          | 0: what follows has its least significant bytes first
//! n times s                  | the node after a bit 0 (0: none); s is 1 up to 256 nodes, 2 up to 65536, 4 beyond
//! n times s                  | the node after a bit 1
//! n times 4                  | the symbol
//! n                          | 1 for a leaf
//! ```
//! The first node is the root. The most significant bit of a byte is the first.

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;

/// Bits that are looked up at once, at most.
const MOST: u32 = 11;

#[derive(Debug, Clone, Copy)]
struct Node {
    next: [u32; 2],
    symbol: u32,
    is_leaf: bool,
}

/// A tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Takes a tree of `count` nodes.
    pub(super) fn parse(bytes: &mut Bytes<'_>, count: usize) -> Result<Self> {
        let size = match count {
            0 => return Err(corrupt("a tree without nodes")),
            1..=256 => 1,
            257..=65536 => 2,
            _ => 4,
        };
        if bytes.byte()? != 0 {
            return Err(super::unsupported("a stream of a big-endian machine"));
        }
        let mut array = |size: usize| {
            let length = count.checked_mul(size).ok_or_else(|| corrupt("the nodes of a tree"))?;
            Ok(bytes.take(length)?.chunks_exact(size))
        };
        let (zeros, ones, symbols, leaves) = (array(size)?, array(size)?, array(4)?, array(1)?);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        let nodes = zeros.zip(ones).zip(symbols.zip(leaves));
        let nodes = nodes.map(|((zero, one), (symbol, leaf))| Node {
            next: [number(zero), number(one)],
            symbol: number(symbol),
            is_leaf: number(leaf) != 0,
        });
        let mut nodes: Vec<Node> = nodes.collect();
        // In a large tree, what is told of the root does not count.
        if let Some(root) = nodes.first_mut().filter(|_| count > 256) {
            root.is_leaf = false;
        }
        Ok(Self { nodes })
    }

    /// Takes the number of nodes, another number, and the tree.
    pub(super) fn parse_with_count(bytes: &mut Bytes<'_>) -> Result<Self> {
        let count = bytes.count()?;
        bytes.word()?;
        Self::parse(bytes, count)
    }

    /// Goes from a node along a bit.
    #[inline]
    fn step(&self, node: Node, bit: bool) -> Result<Node> {
        let [zero, one] = node.next;
        let next = if bit { one } else { zero };
        let at = usize::try_from(next).ok().filter(|at| *at != 0);
        at.and_then(|at| self.nodes.get(at)).copied().ok_or_else(|| corrupt("a code that is not in its tree"))
    }

    /// For all bits that may come next: where they lead, and how many they are up to a leaf.
    fn table(&self, root: Node, bits: u32) -> Vec<Option<(Node, u32)>> {
        let entry = |code: u32| {
            let (mut node, mut used) = (root, 0);
            while !node.is_leaf && used < bits {
                node = self.step(node, code >> (bits - 1 - used) & 1 != 0).ok()?;
                used += 1;
            }
            Some((node, used))
        };
        (0..1 << bits).map(entry).collect()
    }

    /// Decodes `count` symbols.
    pub(super) fn decode(&self, codes: &[u8], count: usize) -> Result<Vec<u32>> {
        let root = *self.nodes.first().ok_or_else(|| corrupt("a tree without nodes"))?;
        if root.is_leaf {
            return Ok(vec![root.symbol; count]);
        }
        if codes.len() < count.div_ceil(8) {
            return Err(corrupt("its codes are cut off"));
        }
        let bits = self.nodes.len().ilog2().clamp(1, MOST);
        let table = self.table(root, bits);
        let mut source = Source { rest: codes, waiting: 0, held: 0 };
        let mut symbols = Vec::with_capacity(count);
        for _ in 0..count {
            source.fill();
            let entry = usize::try_from(source.waiting >> (64 - bits)).ok().and_then(|code| table.get(code));
            let entry = entry.copied().flatten();
            let (mut node, used) = entry.ok_or_else(|| corrupt("a code that is not in its tree"))?;
            source.skip(used)?;
            while !node.is_leaf {
                source.fill();
                let bit = source.waiting >> 63 != 0;
                source.skip(1)?;
                node = self.step(node, bit)?;
            }
            symbols.push(node.symbol);
        }
        Ok(symbols)
    }
}

/// Codes, as bits.
struct Source<'a> {
    rest: &'a [u8],
    /// Its high `held` bits come next; those below are zeros.
    waiting: u64,
    held: u32,
}

impl Source<'_> {
    #[inline]
    fn fill(&mut self) {
        if self.held > 32 {
            return;
        }
        if let Some((word, rest)) = self.rest.split_first_chunk() {
            self.waiting |= u64::from(u32::from_be_bytes(*word)) << (32 - self.held);
            self.held += 32;
            self.rest = rest;
            return;
        }
        while let Some((byte, rest)) = self.rest.split_first().filter(|_| self.held <= 56) {
            self.waiting |= u64::from(*byte) << (56 - self.held);
            self.held += 8;
            self.rest = rest;
        }
    }

    #[inline]
    fn skip(&mut self, count: u32) -> Result<()> {
        self.held = self.held.checked_sub(count).ok_or_else(|| corrupt("its codes are cut off"))?;
        self.waiting <<= count;
        Ok(())
    }
}
