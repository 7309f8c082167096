//! Changes of groups: creation, links, renaming, removal.

use std::sync::Arc;

use hyperslab_engine::ops::groups::{
    self, GroupOptions as EngineOptions, Link as EngineLink, LinkTarget as EngineTarget,
};
use hyperslab_engine::ops::objects::{self, NewHeader};
use hyperslab_engine::store::Edit;
use hyperslab_engine::{Address, Error, Result};

use crate::{CharacterSet, CommittedDatatype, CreationOrder, Datatype, Group, Object};

/// The options for the creation of a group.
///
/// ```
/// use hyperslab::{FileOptions, GroupOptions};
/// let file = FileOptions::new().create_in_memory()?;
/// let group = file.create_group_with("log", GroupOptions::new().track_order(true))?;
/// assert!(group.attribute_order()?.is_tracked());
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupOptions(pub(crate) EngineOptions);

impl GroupOptions {
    /// Returns the default options for the creation of a group, which [`Group::create_group`] uses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the new group tracks and indexes the creation order of links and attributes: no
    /// by default.
    #[must_use]
    pub fn track_order(self, yes: bool) -> Self {
        let order = if yes { CreationOrder::Indexed } else { CreationOrder::Untracked };
        self.link_order(order).attribute_order(order)
    }

    /// Sets whether the new group tracks and indexes the creation order of its links.
    ///
    /// ```
    /// use hyperslab::{CreationOrder, FileOptions, GroupOptions};
    /// let file = FileOptions::new().create_in_memory()?;
    /// let group = file.create_group_with("log", GroupOptions::new().link_order(CreationOrder::Tracked))?;
    /// assert_eq!(group.link_order()?, CreationOrder::Tracked);
    /// assert_eq!(group.attribute_order()?, CreationOrder::Untracked);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn link_order(mut self, order: CreationOrder) -> Self {
        self.0.link_order = order.of_links();
        self
    }

    /// Sets whether the new group tracks and indexes the creation order of its attributes.
    #[must_use]
    pub fn attribute_order(mut self, order: CreationOrder) -> Self {
        self.0.attribute_order = order.of_attributes();
        self
    }

    /// Sets the largest number of the new group's attributes in compact storage and the smallest
    /// number in dense storage: 8 and 6 by default. Object headers of version 1, which library
    /// version 1.6 reads, hold all attributes and ignore this option.
    ///
    /// ```
    /// use hyperslab::{FileOptions, GroupOptions};
    /// let file = FileOptions::new().create_in_memory()?;
    /// let group = file.create_group_with("log", GroupOptions::new().attribute_phase_change(20, 10))?;
    /// assert_eq!(group.attribute_phase_change()?.max_compact, 20);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn attribute_phase_change(mut self, max_compact: u16, min_dense: u16) -> Self {
        self.0.attribute_phase_change.max_compact = max_compact;
        self.0.attribute_phase_change.min_dense = min_dense;
        self
    }

    /// Sets the expected number of links of the new group and the expected bytes of a link name: 4
    /// and 8 by default. The group is created with space for these links.
    ///
    /// ```
    /// use hyperslab::{FileOptions, GroupOptions};
    /// let file = FileOptions::new().create_in_memory()?;
    /// let group = file.create_group_with("days", GroupOptions::new().estimated_links(7, 9))?;
    /// assert_eq!(group.estimated_links()?.count, 7);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn estimated_links(mut self, count: u16, name_length: u16) -> Self {
        self.0.estimated.count = count;
        self.0.estimated.name_length = name_length;
        self
    }

    /// Sets the initial size for link names of a new group with a symbol table: enough for the
    /// estimated links by default. Other groups ignore this option. The file does not store this
    /// number.
    #[must_use]
    pub fn local_heap_size(mut self, bytes: u32) -> Self {
        self.0.local_heap = Some(bytes);
        self
    }

    /// Sets the largest number of the new group's links in compact storage and the smallest number
    /// in dense storage: 8 and 6 by default.
    #[must_use]
    pub fn link_phase_change(mut self, max_compact: u16, min_dense: u16) -> Self {
        self.0.phase_change.max_compact = max_compact;
        self.0.phase_change.min_dense = min_dense;
        self
    }

    /// Sets whether the new group's object header stores the times of creation, access and change.
    #[must_use]
    pub fn track_times(mut self, yes: bool) -> Self {
        self.0.times = yes;
        self
    }
}

/// Returns the character set in which the file stores the name of a link.
pub(crate) fn charset(name: &str) -> CharacterSet {
    if name.is_ascii() { CharacterSet::Ascii } else { CharacterSet::Utf8 }
}

