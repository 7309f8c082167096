//! Links into an old-style group.

use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::{Link, LinkTarget};
use super::way::{Step, Way, change_keys, group_keys, wrong_keys};
use super::{node_context, tree_context};
use crate::error::{Error, Result};
use crate::index::local_heap::LocalHeap;
use crate::store::{Edit, SpaceKind};

/// What tree nodes and symbol table nodes are to the file's space.
pub(super) const NODE_SPACE: SpaceKind = SpaceKind::BTree;

/// Makes the storage of a group without links, with so many bytes for names.
///
/// # Errors
/// As [`Edit::allocate`].
pub(in super::super) fn create(
    container: &Container,
    edit: &mut Edit<'_>,
    names: u64,
) -> Result<SymbolTable> {
    let heap = LocalHeap::create(edit, names)?;
    let btree = edit.add(NODE_SPACE, &tree_context(container), empty_node())?;
    Ok(SymbolTable { btree, heap })
}

/// A node of no level in particular.
pub(super) fn empty_node() -> BTreeV1Node {
    BTreeV1Node {
        level: 0,
        left: Address::UNDEFINED,
        right: Address::UNDEFINED,
        keys: BTreeV1Keys::Group(vec![0]),
        children: Vec::new(),
    }
}

/// Puts a link in, with what is to be cached of the group that it leads to, if it does. `false`, and nothing is
/// changed, if there is a link of that name.
///
/// # Errors
/// [`Error::Misuse`] for a link that such a group cannot hold; [`Error::Corrupt`] and [`Error::Io`] of what has to be
/// read.
pub(super) fn insert(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    link: &Link,
    cached: Option<SymbolTable>,
) -> Result<bool> {
    if link.name.is_empty() || link.name.contains(&0) {
        return Err(Error::Misuse("a link's name is not empty and has no zero byte".into()));
    }
    // The names are let go of before they change, so that they are not copied.
    let way = Way::to(container, table, &LocalHeap::load(edit.store(), table.heap)?, &link.name)?;
    if way.found {
        return Ok(false);
    }
    let names: Vec<&[u8]> = texts(link)?.collect();
    let offsets = LocalHeap::insert_many(edit, table.heap, &names)?;
    let entry = entry_of(edit, link, cached, &mut offsets.into_iter())?;
    Inserting { container, edit, table }.entry(&way, entry)?;
    Ok(true)
}

/// What the heap is to hold of a link: its name, and the path of a soft one.
pub(super) fn texts(link: &Link) -> Result<impl Iterator<Item = &[u8]>> {
    let path = match &link.target {
        LinkTarget::Hard(_) => None,
        LinkTarget::Soft(path) => Some(&**path),
        LinkTarget::External { .. } | LinkTarget::UserDefined { .. } => {
            return Err(Error::Misuse("an old-style group holds hard and soft links only".into()));
        }
    };
    Ok(std::iter::once(&*link.name).chain(path))
}

/// The entry of a link whose [`texts`] have these offsets.
pub(super) fn entry_of(
    edit: &Edit<'_>,
    link: &Link,
    cached: Option<SymbolTable>,
    offsets: &mut impl Iterator<Item = u64>,
) -> Result<SymbolTableEntry> {
    let name_offset = offsets.next().unwrap_or(0);
    let header = match link.target {
        LinkTarget::Hard(header) => header,
        _ => Address::UNDEFINED,
    };
    let cache = match (&link.target, cached) {
        (LinkTarget::Soft(_), _) => {
            let (value_offset, limit) = (offsets.next().unwrap_or(0), u64::from(u32::MAX));
            let what = || Error::Limit { what: "offset of a soft link".into(), got: value_offset, limit };
            SymbolTableCache::SymbolicLink { value_offset: u32::try_from(value_offset).map_err(|_| what())? }
        }
        (_, Some(group)) if edit.params().offset_width() <= 8 => {
            SymbolTableCache::Group { btree: group.btree, heap: group.heap }
        }
        _ => SymbolTableCache::Nothing,
    };
    Ok(SymbolTableEntry { name_offset, header, cache })
}

/// What stands to the right of a child that was split.
struct Right {
    /// The greatest name below the child now.
    middle: u64,
    address: Address,
    /// The greatest name below the new one.
    last: u64,
}

struct Inserting<'a, 'e, 's> {
    container: &'a Container,
    edit: &'e mut Edit<'s>,
    table: &'a SymbolTable,
}

