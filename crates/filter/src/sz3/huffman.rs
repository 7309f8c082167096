//! Integers by a Huffman code whose tree is told.
//!
//! ```text
//! bytes  | meaning
//! -------+------------------------------------------------------------------------------------
//! 4      | is added to every integer
//! 4      | nodes n of the tree, big-endian
//! 4      | big-endian; only to encode
//! 1      | 0 for little-endian numbers
//! n s    | first child of each node, 0 for none; s is 1 up to 256 nodes, 2 up to 65536, or else 4
//! n s    | second child of each node
//! 4 n    | integer of each node
//! n      | whether it is a leaf
//! 8      | bytes m that follow
//! m      | codes, highest bit of a byte first: 0 for the first child, 1 for the second; none if the root is a leaf
//! ```

use super::bytes::Bytes;
use super::{corrupt, unsupported};
use crate::Result;

/// Bits that are looked up at once.
const QUICK: usize = 8;

/// A node of the tree.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// 0 for none: the root is nobody's child.
    children: [usize; 2],
    integer: i32,
    is_leaf: bool,
}

/// Where some bits lead.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    node: Node,
    /// How many of the bits it takes.
    bits: usize,
}

/// Codes and what they stand for.
#[derive(Debug)]
pub(super) struct Codes<'a> {
    nodes: Vec<Node>,
    quick: Vec<Step>,
    bytes: &'a [u8],
    /// Bits that have been taken.
    at: usize,
}

impl<'a> Codes<'a> {
    pub(super) fn parse(bytes: &mut Bytes<'a>) -> Result<Self> {
        let nodes = parse_tree(bytes)?;
        let length = bytes.size()?;
        let mut codes = Self { nodes, quick: Vec::new(), bytes: bytes.take(length)?, at: 0 };
        codes.quick = (0..1 << QUICK).map(|bits| codes.follow(bits)).collect();
        Ok(codes)
    }

    /// Where these bits lead, as far as a leaf or a missing child.
    fn follow(&self, bits: usize) -> Step {
        let mut step = Step { node: self.nodes.first().copied().unwrap_or_default(), bits: 0 };
        while !step.node.is_leaf && step.bits < QUICK {
            let Some(node) = self.child(&step.node, bits >> (QUICK - 1 - step.bits) & 1 != 0) else { break };
            step = Step { node, bits: step.bits + 1 };
        }
        step
    }

    fn child(&self, node: &Node, is_second: bool) -> Option<Node> {
        let [first, second] = node.children;
        let child = if is_second { second } else { first };
        if child == 0 { None } else { self.nodes.get(child).copied() }
    }

    /// The next integer.
    #[inline]
    pub(super) fn next(&mut self) -> Result<i32> {
        let byte = |at: usize| usize::from(self.bytes.get(at).copied().unwrap_or(0));
        let window = byte(self.at / 8) << 8 | byte(self.at / 8 + 1);
        let bits = window >> (16 - QUICK - self.at % 8) & ((1 << QUICK) - 1);
        let step = self.quick.get(bits).copied().unwrap_or_default();
        let mut node = step.node;
        self.at += step.bits;
        while !node.is_leaf {
            let byte = self.bytes.get(self.at / 8).ok_or_else(|| corrupt("it has too few codes"))?;
            let bit = byte >> (7 - self.at % 8) & 1 != 0;
            node = self.child(&node, bit).ok_or_else(|| corrupt("a code is in no tree"))?;
            self.at += 1;
        }
        if self.at > self.bytes.len().saturating_mul(8) {
            return Err(corrupt("it has too few codes"));
        }
        Ok(node.integer)
    }
}

fn parse_tree(bytes: &mut Bytes<'_>) -> Result<Vec<Node>> {
    let offset = bytes.int()?;
    let count = bytes.small_size_big_endian()?;
    bytes.small_size_big_endian()?;
    if bytes.byte()? != 0 {
        return Err(unsupported("a tree of a big-endian machine"));
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
        // So no way through the tree comes back.
        if children.iter().any(|child| *child != 0 && (*child <= at || *child >= count)) {
            return Err(corrupt("its tree is none"));
        }
        let integer = i32::from_le_bytes(*integer).wrapping_add(offset);
        nodes.push(Node { children, integer, is_leaf: *kind != 0 });
    }
    if nodes.is_empty() { Err(corrupt("its tree is none")) } else { Ok(nodes) }
}

/// A little-endian number.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