impl Group {
    /// Changes the group's file: runs `work` with exclusive access. `subject` is the error context.
    pub(crate) fn change<T>(
        &self,
        subject: impl FnOnce() -> String,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T>,
    ) -> Result<T> {
        self.file()
            .container
            .store
            .check_not_swmr_writer("no object can be created, deleted or changed")
            .map_err(|error| error.context(group_context(self)))?;
        let mut edit = self.file().edit().map_err(|error| error.context(group_context(self)))?;
        let outcome = work(&mut edit).map_err(|error| error.context(subject()))?;
        self.file().finish(edit)?;
        Ok(outcome)
    }

    /// Creates an object or link at a path, and the missing groups of the path. `make` receives the
    /// address of the last group and the name in this group. `make` may change object headers in
    /// memory, which are written later.
    pub(crate) fn add<T>(
        &self,
        subject: impl FnOnce() -> String,
        path: &str,
        make: impl FnOnce(&mut Edit<'_>, Address, &str) -> Result<T>,
    ) -> Result<T> {
        let file = self.file();
        file.container
            .store
            .check_not_swmr_writer("no object can be created, deleted or changed")
            .map_err(|error| error.context(group_context(self)))?;
        let mut edit = file.edit_deferred().map_err(|error| error.context(group_context(self)))?;
        let work = || {
            let (parent, name) = if let Some(name) = self.own_name(path) {
                (self.address(), name)
            } else {
                file.flush_editors(&mut edit)?;
                self.parent_of(&mut edit, path)?
            };
            make(&mut edit, parent, name)
        };
        let outcome = work().map_err(|error| error.context(subject()))?;
        self.file().finish(edit)?;
        Ok(outcome)
    }

    /// Adds to this group: calls `make` with exclusive access to the file and with the address of
    /// the group. The group's changes are written later.
    pub(crate) fn add_here<T>(
        &self,
        subject: impl FnOnce() -> String,
        make: impl FnOnce(&mut Edit<'_>, Address) -> Result<T>,
    ) -> Result<T> {
        let file = self.file();
        file.container
            .store
            .check_not_swmr_writer("no object can be created, deleted or changed")
            .map_err(|error| error.context(group_context(self)))?;
        let mut edit = file.edit_deferred().map_err(|error| error.context(group_context(self)))?;
        let outcome = make(&mut edit, self.address()).map_err(|error| error.context(subject()))?;
        file.finish(edit)?;
        Ok(outcome)
    }

    /// Returns the path if it is a single link name. Returns `None` for other paths.
    fn own_name<'p>(&self, path: &'p str) -> Option<&'p str> {
        (!path.is_empty() && path != "." && !path.contains('/')).then_some(path)
    }

    /// Returns an error if the group at the address `group` already has a link `name`.
    pub(crate) fn refuse(&self, edit: &mut Edit<'_>, group: Address, name: &str) -> Result<()> {
        self.file().with_links(edit, group, |group, edit| group.refuse(edit, name.as_bytes()))
    }

    /// Inserts a link into a group in memory. The link is written to the file later.
    pub(crate) fn insert(
        &self,
        edit: &mut Edit<'_>,
        group: Address,
        name: &str,
        target: EngineTarget,
    ) -> Result<()> {
        let link = link_of(name, target);
        self.file().with_links(edit, group, |group, edit| group.insert(edit, &link))
    }

