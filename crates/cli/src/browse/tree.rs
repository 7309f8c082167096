//! The browser's tree of objects: the lines of the open groups, and the selected line.

use std::ops::ControlFlow;

use hyperslab::{File, Group, Link, LinkTarget, Object, ObjectKind};

use crate::output::{chain, escape};

/// The largest number of links of a group that the browser's tree shows, so that the tree does not
/// take too much memory.
const MAX_LINKS: usize = 50_000;

/// A line of the browser's tree of objects.
#[derive(Debug)]
pub(super) struct Node {
    /// The name, with escapes.
    pub(super) name: String,
    /// The number of groups above.
    pub(super) depth: usize,
    /// The text after the name: the target of a link, or an error.
    pub(super) note: String,
    pub(super) is_open: bool,
    target: Target,
}

/// The object that a line of the browser's tree shows. The object header is read when the line
/// becomes visible.
#[derive(Debug)]
enum Target {
    Link(Group, Box<Link>),
    Found(Object),
    None,
}

/// The browser's tree of objects: the lines of all open groups.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) selected: usize,
    /// The first line that is shown.
    first: usize,
}

impl Tree {
    /// Returns a browser tree in which only the root group is open.
    pub(super) fn new(file: &File) -> Self {
        let root = Node {
            name: "/".to_owned(),
            depth: 0,
            note: String::new(),
            is_open: false,
            target: Target::Found(Object::clone(file.root())),
        };
        let mut tree = Self { nodes: vec![root], selected: 0, first: 0 };
        tree.open();
        tree
    }

    /// Returns the selected object of the browser's tree. Returns `None` if the selected line leads
    /// to no object in this file.
    pub(super) fn object(&mut self) -> Option<Object> {
        self.nodes.get_mut(self.selected).and_then(Node::object)
    }

    /// Returns the node of the browser's tree on the selected line.
    pub(super) fn node(&self) -> Option<&Node> {
        self.nodes.get(self.selected)
    }

    /// Returns the path of the object on the selected line of the browser's tree.
    pub(super) fn path(&self) -> String {
        let Some(node) = self.node() else { return String::new() };
        let (mut names, mut depth) = (vec![node.name.as_str()], node.depth);
        for above in self.nodes.iter().take(self.selected).rev() {
            if above.depth < depth {
                depth = above.depth;
                names.push(&above.name);
            }
        }
        // The last name is that of the root group.
        names.pop();
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// Moves the selected line of the browser's tree up or down by a number of lines.
    pub(super) fn move_by(&mut self, lines: isize) {
        let last = self.nodes.len().max(1) - 1;
        // The selection stays within the lines.
        self.selected = self.selected.saturating_add_signed(lines).min(last);
    }

    /// Opens the selected group of the browser's tree. Returns false if the selected line is not a
    /// closed group.
    pub(super) fn open(&mut self) -> bool {
        let Some(object) = self.object().filter(|object| object.kind() == Some(ObjectKind::Group)) else {
            return false;
        };
        let at = self.selected;
        let Some(node) = self.nodes.get_mut(at).filter(|node| !node.is_open) else { return false };
        let depth = node.depth + 1;
        match members(object, depth) {
            Ok(lines) => {
                node.is_open = true;
                self.nodes.splice(at + 1..at + 1, lines);
            }
            Err(error) => node.note = format!("error: {}", escape(chain(&error).as_bytes())),
        }
        true
    }

    /// Closes the selected group of the browser's tree. If the selected line is not an open group,
    /// selects its parent group instead.
    pub(super) fn close(&mut self) {
        let Some(node) = self.nodes.get_mut(self.selected) else { return };
        let depth = node.depth;
        if node.is_open {
            node.is_open = false;
            let after = self.nodes.iter().skip(self.selected + 1);
            let below = after.take_while(|node| node.depth > depth).count();
            self.nodes.drain(self.selected + 1..self.selected + 1 + below);
            return;
        }
        let above = self.nodes.iter().take(self.selected).rposition(|node| node.depth < depth);
        self.selected = above.unwrap_or(self.selected);
    }

    /// Returns the visible lines of the browser's tree: each line with the kind of its object, and
    /// a flag for the selected line. Scrolls until the selected line is visible.
    pub(super) fn visible(&mut self, lines: usize) -> Vec<(&Node, Option<ObjectKind>, bool)> {
        self.first = self.first.min(self.selected);
        if self.selected >= self.first + lines.max(1) {
            self.first = self.selected + 1 - lines.max(1);
        }
        let (first, selected) = (self.first, self.selected);
        let shown = self.nodes.iter_mut().enumerate().skip(first).take(lines);
        shown
            .map(|(at, node)| {
                let kind = node.object().and_then(|object| object.kind());
                (&*node, kind, at == selected)
            })
            .collect()
    }
}

impl Node {
    /// Returns the object that a line of the browser's tree shows. The first call follows the link
    /// to the object.
    fn object(&mut self) -> Option<Object> {
        if let Target::Link(group, link) = &self.target {
            let found = match &link.target {
                LinkTarget::Hard(token) => group.object_at(*token).map(Some),
                LinkTarget::Soft(path) => {
                    self.note = format!("→ {}", escape(path));
                    Ok(group.object(&link.name_lossy()).ok())
                }
                LinkTarget::External { file, path } => {
                    self.note = format!("→ {}:{}", escape(file), escape(path));
                    Ok(None)
                }
                LinkTarget::UserDefined { class, .. } => {
                    self.note = format!("link of user-defined class {class}");
                    Ok(None)
                }
                _ => {
                    self.note = "link of unknown class".to_owned();
                    Ok(None)
                }
            };
            self.target = match found {
                Ok(Some(object)) => Target::Found(object),
                Ok(None) => Target::None,
                Err(error) => {
                    self.note = format!("error: {}", escape(chain(&error).as_bytes()));
                    Target::None
                }
            };
        }
        match &self.target {
            Target::Found(object) => Some(object.clone()),
            _ => None,
        }
    }
}

/// Returns the lines of the browser's tree for the links of a group.
fn members(object: Object, depth: usize) -> hyperslab::Result<Vec<Node>> {
    let group = object.into_group()?;
    let mut nodes = Vec::new();
    let mut is_cut = false;
    group.visit_links(|link| {
        if nodes.len() == MAX_LINKS {
            is_cut = true;
            return ControlFlow::Break(());
        }
        let target = Target::Link(group.clone(), Box::new(link.to_link()));
        nodes.push(Node { name: escape(link.name()), depth, note: String::new(), is_open: false, target });
        ControlFlow::Continue(())
    })?;
    if is_cut {
        let note = format!("only {MAX_LINKS} links are shown");
        nodes.push(Node { name: "…".to_owned(), depth, note, is_open: false, target: Target::None });
    }
    Ok(nodes)
}
