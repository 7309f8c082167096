//! Groups and their links.

use std::fmt;
use std::ops::{ControlFlow, Deref};
use std::sync::Arc;

use hyperslab_engine::ops::OpenFile;
use hyperslab_engine::ops::groups::{
    self, Link as EngineLink, LinkTarget as EngineTarget, LinkView, TargetView,
};
use hyperslab_engine::store::{ObjectHandle, Store};
use hyperslab_engine::{Address, Result};
use hyperslab_exact::to_usize;

use crate::{
    CharacterSet, CommittedDatatype, CreationOrder, Dataset, DatasetAccess, EstimatedLinks, Object,
    ObjectKind, ObjectToken, PhaseChange,
};

/// A handle of a group: a set of named links.
///
/// ```
/// use hyperslab::{FileOptions, Group};
/// let file = FileOptions::new().create_in_memory()?;
/// let run: Group = file.create_group("runs/1")?;
/// run.new_dataset("counts").write(&[1, 2, 3])?;
/// assert_eq!(file.group("runs")?.member_names()?, ["1"]);
/// assert_eq!(run.dataset("counts")?.read_raw::<i32>(..)?, [1, 2, 3]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Group {
    object: Object,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.object.fmt(f)
    }
}

/// The storage form of a group's links: symbol table, compact or dense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupStorage {
    /// A symbol table, the format of HDF5 before 1.8.
    SymbolTable,
    /// Messages in the object header.
    Compact,
    /// A fractal heap with B-tree indexes.
    Dense,
}

/// A link of a group: a name and its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the name.
    pub name: Vec<u8>,
    /// The character set of the name.
    pub charset: CharacterSet,
    /// The position of the link in the order of creation, if the group tracks this order.
    pub creation_order: Option<u64>,
    /// The target.
    pub target: LinkTarget,
}

/// The target of a link: an object, a path, or a path in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTarget {
    /// An object of this file.
    Hard(ObjectToken),
    /// A path in this file.
    Soft(Vec<u8>),
    /// An object in another file.
    External {
        /// Name of the file.
        file: Vec<u8>,
        /// Path in that file.
        path: Vec<u8>,
    },
    /// A target of a user-defined link class.
    UserDefined {
        /// The class, 65 to 255; 64 for an external link whose value names no file and path.
        class: u8,
        /// The value of the link.
        value: Vec<u8>,
    },
}

/// A link of a group whose name and target are borrowed; see [`Group::visit_links`].
#[derive(Clone, Copy)]
pub struct LinkRef<'a> {
    view: LinkView<'a>,
    store: &'a Store,
    /// The number of deleted objects of the file when the link was read.
    deletions: u64,
}

impl LinkRef<'_> {
    /// Returns the bytes of the link's name.
    pub fn name(&self) -> &[u8] {
        self.view.name
    }

    /// Returns the character set of the link's name.
    pub fn charset(&self) -> CharacterSet {
        self.view.charset
    }

    /// Returns the position of the link in the order of creation, if the group tracks this order.
    pub fn creation_order(&self) -> Option<u64> {
        self.view.creation_order
    }

    /// Returns the token of the object to which a hard link leads, and `None` for other links.
    pub fn hard(&self) -> Option<ObjectToken> {
        match self.view.target {
            TargetView::Hard(address) => Some(ObjectToken::as_of(self.store, address, self.deletions)),
            _ => None,
        }
    }

    /// Returns an owned copy of the borrowed link.
    pub fn to_link(&self) -> Link {
        Link::new(self.view.to_link(), |address| ObjectToken::as_of(self.store, address, self.deletions))
    }
}

impl PartialEq for LinkRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.view == other.view && self.hard() == other.hard()
    }
}

impl Eq for LinkRef<'_> {}

impl fmt::Debug for LinkRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LinkRef").field(&self.view).finish()
    }
}

impl Link {
    fn new(link: EngineLink, token: impl FnOnce(Address) -> ObjectToken) -> Self {
        let target = match link.target {
            EngineTarget::Hard(address) => LinkTarget::Hard(token(address)),
            EngineTarget::Soft(path) => LinkTarget::Soft(path),
            EngineTarget::External { file, path } => LinkTarget::External { file, path },
            EngineTarget::UserDefined { class, value } => LinkTarget::UserDefined { class, value },
        };
        Self { name: link.name, charset: link.charset, creation_order: link.creation_order, target }
    }

