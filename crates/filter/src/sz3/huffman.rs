//! The integers of an SZ3 chunk in a Huffman code with a stored tree.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | offset that is added to every integer
//! 4      | number of nodes n of the tree, big-endian
//! 4      | big-endian number; used only by the encoder
//! 1      | 0 for little-endian numbers
//! n s    | first child of each node, 0 for none; s is 1 up to 256 nodes, 2 up to 65536, otherwise
//!        | 4
//! n s    | second child of each node
//! 4 n    | integer of each node
//! n      | true for each leaf
//! 8      | number m of following bytes
//! m      | codes, highest bit of a byte first: 0 for the first child, 1 for the second; none if
//!        | the root is a leaf
//! ```

use super::bytes::Bytes;
use super::{corrupt, unsupported};
use crate::Result;

/// The number of bits that one lookup in the Huffman table of an SZ3 chunk decodes.
const LOOKUP_BITS: usize = 8;

/// A node of an SZ3 chunk's Huffman tree.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// The indices of the children; 0 stands for none, because the root is no child.
    children: [usize; 2],
    integer: i32,
    is_leaf: bool,
}

/// One step of the Huffman decoder of SZ3, from a table lookup: the node that is reached, and the
/// number of bits that lead to it.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    node: Node,
    /// The number of bits from the root to `node`.
    bits: usize,
}

/// A reader of integers that an SZ3 chunk stores as Huffman codes.
#[derive(Debug)]
pub(super) struct Codes<'a> {
    nodes: Vec<Node>,
    lookup: Vec<Step>,
    bytes: &'a [u8],
    /// The number of bits that have been read.
    at: usize,
}

impl<'a> Codes<'a> {
    pub(super) fn parse(bytes: &mut Bytes<'a>) -> Result<Self> {
        let nodes = parse_tree(bytes)?;
        let length = bytes.size()?;
        let mut codes = Self { nodes, lookup: Vec::new(), bytes: bytes.take(length)?, at: 0 };
        codes.lookup = (0..1 << LOOKUP_BITS).map(|bits| codes.follow(bits)).collect();
        Ok(codes)
    }

    /// Follows bits from the root of an SZ3 Huffman tree, up to a leaf or a missing child.
    fn follow(&self, bits: usize) -> Step {
        let mut step = Step { node: self.nodes.first().copied().unwrap_or_default(), bits: 0 };
        while !step.node.is_leaf && step.bits < LOOKUP_BITS {
            let Some(node) = self.child(&step.node, bits >> (LOOKUP_BITS - 1 - step.bits) & 1 != 0) else {
                break;
            };
            step = Step { node, bits: step.bits + 1 };
        }
        step
    }

    fn child(&self, node: &Node, is_second: bool) -> Option<Node> {
        let [first, second] = node.children;
        let child = if is_second { second } else { first };
        if child == 0 { None } else { self.nodes.get(child).copied() }
    }

    /// Decodes the next integer of the SZ3 chunk from its Huffman code.
    #[inline]
    pub(super) fn next(&mut self) -> Result<i32> {
        let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or(0));
        let window = byte(self.at / 8) << 8 | byte(self.at / 8 + 1);
        let bits = window >> (16 - LOOKUP_BITS - self.at % 8) & ((1 << LOOKUP_BITS) - 1);
        let step = self.lookup.get(bits).copied().unwrap_or_default();
        let mut node = step.node;
        self.at += step.bits;
        while !node.is_leaf {
            let byte =
                self.bytes.get(self.at / 8).ok_or_else(|| corrupt("the Huffman codes are truncated"))?;
            let bit = byte >> (7 - self.at % 8) & 1 != 0;
            node = self.child(&node, bit).ok_or_else(|| corrupt("a Huffman code is not in its tree"))?;
            self.at += 1;
        }
        if self.at > self.bytes.len().saturating_mul(8) {
            return Err(corrupt("the Huffman codes are truncated"));
        }
        Ok(node.integer)
    }
}

fn parse_tree(bytes: &mut Bytes<'_>) -> Result<Vec<Node>> {
    let offset = bytes.int()?;
    let count = bytes.size_32_big_endian()?;
    bytes.size_32_big_endian()?;
    if bytes.byte()? != 0 {
        return Err(unsupported("a big-endian Huffman tree"));
    }
    let size = match count {
        0..=256 => 1,
        257..=65536 => 2,
        _ => 4,
    };
    let first = bytes.items(count, size)?;
    let second = bytes.items(count, size)?;
    let integers = bytes.items(count, 4)?.as_chunks().0;
    let kinds = bytes.take(count)?;
    let children = first.chunks_exact(size).zip(second.chunks_exact(size));
    let mut nodes = Vec::with_capacity(count);
    for (at, (((first, second), integer), kind)) in children.zip(integers).zip(kinds).enumerate() {
        let children = [number(first), number(second)];
        // Children have larger indices than their parents, so no path contains a cycle.
        if children.iter().any(|child| *child != 0 && (*child <= at || *child >= count)) {
            return Err(corrupt("a node of the Huffman tree has an invalid child"));
        }
        let integer = i32::from_le_bytes(*integer).wrapping_add(offset);
        nodes.push(Node { children, integer, is_leaf: *kind != 0 });
    }
    if nodes.is_empty() { Err(corrupt("the Huffman tree has no nodes")) } else { Ok(nodes) }
}

/// Reads a little-endian number from the bytes of the SZ3 Huffman tree.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
