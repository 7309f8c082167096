//! Insertion of links into symbol tables.

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::{Link, LinkTarget};
use super::path::{PathNode, TablePath, change_keys, wrong_keys};
use super::{node_context, tree_context};
use crate::error::{Error, Result};
use crate::index::local_heap::LocalHeap;
use crate::store::{Edit, SpaceKind};

/// File-space kind of B-tree nodes and symbol table nodes of groups. A file can manage the free
/// space of each kind separately.
pub(super) const NODE_SPACE: SpaceKind = SpaceKind::BTree;

/// Creates a group's symbol table without links, with `names` bytes of space for names.
///
/// # Errors
/// Returns the errors of [`Edit::allocate`].
pub(in super::super) fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    names: u64,
) -> Result<SymbolTable> {
    let heap = LocalHeap::create(edit, names)?;
    let btree = edit.add(NODE_SPACE, &tree_context(container), empty_node())?;
    Ok(SymbolTable { btree, heap })
}

/// Returns a node without children of a group's version 1 B-tree.
pub(super) fn empty_node() -> BTreeV1Node {
    BTreeV1Node {
        level: 0,
        left: Address::UNDEFINED,
        right: Address::UNDEFINED,
        keys: BTreeV1Keys::Group(vec![0]),
        children: Vec::new(),
    }
}

/// Inserts a link into a group's symbol table. If the link refers to a group, also stores the
/// addresses of that group's symbol table. If the group already has a link with the same name,
/// returns `false` and changes nothing.
///
/// # Errors
/// Returns [`Error::Misuse`] for a link that a symbol table cannot store, read errors, and the
/// errors of [`Edit::allocate`].
pub(super) fn insert(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    link: &Link,
    cached: Option<SymbolTable>,
) -> Result<bool> {
    if link.name.is_empty() || link.name.contains(&0) {
        return Err(Error::Misuse(
            "the name of a link must not be empty and must not contain a zero byte".into(),
        ));
    }
    // Drop the heap before the insertion of names, so that the names are not copied.
    let path = TablePath::to(container, table, &LocalHeap::load(edit.store(), table.heap)?, &link.name)?;
    if path.found {
        return Ok(false);
    }
    let names: Vec<&[u8]> = texts(link)?.collect();
    let offsets = LocalHeap::insert_many(edit, table.heap, &names)?;
    let entry = entry_of(edit, link, cached, &mut offsets.into_iter())?;
    Inserting { container, edit, table }.entry(&path, entry)?;
    Ok(true)
}

/// Returns the texts of a link that a symbol table stores in the local heap: the name, and the path
/// of a soft link.
pub(super) fn texts(link: &Link) -> Result<impl Iterator<Item = &[u8]>> {
    let path = match &link.target {
        LinkTarget::Hard(_) => None,
        LinkTarget::Soft(path) => Some(&**path),
        LinkTarget::External { .. } | LinkTarget::UserDefined { .. } => {
            return Err(Error::Misuse(
                "a group with a symbol table can store only hard and soft links".into(),
            ));
        }
    };
    Ok(std::iter::once(&*link.name).chain(path))
}

/// Returns the symbol table entry of a link. `offsets` are the offsets of the link's [`texts`] in
/// the local heap.
pub(super) fn entry_of(
    edit: &Edit<'_>,
    link: &Link,
    cached: Option<SymbolTable>,
    offsets: &mut impl Iterator<Item = u64>,
) -> Result<SymbolTableEntry> {
    let no_offset = || Error::internal("symbol table", "each text in the heap has an offset");
    let name_offset = offsets.next().ok_or_else(no_offset)?;
    let header = match link.target {
        LinkTarget::Hard(header) => header,
        _ => Address::UNDEFINED,
    };
    let cache = match (&link.target, cached) {
        (LinkTarget::Soft(_), _) => {
            let (value_offset, limit) = (offsets.next().ok_or_else(no_offset)?, u64::from(u32::MAX));
            let subject =
                || Error::Limit { subject: "offset of a soft link".into(), got: value_offset, limit };
            SymbolTableCache::SymbolicLink {
                value_offset: u32::try_from(value_offset).map_err(|_| subject())?,
            }
        }
        (_, Some(group)) if edit.params().offset_width() <= 8 => {
            SymbolTableCache::Group { btree: group.btree, heap: group.heap }
        }
        _ => SymbolTableCache::Nothing,
    };
    Ok(SymbolTableEntry { name_offset, header, cache })
}