impl Inserting<'_, '_, '_> {
    fn entry(&mut self, way: &Way, entry: SymbolTableEntry) -> Result<()> {
        let context = node_context(self.container);
        let name = entry.name_offset;
        let Some(last) = way.steps.last() else {
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
        let full = edit_len(self.edit, way.node, &context)? >= capacity;
        if !full {
            self.edit.modify(way.node, &context, |node: &mut SymbolTableNode| {
                node.entries.insert(way.index.min(node.entries.len()), entry);
            })?;
            return if way.beyond { self.greatest(&way.steps, name) } else { Ok(()) };
        }
        let address = self.edit.allocate(NODE_SPACE, SymbolTableNode::size(&context) as u64)?;
        let (middle, right) = self.edit.modify(way.node, &context, |node: &mut SymbolTableNode| {
            // Names in ascending order leave full nodes behind them.
            let half = if way.beyond { node.entries.len() } else { node.entries.len() / 2 };
            let mut right = node.entries.split_off(half);
            if way.index <= half && !way.beyond {
                node.entries.insert(way.index, entry);
            } else {
                right.insert(way.index.saturating_sub(half).min(right.len()), entry);
            }
            (node.entries.last().map_or(0, |entry| entry.name_offset), right)
        })?;
        self.edit.put(address, &context, SymbolTableNode { entries: right });
        let last = if way.beyond { name } else { last.right_key };
        self.child(way, Right { middle, address, last })
    }

    /// The greatest name of the whole group is another.
    fn greatest(&mut self, steps: &[Step], name: u64) -> Result<()> {
        let context = tree_context(self.container);
        for step in steps {
            self.edit.modify(step.address, &context, |node: &mut BTreeV1Node| {
                if let Some(key) = change_keys(node).and_then(|keys| keys.last_mut()) {
                    *key = name;
                }
            })?;
        }
        Ok(())
    }

    /// Puts children that came of splits into the nodes on the way, from the lowest up.
    fn child(&mut self, way: &Way, right: Right) -> Result<()> {
        let context = tree_context(self.container);
        let capacity = context.capacity().max(2);
        let mut right = right;
        for (depth, step) in way.steps.iter().enumerate().rev() {
            let mut node: BTreeV1Node = self.edit.take(step.address, &context)?;
            let put = put_child(&mut node, step.position, &right);
            if put.is_none() || node.children.len() <= capacity {
                self.edit.put(step.address, &context, node);
                put.ok_or_else(|| wrong_keys(step.address))?;
                let above = way.steps.get(..depth).unwrap_or_default();
                return if way.beyond { self.greatest(above, right.last) } else { Ok(()) };
            }
            right = match self.split(step, node, depth == 0, way.beyond)? {
                Some(right) => right,
                None => return Ok(()),
            };
        }
        Ok(())
    }

    /// Splits a node with one child too many. The root stays where it is, above two new nodes.
    fn split(
        &mut self,
        step: &Step,
        mut left: BTreeV1Node,
        root: bool,
        beyond: bool,
    ) -> Result<Option<Right>> {
        let context = tree_context(self.container);
        let size = BTreeV1Node::size(&context) as u64;
        let address = self.edit.allocate(NODE_SPACE, size)?;
        let count = left.children.len();
        let keep = if beyond { count.saturating_sub(1).min(count * 9 / 10).max(1) } else { count / 2 };
        let keys = group_keys(&left).unwrap_or_default();
        let (first, middle) = (keys.first().copied().unwrap_or(0), keys.get(keep).copied().unwrap_or(0));
        let last = keys.last().copied().unwrap_or(0);
        let right_keys = keys.get(keep..).unwrap_or_default().to_vec();
        if let Some(keys) = change_keys(&mut left) {
            keys.truncate(keep.saturating_add(1));
        }
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
            let level = left.level.saturating_add(1);
            right.left = moved;
            let keys = BTreeV1Keys::Group(vec![first, middle, last]);
            let above = BTreeV1Node { level, keys, children: vec![moved, address], ..empty_node() };
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

/// Puts a child behind that at `position`.
fn put_child(node: &mut BTreeV1Node, position: usize, right: &Right) -> Option<()> {
    let behind = position.checked_add(1)?;
    if behind > node.children.len() {
        return None;
    }
    let keys = change_keys(node)?;
    *keys.get_mut(behind)? = right.middle;
    keys.insert(behind.checked_add(1)?, right.last);
    node.children.insert(behind, right.address);
    Some(())
}
