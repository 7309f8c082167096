//! Many links into an old-style group at once: its tree is made anew from sorted entries, with full nodes.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::btree_v1::{BTreeV1Keys, BTreeV1Node};
use hyperslab_format::codec::{Address, Structure as _};
use hyperslab_format::message::SymbolTable;
use hyperslab_format::symbol_table_entry::SymbolTableEntry;
use hyperslab_format::symbol_table_node::SymbolTableNode;

use super::super::container::Container;
use super::super::link::Link;
use super::insert::{NODE_SPACE, empty_node, entry_of, insert, texts};
use super::{node_context, tree_context};
use crate::error::Result;
use crate::index::btree_v1;
use crate::index::local_heap::LocalHeap;
use crate::store::Edit;

/// A tree with at most so many times as many entries is made anew.
const REBUILT: usize = 8;

/// The entries of a group in their order, and the nodes below the root of its tree.
#[derive(Default)]
struct Present {
    entries: Vec<SymbolTableEntry>,
    nodes: Vec<(Address, u64)>,
}

/// A child of a node that is being made, and the greatest name below it.
type Child = (Address, u64);

/// Puts links in whose names are free, in ascending order of these, with what is to be cached of groups.
///
/// # Errors
/// As [`insert`].
pub(in super::super) fn insert_all(
    container: &Container,
    edit: &mut Edit<'_>,
    table: &SymbolTable,
    links: &[(Link, Option<SymbolTable>)],
) -> Result<()> {
    let present = Present::of(container, table)?;
    if links.len().saturating_mul(REBUILT) < present.entries.len() {
        for (link, cached) in links {
            insert(container, edit, table, link, *cached)?;
        }
        return Ok(());
    }
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
    fn of(container: &Container, table: &SymbolTable) -> Result<Self> {
        let (store, context, nodes) = (&container.store, tree_context(container), node_context(container));
        let mut present = Self::default();
        let tree_length = BTreeV1Node::size(&context) as u64;
        let leaf_length = SymbolTableNode::size(&nodes) as u64;
        let mut walked = Vec::new();
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
            }
            Ok(ControlFlow::Continue(()))
        })?;
        present.nodes = walked;
        Ok(present)
    }
}

/// Two lists in one, in the order of the names.
fn merged(
    heap: &LocalHeap,
    present: Vec<SymbolTableEntry>,
    new: Vec<SymbolTableEntry>,
) -> Result<Vec<SymbolTableEntry>> {
    let mut all = Vec::with_capacity(present.len().saturating_add(new.len()));
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

/// The lengths of as few runs of about the same length as hold `count` things, `capacity` each at most.
fn runs(count: usize, capacity: usize) -> impl Iterator<Item = usize> {
    let number = count.div_ceil(capacity.max(1)).max(1);
    (0..number).map(move |at| count / number + usize::from(at < count % number))
}

/// Makes the nodes of the tree from the leaves up; the root comes to its old place.
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
        let last = entries.last().map_or(0, |entry| entry.name_offset);
        children.push((edit.add(NODE_SPACE, &nodes, SymbolTableNode { entries })?, last));
    }
    let capacity = context.capacity().max(2);
    let mut level = 0;
    while children.len() > capacity {
        let lengths: Vec<usize> = runs(children.len(), capacity).collect();
        let length = BTreeV1Node::size(&context) as u64;
        let places = edit.allocate_blocks(NODE_SPACE, length, lengths.len())?;
        let mut above = Vec::with_capacity(lengths.len());
        let (mut rest, mut before) = (children.as_slice(), 0);
        for (number, length) in lengths.iter().enumerate() {
            let (own, behind) = rest.split_at_checked(*length).unwrap_or((rest, &[]));
            let place =
                |at: Option<usize>| at.and_then(|at| places.get(at)).copied().unwrap_or(Address::UNDEFINED);
            let mut node = node_of(level, before, own);
            node.left = place(number.checked_sub(1));
            node.right = place(number.checked_add(1));
            before = own.last().map_or(before, |(_, last)| *last);
            edit.put(place(Some(number)), &context, node);
            above.push((place(Some(number)), before));
            rest = behind;
        }
        children = above;
        level = level.saturating_add(1);
    }
    edit.put(root, &context, node_of(level, 0, &children));
    Ok(())
}

/// A node without neighbours; `before` is the greatest name on its left.
fn node_of(level: u8, before: u64, children: &[Child]) -> BTreeV1Node {
    let keys = std::iter::once(before).chain(children.iter().map(|(_, last)| *last)).collect();
    let children = children.iter().map(|(address, _)| *address).collect();
    BTreeV1Node { level, keys: BTreeV1Keys::Group(keys), children, ..empty_node() }
}
