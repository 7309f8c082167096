//! Version 1 B-trees: levels, siblings and the order of keys.

use std::cmp::Ordering;

use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};

use crate::extents::BlockKind;
use crate::file::Checker;

const NAME: &str = BTreeV1Node::NAME;

/// The position of a key in a version 1 B-tree: the node that stores the key, and the number of the
/// key in the node.
pub(crate) type Key<'a> = (&'a BTreeV1Node, usize);

/// The operations on the keys and leaves of a version 1 B-tree that differ between the B-trees of
/// groups and of chunks.
pub(crate) trait Leaves {
    /// Compares two keys of a version 1 B-tree. Returns `None` if a key cannot be decoded.
    fn compare(&self, one: Key<'_>, other: Key<'_>) -> Option<Ordering>;

    /// Checks a leaf of a version 1 B-tree: a node of level 0.
    fn leaf(&mut self, checker: &mut Checker, address: Address, node: &BTreeV1Node);
}

/// Walks a version 1 B-tree from its root node. Returns true if all nodes could be read.
pub(crate) fn walk(
    checker: &mut Checker,
    root: Address,
    context: BTreeV1Context,
    kind: BlockKind,
    leaves: &mut dyn Leaves,
) -> bool {
    let mut walk = Walk { checker, context, kind, leaves, latest: Vec::new() };
    let complete = walk.node(root, None, None);
    if complete {
        walk.ends();
    }
    complete
}

struct Walk<'a> {
    checker: &'a mut Checker,
    context: BTreeV1Context,
    kind: BlockKind,
    leaves: &'a mut dyn Leaves,
    /// For each level: the node that was visited last, and the address of the right sibling that
    /// this node states.
    latest: Vec<Option<(Address, Address)>>,
}

impl Walk<'_> {
    /// Visits a node of a version 1 B-tree and all nodes below it. The recursion ends, because the
    /// level falls by one at each step down.
    fn node(&mut self, address: Address, level: Option<u8>, above: Option<Key<'_>>) -> bool {
        let Some(node) = self.checker.block::<BTreeV1Node>(address, &self.context, self.kind) else {
            return false;
        };
        if let Some(level) = level
            && level != node.level
        {
            let text = format!("level {}, expected {level}", node.level);
            self.checker.fault(NAME, address, text);
            return false;
        }
        self.siblings(address, &node);
        self.keys(address, &node, above);
        if node.level == 0 {
            self.leaves.leaf(self.checker, address, &node);
            return true;
        }
        if node.children.is_empty() {
            self.checker.fault(
                NAME,
                address,
                format!("the B-tree node at level {} has no children", node.level),
            );
        }
        let mut complete = true;
        for (position, child) in node.children.iter().enumerate() {
            complete &= self.node(*child, Some(node.level.saturating_sub(1)), Some((&node, position)));
        }
        complete
    }

    fn siblings(&mut self, address: Address, node: &BTreeV1Node) {
        let level = usize::from(node.level);
        if self.latest.len() <= level {
            self.latest.resize(level + 1, None);
        }
        let Some(latest) = self.latest.get_mut(level) else { return };
        let before = latest.replace((address, node.right));
        let (left, right) = before.unwrap_or((Address::UNDEFINED, address));
        if node.left != left {
            self.checker.fault(
                NAME,
                address,
                format!("the node states the left sibling {}, but its left neighbour is {left}", node.left),
            );
        }
        if right != address {
            self.checker.fault(
                NAME,
                left,
                format!("the node states the right sibling {right}, but its right neighbour is {address}"),
            );
        }
    }

    fn ends(&mut self) {
        for (address, right) in std::mem::take(&mut self.latest).into_iter().flatten() {
            if right.is_defined() {
                self.checker.fault(
                    NAME,
                    address,
                    format!("the last node of a level states the right sibling {right}"),
                );
            }
        }
    }

    fn keys(&mut self, address: Address, node: &BTreeV1Node, above: Option<Key<'_>>) {
        for position in 0..node.children.len() {
            let next = position + 1;
            match self.leaves.compare((node, position), (node, next)) {
                Some(Ordering::Less) => {}
                Some(_) => {
                    self.checker.fault(
                        NAME,
                        address,
                        format!("the key {position} of the node must be less than the next key"),
                    );
                }
                None => {
                    self.checker.fault(
                        NAME,
                        address,
                        format!("the key {position} or {next} of the node cannot be decoded"),
                    );
                }
            }
        }
        let Some((parent, position)) = above else { return };
        let (first, last) = ((node, 0), (node, node.children.len()));
        let starts = self.leaves.compare((parent, position), first);
        let ends = self.leaves.compare(last, (parent, position + 1));
        if starts == Some(Ordering::Greater) || ends == Some(Ordering::Greater) {
            self.checker.fault(
                NAME,
                address,
                "the node has keys outside the range that its parent node states",
            );
        }
    }
}
