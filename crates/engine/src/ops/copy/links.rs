//! Copies of links.

use std::ops::ControlFlow;
use std::sync::Arc;

use hyperslab_format::codec::Address;

use super::paths::ObjectPath;
use super::{Copier, LostPart, Original, Task};
use crate::error::{Error, Result};
use crate::object::group;
use crate::object::group_edit::GroupEditor;
use crate::object::header::ObjectHeader;
use crate::object::link::{Link, LinkTarget};
use crate::object::path::{self, Resolved, lossy};
use crate::ops::OpenFile;
use crate::store::Edit;

/// Largest number of consecutive external links that a copy of objects follows.
const MAX_EXTERNAL_LINKS: usize = 16;

impl Copier<'_> {
    /// Copies the links of a group, and creates the object headers of the copies to which the links
    /// lead.
    ///
    /// # Errors
    /// Returns the errors of reading and writing the group, except damage in a salvage.
    pub(super) fn copy_links(&mut self, edit: &mut Edit<'_>, task: &Task) -> Result<()> {
        let source = self.source(task.original.file)?;
        let header = ObjectHeader::load(&source.container.store, task.original.address)?;
        let mut links = Vec::new();
        let found = group::for_each(&source.container, &header, &mut |link| {
            links.push(link);
            Ok(ControlFlow::Continue(()))
        });
        self.or_report(&task.path, LostPart::Links, found)?;
        self.report_damage(&source, &task.path, &LostPart::Links);
        drop(header);
        // Links without a creation order are sorted by name, so that the copy does not depend on
        // the storage of the group.
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
                self.any_unlinked |= inserted.is_err();
                inserted.map(|()| link.target)
            });
            // A damaged group may contain two links of one name. Only the inserted link counts.
            if let Some(LinkTarget::Hard(copy)) =
                self.or_report(&task.path, LostPart::Link(name), inserted)?
            {
                self.count_use(copy);
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
        let object_path = ObjectPath::below(task, &lossy(&link.name));
        let copy = self.enter(edit, original, &object_path, false)?;
        Ok(Link { target: LinkTarget::Hard(copy), creation_order: None, ..link })
    }

    /// Returns the source object at a path that begins at a group, or `None` if no object has this
    /// path.
    ///
    /// # Errors
    /// Returns the errors of reading the groups.
    fn follow(
        &mut self,
        source: &Arc<OpenFile>,
        file: usize,
        group: Address,
        path: &[u8],
    ) -> Result<Option<Original>> {
        match path::resolve(&source.container, group, path) {
            Ok(Resolved::Object(header)) => Ok(Some(Original { file, address: header.address() })),
            Ok(Resolved::External { file, path, .. }) if self.options.expand_external_links => {
                self.follow_out(source, &file, &path)
            }
            Ok(Resolved::External { .. }) | Err(Error::NotFound { .. } | Error::Misuse(_)) => Ok(None),
            Ok(Resolved::UserDefined { class, name, .. }) => Err(path::user_defined(class, &name)),
            Err(error) => Err(error),
        }
    }

    /// Returns the source object at a path in another file, or `None` if the file cannot be opened
    /// or no object has this path.
    ///
    /// # Errors
    /// Returns the errors of adding the file to the sources.
    fn follow_out(&mut self, source: &Arc<OpenFile>, file: &[u8], path: &[u8]) -> Result<Option<Original>> {
        let (mut from, mut name, mut path) = (Arc::clone(source), file.to_vec(), path.to_vec());
        for _ in 0..MAX_EXTERNAL_LINKS {
            let Ok(other) = from.other(&name) else { return Ok(None) };
            match path::resolve(&other.container, other.root(), &path) {
                Ok(Resolved::Object(header)) => {
                    let file = self.number_of(&other);
                    return Ok(Some(Original { file, address: header.address() }));
                }
                Ok(Resolved::External { file: next, path: rest, .. }) => {
                    (from, name, path) = (other, next, rest);
                }
                Ok(Resolved::UserDefined { .. }) | Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns the index of a file in the list of a copy's source files. Adds the file if the list
    /// lacks it.
    fn number_of(&mut self, file: &Arc<OpenFile>) -> usize {
        let name = file.container.store.name();
        let known = self
            .sources
            .iter()
            .position(|source| Arc::ptr_eq(source, file) || source.container.store.name() == name);
        known.unwrap_or_else(|| {
            let index = self.sources.len();
            self.sources.push(Arc::clone(file));
            index
        })
    }
}