/// The new node after the split of a group's B-tree node or symbol table node. It is the right
/// neighbour of the split node.
struct Right {
    /// Offset of the greatest name below the left child.
    middle: u64,
    address: Address,
    /// Offset of the greatest name below the new child.
    last: u64,
}

struct Inserting<'a, 'e, 's> {
    container: &'a Container,
    edit: &'e mut Edit<'s>,
    table: &'a SymbolTable,
}

impl Inserting<'_, '_, '_> {
    fn entry(&mut self, path: &TablePath, entry: SymbolTableEntry) -> Result<()> {
        let context = node_context(self.container);
        let name = entry.name_offset;
        let Some(last) = path.steps.last() else {
            let node = SymbolTableNode { entries: vec![entry] };
            let child = self.edit.add(NODE_SPACE, &context, node)?;
            return self.edit.modify(self.table.btree, &tree_context(self.container), |root| {
                *root = BTreeV1Node {
                    keys: BTreeV1Keys::Group(vec![0, name]),
                    children: vec![child],
                    ..empty_node()
                };
            });
        };
        let capacity = context.capacity().max(1);
        let count = edit_len(self.edit, path.node, &context)?;
        // The second condition means that the name comes after all names of the group, but its node
        // has greater names.
        if path.index > count || (path.at_end && path.index < count) {
            let expected = "names up to the key after the node";
            return Err(
                Error::corrupt(SymbolTableNode::NAME, "entries", expected, "a greater name").at(path.node)
            );
        }
        if count < capacity {
            self.edit.modify(path.node, &context, |node: &mut SymbolTableNode| {
                node.entries.insert(path.index, entry);
            })?;
            return if path.at_end { self.greatest(&path.steps, name) } else { Ok(()) };
        }
        // Ascending insertions leave full nodes. `count` is at least 1, so the left node keeps an
        // entry.
        let half = if path.at_end { count } else { (count / 2).max(1) };
        let address = self.edit.allocate(NODE_SPACE, to_u64(SymbolTableNode::size(&context)))?;
        let (middle, right) = self.edit.modify(path.node, &context, |node: &mut SymbolTableNode| {
            let mut right = node.entries.split_off(half);
            match path.index.checked_sub(half) {
                Some(index) if index > 0 || path.at_end => right.insert(index, entry),
                _ => node.entries.insert(path.index, entry),
            }
            let middle = node.entries.last().map(|entry| entry.name_offset);
            middle.map(|middle| (middle, right)).ok_or_else(|| wrong_keys(path.node))
        })??;
        self.edit.put(address, &context, SymbolTableNode { entries: right });
        let last = if path.at_end { name } else { last.right_key };
        self.child(path, Right { middle, address, last })
    }

    /// Sets the last key of each node of a path in a group's B-tree to the greatest name of the
    /// group. `name` is the offset of this name in the local heap.
    fn greatest(&mut self, steps: &[PathNode], name: u64) -> Result<()> {
        let context = tree_context(self.container);
        for step in steps {
            self.edit.modify(step.address, &context, |node: &mut BTreeV1Node| -> Result<()> {
                let key = change_keys(node).and_then(|keys| keys.last_mut());
                *key.ok_or_else(|| wrong_keys(step.address))? = name;
                Ok::<_, Error>(())
            })??;
        }
        Ok(())
    }

    /// Inserts the new node of a split as a child into the B-tree of a group. Changes the nodes on
    /// the path, from the bottom up.
    fn child(&mut self, path: &TablePath, right: Right) -> Result<()> {
        let context = tree_context(self.container);
        let capacity = context.capacity().max(2);
        let mut right = right;
        for (depth, step) in path.steps.iter().enumerate().rev() {
            // Change a copy, so that the node in the cache stays unchanged after an error.
            let node = self.edit.store().shared::<BTreeV1Node>(step.address, &context)?;
            let mut node = BTreeV1Node::clone(&node);
            put_child(&mut node, step.position, &right).ok_or_else(|| wrong_keys(step.address))?;
            if node.children.len() <= capacity {
                self.edit.put(step.address, &context, node);
                let above = path.steps.get(..depth).ok_or_else(|| wrong_keys(step.address))?;
                return if path.at_end { self.greatest(above, right.last) } else { Ok(()) };
            }
            right = match self.split(step, node, depth == 0, path.at_end)? {
                Some(right) => right,
                None => return Ok(()),
            };
        }
        Ok(())
    }

    /// Splits a node of a group's B-tree that has one child too many. If the node is the root, it
    /// keeps its address and becomes the parent of two new nodes.
    fn split(
        &mut self,
        step: &PathNode,
        mut left: BTreeV1Node,
        root: bool,
        at_end: bool,
    ) -> Result<Option<Right>> {
        let context = tree_context(self.container);
        let size = to_u64(BTreeV1Node::size(&context));
        // The node has at least three children.
        let count = left.children.len();
        let keep = if at_end { (count - 1).min(count * 9 / 10).max(1) } else { count / 2 };
        let wrong = || wrong_keys(step.address);
        let keys = change_keys(&mut left).ok_or_else(wrong)?;
        let (first, last) = (*keys.first().ok_or_else(wrong)?, *keys.last().ok_or_else(wrong)?);
        let right_keys = keys.get(keep..).ok_or_else(wrong)?.to_vec();
        let middle = *right_keys.first().ok_or_else(wrong)?;
        keys.truncate(keep + 1);
        // A tree of 256 levels has more nodes than addresses.
        let level_above = left.level.checked_add(1).ok_or_else(wrong)?;
        let address = self.edit.allocate(NODE_SPACE, size)?;
        let mut right = BTreeV1Node {
            level: left.level,
            left: step.address,
            right: left.right,
            keys: BTreeV1Keys::Group(right_keys),
            children: left.children.split_off(keep),
        };
        left.right = address;
        if root {
            let moved = self.edit.allocate(NODE_SPACE, size)?;
            right.left = moved;
            let keys = BTreeV1Keys::Group(vec![first, middle, last]);
            let above =
                BTreeV1Node { level: level_above, keys, children: vec![moved, address], ..empty_node() };
            self.edit.put(moved, &context, left);
            self.edit.put(address, &context, right);
            self.edit.put(step.address, &context, above);
            return Ok(None);
        }
        let neighbour = right.right;
        self.edit.put(step.address, &context, left);
        self.edit.put(address, &context, right);
        if neighbour.is_defined() {
            self.edit.modify(neighbour, &context, |node: &mut BTreeV1Node| node.left = address)?;
        }
        Ok(Some(Right { middle, address, last }))
    }
}

fn edit_len(
    edit: &Edit<'_>,
    address: Address,
    context: &hyperslab_format::symbol_table_node::SymbolTableNodeContext,
) -> Result<usize> {
    Ok(edit.store().shared::<SymbolTableNode>(address, context)?.entries.len())
}

/// Inserts a child into a node of a group's B-tree after the child with the index `position`.
fn put_child(node: &mut BTreeV1Node, position: usize, right: &Right) -> Option<()> {
    let after = position.checked_add(1)?;
    if after > node.children.len() {
        return None;
    }
    let keys = change_keys(node)?;
    *keys.get_mut(after)? = right.middle;
    keys.insert(after.checked_add(1)?, right.last);
    node.children.insert(after, right.address);
    Some(())
}