    /// Splits a path into the address of its parent group and its last name. Creates the missing
    /// groups.
    pub(crate) fn parent_of<'p>(&self, edit: &mut Edit<'_>, path: &'p str) -> Result<(Address, &'p str)> {
        let file = self.file();
        let mut group = if path.starts_with('/') { file.root() } else { self.address() };
        let mut names = path.split('/').filter(|name| !name.is_empty() && *name != ".").peekable();
        let mut last = None;
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                last = Some(name);
                break;
            }
            group = self.enter(edit, group, name)?;
        }
        let last = last.ok_or_else(|| Error::Misuse(format!("the path `{path}` has no link name")))?;
        Ok((group, last))
    }

    /// Returns the address of the subgroup `name` of a group, which is created if it is missing.
    fn enter(&self, edit: &mut Edit<'_>, group: Address, name: &str) -> Result<Address> {
        use hyperslab_engine::ops::objects::{self, ObjectHeader, ObjectKind};
        let container = &self.file().container;
        match objects::resolve(container, group, name.as_bytes()) {
            Ok(objects::Resolved::Object(header)) => match ObjectKind::of(&header) {
                Some(ObjectKind::Group) => Ok(ObjectHeader::address(&header)),
                _ => Err(Error::Misuse(format!("`{name}` is not a group and cannot have members"))),
            },
            Ok(objects::Resolved::UserDefined { class, name, .. }) => {
                Err(objects::user_defined(class, &name))
            }
            Ok(objects::Resolved::External { .. }) => {
                Err(Error::Misuse(format!("`{name}` leads to another file: open that file to change it")))
            }
            Err(error) if error.kind() == crate::ErrorKind::NotFound => {
                let made = groups::create_group(container, edit, &EngineOptions::default())?;
                insert(self, edit, group, name, EngineTarget::Hard(made))?;
                Ok(made)
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a group at `path`, and the groups of the path that do not exist.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let c = file.create_group("a/b/c")?;
    /// assert_eq!(c.name(), "/a/b/c");
    /// assert_eq!(file.group("a/b")?.len()?, 1);
    /// assert!(file.create_group("a/b").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the path exists, and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the file is open for reading only.
    pub fn create_group(&self, path: &str) -> Result<Self> {
        self.create_group_with(path, GroupOptions::default())
    }

    /// Creates a group at `path` like [`create_group`](Self::create_group), with `options`. See
    /// [`GroupOptions`] for an example.
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group).
    pub fn create_group_with(&self, path: &str, options: GroupOptions) -> Result<Self> {
        let subject = || format!("cannot make the group `{path}`");
        let made = self.add(subject, path, |edit, parent, name| {
            self.refuse(edit, parent, name)?;
            let made = self.file().create_group_deferred(edit, &options.0)?;
            self.insert(edit, parent, name, EngineTarget::Hard(made))?;
            edit.store().hold(made)
        })?;
        Ok(self.made_group(made, path))
    }

    /// Creates a committed datatype at `path`, which datasets and attributes can share.
    ///
    /// ```
    /// use hyperslab::{Datatype, H5Type};
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let point = file.commit_datatype("types/point", &Datatype::packed([("x", f64::datatype())]))?;
    /// let dataset = file.new_dataset("points").committed(&point).shape(&[10]).create()?;
    /// assert_eq!(dataset.committed_datatype(), Some(point.token()));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group).
    pub fn commit_datatype(&self, path: &str, datatype: &Datatype) -> Result<CommittedDatatype> {
        let handle = self.change(
            || format!("cannot commit the datatype `{path}`"),
            |edit| {
                let (parent, name) = self.parent_of(edit, path)?;
                self.refuse_taken(parent, name)?;
                let made = objects::commit_datatype(edit, datatype, NewHeader::default())?;
                insert(self, edit, parent, name, EngineTarget::Hard(made))?;
                edit.store().hold(made)
            },
        )?;
        self.open_made(handle, path)?.into_datatype()
    }

    /// Opens the group at `path`, or creates the group if it does not exist.
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object at `path` is not a group.
    pub fn require_group(&self, path: &str) -> Result<Self> {
        match self.group(path) {
            Err(error) if error.kind() == crate::ErrorKind::NotFound => self.create_group(path),
            found => found,
        }
    }

    /// Returns an error if the group at the address `group` has a link `name` in the file.
    pub(crate) fn refuse_taken(&self, group: Address, name: &str) -> Result<()> {
        use hyperslab_engine::ops::groups;
        use hyperslab_engine::ops::objects::ObjectHeader;
        let container = &self.file().container;
        let header = ObjectHeader::load(&container.store, group)?;
        match groups::find_link(container, &header, name.as_bytes())? {
            Some(_) => Err(Error::Exists { subject: "link", name: name.to_owned() }),
            None => Ok(()),
        }
    }

    /// Creates a hard link at `path` to the object `target` of this file.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// let monday = file.create_group("monday")?;
    /// file.link_hard("latest", &monday)?;
    /// assert_eq!(file.group("latest")?.token(), monday.token());
    /// assert_eq!(monday.link_count()?, 2);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if `target` is in another file.
    pub fn link_hard(&self, path: &str, target: &Object) -> Result<()> {
        if !Arc::ptr_eq(self.file(), target.file()) {
            let other = "the target of a hard link must be in the same open file; use an external link";
            return Err(Error::Misuse(other.into()));
        }
        let subject = || format!("cannot make the link `{path}`");
        self.add(subject, path, |edit, parent, name| {
            let link = link_of(name, EngineTarget::Hard(target.address()));
            self.file().add_hard_link_deferred(edit, parent, &link, target.address())
        })
    }

    /// Creates a soft link at `path` to the path `target` of this file. The target need not exist.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.link_soft("latest", "/runs/1")?;
    /// file.create_group("runs/1")?;
    /// assert_eq!(file.group("latest")?.token(), file.group("runs/1")?.token());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group).
    pub fn link_soft(&self, path: &str, target: &str) -> Result<()> {
        self.link_to(path, EngineTarget::Soft(target.as_bytes().to_vec()))
    }

    /// Creates an external link at `path` to the path `target` of another file. Neither the file
    /// nor the target need exist. See [`Object::containing_file`] for an example.
    ///
    /// # Errors
    /// Returns the errors of [`create_group`](Self::create_group).
    pub fn link_external(&self, path: &str, file: &str, target: &str) -> Result<()> {
        let (file, target) = (file.as_bytes().to_vec(), target.as_bytes().to_vec());
        self.link_to(path, EngineTarget::External { file, path: target })
    }

    fn link_to(&self, path: &str, target: EngineTarget) -> Result<()> {
        let subject = || format!("cannot make the link `{path}`");
        self.add(subject, path, |edit, parent, name| self.insert(edit, parent, name, target))
    }

    /// Removes the link at `path`. If its object has no other links, the object is deleted,
    /// together with all objects to which only the deleted object links.
    ///
    /// An object with open handles becomes an unlinked object: the object and the members of a
    /// group stay usable, and a new link can be made to the object. The object is deleted when its
    /// last handle is dropped. [`File::close`](crate::File::close) deletes all unlinked objects.
    /// After that their handles return errors.
    ///
    /// Dropping the last handle does not write to the file. The next change, flush or close frees
    /// the space.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.create_group("a/b")?;
    /// let b = file.group("a/b")?;
    /// file.remove("a")?;
    /// assert!(file.is_empty()?);
    /// b.set_attribute("n", 1)?;
    /// file.link_hard("c", &b)?;
    /// assert_eq!(file.group("c")?.attribute_names()?, ["n"]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the link does not exist.
    pub fn remove(&self, path: &str) -> Result<()> {
        self.change(
            || format!("cannot remove `{path}`"),
            |edit| {
                let (parent, name) = self.existing_parent(path)?;
                self.file().remove_link(edit, parent, name.as_bytes())
            },
        )
    }

    /// Moves a link from the path `from` to the path `to`. Creates the missing groups of `to`.
    ///
    /// ```
    /// let file = hyperslab::FileOptions::new().create_in_memory()?;
    /// file.create_group("a/b")?;
    /// file.rename("a/b", "c/d")?;
    /// assert!(file.group("c/d").is_ok() && file.group("a/b").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the link does not exist, and
    /// [`ErrorKind::Exists`](crate::ErrorKind::Exists) if the new path exists.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.change(
            || format!("cannot rename `{from}` to `{to}`"),
            |edit| {
                let (source, old) = self.existing_parent(from)?;
                let (target, new) = self.parent_of(edit, to)?;
                let container = &self.file().container;
                let (old, new_name) = ((source, old.as_bytes()), (target, new.as_bytes()));
                groups::move_link(container, edit, old, new_name, charset(new))
            },
        )
    }

    /// Splits a path into the address of its existing parent group and its last name.
    pub(crate) fn existing_parent<'p>(&self, path: &'p str) -> Result<(Address, &'p str)> {
        use hyperslab_engine::ops::objects;
        let trimmed = path.trim_end_matches('/');
        let (before, name) = trimmed.rsplit_once('/').map_or(("", trimmed), |(before, name)| (before, name));
        if name.is_empty() {
            return Err(Error::Misuse(format!("the path `{path}` leads to no link")));
        }
        let start = if path.starts_with('/') { self.file().root() } else { self.address() };
        if before.is_empty() {
            return Ok((start, name));
        }
        match objects::resolve(&self.file().container, start, before.as_bytes())? {
            objects::Resolved::Object(header) => Ok((header.address(), name)),
            objects::Resolved::UserDefined { class, name, .. } => Err(objects::user_defined(class, &name)),
            objects::Resolved::External { .. } => {
                Err(Error::Misuse(format!("`{before}` leads to another file: open that file to change it")))
            }
        }
    }
}

fn group_context(group: &Group) -> String {
    format!("`{}`", group.name())
}

/// Inserts a link to `target` under `name` into the group at the address `parent`, in memory.
pub(crate) fn insert(
    group: &Group,
    edit: &mut Edit<'_>,
    parent: Address,
    name: &str,
    target: EngineTarget,
) -> Result<()> {
    groups::insert_link(&group.file().container, edit, parent, &link_of(name, target))
}

fn link_of(name: &str, target: EngineTarget) -> EngineLink {
    EngineLink { name: name.as_bytes().to_vec(), charset: charset(name), creation_order: None, target }
}