    /// Returns the name of the link as text. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn name_lossy(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

impl Group {
    pub(crate) fn new(object: Object) -> Result<Self> {
        object.expect(ObjectKind::Group)?;
        Ok(Self { object })
    }

    /// Returns the handle of a group that was just created at `path`, relative to this group.
    pub(crate) fn made_group(&self, handle: ObjectHandle, path: &str) -> Self {
        Self { object: self.object.made(handle, ObjectKind::Group, path) }
    }

    pub(crate) fn file(&self) -> &Arc<OpenFile> {
        self.object.file()
    }

    /// Returns all links of the group, in ascending order of the bytes of their names.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn links(&self) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        self.visit_links(|link| {
            links.push(link.to_link());
            ControlFlow::Continue(())
        })?;
        Ok(links)
    }

    /// Calls `visit` for each link of the group, in ascending order of the bytes of their names,
    /// until `visit` returns [`ControlFlow::Break`]. For large groups this is faster than
    /// [`Group::links`], which copies each name.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// # use hyperslab::FileOptions;
    /// # let file = FileOptions::new().create_in_memory()?;
    /// # for name in ["one", "three", "two"] { file.create_group(name)?; }
    /// let mut first = None;
    /// file.visit_links(|link| {
    ///     if !link.name().starts_with(b"t") {
    ///         return ControlFlow::Continue(());
    ///     }
    ///     first = Some(link.to_link());
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(first.unwrap().name, b"three");
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged. Then `visit` is
    /// not called.
    pub fn visit_links(&self, mut visit: impl FnMut(LinkRef<'_>) -> ControlFlow<()>) -> Result<()> {
        let (header, reading) = self.object.header_held()?;
        let container = &self.file().container;
        let (store, deletions) = (&container.store, container.store.deletions());
        let mut visit = |link: &LinkView<'_>| visit(LinkRef { view: *link, store, deletions });
        groups::visit_in_order(container, &header, reading, &mut visit)
            .map_err(|error| error.context(format!("links of `{}`", self.name())))
    }

    /// Returns the link `name` of this group, if it exists. `name` is not a path.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        self.link_of_bytes(name.as_bytes())
    }

    pub(crate) fn link_of_bytes(&self, name: &[u8]) -> Result<Option<Link>> {
        let (header, _reading) = self.object.header_held()?;
        let container = &self.file().container;
        let found = groups::find_link(container, &header, name)?;
        Ok(found.map(|link| Link::new(link, |address| ObjectToken::of(&container.store, address))))
    }

    /// Returns `true` if the group has a link `name`. `name` is not a path.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn link_exists(&self, name: &str) -> Result<bool> {
        Ok(self.link(name)?.is_some())
    }

    /// Returns the names of the group's links, in ascending order of their bytes. Bytes that are
    /// not UTF-8 are replaced by U+FFFD.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn member_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.visit_links(|link| {
            names.push(String::from_utf8_lossy(link.name()).into_owned());
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    /// Returns the number of links of the group.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn len(&self) -> Result<usize> {
        let (header, _reading) = self.object.header_held()?;
        let count = groups::count_links(&self.file().container, &header)?;
        Ok(to_usize(count)?)
    }

    /// Returns `true` if the group has no links.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns the storage form of the group's links.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn storage(&self) -> Result<GroupStorage> {
        let (header, _reading) = self.object.header_held()?;
        Ok(match groups::GroupStorage::of(&self.file().container, &header)? {
            groups::GroupStorage::SymbolTable(_) => GroupStorage::SymbolTable,
            groups::GroupStorage::Compact(_) => GroupStorage::Compact,
            groups::GroupStorage::Dense(_) => GroupStorage::Dense,
        })
    }

    /// Returns the group's tracking of the order in which its links are created: not tracked,
    /// tracked, or tracked and indexed.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn link_order(&self) -> Result<CreationOrder> {
        let (header, _reading) = self.object.header_held()?;
        let storage = groups::GroupStorage::of(&self.file().container, &header)?;
        let info = storage.link_info();
        Ok(CreationOrder::of(
            info.is_some_and(|info| info.max_creation_index.is_some()),
            info.is_some_and(|info| info.creation_order_index.is_some()),
        ))
    }

    /// Returns the position in the order of creation that the next new link of the group gets.
    /// Returns `None` if the group does not track this order. The positions of removed links are
    /// not used again until the group is empty.
    ///
    /// ```
    /// # use hyperslab::{CreationOrder, FileOptions, GroupOptions};
    /// let file = FileOptions::new().create_in_memory()?;
    /// let options = GroupOptions::new().link_order(CreationOrder::Tracked);
    /// let group = file.create_group_with("runs", options)?;
    /// group.create_group("first")?;
    /// group.create_group("second")?;
    /// group.remove("second")?;
    /// assert_eq!(group.next_link_order()?, Some(2));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn next_link_order(&self) -> Result<Option<u64>> {
        let (header, _reading) = self.object.header_held()?;
        let storage = groups::GroupStorage::of(&self.file().container, &header)?;
        Ok(storage.link_info().and_then(|info| info.max_creation_index))
    }

    /// Returns the limits for the number of links at which the group changes between compact and
    /// dense storage.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn link_phase_change(&self) -> Result<PhaseChange> {
        let (header, _reading) = self.object.header_held()?;
        let change = groups::phase_change(&self.file().container, &header)?;
        Ok(PhaseChange { max_compact: change.max_compact, min_dense: change.min_dense })
    }

    /// Returns the expected number of links and the expected length of a link name, which the
    /// creator of the group has stated.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group is damaged.
    pub fn estimated_links(&self) -> Result<EstimatedLinks> {
        let (header, _reading) = self.object.header_held()?;
        let estimated = groups::estimated(&self.file().container, &header)?;
        Ok(EstimatedLinks { count: estimated.count, name_length: estimated.name_length })
    }

    /// Opens the object at `path`, relative to this group, or with a leading `/` to the root group.
    /// Follows soft and external links.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if a name of the path does not
    /// exist.
    pub fn object(&self, path: &str) -> Result<Object> {
        self.object.follow(path)
    }

    /// Opens the object with the identity `token` in the file that contains this group. If the
    /// group was opened through an external link, this is the file to which the link leads.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/weather_station.h5");
    /// let series = hyperslab::File::open(path)?.group("series")?;
    /// for link in series.links()? {
    ///     if let hyperslab::LinkTarget::Hard(token) = link.target {
    ///         assert_eq!(series.object_at(token)?.token(), token);
    ///     }
    /// }
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the object was deleted, and
    /// [`ErrorKind::Corrupt`](crate::ErrorKind) if the address has no object header.
    pub fn object_at(&self, token: ObjectToken) -> Result<Object> {
        Object::open_token(Arc::clone(self.file()), token, &token.to_string())
    }

    /// Opens the group at `path`, relative to this group.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a group.
    pub fn group(&self, path: &str) -> Result<Self> {
        self.object(path)?.into_group()
    }

    /// Opens the dataset at `path`, relative to this group.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a dataset.
    pub fn dataset(&self, path: &str) -> Result<Dataset> {
        self.object(path)?.into_dataset()
    }

    /// Opens the dataset at `path`, relative to this group, with the choices `access` of the
    /// program.
    ///
    /// # Errors
    /// Returns the errors of [`dataset`](Self::dataset), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the dataset is open with another folder
    /// of external raw data files.
    pub fn dataset_with(&self, path: &str, access: &DatasetAccess) -> Result<Dataset> {
        self.object(path)?.into_dataset_with(access)
    }

    /// Opens the committed datatype at `path`, relative to this group.
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object), and
    /// [`ErrorKind::Misuse`](crate::ErrorKind::Misuse) if the object is not a committed datatype.
    pub fn committed_datatype(&self, path: &str) -> Result<CommittedDatatype> {
        self.object(path)?.into_datatype()
    }

    /// Opens the objects to which the group's hard links lead, in ascending order of the bytes of
    /// the link names.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Corrupt`](crate::ErrorKind) if the group or an object header is
    /// damaged.
    pub fn members(&self) -> Result<Vec<Object>> {
        // While this lock is held, no member can be deleted between reading its link and opening
        // its handle.
        let _reading = self.file().reading()?;
        let mut members = Vec::new();
        for link in self.links()? {
            if let LinkTarget::Hard(token) = link.target {
                let name = format!("{}/{}", self.name().trim_end_matches('/'), link.name_lossy());
                members.push(Object::open_token(Arc::clone(self.file()), token, &name)?);
            }
        }
        Ok(members)
    }
}

impl Deref for Group {
    type Target = Object;

    fn deref(&self) -> &Object {
        &self.object
    }
}
