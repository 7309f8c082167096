//! Symbol tables: links in a version 1 B-tree of symbol table nodes, and a local heap of names.

mod ahead;
mod insert;
mod insert_all;
mod path;
mod remove;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_datatype::CharacterSet;
use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::{BTreeV1Context, BTreeV1Keys, BTreeV1Kind, BTreeV1Node};
use hyperslab_format::codec::{Structure as _, checksum};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::{SymbolTableCache, SymbolTableEntry};
use hyperslab_format::symbol_table_node::{SymbolTableNode, SymbolTableNodeContext};

pub(super) use insert::create;
pub(super) use insert_all::insert_all;
pub(super) use remove::{delete, remove};

use super::container::Container;
use super::link::{Link, LinkView, TargetView};
use crate::error::{Error, Result};
use crate::index::btree_v1;
use crate::index::local_heap::LocalHeap;

/// Largest number of bytes of names for which a walk keeps the nodes of a symbol table in the
/// cache.
const MAX_KEPT_NAME_BYTES: u64 = 1 << 18;

/// Usual size in bytes of a name in a local heap.
const USUAL_NAME_BYTES: u64 = 16;

/// Calls `visit` for each link of a group's symbol table, in ascending order of the bytes of the
/// names. Ends when the result of `visit` is `Break`.
pub(super) fn for_each(
    container: &Container,
    table: &SymbolTable,
    visit: &mut dyn FnMut(Link) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let heap = names(container, table)?;
    walk(container, table, &heap, &mut |link| visit(link.to_link()))
}

/// Opens the local heap with the names of a symbol table, before all its links are read.
pub(super) fn names(container: &Container, table: &SymbolTable) -> Result<LocalHeap> {
    ahead::fetch(container, table);
    LocalHeap::load(&container.store, table.heap)
}

/// Returns all links of a symbol table, in ascending order of the bytes of the names. The links
/// borrow their names from `heap`.
pub(super) fn views<'h>(
    container: &Container,
    table: &SymbolTable,
    heap: &'h LocalHeap,
) -> Result<Vec<LinkView<'h>>> {
    let mut links = Vec::new();
    walk(container, table, heap, &mut |link| {
        links.push(link);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(links)
}

/// Calls `visit` for each link of a symbol table, in ascending order of the bytes of the names.
fn walk<'h>(
    container: &Container,
    table: &SymbolTable,
    heap: &'h LocalHeap,
    visit: &mut dyn FnMut(LinkView<'h>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let nodes = node_context(container);
    let keeps = heap.size() <= MAX_KEPT_NAME_BYTES;
    btree_v1::walk(&container.store, table.btree, &tree_context(container), &mut |_, _| true, &mut |leaf| {
        let length = to_u64(SymbolTableNode::size(&nodes));
        container.store.expect_blocks(&leaf.children, length, SymbolTableNode::NAME);
        for child in &leaf.children {
            let node: Result<Arc<SymbolTableNode>> = if keeps {
                container.store.shared(*child, &nodes)
            } else {
                container.store.shared_once(*child, &nodes)
            };
            let Some(node) = container.store.forgive(node)? else { continue };
            for entry in &node.entries {
                let Some(link) = container.store.forgive(view(heap, entry))? else { continue };
                if visit(link)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Returns whether the symbol table of a group has no links.
pub(super) fn is_empty(container: &Container, table: &SymbolTable) -> Result<bool> {
    let root: Arc<BTreeV1Node> = container.store.shared(table.btree, &tree_context(container))?;
    Ok(root.children.is_empty())
}

/// Returns the approximate number of links in a group's symbol table, from the size of their names.
pub(super) fn estimated_count(container: &Container, table: &SymbolTable) -> Result<u64> {
    Ok(LocalHeap::load(&container.store, table.heap)?.size() / USUAL_NAME_BYTES)
}

/// Returns the hashes of the names of all links in a group's symbol table.
pub(super) fn hashes(container: &Container, table: &SymbolTable) -> Result<Vec<u32>> {
    let (heap, mut hashes) = (LocalHeap::load(&container.store, table.heap)?, Vec::new());
    walk(container, table, &heap, &mut |link| {
        hashes.push(checksum(link.name));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(hashes)
}

/// Returns the link with the name `name` from a group's symbol table.
pub(super) fn find(container: &Container, table: &SymbolTable, name: &[u8]) -> Result<Option<Link>> {
    ahead::fetch_roots(container, table);
    let heap = LocalHeap::load(&container.store, table.heap)?;
    let found =
        btree_v1::descend(&container.store, table.btree, &tree_context(container), &mut |node, position| {
            compare(&heap, node, position, name)
        })?;
    let Some((leaf, position)) = found else { return Ok(None) };
    let address = leaf.children.get(position);
    let address =
        address.ok_or_else(|| Error::internal(BTreeV1Node::NAME, "a found child is in the node"))?;
    let node: Arc<SymbolTableNode> = container.store.shared(*address, &node_context(container))?;
    for entry in &node.entries {
        if heap.name(entry.name_offset)? == name {
            return view(&heap, entry).map(|link| Some(link.to_link()));
        }
    }
    Ok(None)
}

/// Compares the names below a child of a group's B-tree node with `name`. The child has the index
/// `position`. Key `i` is less than the names below child `i`, and key `i + 1` is the greatest of
/// these names.
fn compare(heap: &LocalHeap, node: &BTreeV1Node, position: usize, name: &[u8]) -> Result<Ordering> {
    let BTreeV1Keys::Group(keys) = &node.keys else {
        return Err(Error::corrupt(BTreeV1Node::NAME, "node type", "0 (group)", 1));
    };
    let (Some(before), Some(last)) = (keys.get(position), keys.get(position + 1)) else {
        return Err(Error::corrupt(BTreeV1Node::NAME, "keys", "one more than children", keys.len()));
    };
    if name <= heap.name(*before)? {
        return Ok(Ordering::Greater);
    }
    Ok(if name > heap.name(*last)? { Ordering::Less } else { Ordering::Equal })
}

fn view<'h>(heap: &'h LocalHeap, entry: &SymbolTableEntry) -> Result<LinkView<'h>> {
    let target = match entry.cache {
        SymbolTableCache::SymbolicLink { value_offset } => {
            TargetView::Soft(heap.name(u64::from(value_offset))?)
        }
        _ => TargetView::Hard(entry.header),
    };
    Ok(LinkView {
        name: heap.name(entry.name_offset)?,
        charset: CharacterSet::Ascii,
        creation_order: None,
        target,
    })
}

/// Returns the context of the nodes of a group's B-tree.
pub(super) fn tree_context(container: &Container) -> BTreeV1Context {
    BTreeV1Context {
        params: container.params(),
        kind: BTreeV1Kind::Group,
        k: container.settings.group_internal_k,
    }
}

/// Returns the context of symbol table nodes.
pub(super) fn node_context(container: &Container) -> SymbolTableNodeContext {
    SymbolTableNodeContext { params: container.params(), leaf_k: container.settings.group_leaf_k }
}
