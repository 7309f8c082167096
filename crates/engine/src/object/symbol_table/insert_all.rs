//! Insertion of many links into a symbol table: writes a new tree with full nodes from sorted
//! entries.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_exact::to_u64;
use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::SymbolTableEntry;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::Link;
use super::insert::{NODE_SPACE, empty_node, entry_of, insert, texts};
use super::{node_context, tree_context};
use crate::error::{Error, Result};
use crate::index::btree_v1;
use crate::index::local_heap::LocalHeap;
use crate::store::Edit;

/// Largest ratio of existing to new links at which an insertion of links rewrites the whole B-tree
/// of a group.
const MAX_REWRITE_RATIO: usize = 8;

/// The present entries of a group's symbol table in order, and the nodes below the root of its
/// B-tree.
#[derive(Default)]
struct Present {
    entries: Vec<SymbolTableEntry>,
    nodes: Vec<(Address, u64)>,
}

/// A child in a group's B-tree: its address, and the offset of the greatest name below the child.
type Child = (Address, u64);

/// Inserts links, sorted by name, into a group's symbol table. Also stores the symbol table
/// addresses of the groups to which the links lead. The group must not have a link with one of the
/// names.
///
/// # Errors
/// Returns the errors of [`insert`].
pub(in super::super) fn insert_all(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    links: &[(Link, Option<SymbolTable>)],
) -> Result<()> {
    let Some(present) = Present::of(container, table, links.len())? else {
        for (link, cached) in links {
            insert(container, edit, table, link, *cached)?;
        }
        return Ok(());
    };
    let mut names: Vec<&[u8]> = Vec::with_capacity(links.len());
    for (link, _) in links {
        names.extend(texts(link)?);
    }
    let mut offsets = LocalHeap::insert_many(edit, table.heap, &names)?.into_iter();
    let mut new = Vec::with_capacity(links.len());
    for (link, cached) in links {
        new.push(entry_of(edit, link, *cached, &mut offsets)?);
    }
    let entries = merged(&LocalHeap::load(edit.store(), table.heap)?, present.entries, new)?;
    for (address, length) in present.nodes {
        edit.free(NODE_SPACE, address, length)?;
    }
    build(container, edit, table.btree, entries)
}

impl Present {
    /// Returns the entries and nodes, or `None` if too many entries exist to rewrite them for the
    /// given number of new links. Then it has read only a part of the nodes.
    fn of(container: &Container, table: &SymbolTable, new: usize) -> Result<Option<Self>> {
        let (store, context, nodes) = (&container.store, tree_context(container), node_context(container));
        let mut present = Self::default();
        let tree_length = to_u64(BTreeV1Node::size(&context));
        let leaf_length = to_u64(SymbolTableNode::size(&nodes));
        let (mut walked, mut fits) = (Vec::new(), true);
        btree_v1::walk_nodes(store, table.btree, &context, &mut |address, node| {
            if address != table.btree {
                walked.push((address, tree_length));
            }
            if node.level > 0 {
                return Ok(ControlFlow::Continue(()));
            }
            for child in &node.children {
                let leaf: Arc<SymbolTableNode> = store.shared(*child, &nodes)?;
                present.entries.extend(leaf.entries.iter().cloned());
                walked.push((*child, leaf_length));
                // Equivalent to `entries > new * MAX_REWRITE_RATIO`, without overflow.
                if present.entries.len().div_ceil(MAX_REWRITE_RATIO) > new {
                    fits = false;
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        present.nodes = walked;
        Ok(fits.then_some(present))
    }
}

/// Merges two lists of symbol table entries into one list in the order of the names.
fn merged(
    heap: &LocalHeap,
    present: Vec<SymbolTableEntry>,
    new: Vec<SymbolTableEntry>,
) -> Result<Vec<SymbolTableEntry>> {
    let mut all = Vec::with_capacity(present.len() + new.len());
    let mut new = new.into_iter().peekable();
    for entry in present {
        let name = heap.name(entry.name_offset)?;
        while let Some(before) = new.peek() {
            if heap.name(before.name_offset)? > name {
                break;
            }
            all.extend(new.next());
        }
        all.push(entry);
    }
    all.extend(new);
    Ok(all)
}

/// Divides `count` entries or children of a group's B-tree into runs, one for each new node. Makes
/// as few runs as possible with at most `capacity` each, of about equal lengths. Returns the
/// lengths.
fn runs(count: usize, capacity: usize) -> impl Iterator<Item = usize> {
    let number = count.div_ceil(capacity.max(1)).max(1);
    (0..number).map(move |at| count / number + usize::from(at < count % number))
}

fn miscounted() -> Error {
    Error::internal("symbol table", "the runs of children contain all children")
}

/// Creates the nodes of a group's B-tree from sorted symbol table entries, from the leaves up. The
/// root keeps its address.
fn build(
    container: &Container,
    edit: &mut Edit<'_>,
    root: Address,
    entries: Vec<SymbolTableEntry>,
) -> Result<()> {
    let (context, nodes) = (tree_context(container), node_context(container));
    let mut children: Vec<Child> = Vec::new();
    let mut rest = entries.into_iter();
    for length in runs(rest.len(), nodes.capacity()) {
        let entries: Vec<SymbolTableEntry> = rest.by_ref().take(length).collect();
        // A group without links has no symbol table node.
        let Some(last) = entries.last().map(|entry| entry.name_offset) else { continue };
        children.push((edit.add(NODE_SPACE, &nodes, SymbolTableNode { entries })?, last));
    }
    let capacity = context.capacity().max(2);
    let mut level = 0;
    while children.len() > capacity {
        let lengths: Vec<usize> = runs(children.len(), capacity).collect();
        let length = to_u64(BTreeV1Node::size(&context));
        let addresses = edit.allocate_blocks(NODE_SPACE, length, lengths.len())?;
        let mut above = Vec::with_capacity(lengths.len());
        let (mut rest, mut before) = (children.as_slice(), 0);
        for (number, length) in lengths.iter().enumerate() {
            let (own, others) = rest.split_at_checked(*length).ok_or_else(miscounted)?;
            let address = *addresses.get(number).ok_or_else(miscounted)?;
            let neighbour = |number: Option<usize>| number.and_then(|number| addresses.get(number)).copied();
            let mut node = node_of(level, before, own);
            node.left = neighbour(number.checked_sub(1)).unwrap_or(Address::UNDEFINED);
            node.right = neighbour(number.checked_add(1)).unwrap_or(Address::UNDEFINED);
            (_, before) = *own.last().ok_or_else(miscounted)?;
            edit.put(address, &context, node);
            above.push((address, before));
            rest = others;
        }
        children = above;
        level = level.checked_add(1).ok_or_else(miscounted)?;
    }
    edit.put(root, &context, node_of(level, 0, &children));
    Ok(())
}

/// Returns a node of a group's B-tree without neighbours. `before` is the key before the node's
/// first child.
fn node_of(level: u8, before: u64, children: &[Child]) -> BTreeV1Node {
    let keys = std::iter::once(before).chain(children.iter().map(|(_, last)| *last)).collect();
    let children = children.iter().map(|(address, _)| *address).collect();
    BTreeV1Node { level, keys: BTreeV1Keys::Group(keys), children, ..empty_node() }
}
