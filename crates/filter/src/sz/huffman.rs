//! The Huffman codes of an SZ stream.
//!
//! ```text
//! bytes of a tree of n nodes | meaning
//! ---------------------------+--------------------------------------------------------------------
//! 1                          | 0: the following numbers are little-endian
//! n times s                  | the child for a bit 0 (0: none); s is 1 up to 256 nodes, 2 up to
//!                            | 65536, otherwise 4
//! n times s                  | the child for a bit 1
//! n times 4                  | the symbol
//! n                          | 1 for a leaf
//! ```
//! The first node is the root. Bits are read from the most significant bit of each byte.

use crate::Result;

use super::bytes::Bytes;
use super::corrupt;

/// The maximum number of bits that one lookup in the Huffman table of an SZ stream decodes.
const MAX_LOOKUP_BITS: u32 = 11;

#[derive(Debug, Clone, Copy)]
struct Node {
    next: [u32; 2],
    symbol: u32,
    is_leaf: bool,
}

/// A Huffman tree of an SZ stream.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Parses a Huffman tree of `count` nodes from the SZ stream.
    pub(super) fn parse(bytes: &mut Bytes<'_>, count: usize) -> Result<Self> {
        let size = match count {
            0 => return Err(corrupt("a Huffman tree has no nodes")),
            1..=256 => 1,
            257..=65536 => 2,
            _ => 4,
        };
        if bytes.byte()? != 0 {
            return Err(super::unsupported("a big-endian Huffman tree"));
        }
        let mut array = |size: usize| {
            let length =
                count.checked_mul(size).ok_or_else(|| corrupt("a Huffman tree has too many nodes"))?;
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
        // In a large tree, the leaf flag of the root is invalid.
        if let Some(root) = nodes.first_mut().filter(|_| count > 256) {
            root.is_leaf = false;
        }
        Ok(Self { nodes })
    }

    /// Parses the number of nodes, skips another number, and parses the Huffman tree from the SZ
    /// stream.
    pub(super) fn parse_with_count(bytes: &mut Bytes<'_>) -> Result<Self> {
        let count = bytes.count()?;
        bytes.word()?;
        Self::parse(bytes, count)
    }

    /// Returns the child of a node of an SZ stream's Huffman tree for the bit `bit`.
    #[inline]
    fn step(&self, node: Node, bit: bool) -> Result<Node> {
        let [zero, one] = node.next;
        let next = if bit { one } else { zero };
        let at = usize::try_from(next).ok().filter(|at| *at != 0);
        at.and_then(|at| self.nodes.get(at))
            .copied()
            .ok_or_else(|| corrupt("a Huffman code is not in its tree"))
    }

    /// Builds the lookup table for the Huffman tree of an SZ stream. An entry states the node that
    /// a combination of `bits` bits leads to, and the number of bits up to a leaf. An entry is
    /// [`None`] if the tree lacks the node.
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

    /// Decodes `count` symbols of the SZ stream from the Huffman codes `codes`.
    pub(super) fn decode(&self, codes: &[u8], count: usize) -> Result<Vec<u32>> {
        let root = *self.nodes.first().ok_or_else(|| corrupt("a Huffman tree has no nodes"))?;
        if root.is_leaf {
            return Ok(vec![root.symbol; count]);
        }
        if codes.len() < count.div_ceil(8) {
            return Err(corrupt("the Huffman codes are truncated"));
        }
        let bits = self.nodes.len().ilog2().clamp(1, MAX_LOOKUP_BITS);
        let table = self.table(root, bits);
        let mut source = Source { rest: codes, buffer: 0, held: 0 };
        let mut symbols = Vec::with_capacity(count);
        for _ in 0..count {
            source.fill();
            let entry = usize::try_from(source.buffer >> (64 - bits)).ok().and_then(|code| table.get(code));
            let entry = entry.copied().flatten();
            let (mut node, used) = entry.ok_or_else(|| corrupt("a Huffman code is not in its tree"))?;
            source.skip(used)?;
            while !node.is_leaf {
                source.fill();
                let bit = source.buffer >> 63 != 0;
                source.skip(1)?;
                node = self.step(node, bit)?;
            }
            symbols.push(node.symbol);
        }
        Ok(symbols)
    }
}

/// A reader of the bits of an SZ stream's Huffman codes.
struct Source<'a> {
    rest: &'a [u8],
    /// The buffered bits. The next bits are the high `held` bits; the bits below them are zero.
    buffer: u64,
    held: u32,
}

impl Source<'_> {
    #[inline]
    fn fill(&mut self) {
        if self.held > 32 {
            return;
        }
        if let Some((word, rest)) = self.rest.split_first_chunk() {
            self.buffer |= u64::from(u32::from_be_bytes(*word)) << (32 - self.held);
            self.held += 32;
            self.rest = rest;
            return;
        }
        while let Some((byte, rest)) = self.rest.split_first().filter(|_| self.held <= 56) {
            self.buffer |= u64::from(*byte) << (56 - self.held);
            self.held += 8;
            self.rest = rest;
        }
    }

    #[inline]
    fn skip(&mut self, count: u32) -> Result<()> {
        self.held = self.held.checked_sub(count).ok_or_else(|| corrupt("the Huffman codes are truncated"))?;
        self.buffer <<= count;
        Ok(())
    }
}
