//! Links of a copied group.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::codec::Address;

use super::ways::Way;
use super::{Copier, Original, Part, Task};
use crate::error::{Error, Result};
use crate::object::group;
use crate::object::group_edit::GroupEditor;
use crate::object::header::ObjectHeader;
use crate::object::link::{Link, LinkTarget};
use crate::object::path::{self, Resolved, lossy};
use crate::ops::OpenFile;
use crate::store::Edit;

/// External links that lead to external links, at most.
const MAX_FILES: usize = 16;

impl Copier<'_> {
    /// Makes the links of a group, and the headers of what they lead to.
    pub(super) fn copy_links(&mut self, edit: &mut Edit<'_>, task: &Task) -> Result<()> {
        let source = self.source(task.original.file)?;
        let header = ObjectHeader::load(&source.container.store, task.original.address)?;
        let mut links = Vec::new();
        let found = group::for_each(&source.container, &header, &mut |link| {
            links.push(link);
            Ok(ControlFlow::Continue(()))
        });
        self.forgive(&task.path, Part::Links, found)?;
        self.tell(&source, &task.path, &Part::Links);
        drop(header);
        // By name, those of groups that do not track the order; the copy is the same however the group was stored.
        links.sort_by(|one, other| {
            one.creation_order.cmp(&other.creation_order).then_with(|| one.name.cmp(&other.name))
        });
        let target = self.target;
        let mut group = GroupEditor::open(&target.container, task.copy)?;
        for link in links {
            let name = link.name.clone();
            let copied = self.copy_link(edit, &source, task, link);
            let inserted = copied.and_then(|link| {
                let inserted = group.insert(edit, &link);
                self.any_stray |= inserted.is_err();
                inserted.map(|()| link.target)
            });
            // What damage lets two links of one name lead to is led to by one.
            if let Some(LinkTarget::Hard(copy)) = self.forgive(&task.path, Part::Link(name), inserted)? {
                self.use_once(copy);
                if self.is_salvaging() {
                    self.links.push((task.copy, copy));
                }
            }
        }
        group.finish(edit)
    }

    fn copy_link(
        &mut self,
        edit: &mut Edit<'_>,
        source: &Arc<OpenFile>,
        task: &Task,
        link: Link,
    ) -> Result<Link> {
        let original = match &link.target {
            LinkTarget::Hard(address) => Some(Original { file: task.original.file, address: *address }),
            LinkTarget::Soft(path) if self.options.expand_soft_links => {
                self.follow(source, task.original.file, task.original.address, path)?
            }
            LinkTarget::External { file, path } if self.options.expand_external_links => {
                self.follow_out(source, file, path)?
            }
            _ => None,
        };
        let Some(original) = original else { return Ok(Link { creation_order: None, ..link }) };
        let way = Way::below(task, &lossy(&link.name));
        let copy = self.enter(edit, original, &way, task.depth.saturating_add(1))?;
        Ok(Link { target: LinkTarget::Hard(copy), creation_order: None, ..link })
    }

    /// What a path leads to from a group, if it leads anywhere.
    fn follow(
        &mut self,
        source: &Arc<OpenFile>,
        file: usize,
        group: Address,
        path: &[u8],
    ) -> Result<Option<Original>> {
        match path::resolve(&source.container, group, path) {
            Ok(Resolved::Object(header)) => Ok(Some(Original { file, address: header.address() })),
            Ok(Resolved::External { file, path }) if self.options.expand_external_links => {
                self.follow_out(source, &file, &path)
            }
            Ok(Resolved::External { .. }) | Err(Error::NotFound { .. } | Error::Misuse(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a path in another file leads to, if that file can be opened and it leads anywhere.
    fn follow_out(&mut self, source: &Arc<OpenFile>, file: &[u8], path: &[u8]) -> Result<Option<Original>> {
        let (mut from, mut name, mut path) = (Arc::clone(source), file.to_vec(), path.to_vec());
        for _ in 0..MAX_FILES {
            let Ok(other) = from.other(&name) else { return Ok(None) };
            match path::resolve(&other.container, other.root(), &path) {
                Ok(Resolved::Object(header)) => {
                    let file = self.number_of(&other);
                    return Ok(Some(Original { file, address: header.address() }));
                }
                Ok(Resolved::External { file: next, path: rest }) => {
                    (from, name, path) = (other, next, rest);
                }
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Which of the files that objects come from this one is.
    fn number_of(&mut self, file: &Arc<OpenFile>) -> usize {
        let name = file.container.store.name();
        let known = self
            .sources
            .iter()
            .position(|source| Arc::ptr_eq(source, file) || source.container.store.name() == name);
        known.unwrap_or_else(|| {
            self.sources.push(Arc::clone(file));
            self.sources.len().saturating_sub(1)
        })
    }
}
